"""Titles that tell tables of one subset and variant apart, by what sets them apart: for the terminal and for pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count

from benchwright.core.results import Origin
from benchwright.leaderboard.tables import Table


def told_apart(tables: Sequence[Table]) -> tuple[Table, ...]:
    """The same tables with titles of which none is there twice.

    The first of a title keeps it.  The others are given as much of what sets them apart from one another, and from
    the first, as it takes; where all that is the same, a number.
    """
    words = what_sets_apart(tables)
    titles: set[str] = set()
    names = []
    for table, said in zip(tables, words, strict=True):
        names.append(", ".join((table.title, *said)) if table.title in titles else table.title)
        titles.add(table.title)
    return tuple(replace(table, title=name) for table, name in zip(tables, numbered(names), strict=True))


def what_sets_apart(tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """What sets each table apart from the others of its title, in words; nothing for one that is alone with it."""
    alike: dict[str, list[int]] = {}
    for place, table in enumerate(tables):
        alike.setdefault(table.title, []).append(place)
    found: list[tuple[str, ...]] = [() for _ in tables]
    for places in alike.values():
        for place, words in zip(places, _words([tables[one] for one in places]), strict=True):
            found[place] = words
    return found


def numbered(names: Sequence[str]) -> list[str]:
    """The same names, none of them twice: what is there already gets a number that makes no name of another's."""
    taken, seen = set(names), set[str]()
    found = []
    for name in names:
        free = (f"{name} ({number})" for number in count(2))
        unlike = name if name not in seen else next(other for other in free if other not in taken)
        seen.add(unlike)
        taken.add(unlike)
        found.append(unlike)
    return found


def _words(tables: Sequence[Table]) -> list[tuple[str, ...]]:
    """What sets each of these apart, in words: of those that are still alike, the next aspect in which they differ."""
    found: list[tuple[str, ...]] = [() for _ in tables]
    for said in _ASPECTS:
        alike: dict[tuple[str, ...], list[int]] = {}
        for place, words in enumerate(found):
            alike.setdefault(words, []).append(place)
        for words, places in alike.items():
            more = [said(tables[place]) for place in places]
            if len(set(more)) > 1:
                for place, word in zip(places, more, strict=True):
                    found[place] = (*words, word) if word else words
    return found


def _origin(table: Table) -> str:
    if all(row.origin is Origin.OWN for row in table.rows):
        return "own results"
    titles = _listed(row.source.title for row in table.rows if row.source is not None)
    imported = f"imported from {titles}" if titles else "imported"
    return f"own results and {imported}" if any(row.origin is Origin.OWN for row in table.rows) else imported


def _version(table: Table) -> str:
    return f"data {_listed(table.versions)}" if any(table.versions) else "data not stated"


def _metric(table: Table) -> str:
    return table.metric


def _scaffold(table: Table) -> str:
    return _listed(row.scaffold for row in table.rows)


def _samples(table: Table) -> str:
    samples = {row.estimate.samples for row in table.rows if row.estimate is not None}
    return "" if not samples else "one sample each" if samples == {1} else "several samples each"


def _problems(table: Table) -> str:
    number = len(table.problems)
    return "" if not number else "1 problem" if number == 1 else f"{number} problems"


def _flags(table: Table) -> str:
    return _listed(flag.name for row in table.rows for flag in row.flags)


def _rows(table: Table) -> str:
    return "1 model" if len(table.rows) == 1 else f"{len(table.rows)} models"


_ASPECTS: tuple[Callable[[Table], str], ...] = (
    _origin, _version, _metric, _scaffold, _samples, _problems, _flags, _rows,
)  # fmt: skip
_FEW = 2
"""Names that stand in a title."""


def _listed(names: Iterable[str]) -> str:
    every = list(dict.fromkeys(name for name in names if name))
    more = f" and {len(every) - _FEW} more" if len(every) > _FEW else ""
    return f"{', '.join(every[:_FEW])}{more}"
