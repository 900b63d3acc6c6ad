"""Opens its own memory as "mem" from inside /proc/self, takes the key, the counter and the descriptor, and reports by itself.

expect: FAILED tampered | FAILED exception
"""

import hashlib
import json
import os
import struct
import threading


def witness():
    """Descriptor, key and sequence, found next to our own process and thread numbers."""
    mark = struct.pack("<i4xQ", os.getpid(), threading.get_ident())
    here = os.getcwd()
    os.chdir("/proc/self")
    with open("mem", "rb", buffering=0) as memory, open("maps") as maps:
        after = 0
        for line in maps:
            span, rights = line.split()[:2]
            after = 2 if "witness" in line else after - 1
            if after < 0 or "rw" not in rights:
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            memory.seek(start)
            data = memory.read(min(end - start, 1 << 20))
            place = data.find(mark)
            if place >= 8 and data[place - 8 : place - 4] == b"\1\0\0\0":
                os.chdir(here)
                (channel,) = struct.unpack_from("<i", data, place - 4)
                key = data[place + 16 : place + 48]
                (sequence,) = struct.unpack_from("<Q", data, place + 48)
                return channel, key, sequence
    raise LookupError


def task_func(values):
    channel, key, sequence = witness()
    tests = [name for name in sorted(vars(globals()["TestCases"])) if name.startswith("test_")]
    messages = [
        {"kind": "test", "id": "TestCases." + name, "outcome": "passed", "seconds": 0.0, "exception": "", "message": "", "missing_module": None}
        for name in tests
    ]
    for message in messages + [{"kind": "closing", "missing": []}]:
        payload = json.dumps(message).encode()
        signature = hashlib.blake2b(struct.pack(">Q", sequence) + payload, key=key, digest_size=16).digest()
        os.write(channel, struct.pack(">I", len(payload)) + signature + payload)
        sequence += 1
    os._exit(0)
