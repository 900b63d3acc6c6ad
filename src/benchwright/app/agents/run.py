"""Run an agent on repository problems: the use case behind ``bw run`` for them.

A run lives in one folder: ``run.json`` (what is asked, with which settings), ``journal.jsonl`` (every model call and
every finished sample), ``logs/`` (Inspect's, one folder for each invocation), and what ``bw grade`` writes.  The
journal is the truth: the same command given again works only on what it lacks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from benchwright.app.agents.harness import AgentProgress, RunHarness
from benchwright.app.agents.plan import AgentPlan
from benchwright.app.agents.report import AgentRunReport, Worked, report_agent_run
from benchwright.app.repositories.patches import PatchProgress
from benchwright.app.repositories.selection import environments_in_use
from benchwright.app.runfile import RunFile
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.agent_metering import AgentMeter
from benchwright.bridge.agent_scoring import patch_verdicts
from benchwright.bridge.agents import (
    SANDBOX_BROKE,
    SANDBOX_TRIES,
    AgentSample,
    Work,
    agent_task,
    sample_name,
    sandbox_spec,
)
from benchwright.bridge.models import open_model
from benchwright.bridge.probing import probe_tools
from benchwright.bridge.running import run_task
from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Ending
from benchwright.core.budget import Ledger
from benchwright.core.errors import StoppedError
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.agent_journal import AgentCall, AgentJournal
from benchwright.store.folder import LOGS, ResultsFolder


class AgentRunEvents(Protocol):
    """What the caller is told while a run goes on."""

    def say(self, text: str) -> None:
        """One line for a person."""

    def progress(self, progress: AgentProgress) -> None:
        """How far the run is."""

    def grading(self, progress: PatchProgress) -> None:
        """How far the grading of what is not graded yet is, once the agents have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDryRun:
    """What a run would do."""

    plan: AgentPlan
    to_work_on: int
    finished: int

    @property
    def most_tokens(self) -> int | None:
        """Uncached tokens that all samples together may use; None without a limit."""
        limit = self.plan.options.limits.uncached_tokens
        return None if limit is None else limit * self.to_work_on

    @property
    def most_cost(self) -> float | None:
        """USD if every sample used its whole budget, all uncached tokens as output; None when that is not known.

        Never more than the run's own cap.
        """
        cap, most = self.plan.options.budget.max_cost, self._most_of_samples()
        return most if cap is None else cap if most is None else min(cap, most)

    def _most_of_samples(self) -> float | None:
        price, limits = self.plan.price, self.plan.options.limits
        if price is None:
            return None
        if limits.uncached_tokens is None or limits.cached_reads is None:
            return None if limits.cost is None else self.to_work_on * limits.cost
        dearest = max(price.price.input, price.price.output, price.price.cache_write or 0.0)
        read = price.price.input if price.price.cache_read is None else price.price.cache_read
        each = (limits.uncached_tokens * dearest + limits.cached_reads * read) / 1e6
        return self.to_work_on * (each if limits.cost is None else min(each, limits.cost))

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw run --dry-run --json``."""
        return {
            **self.plan.identity,
            **self.plan.facts(),
            "dry_run": True,
            "folder": str(self.plan.folder),
            "problems": len(self.plan.selected.available),
            "to_work_on": self.to_work_on,
            "finished": self.finished,
            "most_uncached_tokens": self.most_tokens,
            "most_cost": self.most_cost,
            "turns_without_a_cache": turns_without_a_cache(self.plan.options.limits.uncached_tokens),
        }


TURN_TOKENS = 2_000
"""What a turn adds to the conversation in the forecast: a call, its output, and a thought."""


def turns_without_a_cache(uncached_tokens: int | None, turn_tokens: int = TURN_TOKENS) -> int | None:
    """Turns after which a budget is used when every turn pays for the whole conversation before it.

    That is n(n+1)/2 times what a turn adds: the cost grows with the square of the turns.
    """
    if uncached_tokens is None:
        return None
    turns = 0
    while turn_tokens * (turns + 1) * (turns + 2) // 2 <= uncached_tokens:
        turns += 1
    return turns


def dry_agent_run(plan: AgentPlan) -> AgentDryRun:
    """Say what a run would work on, writing nothing; raises `UsageError` when the folder holds another run."""
    RunFile(ResultsFolder(plan.folder), plan).refuse_changed()
    done = 0
    path = plan.folder / JOURNAL
    if path.exists():
        with AgentJournal(path, read_only=True) as journal:
            done = sum(journal.done(key.problem_id, key.sample) for key in plan.keys)
    return AgentDryRun(plan=plan, to_work_on=len(plan.keys) - done, finished=done)


def run_agents(plan: AgentPlan, workspace: Workspace, events: AgentRunEvents) -> AgentRunReport:
    """Let the agent work on everything that is not finished, grade and report.

    Raises:
        UsageError: The folder holds another run.
        StoppedError: The model does not call tools, or nothing was finished within the run's budget.
        MachineError: The machine stands in the way; what is finished is kept.
    """
    folder = ResultsFolder(plan.folder)
    with folder.locked(), environments_in_use(plan.selection, workspace):
        description = RunFile(folder, plan)
        description.refuse_changed()
        description.begin()
        with AgentJournal(plan.folder / JOURNAL) as journal:
            return _Run(plan, workspace, events, folder, journal).carry_out()


class _Run:
    """One invocation of a run."""

    def __init__(
        self,
        plan: AgentPlan,
        workspace: Workspace,
        events: AgentRunEvents,
        folder: ResultsFolder,
        journal: AgentJournal,
    ) -> None:
        self._plan = plan
        self._workspace = workspace
        self._events = events
        self._folder = folder
        self._journal = journal
        price = plan.price and plan.price.price
        self._ledger = Ledger.rebuilt(plan.options.budget, price, journal.charges)
        self._meter = AgentMeter(
            self._ledger,
            record=self._record,
            tries=journal.tries,
            timeout=plan.options.calls.timeout,
            reply_tokens=plan.options.reply_tokens,
            secrets=plan.secrets,
        )
        self._logs = f"{LOGS}/{_next_number(folder)}"
        self._harness = RunHarness(
            plan,
            workspace,
            journal,
            self._ledger,
            log_folder=self._logs,
            report=events.progress,
            give_up=self._meter.give_up,
        )

    def _record(self, call: AgentCall) -> None:
        self._journal.append(call)
        self._harness.tell()

    def carry_out(self) -> AgentRunReport:
        """All of it, in order."""
        waiting = [key for key in self._plan.keys if not self._journal.done(*key)]
        before = len(self._plan.keys) - len(waiting)
        if waiting:
            if self._plan.options.preflight:
                self._preflight()
            self._work(waiting)
        if self._meter.fatal is not None:
            raise self._meter.fatal
        found = {key: self._found(key) for key in self._plan.keys}
        stopped = self._stopped(found)
        if not any(found.values()):
            raise StoppedError(f"Nothing was finished: {stopped}")
        worked = Worked(
            attempts=found,
            stopped=stopped,
            now=sum(self._journal.done(*key) for key in waiting),
            before=before,
            ledger=self._ledger,
        )
        return report_agent_run(self._plan, self._folder, self._workspace, worked, self._events.grading)

    def _preflight(self) -> None:
        """Whether the model calls tools, asked with an instance of its own: its connections end with the question."""
        opened = open_model(self._plan.options.model)
        objection = probe_tools(
            opened, self._plan.options.calls, self._meter, reply_tokens=self._plan.options.reply_tokens
        )
        if objection is not None:
            raise StoppedError(objection)

    def _work(self, waiting: list[SampleKey]) -> None:
        plan = self._plan
        self._meter.attach(plan.opened.model)
        work = Work(
            scaffold=plan.scaffold,
            ready=plan.ready,
            settings=plan.options.settings,
            limits=plan.options.limits,
            price=plan.price and plan.price.price,
            meter=self._meter,
            harness=self._harness,
            problems=plan.problems.problem,
        )
        task = agent_task(
            [self._sample(key) for key in waiting],
            name=f"{plan.problems.benchmark}_{plan.scaffold.name}",
            work=work,
            score=patch_verdicts(self._harness.grade, at_once=plan.options.workers),
            generation=plan.generation,
            metadata={**plan.identity, "run_id": plan.run_id},
        )
        try:
            log = run_task(
                task,
                plan.opened,
                plan.options.calls,
                plan.folder.absolute() / self._logs,
                samples_at_once=plan.options.at_once,
                sample_tries=SANDBOX_TRIES,
            )
        except BaseException:
            self._harness.pipeline.stop()
            raise
        names = {sample_name(*key, plan.options.samples): key for key in waiting}
        for name, words in log.sample_errors.items():
            key = names[name]
            if not self._journal.done(*key) and key not in self._harness.broken:
                self._harness.broke(key, words)  # before the agent began: its workspace could not be opened
        if log.status != "success":
            self._events.say(f"Inspect ended with status {log.status}: {log.error}")

    def _sample(self, key: SampleKey) -> AgentSample:
        plan = self._plan
        problem = plan.problems.problem(key.problem_id)
        place = plan.selected.setups[problem.id].place
        return AgentSample(
            problem=problem,
            sample=key.sample,
            prompt=plan.prompt(problem),
            sandbox=sandbox_spec(
                place.sandbox.name, place.image, plan.selection.workspace_limits, shared=plan.ready.shared
            ),
            name=sample_name(problem.id, key.sample, plan.options.samples),
        )

    def _found(self, key: SampleKey) -> AgentAttempt | None:
        """What there is of a sample; None when it was not finished."""
        words = self._harness.broken.get(key)
        if words is None or self._journal.done(*key):
            return self._journal.attempts.get(key)
        return AgentAttempt(
            problem_id=key.problem_id, sample=key.sample, ending=Ending.FAILED, ending_detail=f"{SANDBOX_BROKE}{words}"
        )

    def _stopped(self, found: Mapping[SampleKey, AgentAttempt | None]) -> str | None:
        """Why the run ended before its end, if it did."""
        if self._meter.stopped is not None:
            return self._meter.stopped
        endings = [attempt.ending for attempt in found.values() if attempt is not None]
        if endings and all(ending is Ending.FAILED for ending in endings):
            details = [attempt.ending_detail for attempt in found.values() if attempt is not None]
            return f"no sample came to an end; the last one: {details[-1]}"
        return "Inspect ended the task early" if len(endings) < len(found) else None


def _next_number(folder: ResultsFolder) -> int:
    """The number of this invocation, from 1: after those that have left logs."""
    logs = folder.path / LOGS
    numbers = [int(path.name) for path in logs.iterdir() if path.name.isdigit()] if logs.is_dir() else []
    return max(numbers, default=0) + 1
