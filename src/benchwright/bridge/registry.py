"""The tasks that Inspect's own command knows: ``inspect eval benchwright/bigcodebench_complete --model …``.

The sandbox providers of this package and its scripted model become known here, too.

Grading works as under ``bw run``: the same environment (build it first with ``bw env build``), limits from the
control runs on this machine, the same store of records.  Budget, preflight and resuming are ``bw run``'s own.
"""

import atexit
import os
from dataclasses import dataclass
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.hooks import Hooks, RunEnd, hooks

from benchwright.benchmarks.base import Benchmark
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.bridge import scripted
from benchwright.bridge.grader import Grader
from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.sandboxing import providers
from benchwright.bridge.scoring import verdicts
from benchwright.bridge.tasks import BASE_REPLY_TOKENS, Question, ask, build_task
from benchwright.core.controls import place_of
from benchwright.core.errors import BenchwrightError
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode
from benchwright.environments.environment import open_environment
from benchwright.environments.home import default_home
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.execution.target import Target, target_of
from benchwright.grading.pipeline import Pipeline
from benchwright.grading.service import GradingService
from benchwright.store.records import RecordStore, records_in

REGISTERED = (providers, scripted)
"""Imported for what they register: Inspect imports this module to find it."""


@task
def bigcodebench_complete(
    subset: str = "full",
    dataset: str | None = None,
    data_version: str | None = None,
    environment: str | None = None,
    mode: str = "chat",
    prefill: bool = False,
    isolation: str = "namespace",
    workers: int | None = None,
) -> Task:
    """BigCodeBench, completing a documented stub."""
    data = _Data(subset=subset, dataset=dataset, version=data_version, environment=environment)
    return _task("bigcodebench", "complete", data, mode, prefill, isolation, workers)


@task
def bigcodebench_instruct(
    subset: str = "full",
    dataset: str | None = None,
    data_version: str | None = None,
    environment: str | None = None,
    mode: str = "chat",
    prefill: bool = False,
    isolation: str = "namespace",
    workers: int | None = None,
) -> Task:
    """BigCodeBench, following an instruction; meant for instruction-tuned models."""
    data = _Data(subset=subset, dataset=dataset, version=data_version, environment=environment)
    return _task("bigcodebench", "instruct", data, mode, prefill, isolation, workers)


@task
def starter_complete(
    mode: str = "chat", prefill: bool = False, isolation: str = "namespace", workers: int | None = None
) -> Task:
    """The built-in tasks, completing a documented stub."""
    return _task("starter", "complete", _Data(), mode, prefill, isolation, workers)


@task
def starter_instruct(
    mode: str = "chat", prefill: bool = False, isolation: str = "namespace", workers: int | None = None
) -> Task:
    """The built-in tasks, following an instruction."""
    return _task("starter", "instruct", _Data(), mode, prefill, isolation, workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """Which rows, and where they run; None leaves it to the benchmark."""

    subset: str | None = None
    dataset: str | None = None
    version: str | None = None
    environment: str | None = None


def _task(name: str, variant: str, data: _Data, mode: str, prefill: bool, isolation: str, workers: int | None) -> Task:
    try:
        benchmark = BENCHMARKS.get(name)
        path = None if data.dataset is None else Path(data.dataset)
        problems = benchmark.load(subset=data.subset, version=data.version, path=path)
        home = default_home(os.environ)
        target = target_of(open_environment(data.environment or benchmark.environments[0], home))
        base = Mode(mode) is Mode.BASE
        question = Question(
            benchmark=benchmark,
            problems=problems,
            variant=variant,
            mode=Mode(mode),
            prefill=prefill,
            generation={"temperature": 0.0} | ({"max_tokens": BASE_REPLY_TOKENS} if base else {}),
        )
        grader = _LazyGrader(benchmark, target, home, Isolation(isolation), workers)
        return build_task(question, solve=ask(mode), score=verdicts(problems.problem, grader.get))
    except BenchwrightError as error:
        raise PrerequisiteError(str(error).replace("[", "\\[")) from error  # or it would be read as markup
    except ValueError as error:  # a mode or an isolation level that is none
        raise PrerequisiteError(f"{error}; see the task's parameters in benchwright's documentation.") from error


class _LazyGrader:
    """A grader that starts with the first answer and ends with the run."""

    def __init__(
        self, benchmark: Benchmark, target: Target, home: Path, isolation: Isolation, workers: int | None
    ) -> None:
        self._benchmark = benchmark
        self._target = target
        self._home = home
        self._isolation = isolation
        self._workers = workers or len(os.sched_getaffinity(0))
        self._grader: Grader | None = None
        self._service: GradingService | None = None

    def get(self) -> Grader:
        """The grader, started when it is not running."""
        if self._grader is None:
            self._grader = self._start()
        return self._grader

    def _start(self) -> Grader:
        with self._records() as store:
            controls = store.controls(place_of(self._target.digest, self._isolation), guest_version())
        pipeline = Pipeline(self._benchmark, self._target, self._isolation, controls, official_limits=False)
        options = LocalOptions(workers=self._workers, isolation=self._isolation)
        service = GradingService(LocalScheduler(self._target, options), self._records)
        service.__enter__()
        _running.append(self)
        self._service = service
        return Grader(pipeline, service)

    def end(self) -> None:
        """End what grades; the next answer would start it again."""
        service, self._service, self._grader = self._service, None, None
        if service is not None:
            service.__exit__(None)

    def _records(self) -> RecordStore:
        return records_in(self._home)


_running: list[_LazyGrader] = []
"""Graders that were started.  A global, for Inspect makes hooks itself and tells the end of a run to them alone."""


def _end_all() -> None:
    while _running:
        _running.pop().end()


atexit.register(_end_all)


@hooks(name="benchwright", description="Ends benchwright's grading with the run.")
class _EndGrading(Hooks):
    def enabled(self) -> bool:
        """Only while something grades: runs that have nothing to do with benchwright are not told of it."""
        return bool(_running)

    # Of the run, not of a task: several models are asked side by side, and share a task's grader.
    async def on_run_end(self, data: RunEnd) -> None:
        """End what grades."""
        _end_all()
