"""One patch's way from attempt to row, and the control runs that stand behind it."""

import dataclasses
import functools
import secrets
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from benchwright.answers.inversion import sabotage
from benchwright.answers.patches import PatchAnswer, hunk_failure, read_patch, unsafe, variants, without
from benchwright.answers.protected import protected_edits
from benchwright.core.answers import NoAnswer
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.digest import digest_of
from benchwright.core.errors import SandboxFault
from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.core.repositories import (
    TESTS_STEP,
    ControlSummary,
    Edit,
    Inversion,
    RepositoryControls,
    RepositoryJob,
    RepositoryLimits,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
    Step,
    required_tests,
)
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.execution.repositories import (
    HARNESS_VERSION,
    Base,
    HiddenFile,
    HiddenTests,
    OfficialProcedure,
    Place,
    Procedure,
    Seen,
    StepFault,
    close_workspaces,
    run_official,
    run_procedure,
)
from benchwright.judging.logs import LogStatus, parse
from benchwright.judging.repository import judge, judge_control, judge_no_patch, summarise_control, test_statuses
from benchwright.judging.repository_official import judge_official, read_official

ATTEMPTS = 3
"""How often a job is tried whose sandbox breaks."""
_SABOTAGED_KEPT = 20
_FAILURE_SECONDS = 0.1
"""What pytest takes to print one traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How one instance is run and read: its environment's specification, and where it is built."""

    place: Place
    parser: str
    """Name of the log parser."""
    runner: str
    """``pytest``, ``django`` or ``sympy``: what the sabotaged twin has to fit."""
    tests: str
    """Shell command with its directives."""
    install: str
    """Shell command that installs the repository again, offline."""
    needs_install: Callable[[Sequence[str]], bool]
    """Whether a change of these paths makes that necessary."""
    environ: Mapping[str, str]
    project_modules: frozenset[str]
    """Top-level modules that the repository itself provides."""
    official_script: str
    """The official harness's evaluation script for the same instance."""
    spec_digest: str = ""
    """SHA-256 of the specification and its deviations from the official one."""

    @property
    def environment(self) -> str:
        """SHA-256 of all that decides how the instance runs: what is below the workspace, and its specification."""
        return digest_of({"image": self.place.image.digest, "spec": self.spec_digest, "tests": self.tests})


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPatch:
    """An attempt: a job to run, or a verdict at once."""

    problem: RepositoryProblem
    attempt: Attempt
    job: RepositoryJob | None
    answer: PatchAnswer | None
    verdict: Verdict | None


