"""Whether a model may have seen problems while it was trained: dates of problems against its cut-off."""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from benchwright.core.results import ModelFacts

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many of some problems were public before a model's training data ends."""

    before: int
    """Problems that anybody could read on or before that day."""
    n: int
    """Problems whose date is known."""
    until: date
    """Day that was compared with: the cut-off, or the day the model was released where no cut-off is known."""
    sure: bool
    """Whether that day is the cut-off; the day of release is its upper bound only."""

    @property
    def clean(self) -> bool:
        """Whether no problem with a known date can have been in the training data."""
        return self.before == 0


def window(facts: ModelFacts, public: Iterable[str]) -> Window | None:
    """The window of a model over problems, each given as the date it became public (empty when unknown).

    None when neither cut-off nor release of the model is known, or no date of a problem.  A date without a day counts
    as its last day for a model, as its first for a problem: in doubt the model may have seen it.
    """
    until = _latest(facts.cutoff)
    sure = until is not None
    until = until or _latest(facts.released)
    days = [day for day in map(_earliest, public) if day is not None]
    if until is None or not days:
        return None
    return Window(before=sum(day <= until for day in days), n=len(days), until=until, sure=sure)


def _parts(text: str) -> tuple[int, int | None, int | None] | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = (None if part is None else int(part) for part in found.groups())
    assert year is not None
    return year, month, day


def _latest(text: str) -> date | None:
    parts = _parts(text)
    if parts is None:
        return None
    year, month, day = parts[0], parts[1] or 12, parts[2]
    try:
        return date(year, month, day or monthrange(year, month)[1])
    except ValueError:  # a month 13, a day 31 in June: no date
        return None


@lru_cache(maxsize=4096)  # a thousand models meet the same dates of the same problems
def _earliest(text: str) -> date | None:
    parts = _parts(text)
    try:
        return None if parts is None else date(parts[0], parts[1] or 1, parts[2] or 1)
    except ValueError:
        return None
