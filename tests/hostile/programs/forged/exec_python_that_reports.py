"""Replaces the process by a fresh Python that writes passing reports to every inherited descriptor.

expect: FAILED tampered | FAILED tests_not_run
"""

import os
import sys

REPORTER = """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b'{"kind": "test", "outcome": "passed"}\\n{"kind": "end"}\\n')
    except OSError:
        pass
"""


def task_func(values):
    for descriptor in range(3, 64):
        try:
            os.set_inheritable(descriptor, True)
        except OSError:
            pass
    os.execv(sys.executable, [sys.executable, "-c", REPORTER])