class RepositoryPipeline:
    """Prepares, runs and judges patches under one set of rules and limits; safe to use from several threads."""

    def __init__(self, setups: Mapping[str, Setup], *, rules: Rules, limits: RepositoryLimits) -> None:
        """Make a pipeline.

        Args:
            setups: Setup by problem id, for every problem whose patches shall be run.
            rules: Ours, or the official harness's.
            limits: For the test command, and for everything else.
        """
        self._setups = setups
        self._rules = rules
        self._limits = limits
        self._bases: dict[str, Base] = {}
        self._stopped = False

    def prepare(self, problem: RepositoryProblem, attempt: Attempt, *, date: str = "") -> PreparedPatch:
        """Read the patch out of an attempt and make its job, or its verdict when there is nothing to run."""
        answer = self._answer(attempt)
        if isinstance(answer, NoAnswer):
            verdict = judge_no_patch(answer, problem)
            return PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=verdict)
        refused = unsafe(answer) if self._rules is Rules.BENCHWRIGHT else ()
        if refused:
            detail = f"{refused[0].path}: {refused[0].why}"
            verdict = judge_no_patch(NoAnswer(reason=Reason.PATCH_REJECTED, detail=detail), problem)
            return PreparedPatch(problem=problem, attempt=attempt, job=None, answer=answer, verdict=verdict)
        job = self.job(problem, attempt.raw_text or "", date=date)
        return PreparedPatch(problem=problem, attempt=attempt, job=job, answer=answer, verdict=None)

    def _answer(self, attempt: Attempt) -> PatchAnswer | NoAnswer:
        if attempt.unreadable is not None:
            reason, _, detail = attempt.unreadable.partition(": ")
            return NoAnswer(reason=Reason(reason), detail=detail)
        if attempt.ending is Ending.FAILED:
            return NoAnswer(reason=Reason.PROVIDER_ERROR, detail=attempt.ending_detail or "the run gave no patch")
        return read_patch(attempt.raw_text)

    def job(self, problem: RepositoryProblem, patch: str, *, repeat: int = 0, date: str = "") -> RepositoryJob:
        """The job of a patch; of the control run without one for an empty text."""
        setup = self._setups[problem.id]
        return RepositoryJob(
            problem=problem,
            patch=patch,
            environment=setup.environment,
            sandbox=setup.place.sandbox.name,
            limits=self._limits,
            rules=self._rules,
            harness_version=HARNESS_VERSION,
            repeat=repeat,
            date=date,
        )

    def run(self, job: RepositoryJob) -> RepositoryRecord:
        """Run a job, again where its sandbox broke; a record with ``lost_reason`` when it kept breaking."""
        reason, steps = "", list[str]()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._go_on()
                record = self._run_once(job)
            except SandboxFault as fault:
                if self._stopped:
                    raise
                reason = str(fault)
                steps.append(fault.step if isinstance(fault, StepFault) else "")
                continue
            return dataclasses.replace(record, attempts=attempt)
        always = steps[0] if len(set(steps)) == 1 else ""
        return RepositoryRecord(
            job_digest=job.digest,
            patch_applied=bool(always),
            steps=(_lost_step(always),) if always else (),
            sandbox=job.sandbox,
            attempts=ATTEMPTS,
            lost_reason=reason,
        )

    def stop(self) -> None:
        """End what runs, in every thread: its workspaces are closed under it, and nothing is tried again."""
        self._stopped = True
        close_workspaces()

    def judge(
        self, problem: RepositoryProblem, record: RepositoryRecord, controls: RepositoryControls | None
    ) -> Verdict:
        """The verdict of a record under this pipeline's rules."""
        parser = self._setups[problem.id].parser
        if self._rules is Rules.OFFICIAL:
            return judge_official(problem, record, parser)
        return judge(problem, record, parser=parser, controls=controls)

    def rests_on_controls(self, problem: RepositoryProblem, record: RepositoryRecord) -> bool:
        """Whether only control runs can tell if what seems resolved is: a required test was skipped, or unseen."""
        required = frozenset(required_tests(problem))
        odd = (TestOutcome.EXPECTED_FAILURE, TestOutcome.SKIPPED, TestOutcome.UNEXPECTED_SUCCESS)
        return not record.sessions or any(
            report.outcome in odd and not required.isdisjoint(report.names) for report in record.reports
        )

    def runs(self, problem: RepositoryProblem) -> bool:
        """Whether patches of an instance can be run."""
        return problem.id in self._setups

    def control_key(self, problem: RepositoryProblem) -> tuple[str, str, int, str]:
        """What control runs of an instance are kept under: environment and limits, sandbox, harness version, row."""
        setup = self._setups[problem.id]
        environment = digest_of({"environment": setup.environment, "limits": dataclasses.asdict(self._limits)})
        return environment, setup.place.sandbox.name, HARNESS_VERSION, problem.digest

    def control_verdict(self, problem: RepositoryProblem, record: RepositoryRecord) -> Verdict:
        """The verdict of a control run's record."""
        return judge_control(problem, record, parser=self._setups[problem.id].parser)

    def control(self, problem: RepositoryProblem, record: RepositoryRecord) -> ControlSummary:
        """What is kept of a control run's record."""
        verdict = self.control_verdict(problem, record)
        return summarise_control(problem, record, verdict, parser=self._setups[problem.id].parser)

    def tests(
        self, problem: RepositoryProblem, record: RepositoryRecord, controls: RepositoryControls | None
    ) -> tuple[frozenset[str], frozenset[str]]:
        """The required tests that passed, and those that failed; by the official rules a skipped one is neither."""
        parser = self._setups[problem.id].parser
        required = required_tests(problem)
        if self._rules is Rules.OFFICIAL:
            reading = read_official(problem, record, parser)
            return frozenset(filter(reading.succeeded, required)), frozenset(filter(reading.did_not, required))
        tests = test_statuses(problem, record, parser=parser, controls=controls)
        passed = frozenset(test.id for test in tests if test.passed)
        return passed, frozenset(required) - passed

    def _run_once(self, job: RepositoryJob) -> RepositoryRecord:
        setup = self._setups[job.problem.id]
        if self._rules is Rules.OFFICIAL:
            official = OfficialProcedure(
                patch=job.patch, script=setup.official_script, environ=setup.environ, limits=self._limits
            )
            return run_official(job.digest, official, setup.place)
        problem = job.problem
        seen = run_procedure(
            job.digest,
            functools.partial(self._procedure, job, setup),
            setup.place,
            limits=self._limits,
            base=self._bases.get(problem.id) or hidden_tests(problem),
        )
        self._bases[problem.id] = seen.base
        if not seen.record.patch_applied:
            return dataclasses.replace(seen.record, patch_message=hunk_failure(seen.record.patch_message))
        # As a control run, so that what only control runs can accept does not hide a run that seems resolved.
        if judge_control(problem, seen.record, parser=setup.parser).outcome is not Outcome.PASSED:
            return seen.record
        self._go_on()
        return dataclasses.replace(seen.record, inversion=self._inverted(job, setup, seen))

    def _go_on(self) -> None:
        if self._stopped:
            raise SandboxFault("the grading was stopped")

    def _procedure(self, job: RepositoryJob, setup: Setup, base: Base) -> Procedure:
        patches: tuple[tuple[str, str], ...] = ()
        dropped: tuple[Edit, ...] = ()
        changed: tuple[str, ...] = ()
        if job.patch:
            answer = read_patch(job.patch)
            assert isinstance(answer, PatchAnswer), "a job is made of a readable patch"
            dropped = dropped_edits(job.problem, answer, base, setup.project_modules)
            kept = without(answer, {edit.path for edit in dropped})
            changed = _paths(kept)
            patches = variants(kept) if kept.files else ()
        return Procedure(
            patches=patches,
            dropped=dropped,
            install=setup.install if setup.needs_install(changed) else None,
            hidden=base.hidden,
            tests=dated(setup.tests, job.date),
            environ=setup.environ,
            limits=self._limits,
        )

    def _inverted(self, job: RepositoryJob, setup: Setup, seen: Seen) -> Inversion | None:
        """The sabotaged twin of a run that seems resolved; None when none of its tests can be sabotaged."""
        chosen = to_sabotage(job.problem, seen.record)
        hidden, sabotaged = sabotaged_files(seen.base.hidden, chosen, setup.runner)
        if not sabotaged:
            return None
        procedure = dataclasses.replace(seen.procedure, hidden=hidden)
        twin = run_procedure(job.digest, lambda _: procedure, setup.place, limits=self._limits, base=seen.base)
        step = twin.record.step(TESTS_STEP)
        return Inversion(
            sabotaged=tuple(sorted(sabotaged)),
            passed=tuple(sorted(sabotaged - _seen_to_fail(twin.record, setup.parser))),
            exit_cause=step.exit_cause if step else ExitCause.LOST,
            wall_seconds=twin.record.wall_seconds,
        )


