"""The demo shop's data, as readable files."""
