"""The order and admission of waiting jobs; pure."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreter_runs import make_job

from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.schedulers.local import _Line

MIB = 1 << 20
JOB = make_job("def task_func():\n    return True\n")


def scheduled(wall: float | None = None, cpu: float = 0.0, memory: int = 100) -> ScheduledJob:
    """A job with what its control run measured; memory in MiB."""
    if wall is None:
        return ScheduledJob(job=JOB)
    return ScheduledJob(job=JOB, expectation=Expectation(wall_seconds=wall, cpu_seconds=cpu, memory_bytes=memory * MIB))


def line_of(jobs: Iterable[ScheduledJob], workers: int, memory: int) -> _Line[ScheduledJob]:
    """A line with jobs in it."""
    line: _Line[ScheduledJob] = _Line(workers, memory)
    for job in jobs:
        line.add(job)
    return line


def admitted(line: _Line[ScheduledJob]) -> list[ScheduledJob]:
    """All jobs that may start now."""
    started = []
    while (job := line.next()) is not None:
        started.append(job)
    return started


def test_the_longest_job_starts_first() -> None:
    """Long jobs at the end would leave the other workers idle."""
    short, long, middle = scheduled(1, 1), scheduled(9, 9), scheduled(5, 5)
    line = line_of([short, long, middle], 1, 1 << 40)
    order = []
    while (job := line.next()) is not None:
        order.append(job)
        line.done(job)
    assert order == [long, middle, short]


def test_no_more_heavy_jobs_than_workers() -> None:
    """CPU-bound jobs and those nothing is known of each take a worker."""
    line = line_of([scheduled(5, 5), scheduled(), scheduled(4, 4)], 2, 1 << 40)
    started = admitted(line)
    assert len(started) == 2
    line.done(started[0])
    assert len(admitted(line)) == 1


def test_sleepers_run_beside_heavy_jobs() -> None:
    """Jobs that wait most of their time are admitted beside as many CPU-bound ones as there are workers."""
    sleepers = [scheduled(10, 0.1) for _ in range(20)]
    started = admitted(line_of([*sleepers, scheduled(3, 3), scheduled(3, 3), scheduled(3, 3)], 2, 1 << 40))
    assert sum(job in sleepers for job in started) == 8, "four sleepers for each worker"
    assert sum(job not in sleepers for job in started) == 2


def test_memory_is_not_overcommitted() -> None:
    """Jobs wait until what their control runs used fits beside those running."""
    big = [scheduled(5, 5, memory=600) for _ in range(3)]
    line = line_of(big, 3, 1000 * MIB)
    started = admitted(line)
    assert len(started) == 1
    line.done(started[0])
    assert len(admitted(line)) == 1


def test_a_job_larger_than_the_memory_runs_alone() -> None:
    """A job that fits nowhere is started when nothing else runs, rather than never."""
    line = line_of([scheduled(5, 5, memory=5000), scheduled(1, 1, memory=10)], 2, 1000 * MIB)
    assert len(admitted(line)) == 1


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 100), st.integers(0, 3000)).map(lambda t: scheduled(*t))
        | st.builds(scheduled),
        max_size=30,
    ),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_every_job_starts_exactly_once(jobs: list[ScheduledJob], workers: int, random: object) -> None:
    """Whatever was measured, the line empties, and never stands still with nothing running."""
    line = line_of(jobs, workers, 1000 * MIB)
    running: list[ScheduledJob] = []
    started: list[int] = []
    while running or len(started) < len(jobs):
        new = admitted(line)
        running += new
        started += [id(job) for job in new]
        assert running, "nothing runs and nothing may start"
        line.done(running.pop(random.randrange(len(running))))  # type: ignore[attr-defined]
    assert sorted(started) == sorted(id(job) for job in jobs)


@pytest.mark.parametrize("wall", [0.0, 0.5])
def test_jobs_too_short_to_tell_count_as_heavy(wall: float) -> None:
    """The CPU share of a very short control run says nothing."""
    assert len(admitted(line_of([scheduled(wall, 0.0) for _ in range(5)], 2, 1 << 40))) == 2
