"""Names that tell apart what would be called the same: tables of one title, files of one name."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from benchwright.core.results import Origin, Source
from benchwright.leaderboard.site.payload import short_digest
from benchwright.leaderboard.tables import Table

_FEW = 2
"""Sources that stand in a table's name."""


def names_of(tables: Sequence[Table]) -> tuple[str, ...]:
    """What lists call the tables: the titles, with as much beside them as tells equal ones apart.

    The title alone stays the table's identity, so that its address does not change when another one is added.
    """
    names = [table.title for table in tables]
    for part in (_origin, _versions, _metric, _scaffolds, _samples, _models):
        names = _told_apart(names, [part(table) for table in tables])
    twice = _twice(names)
    seen: Counter[str] = Counter()
    for place, name in enumerate(names):
        seen[name] += 1
        if name in twice:
            names[place] = f"{name} ({seen[name]})"
    return tuple(names)


def _told_apart(names: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Equal names with their parts, where these differ."""
    differ = {
        name for name in _twice(names) if len({part for own, part in zip(names, parts, strict=True) if own == name}) > 1
    }
    return [f"{name} – {part}" if name in differ and part else name for name, part in zip(names, parts, strict=True)]


def _twice(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def _origin(table: Table) -> str:
    titles = list(dict.fromkeys(row.source.title for row in table.rows if row.source is not None))
    own = any(row.origin is Origin.OWN for row in table.rows)
    if not titles:
        return "own results" if own else "imported"
    few = ", ".join(titles[:_FEW]) + (f" and {len(titles) - _FEW} more" if len(titles) > _FEW else "")
    return f"{'own results and ' if own else ''}imported from {few}"


def _versions(table: Table) -> str:
    return f"data {', '.join(table.versions)}" if table.versions else ""


def _metric(table: Table) -> str:
    return table.metric


def _scaffolds(table: Table) -> str:
    found = dict.fromkeys(row.scaffold for row in table.rows if row.scaffold)
    return ", ".join(list(found)[:_FEW])


def _samples(table: Table) -> str:
    found = sorted({row.estimate.samples for row in table.rows if row.estimate is not None})
    if not found:
        return ""
    most = f"{found[0]}" if len(found) == 1 else f"{found[0]}–{found[-1]}"
    return f"{most} sample{'' if most == '1' else 's'} of each task"


def _models(table: Table) -> str:
    return f"{len(table.rows)} model{'' if len(table.rows) == 1 else 's'}"


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
