"""What a finished grading leaves in the store, and that its samples can be graded again."""

import dataclasses
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import AgentRuns
from app_pieces import PROBLEMS, WRONG, ScriptedFactory, references, run_grading, write_samples
from stored_pieces import add_import, add_run

import benchwright
from benchwright.app.demo import answers_file
from benchwright.app.grading import GradeReport
from benchwright.app.job_facts import JOBS, TESTS
from benchwright.app.recording import kept_files, open_store, open_to_read, record, record_finished, stored_run_of
from benchwright.app.results import regrade
from benchwright.app.stored_results import choose, list_results, show_result
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import Origin, ReportedScore
from benchwright.core.runs import FUNCTION_SCORES, Score
from benchwright.core.verdicts import Outcome
from benchwright.store.folder import PROBLEMS as PROBLEMS_FILE
from benchwright.store.folder import SAMPLES, ResultsFolder
from benchwright.store.results import ResultStore

OLD = Path(__file__).parents[1] / "store/data/results-schema-1"


@pytest.fixture
def graded(home: Path, scripted: ScriptedFactory, tmp_path: Path) -> ResultsFolder:
    """Three graded references and one missing sample, all of model ``m``."""
    samples = write_samples(tmp_path / "in.jsonl", references(3))
    ids = tuple(problem.id for problem in PROBLEMS[:4])
    return ResultsFolder(run_grading(home, samples, tmp_path / "out", ids=ids, model="m").folder)


def test_a_grading_is_recorded_with_what_it_says(graded: ResultsFolder, tmp_path: Path) -> None:
    """Run, rows, facts of problems and files are in the store; recording it again changes nothing."""
    run = record(graded, tmp_path / "store")
    assert (run.origin, run.benchmark, run.subset, run.variant, run.model) == (
        Origin.OWN,
        "starter",
        "full",
        "complete",
        "m",
    )
    assert (run.scores, run.problems, run.samples, run.solved) == ((Score.EXTRACTED, Score.CALIBRATED), 4, 1, 3)
    assert (run.missing, run.faults, run.cost, run.scaffold, run.evaluation) == (1, 0, None, "", None)
    assert record(graded, tmp_path / "store").entry == run.entry
    with ResultStore(tmp_path / "store") as store:
        assert store.run(run.entry).manifest == graded.manifest()
        assert list(store.rows(run.entry)) == list(graded.rows())
        assert store.read_file(run.entry, SAMPLES) == (graded.path / SAMPLES).read_bytes()
        facts = store.problem_facts(run.entry)
        assert facts == graded.problem_facts()
        assert facts[PROBLEMS[0].id].domains == PROBLEMS[0].tags
        assert facts[PROBLEMS[0].id].libraries == PROBLEMS[0].libraries
    assert {JOBS, PROBLEMS_FILE, "plans.json", "calibrated_eval_results.json"} < set(run.files)
    assert not [name for name in run.files if name.startswith(".") or name == "rows.jsonl"]


