"""Where a process may run, and what this machine can isolate."""
