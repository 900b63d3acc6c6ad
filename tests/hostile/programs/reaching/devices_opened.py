"""Opens devices that lead out of a sandbox; right values only if none is there.

expect: PASSED
"""

import fcntl
import os

REACHED = False
for path in ("/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/loop0", "/dev/mapper/control", "/dev/vhost-net", "/dev/uinput",
             "/dev/dri/card0", "/dev/nvidia0", "/dev/snd/seq", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/autofs", "/dev/hpet"):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        REACHED = True
    except OSError:
        pass
try:
    # Types a character into the terminal that the grader was started from.
    terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(terminal, 0x5412, b"#")
    REACHED = True
except OSError:
    pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
