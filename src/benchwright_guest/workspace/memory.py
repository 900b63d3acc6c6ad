"""How much memory the processes of a workspace use, for where no control group counts it."""

import os
import time

_PAUSE_SECONDS = 0.05
_STEP_SECONDS = 0.005
_SHARE = 2  # of what a look at all processes takes, the pause after it is at least so much
_LONGEST_PAUSE_SECONDS = 0.5
_RECHECK_SECONDS = 0.002
_DYING_SECONDS = 0.5
_PAGE = os.sysconf("SC_PAGE_SIZE")


def used(limit):
    """Bytes of memory that all other processes use together.

    What processes share, as after a fork, is counted once for each of them unless that comes to more than the limit:
    only then it is worth the time to have the kernel divide it.
    """
    pids = others()
    total = sum(_resident(pid) for pid in pids)
    if total > limit:
        total = sum(proportional(pid) for pid in pids)
    return total


def others():
    """Ids of all processes of the namespace but the first, as texts."""
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def proportional(pid):
    """Bytes that a process uses, with its share of what several use."""
    try:
        with open("/proc/%s/smaps_rollup" % pid) as file:
            return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))
    except (OSError, ValueError, IndexError):
        return _resident(pid)  # of another user, or hiding itself


class Watcher:
    """Looks again and again, little by little, at what all processes use, and kills the largest if it is too much."""

    def __init__(self, limit, kill, is_alive):
        self._limit = limit
        self._kill = kill
        self._is_alive = is_alive
        self._look = self._looks()
        self.next = time.monotonic()
        """When there is something to do next."""

    def work(self):
        """Go on for a short time."""
        end = time.monotonic() + _STEP_SECONDS
        for pause in self._look:
            now = time.monotonic()
            self.next = now + pause
            if pause or now > end:
                return

    def _looks(self):
        """Seconds until there is something to do again."""
        while True:
            began = time.monotonic()
            pids, total = others(), 0
            for pid in pids:
                total += _resident(pid)
                yield 0.0
            if total > self._limit:
                yield from self._divide(pids)
            took = time.monotonic() - began
            yield min(max(_PAUSE_SECONDS, _SHARE * took), _LONGEST_PAUSE_SECONDS)

    def _divide(self, pids):
        sizes = {}
        for pid in pids:
            sizes[pid] = proportional(pid)
            yield 0.0
        total = sum(sizes.values())
        victims = []
        for pid in sorted(sizes, key=sizes.get, reverse=True):
            if total <= self._limit:
                break
            total -= sizes[pid]
            victims.append(int(pid))
            self._kill(int(pid))
        end = time.monotonic() + _DYING_SECONDS
        while any(self._is_alive(pid) for pid in victims) and time.monotonic() < end:
            yield _RECHECK_SECONDS  # what they used is not free yet, and no other shall be killed for it


def _resident(pid):
    try:
        with open("/proc/%s/statm" % pid) as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0
