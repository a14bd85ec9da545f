"""Decisions: pure functions of state and records, without model or I/O."""
