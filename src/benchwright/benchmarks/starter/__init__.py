"""The built-in starter benchmark: tasks, their loader, and answers of three fictitious systems."""
