"""What a run came to: its replies graded once more by the function behind ``bw grade``, from stored records."""

from dataclasses import dataclass
from pathlib import Path

from benchwright.app.grading import GradeOptions, GradeReport, Inputs, grade_into
from benchwright.app.runplan import RunPlan
from benchwright.app.samples import sample_rows
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleFile, SampleKey
from benchwright.bridge.running import INSPECT_VERSION
from benchwright.core.attempts import Attempt
from benchwright.core.budget import Ledger
from benchwright.core.prompts import Mode
from benchwright.execution.guest import guest_version
from benchwright.judging.function import JUDGE_VERSION
from benchwright.store.folder import SAMPLES, ResultsFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What asking came to."""

    attempts: dict[SampleKey, Attempt | None]
    """By sample, in the run's order; None where the model was not asked."""
    stopped: str | None
    """Why asking ended before its end, if it did."""
    now: int
    """Replies that this invocation got."""
    before: int
    """Replies that were there already."""
    log: Path
    ledger: Ledger
    started: float
    """When the invocation began, on the monotonic clock."""
    executed: int
    """Jobs executed while asking."""

    @property
    def found(self) -> list[Attempt]:
        """The attempts there are."""
        return [attempt for attempt in self.attempts.values() if attempt is not None]

    @property
    def not_asked(self) -> tuple[str, ...]:
        """``problem#sample`` of everything that was not asked."""
        return tuple(f"{key.problem_id}#{key.sample}" for key, attempt in self.attempts.items() if attempt is None)


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
    """Why the run ended before its end; None when it did not."""
    ledger: Ledger

    @property
    def samples_path(self) -> Path:
        """Where the answers are, as a sample file."""
        return self.plan.folder / SAMPLES


def report_run(plan: RunPlan, folder: ResultsFolder, workspace: Workspace, asked: Asked) -> RunReport:
    """Grade and write everything; at least one attempt must be there."""
    joined = plan.question.mode is Mode.BASE
    folder.write_lines(
        SAMPLES, sample_rows(asked.found, plan.problems, variant=plan.question.variant, join_lead=joined)
    )
    samples = SampleFile.of(
        asked.found,
        name=SAMPLES,
        files=(SAMPLES,),
        model=plan.opened.name,
        missing=(),  # what was not asked is listed, not counted as wrong
        variant=plan.question.variant,
    )
    manifest = {
        **plan.identity,
        **plan.facts(),
        "answers": "extracted",
        "samples_digest": samples.digest,
        "samples_name": SAMPLES,
        "guest_version": guest_version(),
        "judge_version": JUDGE_VERSION,
        "inspect_version": INSPECT_VERSION,
        "unavailable_modules": sorted(plan.target.unavailable_modules),
        "not_asked": list(asked.not_asked),
        "stopped": asked.stopped,
        "usage": asked.ledger.to_plain(),
        "cost": asked.ledger.cost,
        "log": str(asked.log.relative_to(plan.folder.absolute())),
        "status": "stopped" if asked.stopped else "complete",
    }
    inputs = Inputs(
        benchmark=plan.benchmark, problems=plan.problems, samples=samples, target=plan.target, manifest=manifest
    )
    options = GradeOptions(
        benchmark=plan.options.benchmark,
        samples=plan.folder / SAMPLES,
        workers=plan.options.workers,
        scores=plan.options.scores,
        official_limits=plan.options.official_limits,
        floor_seconds=plan.options.floor_seconds,
        isolation=plan.options.isolation,
        out=plan.folder,
    )
    with workspace.records() as store:
        grading = grade_into(
            folder,
            store,
            inputs,
            options,
            lambda progress: None,
            started=asked.started,
            executed_before=asked.executed,
        )
    return RunReport(
        plan=plan,
        grading=grading,
        log=asked.log,
        asked=asked.now,
        answered_before=asked.before,
        not_asked=asked.not_asked,
        stopped=asked.stopped,
        ledger=asked.ledger,
    )
