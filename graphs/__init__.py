"""The graph, and what it is built of: models, checkpointers. Builds, never decides on a run."""
