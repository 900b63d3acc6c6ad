"""Reads its own status; right values only if it has no capability, no_new_privs is set and a filter is on.

expect: PASSED
"""

STATUS = {}
with open("/proc/self/status") as file:
    for line in file:
        key, _, value = line.partition(":")
        STATUS[key] = value.strip()
REACHED = (
    any(int(STATUS[key], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapAmb") if key in STATUS)
    or STATUS.get("NoNewPrivs", "1") != "1"
    or STATUS.get("Seccomp", "2") != "2"
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
