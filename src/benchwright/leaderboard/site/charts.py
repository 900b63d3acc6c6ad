"""Charts of a table as Vega-Lite specifications, and the program that draws them.

The program comes with vl-convert and goes into the site, so that pages need no network; a still picture of each chart
stands in its place until the program has run, and for readers without JavaScript.
"""

import functools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.leaderboard.site.chart_names import HEIGHT, LIMIT, PADDING, SPOTS, WIDTHS, Spot
from benchwright.leaderboard.site.chart_points import by_cost, by_date, by_size, named, point_of
from benchwright.leaderboard.site.model import HUMAN, SiteData
from benchwright.leaderboard.tables import LeaderboardRow, Table

FIRST = 40
"""Rows in the chart of ratings to begin with: what fits on a screen and a half; the page can show all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Colours of a chart, since a picture cannot ask the page for its own; the page has the same in site.css."""

    text: str
    muted: str
    rule: str
    open: str
    closed: str
    unknown: str

    @property
    def colours(self) -> dict[str, str]:
        """By the names that stand for them in specifications."""
        return {
            "muted": self.muted,
            "text": self.text,
            "open weights": self.open,
            "closed weights": self.closed,
            "weights unknown": self.unknown,
        }


LIGHT = Look(text="#1b1f24", muted="#59626d", rule="#e2e5e9", open="#1f6bb5", closed="#b45309", unknown="#6b7280")
DARK = Look(text="#e6e8eb", muted="#9ba5b0", rule="#2c3239", open="#5ea9f0", closed="#f0a04b", unknown="#9ca3af")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of chart."""

    id: str
    title: str
    text: str
    """One or two sentences under the title."""


KINDS = (
    Kind(
        id="ratings",
        title="Ratings",
        text="Bradley–Terry ratings on Elo's scale with their 95 % intervals. Where two intervals overlap widely, the "
        "order of the two is not settled. Where nothing was rated, the scores stand in their place.",
    ),
    Kind(
        id="date",
        title="Score by release date",
        text="The line is the front: the best score of any model released until then.",
    ),
    Kind(
        id="size",
        title="Score by size",
        text="All parameters, in billions, on a logarithmic scale. The line is the front: no smaller model scores "
        "higher.",
    ),
    Kind(
        id="cost",
        title="Score by cost",
        text="US dollars for the model, all runs behind a row, on a logarithmic scale. The line is the front: no "
        "cheaper model scores higher.",
    ),
)


def charts(table: Table, data: SiteData) -> dict[str, dict[str, Any]]:
    """The specifications that a table has the numbers for, by kind; without colours, which `dressed` adds."""
    rows = [row for row in table.rows if table.number_of(row) is not None]
    made: dict[str, dict[str, Any]] = {}
    if rows:
        made["ratings"] = _ratings(table, rows)
    human = data.facts_of(table.benchmark).human
    references = [] if human is None else [{"score": 100 * human.value, "label": HUMAN}]
    for kind, values in (
        ("date", by_date(table, rows)),
        ("size", by_size(table, rows)),
        ("cost", by_cost(table, rows)),
    ):
        if len(values) > 1:
            made[kind] = _scatter(kind, table, values, references)
    return made


_SIDES = {"nice": False, "padding": PADDING}
_X = {
    "date": {
        "type": "temporal",
        "title": "Released",
        "axis": {"format": "%b %Y", "labelOverlap": True},
        "scale": _SIDES,
    },
    "size": {"type": "quantitative", "title": "Parameters, billions", "scale": {"type": "log", **_SIDES}},
    "cost": {"type": "quantitative", "title": "Cost, US dollars", "scale": {"type": "log", **_SIDES}},
}
_WEIGHTS = ("open weights", "closed weights", "weights unknown")


def _scatter(kind: str, table: Table, values: list[dict[str, Any]], references: list[dict[str, Any]]) -> dict[str, Any]:
    x: dict[str, Any] = {"field": "x", **_X[kind]}
    top = _top([value["score"] for value in (*values, *references)])
    values = named(kind, values, top, {one["label"]: one["score"] for one in references})
    scale = {"domain": [0, top], "nice": False}
    y = {"field": "score", "type": "quantitative", "title": f"{table.metric or 'Score'}, %", "scale": scale}
    names = [name for name in _WEIGHTS if any(value["weights"] == name for value in values)]
    colour = {"field": "weights", "type": "nominal", **_legend(names), "scale": {"domain": names, "range": names}}
    shape = {**colour, "scale": {"domain": names, "range": _shapes(names)}}
    tooltip = [
        {"field": "model", "title": "Model"},
        {**{key: x[key] for key in ("field", "type", "title")}, **({"format": "%Y-%m-%d"} if kind == "date" else {})},
        {"field": "score", "type": "quantitative", "title": "Score, %"},
        {"field": "weights", "title": "Weights"},
        {"field": "results", "title": "Results"},
    ]
    front = [{"filter": "datum.front"}]
    layers: list[dict[str, Any]] = [
        {
            "transform": front,
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "color": "muted"},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 52, "opacity": 0.85},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
        },
    ]
    layers += [
        _names(spot, x, y) for spot in SPOTS if any(spot.name in value.get("names", {}).values() for value in values)
    ]
    if references:
        line = {"y": {"field": "score", "type": "quantitative"}}
        layers += [
            {
                "data": {"values": references},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "muted"},
                "encoding": line,
            },
            {
                "data": {"values": references},
                "mark": {"type": "text", "align": "left", "dx": 4, "dy": 9, "color": "muted", "fontSize": 11},
                "encoding": {**line, "x": {"value": 0}, "text": {"field": "label"}},
            },
        ]
    return _framed({"data": {"values": values}, "width": WIDTHS[0], "height": HEIGHT, "layer": layers})


def _legend(names: Sequence[str]) -> dict[str, Any]:
    """No title, and no legend at all where there is nothing to tell apart."""
    return {"title": None} if len(names) > 1 else {"title": None, "legend": None}


def _top(scores: Sequence[float]) -> float:
    """Upper end of the axis: the next ten with air above the highest, and never more than 100."""
    return min(100.0, max(10.0, 10.0 * math.ceil(1.08 * max(scores) / 10)))


def _names(spot: Spot, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    """Names of the front that stand in one spot beside their points."""
    mark = {"type": "text", "align": spot.align, "dx": spot.dx, "dy": spot.dy, "fontSize": 11, "color": "text"}
    return {
        "name": f"names_{spot.name.replace('-', '_')}",
        "transform": [{"filter": f"datum.name === '{spot.name}'"}],
        "mark": {**mark, "limit": LIMIT},
        "encoding": {"x": x, "y": y, "text": {"field": "model"}},
    }


def _shapes(names: Sequence[str]) -> list[str]:
    shapes = {"open weights": "circle", "closed weights": "triangle-up", "weights unknown": "square"}
    return [shapes[name] for name in names]


def _ratings(table: Table, rows: Sequence[LeaderboardRow]) -> dict[str, Any]:
    rated = [row for row in rows if row.rated is not None]
    values: list[dict[str, Any]] = []
    for row in rated or rows:
        point = point_of(table, row, None)
        if row.rated is not None:
            ends = {"low": round(row.rated.low, 1), "high": round(row.rated.high, 1)}
            point |= {"x": round(row.rated.rating, 1), **ends, "rank": row.rated.rank}
        else:
            point["x"] = point["score"]
        values.append(point)
    values.sort(key=lambda point: -point["x"])
    title = "Rating" if rated else f"{table.metric or 'Score'}, %"
    y = {"field": "model", "type": "nominal", "sort": None, "title": None, "axis": {"ticks": False}}
    x: dict[str, Any] = {
        "field": "x",
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False},
        "axis": {"orient": "top"},
    }
    names = [name for name in _WEIGHTS if any(value["weights"] == name for value in values)]
    colour = {"field": "weights", "type": "nominal", **_legend(names), "scale": {"domain": names, "range": names}}
    tooltip = [
        {"field": "model", "title": "Model"},
        {"field": "x", "type": "quantitative", "title": title},
        {"field": "low", "type": "quantitative", "title": "low"},
        {"field": "high", "type": "quantitative", "title": "high"},
        {"field": "results", "title": "Results"},
    ]
    points: dict[str, Any] = {
        "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
        "encoding": {"y": y, "x": x, "color": colour, "tooltip": tooltip},
    }
    intervals: dict[str, Any] = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour, "tooltip": tooltip},
    }
    layers = [intervals, points] if any("low" in value for value in values) else [points]
    return _framed({"data": {"values": values}, "width": 760, "height": {"step": 17}, "layer": layers})


def _framed(spec: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "background": None, **spec}


def shortened(spec: dict[str, Any], first: int = FIRST) -> dict[str, Any]:
    """The specification with its first rows alone."""
    return {**spec, "data": {"values": spec["data"]["values"][:first]}}


def dressed(spec: Any, look: Look) -> dict[str, Any]:
    """The specification in a look's colours; the page does the same in its script."""
    colours = look.colours

    def dress(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: each if name == "data" else dress(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [colours.get(each, each) if key == "range" else dress(each) for each in value]
        return colours.get(value, value) if key == "color" and isinstance(value, str) else value

    dressed_spec: dict[str, Any] = dress(spec)
    return {**dressed_spec, "config": config(look)}


def config(look: Look) -> dict[str, Any]:
    """How all charts look."""
    font = "system-ui, sans-serif"
    return {
        "font": font,
        "view": {"stroke": None},
        "axis": {
            "labelColor": look.muted,
            "titleColor": look.muted,
            "gridColor": look.rule,
            "domainColor": look.rule,
            "tickColor": look.rule,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
        },
        "axisY": {"labelColor": look.text, "labelLimit": 260},
        "legend": {"labelColor": look.text, "labelFontSize": 12, "orient": "top"},
    }


def still_picture(spec: dict[str, Any], look: Look) -> str:
    """A chart as SVG."""
    import vl_convert

    # Vega runs in its own engine without rights to the network; specifications here hold their data.
    return vl_convert.vegalite_to_svg(_drawable(json.loads(json.dumps(dressed(spec, look)))))


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _drawable(value: Any) -> Any:
    """Plain data in which characters that no XML may hold are spelled out: any name may have some.

    vl-convert ends the whole process for them, as the SVG that it reads is none.
    """
    if isinstance(value, str):
        return _NOT_IN_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
    if isinstance(value, list):
        return [_drawable(one) for one in value]
    if isinstance(value, dict):
        return {name: _drawable(one) for name, one in value.items()}
    return value


@functools.cache
def drawing_program() -> bytes:
    """The script that draws specifications in a browser; sets ``window.vegaEmbed``."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    # Its many short top-level names would become globals of the page.
    return f'(function(){{"use strict";{bundle}\n}})();\n'.encode()
