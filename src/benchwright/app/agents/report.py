"""What a run of an agent came to: its patches graded from stored records, what was spent, what is to be looked at."""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.agents.plan import AgentPlan
from benchwright.app.repositories.grading import PatchGradeOptions, PatchGradeReport, grade_run
from benchwright.app.repositories.patches import PatchProgress
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleKey
from benchwright.benchmarks.repositories import PatchFile
from benchwright.bridge.agent_scoring import plain_attempt
from benchwright.bridge.agents import graded_attempt
from benchwright.bridge.running import INSPECT_VERSION
from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Ending
from benchwright.core.budget import Ledger
from benchwright.core.digest import digest_of
from benchwright.core.runs import ResultRow
from benchwright.core.verdicts import Outcome
from benchwright.judging.integrity import IntegrityReport, summarise
from benchwright.store.folder import ATTEMPTS, LOGS, PREDICTIONS, ResultsFolder, predictions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What the agents came to."""

    attempts: Mapping[SampleKey, AgentAttempt | None]
    """By sample, in the run's order; None where none was finished."""
    stopped: str | None
    """Why the run ended before its end, if it did."""
    now: int
    """Samples that this invocation finished."""
    before: int
    ledger: Ledger

    @property
    def found(self) -> list[AgentAttempt]:
        """The attempts there are."""
        return [attempt for attempt in self.attempts.values() if attempt is not None]

    @property
    def not_finished(self) -> tuple[str, ...]:
        """``problem#sample`` of everything that has no attempt."""
        return tuple(f"{key.problem_id}#{key.sample}" for key, attempt in self.attempts.items() if attempt is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSummary:
    """What the agents of a run took, and how they ended."""

    endings: Mapping[str, int]
    turns: int
    """Median of the samples that ended; so are the others."""
    tokens: int
    wall_seconds: float
    integrity: IntegrityReport

    def to_plain(self) -> dict[str, Any]:
        """The summary as part of ``bw run --json``."""
        return {
            "endings": dict(self.endings),
            "median_turns": self.turns,
            "median_tokens": self.tokens,
            "median_wall_seconds": round(self.wall_seconds, 3),
            "integrity": self.integrity.to_plain(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRunReport:
    """What a run came to."""

    plan: AgentPlan
    grading: PatchGradeReport
    summary: AgentSummary
    attempts: tuple[AgentAttempt, ...]
    now: int
    before: int
    not_finished: tuple[str, ...]
    stopped: str | None
    ledger: Ledger

    @property
    def folder(self) -> Path:
        """Where everything is."""
        return self.plan.folder

    @property
    def attempts_path(self) -> Path:
        """Where everything is that is known of the samples."""
        return self.folder / ATTEMPTS

    @property
    def predictions_path(self) -> Path:
        """Where the patches of the first sample of every instance are."""
        return self.folder / PREDICTIONS

    @property
    def logs_path(self) -> Path:
        """Where the transcripts are."""
        return self.folder / LOGS


def report_agent_run(
    plan: AgentPlan,
    folder: ResultsFolder,
    workspace: Workspace,
    worked: Worked,
    report: Callable[[PatchProgress], None],
) -> AgentRunReport:
    """Grade and write everything, which is told as it goes on; at least one attempt must be there."""
    found = worked.found
    folder.write_lines(ATTEMPTS, (plain_attempt(attempt) for attempt in found))
    _write_predictions(folder, plan, found)
    patches = _patches(plan, found)
    facts = {
        **plan.identity,
        **plan.facts(),
        "samples_digest": patches.digest,
        "samples_name": PREDICTIONS,
        "inspect_version": INSPECT_VERSION,
        "not_finished": list(worked.not_finished),
        "stopped": worked.stopped,
        "usage": worked.ledger.to_plain(),
        "cost": worked.ledger.cost,
        "status": "stopped" if worked.stopped else "complete",
    }
    options = PatchGradeOptions(
        selection=plan.selection,
        predictions=plan.folder / PREDICTIONS,
        workers=plan.options.workers,
        exclude=plan.options.exclude,
        views=plan.options.views,
        model=plan.opened.name,
        official_files=not worked.stopped,  # they say nothing of what is not finished
    )
    grading = grade_run(folder, options, patches, facts, workspace, report)
    summary = _summary(found, grading.rows)
    folder.write_manifest({**_without_schema(folder.manifest()), "agents": summary.to_plain()})
    return AgentRunReport(
        plan=plan,
        grading=grading,
        summary=summary,
        attempts=tuple(found),
        now=worked.now,
        before=worked.before,
        not_finished=worked.not_finished,
        stopped=worked.stopped,
        ledger=worked.ledger,
    )


def _without_schema(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name != "schema"}


def _patches(plan: AgentPlan, attempts: Sequence[AgentAttempt]) -> PatchFile:
    graded = tuple(graded_attempt(attempt, plan.opened.name) for attempt in attempts)
    texts = [[a.problem_id, a.sample, a.raw_text, a.ending.value] for a in graded]
    return PatchFile(
        name=PREDICTIONS,
        digest=digest_of(texts),
        files=(PREDICTIONS,),
        model=plan.opened.name,
        attempts=graded,
        missing=(),  # what was not finished is listed, not counted as wrong
    )


def _write_predictions(folder: ResultsFolder, plan: AgentPlan, attempts: Sequence[AgentAttempt]) -> None:
    """The patches in the official form: one file for each repetition, which can be graded anywhere."""
    for sample in range(plan.options.samples):
        folder.write_lines(
            predictions_of(sample),
            (
                {
                    "instance_id": attempt.problem_id,
                    "model_name_or_path": plan.opened.name,
                    "model_patch": attempt.submission.patch,
                }
                for attempt in attempts
                if attempt.sample == sample and attempt.ending is not Ending.FAILED
            ),
        )


def _summary(attempts: Sequence[AgentAttempt], rows: Sequence[ResultRow]) -> AgentSummary:
    ended = [attempt for attempt in attempts if attempt.ending is not Ending.FAILED]
    passed = {(row.problem_id, row.sample): row.verdict.outcome is Outcome.PASSED for row in rows if row.verdict.scored}
    judged = [
        (attempt, passed[attempt.problem_id, attempt.sample])
        for attempt in attempts
        if (attempt.problem_id, attempt.sample) in passed
    ]
    return AgentSummary(
        endings=Counter(attempt.ending.value for attempt in attempts),
        turns=round(_median([attempt.turns for attempt in ended])),
        tokens=round(_median([attempt.usage.total for attempt in ended])),
        wall_seconds=_median([attempt.wall_seconds for attempt in ended]),
        integrity=summarise(judged),
    )


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
