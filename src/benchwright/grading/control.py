"""Control runs: the reference must pass and the stub must fail, on the user's own machine, offline."""

import re
from collections.abc import Callable, Iterable, Iterator

from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.execution import ExecutionRecord, TestPlan
from benchwright.core.problems import FunctionProblem
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import ScheduledJob, Scheduler
from benchwright.execution.target import Target
from benchwright.grading.pipeline import Pipeline
from benchwright.judging.function import judge

_NETWORK_WORDS = re.compile(
    r"name resolution|Name or service not known|Network is unreachable|getaddrinfo failed|Max retries exceeded"
    r"|urlopen error|NewConnectionError|No address associated|nodename nor servname|gaierror",
    re.IGNORECASE,
)


def run_controls(
    problems: Iterable[FunctionProblem],
    pipeline: Pipeline,
    target: Target,
    scheduler: Scheduler,
    *,
    repeats: int,
    report: Callable[[int, int], None],
) -> Iterator[ControlRun]:
    """Run reference and stub of each problem ``repeats`` times and yield its control run when all are done.

    Stored records are not used: a control run is a measurement.
    """
    chosen = list(problems)
    owners: dict[str, list[tuple[FunctionProblem, bool]]] = {}
    waiting: list[ScheduledJob] = []
    for problem in chosen:
        for is_reference, scheduled in ((True, pipeline.reference(problem)), (False, pipeline.stub(problem))):
            owners.setdefault(scheduled.job.digest, []).append((problem, is_reference))
            # Equal jobs of two problems share their runs; each copy must be an object of its own.
            if len(owners[scheduled.job.digest]) == 1:
                waiting += [ScheduledJob(job=scheduled.job, expectation=scheduled.expectation) for _ in range(repeats)]
    open_runs = {problem.digest: _Collected(problem, repeats) for problem in chosen}
    for done, (job, record) in enumerate(scheduler.run(waiting), 1):
        report(done, len(waiting))
        for problem, is_reference in owners[job.digest]:
            collected = open_runs[problem.digest]
            collected.add(_outcome(pipeline.plan(problem), record, target), record, is_reference=is_reference)
            if collected.complete:
                yield collected.control(pipeline.place)
                del open_runs[problem.digest]


class _Collected:
    """What has come back of one problem so far."""

    def __init__(self, problem: FunctionProblem, repeats: int) -> None:
        self._problem = problem
        self._repeats = repeats
        self._references: list[ControlOutcome] = []
        self._stubs: list[ControlOutcome] = []
        self._needs_network = False

    def add(self, outcome: ControlOutcome, record: ExecutionRecord, *, is_reference: bool) -> None:
        (self._references if is_reference else self._stubs).append(outcome)
        if is_reference and outcome.outcome != "passed" and _speaks_of_network(record):
            self._needs_network = True

    @property
    def complete(self) -> bool:
        return len(self._references) == self._repeats == len(self._stubs)

    def control(self, environment: str) -> ControlRun:
        return ControlRun(
            problem_id=self._problem.id,
            problem_digest=self._problem.digest,
            environment=environment,
            guest_version=guest_version(),
            references=tuple(self._references),
            stubs=tuple(self._stubs),
            needs_network=self._needs_network,
        )


def _outcome(plan: TestPlan, record: ExecutionRecord, target: Target) -> ControlOutcome:
    verdict = judge(plan, record, target.unavailable_modules)
    return ControlOutcome(
        outcome=verdict.outcome.value,
        reason=verdict.reason.value,
        detail=verdict.detail,
        wall_seconds=record.wall_seconds,
        cpu_seconds=record.cpu_seconds,
        memory_peak_bytes=record.memory_peak_bytes,
    )


def _speaks_of_network(record: ExecutionRecord) -> bool:
    texts = [test.message for test in record.tests] + [record.output]
    if record.load_error is not None:
        texts.append(record.load_error.message)
    asked = any(name == "observed" and "asked the network" in text for name, text in record.facts)
    return asked or any(_NETWORK_WORDS.search(text) for text in texts)
