"""Values and small pure helpers that every other package speaks in; standard library only."""
