"""Run a model on a benchmark: the use case behind ``bw run``.

A run lives in one folder: ``run.json`` (what is asked, with which settings), ``replies.jsonl`` (every model call),
``logs/`` (Inspect's), and what ``bw grade`` writes.  The journal is the truth: the same command given again asks only
for what it lacks, and every number can be made anew from it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchwright.app.preflight import Preflight, choose, conclude, examine
from benchwright.app.runfile import RunFile
from benchwright.app.runplan import RunPlan
from benchwright.app.runreport import Asked, RunReport, report_run
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.grader import Grader
from benchwright.bridge.metering import Meter, metered
from benchwright.bridge.models import OpenModel, open_model
from benchwright.bridge.replies import attempt_of
from benchwright.bridge.running import RunLog, ask_beforehand, run_task
from benchwright.bridge.scoring import verdicts
from benchwright.bridge.tasks import build_task
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import Ledger, TokenUsage
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.errors import MachineError, StoppedError
from benchwright.core.execution import ExitCause
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.grading.pipeline import Pipeline
from benchwright.grading.service import GradingService
from benchwright.store.folder import LOGS, ResultsFolder
from benchwright.store.replies import NAME as REPLIES
from benchwright.store.replies import ReplyJournal

__all__ = ["DryRun", "Forecast", "RunEvents", "RunReport", "dry_run", "run"]

_SPARE_SAMPLES = 32
"""Samples in work beyond the connections: they are being graded, or wait for it, and hold no connection."""


class RunEvents(Protocol):
    """What the caller is told while a run goes on."""

    def say(self, text: str) -> None:
        """One line for a person."""

    def preflight(self, preflight: Preflight, forecast: "Forecast") -> None:
        """The first answers, and what the whole will take."""

    def progress(self, done: int, total: int) -> None:
        """Samples graded, of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a run will take by what its first replies took."""

    replies: int
    """Replies that are still to come."""
    tokens: int | None
    """None when the provider reports no usage."""
    cost: float | None
    """US dollars; None when the price or the usage is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would do."""

    plan: RunPlan
    to_ask: int
    answered: int
    prompt_characters: int
    """Characters of all prompts that would be sent."""

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw run --dry-run --json``."""
        return {
            **self.plan.identity,
            **self.plan.facts(),
            "dry_run": True,
            "folder": str(self.plan.folder),
            "problems": len(self.plan.problems.problems),
            "to_ask": self.to_ask,
            "already_answered": self.answered,
            "to_grade": (self.to_ask + self.answered) * len(self.plan.options.scores),
            "prompt_characters": self.prompt_characters,
        }


def dry_run(plan: RunPlan) -> DryRun:
    """Say what a run would ask and grade, writing nothing; raises `UsageError` when the folder holds another run."""
    answered: set[SampleKey] = set()
    path = plan.folder / REPLIES
    RunFile(ResultsFolder(plan.folder), plan).refuse_changed()
    if path.exists():
        with ReplyJournal(path, read_only=True) as journal:
            answered = {SampleKey(*key) for key in journal.answered()}
    keys = _keys(plan)
    waiting = [key for key in keys if key not in answered]
    characters = sum(len(plan.question.prompt(key.problem_id).text) for key in waiting)
    return DryRun(
        plan=plan,
        to_ask=len(waiting),
        answered=len(keys) - len(waiting),
        prompt_characters=characters,
    )


def run(plan: RunPlan, workspace: Workspace, events: RunEvents) -> RunReport:
    """Ask, grade and report; or go on where an earlier invocation stopped.

    Raises:
        UsageError: The folder holds another run.
        StoppedError: The preflight objects; nothing but its few problems was asked.
        MachineError: The machine stands in the way; replies and finished executions are kept.
    """
    folder = ResultsFolder(plan.folder)
    with folder.locked():
        description = RunFile(folder, plan)
        description.refuse_changed()
        description.begin()
        with ReplyJournal(plan.folder / REPLIES) as journal:
            return _Run(plan, workspace, events, folder, description, journal).carry_out()


