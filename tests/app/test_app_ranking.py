"""Ranking what a store holds and what was named."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from stored_pieces import add_import, add_run

from benchwright.app.ranking import Imports, Ranking, RankRequest, rank
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts, Origin, ProblemFacts, ReportedScore, Source, StoredRun
from benchwright.core.runs import Score
from benchwright.core.verdicts import Outcome
from benchwright.store.results import ResultStore

BESIDE = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store can be made."""
    return tmp_path / "results"


def ranked(store: Path, **request: Any) -> Ranking:
    """The ranking of a store."""
    there = store if store.is_dir() else None  # a store that is named has to be there
    values: dict[str, Any] = {"benchmark": "starter", "store": there, "rounds": 20, **request}
    return rank(RankRequest(**values), Workspace(home=store.parent))


def models(ranking: Ranking) -> list[str]:
    """Models of the main table, the best first."""
    return [row.model for row in ranking.main.rows]


def test_a_damaged_run_is_left_out_and_the_others_are_ranked(store: Path) -> None:
    """One changed byte of its rows is seen, and named among what is left out; a run that was named is an error."""
    add_run(store, "sound", "PF")
    broken = add_run(store, "broken", "PP")
    path = store / "runs" / broken.entry / "rows.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    ranking = ranked(store)
    assert models(ranking) == ["sound"]
    (left_out,) = ranking.left_out
    assert left_out.entry == broken.entry
    assert "rows.parquet of run" in left_out.reason
    with pytest.raises(UsageError, match="missing or damaged"):
        ranked(store, runs=("broken", "sound"))


def test_damage_to_other_files_of_a_run_is_told(store: Path) -> None:
    """Without its manifest a run cannot be judged beside its model's others; without facts of problems it can."""
    add_run(store, "m", "PP", run_id="1", manifest={"number": 1})
    broken = add_run(store, "m", "PF", run_id="2", manifest={"number": 2})
    silent = add_run(store, "n", "PF", facts=[ProblemFacts(id="p0", digest="d")])
    with ResultStore(store) as opened:
        opened.layout.blob(broken.files["manifest.json"]).write_bytes(b"x")
        opened.layout.blob(silent.files["problems.jsonl"]).write_bytes(b"x")
    ranking = ranked(store)
    assert models(ranking) == ["m", "n"]
    assert [(one.entry, "manifest.json" in one.reason) for one in ranking.left_out] == [(broken.entry, True)]
    assert [note for note in ranking.notes if note.startswith(f"Not used: problems.jsonl of run {silent.entry[:12]}")]


def test_facts_are_read_of_runs_that_are_ranked_alone(store: Path) -> None:
    """Damage to what nobody asks for, such as facts of another subset, is not told here."""
    add_run(store, "m", "PP")
    silent = add_run(store, "n", "PF", subset="hard", facts=[ProblemFacts(id="p0", digest="d")])
    with ResultStore(store) as opened:
        opened.layout.blob(silent.files["problems.jsonl"]).write_bytes(b"x")
    assert not any(note.startswith("Not used") for note in ranked(store).notes)
    assert any(note.startswith("Not used") for note in ranked(store, subset="hard").notes)


def test_a_store_is_ranked(store: Path) -> None:
    """The best first, with everything the JSON promises, and nothing else of the store."""
    add_run(store, "low", "PFFF")
    add_run(store, "high", "PPPF", cost=1.5)
    add_run(store, "other prompt", "PPPP", variant="instruct")
    ranking = ranked(store)
    assert models(ranking) == ["high", "low"]
    plain = ranking.to_plain()
    assert {
        "benchmark", "version", "subset", "variant", "score", "ties", "anchor", "rounds", "method", "rows",
        "other_tables", "left_out", "notes",
    } <= set(plain)  # fmt: skip
    row = plain["rows"][0]
    assert (row["rank"], row["model"], row["pass@1"], row["solved"], row["n"]) == (1, "high", 0.75, 3, 4)
    assert row["cost"] == 1.5
    assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    assert row["low"] <= row["rating"] <= row["high"]
    assert (plain["variant"], plain["metric"], row["origin"]) == ("complete", "pass@1[calibrated]", "own")
    assert "1 results of other subsets or variants are not looked at." in plain["notes"]
    assert json.loads(json.dumps(plain)) == plain


