"""The prompts: one file for each and each language."""
