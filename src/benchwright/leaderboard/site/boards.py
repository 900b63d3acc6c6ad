"""Tables as the pages read them: short, with what many rows share written once."""

from collections.abc import Mapping
from typing import Any

from benchwright.core.benchmark_facts import HumanReference, TaskErrors
from benchwright.core.results import Origin, Source
from benchwright.core.runs import Estimate
from benchwright.leaderboard.site.model import HUMAN, SiteData
from benchwright.leaderboard.site.payload import short_digest
from benchwright.leaderboard.tables import LeaderboardRow, Table


def table_id(table: Table) -> str:
    """What addresses and files call a table; the same for the same kind of table in the next build."""
    score = table.score.value if table.score else ""
    return short_digest(
        table.benchmark, *table.versions, table.subset, table.variant, score, table.metric, table.reason, table.title
    )


def board(table: Table, data: SiteData, told: Mapping[Source, str], *, outcomes: bool, problems: int) -> dict[str, Any]:
    """A table for the leaderboard, the model page and the charts; ``told`` tells sources of one title apart."""
    flags: dict[tuple[str, str], int] = {}
    sources: dict[Source, int] = {}
    rows = [_row(table, row, flags, sources) for row in table.rows]
    facts = data.facts_of(table.benchmark)
    return {
        **head(table),
        "outcomes": outcomes,
        "problems": problems,
        "method": table.method,
        "anchor": table.anchor,
        "notes": list(table.notes),
        "warnings": [] if facts.task_errors is None else [_with_source(facts.task_errors)],
        "references": [] if facts.human is None else [_with_source(facts.human) | {"label": HUMAN}],
        "flags": [{"name": name, "text": text} for name, text in flags],
        "shared": [place for place in range(len(flags)) if rows and all(place in row.get("flags", ()) for row in rows)],
        "sources": [
            {"title": source.title, "of": told.get(source, ""), "url": source.url, "note": source.note}
            for source in sources
        ],
        "rows": rows,
    }


def head(table: Table) -> dict[str, Any]:
    """What lists of tables show."""
    return {
        "id": table_id(table),
        "title": table.title,
        "benchmark": table.benchmark,
        "versions": list(table.versions),
        "subset": table.subset,
        "variant": table.variant,
        "metric": table.metric,
        "reason": table.reason,
        "models": len(table.rows),
        "imported": bool(table.rows) and all(row.origin is Origin.IMPORTED for row in table.rows),
    }


def _with_source(fact: HumanReference | TaskErrors) -> dict[str, Any]:
    value = fact.value if isinstance(fact, HumanReference) else None
    return {"text": fact.text, "value": value, "source": fact.source, "url": address_of(fact.source)}


def address_of(source: str) -> str:
    """Where a source can be read: its own address, or that of a paper on arXiv; empty when it names neither."""
    if source.startswith(("https://", "http://")):
        return source
    kind, _, number = source.partition(":")
    return f"https://arxiv.org/abs/{number}" if kind == "arXiv" and number.replace(".", "").isdigit() else ""


def _row(
    table: Table, row: LeaderboardRow, flags: dict[tuple[str, str], int], sources: dict[Source, int]
) -> dict[str, Any]:
    facts = {name: value for name, value in row.facts.to_plain().items() if value not in (None, "")}
    plain: dict[str, Any] = {
        "entry": row.entry,
        "model": row.model,
        "label": row.label if row.label != row.model else None,
        "scaffold": row.scaffold,
        "own": row.origin is Origin.OWN,
        "source": None if row.source is None else sources.setdefault(row.source, len(sources)),
        "version": row.version,
        "score": table.number_of(row),
        "estimate": row.estimate and _estimate(row.estimate),
        "reported": {one.metric: one.value for one in row.reported},
        "rated": row.rated and [_short(row.rated.rating), _short(row.rated.low), _short(row.rated.high)],
        "held": (row.rated is not None and row.rated.held) or None,
        "rank": row.rated and [row.rated.rank, row.rated.rank_low, row.rated.rank_high],
        "solved": row.solved if row.estimate else None,
        "n": row.problems or None,
        "faults": row.faults or None,
        "missing": row.missing or None,
        "worst": row.worst,
        "best": row.best,
        "runs": row.runs if row.runs > 1 else None,
        "spread": row.spread,
        "cost": row.cost,
        "finished": row.finished,
        "flags": [flags.setdefault((flag.name, flag.text), len(flags)) for flag in row.flags],
        "facts": facts,
    }
    return {name: value for name, value in plain.items() if value not in (None, "", [], {})}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        "n": estimate.n,
        "samples": estimate.samples,
    }


def _short(rating: float) -> float:
    """Ratings have no meaning beyond a tenth of a point."""
    return round(rating, 1)