def test_a_regrading_replaces_and_is_listed(store: Path) -> None:
    """Of one run the newest entry counts; the older one is left out with the reason."""
    old = add_run(store, "a", "PF")
    add_run(store, "a", "PP")
    add_run(store, "b", "FP")
    ranking = ranked(store)
    assert [(row.model, row.solved) for row in ranking.main.rows] == [("a", 2), ("b", 1)]
    assert [(one.entry, one.reason) for one in ranking.left_out] == [
        (old.entry, "Another grading of the same run counts in its place.")
    ]


def test_imports_are_apart_with_or_alone(store: Path) -> None:
    """The three ways, and a source's mere numbers in a table of their own."""
    add_run(store, "own", "PF")
    add_import(store, "theirs", "PP")
    numbers = {"scores": (), "reported": (ReportedScore(metric="pass@1", value=0.9),), "origin": Origin.IMPORTED}
    listed = StoredRun(
        entry="", run_id="n", benchmark="starter", version="", subset="full", variant="complete", model="listed",
        source=Source(kind="list", title="A list"), **numbers,
    )  # fmt: skip
    with ResultStore(store) as opened:
        opened.add(listed, [], {})
    ranking = ranked(store)
    assert models(ranking) == ["own"]
    assert [[row.model for row in table.rows] for table in ranking.others] == [["theirs"], ["listed"]]
    together = ranked(store, imports=Imports.WITH)
    assert models(together) == ["theirs", "own"]
    assert [flag.name for flag in together.main.rows[0].flags] == ["import"]
    assert models(ranked(store, imports=Imports.ONLY)) == ["theirs"]


def test_runs_that_lack_tasks_stand_apart_or_are_cut_down(store: Path) -> None:
    """In the store partial runs have a table of their own; on request all are compared on common tasks."""
    add_run(store, "whole", "PPFF")
    add_run(store, "also whole", "PFFF")
    add_run(store, "partial", "PP")
    ranking = ranked(store)
    assert models(ranking) == ["whole", "also whole"]
    assert ranking.others[0].reason.startswith("Partial: 2 problems, where the full table is over 4.")
    common = ranked(store, common=True)
    assert len(common.main.rows) == 3
    assert len(common.main.problems) == 2
    assert "2 of 3 runs have further problems; all are compared on 2 common ones." in common.to_plain()["notes"]


def test_named_runs_are_ranked(store: Path) -> None:
    """By model or entry; a model's name means all of its runs, told apart by their entries."""
    a = add_run(store, "a", "PP")
    first = add_run(store, "twice", "PF", run_id="1")
    second = add_run(store, "twice", "FF", run_id="2")
    add_run(store, "unnamed", "PP")
    ranking = ranked(store, runs=(a.entry[:12], "twice"))
    assert [row.label for row in ranking.main.rows] == [
        "a", f"twice [{first.entry[:8]}]", f"twice [{second.entry[:8]}]"
    ]  # fmt: skip
    add_run(store, "twice", "PP", benchmark="bigcodebench", run_id="3")  # a model means its runs on this benchmark
    assert len(ranked(store, runs=("a", "twice")).main.rows) == 3
    with pytest.raises(UsageError, match="nobody"):
        ranked(store, runs=("nobody",))


def test_the_score_can_be_chosen(store: Path) -> None:
    """Runs without it are left out by name."""
    both = (Score.EXTRACTED, Score.CALIBRATED)
    add_run(store, "a", "PP", scores=both)
    add_run(store, "b", "PF", scores=both)
    add_run(store, "c", "PF")
    ranking = ranked(store, score=Score.EXTRACTED)
    assert models(ranking) == ["a", "b"]
    assert ranking.main.metric == "pass@1[extracted]"
    assert [(one.model, one.reason) for one in ranking.left_out] == [
        ("c", "It has no score extracted, only calibrated.")
    ]


