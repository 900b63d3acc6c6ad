"""Rows of a table as points of its charts: where they lie, which are on the front, which show their name."""

import datetime
import math
from collections.abc import Iterable
from typing import Any

from benchwright.core.results import Origin
from benchwright.leaderboard.tables import LeaderboardRow, Table


def score_of(table: Table, row: LeaderboardRow) -> float | None:
    """The number that the table is about; None where a row has none."""
    if row.estimate is not None:
        return row.estimate.value
    return next((one.value for one in row.reported if one.metric == table.metric), None)


def point_of(table: Table, row: LeaderboardRow, x: Any) -> dict[str, Any]:
    """A row as a point, with what its tooltip and its line in the chart's table say."""
    score = score_of(table, row)
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
    return _fronted("date", [point_of(table, row, day) for row in rows if (day := _day(row.facts.released))])


def by_size(table: Table, rows: Iterable[LeaderboardRow]) -> list[dict[str, Any]]:
    """Points by number of parameters."""
    return _fronted(
        "size", [point_of(table, row, row.facts.parameters) for row in rows if (row.facts.parameters or 0) > 0]
    )


def by_cost(table: Table, rows: Iterable[LeaderboardRow]) -> list[dict[str, Any]]:
    """Points by cost."""
    return _fronted("cost", [point_of(table, row, row.cost) for row in rows if (row.cost or 0) > 0])


def _day(text: str) -> str | None:
    try:
        return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:  # what a source calls a date may be anything
        return None


def _fronted(kind: str, points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Marks the points of the Pareto front: those with no point as far left or further that is as high or higher."""
    best = float("-inf")
    for point in sorted(points, key=lambda point: (point["x"], -point["score"], point["model"])):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    if points:
        _name_some(kind, points)
    return points


_APART = 0.22
"""Share of the width that a name of the front takes."""
_LINE = 4.5
"""Points of the score that a line of text takes in a chart whose axis goes from 0 to about 100."""


def _name_some(kind: str, points: list[dict[str, Any]]) -> None:
    """Says at which points of the front a name stands, and on which side: best first, and none over another."""
    places = [_place(kind, point["x"]) for point in points]
    left, width = min(places), (max(places) - min(places)) or 1.0
    taken: list[tuple[float, float]] = []
    found = [(point, (place - left) / width) for point, place in zip(points, places, strict=True) if point["front"]]
    for point, share in sorted(found, key=lambda one: -one[0]["score"]):
        start = share if share < _APART else share - _APART
        if all(abs(start - other) > _APART or abs(point["score"] - height) > _LINE for other, height in taken):
            taken.append((start, point["score"]))
            point["name"] = "right" if share < _APART else "left"


def _place(kind: str, x: Any) -> float:
    return float(datetime.date.fromisoformat(x).toordinal()) if kind == "date" else math.log(x)
