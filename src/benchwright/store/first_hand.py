"""Whose word counts where runs say different things of the same problems: first those that were graded here."""

from collections.abc import Iterable

from benchwright.core.results import HANDED_OVER, Origin, StoredRun
from benchwright.store.index import TAKEN_IN

_OF_OTHERS = HANDED_OVER | {TAKEN_IN}


def is_first_hand(run: StoredRun) -> bool:
    """Whether the store recorded a run when it was graded: it is no import, and nobody handed it over."""
    return run.origin is Origin.OWN and not _OF_OTHERS.intersection(run.flags)


def first_hand_first(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """Runs in their order, those that were graded here before all that come from elsewhere.

    What is known of problems is taken from the first run that knows it; in the order of names, whoever calls a model
    ``aaa`` would say what the problems of all others are.
    """
    return sorted(runs, key=lambda run: not is_first_hand(run))
