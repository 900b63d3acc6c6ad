"""Environments of repository problems: what each (repository, version) pair needs, as data."""
