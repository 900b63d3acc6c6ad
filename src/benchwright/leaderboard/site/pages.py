"""The pages themselves: templates filled with a site's data, every text escaped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.core.addresses import is_web_address
from benchwright.core.results import Origin
from benchwright.leaderboard.site.boards import address_of
from benchwright.leaderboard.site.model import SiteData
from benchwright.leaderboard.tables import LeaderboardRow, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the site and the scripts it needs besides the common ones."""

    name: str
    title: str
    scripts: tuple[str, ...] = ()
    in_navigation: bool = True
    drawn: bool = False
    """Whether Vega draws on it, which sets styles of its own."""

    @property
    def file(self) -> str:
        """Its file's name."""
        return f"{self.name}.html"


PAGES = (
    Page(name="index", title="Leaderboard", scripts=("columns", "board")),
    Page(name="charts", title="Charts", scripts=("vega", "charts"), drawn=True),
    Page(name="heatmap", title="Heat map", scripts=("heatmap",)),
    Page(name="compare", title="Compare", scripts=("stats", "compare")),
    Page(name="model", title="Model", scripts=("stats", "model"), in_navigation=False),
    Page(name="task", title="Tasks", scripts=("task",)),
    Page(name="methods", title="Methods"),
    Page(name="downloads", title="Downloads"),
)


class Pages:
    """The templates, ready to be filled."""

    def __init__(self, data: SiteData, ids: tuple[str, ...], names: tuple[str, ...]) -> None:
        import jinja2

        loader = jinja2.PackageLoader("benchwright.leaderboard.site")
        self._templates = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters |= {
            "share": _share,
            "denominator": _denominator,
            "address": address_of,
        }
        self._templates.tests |= {"imported": _imported, "own": _own, "web": is_web_address}
        known = {name: data.facts_of(name) for name in dict.fromkeys(table.benchmark for table in data.tables)}
        self._always = {"data": data, "known": known, "tables": data.tables, "ids": ids, "names": names}

    def render(self, page: Page, first: tuple[str, ...], values: Mapping[str, Any]) -> bytes:
        """The page; ``first`` are names of the data it begins with, read along with its scripts."""
        scripted = bool(page.scripts)
        scripts = ["assets/common.js", *(f"data/{name}.js" for name in first)] if scripted else []
        text = self._templates.get_template(f"{page.name}.html.j2").render(
            **self._always,
            file=page.file,
            heading=page.title,
            drawn=page.drawn,
            navigation=[one for one in PAGES if one.in_navigation],
            scripts=[*scripts, *(f"assets/{name}.js" for name in page.scripts)],
            **values,
        )
        return text.encode("utf-8", errors="backslashreplace")


def _share(row: LeaderboardRow, table: Table) -> str:
    number, found = table.number_of(row), row.estimate
    interval = "" if found is None else f" ({100 * found.low:.1f}–{100 * found.high:.1f})"
    return "–" if number is None else f"{100 * number:.1f}{interval}"


def _denominator(table: Table) -> str:
    """How many problems are behind the numbers, as far as that is known."""
    asked = {row.estimate.n for row in table.rows if row.estimate is not None} or {
        one.n for row in table.rows for one in row.reported if one.n is not None
    }
    if not asked:
        return f"{len(table.problems):,}" if table.problems else "not stated"
    return f"{min(asked):,}" if len(asked) == 1 else f"{min(asked):,}–{max(asked):,}"


def _imported(table: Table) -> bool:
    return bool(table.rows) and all(row.origin is Origin.IMPORTED for row in table.rows)


def _own(table: Table) -> bool:
    return all(row.origin is Origin.OWN for row in table.rows)
