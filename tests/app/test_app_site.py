"""The site from a store: what becomes a table, where answers come from, what is refused."""

import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_pieces import add_import, add_run, outcomes, rows_of

from benchwright.app.importing_base import ImportOptions
from benchwright.app.importing_bigcodebench import import_leaderboard
from benchwright.app.site import AnswerChoice, SiteOptions, SiteRequest, build
from benchwright.app.site_answers import StoredAnswers
from benchwright.app.site_serving import SiteServer
from benchwright.app.workspace import Workspace
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.results import Origin, ProblemFacts, StoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.site import charts
from benchwright.store.results import ResultStore

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


@pytest.fixture(autouse=True)
def still_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts are looked at elsewhere; their program takes a second."""
    monkeypatch.setattr(charts, "drawing_program", lambda: b"//")
    monkeypatch.setattr(charts, "still_picture", lambda spec, look: "<svg/>")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A home without records."""
    return Workspace(home=tmp_path / "home")


@pytest.fixture
def request_(tmp_path: Path) -> SiteRequest:
    """A site beside the home, with few rounds."""
    return SiteRequest(out=tmp_path / "site", rounds=5)


def data_of(site: Path, name: str) -> Any:
    """What a script of the site holds."""
    text = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("]=") + 2 : text.rindex(";")])


def titles(site: Path) -> list[str]:
    """Tables in their order."""
    return [table["title"] for table in data_of(site, "index")["tables"]]


def test_every_table_of_the_store_is_on_the_site(workspace: Workspace, request_: SiteRequest) -> None:
    """Own results come first, imports and other variants have tables of their own; the date is the newest run's."""
    add_run(workspace.results, "alder", "PPPF", finished="2026-11-02T10:00:00")
    add_run(workspace.results, "birch", "PFFF", finished="2026-11-03T10:00:00")
    add_run(workspace.results, "birch", "PFFF", variant="instruct", run_id="other", finished="2026-11-01T10:00:00")
    add_import(workspace.results, "theirs", "PPPP")
    report = build(request_, workspace)
    assert (report.tables, report.models, report.tasks) == (3, 4, 4)
    index = data_of(request_.out, "index")["tables"]
    assert [(table["models"], table["imported"], table["variant"]) for table in index] == [
        (2, False, "complete"),
        (1, False, "instruct"),
        (1, True, "complete"),
    ]
    assert index[0]["metric"] == "pass@1[calibrated]"
    assert "2026-11-03" in (request_.out / "index.html").read_text(encoding="utf-8")