def dated(command: str, date: str) -> str:
    """A shell command that is told it is another day; clocks that measure durations run as ever."""
    if not date:
        return command
    return f"faketime --exclude-monotonic -f '@{date} 12:00:00' bash -c {shlex.quote(command)}"


def dropped_edits(
    problem: RepositoryProblem, answer: PatchAnswer, base: Base, project_modules: frozenset[str]
) -> tuple[Edit, ...]:
    """The edits of a candidate that are not kept, given what is there before it."""
    reference = read_patch(problem.reference_patch)
    return protected_edits(
        answer,
        graded=graded_files(problem),
        base_files=base.files,
        reference_paths=frozenset(_paths(reference)) if isinstance(reference, PatchAnswer) else frozenset(),
        project_modules=project_modules,
    )


def hidden_tests(problem: RepositoryProblem) -> HiddenTests:
    """A row's test patch with the files it touches."""
    tests = read_patch(problem.test_patch)
    touched = _paths(tests) if isinstance(tests, PatchAnswer) else ()
    return HiddenTests(patch=problem.test_patch, touched=touched)


def _lost_step(name: str) -> Step:
    """A command during which the sandbox broke, each time."""
    return Step(
        name=name,
        exit_cause=ExitCause.LOST,
        exit_status=None,
        wall_seconds=0.0,
        cpu_seconds=0.0,
        memory_peak_bytes=0,
        output="",
        output_total_bytes=0,
    )


def _seen_to_fail(record: RepositoryRecord, parser: str) -> frozenset[str]:
    """Every name that the log or a witness lists as failed."""
    step = record.step(TESTS_STEP)
    log = parse(parser, step.output if step else "").statuses
    bad = {name for name, status in log.items() if status in (LogStatus.FAILED, LogStatus.ERROR)}
    for report in record.reports:
        if report.outcome in (TestOutcome.FAILED, TestOutcome.ERROR):
            bad |= {report.id, *report.names}
    return frozenset(bad)


