"""Limits of a job, from the control run of its problem on this machine."""

import dataclasses

from benchwright.core.controls import ControlRun
from benchwright.core.execution import MIB, Limits

OFFICIAL_WALL_SECONDS = 240.0
"""What bigcodebench 0.2.5 allows in effect: ``max(240, …)``, whatever was measured."""

STUB_SECONDS = 30.0
"""For the control run of an empty stub."""

_CPU_FACTOR = 6.0
"""Times the reference's own CPU time: answers are often an order of magnitude slower and still right."""

_WAIT_FACTOR = 1.25
"""Times what the reference waited or slept: that does not grow with load, nor with a slower algorithm."""

FLOOR_SECONDS = 45.0
"""Of CPU time for every problem, unless asked otherwise.

Among 1,140 real answers, two right ones took 18 and 26 s where their references take 0.2 s (RSA keys)."""

_LADDER_SECONDS = (3.0, 6.0, 9.0, 12.0, 18.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 270.0, 400.0, 600.0, 900.0)
"""Limits are rounded up to these, so that a repeated control run does not make every stored result new."""

_MEMORY_FACTOR = 4
_MEMORY_FLOOR = 4096 * MIB
_MEMORY_LADDER = tuple(step * 1024 * MIB for step in (4, 6, 8, 12, 16, 24, 32))


def official_limits() -> Limits:
    """Wall time as under the official harness; memory as `Limits` sets it, for 30 GiB do not fit every machine."""
    return Limits(wall_seconds=OFFICIAL_WALL_SECONDS, cpu_seconds=OFFICIAL_WALL_SECONDS)


def _as_asked() -> Limits:
    """Official limits because the user asked for them: then a time-out counts at once, as under that harness."""
    return dataclasses.replace(official_limits(), repeat_timeouts=False)


def limits_for(control: ControlRun | None, *, official: bool, floor_seconds: float = FLOOR_SECONDS) -> Limits:
    """The limits of a problem's jobs.

    CPU time: six times the reference's, at least ``floor_seconds``.  Wall time: half as much again (a core may be
    shared), or one and a quarter times what the reference waited besides six times what it computed and 10 s,
    whichever is more.  Memory: four times the reference's peak, at least 4 GiB.  Without a control run, or with
    ``official``, those of :func:`official_limits`.
    """
    if official:
        return _as_asked()
    if control is None:
        return official_limits()
    cpu = _step(_LADDER_SECONDS, max(floor_seconds, _CPU_FACTOR * control.cpu_seconds))
    waited = max(0.0, control.wall_seconds - control.cpu_seconds)
    waiting = _WAIT_FACTOR * waited + _CPU_FACTOR * control.cpu_seconds + 10.0
    wall = _step(_LADDER_SECONDS, max(1.5 * cpu, waiting))
    if not control.reference_passes:  # how long it took to fail, perhaps at its own limit, asks for no more than usual
        cpu, wall = min(cpu, OFFICIAL_WALL_SECONDS), min(wall, OFFICIAL_WALL_SECONDS)
    memory = _step(_MEMORY_LADDER, max(_MEMORY_FLOOR, _MEMORY_FACTOR * control.memory_peak_bytes))
    return Limits(cpu_seconds=cpu, wall_seconds=wall, memory_bytes=int(memory))


def _step(ladder: tuple[float, ...], value: float) -> float:
    return next((step for step in ladder if step >= value), ladder[-1])
