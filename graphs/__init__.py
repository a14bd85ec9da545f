"""One graph a file: which nodes, which edges. Builds, never decides."""