def to_sabotage(problem: RepositoryProblem, record: RepositoryRecord) -> tuple[str, ...]:
    """Which required tests the twin of a run sabotages: FAIL_TO_PASS and, unforeseeably, some of PASS_TO_PASS.

    All of them where a test takes longer than reporting its failure does, for sabotaged ones end at once.
    """
    required = required_tests(problem)
    step = record.step(TESTS_STEP)
    kept = [test for test in problem.pass_to_pass if test not in set(problem.fail_to_pass)]
    if len(kept) <= _SABOTAGED_KEPT or (step and step.wall_seconds > _FAILURE_SECONDS * len(required)):
        return required
    return (*problem.fail_to_pass, *secrets.SystemRandom().sample(kept, _SABOTAGED_KEPT))


def sabotaged_files(
    hidden: Iterable[HiddenFile], required: Sequence[str], runner: str
) -> tuple[tuple[HiddenFile, ...], frozenset[str]]:
    """The hidden test files with a failing statement in these tests, as far as they live there, and those tests."""
    files, sabotaged = [], set[str]()
    for file in hidden:
        if file.data is None or not file.path.endswith(".py"):
            files.append(file)
            continue
        try:
            source = file.data.decode()
        except UnicodeDecodeError:
            files.append(file)
            continue
        text, ids = sabotage(
            source, path=file.path, required=required, runner=runner, number=secrets.randbelow(10**6), anywhere=True
        )
        sabotaged |= ids
        files.append(dataclasses.replace(file, data=text.encode()))
    return tuple(files), frozenset(sabotaged)


def graded_files(problem: RepositoryProblem) -> frozenset[str]:
    """The files whose content decides: those of the test patch, and those that hold required tests by their ids."""
    named = {test.partition("::")[0] for test in required_tests(problem) if "::" in test}
    return frozenset(hidden_tests(problem).touched) | named


def _paths(answer: PatchAnswer) -> tuple[str, ...]:
    found = [path for file in answer.files for path in (file.old_path, file.new_path) if path is not None]
    return tuple(dict.fromkeys(found))


def row_of(prepared: PreparedPatch, verdict: Verdict, record: RepositoryRecord | None) -> ResultRow:
    """The row of a judged attempt."""
    steps = record.steps if record else ()
    notes = list(prepared.answer.notes if prepared.answer else ())
    if record and record.patch_applied and record.patch_message:
        notes.append(record.patch_message)
    notes += [f"{edit.path} not kept: {edit.why}" for edit in (record.dropped if record else ())]
    return ResultRow(
        problem_id=prepared.problem.id,
        sample=prepared.attempt.sample,
        score=Score.PATCH,
        verdict=verdict,
        job_digest=prepared.job.digest if prepared.job else None,
        wall_seconds=_wall_seconds(record) if record else 0.0,
        cpu_seconds=sum((step.cpu_seconds for step in steps), 0.0),
        memory_peak_bytes=max((step.memory_peak_bytes for step in steps), default=0),
        notes=tuple(notes),
    )


def _wall_seconds(record: RepositoryRecord) -> float:
    """What grading took: the run, and its sabotaged twin."""
    return record.wall_seconds + (record.inversion.wall_seconds if record.inversion else 0.0)


def run_in_threads(
    jobs: Iterable[RepositoryJob],
    run: Callable[[RepositoryJob], RepositoryRecord],
    workers: int,
    *,
    stop: Callable[[], None] | None = None,
) -> Iterator[tuple[RepositoryJob, RepositoryRecord]]:
    """Run jobs, as many at once as there are workers; pairs come in the order of completion.

    When one raises, those completed with it come first.  When the caller stops iterating, or one has raised, ``stop``
    is called to end what runs; it is waited for.
    """
    waiting = iter(jobs)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        running: dict[Future[RepositoryRecord], RepositoryJob] = {}
        try:
            for job in waiting:
                running[pool.submit(run, job)] = job
                if len(running) >= workers:
                    yield from _completed(running)
            while running:
                yield from _completed(running)
        except BaseException:
            for future in running:
                future.cancel()
            if stop is not None:
                stop()
            raise


def _completed(
    running: dict[Future[RepositoryRecord], RepositoryJob],
) -> Iterator[tuple[RepositoryJob, RepositoryRecord]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    failed = []
    for future in done:
        job = running.pop(future)
        if future.exception() is None:
            yield job, future.result()
        else:
            failed.append(future)
    for future in failed:
        future.result()
