"""The work of one node a file: read the state, ask, return a partial update."""
