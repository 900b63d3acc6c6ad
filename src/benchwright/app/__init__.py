"""The use cases, which are the public Python API."""
