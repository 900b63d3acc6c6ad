"""Repository problems: what is asked, what is run for a patch, and what was seen of it."""

import dataclasses
import enum
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.execution import ExitCause, TestOutcome

WORK = "/testbed"
"""Where the repository lies inside every sandbox (SWE-bench's convention)."""

INSTALL_STEP, TESTS_STEP = "install", "tests"
"""Names of the steps that install the repository again and that run the graded tests."""

START_OF_TESTS, END_OF_TESTS = ">>>>> Start Test Output", ">>>>> End Test Output"
"""What the official harness's script prints around the output of the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryProblem:
    """One issue of a repository, decided by the repository's own tests (SWE-bench, arXiv:2310.06770)."""

    benchmark: str
    id: str
    """The benchmark's own id, such as ``sphinx-doc__sphinx-8265``."""
    repo: str
    """``owner/name``."""
    version: str
    """The repository's version at the base commit, which names its environment together with ``repo``."""
    base_commit: str
    environment_commit: str
    """Commit whose requirement files set the environment up; the base commit where the row names none."""
    issue: str
    """Problem statement shown to a model."""
    hints: str
    created_at: str
    """Date of the issue's pull request as the row has it; the history is cut by reachability, not by this date."""
    reference_patch: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    """Test ids, as the benchmark's log parser spells them, that the reference turns from failing to passing."""
    pass_to_pass: tuple[str, ...]
    """Test ids that pass before and after."""
    tags: tuple[str, ...] = ()
    """Groups for breakdowns: the repository, the difficulty."""
    digest: str
    """SHA-256 of the canonical source row."""


