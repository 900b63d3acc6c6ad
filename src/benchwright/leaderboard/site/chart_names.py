"""Where the names of a chart's front stand: beside their points, over no point, line or other name.

Only the front is named; what has no room is named by its tooltip and by the table of numbers.  A place that is free in
a narrow drawing is free in every wider one, since there all that is beside it is further away.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

HEIGHT = 380
WIDTHS = (860, 560, 220)
"""Widths of drawings, in pixels, for which places are found; the first is the widest there is."""
PADDING = 24
"""Pixels between the outermost points and the sides."""
LIMIT = 190
"""Pixels after which a name is cut."""
_RADIUS = 5.0
"""Of a point's mark, with a little air."""
_LINE = 13.0
"""Height of a name in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place beside a point."""

    name: str
    align: str
    dx: int
    dy: int


SPOTS = (
    Spot(name="up-left", align="right", dx=-6, dy=-9),
    Spot(name="up-right", align="left", dx=6, dy=-9),
    Spot(name="up", align="center", dx=0, dy=-14),
    Spot(name="left", align="right", dx=-9, dy=0),
    Spot(name="down-right", align="left", dx=6, dy=10),
)
"""In the order in which they are tried."""


class Box(NamedTuple):
    """A part of the drawing, in pixels from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two have a point in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class Dot(NamedTuple):
    """A point of the chart."""

    share: float
    """How far to the right, from 0 for the outermost left to 1."""
    score: float
    name: str
    front: bool

    def at(self, width: int, top: float) -> tuple[float, float]:
        """Its pixel."""
        return PADDING + self.share * (width - 2 * PADDING), HEIGHT * (1 - self.score / top)


def placed(dots: Sequence[Dot], top: float, references: Mapping[str, float], width: int) -> dict[int, Spot]:
    """Where names stand in a drawing of this width, by the dots' places; the best are served first.

    Args:
        dots: All points.
        top: Score at the upper end of the axis, which begins at 0.
        references: Lines across the drawing, by the name at their left end, with their scores.
        width: Of the drawing, in pixels.
    """
    taken = [*_marks(dots, top, width), *_front(dots, top, width)]
    for name, score in references.items():
        height = HEIGHT * (1 - score / top)
        taken += [Box(0, height - 1, width, height + 1), Box(4, height, 4 + width_of(name), height + 16)]
    found: dict[int, Spot] = {}
    for place in sorted((i for i, dot in enumerate(dots) if dot.front), key=lambda i: -dots[i].score):
        for spot in SPOTS:
            box = box_of(dots[place], spot, top, width)
            inside = box.left >= 0 and box.right <= width and box.top >= -_LINE and box.bottom <= HEIGHT
            if inside and not any(box.meets(other) for other in taken):
                found[place] = spot
                taken.append(box)
                break
    return found


def box_of(dot: Dot, spot: Spot, top: float, width: int) -> Box:
    """The part of the drawing that the name takes."""
    x, y = dot.at(width, top)
    wide = width_of(dot.name)
    start = x + spot.dx - {"left": 0.0, "center": wide / 2, "right": wide}[spot.align]
    return Box(start, y + spot.dy - _LINE / 2, start + wide, y + spot.dy + _LINE / 2)


def width_of(text: str) -> float:
    """Pixels that a text takes, or a little more; it is cut at `LIMIT`."""
    return min(float(LIMIT), sum(12.0 if one > "\u2e7f" else 9.5 if one in "MWmw@%" else 7.0 for one in text))


def mark_of(dot: Dot, top: float, width: int) -> Box:
    """The part of the drawing that the point's mark takes."""
    x, y = dot.at(width, top)
    return Box(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS)


def _marks(dots: Sequence[Dot], top: float, width: int) -> list[Box]:
    return [mark_of(dot, top, width) for dot in dots]


def _front(dots: Sequence[Dot], top: float, width: int) -> Iterator[Box]:
    """The line of the front: along from each of its points, then up to the next."""
    corners = sorted(dot.at(width, top) for dot in dots if dot.front)
    for (left, low), (right, high) in pairwise(corners):
        yield Box(left, low - 1, right, low + 1)
        yield Box(right - 1, high, right + 1, low)


def names_by_width(dots: Sequence[Dot], top: float, references: Mapping[str, float]) -> list[dict[str, Any]]:
    """For every dot the name of its spot at each width; empty where it has none."""
    names: list[dict[str, Any]] = [{} for _ in dots]
    for width in WIDTHS:
        for place, spot in placed(dots, top, references, width).items():
            names[place][str(width)] = spot.name
    return names