def test_a_regrading_supersedes_what_it_judged_again(
    graded: ResultsFolder, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stays one run, whose newest entry has the new verdicts."""
    first = record(graded, tmp_path / "store")
    from benchwright.app import results

    judge = results.judge
    wrong = lambda *given: dataclasses.replace(judge(*given), passed=0, judge_version=99)  # noqa: E731
    monkeypatch.setattr(results, "judge", wrong)
    regrade(graded.path, Workspace(home=home))
    second = record(graded, tmp_path / "store")
    assert (second.supersedes, second.run_id) == (first.entry, first.run_id)
    assert not [name for name in second.files if "before-regrade" in name]
    assert [one.entry for one in list_results(Workspace(home=home, store=tmp_path / "store")).runs] == [second.entry]


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_what_is_not_complete_is_not_recorded(graded: ResultsFolder, tmp_path: Path, status: str) -> None:
    """At the end of a command that is nothing to complain of; asked for by name it is."""
    manifest = graded.manifest()
    graded.write_manifest({**manifest, "status": status, "stopped": "over budget"})
    assert record_finished(graded.path, tmp_path / "store").entry is None
    assert not (tmp_path / "store").exists()
    with pytest.raises(UsageError, match=r"is not finished .over budget"):
        record(graded, tmp_path / "store")


def test_a_store_that_cannot_be_used_costs_no_results(graded: ResultsFolder, tmp_path: Path) -> None:
    """The problem is kept for after the results have been shown, and says that they are complete."""
    (tmp_path / "store").write_text("a file")
    recorded = record_finished(graded.path, tmp_path / "store")
    assert recorded.entry is None
    with pytest.raises(UsageError, match=r"are complete, but were not recorded in the store: .* is a file"):
        recorded.raise_problem()
    assert record_finished(graded.path, None).entry is None


def test_links_in_a_results_folder_are_not_followed(graded: ResultsFolder, tmp_path: Path) -> None:
    """What a file of that name points to elsewhere is no part of the results."""
    (tmp_path / "secret").write_text("s")
    (graded.path / "preds.json").symlink_to(tmp_path / "secret")
    assert "preds.json" not in record(graded, tmp_path / "store").files


def test_a_folder_of_an_earlier_version_is_recorded(tmp_path: Path) -> None:
    """What was graded before there was a store can be taken in."""
    run = record(ResultsFolder(OLD), tmp_path / "store")
    assert (run.model, run.problems, run.solved) == ("birch", 3, 3)
    with ResultStore(tmp_path / "store") as store:
        (scored,) = store.scored(store.runs(), Score.EXTRACTED)
        assert sum(tally.passed for tally in scored.tallies.values()) == 2


def test_two_runs_of_the_same_settings_are_two_runs(graded: ResultsFolder, tmp_path: Path) -> None:
    """A model that is asked twice answers twice: the journal of replies tells the runs apart, a copy does not."""
    twin = ResultsFolder(tmp_path / "twin")
    (graded.path / "replies.jsonl").write_text('{"at": "first"}\n')
    shutil.copytree(graded.path, twin.path)
    assert stored_run_of(twin).run_id == stored_run_of(graded).run_id
    (twin.path / "replies.jsonl").write_text('{"at": "second"}\n')
    one, other = record(graded, tmp_path / "store"), record(twin, tmp_path / "store")
    assert one.run_id != other.run_id
    assert other.supersedes is None
    with (graded.path / "replies.jsonl").open("a") as file:
        file.write('{"at": "later"}\n')
    assert record(graded, tmp_path / "store").entry == one.entry
    with ResultStore(tmp_path / "store") as store:
        assert len(store.runs(model="m")) == 2


def test_an_agents_run_is_recorded_with_its_scaffold(runs: AgentRuns) -> None:
    """Scaffold, evaluation and cost are those of the manifest; the submissions and the tests are kept."""
    report = runs.run()
    folder = ResultsFolder(report.folder)
    run = record(folder, runs.folder / "store")
    manifest = folder.manifest()
    assert (run.scaffold, run.variant, run.scores) == ("bash-only", "patch", (Score.PATCH,))
    assert (run.evaluation, run.cost) == (manifest["evaluation"], manifest["cost"])
    assert run.problems == len(report.attempts)
    assert {"attempts.jsonl", "predictions.jsonl", "run.json", PROBLEMS_FILE, TESTS} < set(run.files)
    with ResultStore(runs.folder / "store") as store:
        assert {facts.repository for facts in store.problem_facts(run.entry).values()} != {""}
        assert list(store.rows(run.entry)) == list(folder.rows())


# Answers of every odd kind, as sample files have them.
ODD: list[dict[str, Any]] = [
    {"solution": None},
    {"solution": ""},
    {"solution": 5},
    {"solution": "x = '\0'"},
    {"solution": "x = '\ud800'", "raw_solution": "\ud800"},
    {"solution": "y" * 10_000_001},
    {"solution": WRONG, "raw_solution": None},
    {"solution": "not python (", "raw_solution": f"Sure:\n```python\n{WRONG}```\n"},
    {"solution": "", "raw_solution": "def task_func(", "ending": "truncated"},
    {"solution": "", "raw_solution": "I will not.", "ending": "refused", "ending_detail": "filtered"},
    {"solution": "", "ending": "failed", "ending_detail": "no reply"},
    {"solution": WRONG, "raw_solution": "lead\nimport os", "lead": "lead\n", "lead_in_raw": True},
    {"completion": "    return 1\n"},
]


def can_be_extracted(line: dict[str, Any]) -> bool:
    """Whether there is a reply to extract from, or no telling of the solution either."""
    solution = line.get("solution")
    return isinstance(line.get("raw_solution"), str) or solution == 5 or len(solution or "") > 10_000_000


def verdicts(report: GradeReport) -> list[tuple[object, ...]]:
    """All that a grading says of each sample, and the job that it is of: equal jobs run the same code."""
    return [
        (row.problem_id, row.sample, row.score, row.verdict, row.job_digest, row.strategy, row.notes)
        for row in report.rows
    ]


@pytest.mark.parametrize("extract", [False, True])
@pytest.mark.parametrize("system", ["birch", "cedar", "odd"])
def test_samples_of_a_grading_are_graded_again_to_the_same(
    home: Path, scripted: ScriptedFactory, tmp_path: Path, system: str, extract: bool
) -> None:
    """Jobs and verdicts are the same under all scores, extracted or as given, from the file and from the folder."""
    path = tmp_path / "in.jsonl"
    if system == "odd":
        lines = [{"task_id": problem.id, **odd} for problem, odd in zip(PROBLEMS, ODD, strict=False)]
        lines = [line for line in lines if not extract or can_be_extracted(line)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        shutil.copy(answers_file(system), path)
    options: dict[str, Any] = {"scores": FUNCTION_SCORES, "official_files": False, "model": "m"}
    first = run_grading(home, path, tmp_path / "first", extract=extract, **options)
    kept = tmp_path / "first" / SAMPLES
    options.pop("model")  # the file says whose they are
    again = run_grading(home, kept, tmp_path / "again", extract=extract, **options)
    assert verdicts(again) == verdicts(first)
    assert again.manifest["model"] == "m"
    folder = run_grading(home, tmp_path / "first", tmp_path / "folder", extract=extract, **options)
    assert verdicts(folder) == verdicts(first)
    if not extract and system != "odd":  # what was extracted by others is kept beside the replies
        other = run_grading(home, path, tmp_path / "other", extract=True, **options)
        assert verdicts(run_grading(home, kept, tmp_path / "raw", extract=True, **options)) == verdicts(other)
    assert len(set(verdicts(first))) == len(first.rows)


def test_no_file_of_the_users_is_written_over(home: Path, scripted: ScriptedFactory, tmp_path: Path) -> None:
    """A samples.jsonl in the output folder is the input itself, or the grading's own, or the folder is refused."""
    place = tmp_path / "answers"
    place.mkdir()
    own = write_samples(place / SAMPLES, references(2))
    before = own.read_bytes()
    run_grading(home, own, place)
    assert own.read_bytes() == before
    other = write_samples(tmp_path / "other.jsonl", references(1))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / SAMPLES).write_text("mine\n")
    with pytest.raises(UsageError, match=r"holds a samples\.jsonl that no grading wrote"):
        run_grading(home, other, tmp_path / "foreign")
    assert (tmp_path / "foreign" / SAMPLES).read_text() == "mine\n"


