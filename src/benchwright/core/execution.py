"""What is run, within what, and what was seen: jobs and execution records."""

import dataclasses
import enum
import functools
from dataclasses import dataclass
from typing import Any

from benchwright.core.digest import digest_of

MIB = 1024 * 1024


class Isolation(enum.StrEnum):
    """How strongly a process is kept apart; weaker levels are an explicit, recorded choice."""

    NAMESPACE = "namespace"
    """Own user, mount, pid, network, ipc and uts namespaces, read-only file system, no capabilities."""
    PROCESS = "process"
    """Resource limits and a process group only: for hosts that refuse namespaces, trusted answers only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one job may use."""

    wall_seconds: float = 240.0
    """Elapsed time; 240 s is what bigcodebench 0.2.5 allows in effect."""
    cpu_seconds: float = 240.0
    """CPU time of the main process, user and system."""
    memory_bytes: int = 8192 * MIB
    """Resident memory of all processes of the job together."""
    processes: int = 256
    """Processes and threads alive at once."""
    scratch_bytes: int = 2048 * MIB
    """Bytes in the job's private working directory, /tmp and home together."""
    scratch_files: int = 200_000
    """Files and folders in the same place."""
    output_bytes: int = 64 * MIB
    """Bytes written to standard output and standard error together."""
    repeat_timeouts: bool = True
    """Whether running out of wall time counts only the second time; a limit of its own, so that a time-out that
    counted at once is not taken for one that was repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """One test method, as read from the test source on the host."""

    id: str
    """``Class.method``."""
    decorators: tuple[str, ...] = ()
    """Source of its decorators, outermost first."""

    @property
    def may_skip(self) -> bool:
        """Whether the test's own source asks for a skip or an expected failure."""
        return any("skip" in text or "expectedFailure" in text for text in self.decorators)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPlan:
    """The tests that must run: their source, the class that holds them, and the ids expected."""

    __test__ = False  # not a pytest class

    source: str
    class_name: str
    tests: tuple[PlannedTest, ...]
    assertions: tuple[str, ...] = ()
    """Names of the ``assert*`` and ``fail`` methods the source calls, sorted."""
    calls_own_tests: bool = False
    """Whether a test calls another test; then the tests cannot be hidden from the answer."""
    references: tuple[str, ...] = ()
    """Dotted names of library members the source uses, such as ``os.path.exists``, sorted."""
    plain_bases: bool = False
    """Whether ``unittest.TestCase`` is the test class's only base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What is executed in front of the tests."""

    code: str
    stub: str | None
    """Calibration stub executed before the code in the same module, or None."""
    entry_point: str


@functools.lru_cache(maxsize=4096)
def digest_of_plan(plan: TestPlan) -> str:
    """SHA-256 of a plan; kept, because thousands of jobs share one."""
    return digest_of(dataclasses.asdict(plan))


def digest_of_job(
    submission: Submission,
    *,
    plan: str,
    environment: str,
    limits: Limits,
    guest_version: str,
    isolation: Isolation,
) -> str:
    """What `Job.digest` is, for readers who have the digest of the plan and not the plan."""
    return digest_of(
        {
            "submission": dataclasses.asdict(submission),
            "plan": plan,
            "environment": environment,
            "limits": dataclasses.asdict(limits),
            "guest": guest_version,
            "isolation": isolation.value,
        }
    )


@dataclass(frozen=True, kw_only=True)
class Job:
    """One execution, named by its content."""

    submission: Submission
    plan: TestPlan
    environment: str
    """Digest of the environment it runs in."""
    tier: str
    """Which warmed guest runs it; does not enter the digest, for any tier must give the same result."""
    limits: Limits
    guest_version: str
    isolation: Isolation

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 over submission, plan, environment, limits, guest version and isolation level."""
        return digest_of_job(
            self.submission,
            plan=digest_of_plan(self.plan),
            environment=self.environment,
            limits=self.limits,
            guest_version=self.guest_version,
            isolation=self.isolation,
        )


class ExitCause(enum.StrEnum):
    """Why the main process of a job was over."""

    FINISHED = "finished"
    """The driver sent its closing frame and the process ended with status 0."""
    EXITED = "exited"
    """The process ended by itself without the closing frame, or with another status."""
    SIGNAL = "signal"
    WALL_TIME = "wall_time"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    OUTPUT = "output"
    LOST = "lost"
    """Our side broke: no evidence either way."""


class TestOutcome(enum.StrEnum):
    """What one test did, as unittest names it."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected_failure"
    UNEXPECTED_SUCCESS = "unexpected_success"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What one test did."""

    __test__ = False

    id: str
    outcome: TestOutcome
    seconds: float
    exception: str = ""
    """Class name of what was raised, or empty."""
    message: str = ""
    """Traceback, clipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadError:
    """What went wrong before the first test."""

    phase: str
    """``stub``, ``answer``, ``entry_point`` or ``tests``."""
    exception: str
    message: str
    line: int | None = None
    """Line of the answer, counted from 1."""
    missing_module: str | None = None
    """Top-level module that could not be imported, when that is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRecord:
    """Everything that was seen of one job: the evidence that a judge reads."""

    job_digest: str
    exit_cause: ExitCause
    exit_status: int | None = None
    """Exit status, or minus the signal number, of the main process."""
    tests: tuple[TestResult, ...] = ()
    load_error: LoadError | None = None
    interference: tuple[str, ...] = ()
    """What the guard saw of the test machinery being changed or looked into, in order."""
    protocol_errors: tuple[str, ...] = ()
    """Frames on the private channel that no honest driver sends."""
    missing_modules: tuple[str, ...] = ()
    """Top-level modules whose import failed while tests ran."""
    wall_seconds: float = 0.0
    """From the fork of the child to its end."""
    cpu_seconds: float = 0.0
    """User and system time of all processes of the job."""
    memory_peak_bytes: int = 0
    output: str = ""
    """Head and tail of standard output and error, clipped."""
    output_total_bytes: int = 0
    isolation: Isolation = Isolation.NAMESPACE
    facts: tuple[tuple[str, str], ...] = ()
    """Guest and host facts: Python version, tier, memory watching method."""
    attempts: int = 1
    """How often the job was executed for this record (retries, re-run after a timeout)."""
    lost_reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The record as plain data, stable under :func:`from_plain`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> "ExecutionRecord":
        """Rebuild a record from :meth:`to_plain` data; raises ``KeyError``/``ValueError`` on foreign data."""
        values = dict(data)
        values["exit_cause"] = ExitCause(values["exit_cause"])
        values["isolation"] = Isolation(values["isolation"])
        values["tests"] = tuple(
            TestResult(**{**test, "outcome": TestOutcome(test["outcome"])}) for test in values["tests"]
        )
        load_error = values["load_error"]
        values["load_error"] = LoadError(**load_error) if load_error else None
        for name in ("interference", "protocol_errors", "missing_modules"):
            values[name] = tuple(values[name])
        values["facts"] = tuple((str(key), str(value)) for key, value in values["facts"])
        return cls(**values)
