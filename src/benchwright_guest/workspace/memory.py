"""How much memory the processes of a workspace use, for where no control group counts it."""

import os
import time

_PAUSE_SECONDS = 0.05
_STEP_SECONDS = 0.005
_SHARE = 4  # of what a look at all processes takes, it pauses so many times before the next
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
        self._look = None
        self._began = 0.0
        self.next = time.monotonic()
        """When there is something to do next."""

    def work(self):
        """Go on for a short time."""
        now = time.monotonic()
        if self._look is None:
            self._look, self._began = self._one_look(), now
        for _ in self._look:
            if time.monotonic() > now + _STEP_SECONDS:
                return
        self._look = None
        end = time.monotonic()
        self.next = end + max(_PAUSE_SECONDS, _SHARE * (end - self._began))

    def _one_look(self):
        pids, total = others(), 0
        for pid in pids:
            total += _resident(pid)
            yield
        if total <= self._limit:
            return
        sizes = {}
        for pid in pids:
            sizes[pid] = proportional(pid)
            yield
        if sum(sizes.values()) > self._limit:
            victim = int(max(sizes, key=sizes.get))
            self._kill(victim)
            end = time.monotonic() + 1.0
            while self._is_alive(victim) and time.monotonic() < end:
                yield  # what it used is not free yet, and no other shall be killed for it


def _resident(pid):
    try:
        with open("/proc/%s/statm" % pid) as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0
