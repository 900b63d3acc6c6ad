"""The engine: warmed guests, the private channel, and records."""
