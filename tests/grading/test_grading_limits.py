"""Limits from control runs."""

import dataclasses
from typing import Any

import pytest
from grading_pieces import make_control, starter
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.controls import ControlRun
from benchwright.core.execution import MIB
from benchwright.grading.limits import limits_for, official_limits

PROBLEM = starter(1).problems[0]
GIB = 1024 * MIB


def control(**changes: Any) -> ControlRun:
    """A control run of the first problem."""
    return make_control(PROBLEM, **changes)


def test_without_a_control_run_the_official_limits_hold() -> None:
    """What is not known here gets what the official harness allows: 240 s."""
    assert limits_for(None, official=False) == official_limits()
    assert official_limits().wall_seconds == official_limits().cpu_seconds == 240.0


def test_official_limits_can_be_asked_for() -> None:
    """A control run does not matter then, and a time-out counts at once."""
    expected = dataclasses.replace(official_limits(), repeat_timeouts=False)
    assert limits_for(control(wall=100), official=True) == expected


@pytest.mark.parametrize(
    ("wall", "cpu", "cpu_limit", "wall_limit"),
    [
        (0.1, 0.1, 45, 90),
        (9, 9, 60, 90),
        (20, 20, 120, 180),
        (100, 1, 45, 180),
        (500, 9, 60, 900),
        (999, 999, 900, 900),
    ],
)
def test_time_is_a_generous_multiple_with_a_floor(wall: float, cpu: float, cpu_limit: float, wall_limit: float) -> None:
    """Six times what the reference computed, with a floor; more wall time, and what it waited a quarter longer."""
    limits = limits_for(control(wall=wall, cpu=cpu), official=False)
    assert (limits.cpu_seconds, limits.wall_seconds) == (cpu_limit, wall_limit)


def test_the_floor_can_be_chosen() -> None:
    """With a lower floor a quick problem's limit is short, with a higher one long."""
    quick = control(wall=0.1, cpu=0.1)
    assert limits_for(quick, official=False, floor_seconds=6.0).cpu_seconds == 6.0
    assert limits_for(quick, official=False, floor_seconds=100.0).cpu_seconds == 120.0


@pytest.mark.parametrize(("used", "expected"), [(100 * MIB, 4 * GIB), (1200 * MIB, 6 * GIB), (100 * GIB, 32 * GIB)])
def test_memory_is_a_multiple_with_a_floor(used: int, expected: int) -> None:
    """Four times the reference's peak, at least 4 GiB."""
    assert limits_for(control(memory=used), official=False).memory_bytes == expected


@pytest.mark.parametrize("outcome", ["failed", "over_limit", "fault"])
def test_a_failing_reference_raises_no_limit(outcome: str) -> None:
    """A reference that hung until its limit would else allow every answer a quarter of an hour."""
    limits = limits_for(control(wall=240, cpu=240, outcome=outcome), official=False)
    assert limits.wall_seconds == limits.cpu_seconds == 240.0
    assert limits_for(control(outcome=outcome), official=False).cpu_seconds == 45.0


@given(st.floats(0, 1000), st.floats(0.97, 1.03))
def test_noise_rarely_changes_a_limit(seconds: float, noise: float) -> None:
    """A repeated measurement moves a limit by a step or two at most."""
    first = limits_for(control(wall=seconds, cpu=seconds), official=False)
    second = limits_for(control(wall=seconds * noise, cpu=seconds * noise), official=False)
    for one, other in ((first.cpu_seconds, second.cpu_seconds), (first.wall_seconds, second.wall_seconds)):
        assert max(one, other) <= 2.5 * min(one, other)
