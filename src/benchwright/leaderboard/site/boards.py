"""Tables as the pages read them: short, with what many rows share written once."""

from typing import Any

from benchwright.core.results import Origin, Source
from benchwright.core.runs import Estimate
from benchwright.leaderboard.site.model import SiteData
from benchwright.leaderboard.site.payload import short_digest
from benchwright.leaderboard.tables import LeaderboardRow, Table


def table_id(table: Table) -> str:
    """What addresses and files call a table; the same for the same kind of table in the next build."""
    score = table.score.value if table.score else ""
    return short_digest(
        table.benchmark, *table.versions, table.subset, table.variant, score, table.metric, table.reason, table.title
    )


def board(table: Table, data: SiteData, *, outcomes: bool, problems: int) -> dict[str, Any]:
    """A table for the leaderboard, the model page and the charts."""
    flags: dict[tuple[str, str], int] = {}
    sources: dict[Source, int] = {}
    rows = [_row(row, flags, sources) for row in table.rows]
    return {
        **head(table),
        "outcomes": outcomes,
        "problems": problems,
        "method": table.method,
        "anchor": table.anchor,
        "notes": [*table.notes, *_notes(table, data)],
        "references": [
            {"label": line.label, "value": line.value, "source": line.source, "url": line.url}
            for line in data.references
            if line.benchmark == table.benchmark
        ],
        "flags": [{"name": name, "text": text} for name, text in flags],
        "sources": [source.to_plain() for source in sources],
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


def _notes(table: Table, data: SiteData) -> list[str]:
    """What must stand beside the scores of a benchmark, whatever else is said."""
    return [
        f"{100 * errors.low:.0f}–{100 * errors.high:.0f} % of the problems may be wrong themselves, by the estimate of "
        f"{errors.source} ({errors.url}); no model can be expected to solve those."
        for errors in data.task_errors
        if errors.benchmark == table.benchmark and errors.subset == table.subset
    ]


def _row(row: LeaderboardRow, flags: dict[tuple[str, str], int], sources: dict[Source, int]) -> dict[str, Any]:
    facts = {name: value for name, value in row.facts.to_plain().items() if value not in (None, "")}
    plain: dict[str, Any] = {
        "entry": row.entry,
        "model": row.model,
        "label": row.label if row.label != row.model else None,
        "scaffold": row.scaffold,
        "own": row.origin is Origin.OWN,
        "source": None if row.source is None else sources.setdefault(row.source, len(sources)),
        "version": row.version,
        "estimate": row.estimate and _estimate(row.estimate),
        "reported": {one.metric: one.value for one in row.reported},
        "rated": row.rated and [_short(row.rated.rating), _short(row.rated.low), _short(row.rated.high)],
        "rank": row.rated and [row.rated.rank, row.rated.rank_low, row.rated.rank_high],
        "solved": row.solved if row.estimate else None,
        "n": row.problems or None,
        "faults": row.faults or None,
        "missing": row.missing or None,
        "worst": row.worst,
        "best": row.best,
        "coverage": row.coverage if row.coverage < 1 else None,
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
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        "n": estimate.n,
        "samples": estimate.samples,
    }


def _short(rating: float) -> float:
    """Ratings have no meaning beyond a tenth of a point."""
    return round(rating, 1)
