"""Use cases on repository problems: build their environments, control them, grade patches, derive rows."""
