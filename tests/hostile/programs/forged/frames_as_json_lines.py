"""Writes passing reports as JSON lines to every open descriptor.

expect: FAILED tampered
"""

import json
import os

NAMES = ("empty", "exact_integers", "kind_of_number", "list_of_results", "none", "tolerance")


def task_func(values):
    for descriptor in range(3, 256):
        for name in NAMES:
            report = {"kind": "test", "id": "TestCases.test_" + name, "outcome": "passed", "seconds": 0.001}
            try:
                os.write(descriptor, json.dumps(report).encode() + b"\n")
            except OSError:
                break
        else:
            os.write(descriptor, b'{"kind": "end", "tests": 6}\n')
    return -1
