"""Searches the memory that it inherited for the assignment of HOSTILE_SECRET, which a test sets on the host.

expect: PASSED | FAILED tampered
limits: wall=20 cpu=20
"""

import re

# Written so that the text sought stands nowhere in this program's own memory.
SOUGHT = re.compile(rb"H[O]STILE_S[E]CRET[=]\w")
REACHED = False
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        place, rights, *_ = line.split()
        first, last = (int(part, 16) for part in place.split("-"))
        if rights.startswith("rw") and last - first <= 64 << 20:
            try:
                memory.seek(first)
                REACHED = REACHED or SOUGHT.search(memory.read(last - first)) is not None
            except (OSError, ValueError, OverflowError):
                pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
