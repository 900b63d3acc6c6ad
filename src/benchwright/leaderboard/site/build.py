"""A site from its data: the same data gives the same bytes, wherever and whenever it is built."""

import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.errors import UsageError
from benchwright.leaderboard.site import charts
from benchwright.leaderboard.site.boards import board, head, table_id
from benchwright.leaderboard.site.downloads import Download, Downloads
from benchwright.leaderboard.site.folder import fresh_folder
from benchwright.leaderboard.site.hugging_face import space_card
from benchwright.leaderboard.site.methods import sources_of, versions_of
from benchwright.leaderboard.site.model import SiteData, SiteOptions
from benchwright.leaderboard.site.naming import names_of, told_sources
from benchwright.leaderboard.site.outcomes import Outcomes, Runs
from benchwright.leaderboard.site.pages import PAGES, Pages
from benchwright.leaderboard.site.payload import script
from benchwright.leaderboard.site.tasks import TaskPages, problems_of
from benchwright.leaderboard.tables import Table

_LOOKS = {"light": charts.LIGHT, "dark": charts.DARK}


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What was written."""

    folder: Path
    tables: int
    models: int
    """Rows of all tables."""
    tasks: int
    """Pages of problems."""
    answers_left_out: int
    """Answers that had no room; see `SiteOptions.all_answer_bytes`."""
    files: int
    bytes: int
    notes: tuple[str, ...] = ()
    """What is not on the pages though it was meant to be, and slips in what was given; one sentence each."""

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw site build --json``."""
        return {
            "site": str(self.folder),
            "tables": self.tables,
            "models": self.models,
            "tasks": self.tasks,
            "answers_left_out": self.answers_left_out,
            "files": self.files,
            "bytes": self.bytes,
            "notes": list(self.notes),
        }


def require_libraries() -> None:
    """Raises `UsageError` with what to install when the libraries that make pages are not there."""
    missing = []
    for module, name in (("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")):
        try:
            importlib.import_module(module)
        except ImportError:
            missing.append(name)
    if missing:
        raise UsageError(
            f"Building a site needs {' and '.join(missing)}; install with: pip install 'benchwright[site]' "
            "(in a checkout: pip install -e '.[site]')."
        )


def build_site(data: SiteData, place: Path, options: SiteOptions) -> SiteReport:
    """Write the site into a folder, which is swapped in when it is complete.

    Raises `UsageError` when a library is missing or the place holds something that is no site.
    """
    require_libraries()
    _refuse_equal_tables(data.tables)
    with fresh_folder(place) as folder:
        return _Writer(data, folder, options).write(place)


def _refuse_equal_tables(tables: tuple[Table, ...]) -> None:
    ids = [table_id(table) for table in tables]
    for number, one in enumerate(ids):
        if one in ids[:number]:
            raise UsageError(
                f"Two tables are called {tables[number].title!r} and say the same of themselves; name them apart."
            )


