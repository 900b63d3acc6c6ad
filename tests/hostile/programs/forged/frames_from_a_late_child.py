"""Leaves a detached child behind that writes passing reports when the tests are over.

expect: FAILED tampered | FAILED assertion
"""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(40):
            time.sleep(0.05)
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, b'{"kind": "end", "outcome": "passed"}\n')
                except OSError:
                    pass
    os._exit(0)


def task_func(values):
    return -1