def test_a_score_that_no_run_has_is_told_with_those_there_are(store: Path) -> None:
    """Eight results without the score are not called none; those of other subsets are not among them."""
    for number in range(8):
        add_run(store, f"m{number}", "PF", scores=(Score.EXTRACTED, Score.CALIBRATED))
    add_run(store, "other", "PF", subset="hard")
    with pytest.raises(
        UsageError,
        match=r"There are no results of starter under the score patch in the store .*, but 8 are there under others "
        r"\(extracted, calibrated\); choose one of these with --score, or leave it out\.",
    ):
        ranked(store, score=Score.PATCH)
    with pytest.raises(UsageError, match="in the results that were named, but 1 is there under others"):
        ranked(store, score=Score.PATCH, runs=("m0",))


def test_only_runs_of_the_part_that_is_ranked_are_left_out(store: Path) -> None:
    """Another subset's runs are counted, whatever score they have; a replaced one of that subset is its own affair."""
    add_run(store, "a", "PF")
    add_run(store, "hard", "PF", subset="hard", run_id="h")
    add_run(store, "hard", "PP", subset="hard", run_id="h")
    add_run(store, "also hard", "PP", subset="hard", scores=(Score.EXTRACTED,))
    ranking = ranked(store, score=Score.CALIBRATED)
    assert ranking.left_out == ()
    assert "2 results of other subsets or variants are not looked at." in ranking.notes
    add_run(store, "b", "PF", scores=(Score.EXTRACTED,))
    assert [one.model for one in ranked(store, score=Score.CALIBRATED).left_out] == ["b"]


def test_own_runs_are_of_no_other_subset_because_imports_are_wanted(store: Path) -> None:
    """What is left out for its origin is not counted as of another part of the benchmark."""
    add_run(store, "own", "PF")
    add_import(store, "theirs", "PP")
    assert ranked(store, imports=Imports.ONLY).notes == ()


def test_tables_are_not_called_the_same(store: Path) -> None:
    """What sets a table apart stands in its title; the main one keeps its own."""
    add_run(store, "own", "PF")
    add_run(store, "own too", "PP")
    add_run(store, "old", "PP", version="0.0.9")
    add_run(store, "often", {"p0": (Outcome.PASSED,) * 2, "p1": (Outcome.FAILED,) * 2}, samples=2)
    add_import(store, "theirs", "PP")
    ranking = ranked(store)
    assert ranking.main.title == "Starter tasks, full, complete"
    others = {table.rows[0].model: table.title for table in ranking.others}
    assert others["theirs"] == "Starter tasks, full, complete, imported from Official verdicts"
    assert others["old"].startswith("Starter tasks, full, complete, own results, data 0.0.9")
    assert others["often"].endswith("several samples each")
    titles = [ranking.main.title, *others.values()]
    assert len(titles) == len(set(titles)) == 4
    assert [table["title"] for table in ranking.to_plain()["other_tables"]] == [one.title for one in ranking.others]


def test_a_subset_is_compared_with_the_whole_on_the_same_problems(store: Path) -> None:
    """Named results of a subset and of all share a table if their common problems have the same digests."""
    digests = {f"p{number}": f"d{number}" for number in range(4)}
    part = {"p0": "d0", "p1": "d1"}
    add_run(store, "whole", "PPFF", data_digest="all", manifest={"problem_digests": digests})
    add_run(store, "part", "PF", subset="hard", data_digest="part", manifest={"problem_digests": part})
    add_run(store, "other", "PF", subset="hard", manifest={"problem_digests": {"p0": "d0", "p1": "changed"}})
    add_run(store, "unknown", "PF", subset="hard")
    ranking = ranked(store, runs=("whole", "part"))
    assert (models(ranking), ranking.others) == (["whole", "part"], ())
    assert (ranking.main.subset, ranking.main.problems) == ("hard", ("p0", "p1"))
    assert ranking.main.notes[:2] == (
        "Runs of the subsets full and hard stand together, for their common problems are the same ones.",
        "1 of 2 runs have further problems; all are compared on 2 common ones.",
    )
    for other in ("other", "unknown"):
        (table,) = ranked(store, runs=("whole", other)).others
        assert "of subset" in table.reason
    assert len(ranked(store, runs=("whole", "part"), common=False).others) == 1
    assert models(ranked(store)) == ["whole"]


