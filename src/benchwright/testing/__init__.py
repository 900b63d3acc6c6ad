"""Public contract checks and hostile programs for those who extend benchwright."""
