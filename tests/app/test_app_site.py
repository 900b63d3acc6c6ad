"""The site from a store: what becomes a table, where answers come from, what is refused."""

import json
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, WRONG, ScriptedFactory, first_ids, private_home, references, run_grading, write_samples
from bundle_forging import forged
from stored_pieces import add_import, add_run, outcomes, rows_of

from benchwright.app.bundles import write_bundle
from benchwright.app.importing_base import ImportOptions
from benchwright.app.importing_bigcodebench import import_leaderboard
from benchwright.app.site import SiteRequest, build
from benchwright.app.site_answers import StoredAnswers
from benchwright.app.site_serving import SiteServer
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.registry import BENCHMARKS
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


def test_prompts_of_a_built_in_benchmark_need_no_file(
    workspace: Workspace, request_: SiteRequest, tmp_path: Path
) -> None:
    """All its prompts are on the pages of the tasks that were asked; facts that runs wrote down are kept."""
    known = BENCHMARKS.get("starter").load().problems[:2]
    facts = [ProblemFacts(id=problem.id, domains=("Time",)) for problem in known]
    passed = {problem.id: outcomes("P")["p0"] for problem in known}
    add_run(workspace.results, "alder", passed, facts=facts)
    build(request_, workspace)
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    task = data_of(request_.out, f"task-{digest}-0")
    assert task["facts"] == {"domains": ["Time"]}
    assert [one["title"] for one in task["prompts"]] == ["Complete prompt", "Instruct prompt"]
    assert [one["text"] for one in task["prompts"]] == list(known[0].prompts.values())
    assert data_of(request_.out, f"problems-{digest}")["ids"] == [problem.id for problem in known]
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


def test_prompts_of_other_tasks_are_not_taken(workspace: Workspace, request_: SiteRequest) -> None:
    """A user's own tasks under the ids of built-in ones keep their facts and get no prompt of those."""
    known = BENCHMARKS.get("starter").load().problems[0]
    facts = [ProblemFacts(id=known.id, digest="0" * 64, domains=("Mine",))]
    add_run(workspace.results, "alder", {known.id: outcomes("P")["p0"]}, facts=facts)
    build(request_, workspace)
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    task = data_of(request_.out, f"task-{digest}-0")
    assert (task["facts"], task["prompts"]) == ({"domains": ["Mine"]}, [])


def test_domains_come_from_a_file(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """By library or by task, as in reports; a file that says nothing of these tasks is told."""
    facts = [ProblemFacts(id="p0", libraries=("numpy",)), ProblemFacts(id="p1", libraries=("re",))]
    add_run(workspace.results, "alder", "PFF", facts=facts)
    path = tmp_path / "domains.json"
    path.write_text(json.dumps({"numpy": "Computation", "p2": ["Time", "System"]}))
    report = build(replace(request_, domains=path), workspace)
    assert report.notes == ()
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    groups = data_of(request_.out, f"problems-{digest}")["groups"]["Domain"]
    names = groups["names"]
    assert [[names[one] for one in each] for each in groups["of"]] == [["Computation"], [], ["Time", "System"]]
    path.write_text(json.dumps({"torch": "Computation"}))
    (note,) = build(replace(request_, domains=path), workspace).notes
    assert note.startswith("domains.json says nothing new of these results' tasks")


def test_answers_that_cannot_be_read_are_left_out_and_named(workspace: Workspace, request_: SiteRequest) -> None:
    """The note says which file of which run; the other answers, and all verdicts, are on the pages."""
    _store_with_files(workspace.results, "alder", {"samples.jsonl": b"{not json\n"}, "FP")
    _store_with_files(workspace.results, "birch", {"samples.jsonl": _lines({"task_id": "p0", "solution": "one"})})
    report = build(request_, workspace)
    assert report.models == 2
    (note,) = report.notes
    assert re.match(
        r"Answers of alder \([0-9a-f]{12}\) are left out: The run's file samples\.jsonl .* is not JSON", note
    )
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    answers = data_of(request_.out, f"task-{digest}-0")["answers"]
    assert [sample["text"] for given in answers for sample in given["samples"]] == ["one"]


def test_a_damaged_run_is_left_out_and_named(workspace: Workspace, request_: SiteRequest) -> None:
    """The site is built without it, the report says so, and so does the page on methods.

    Where only what it wrote down of its problems is damaged, its verdicts are shown.
    """
    alder = add_run(workspace.results, "alder", "PPPF", facts=[ProblemFacts(id="p0", domains=("Time",))])
    rows = add_run(workspace.results, "birch", "PFFF")
    entry = add_run(workspace.results, "cedar", "FFFF")
    for run, name in ((rows, "rows.parquet"), (entry, "entry.json")):
        path = workspace.results / "runs" / run.entry / name
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:40])
    (workspace.results / "index.sqlite").unlink()
    digest = alder.files["problems.jsonl"]
    blob = workspace.results / "blobs" / digest[:2] / f"{digest}.zst"
    blob.chmod(0o644)
    blob.write_bytes(b"")
    report = build(request_, workspace)
    assert report.models == 1
    for run in (rows, entry):
        assert any(note.startswith("Not shown: ") and run.entry[:12] in note for note in report.notes)
        assert run.entry[:12] in (request_.out / "methods.html").read_text(encoding="utf-8")
    assert any(f"problems.jsonl of run {alder.entry[:12]}" in note for note in report.notes)