class Rules(enum.StrEnum):
    """By whose rules a patch is applied, run and judged."""

    BENCHWRIGHT = "benchwright"
    OFFICIAL = "official"
    """As swebench's harness does it (v2.1.0 lineage): its patch fall-backs, its script, its log-only verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One of a candidate's file edits that was not kept, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command that ran in the workspace."""

    name: str
    """`INSTALL_STEP` or `TESTS_STEP`."""
    exit_cause: ExitCause
    exit_status: int | None
    wall_seconds: float
    cpu_seconds: float
    memory_peak_bytes: int
    output: str
    """Standard output and error in one stream, undecodable bytes replaced; head and tail if clipped."""
    output_total_bytes: int

    @property
    def clipped(self) -> bool:
        """Whether some of the output is missing from the middle."""
        return self.exit_cause is ExitCause.OUTPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """What the witness of the test runner said of one test."""

    __test__ = False

    session: int
    """Which of the connections it came over, from 0 in the order of their opening."""
    id: str
    """The runner's full id: a pytest node id, ``method (module.Class)``, ``path.py::function`` for sympy's runner."""
    names: tuple[str, ...]
    """Every spelling under which the log may list it, the id first."""
    outcome: TestOutcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """One test session, as its witness announced and closed it."""

    session: int
    runner: str
    """``pytest``, ``unittest`` or ``sympy``."""
    version: str
    root: str
    """The session's root folder; sessions elsewhere are tests of the runner itself."""
    closed: bool
    """Whether the session said that it was over."""
    exit_status: int | None = None
    tests: int = 0
    """How many tests it said it had reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """What the sabotaged twin of a test run showed: each test named here had a failing statement put in."""

    sabotaged: tuple[str, ...]
    """Ids of required tests that must fail in it."""
    passed: tuple[str, ...]
    """Those that neither the witness nor the log reported as failed."""
    exit_cause: ExitCause
    wall_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRecord:
    """Everything that was seen of one patch: the evidence that the judge reads."""

    job_digest: str
    patch_applied: bool
    patch_message: str = ""
    """How it was applied when that was not as written, or the failing hunk."""
    dropped: tuple[Edit, ...] = ()
    """The candidate's edits that were not kept."""
    steps: tuple[Step, ...] = ()
    sessions: tuple[SessionReport, ...] = ()
    reports: tuple[TestReport, ...] = ()
    report_errors: tuple[str, ...] = ()
    """What came over the report channel that no honest witness sends, and hidden tests that were rewritten."""
    inversion: Inversion | None = None
    sandbox: str = "namespace"
    wall_seconds: float = 0.0
    """From the opening of the workspace to its closing."""
    facts: tuple[tuple[str, str], ...] = ()
    attempts: int = 1
    lost_reason: str = ""
    """Why there is no evidence, when our side broke."""

    def step(self, name: str) -> Step | None:
        """The step of that name, or None when it was not reached."""
        return next((step for step in self.steps if step.name == name), None)

    def to_plain(self) -> dict[str, Any]:
        """The record as plain data, stable under :meth:`from_plain`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "RepositoryRecord":
        """Rebuild a record from :meth:`to_plain` data; raises ``KeyError``/``ValueError``/``TypeError`` on others."""
        values = dict(data)
        values["dropped"] = tuple(Edit(**edit) for edit in values["dropped"])
        values["steps"] = tuple(Step(**{**s, "exit_cause": ExitCause(s["exit_cause"])}) for s in values["steps"])
        values["sessions"] = tuple(SessionReport(**session) for session in values["sessions"])
        values["reports"] = tuple(
            TestReport(**{**r, "names": tuple(r["names"]), "outcome": TestOutcome(r["outcome"])})
            for r in values["reports"]
        )
        values["report_errors"] = tuple(values["report_errors"])
        if values["inversion"] is not None:
            inversion = values["inversion"]
            values["inversion"] = Inversion(
                sabotaged=tuple(inversion["sabotaged"]),
                passed=tuple(inversion["passed"]),
                exit_cause=ExitCause(inversion["exit_cause"]),
                wall_seconds=inversion["wall_seconds"],
            )
        values["facts"] = tuple((str(key), str(value)) for key, value in values["facts"])
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class RepositoryJob:
    """One grading of one patch, named by its content."""

    problem: RepositoryProblem
    patch: str
    """The candidate's patch as it was handed in; empty for the control run without a patch."""
    environment: str
    """Digest of the instance's environment: all layers below its workspace, or the image."""
    sandbox: str
    limits: "RepositoryLimits"
    rules: Rules
    harness_version: int
    """Of the procedure and the witnesses; raised when either changes what evidence says."""
    repeat: int = 0
    """Number of the repetition, for control runs that are made several times."""
    date: str = ""
    """Day that the tests are told it is, such as ``2020-05-01``; empty for today."""

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 over row, patch, environment, sandbox, limits, rules, harness version, repetition and day."""
        return digest_of(
            {
                "problem": self.problem.digest,
                "patch": self.patch,
                "environment": self.environment,
                "sandbox": self.sandbox,
                "limits": dataclasses.asdict(self.limits),
                "rules": self.rules.value,
                "harness": self.harness_version,
                "repeat": self.repeat,
                **({"date": self.date} if self.date else {}),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryLimits:
    """What one grading may use."""

    wall_seconds: float = 1800.0
    """Elapsed time of the test command; 1,800 s is the official harness's default."""
    memory_bytes: int = 16 * 1024**3
    processes: int = 1024
    scratch_bytes: int = 8 * 1024**3
    """Bytes the workspace may write."""
    output_bytes: int = 32 * 1024**2
    """Of one command; the longest log of SWE-bench's tests has a few MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryControls:
    """What the two control runs of an instance showed in one environment: the evidence on the machine's side."""

    problem_id: str
    problem_digest: str
    environment: str
    sandbox: str
    harness_version: int
    reference: tuple["ControlSummary", ...]
    """One entry per repeat with the reference patch."""
    empty: tuple["ControlSummary", ...]
    """One entry per repeat without a patch."""
    date: str = ""
    """Day on which they had to be made because the reference does not resolve the instance today; else empty."""

    @property
    def sound(self) -> bool:
        """Whether the reference resolved every time and no patch never did."""
        return (
            bool(self.reference)
            and all(run.resolved for run in self.reference)
            and not any(run.resolved for run in self.empty)
        )

    @property
    def stable(self) -> bool:
        """Whether repeats agree in their outcome and in the status of every required test."""
        return all(
            len({(run.resolved, run.reason, run.not_passed) for run in runs}) <= 1
            for runs in (self.reference, self.empty)
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "RepositoryControls":
        """Rebuild from :meth:`to_plain` data."""
        values = dict(data)
        for name in ("reference", "empty"):
            values[name] = tuple(ControlSummary.from_plain(run) for run in values[name])
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSummary:
    """One control run, as far as judging others needs it."""

    resolved: bool
    reason: str
    detail: str
    exit_cause: ExitCause | None
    exit_status: int | None
    not_passed: tuple[str, ...]
    """Required tests that did not pass in it, sorted."""
    accepted: tuple[str, ...]
    """Required tests that were skipped or failed as expected, sorted: with another patch that is then accepted too."""
    unreported: tuple[str, ...]
    """Required tests that the log listed and the witness did not, sorted."""
    inverted: tuple[str, ...]
    """Required tests that the sabotaged twin turned to failing, sorted; empty when it was not run."""
    wall_seconds: float
    cpu_seconds: float
    memory_peak_bytes: int
    report_errors: tuple[str, ...] = ()
    """What came over its report channel that no honest witness sends: then others may send that too."""

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "ControlSummary":
        """Rebuild from plain data."""
        values = dict(data)
        values["exit_cause"] = None if values["exit_cause"] is None else ExitCause(values["exit_cause"])
        for name in ("not_passed", "accepted", "unreported", "inverted", "report_errors"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)


def required_tests(problem: RepositoryProblem) -> tuple[str, ...]:
    """FAIL_TO_PASS, then PASS_TO_PASS, each id once."""
    ids: Iterable[str] = (*problem.fail_to_pass, *problem.pass_to_pass)
    return tuple(dict.fromkeys(ids))
