"""Rows of a table as points of its charts: where they lie, which are on the front, which show their name."""

import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any

from benchwright.core.results import Origin
from benchwright.leaderboard.site.chart_names import WIDTHS, Dot, names_by_width
from benchwright.leaderboard.tables import LeaderboardRow, Table


def point_of(table: Table, row: LeaderboardRow, x: Any) -> dict[str, Any]:
    """A row as a point, with what its tooltip and its line in the chart's table say."""
    score = table.number_of(row)
    assert score is not None
    weights = {True: "open weights", False: "closed weights", None: "weights unknown"}[row.facts.open_weights]
    point = {"model": row.label, "x": x, "score": round(100 * score, 2), "weights": weights}
    if row.estimate is not None:
        point |= {"low": round(100 * row.estimate.low, 2), "high": round(100 * row.estimate.high, 2)}
    if row.origin is Origin.IMPORTED:
        point["results"] = f"imported from {row.source.title}" if row.source else "imported"
    else:
        point["results"] = "own"
    return point


def by_date(table: Table, rows: Iterable[LeaderboardRow]) -> list[dict[str, Any]]:
    """Points by date of release; rows whose date is not known, or is none, are left out."""
    return _fronted([point_of(table, row, day) for row in rows if (day := _day(row.facts.released))])


def by_size(table: Table, rows: Iterable[LeaderboardRow]) -> list[dict[str, Any]]:
    """Points by number of parameters."""
    return _fronted([point_of(table, row, row.facts.parameters) for row in rows if (row.facts.parameters or 0) > 0])


def by_cost(table: Table, rows: Iterable[LeaderboardRow]) -> list[dict[str, Any]]:
    """Points by cost."""
    return _fronted([point_of(table, row, row.cost) for row in rows if (row.cost or 0) > 0])


def _day(text: str) -> str | None:
    try:
        return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:  # what a source calls a date may be anything
        return None


def _fronted(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Marks the points of the Pareto front: those with no point as far left or further that is as high or higher."""
    best = float("-inf")
    for point in sorted(points, key=lambda point: (point["x"], -point["score"], point["model"])):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    return points


def named(kind: str, points: list[dict[str, Any]], top: float, references: Mapping[str, float]) -> list[dict[str, Any]]:
    """The points with ``names``, which say by the drawing's width where a name stands; see `chart_names`.

    ``name`` is that of the widest drawing.
    """
    places = [_place(kind, point["x"]) for point in points]
    left, width = min(places), max(places) - min(places)
    dots = [
        Dot(
            share=(place - left) / width if width else 0.5,
            score=point["score"],
            name=point["model"],
            front=point["front"],
        )
        for point, place in zip(points, places, strict=True)
    ]
    made = []
    for point, names in zip(points, names_by_width(dots, top, references), strict=True):
        widest = names.get(str(WIDTHS[0]))
        made.append(point | ({"names": names} if names else {}) | ({"name": widest} if widest else {}))
    return made


def _place(kind: str, x: Any) -> float:
    return float(datetime.date.fromisoformat(x).toordinal()) if kind == "date" else math.log(x)
