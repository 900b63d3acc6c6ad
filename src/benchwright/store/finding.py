"""Which recorded run a name means."""

import re
from collections.abc import Iterable, Sequence

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import StoredRun

_FEWEST_DIGITS = 4
"""Of an id's beginning: with fewer, a typing error hits something too easily."""
_LISTED = 8
_LONGEST = 80


def find(name: str, every: Sequence[StoredRun], heads: Sequence[StoredRun]) -> StoredRun:
    """The run that a name means: the beginning of an entry's or a run's id, or a model's name.

    Args:
        name: It.
        every: All entries; one that is superseded is found by its entry's id alone.
        heads: Those that count.

    Raises:
        UnknownNameError: There is none.
        UsageError: There are several.
    """
    for found in (
        [run for run in every if run.entry == name],
        [run for run in heads if run.run_id == name],
        [run for run in heads if run.model == name],
        _beginning(name, every, heads),
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"{shown(name)} is the name of {len(found)} runs ({_told(found)}); give the id of one.")
    known = {shown(run.model) for run in heads} | {run.entry[:12] for run in heads}
    raise UnknownNameError("run in the store", shown(name), sorted(known)[:_LISTED] if len(name) > _LONGEST else known)


def _beginning(name: str, every: Iterable[StoredRun], heads: Iterable[StoredRun]) -> list[StoredRun]:
    if len(name) < _FEWEST_DIGITS or not re.fullmatch(r"[0-9A-Za-z:._-]+", name):
        return []
    found = [run for run in heads if run.entry.startswith(name) or run.run_id.startswith(name)]
    return found or [run for run in every if run.entry.startswith(name)]


def _told(runs: Sequence[StoredRun]) -> str:
    told = [f"{run.entry[:12]}: {shown(run.model)}, {run.benchmark} {run.subset} {run.variant}" for run in runs]
    more = f"; {len(told) - _LISTED} more" if len(told) > _LISTED else ""
    return "; ".join(told[:_LISTED]) + more


def shown(text: str, longest: int = _LONGEST) -> str:
    """A name as it may be printed: on one line, nothing that steers a terminal, not longer than a line."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