class _Writer:
    """Writes one site into one fresh folder."""

    def __init__(self, data: SiteData, folder: Path, options: SiteOptions) -> None:
        self._data = data
        self._folder = folder
        self._options = options
        self._ids = tuple(table_id(table) for table in data.tables)
        self._names = names_of(data.tables)
        self._told = told_sources(data.tables)
        runs = Runs(data.runs)
        found = {one: runs.outcomes(table) for one, table in zip(self._ids, data.tables, strict=True)}
        self._outcomes: dict[str, Outcomes] = {one: each for one, each in found.items() if each is not None}
        self._problems = problems_of(data.tables, self._outcomes, data.problems)
        self._first = self._ids[:1]

    def write(self, place: Path) -> SiteReport:
        for name in ("assets", "data"):
            (self._folder / name).mkdir()
        self._assets()
        specs = {one: charts.charts(table, self._data) for one, table in zip(self._ids, self._data.tables, strict=True)}
        self._tables(specs)
        left_out = self._tasks()
        pictures = self._pictures(specs)
        self._pages(pictures, self._downloads())
        (self._folder / ".nojekyll").write_bytes(b"")  # GitHub Pages serves files as they are
        if self._options.hugging_face:
            (self._folder / "README.md").write_text(space_card(self._data), encoding="utf-8")
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        return SiteReport(
            folder=place,
            tables=len(self._data.tables),
            models=sum(len(table.rows) for table in self._data.tables),
            tasks=sum(len(each.ids) for each in self._problems),
            answers_left_out=left_out,
            files=len(files),
            bytes=sum(path.stat().st_size for path in files),
        )

    def _assets(self) -> None:
        for source in importlib.resources.files("benchwright.leaderboard.site").joinpath("assets").iterdir():
            (self._folder / "assets" / source.name).write_bytes(source.read_bytes())
        (self._folder / "assets" / "vega.js").write_bytes(charts.drawing_program())

    def _script(self, name: str, value: Any) -> None:
        (self._folder / "data" / f"{name}.js").write_bytes(script(name, value))

    def _tables(self, specs: Mapping[str, dict[str, dict[str, Any]]]) -> None:
        by_benchmark = {each.benchmark: each for each in self._problems}
        heads = []
        for one, name, table in zip(self._ids, self._names, self._data.tables, strict=True):
            outcomes = self._outcomes.get(one)
            problems = len(outcomes.problems) if outcomes else len(table.problems)
            plain = board(table, self._data, self._told, outcomes=outcomes is not None, problems=problems)
            self._script(f"table-{one}", {**plain, "title": name})
            if outcomes:
                self._script(f"matrix-{one}", outcomes.to_plain())
            looks = {name: _look(look) for name, look in _LOOKS.items()}
            self._script(f"charts-{one}", {"specs": specs[one], "looks": looks})
            digest = by_benchmark[table.benchmark].digest
            compared = len(outcomes.rows) if outcomes else 0
            heads.append(
                {**head(table), "title": name, "outcomes": compared, "charts": list(specs[one]), "problems_in": digest}
            )
        benchmarks = [{"name": each.benchmark, "digest": each.digest} for each in self._problems if each.ids]
        self._script("index", {"title": self._data.title, "tables": heads, "benchmarks": benchmarks})

    def _tasks(self) -> int:
        pages = TaskPages(
            tables=self._data.tables, outcomes=self._outcomes, answers=self._data.answers, options=self._options
        )
        for problems in self._problems:
            self._script(f"problems-{problems.digest}", problems.to_plain())
            for name, content in pages.pages(problems):
                self._script(name, content)
        return pages.left_out

    def _pictures(self, specs: Mapping[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, str]]:
        """Still pictures of the first table that has charts: the others need the program anyway."""
        shown = next((each for each in specs.values() if each), {})
        pictures: dict[str, dict[str, str]] = {}
        for kind, spec in shown.items():
            pictures[kind] = {}
            for name, look in _LOOKS.items():
                file = f"assets/{kind}-{name}.svg"
                picture = charts.still_picture(charts.shortened(spec) if kind == "ratings" else spec, look)
                (self._folder / file).write_text(picture, encoding="utf-8")
                pictures[kind][name] = file
        return pictures

    def _downloads(self) -> dict[str, Any]:
        downloads = Downloads(self._folder)
        groups = []
        for one, name, table in zip(self._ids, self._names, self._data.tables, strict=True):
            outcomes = self._outcomes.get(one)
            matrix: tuple[Download, ...] = () if outcomes is None else downloads.outcomes(one, table, outcomes)
            files = downloads.table(one, table)
            groups.append({"title": name, "reason": table.reason, "table": files, "outcomes": matrix})
        return {"groups": groups, "bundles": downloads.bundles(self._data.bundles)}

    def _pages(self, pictures: Mapping[str, dict[str, str]], downloads: dict[str, Any]) -> None:
        pages = Pages(self._data, self._ids, self._names)
        kinds = [
            {
                "id": kind.id,
                "title": kind.title,
                "text": kind.text,
                "still": pictures.get(kind.id),
                "alt": f"{kind.title}, of the first table; the numbers are among the downloads.",
            }
            for kind in charts.KINDS
        ]
        values: dict[str, dict[str, Any]] = {
            "charts": {"charts": kinds},
            "methods": {"sources": sources_of(self._data), "versions": versions_of(self._data)},
            "downloads": downloads,
        }
        for page in PAGES:
            first = ["index"]
            if page.name == "index":
                first += [f"table-{one}" for one in self._first]
            content = pages.render(page, tuple(first), values.get(page.name, {}))
            (self._folder / page.file).write_bytes(content)


def _look(look: charts.Look) -> dict[str, Any]:
    return {"colours": look.colours, "config": charts.config(look)}
