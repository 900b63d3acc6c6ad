"""The verdict of one attempt: an outcome, a reason from a closed list, and counts."""

import enum
from dataclasses import dataclass


class Outcome(enum.StrEnum):
    """What became of an attempt.  Only ``FAULT`` is unscored; everything else counts in the denominator."""

    PASSED = "passed"
    """Every planned test ran and passed, and the evidence agrees with itself."""
    FAILED = "failed"
    """The answer ran and is wrong, did not let the tests finish, or interfered with them."""
    NO_ANSWER = "no_answer"
    """There was nothing to run: empty, missing, truncated or refused."""
    UNUSABLE = "unusable"
    """There was text, but no program with the entry point in it."""
    OVER_LIMIT = "over_limit"
    """A limit of time, memory, processes or output was reached."""
    FAULT = "fault"
    """The machine or environment failed, not the answer; listed and left out of the score."""


class Reason(enum.StrEnum):
    """Why the outcome is what it is."""

    # PASSED
    ALL_TESTS_PASSED = "all_tests_passed"
    # FAILED
    ASSERTION = "assertion"
    """A test's assertion did not hold."""
    EXCEPTION = "exception"
    """A test, or the answer while it was loaded, raised something else."""
    TESTS_NOT_RUN = "tests_not_run"
    """The process ended by itself before every planned test had run (``sys.exit``, ``os._exit``)."""
    TESTS_SKIPPED = "tests_skipped"
    """A planned test was skipped although its source does not ask for that."""
    CRASHED = "crashed"
    """The process died of a signal (segmentation fault, abort)."""
    TAMPERED = "tampered"
    """The test machinery or the evidence was interfered with; marked for a person to look at."""
    TESTS_FAILED = "tests_failed"
    """A test that the patch was to turn green did not pass (FAIL_TO_PASS)."""
    REGRESSION = "regression"
    """All of those passed, but a test that passed before does not any more (PASS_TO_PASS)."""
    NOT_STATED = "not_stated"
    """An import whose source does not say why."""
    # NO_ANSWER
    EMPTY = "empty"
    MISSING = "missing"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt did not fit the model's context."""
    # UNUSABLE
    SYNTAX_ERROR = "syntax_error"
    ENTRY_POINT_MISSING = "entry_point_missing"
    NO_CODE = "no_code"
    """The reply holds text, but nothing that is Python code."""
    NOT_TEXT = "not_text"
    """NUL bytes, lone surrogates or bytes that are not UTF-8."""
    TOO_LARGE = "too_large"
    NOT_A_PATCH = "not_a_patch"
    """The text holds no file section of a unified diff."""
    PATCH_REJECTED = "patch_rejected"
    """The patch does not apply to the base commit, or reaches outside the repository."""
    # OVER_LIMIT
    WALL_TIME = "wall_time"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    OUTPUT = "output"
    # FAULT
    SANDBOX_LOST = "sandbox_lost"
    """The sandbox broke and kept breaking after retries."""
    LIBRARY_UNAVAILABLE = "library_unavailable"
    """The environment lacks a library that the benchmark's full environment has."""
    PROVIDER_ERROR = "provider_error"
    """The model's provider gave no reply after all retries."""
    ENVIRONMENT_BROKEN = "environment_broken"
    """The control run with the reference fails here in the same way."""
    ENVIRONMENT_UNAVAILABLE = "environment_unavailable"
    """The environment cannot be had on this machine, for example for want of an interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the judge says of one attempt; built by :mod:`benchwright.judging` only."""

    outcome: Outcome
    reason: Reason
    detail: str
    """One plain sentence for a person, such as ``test_x: AssertionError: 3 != 4``."""
    planned: int
    """Number of tests the host read in the test source."""
    passed: int
    """Number of planned tests that ran and passed."""
    judge_version: int
    record_digest: str | None
    """Digest of the execution record judged; None when nothing was run."""

    @property
    def scored(self) -> bool:
        """Whether the attempt counts in the score's denominator."""
        return self.outcome is not Outcome.FAULT
