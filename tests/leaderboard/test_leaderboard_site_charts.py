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
from benchwright.leaderboard.site.chart_names import WIDTHS, Dot, box_of, mark_of, placed
from benchwright.leaderboard.site.chart_points import by_cost, by_date, by_size, named
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


DOTS = st.lists(
    st.builds(
        Dot,
        share=st.floats(0, 1),
        score=st.floats(0, 100),
        name=st.text("aM-m 模", min_size=1, max_size=40),
        front=st.booleans(),
    ),
    max_size=25,
)


@given(DOTS, st.sampled_from(WIDTHS))
def test_no_name_lies_over_a_point_or_another_name(dots: list[Dot], width: int) -> None:
    """Only the front is named, inside the drawing, and what is free in a narrow drawing is free in a wider one."""
    found = placed(dots, 100.0, {"Human reference": 97.0}, width)
    assert all(dots[place].front for place in found)
    for wide in (each for each in WIDTHS if each >= width):
        boxes = {place: box_of(dots[place], spot, 100.0, wide) for place, spot in found.items()}
        marks = [mark_of(dot, 100.0, wide) for dot in dots]
        for place, box in boxes.items():
            assert not any(box.meets(mark) for mark in marks)
            assert not any(box.meets(other) for at, other in boxes.items() if at != place)
            assert 0 <= box.left <= box.right <= wide


def test_a_point_with_room_around_it_is_named() -> None:
    """Wherever it lies, and the best one where there is room for one only."""
    for share, score in ((0.0, 50.0), (0.5, 50.0), (1.0, 50.0), (0.5, 1.0), (0.0, 99.0)):
        assert 0 in placed([Dot(share=share, score=score, name="model-7b", front=True)], 100.0, {}, 860)
    close = [Dot(share=0.5 + n / 500, score=50.0 + n / 50, name="M" * 12, front=True) for n in range(5)]
    assert max(placed(close, 100.0, {}, 860)) == 4


FRONT: list[dict[str, Any]] = [
    {"x": 1.0, "score": 80.0, "front": True},
    {"x": 9.0, "score": 20.0, "front": False},
]


def test_names_stand_by_the_width_of_the_drawing() -> None:
    """A point of the front says for every width where its name stands; others have none."""
    made = named("cost", [{**one, "model": f"model number {n}"} for n, one in enumerate(FRONT)], 100.0, {})
    assert made[0]["names"] == {str(width): "up-right" for width in WIDTHS}
    assert made[0]["name"] == "up-right"
    assert "names" not in made[1]


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


@pytest.mark.parametrize(("character", "shown"), [("\ud800", r"\ud800"), ("\x1b", r"\x1b"), ("\uffff", r"\uffff")])
def test_names_that_no_drawing_may_hold_can_be_drawn(character: str, shown: str) -> None:
    """What XML has no place for is spelled out; the library would end the whole process."""
    pytest.importorskip("vl_convert")
    values = [{"name": f"a{character}b\t\U0001f600", "x": 1}]
    spec = {"data": {"values": values}, "mark": "text", "encoding": {"text": {"field": "name"}}}
    assert f"a{shown}b" in charts.still_picture(spec, charts.LIGHT)