def test_problems_dates_come_from_the_store(store: Path) -> None:
    """What was written down of the problems, and of the model, decides the contamination window."""
    dates = [ProblemFacts(id=f"p{number}", created=f"202{number}-01-01") for number in range(2)]
    add_run(store, "a", "PP", facts=dates, facts_of_model=ModelFacts(cutoff="2020-06"))
    add_run(store, "b", "PF", facts=dates)
    flags = {row.model: [flag.text for flag in row.flags] for row in ranked(store).main.rows}
    assert flags["a"] == ["1 of 2 problems were public before the model's cut-off, 2020-06-30."]
    assert flags["b"][0].startswith("It is not known up to when")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"benchmark": "startr"}, "did you mean starter"),
        (
            {"subset": "half"},
            r"There are no results of starter \(half, complete\) .* only of these \(full, complete: 1\)",
        ),
        ({"imports": Imports.ONLY}, "There are no imported results of starter"),
        ({"benchmark": "bigcodebench"}, "There are no results of bigcodebench in the store"),
        ({"anchor": "nobody"}, "no model to anchor the ratings to named 'nobody'"),
        ({"anchor": "b=nan"}, "no model to anchor the ratings to named 'b=nan'"),
        ({"anchor": "a=abc"}, r"The rating of the anchor a is no number: 'abc'; give a=1000, or a alone\."),
        ({"anchor": "a=inf"}, "is no number: 'inf'"),
        ({"anchor": "a="}, "is no number: ''"),
        ({"rounds": 0}, "at least one round"),
        ({"resolved": Path("x.json")}, "is of repository problems, and starter is not"),
        ({"benchmark": "bigcodebench", "runs": ("a",)}, "is a result of starter, not of bigcodebench"),
    ],
)
def test_what_cannot_be_ranked_is_misuse(store: Path, request_: dict[str, Any], words: str) -> None:
    """One plain sentence says what there is instead."""
    add_run(store, "a", "PF")
    with pytest.raises(UsageError, match=words):
        ranked(store, **request_)


@pytest.mark.parametrize(("text", "rating"), [("b", 1000), ("b=800", 800), ("a=b", 1000), ("a=b=700.5", 700.5)])
def test_an_anchor_may_have_a_rating(store: Path, text: str, rating: float) -> None:
    """The last equals sign separates, if a number follows; names may hold equals signs."""
    add_run(store, "a=b", "PPPF")
    add_run(store, "b", "PFFF")
    name = "a=b" if text.startswith("a=b") else "b"
    (row,) = [row for row in ranked(store, anchor=text).main.rows if row.model == name]
    assert row.rated is not None
    assert row.rated.rating == pytest.approx(rating)


def test_a_list_of_resolved_instances_is_ranked(tmp_path: Path) -> None:
    """Who resolved what becomes a table of imports without any store, and what the source does not say is noted."""
    path, ids = tmp_path / "resolved.json.gz", tmp_path / "ids.json"
    path.write_bytes(gzip.compress(json.dumps({"a__b-1": ["x", "y"], "a__b-2": ["x"], "a__b-3": []}).encode()))
    ids.write_text(json.dumps(["a__b-1", "a__b-2", "a__b-3", "a__b-4"]))
    ranking = ranked(tmp_path / "none", benchmark="swebench-verified", resolved=path, dataset=ids)
    assert [(row.model, row.solved, row.problems) for row in ranking.main.rows] == [("x", 2, 4), ("y", 1, 4)]
    notes = " ".join(ranking.to_plain()["notes"])
    assert "5 to 10 % are estimated to be wrong themselves" in notes
    assert "not what it tried" in notes
    assert not (tmp_path / "none").exists()


