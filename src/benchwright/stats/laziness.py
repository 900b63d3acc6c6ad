"""What leaving out the prompt's imports and constants costs a model: its laziness, and the plain gap of two scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchwright.stats.estimates import ROUNDS
from benchwright.stats.intervals import bootstrap_mean, wilson
from benchwright.stats.paired import PairedDifference, paired_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFacts:
    """The samples of one problem that were scored both as extracted and calibrated."""

    problem_id: str
    samples: int
    lazy: int
    """How many failed as extracted for want of a name that the stub gives, and pass calibrated."""
    extracted: int
    """How many pass as extracted."""
    calibrated: int
    """How many pass calibrated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laziness:
    """The share of a run that left-out imports and constants cost."""

    value: float
    """Mean over problems of the share of lazy samples."""
    low: float
    high: float
    method: str
    """How the interval was made: ``wilson`` or ``bootstrap(2000)``."""
    n: int
    """Problems scored both ways."""
    samples: int
    """Largest number of samples of a problem."""
    tasks: tuple[str, ...]
    """Problems with a lazy sample."""
    gap: PairedDifference
    """Calibrated minus extracted over the same problems, whatever the reasons."""


def laziness(facts: Sequence[ProblemFacts], *, rng: np.random.Generator, rounds: int = ROUNDS) -> Laziness:
    """Laziness over problems, each with at least one sample that was scored both ways.

    With one sample for each problem the interval is Wilson's, with more a bootstrap over problems; Wilson's too when
    no sample is lazy or all are, for then resampling sees no chance at all.
    """
    if not facts:
        raise ValueError("expected at least one problem, got none")
    if any(min(one.lazy, one.extracted, one.calibrated) < 0 or one.samples < 1 for one in facts):
        raise ValueError("expected counts, and at least one sample for each problem")
    if any(max(one.lazy, one.extracted, one.calibrated) > one.samples for one in facts):
        raise ValueError("expected no more lazy or passing samples than there are")
    shares = [one.lazy / one.samples for one in facts]
    value = float(np.mean(shares))
    most = max(one.samples for one in facts)
    if most == 1 or value in (0.0, 1.0):
        interval, method = wilson(round(value * len(facts)), len(facts)), "wilson"
    else:
        interval, method = bootstrap_mean(shares, rounds=rounds, rng=rng), f"bootstrap({rounds})"
    return Laziness(
        value=value,
        low=interval.low,
        high=interval.high,
        method=method,
        n=len(facts),
        samples=most,
        tasks=tuple(one.problem_id for one in facts if one.lazy),
        gap=paired_difference(
            [one.calibrated / one.samples for one in facts],
            [one.extracted / one.samples for one in facts],
            rng=rng,
            rounds=rounds,
        ),
    )
