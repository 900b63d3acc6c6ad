"""Control runs on the user's machine: the use case behind ``bw bench check``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation
from benchwright.core.verdicts import Reason
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.grading.control import run_controls
from benchwright.grading.pipeline import Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Which problems to control, where and how often."""

    benchmark: str
    workers: int
    subset: str | None = None
    version: str | None = None
    data: Path | None = None
    environment: str | None = None
    ids: tuple[str, ...] = ()
    repeats: int = 1
    again: bool = False
    """Whether problems with a stored control run of enough repeats are run again."""
    isolation: Isolation = Isolation.NAMESPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What the control runs of a benchmark say, stored ones included."""

    benchmark: str
    version: str
    environment: str
    executed: int
    controls: tuple[ControlRun, ...]

    @property
    def failed_references(self) -> tuple[ControlRun, ...]:
        """Problems whose reference does not pass here, unavailable ones apart."""
        return tuple(c for c in self.controls if c.available and not c.reference_passes)

    @property
    def unavailable(self) -> tuple[ControlRun, ...]:
        """Problems that need a library this environment lacks."""
        return tuple(c for c in self.controls if not c.available)

    @property
    def passing_stubs(self) -> tuple[ControlRun, ...]:
        """Problems whose tests an empty body passes."""
        return tuple(c for c in self.controls if c.stub_passes)

    @property
    def flaky(self) -> tuple[ControlRun, ...]:
        """Problems whose repeats disagree."""
        return tuple(c for c in self.controls if c.flaky)

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw bench check --json``."""
        return {
            "benchmark": self.benchmark,
            "version": self.version,
            "environment": self.environment,
            "problems": len(self.controls),
            "executed": self.executed,
            "reference_passes": sum(c.reference_passes for c in self.controls),
            "failed_references": [_failure(c) for c in self.failed_references],
            "unavailable": [_failure(c) for c in self.unavailable],
            "passing_stubs": [c.problem_id for c in self.passing_stubs],
            "flaky": [c.problem_id for c in self.flaky],
            "needs_network": [c.problem_id for c in self.controls if c.needs_network],
            "controls": [
                {
                    "problem_id": c.problem_id,
                    "reference": [r.outcome for r in c.references],
                    "stub": [s.outcome for s in c.stubs],
                    "wall_seconds": c.wall_seconds,
                    "cpu_seconds": c.cpu_seconds,
                    "memory_peak_bytes": c.memory_peak_bytes,
                    "flaky": c.flaky,
                    "needs_network": c.needs_network,
                }
                for c in self.controls
            ],
        }


def _failure(control: ControlRun) -> dict[str, Any]:
    first = next(run for run in control.references if run.outcome != "passed")
    return {
        "problem_id": control.problem_id,
        "reason": first.reason,
        "detail": first.detail,
        "needs_network": control.needs_network,
    }


def check_benchmark(options: CheckOptions, workspace: Workspace, report: Callable[[int, int], None]) -> CheckReport:
    """Run the control runs that are not stored yet, store each as it completes, and report all.

    Raises `UsageError` for input that cannot be used and `MachineError` when the machine stands in the way.
    """
    if options.repeats < 1:
        raise UsageError(f"--repeats must be at least 1, not {options.repeats}.")
    benchmark = BENCHMARKS.get(options.benchmark)
    target = workspace.target(options.environment or benchmark.environments[0])
    problems = benchmark.load(subset=options.subset, version=options.version, path=options.data)
    if options.ids:
        problems = problems.only(options.ids)
    with workspace.records() as store:
        place = place_of(target.digest, options.isolation)
        known = {} if options.again else store.controls(place, guest_version())
        stored = {digest: run for digest, run in known.items() if _suffices(run, options.repeats)}
        waiting = [problem for problem in problems.problems if problem.digest not in stored]
        # Control runs measure, so they get the widest limits; earlier ones only say how long each may take.
        earlier = store.controls(place, guest_version())
        pipeline = Pipeline(benchmark, target, options.isolation, earlier, official_limits=False, measuring=True)
        scheduler = LocalScheduler(target, LocalOptions(workers=options.workers, isolation=options.isolation))
        if waiting:
            for control in run_controls(waiting, pipeline, target, scheduler, repeats=options.repeats, report=report):
                if not _was_lost(control):  # it says nothing of the problem, and a later check shall try again
                    store.put_control(control)
                stored[control.problem_digest] = control
    return CheckReport(
        benchmark=benchmark.name,
        version=problems.version,
        environment=target.name,
        executed=len(waiting),
        controls=tuple(stored[problem.digest] for problem in problems.problems),
    )


def _suffices(control: ControlRun, repeats: int) -> bool:
    return control.guest_version == guest_version() and len(control.references) >= repeats


def _was_lost(control: ControlRun) -> bool:
    return any(run.reason == Reason.SANDBOX_LOST for run in (*control.references, *control.stubs))
