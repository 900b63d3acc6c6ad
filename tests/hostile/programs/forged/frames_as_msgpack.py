"""Writes passing reports in msgpack, pickle and marshal to every open descriptor.

expect: FAILED tampered
"""

import marshal
import os
import pickle

REPORT = {"kind": "test", "id": "TestCases.test_empty", "outcome": "passed"}


def packed(text):
    return bytes([0xA0 | len(text)]) + text.encode() if len(text) < 32 else bytes([0xD9, len(text)]) + text.encode()


def task_func(values):
    msgpack = bytes([0x80 | len(REPORT)]) + b"".join(packed(key) + packed(value) for key, value in REPORT.items())
    for descriptor in range(3, 256):
        for body in (msgpack, pickle.dumps(REPORT), marshal.dumps(REPORT)):
            try:
                os.write(descriptor, body)
            except OSError:
                break
    return -1
