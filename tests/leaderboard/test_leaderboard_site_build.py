"""The folder of a site: complete or not there, the same bytes for the same input, never instead of something else."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from leaderboard_pieces import scored
from site_pieces import hostile, plain, site, table

from benchwright.core.errors import UsageError
from benchwright.leaderboard.site import charts
from benchwright.leaderboard.site.boards import table_id
from benchwright.leaderboard.site.build import build_site
from benchwright.leaderboard.site.folder import MARKER, fresh_folder, site_in
from benchwright.leaderboard.site.model import AnswerChoice, Bundle, SiteAnswer, SiteData, SiteOptions
from benchwright.leaderboard.site.outcomes import Runs
from benchwright.leaderboard.site.tasks import TaskPages, problems_of

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(autouse=True)
def still_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawing program and its pictures take two seconds a site; other tests look at them."""
    monkeypatch.setattr(charts, "drawing_program", lambda: b"//")
    monkeypatch.setattr(charts, "still_picture", lambda spec, look: f"<svg>{look.text}</svg>")


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two builds differ in nothing."""
    for name in ("one", "two"):
        build_site(site(), tmp_path / name, SiteOptions(hugging_face=True))
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def bundle_of(path: Path, model: str, signed: str = "not signed") -> Bundle:
    """A bundle of some bytes that are as good as any here."""
    path.write_bytes(path.name.encode())
    return Bundle(path=path, model=model, benchmark="starter, full, complete", signed=signed)


def test_file_names_are_harmless_whatever_others_named(tmp_path: Path) -> None:
    """File names are the site's own words, digests and numbers; of a bundle's model they keep a to z and digits."""
    models = (hostile("x"), "../../etc/passwd", "con.", "模型", "-rf", "Maker/Big Model 4.5", "a" * 300)
    bundles = tuple(bundle_of(tmp_path / f"<b>..%2f {n}.zip", model) for n, model in enumerate(models))
    data = replace(site(hostile), bundles=(*bundles, bundles[0]))
    build_site(data, tmp_path / "site", SiteOptions())
    names = [path.name for path in (tmp_path / "site").rglob("*")]
    assert all(all(one.isascii() and (one.isalnum() or one in "-._") for one in name) for name in names)
    offered = [name.removesuffix(".bw.zip").rpartition("-")[0] for name in names if name.endswith(".bw.zip")]
    assert {"etc-passwd", "con", "bundle", "rf", "maker-big-model-4-5", "a" * 60} < set(offered)
    assert len(offered) == len(models)  # the one that is given twice is offered once


def test_a_bundle_says_whose_it_is_and_who_signed_it(tmp_path: Path) -> None:
    """Its line on the page of downloads has model, benchmark and signature; names are text, not markup."""
    bundles = (
        bundle_of(tmp_path / "1.zip", "<b>alder</b>"),
        bundle_of(tmp_path / "2.zip", "birch", "signed by the key SHA256:abc, not checked against anybody"),
    )
    build_site(SiteData(title="t", tables=(), version="1", bundles=bundles), tmp_path / "site", SiteOptions())
    page = (tmp_path / "site" / "downloads.html").read_text(encoding="utf-8")
    lines = [" ".join(line.split()) for line in page.split("<li>") if ".bw.zip" in line]
    assert lines[0].startswith("&lt;b&gt;alder&lt;/b&gt;, starter, full, complete: <a href=")
    assert "1 kB, not signed" in lines[0]
    assert "birch, starter, full, complete" in lines[1]
    assert "signed by the key SHA256:abc, not checked against anybody" in lines[1]


def test_what_is_no_site_is_left_alone(tmp_path: Path) -> None:
    """A folder with other files, a file, a link: each is refused with a sentence, and stays as it was."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("years")
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "work")
    before = digests(tmp_path)
    for name in ("work", "file", "link"):
        with pytest.raises(UsageError, match="give --out"):
            build_site(site(), tmp_path / name, SiteOptions())
    assert digests(tmp_path) == before