def test_the_same_store_gives_the_same_site(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """Nothing on the pages comes from the clock or from chance."""
    add_run(workspace.results, "alder", "PPPF")
    add_run(workspace.results, "birch", "PFFF")
    build(request_, workspace)
    build(replace(request_, out=tmp_path / "again"), workspace)
    files = [path.relative_to(request_.out) for path in request_.out.rglob("*") if path.is_file()]
    assert all((request_.out / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files)


def test_statements_come_from_the_data_that_is_given(
    workspace: Workspace, request_: SiteRequest, tmp_path: Path
) -> None:
    """Without data a page says that it has none; facts that runs wrote down are there either way."""
    from benchwright.benchmarks.registry import BENCHMARKS

    known = BENCHMARKS.get("starter").load().problems[:2]
    facts = [ProblemFacts(id=problem.id, domains=("Time",)) for problem in known]
    passed = {problem.id: outcomes("P")["p0"] for problem in known}
    add_run(workspace.results, "alder", passed, facts=facts)
    build(request_, workspace)
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    task = data_of(request_.out, f"task-{digest}-0")
    assert (task["statement"], task["facts"]) == ("", {"domains": ["Time"]})
    with pytest.raises(UsageError, match="benchmark in this site"):
        build(replace(request_, data=(("bigcodebench", tmp_path / "rows.jsonl"),)), workspace)


def _store_with_files(root: Path, name: str, files: dict[str, bytes], text: str = "PF") -> StoredRun:
    run = StoredRun(
        entry="",
        run_id=name,
        origin=Origin.OWN,
        benchmark="starter",
        version="1",
        subset="full",
        variant="complete",
        model=name,
        scores=(Score.CALIBRATED,),
        problems=len(text),
    )
    with ResultStore(root) as store:
        return store.add(run, rows_of(outcomes(text)), files)


def _lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_answers_come_from_what_a_run_keeps(workspace: Workspace) -> None:
    """Samples, predictions or agents' attempts, with the verdict of each; a run that keeps none has none."""
    samples = _store_with_files(
        workspace.results,
        "samples",
        {"samples.jsonl": _lines({"task_id": "p0", "solution": "one"}, {"task_id": "p1", "raw_solution": "two"})},
    )
    patches = _store_with_files(
        workspace.results, "patches", {"predictions.jsonl": _lines({"instance_id": "p0", "model_patch": "diff"})}
    )
    attempt = {
        "problem_id": "p1",
        "sample": 0,
        "submission": {"patch": "left"},
        "log": "logs/a b.eval",
        "log_sample": "7",
    }
    agent = _store_with_files(workspace.results, "agent", {"attempts.jsonl": _lines(attempt)})
    nothing = _store_with_files(workspace.results, "nothing", {})
    address = "https://example.org/{model}/{log}#{log_sample}"
    with ResultStore(workspace.results) as store, StoredAnswers(store, workspace, address) as answers:
        for run in (samples, patches, agent, nothing):
            answers.add(run, Score.CALIBRATED)
            answers.add(run, Score.CALIBRATED)  # twice changes nothing
        found = [answers(samples.entry, Score.CALIBRATED, problem) for problem in ("p0", "p1", "p2")]
        assert [[(one.text, one.outcome) for one in each] for each in found] == [
            [("one", "passed")],
            [("two", "failed")],
            [],
        ]
        assert answers(patches.entry, Score.CALIBRATED, "p0")[0].text == "diff"
        (left,) = answers(agent.entry, Score.CALIBRATED, "p1")
        assert (left.text, left.transcript) == ("left", "https://example.org/agent/logs/a%20b.eval#7")
        assert answers(nothing.entry, Score.CALIBRATED, "p0") == ()
        assert answers(samples.entry, Score.EXTRACTED, "p0") == ()


def test_answers_that_cannot_be_read_are_named(workspace: Workspace, request_: SiteRequest) -> None:
    """The sentence says which file of which run, and how to build without answers."""
    _store_with_files(workspace.results, "alder", {"samples.jsonl": b"{not json\n"})
    with pytest.raises(UsageError, match=r"samples\.jsonl of alder .* --answers none"):
        build(request_, workspace)
    assert build(replace(request_, options=SiteOptions(answers=AnswerChoice.NONE)), workspace).models == 1


def test_what_cannot_be_built_is_said_in_a_sentence(
    workspace: Workspace, request_: SiteRequest, tmp_path: Path
) -> None:
    """An empty store, an unknown benchmark, a bundle that is not there, an address that is none, a foreign folder."""
    with pytest.raises(UsageError, match="There are no results in"):
        build(request_, workspace)
    add_run(workspace.results, "alder", "PF")
    with pytest.raises(UsageError, match="did you mean starter"):
        build(replace(request_, benchmarks=("startr",)), workspace)
    with pytest.raises(UsageError, match="There is no bundle"):
        build(replace(request_, bundles=(tmp_path / "no.tar",)), workspace)
    for address in ("javascript:x", "https://x/{nothing}", "https://x/{entry.__class__}", "https://x/{"):
        with pytest.raises(UsageError, match="The address of transcripts"):
            build(replace(request_, transcripts=address), workspace)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="left alone"):
        build(request_, workspace)


def test_missing_libraries_are_named(
    workspace: Workspace, request_: SiteRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra the sentence says what to install, before anything else is done."""
    import builtins
    import importlib

    real = importlib.import_module

    def refuse(name: str, *rest: Any) -> Any:
        if name in ("jinja2", "vl_convert"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(
        UsageError, match=r"jinja2 and vl-convert-python; install with: pip install 'benchwright\[site\]'"
    ):
        build(request_, workspace)
    assert builtins.__import__ is not None


def test_the_public_leaderboard_keeps_its_numbers(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """A list in the public leaderboard's form is shown with its own metric, as imported, to the decimal."""
    listed = {
        "GPT-4o-2024-05-13": {
            "link": "https://openai.com", "open-data": "None", "pass@1": {"instruct": 51.1, "complete": 61.1},
            "prompted": True, "moe": False, "size": None, "act_param": None, "date": "2024-05-13", "prefill": False,
        }
    }  # fmt: skip
    path = tmp_path / "leaderboard.json"
    path.write_text(json.dumps(listed))
    imported = import_leaderboard(path, ImportOptions(benchmark="bigcodebench", subset="full"))
    with ResultStore(workspace.results) as store:
        for one in imported.runs:
            store.add(one.run, one.rows, one.files)
    build(request_, workspace)
    shown = {}
    for table in data_of(request_.out, "index")["tables"]:
        (row,) = data_of(request_.out, f"table-{table['id']}")["rows"]
        assert (table["metric"], table["imported"], row["own"]) == ("pass@1", True, False)
        shown[table["variant"]] = f"{100 * row['reported']['pass@1']:.1f}"
    assert shown == {"complete": "61.1", "instruct": "51.1"}


@pytest.fixture
def served(workspace: Workspace, request_: SiteRequest) -> Iterator[str]:
    """The address of a served site."""
    add_run(workspace.results, "alder", "PF")
    build(request_, workspace)
    (request_.out / ".git").mkdir()
    (request_.out / ".git" / "config").write_text("secret")
    with SiteServer(request_.out, 0) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        yield server.address
        server.stop()
        thread.join()


def _get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.status, answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, ""


def test_a_site_is_served_with_the_right_types(served: str, request_: SiteRequest) -> None:
    """Pages, scripts, styles and data have the types browsers insist on; folders and hidden files are not shown."""
    assert served.startswith("http://127.0.0.1:")
    index = data_of(request_.out, "index")["tables"][0]["id"]
    found = {
        name: _get(served + name)
        for name in ("", "assets/site.css", "assets/common.js", f"downloads/{index}.json", f"downloads/{index}.parquet")
    }
    assert list(found.values()) == [
        (200, "text/html; charset=utf-8"),
        (200, "text/css; charset=utf-8"),
        (200, "text/javascript; charset=utf-8"),
        (200, "application/json"),
        (200, "application/vnd.apache.parquet"),
    ]
    hidden = ("data/", ".git/config", "%2egit/config", "../home", "..%2fhome", ".benchwright-site", "nothing.html")
    assert {name: _get(served + name)[0] for name in hidden} == dict.fromkeys(hidden, 404)


def test_a_taken_port_is_a_machines_trouble(served: str, request_: SiteRequest) -> None:
    """The sentence says to choose another one."""
    port = int(served.rstrip("/").rpartition(":")[2])
    with pytest.raises(MachineError, match="is taken; choose another with --port"), socket.socket():
        SiteServer(request_.out, port)