def _keys(plan: RunPlan) -> list[SampleKey]:
    return [
        SampleKey(problem.id, sample) for sample in range(plan.question.samples) for problem in plan.problems.problems
    ]


class _Run:
    """One invocation of a run."""

    def __init__(
        self,
        plan: RunPlan,
        workspace: Workspace,
        events: RunEvents,
        folder: ResultsFolder,
        description: RunFile,
        journal: ReplyJournal,
    ) -> None:
        self._plan = plan
        self._keys = _keys(plan)
        self._workspace = workspace
        self._events = events
        self._folder = folder
        self._description = description
        self._journal = journal
        self._before = sum(1 for _ in journal.answered())
        charges = (call.charge for call in journal.calls)
        self._ledger = Ledger.rebuilt(plan.options.budget, plan.price and plan.price.price, charges)
        tokens = plan.question.generation.get("max_tokens")
        self._meter = Meter(
            journal, self._ledger, timeout=plan.options.calls.timeout, reply_tokens=tokens, secrets=plan.secrets
        )
        self._opened: OpenModel | None = plan.opened
        self._started = time.monotonic()
        self._executed = 0

    def carry_out(self) -> RunReport:
        """All of it, in order."""
        controls = self._controls()
        log = self._description.finished_log(controls) if self._all_answered() else None
        if log is None:
            log = self._ask_and_grade(controls)
        attempts = {key: self._attempt(key) for key in self._keys}
        asked = Asked(
            attempts=attempts,
            stopped=self._stopped(attempts),
            now=sum(1 for _ in self._journal.answered()) - self._before,
            before=self._before,
            log=log,
            ledger=self._ledger,
            started=self._started,
            executed=self._executed,
        )
        if not asked.found:
            raise StoppedError(f"Nothing was asked: {asked.stopped}")
        return report_run(self._plan, self._folder, self._workspace, asked)

    def _all_answered(self) -> bool:
        return all(self._journal.reply(*key) is not None for key in self._keys)

    def _stopped(self, attempts: Mapping[SampleKey, Attempt | None]) -> str | None:
        """Why asking ended before its end: by its own rules, or because no reply came at all."""
        if self._meter.stopped is not None:
            return self._meter.stopped
        endings = [attempt.ending for attempt in attempts.values() if attempt is not None]
        if endings and all(ending is Ending.FAILED for ending in endings):
            return f"no sample got a reply; the last one: {list(self._meter.failures.values())[-1]}"
        return "Inspect ended the task early" if len(endings) < len(attempts) else None

    def _controls(self) -> Mapping[str, ControlRun]:
        """Control runs of this run's problems, by digest."""
        place = place_of(self._plan.target.digest, self._plan.options.isolation)
        with self._workspace.records() as store:
            found = store.controls(place, guest_version())
        own = {problem.digest for problem in self._plan.problems.problems}
        return {digest: control for digest, control in found.items() if digest in own}

    def _ask_and_grade(self, controls: Mapping[str, ControlRun]) -> Path:
        with self._grading(controls) as (grader, service):
            if self._plan.options.preflight:
                self._preflight()
            log = self._run_task(grader)
            lost = service.lost
        if self._meter.fatal is not None:
            raise self._meter.fatal
        if log.status != "success":
            self._events.say(f"Inspect ended with status {log.status}: {log.error}")
        elif self._all_answered() and not lost:
            self._description.finish(log.path, controls)
        return log.path

    @contextmanager
    def _grading(self, controls: Mapping[str, ControlRun]) -> Iterator[tuple[Grader, GradingService]]:
        """A grader that has shown that it works: before the first token is paid for, one reference is executed."""
        plan, options = self._plan, self._plan.options
        pipeline = Pipeline(
            plan.benchmark,
            plan.target,
            options.isolation,
            controls,
            official_limits=options.official_limits,
            floor_seconds=options.floor_seconds,
        )
        scheduler = LocalScheduler(plan.target, LocalOptions(workers=options.workers, isolation=options.isolation))
        with GradingService(scheduler, self._workspace.records) as service:
            record = service.submit(pipeline.reference(plan.problems.problems[0])).result()
            if record.exit_cause is ExitCause.LOST:
                raise MachineError(f"Nothing was asked, for nothing could be graded: {record.lost_reason}")
            tried_out = service.executed
            done = 0

            def on_graded() -> None:
                nonlocal done
                done += 1
                self._events.progress(done, len(self._keys))

            grader = Grader(pipeline, service, options.scores, on_graded=on_graded, on_error=self._meter.give_up)
            yield grader, service
            # What was lost is no record to take over, and the trial belongs to no answer.
            self._executed = service.executed - tried_out - len(service.lost)

    def _model(self) -> OpenModel:
        """The model, opened anew when it was used and closed; never two at once, for local weights fill the memory."""
        opened, self._opened = self._opened, None
        return opened or open_model(self._plan.options.model)

    def _preflight(self) -> None:
        """Look at the first answers, asking for those that are not there; raises `StoppedError` with an objection."""
        plan = self._plan
        chosen = choose([problem.id for problem in plan.problems.problems])
        missing = [problem_id for problem_id in chosen if self._journal.reply(problem_id, 0) is None]
        if missing:
            self._events.say(f"Preflight: asking {len(missing)} of {len(plan.problems.problems)} problems first.")
            ask_beforehand(plan.question, missing, self._model(), plan.options.calls, self._meter)
        if self._meter.fatal is not None:
            raise self._meter.fatal
        samples = []
        for problem_id in chosen:
            attempt = self._attempt(SampleKey(problem_id, 0))
            if attempt is not None:
                problem = plan.problems.problem(problem_id)
                prompt = plan.question.prompt(problem_id)
                samples.append(examine(problem_id, prompt.text + prompt.prefill, attempt, problem.entry_point))
        if not samples:
            return  # the budget paid for none, which the run itself will say
        preflight = conclude(samples)
        if missing or preflight.objection:  # answers that were there and can be read have been shown before
            self._events.preflight(preflight, self._forecast())
        if preflight.objection:
            raise StoppedError(preflight.objection)
        self._meter.forget_failures()  # they are asked again with all the others

    def _forecast(self) -> Forecast:
        charges = [call.charge for call in self._journal.calls if call.reply is not None]
        usages = [charge.usage for charge in charges if charge.usage is not None]
        waiting = sum(1 for key in self._keys if self._journal.reply(*key) is None)
        if not usages:
            return Forecast(replies=waiting, tokens=None, cost=None)
        total = sum(usages, start=TokenUsage())
        price = self._plan.price
        each = None if price is None else price.price.cost(total) / len(usages)
        tokens = round(total.total / len(usages) * waiting)
        return Forecast(replies=waiting, tokens=tokens, cost=None if each is None else each * waiting)

    def _run_task(self, grader: Grader) -> RunLog:
        plan, calls = self._plan, self._plan.options.calls
        opened = self._model()
        self._meter.attach(opened.model)
        task = build_task(
            plan.question, solve=metered(self._meter), score=verdicts(plan.problems.problem, lambda: grader)
        )
        at_once = calls.max_connections + _SPARE_SAMPLES
        return run_task(task, opened, calls, plan.folder.absolute() / LOGS, samples_at_once=at_once)

    def _attempt(self, key: SampleKey) -> Attempt | None:
        """What there is of a sample: its reply, its failure, or nothing when it was not asked."""
        plan = self._plan
        reply = self._journal.reply(*key)
        if reply is not None:
            lead = plan.question.prompt(key.problem_id).lead
            return attempt_of(reply, problem_id=key.problem_id, sample=key.sample, lead=lead, model=plan.opened.name)
        failure = self._meter.failures.get(key)
        if failure is None:
            return None
        return Attempt(
            problem_id=key.problem_id,
            sample=key.sample,
            solution=None,
            model=plan.opened.name,
            ending=Ending.FAILED,
            ending_detail=failure,
        )
