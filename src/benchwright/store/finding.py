"""Which recorded run a name means."""

import difflib
import re
from collections.abc import Iterable, Sequence

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import StoredRun

_FEWEST_DIGITS = 4
"""Of an id's beginning: with fewer, a typing error hits something too easily."""
_LISTED = 5
_LONGEST = 80
_ALIKE = 0.6
"""Share of letters that two names have in common where one may be a slip for the other, as difflib counts it."""


def find(name: str, every: Sequence[StoredRun], heads: Sequence[StoredRun], *, place: object) -> StoredRun:
    """The run that a name means: the beginning of an entry's or a run's id, or a model's name.

    Args:
        name: It.
        every: All entries; one that is superseded is found by its entry's id alone.
        heads: Those that count.
        place: What messages call the store.

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
            raise UsageError(f"{shown(name)} is the name of {len(found)} runs ({told(found)}); give the id of one.")
    raise UnknownNameError("run in the store", shown(name), (), hint=_hint(name, heads, place))


def _hint(name: str, heads: Sequence[StoredRun], place: object) -> str:
    """What to do about a name that no run has: a few names that are like it, never all that there are."""
    if not heads:
        return (
            f"there is no run at all in {place}: `bw grade`, `bw run` and `bw store import` record some, and a results "
            f"folder may be given instead of a name."
        )
    near = near_names(name, (run.model for run in heads))
    near = near or [run.entry[:12] for run in heads if name and run.entry.startswith(name)][:_LISTED]
    all_of_them = f"`bw results list` shows all {len(heads)} runs in {place}."
    return f"did you mean {' or '.join(map(shown, near))}? {all_of_them}" if near else all_of_them


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """At most five of the names: those in which the name is, whatever the case of letters, and those that are alike."""
    wanted = name.casefold()[: 2 * _LONGEST]
    if not wanted:
        return []
    folded = {text.casefold(): text for text in sorted(set(known), reverse=True) if len(text) <= 2 * _LONGEST}
    within = sorted((text for text in folded if wanted in text), key=lambda text: (len(text), text))
    alike = difflib.get_close_matches(wanted, folded, n=_LISTED, cutoff=_ALIKE)
    return [folded[text] for text in dict.fromkeys([*alike, *within])][:_LISTED]


def _beginning(name: str, every: Iterable[StoredRun], heads: Iterable[StoredRun]) -> list[StoredRun]:
    if len(name) < _FEWEST_DIGITS or not re.fullmatch(r"[0-9A-Za-z:._-]+", name):
        return []
    found = [run for run in heads if run.entry.startswith(name) or run.run_id.startswith(name)]
    return found or [run for run in every if run.entry.startswith(name)]


def told(runs: Sequence[StoredRun]) -> str:
    """A few runs of the same name, so that they can be told apart."""
    texts = [f"{run.entry[:12]}: {shown(run.model)}, {run.benchmark} {run.subset} {run.variant}" for run in runs]
    more = f"; {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return "; ".join(texts[:_LISTED]) + more


def shown(text: str, longest: int = _LONGEST) -> str:
    """A name as it may be printed: on one line, nothing that steers a terminal, not longer than a line."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