def test_a_list_of_more_than_the_benchmark_has_says_so_first(tmp_path: Path) -> None:
    """Title and first note say that these are not the benchmark's instances, and what to do."""
    path = tmp_path / "resolved.json"
    path.write_text(json.dumps({f"a__b-{number}": ["x"] if number else ["x", "y"] for number in range(51)}))
    ranking = ranked(tmp_path / "results", benchmark="swebench-mini", resolved=path)
    assert ranking.main.title.endswith(", all, patch, all 51 problems of resolved.json, though the benchmark has 50")
    notes = ranking.to_plain()["notes"]
    assert notes[0].startswith("These are 51 problems, of which at most 50 are those of SWE-bench")
    assert "--dataset FILE" in notes[0]
    assert not any("Nothing said which" in note for note in notes)
    path.write_text(json.dumps({f"a__b-{number}": ["x", "y"] for number in range(50)}))
    fewer = ranked(tmp_path / "results", benchmark="swebench-mini", resolved=path)
    assert fewer.main.title.endswith(", all, patch")
    assert fewer.notes[0].startswith(
        "Nothing said which instances are the benchmark's, so all 50 that resolved.json names are taken, though "
        "swebench-mini has 50; give --dataset FILE"
    )


def test_the_public_submissions_are_ranked_by_what_they_resolved() -> None:
    """The 99 submissions on Verified's 500: with half ties, the order is that of their counts."""
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", BESIDE)) / "swebench"
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    ranking = ranked(
        Path("none"),
        benchmark="swebench-verified",
        resolved=folder / "resolved_submissions.json.gz",
        dataset=folder / "verified_500_statements.jsonl.gz",
        rounds=3,
    )
    counts = [row.solved for row in ranking.main.rows]
    assert (len(counts), len(ranking.main.problems)) == (99, 500)
    assert counts == sorted(counts, reverse=True)
    ranks = [row.rated.rank for row in ranking.main.rows if row.rated]
    assert ranks == [1 + sum(other > one for other in counts) for one in counts]


@pytest.mark.parametrize(
    "evaluation",
    [{"a": 1}, {"version": 5}, {"limits": {"turns": -1}}, {"tools": [5]}, {"samples": "x"}, {"fixes": [[]]}],
)
def test_a_run_of_unclear_making_is_left_out(store: Path, evaluation: dict[str, Any]) -> None:
    """What says of its evaluation something that cannot be read keeps no other run from being ranked."""
    sound = {"version": "1.0.0", "scaffold": "s", "provider": "p", "native_tools": "off", "samples": 1, "limits": {}}
    add_run(store, "sound", "PF")
    odd = add_run(store, "odd", "PP", evaluation=evaluation if "a" in evaluation else sound | evaluation)
    ranking = ranked(store)
    assert models(ranking) == ["sound"]
    (left_out,) = ranking.left_out
    assert (left_out.entry, left_out.model) == (odd.entry, "odd")
    assert left_out.reason.startswith("What odd ")


def test_own_runs_say_what_problems_are(store: Path) -> None:
    """A bundle of a model whose name comes first does not make all problems old."""
    true = [ProblemFacts(id=f"p{number}", created="2024-01-01") for number in range(2)]
    false = [ProblemFacts(id=f"p{number}", created="2001-01-01") for number in range(2)]
    add_run(store, "aaa", "PP", facts=false, flags=("bundle",))
    add_run(store, "own", "PF", facts=true, facts_of_model=ModelFacts(cutoff="2020-06"))
    flags = {row.model: [flag.text for flag in row.flags] for row in ranked(store).main.rows}
    assert not any("were public before" in text for text in flags["own"])
