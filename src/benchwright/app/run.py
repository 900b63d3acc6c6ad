"""Run a model on a benchmark: the use case behind ``bw run``.

A run lives in one folder: ``run.json`` (what is asked, with which settings, what it has cost), ``replies.jsonl``
(every model call), ``logs/`` (Inspect's), and what ``bw grade`` writes.  The journal is the truth: the same command
given again asks only for what it lacks, and every number can be made anew from it.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchwright.app.grading import GradeOptions, GradeReport, Inputs, grade_into
from benchwright.app.preflight import Preflight, choose, conclude, examine
from benchwright.app.runplan import RunPlan
from benchwright.app.samples import write_samples
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleFile
from benchwright.bridge.grader import Grader
from benchwright.bridge.metering import Meter, SampleKey, metered
from benchwright.bridge.models import open_model
from benchwright.bridge.replies import attempt_of
from benchwright.bridge.running import INSPECT_VERSION, ask_beforehand, run_task
from benchwright.bridge.scoring import verdicts
from benchwright.bridge.tasks import build_task
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import Ledger, TokenUsage
from benchwright.core.controls import place_of
from benchwright.core.digest import digest_of
from benchwright.core.errors import MachineError, StoppedError, UsageError
from benchwright.core.execution import ExitCause
from benchwright.core.prompts import Mode
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.grading.pipeline import Pipeline
from benchwright.grading.service import GradingService
from benchwright.judging.function import JUDGE_VERSION
from benchwright.store.folder import ResultsFolder
from benchwright.store.replies import NAME as REPLIES
from benchwright.store.replies import ReplyJournal

LOGS, SAMPLES = "logs", "samples.jsonl"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run came to."""

    plan: RunPlan
    grading: GradeReport
    log: Path
    asked: int
    """Replies that this invocation got from the model."""
    answered_before: int
    not_asked: tuple[str, ...]
    """``problem#sample`` of everything that was not asked."""
    stopped: str | None
    """Why not everything was asked."""
    ledger: Ledger