def test_runs_are_chosen_by_folder_id_and_name(graded: ResultsFolder, home: Path, tmp_path: Path) -> None:
    """Each is given once; a folder that is recorded is its entry, one that is not is lent to the store."""
    workspace = Workspace(home=home)
    with open_store(workspace) as store:
        (lent,) = choose([str(graded.path)], store)
        assert (lent.recorded, store.runs()) == ("", [])
        assert store.scored([lent])[0].tallies.keys() == {row.problem_id for row in graded.rows()}
        assert store.problem_facts(lent.entry) == graded.problem_facts()
        added = store.add(stored_run_of(graded), list(graded.rows()), kept_files(graded, graded.manifest()))
        names = [str(graded.path), added.entry[:10], "m", added.run_id]
        assert [run.entry for run in choose(names, store)] == [added.entry]
        with pytest.raises(UnknownNameError):
            choose(["\0" * 5_000], store)
    assert show_result("m", workspace).recorded
    assert not show_result(str(OLD), workspace).recorded


def test_a_store_that_is_not_there_is_not_made_for_reading(tmp_path: Path) -> None:
    """Listing it says that there is nothing, and leaves nothing."""
    workspace = Workspace.from_environment(
        {"BENCHWRIGHT_HOME": str(tmp_path), "BENCHWRIGHT_STORE": str(tmp_path / "x")}
    )
    assert workspace.results == tmp_path / "x"
    assert list_results(workspace).runs == ()
    with open_to_read(Workspace(home=tmp_path)) as store:
        assert store.layout.root == tmp_path / "results"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_results_are_loaded_as_frames(
    graded: ResultsFolder, tmp_path: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row per problem, sample and score, with the columns of the run, in each of the libraries."""
    run = record(graded, tmp_path / "store")
    record(ResultsFolder(OLD), tmp_path / "store")
    every = benchwright.load_results(kind=kind, store=tmp_path / "store")
    assert every.shape[0] == 8 + 6
    some = benchwright.load_results("m", kind=kind, store=tmp_path / "store")
    assert some.shape == (8, every.shape[1])
    values = some.to_pydict() if kind == "arrow" else {name: list(some[name]) for name in ("entry", "outcome", "model")}
    assert (set(values["entry"]), set(values["model"])) == ({run.entry}, {"m"})
    assert Counter(map(str, values["outcome"])) == {"passed": 6, "no_answer": 2}
    monkeypatch.setenv("BENCHWRIGHT_STORE", str(tmp_path / "none"))
    lent = benchwright.load_results(str(OLD), kind=kind)
    assert lent.shape == (6, every.shape[1])
    assert benchwright.load_results(kind=kind).shape == (0, every.shape[1])
    with pytest.raises(UsageError, match="There is no store of results in"):
        benchwright.load_results(kind=kind, store=tmp_path / "none")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A store with a model's own runs of two subsets and one of an import, all of two problems."""
    place = tmp_path / "mixed"
    add_run(place, "m", "PF", run_id="1", scores=(Score.EXTRACTED, Score.CALIBRATED))
    add_run(place, "m", "PP", run_id="2", subset="hard")
    add_run(place, "m", "PP", run_id="3", variant="instruct", benchmark="another")
    add_import(place, "theirs", "PP")
    return place


def test_frames_pool_nothing_that_was_not_asked_for(mixed: Path) -> None:
    """Imports are left out unless they are asked for or named; benchmark, subset, variant and score choose."""

    def loaded(*names: str, **wanted: Any) -> list[tuple[str, ...]]:
        rows = benchwright.load_results(*names, kind="arrow", store=mixed, **wanted).to_pylist()
        return sorted({(row["model"], row["benchmark"], row["subset"], row["variant"], row["score"]) for row in rows})

    full, bare = (("m", "starter", "full", "complete", score) for score in ("calibrated", "extracted"))
    hard = ("m", "starter", "hard", "complete", "calibrated")
    other = ("m", "another", "full", "instruct", "calibrated")
    theirs = ("theirs", "starter", "full", "complete", "calibrated")
    assert loaded() == [other, full, bare, hard]
    assert loaded(imports=True) == [other, full, bare, hard, theirs]
    assert loaded("theirs") == [theirs]
    assert loaded(benchmark="starter", subset="full", score="calibrated") == [full]
    assert loaded(variant="instruct") == [other]
    assert loaded("m", benchmark="starter", subset="hard") == [hard]
    with pytest.raises(UsageError, match=r"m is the name of 2 runs \(.*starter full.*starter hard.*subset="):
        loaded("m", benchmark="starter")
    with pytest.raises(UsageError, match=r"theirs has no run of hard, only of .* starter full complete"):
        loaded("theirs", subset="hard")
    with pytest.raises(UsageError, match="did you mean calibrated"):
        loaded(score="calibrate")


def test_a_damaged_run_is_left_out_of_a_frame_with_a_warning(mixed: Path) -> None:
    """Unless it was named."""
    with ResultStore(mixed) as store:
        (broken,) = store.runs(subset="hard")
        store.layout.rows(broken.entry).write_bytes(b"PAR1")
    with pytest.warns(UserWarning, match=f"rows.parquet of run {broken.entry[:12]}"):
        frame = benchwright.load_results(kind="arrow", store=mixed)
    assert frame.num_rows == 4 + 2
    with pytest.raises(UsageError, match="missing or damaged"):
        benchwright.load_results(broken.entry[:8], kind="arrow", store=mixed)


@pytest.mark.parametrize("name", ["./nofolder", "some/where", "~/results"])
def test_a_path_where_there_is_no_folder_is_said_to_be_none(mixed: Path, name: str) -> None:
    """What looks like a path is not answered with names of models; a file is told to be one."""
    with ResultStore(mixed) as store:
        with pytest.raises(UsageError, match=f"There is no folder {name}, and no run in {mixed} has that name"):
            choose([name], store)
        with pytest.raises(UsageError, match="is a file; expected a results folder"):
            choose([str(mixed / "store.json")], store)


def test_names_that_no_run_has_are_told_when_runs_are_listed(mixed: Path, tmp_path: Path) -> None:
    """A slip is an error with near names; names of which there is no run together are none."""
    workspace = Workspace(home=tmp_path, store=mixed)
    for wanted, words in (
        ({"model": "M"}, "no model in the store named 'M'; did you mean m"),
        ({"benchmark": "nope"}, "no benchmark in the store named 'nope'; there are: another, starter"),
        ({"subset": "hrd"}, "did you mean hard"),
        ({"variant": "x"}, "there are: complete, instruct"),
    ):
        with pytest.raises(UnknownNameError, match=words):
            list_results(workspace, **wanted)  # type: ignore[arg-type]
    assert list_results(workspace, subset="hard", variant="instruct").runs == ()
    assert list_results(Workspace(home=tmp_path), benchmark="any").runs == ()
    with pytest.raises(UsageError, match="There is no store of results in"):
        list_results(workspace, tmp_path / "nowhere")


def test_solved_of_several_samples_says_so(tmp_path: Path) -> None:
    """A problem that any sample solves is not passed off as pass@1."""
    add_run(tmp_path / "s", "m", {"p0": (Outcome.PASSED, Outcome.FAILED)}, samples=2)
    (line,) = list_results(Workspace(home=tmp_path), tmp_path / "s").table
    assert "1 of 1 in any of 2 samples (calibrated)" in line


def test_a_run_on_a_part_of_the_problems_says_so(tmp_path: Path) -> None:
    """By what is known of the benchmark's size; of other data by the fullest run on it, as in tables; else not."""
    add_run(tmp_path / "s", "starter", "PPF", version=benchwright.__version__)
    add_run(tmp_path / "s", "old", "PPF", benchmark="bigcodebench", version="v0.1.4")
    add_run(tmp_path / "s", "hard", "PPF", benchmark="bigcodebench", version="v0.1.4", subset="hard")
    verified = {"benchmark": "swebench-verified", "subset": "all", "variant": "patch", "scores": (Score.PATCH,)}
    add_import(tmp_path / "s", "list", "P" * 40, version="unstated", **verified)
    add_import(tmp_path / "s", "whole list", "P" * 500, version="unstated", **verified)
    own = {"benchmark": "bigcodebench", "version": "local-0", "data_digest": "d"}
    add_run(tmp_path / "s", "own part", "PP", **own, manifest={"ids": ["p0", "p1"]})
    add_run(tmp_path / "s", "own whole", "PPF", **own, manifest={"ids": None})
    alone = {**own, "data_digest": "another"}
    add_run(tmp_path / "s", "alone", "PP", **alone, manifest={"ids": ["p0", "p1"]})
    add_run(tmp_path / "s", "said nowhere", "P", **{**own, "data_digest": "third"})
    stated = {"scores": (), "problems": 0, "reported": (ReportedScore(metric="pass@1", value=0.5),)}
    with ResultStore(tmp_path / "s") as store:
        (run,) = store.runs(model="old")
        store.add(dataclasses.replace(run, entry="", run_id="stated", model="stated", files={}, **stated), [], {})
    listing = list_results(Workspace(home=tmp_path), tmp_path / "s")
    plain = {one["model"]: (one["problems"], one["whole"], one["partial"]) for one in listing.to_plain()["runs"]}
    assert {line[2]: (line[3], plain[line[2]]) for line in listing.table} == {
        "starter": (f"3 of {len(PROBLEMS)}", (3, len(PROBLEMS), True)),
        "old": ("3 of 1,140", (3, 1140, True)),
        "hard": ("3 of 148", (3, 148, True)),
        "list": ("40 of 500", (40, 500, True)),
        "whole list": ("500", (500, 500, False)),
        "own part": ("2 of 3", (2, 3, True)),
        "own whole": ("3", (3, None, None)),
        "alone": ("2", (2, None, None)),
        "said nowhere": ("1", (1, None, None)),
        "stated": ("", (0, 1140, False)),
    }
    shown = {name: show_result(name, Workspace(home=tmp_path), tmp_path / "s") for name in plain}
    assert dict(shown["alone"].lines)["problems"] == "2 chosen"
    assert "problems" not in dict(shown["stated"].lines)
    assert {name: shown[name].to_plain()["partial"] for name in ("alone", "own whole", "said nowhere", "old")} == {
        "alone": True,
        "own whole": False,
        "said nowhere": None,
        "old": True,
    }


def test_an_unknown_kind_of_frame_is_refused(tmp_path: Path) -> None:
    """The message names those that there are, before anything is read."""
    with pytest.raises(UsageError, match="choose pandas, polars or arrow"):
        benchwright.load_results(kind="excel", store=tmp_path)  # type: ignore[call-overload]
