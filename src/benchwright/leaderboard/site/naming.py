"""Names that tell apart what would be called the same: tables of one title, files of one name."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from benchwright.core.results import Source
from benchwright.leaderboard.site.payload import short_digest
from benchwright.leaderboard.tables import Table
from benchwright.leaderboard.titles import numbered, what_sets_apart


def names_of(tables: Sequence[Table]) -> tuple[str, ...]:
    """What lists call the tables: the titles, with as much beside them as tells equal ones apart.

    The title alone stays the table's identity, so that its address does not change when another one is added.
    """
    words = what_sets_apart(tables)
    names = [" – ".join((table.title, *said)) for table, said in zip(tables, words, strict=True)]
    return tuple(numbered(names))


def _twice(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def files_of(source: Source) -> str:
    """Digits that stand for what was read."""
    digests = [digest for _, digest in source.files]
    return digests[0][:8] if len(digests) == 1 else short_digest(source.kind, source.url, *sorted(digests))[:8]


def told_sources(tables: Iterable[Table]) -> dict[Source, str]:
    """For every source of imports what tells it from others of its title: a model, or digits; empty for most."""
    models: dict[Source, dict[str, None]] = {}
    for table in tables:
        for row in table.rows:
            if row.source is not None:
                models.setdefault(row.source, {})[row.model] = None
    titles = _twice(source.title for source in models)
    told = {source: _of(source, list(names)) if source.title in titles else "" for source, names in models.items()}
    return _with_digits(told, lambda source: f"{source.title}\0{told[source]}")


def _of(source: Source, models: Sequence[str]) -> str:
    return models[0] if len(models) == 1 else files_of(source)


def _with_digits(told: dict[Source, str], name: Callable[[Source], str]) -> dict[Source, str]:
    twice = _twice(name(source) for source in told)
    return {
        source: f"{text}, {files_of(source)}" if text and name(source) in twice else text
        for source, text in told.items()
    }
