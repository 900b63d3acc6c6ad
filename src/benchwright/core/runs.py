"""What is reported: one row per attempt and score, estimates, and the summary of a grading."""

import enum
from dataclasses import dataclass

from benchwright.core.verdicts import Verdict


class Score(enum.StrEnum):
    """The scores, by the same names everywhere; repository problems have the last, function problems the others."""

    AS_WRITTEN = "as_written"
    """The answer's text with fences removed, executed as it stands."""
    EXTRACTED = "extracted"
    """The extracted code on its own (BigCodeBench's *uncalibrated*)."""
    CALIBRATED = "calibrated"
    """The extracted code with the prompt's stub in front."""
    PATCH = "patch"
    """The repository with the patch applied."""


FUNCTION_SCORES = (Score.AS_WRITTEN, Score.EXTRACTED, Score.CALIBRATED)
"""The scores of function problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One attempt under one score, judged."""

    problem_id: str
    sample: int
    score: Score
    verdict: Verdict
    job_digest: str | None
    """None when there was nothing to run."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_peak_bytes: int = 0
    strategy: str = ""
    """Which rule found the code that was graded, such as ``solution-field``; empty when there was none."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how the code was found; one plain clause each."""
    missing_names: tuple[str, ...] = ()
    """Names and modules whose absence made the answer or a test fail, such as ``np`` or ``matplotlib.pyplot``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval."""

    metric: str
    """Such as ``pass@1[calibrated]``."""
    value: float
    low: float
    high: float
    method: str
    """How the interval was made, such as ``wilson`` or ``bootstrap(2000)``."""
    n: int
    """Number of problems behind the number."""
    k: int = 1
    samples: int = 1
    """Samples per problem: 1 means one greedy answer, more means the unbiased estimator."""
