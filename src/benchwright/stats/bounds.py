"""What our own faults can hide: the score if every sample lost to a fault had failed, and if it had passed."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.core.results import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Worst and best case of a mean over problems."""

    value: float | None
    """As reported: faults left out; None when every sample is a fault."""
    worst: float
    """Every fault counted as a sample that does not pass."""
    best: float
    """Every fault counted as one that passes."""
    faults: int
    """Samples lost."""
    touched: int
    """Problems that lost a sample."""
    lost: int
    """Problems that lost all of them, and are not in ``value``."""
    n: int
    """All problems."""


def bounds(tallies: Iterable[Tally]) -> Bounds:
    """Worst and best case of pass@1 over all problems that were asked; ``worst <= best``.

    ``value`` lies between the two; where problems were lost it is a mean over fewer of them.
    """
    every = list(tallies)
    if not every:
        raise ValueError("expected at least one problem, got none")
    if any(one.scored + one.faults < 1 for one in every):
        raise ValueError("expected at least one sample for each problem; count a missing one as a wrong one")
    shares = [one.share for one in every if one.share is not None]
    return Bounds(
        value=sum(shares) / len(shares) if shares else None,
        worst=sum(one.passed / (one.scored + one.faults) for one in every) / len(every),
        best=sum((one.passed + one.faults) / (one.scored + one.faults) for one in every) / len(every),
        faults=sum(one.faults for one in every),
        touched=sum(one.faults > 0 for one in every),
        lost=sum(one.scored == 0 for one in every),
        n=len(every),
    )
