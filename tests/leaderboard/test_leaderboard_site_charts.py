"""Charts: which points are on the front, whose names stand beside them, and specifications that can be drawn."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from leaderboard_pieces import scored
from site_pieces import HOSTILE, plain, site, table

from benchwright.leaderboard.site import charts
from benchwright.leaderboard.site.chart_points import by_cost, by_date, by_size
from benchwright.leaderboard.tables import Table


def board(values: list[tuple[float, int]]) -> Table:
    """A table of models with these costs and solved problems of ten."""
    runs = [scored(f"m{n}", [1] * solved + [0] * (10 - solved)) for n, (_, solved) in enumerate(values)]
    made = table("t", runs, text=plain, metric="x")
    costs = {f"m{n}": cost for n, (cost, _) in enumerate(values)}
    return dataclasses.replace(made, rows=tuple(dataclasses.replace(row, cost=costs[row.model]) for row in made.rows))


@given(st.lists(st.tuples(st.floats(0.01, 1000), st.integers(0, 10)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_cheaper_reaches(values: list[tuple[float, int]]) -> None:
    """A model is on the front when no other one is as cheap or cheaper and as good or better."""
    made = board(values)
    points = by_cost(made, made.rows)
    for point in points:
        as_good = [o for o in points if o is not point and o["x"] <= point["x"] and o["score"] >= point["score"]]
        same = [o for o in as_good if (o["x"], o["score"]) == (point["x"], point["score"])]
        assert point["front"] == (not as_good or (len(same) == len(as_good) and not any(o["front"] for o in same)))
        assert point["front"] or "name" not in point
    assert max(points, key=lambda point: point["score"])["score"] in [o["score"] for o in points if "name" in o]


def test_points_without_their_number_are_left_out() -> None:
    """Unknown sizes, dates that are none and costs of nothing have no place on an axis."""
    made = board([(0.0, 3), (2.0, 4)])
    assert [point["x"] for point in by_cost(made, made.rows)] == [2.0]
    facts = [
        dataclasses.replace(made.rows[0].facts, released=day, parameters=None) for day in ("soon", "2026-01-02T10:00")
    ]
    rows = [dataclasses.replace(row, facts=fact) for row, fact in zip(made.rows, facts, strict=True)]
    assert [point["x"] for point in by_date(made, rows)] == ["2026-01-02"]
    assert by_size(made, rows) == []


def test_every_chart_can_be_drawn_with_the_colours_of_the_page() -> None:
    """Each specification becomes a picture in both themes; data is never taken for a colour or for markup."""
    pytest.importorskip("vl_convert")
    data = site(lambda text: HOSTILE + text)
    made = charts.charts(data.tables[0], data)
    assert list(made) == ["ratings", "date", "size", "cost"]
    drawn = [(kind, charts.LIGHT) for kind in made] + [("size", charts.DARK)]
    for kind, look in drawn:
        picture = charts.still_picture(made[kind], look)
        assert picture.startswith("<svg")
        assert "<script" not in picture
        assert look.open in picture


def test_a_model_called_like_a_colour_keeps_its_name() -> None:
    """Colours are set where the specification asks for them, not in its data."""
    spec: dict[str, Any] = {"data": {"values": [{"color": "muted", "range": ["text"]}]}, "mark": {"color": "muted"}}
    dressed = charts.dressed(spec, charts.LIGHT)
    assert dressed["data"] == spec["data"]
    assert dressed["mark"] == {"color": charts.LIGHT.muted}


def test_tables_without_ratings_show_scores() -> None:
    """Numbers alone have a chart without intervals; a table without any number has none."""
    data = site()
    reported = data.tables[3]
    spec = charts.charts(reported, data)["ratings"]
    assert [value["x"] for value in spec["data"]["values"]] == [70.0, 65.0, 60.0, 55.0, 50.0]
    assert "rule" not in json.dumps(spec)
    assert charts.charts(dataclasses.replace(reported, metric="unknown"), data) == {}
