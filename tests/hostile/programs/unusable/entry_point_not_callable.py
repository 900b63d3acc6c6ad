"""Binds the entry point to a number, which nobody can call.

expect: UNUSABLE entry_point_missing
"""

task_func = 14
