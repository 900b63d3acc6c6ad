"""What a run does for its samples outside the agents' reach: submissions, integrity checks, grading, the journal."""

import dataclasses
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, cast

from benchwright.answers.patch_kinds import runner_files, test_files
from benchwright.app.agents.plan import AgentPlan
from benchwright.app.repositories.patches import PatchGrading
from benchwright.app.repositories.selection import environments_of
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.agent_scoring import GradedAttempt
from benchwright.core.agents import Action, AgentAttempt, Finding, Submission
from benchwright.core.attempts import Attempt
from benchwright.core.budget import Ledger
from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.repositories import WORK, RepositoryProblem, Rules
from benchwright.core.verdicts import Outcome
from benchwright.environments.repositories.base_tree import BaseTree
from benchwright.environments.repositories.submission import make_submission
from benchwright.grading.repositories import RepositoryPipeline, graded_files
from benchwright.judging.integrity import find
from benchwright.sandboxes.base import LiveSandbox, RunLimits
from benchwright.store.agent_journal import AgentJournal

_CONTROL_SECONDS = 60.0
"""For a command that does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgress:
    """How far a run is."""

    queued: int
    running: int
    finished: int
    """Agents that have ended, faults and earlier invocations included."""
    graded: int
    resolved: int
    faults: int
    tokens: int
    cost: float | None
    seconds_left: float | None
    """None until a sample of this invocation has ended."""

    @property
    def total(self) -> int:
        """Samples of the run."""
        return self.queued + self.running + self.finished


class RunHarness:
    """The harness of one invocation of a run; its methods may be called from several threads."""

    def __init__(
        self,
        plan: AgentPlan,
        workspace: Workspace,
        journal: AgentJournal,
        ledger: Ledger,
        *,
        log_folder: str,
        report: Callable[[AgentProgress], None],
        give_up: Callable[[Exception], None],
    ) -> None:
        """Make a harness.

        Args:
            plan: The run.
            workspace: Where records and environments are.
            journal: Where finished samples are kept.
            ledger: The run's account, for the progress.
            log_folder: Folder of the transcripts, relative to the run's.
            report: Told whenever something has moved.
            give_up: Called when patches cannot be graded: there is no reason to go on asking.
        """
        self._plan = plan
        self._workspace = workspace
        self._journal = journal
        self._ledger = ledger
        self._log_folder = log_folder
        self._report = report
        self._give_up = give_up
        self._lock = threading.Lock()
        self._grading: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._environments = environments_of(plan.selection, workspace)
        self._running: set[SampleKey] = set()
        self._counts: Counter[str] = Counter()
        self._total = len(plan.keys)
        self._before = sum(journal.done(*key) for key in plan.keys)
        self._started = time.monotonic()
        self.pipeline = RepositoryPipeline(plan.selected.setups, rules=Rules.BENCHWRIGHT, limits=plan.selection.limits)
        self.broken: dict[SampleKey, str] = {}
        """Samples under which our side broke, with the last words."""

    def submission(self, problem: RepositoryProblem, tree: BinaryIO) -> Submission:
        """The difference between the tree that an agent left and the one it was handed."""
        image = self._environments.image(problem)
        assert image is not None, "only instances that are built are worked on"
        # Read anew for each sample: it takes 0.2 s, and those of 500 instances would fill the memory.  A container
        # image is made of the same layers.
        base = BaseTree.from_layers(image.layers, commit=problem.base_commit)
        return make_submission(base, tree, include_ignored=self._plan.options.include_ignored)

    def findings(
        self, problem: RepositoryProblem, actions: Sequence[Action], patch: str, written: Sequence[str] | None
    ) -> tuple[Finding, ...]:
        """What a person may want to look at."""
        return find(
            actions,
            edited_tests=test_files(patch, graded=graded_files(problem), reference=problem.reference_patch),
            runner_files=runner_files(patch, graded=graded_files(problem), reference=problem.reference_patch),
            written=written,
            work=WORK,
            told=problem.issue,
        )

    def works(self, problem: RepositoryProblem) -> bool:
        """Whether a workspace of the problem that nobody works in does what it must: the control of a broken one."""
        place = self._plan.selected.setups[problem.id].place
        sandbox = cast(LiveSandbox, place.sandbox)  # one of `AGENT_SANDBOXES`
        limits = self._plan.selection.workspace_limits
        try:
            with sandbox.open_live(place.image, limits) as workspace, tempfile.TemporaryFile() as tree:
                done = workspace.start(["true"], limits=RunLimits(wall_seconds=_CONTROL_SECONDS)).wait()
                workspace.tree(WORK, tree)
                return done.exit_status == 0
        except (SandboxFault, MachineError):
            return False

    def fixes(self) -> tuple[str, ...]:
        """Ids of the evaluation's changes that the results have."""
        return tuple(self._plan.identity["evaluation"]["fixes"])

    def begun(self, key: SampleKey) -> None:
        """An agent begins."""
        with self._lock:
            self._running.add(key)
            self.broken.pop(key, None)
        self.tell()

    def finished(self, attempt: AgentAttempt) -> None:
        """An agent has ended: it is kept."""
        key = SampleKey(attempt.problem_id, attempt.sample)
        with self._lock:
            try:
                self._journal.append(dataclasses.replace(attempt, log=self._log_folder))
            except MachineError as failure:
                self._give_up(failure)
                raise
            self._running.discard(key)
            self.broken.pop(key, None)
            self._counts["finished"] += 1
        self.tell()

    def broke(self, key: SampleKey, words: str) -> None:
        """Our side broke under a sample."""
        with self._lock:
            self._running.discard(key)
            self.broken[key] = words
        self.tell()

    def put_off(self, key: SampleKey) -> None:
        """A sample is left for when the run goes on."""
        with self._lock:
            self._running.discard(key)
        self.tell()

    def grade(self, attempt: Attempt) -> GradedAttempt:
        """Grade a patch in a fresh workspace, with the control runs that its verdict rests on."""
        try:
            graded = self._grade(attempt)
        except Exception as error:
            error.add_note(f"while grading sample {attempt.sample} of {attempt.problem_id}")
            self._give_up(error)
            raise
        with self._lock:
            outcome = graded.row.verdict.outcome
            self._counts["graded"] += 1
            self._counts["resolved"] += outcome is Outcome.PASSED
            self._counts["faults"] += outcome is Outcome.FAULT
        self.tell()
        return graded

    def _grade(self, attempt: Attempt) -> GradedAttempt:
        problem = self._plan.problems.problem(attempt.problem_id)
        # One at a time for each problem: others wait for its control runs instead of making them again.
        with self._grading[problem.id], self._workspace.records() as store:
            grading = PatchGrading(
                self.pipeline,
                store,
                unavailable=self._plan.selected.unavailable,
                workers=1,
                report=lambda progress: None,
            )
            (graded,) = grading.grade([(problem, attempt)], control=True)
        return GradedAttempt(row=graded.row, passed=sorted(graded.passed or ()), failed=sorted(graded.failed or ()))

    def tell(self) -> None:
        """Report how far the run is."""
        with self._lock:
            now = self._counts["finished"] + len(self.broken)
            done = self._before + now
            running = len(self._running)
            left = self._total - done
            pace = (time.monotonic() - self._started) / now if now else None
            progress = AgentProgress(
                queued=max(0, left - running),
                running=running,
                finished=done,
                graded=self._counts["graded"],
                resolved=self._counts["resolved"],
                faults=self._counts["faults"] + len(self.broken),
                tokens=self._ledger.spent.total + self._ledger.estimated.total,
                cost=self._ledger.cost,
                seconds_left=None if pace is None else pace * left,
            )
        self._report(progress)