def dry_run(plan: RunPlan) -> DryRun:
    """Say what a run would ask and grade; nothing is written."""
    answered: set[SampleKey] = set()
    path = plan.folder / REPLIES
    if path.exists():
        _refuse_changed(plan)
        with ReplyJournal(path, read_only=True) as journal:
            answered = {SampleKey(*key) for key in journal.answered()}
    waiting = [key for key in _keys(plan) if key not in answered]
    characters = sum(len(plan.question.prompt(key.problem_id).text) for key in waiting)
    return DryRun(
        plan=plan,
        to_ask=len(waiting),
        answered=len(_keys(plan)) - len(waiting),
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
        _refuse_changed(plan)
        folder.write_json(RUN, {**plan.identity, **plan.facts(), "identity": sorted(plan.identity)})
        with ReplyJournal(plan.folder / REPLIES) as journal:
            return _Run(plan, workspace, events, folder, journal).carry_out()


RUN = "run.json"


def _refuse_changed(plan: RunPlan) -> None:
    folder = ResultsFolder(plan.folder)
    found = folder.read_json(RUN)
    if found is None:
        if folder.has_manifest():
            raise UsageError(f"{plan.folder} holds a grading, not a run; choose another folder with --out.")
        return
    changes = [
        f"{name} was {found.get(name)!r}, now {plan.identity.get(name)!r}"
        for name in sorted({*found.get("identity", ()), *plan.identity})
        if found.get(name) != plan.identity.get(name)
    ]
    if changes:
        raise UsageError(
            f"{plan.folder} holds a run with other settings ({'; '.join(changes)}); give its command again to go on "
            f"with it, or choose another folder with --out."
        )


def _keys(plan: RunPlan) -> list[SampleKey]:
    return [
        SampleKey(problem.id, sample) for sample in range(plan.question.samples) for problem in plan.problems.problems
    ]


class _Run:
    """One invocation of a run."""

    def __init__(
        self, plan: RunPlan, workspace: Workspace, events: RunEvents, folder: ResultsFolder, journal: ReplyJournal
    ) -> None:
        self.plan = plan
        self.workspace = workspace
        self.events = events
        self.folder = folder
        self.journal = journal
        self.before = sum(1 for _ in journal.answered())
        charges = (call.charge for call in journal.calls)
        self.ledger = Ledger.rebuilt(plan.options.budget, plan.price and plan.price.price, charges)
        self.meter = Meter(journal, self.ledger)
        self.started = time.monotonic()
        self.executed = 0

    def carry_out(self) -> RunReport:
        """All of it, in order."""
        with self._grading() as grader:
            if self.plan.options.preflight:
                self._preflight()
            log = self._ask_and_grade(grader)
        if self.meter.fatal is not None:
            raise self.meter.fatal
        return self._report(log)

    @contextmanager
    def _grading(self) -> Iterator[Grader]:
        """A grader that has shown that it works: before the first token is paid for, one reference is executed."""
        plan, options = self.plan, self.plan.options
        with self.workspace.records() as store:
            controls = store.controls(place_of(plan.target.digest, options.isolation), guest_version())
        pipeline = Pipeline(
            plan.benchmark,
            plan.target,
            options.isolation,
            controls,
            official_limits=options.official_limits,
            floor_seconds=options.floor_seconds,
        )
        scheduler = LocalScheduler(plan.target, LocalOptions(workers=options.workers, isolation=options.isolation))
        with GradingService(scheduler, self.workspace.records) as service:
            record = service.submit(pipeline.reference(plan.problems.problems[0])).result()
            if record.exit_cause is ExitCause.LOST:
                raise MachineError(f"Nothing was asked, for nothing could be graded: {record.lost_reason}")
            tried_out = service.executed
            done = 0

            def on_graded() -> None:
                nonlocal done
                done += 1
                self.events.progress(done, len(_keys(plan)))

            yield Grader(pipeline, service, options.scores, on_graded=on_graded, on_machine_error=self.meter.give_up)
            # What was lost is no record to take over, and the trial belongs to no answer.
            self.executed = service.executed - tried_out - len(service.lost)

    def _preflight(self) -> None:
        plan = self.plan
        chosen = choose([problem.id for problem in plan.problems.problems])
        if all(self.journal.reply(problem_id, 0) is not None for problem_id in chosen):
            return  # an earlier invocation has been through it
        self.events.say(f"Preflight: asking {len(chosen)} of {len(plan.problems.problems)} problems first.")
        ask_beforehand(plan.question, chosen, plan.opened, plan.options.calls, self.meter)
        if self.meter.fatal is not None:
            raise self.meter.fatal
        samples = []
        for problem_id in chosen:
            attempt = self._attempt(SampleKey(problem_id, 0))
            if attempt is not None:
                problem = plan.problems.problem(problem_id)
                prompt = plan.question.prompt(problem_id)
                samples.append(examine(problem_id, prompt.text + prompt.prefill, attempt, problem.entry_point))
        preflight = conclude(samples)
        self.events.preflight(preflight, self._forecast())
        if preflight.objection:
            raise StoppedError(preflight.objection)
        self.meter.failures.clear()  # they are asked again with all the others

    def _forecast(self) -> Forecast:
        charges = [call.charge for call in self.journal.calls if call.reply is not None]
        usages = [charge.usage for charge in charges if charge.usage is not None]
        waiting = sum(1 for key in _keys(self.plan) if self.journal.reply(*key) is None)
        if not usages:
            return Forecast(replies=waiting, tokens=None, cost=None)
        total = sum(usages, start=TokenUsage())
        price = self.plan.price
        each = None if price is None else price.price.cost(total) / len(usages)
        return Forecast(
            replies=waiting, tokens=round(total.total / len(usages) * waiting), cost=each and each * waiting
        )

    def _ask_and_grade(self, grader: Grader) -> Path:
        plan, options = self.plan, self.plan.options
        # A model of its own: the preflight's connections belong to an event loop that is gone.
        opened = open_model(options.model)
        self.meter.attach(opened.model)
        task = build_task(
            plan.question,
            solve=metered(self.meter),
            score=verdicts(plan.problems.problem, lambda: grader),
        )
        at_once = options.calls.max_connections + _SPARE_SAMPLES
        log = run_task(task, opened, options.calls, plan.folder / LOGS, samples_at_once=at_once)
        if log.status != "success" and self.meter.fatal is None:
            self.events.say(f"Inspect ended with status {log.status}: {log.error}")
        return log.path

    def _attempt(self, key: SampleKey) -> Attempt | None:
        """What there is of a sample: its reply, its failure, or nothing when it was not asked."""
        plan = self.plan
        reply = self.journal.reply(*key)
        if reply is not None:
            lead = plan.question.prompt(key.problem_id).lead
            return attempt_of(reply, problem_id=key.problem_id, sample=key.sample, lead=lead, model=plan.opened.name)
        failure = self.meter.failures.get(key)
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

    def _report(self, log: Path) -> RunReport:
        plan = self.plan
        found = {key: self._attempt(key) for key in _keys(plan)}
        attempts = [attempt for attempt in found.values() if attempt is not None]
        not_asked = tuple(f"{key.problem_id}#{key.sample}" for key, attempt in found.items() if attempt is None)
        if not attempts:
            raise StoppedError(f"Nothing was asked: {self.meter.stopped}")
        stopped = self.meter.stopped if not_asked else None
        samples = _sample_file(plan, attempts)
        joined = plan.question.mode is Mode.BASE
        here = plan.folder.absolute()
        write_samples(plan.folder / SAMPLES, attempts, plan.problems, join_lead=joined)
        manifest = {
            **plan.identity,
            **plan.facts(),
            "samples_digest": samples.digest,
            "samples_name": SAMPLES,
            "guest_version": guest_version(),
            "judge_version": JUDGE_VERSION,
            "inspect_version": INSPECT_VERSION,
            "unavailable_modules": sorted(plan.target.unavailable_modules),
            "not_asked": list(not_asked),
            "stopped": stopped,
            "usage": self.ledger.to_plain(),
            "cost": self.ledger.cost,
            "log": str(log.relative_to(here) if log.is_relative_to(here) else log),
            "status": "stopped" if not_asked else "complete",
        }
        inputs = Inputs(
            benchmark=plan.benchmark,
            problems=plan.problems,
            samples=samples,
            target=plan.target,
            manifest=manifest,
        )
        with self.workspace.records() as store:
            grading = grade_into(
                self.folder,
                store,
                inputs,
                _grade_options(plan),
                lambda progress: None,
                started=self.started,
                executed_before=self.executed,
            )
        return RunReport(
            plan=plan,
            grading=grading,
            log=log,
            asked=sum(1 for _ in self.journal.answered()) - self.before,
            answered_before=self.before,
            not_asked=not_asked,
            stopped=stopped,
            ledger=self.ledger,
        )


def _sample_file(plan: RunPlan, attempts: Sequence[Attempt]) -> SampleFile:
    counts: dict[str, int] = {}
    for attempt in attempts:
        counts[attempt.problem_id] = counts.get(attempt.problem_id, 0) + 1
    return SampleFile(
        name=SAMPLES,
        digest=digest_of([[a.problem_id, a.sample, a.raw_text, a.prefill, a.ending.value] for a in attempts]),
        files=(REPLIES,),
        model=plan.opened.name,
        attempts=tuple(attempts),
        missing=(),  # what was not asked is listed, not counted as wrong
        fewest_samples=min(counts.values()),
        most_samples=max(counts.values()),
    )


def _grade_options(plan: RunPlan) -> GradeOptions:
    options = plan.options
    return GradeOptions(
        benchmark=options.benchmark,
        samples=plan.folder / SAMPLES,
        workers=options.workers,
        scores=options.scores,
        official_limits=options.official_limits,
        floor_seconds=options.floor_seconds,
        isolation=options.isolation,
        out=plan.folder,
    )
