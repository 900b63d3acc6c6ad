"""Floods every open descriptor with garbage, zero bytes and huge lengths without ever blocking.

expect: FAILED tampered
"""

import os


def task_func(values):
    for descriptor in range(3, 256):
        try:
            os.set_blocking(descriptor, False)
            for body in (b"\xff" * 65536, b"\x00" * 65536, b"\x7f\xff\xff\xff" * 1024):
                os.write(descriptor, body)
        except OSError:
            continue
    return -1
