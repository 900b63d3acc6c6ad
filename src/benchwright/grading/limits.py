"""Limits of a job, from the control run of its problem on this machine."""

from benchwright.core.controls import ControlRun
from benchwright.core.execution import MIB, Limits

OFFICIAL_WALL_SECONDS = 240.0
"""What bigcodebench 0.2.5 allows in effect: ``max(240, …)``, whatever was measured."""

_FACTOR = 6.0
_FLOOR_SECONDS = 24.0
_LADDER_SECONDS = (24.0, 36.0, 54.0, 80.0, 120.0, 180.0, 270.0, 400.0, 600.0, 900.0)
"""Limits are rounded up to these, so that a repeated control run does not make every stored result new."""

_MEMORY_FACTOR = 4
_MEMORY_FLOOR = 4096 * MIB
_MEMORY_LADDER = tuple(step * 1024 * MIB for step in (4, 6, 8, 12, 16, 24, 32))


def official_limits() -> Limits:
    """Wall time as under the official harness; memory as `Limits` sets it, for 30 GiB do not fit every machine."""
    return Limits(wall_seconds=OFFICIAL_WALL_SECONDS, cpu_seconds=OFFICIAL_WALL_SECONDS)


def limits_for(control: ControlRun | None, *, official: bool) -> Limits:
    """The limits of a problem's jobs.

    Six times what the reference took here under load, at least 24 s, of CPU time; half as much again of wall time.
    Memory: four times the reference's peak, at least 4 GiB.  Without a control run, with one whose
    reference failed (its times say nothing of a right answer's), or with ``official``, those of
    :func:`official_limits`.
    """
    if control is None or official or not control.reference_passes:
        return official_limits()
    cpu = _step(_LADDER_SECONDS, max(_FLOOR_SECONDS, _FACTOR * max(control.wall_seconds, control.cpu_seconds)))
    memory = _step(_MEMORY_LADDER, max(_MEMORY_FLOOR, _MEMORY_FACTOR * control.memory_peak_bytes))
    return Limits(cpu_seconds=cpu, wall_seconds=1.5 * cpu, memory_bytes=int(memory))


def _step(ladder: tuple[float, ...], value: float) -> float:
    return next((step for step in ladder if step >= value), ladder[-1])
