"""Leaves files with names and kinds that careless cleaning stumbles over, and returns right values.

expect: PASSED
"""

import os
import socket

for name in (b"-rf", b"new\nline", b"\xff\xfe", b"*", b" ", b"$(true)", b"x" * 255):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
for number, target in enumerate(("/", "/etc/passwd", "..", "loop", "/proc/self/cwd", "/dev/zero")):
    os.symlink(target, "link%d" % number)
os.symlink("loop", "loop")
os.mkfifo("pipe")
listener = socket.socket(socket.AF_UNIX)
listener.bind("socket")


def task_func(values):
    return sum(value * value for value in values)