def test_facts_of_models_that_nobody_has_are_told(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """A slip in a name is said; the name of a run of another benchmark, or of a replaced one, is none."""
    add_run(workspace.results, "alder", "PF")
    add_run(workspace.results, "birch", "PF", benchmark="bigcodebench")
    path = tmp_path / "models.toml"
    path.write_text("".join(f'[models."{name}"]\nparameters = 7\n' for name in ("alder", "birch", "aldr")))
    report = build(replace(request_, model_facts=path, benchmarks=("starter",)), workspace)
    (note,) = report.notes
    assert "aldr" in note
    assert "birch" not in note
    assert report.to_plain()["notes"] == [note]


def test_only_sound_bundles_are_offered(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """Each is checked first: one that does not say what its evidence says is refused, with the first finding."""
    add_run(workspace.results, "alder", "PF")
    home = private_home(tmp_path / "grading")
    samples = write_samples(tmp_path / "samples.jsonl", [*references(2), (PROBLEMS[2].id, WRONG)], model="Maker/M 1")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory())
        graded = run_grading(home, samples, tmp_path / "graded", ids=first_ids(3))
    sound = write_bundle(graded.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path
    build(replace(request_, bundles=(sound,)), workspace)
    (offered,) = (request_.out / "downloads").glob("*.bw.zip")
    assert offered.read_bytes() == sound.read_bytes()
    assert offered.name.startswith("maker-m-1-")
    page = (request_.out / "downloads.html").read_text(encoding="utf-8")
    assert "Maker/M 1, starter, full, complete" in page
    assert "not signed" in page
    before = (request_.out / "downloads.html").read_bytes()
    changed = forged(sound, "rows.jsonl", lambda rows: [{**row, "outcome": "failed"} for row in rows])
    with pytest.raises(
        UsageError, match=r"The bundle .*forged\.bw\.zip is not sound and cannot be offered: .*bw verify"
    ):
        build(replace(request_, bundles=(sound, changed)), workspace)
    assert (request_.out / "downloads.html").read_bytes() == before  # the site that was there stays


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
    (request_.out / "elsewhere").symlink_to(workspace.home)
    (request_.out / "circle").symlink_to("circle")
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
    hidden += ("elsewhere/results/store.json", "circle", "x%00y")
    assert {name: _get(served + name)[0] for name in hidden} == dict.fromkeys(hidden, 404)


def test_a_taken_port_is_a_machines_trouble(served: str, request_: SiteRequest) -> None:
    """The sentence says to choose another one."""
    port = int(served.rstrip("/").rpartition(":")[2])
    with pytest.raises(MachineError, match="is taken; choose another with --port"), socket.socket():
        SiteServer(request_.out, port)


def test_pages_of_tasks_say_what_own_runs_say(workspace: Workspace, request_: SiteRequest, tmp_path: Path) -> None:
    """A run out of a bundle comes first by its model's name, and its word on tasks last."""
    facts = ProblemFacts(id="p0", domains=("Time",))
    false = replace(facts, domains=("Poison",), created="2001-01-01")
    add_run(workspace.results, "aaa", "P", facts=[false], flags=("bundle",))
    add_run(workspace.results, "alder", "P", facts=[facts])
    build(request_, workspace)
    digest = data_of(request_.out, "index")["benchmarks"][0]["digest"]
    assert data_of(request_.out, f"task-{digest}-0")["facts"] == {"domains": ["Time"]}
