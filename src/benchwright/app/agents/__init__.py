"""Agents on repository problems: the use case behind ``bw run`` for them."""
