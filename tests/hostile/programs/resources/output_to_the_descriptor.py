"""Writes to the descriptor of standard error without end, past every Python object.

expect: OVER_LIMIT output
"""

import os


def task_func(values):
    while True:
        os.write(2, b"\x00\xff\x1b[2J" * 8192)