def test_a_new_build_replaces_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    """The old site's files go; what others put beside them, such as .git and CNAME, stays."""
    place = tmp_path / "site"
    place.mkdir()  # an empty folder may be used
    for content in ("old", "new"):
        with fresh_folder(place) as made:
            (made / f"{content}.html").write_text(content)
        if content == "old":
            (place / ".git").mkdir()
            (place / ".git" / "HEAD").write_text("ref")
            (place / "CNAME").write_text("example.org")
    assert {path.name for path in place.iterdir()} == {MARKER, ".git", "CNAME", "new.html"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert site_in(place) == place


def test_a_file_that_somebody_put_into_a_site_is_never_replaced(tmp_path: Path) -> None:
    """A build that would write one of that name, such as the card of a Space, says so and changes nothing."""
    place = tmp_path / "site"
    with fresh_folder(place) as made:
        (made / "index.html").write_text("old")
    (place / "README.md").write_text("mine")
    before = digests(place)
    with pytest.raises(UsageError, match=r"README\.md that no build wrote"), fresh_folder(place) as made:
        (made / "README.md").write_text("card")
    assert digests(place) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_build_that_fails_leaves_the_old_site(tmp_path: Path) -> None:
    """The site is swapped in when it is complete, so an error on the way changes nothing."""
    place = tmp_path / "site"
    with fresh_folder(place) as made:
        (made / "index.html").write_text("old")
    before = digests(place)
    with pytest.raises(ZeroDivisionError), fresh_folder(place) as made:
        (made / "index.html").write_text("half")
        raise ZeroDivisionError
    assert digests(place) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_without_a_site_cannot_be_served(tmp_path: Path) -> None:
    """The message says how to make one."""
    with pytest.raises(UsageError, match="bw site build"):
        site_in(tmp_path)


def test_tables_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    """Two tables of one name would share their files."""
    data = site()
    with pytest.raises(UsageError, match="name them apart"):
        build_site(replace(data, tables=(data.tables[0], data.tables[0])), tmp_path / "site", SiteOptions())


def test_downloads_hold_the_table_and_its_outcomes(tmp_path: Path) -> None:
    """CSV, JSON and Parquet say the same; the outcomes have a line for every problem, and for every pair in Parquet."""
    data = site()
    build_site(data, tmp_path / "site", SiteOptions())
    folder, board = tmp_path / "site" / "downloads", data.tables[0]
    name = table_id(board)
    with (folder / f"{name}.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    whole = json.loads((folder / f"{name}.json").read_text())
    columns = pq.read_table(folder / f"{name}.parquet").to_pydict()
    labels = [row.label for row in board.rows]
    assert [line["label"] for line in lines] == [row["label"] for row in whole["rows"]] == columns["label"] == labels
    assert columns["pass@1"] == [row.estimate.value for row in board.rows if row.estimate]
    outcomes = pq.read_table(folder / f"{name}-outcomes.parquet").to_pydict()
    tallies = {(run.run.entry, problem): tally for run in data.runs for problem, tally in run.tallies.items()}
    seen = zip(outcomes["entry"], outcomes["problem"], outcomes["scored"], outcomes["passed"], strict=True)
    entries = {row.entry for row in board.rows}
    assert {(entry, problem): (scored_, passed) for entry, problem, scored_, passed in seen} == {
        key: (tally.scored, tally.passed) for key, tally in tallies.items() if key[0] in entries
    }


def test_no_spreadsheet_calculates_a_name(tmp_path: Path) -> None:
    """A model called like a formula is text in the CSV files, and itself in the JSON file; numbers stay numbers."""
    names = [f"{first}HYPERLINK(1)" for first in ("=", "+", "-", "@", "\t=", "\r=", "\n=", "＝")]
    runs = [scored(name, [1, 0]) for name in (*names, "x;=HYPERLINK(1)")]
    board = table("t", runs, text=plain, metric="x")
    data = SiteData(title="t", tables=(board,), runs=tuple(runs), version="1")
    build_site(data, tmp_path / "site", SiteOptions())
    folder = tmp_path / "site" / "downloads"
    for file_name in (f"{table_id(board)}.csv", f"{table_id(board)}-outcomes.csv"):
        text = (folder / file_name).read_bytes().decode()
        found = {cell for line in csv.reader(text.splitlines(keepends=True)) for cell in line if "HYPERLINK" in cell}
        assert found == {f"'{name}" for name in names} | {"x;=HYPERLINK(1)"}
        assert '"x;=HYPERLINK(1)"' in text  # where semicolons part cells, the quotes keep it one cell
    with (folder / f"{table_id(board)}-outcomes.csv").open(newline="") as file:
        _, *lines = csv.reader(file, quoting=csv.QUOTE_NONNUMERIC)
    assert [[float(cell) for cell in line[1:]] for line in lines] == [[1.0] * len(runs), [0.0] * len(runs)]
    rows = json.loads((folder / f"{table_id(board)}.json").read_text())["rows"]
    assert {row["model"] for row in rows} >= set(names)


def test_an_empty_site_can_be_built(tmp_path: Path) -> None:
    """No table at all gives pages that say so."""
    report = build_site(SiteData(title="t", tables=(), version="1"), tmp_path / "site", SiteOptions())
    assert (report.tables, report.models, report.tasks) == (0, 0, 0)
    assert "no results yet" in (tmp_path / "site" / "index.html").read_text()


def test_the_card_of_a_space_holds_one_title(tmp_path: Path) -> None:
    """The front matter has the keys that a static Space needs, and no title can add another."""
    data = replace(site(), title='x"\nsdk: docker\n---\n# <script>')
    build_site(data, tmp_path / "site", SiteOptions(hugging_face=True))
    lines = (tmp_path / "site" / "README.md").read_text().split("\n")
    assert lines[0] == "---"
    assert json.loads(lines[1].removeprefix("title: ")) == data.title
    assert lines[2:4] == ["sdk: static", "app_file: index.html"]
    assert sum(line.startswith("sdk:") for line in lines) == 1


def _pages(options: SiteOptions, text: str = "x" * 1000) -> dict[str, list[dict[str, object]]]:
    """Samples in the pages of two problems: on the first the runs differ, on the second they do not."""
    runs = [scored("a", [1, 0]), scored("b", [0, 0])]
    board = table("t", runs, text=plain, metric="x")
    outcomes = Runs(runs).outcomes(board)
    assert outcomes is not None
    found = {table_id(board): outcomes}
    pages = TaskPages(
        tables=(board,),
        outcomes=found,
        answers=lambda entry, score, problem: (SiteAnswer(text=text, outcome="failed"),),
        options=options,
    )
    (problems,) = problems_of((board,), found, {})
    return {
        content["id"]: [sample for given in content["answers"] for sample in given["samples"]]
        for _, content in pages.pages(problems)
    }


def test_answers_are_shown_where_models_differ() -> None:
    """By default only there; none and all are the other choices."""
    counts = {choice: [len(each) for each in _pages(SiteOptions(answers=choice)).values()] for choice in AnswerChoice}
    assert counts == {AnswerChoice.NONE: [0, 0], AnswerChoice.DIFFERING: [2, 0], AnswerChoice.ALL: [2, 2]}


def test_long_answers_are_cut_and_say_so() -> None:
    """What is not shown is counted; when all have no more room, the answer is left out with a sentence."""
    first = _pages(SiteOptions(answer_bytes=400))["p0"][0]
    assert (first["text"], first["note"]) == ("x" * 400, "Cut here; 600 more characters are not shown.")
    samples = [
        one for each in _pages(SiteOptions(answers=AnswerChoice.ALL, all_answer_bytes=2500)).values() for one in each
    ]
    assert [len(str(one.get("text", ""))) for one in samples] == [1000, 1000, 0, 0]
    assert "left out" in str(samples[-1]["note"])


def test_limits_of_answers_are_in_bytes() -> None:
    """A letter that takes two bytes, or a lone surrogate that is written as six, counts as what it takes, whole."""
    first = _pages(SiteOptions(answer_bytes=401), text="é" * 300)["p0"][0]
    assert (first["text"], first["note"]) == ("é" * 200, "Cut here; 100 more characters are not shown.")
    assert _pages(SiteOptions(answer_bytes=13), text="\ud800" * 5)["p0"][0]["text"] == "\ud800" * 2
    every = _pages(SiteOptions(answers=AnswerChoice.ALL, all_answer_bytes=1200), text="é" * 300)
    assert [bool(one.get("text")) for each in every.values() for one in each] == [True, True, False, False]
