"""Everything that a set of runs says."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from stored_pieces import F, M, P, X, add_import, add_run, rows_of

from benchwright.app.reporting import Report, ReportRequest, report
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts, Origin, ProblemFacts, ReportedScore, Source, StoredRun
from benchwright.core.runs import Score
from benchwright.stats.items import RULES
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store can be made."""
    return tmp_path / "results"


def reported(store: Path, *runs: str, **request: Any) -> Report:
    """The report on runs of a store."""
    there = store if store.is_dir() else None  # a store that is named has to be there
    return report(ReportRequest(runs=runs, store=there, **request), Workspace(home=store.parent))


FACTS = [
    ProblemFacts(
        id=f"p{number}",
        domains=("maths", "text") if number < 2 else ("text",),
        libraries=("numpy",) if number % 2 else (),
        difficulty="hard" if number == 3 else "easy",
        repository="a/b",
        created=f"202{number}-05-06",
    )
    for number in range(4)
]


def test_one_run_has_estimates_and_breakdowns(store: Path) -> None:
    """Every score, by every kind of group that divides the problems, with small groups marked."""
    add_run(store, "a", "PPFF", scores=(Score.EXTRACTED, Score.CALIBRATED), facts=FACTS, cost=2.0)
    plain = reported(store, "a").to_plain()
    (model,) = plain["models"]
    assert set(model["estimates"]) == {"pass@1[extracted]", "pass@1[calibrated]", "pass@1"}
    assert (model["solved"], model["problems"], model["cost"], model["runs"]) == (2, 4, 2.0, 1)
    assert set(model["breakdowns"]) == {"domain", "difficulty", "year"}  # one library, one repository divide nothing
    domains = {group["group"]: (group["value"], group["n"], group["small"]) for group in model["breakdowns"]["domain"]}
    assert domains == {"maths": (1.0, 2, True), "text": (0.5, 4, True)}
    assert (model["bounds"], model["repeats"], model["runs_needed"], model["pass_hat_k"]) == ({}, None, None, {})
    assert (plain["items"], plain["open_closed_gap"], plain["exclusions"]) == (None, None, [])
    assert json.loads(json.dumps(plain)) == plain


def test_domains_come_from_a_file(store: Path, tmp_path: Path) -> None:
    """By library, or by problem, which wins; what is in neither keeps its own."""
    add_run(store, "a", "PPFF", facts=FACTS)
    path = tmp_path / "domains.json"
    path.write_text(json.dumps({"numpy": "Computation", "p3": ["System", "Time", "Time"]}))
    found = reported(store, "a", domains=path).models[0].breakdowns["domain"]
    assert {one.group: one.n for one in found} == {
        "maths": 1, "text": 2, "Computation": 1, "System": 1, "Time": 1
    }  # fmt: skip
    for text, words in (("[]", "holds no JSON object"), ('{"numpy": 3}', "no name and no list of names")):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            reported(store, "a", domains=path)


def test_faults_have_a_worst_and_a_best_case(store: Path) -> None:
    """They are left out of the score, listed, and bracketed."""
    add_run(store, "a", "PFXM")
    (model,) = reported(store, "a").to_plain()["models"]
    found = model["bounds"]["calibrated"]
    assert (found["value"], found["worst"], found["best"], found["faults"]) == (pytest.approx(1 / 3), 0.25, 0.5, 1)
    assert (model["faults"], model["missing"]) == (["p2#0: why"], ["p3"])


def test_runs_of_one_model_are_repeats(store: Path) -> None:
    """Their spread, pass^k, and how many of them it takes to see two points."""
    add_run(store, "a", "PPFFPPFF", run_id="1")
    add_run(store, "a", "PFFFPPFP", run_id="2")
    add_run(store, "a", "PPFFPFFF", run_id="3")
    found = reported(store, "a")
    (model,) = found.to_plain()["models"]
    assert (model["runs"], model["label"], len(model["entries"])) == (3, "a", 3)
    assert list(model["repeats"]["means"]) == [0.5, 0.5, 0.375]
    assert model["repeats"]["changing"] == 3
    assert model["pass_hat_k"]["3"]["value"] == 0.25
    assert model["estimates"]["pass@3"]["value"] == 0.625
    assert model["consistency"] == {"always": 2, "sometimes": 3, "never": 3}
    assert model["runs_needed"]["difference"] == 0.02
    assert model["runs_needed"]["on_these"] == max(model["runs_needed"]["by_chance"], model["runs_needed"]["by_spread"])
    # Of other problems, one model says nothing.
    assert model["runs_needed"].keys() == {"difference", "on_these", "by_chance", "by_spread"}
    assert any("taken as repeats because they were named together" in note for note in found.notes)


def test_damaged_plans_are_told_and_not_passed_over(store: Path) -> None:
    """Without plans there is no laziness; plans that are there and cannot be read are damage."""
    rows = rows_of({"p0": (P,)})
    plans = {"p0": {"class": "TestCases", "tests": [], "given": []}}
    with ResultStore(store) as opened:
        run = add_run(store, "a", "P")
        named = dataclasses.replace(run, run_id="2", model="b", entry="", files={}, recorded="")
        kept = opened.add(named, rows, {"plans.json": json.dumps(plans).encode()})
        blob = opened.layout.blob(kept.files["plans.json"])
    assert reported(store, "a", "b")
    blob.write_bytes(b"broken")
    with pytest.raises(UsageError, match=r"plans\.json of run .* is missing or damaged"):
        reported(store, "b")


def test_other_conditions_are_no_repeats(store: Path) -> None:
    """The same model under another variant is reported beside it, told apart by its entry, and not compared."""
    a = add_run(store, "a", "PF", run_id="1")
    b = add_run(store, "a", "PP", run_id="2", variant="instruct")
    found = reported(store, "a")
    assert [model.label for model in found.models] == [f"a [{run.entry[:8]}]" for run in (a, b)]
    assert found.together.items is None
    assert len(found.together.apart) == 1
    assert "variant" in found.together.apart[0]


def test_runs_that_were_asked_otherwise_are_no_repeats(store: Path) -> None:
    """Greedy answers and drawn ones of one model are two models' worth of numbers, as in a ranking."""
    for number, temperature in enumerate((0, 1, 1)):
        asked = {"template_digest": "t", "generation": {"temperature": temperature}}
        add_run(store, "a", "PF", run_id=str(number), manifest=asked)
    assert sorted(model["runs"] for model in reported(store, "a").to_plain()["models"]) == [1, 2]


def test_several_models_say_what_problems_are_like(store: Path) -> None:
    """Which nobody and everybody solves, on the problems that all have; the best model is first."""
    add_run(store, "low", "PFFF")
    add_run(store, "high", "PPFFP")
    found = reported(store, "low", "high")
    assert found.together.labels == ("high", "low")
    assert found.together.problems == ("p0", "p1", "p2", "p3")
    items = found.to_plain()["items"]
    assert (items["unsolved"], items["always"], items["models"]) == (("p2", "p3"), ("p0",), 2)
    assert items["rules"] == RULES


def test_a_problem_against_the_ranking_is_suspect(store: Path) -> None:
    """Only the weak models solve it."""
    for number in range(12):
        solved = "P" * number + "F" * (12 - number) + ("F" if number > 4 else "P")
        add_run(store, f"m{number}", solved)
    found = reported(store, *(f"m{number}" for number in range(12)))
    assert found.together.items is not None
    assert found.together.items.suspects == ("p12",)


def test_open_and_closed_models_are_compared(store: Path) -> None:
    """Best against best, where both kinds are known."""
    add_run(store, "open", "PPFF", facts_of_model=ModelFacts(open_weights=True))
    add_run(store, "open too", "PFFF", facts_of_model=ModelFacts(open_weights=True))
    add_run(store, "closed", "PPPF", facts_of_model=ModelFacts(open_weights=False))
    add_run(store, "unknown", "PPPP")
    gap = reported(store, "open", "open too", "closed", "unknown").to_plain()["open_closed_gap"]
    assert (gap["best_open"], gap["best_closed"], gap["difference"], gap["n"]) == ("open", "closed", -0.25, 4)
    assert reported(store, "open", "unknown").together.gap is None


def test_exclusion_lists_move_scores(store: Path) -> None:
    """What a grading says of its references, and what comes with the package for repositories."""
    add_run(store, "a", "PFF", manifest={"failed_references": ["p2", "elsewhere"]})
    nothing, failed = reported(store, "a").together.exclusions
    assert (nothing.name, nothing.values) == ("nothing", (pytest.approx(1 / 3),))
    assert (failed.name, failed.kept, failed.values) == ("references that fail", 2, (0.5,))
    add_import(
        store, "sub", "P", benchmark="swebench-verified", subset="all", variant="patch", scores=(Score.PATCH,),
        manifest={"excluded": {"p0": ["why"]}, "view_ids": {"mine": ["p0"], "none": []}},
    )  # fmt: skip
    names = [one.name for one in reported(store, "sub").together.exclusions]
    assert names[:3] == ["nothing", "left out by the grading", "not in none"]
    assert reported(store, "sub").facts.task_errors is not None


def test_control_runs_of_this_machine_name_problems_to_leave_out(store: Path) -> None:
    """References that fail, need a network or are flaky, in the environment that the grading ran in."""

    def outcome(word: str) -> ControlOutcome:
        return ControlOutcome(
            outcome=word, reason="", detail="", wall_seconds=0.1, cpu_seconds=0.1, memory_peak_bytes=1
        )

    with Workspace(home=store.parent).records() as records:
        for problem, references, network in (("p0", ["passed"], False), ("p1", ["failed", "passed"], True)):
            records.put_control(
                ControlRun(
                    problem_id=problem,
                    problem_digest=f"digest of {problem}",
                    environment="env",
                    guest_version="guest",
                    references=tuple(outcome(word) for word in references),
                    stubs=(outcome("failed"),),
                    needs_network=network,
                )
            )
    place = {"environment_digest": "env", "guest_version": "guest", "isolation": "namespace"}
    add_run(store, "a", "PF", manifest=place)
    kept = {one.name: (one.kept, one.values) for one in reported(store, "a").together.exclusions}
    for name in ("references that fail", "problems that need a network", "flaky problems"):
        assert kept[name] == (1, (1.0,))
    assert "tests that an empty answer passes" not in kept


def test_runs_that_move_as_a_whole_need_more_of_them(store: Path) -> None:
    """Two runs 51 points apart: the spread that was seen decides, not the problems' own chance, and stays possible."""
    add_run(store, "a", "P" * 100, run_id="1")
    add_run(store, "a", "P" * 49 + "F" * 51, run_id="2")
    (model,) = reported(store, "a").to_plain()["models"]
    assert model["runs_needed"] == {"difference": 0.02, "on_these": 5104, "by_chance": 101, "by_spread": 5104}
    assert model["repeats"]["high"] == 0.5


def test_two_repeated_models_say_how_many_runs_tell_them_apart(store: Path) -> None:
    """On these problems and on others like them, which are two questions; a single run of one answers neither."""
    for run, results in enumerate(("PPFFPPFF" * 10, "PFFFPPFP" * 10)):
        add_run(store, "a", results, run_id=f"a{run}")
        add_run(store, "b", results[::-1], run_id=f"b{run}")
    add_run(store, "once", "P" * 80)
    found = reported(store, "a", "b", "once").to_plain()["runs_needed"]
    assert sorted(found["models"]) == ["a", "b"]
    assert (found["difference"], found["on_these"], found["on_such"]) == (0.02, 62, None)
    assert found["problems_for_one_run"] > 1000
    assert reported(store, "a", "once").to_plain()["runs_needed"] is None


def test_problems_are_listed_by_their_numbers(store: Path) -> None:
    """2 stands before 12 among missing ones, faults and those that no model solves."""
    numbers = (1, 12, 123, 15, 2)
    add_run(store, "a", {f"t/{one}": (M,) for one in numbers} | {f"u/{one}": (X,) for one in numbers})
    add_run(store, "b", {f"t/{one}": (F,) for one in numbers})
    plain = reported(store, "a", "b").to_plain()
    inside = [f"t/{one}" for one in sorted(numbers)]
    assert plain["models"][0]["missing"] == inside
    assert plain["models"][0]["faults"] == [f"u/{one}#0: why" for one in sorted(numbers)]
    assert list(plain["items"]["unsolved"]) == inside


def test_folders_that_say_nothing_of_problems_have_no_breakdown(tmp_path: Path) -> None:
    """A folder need not be in a store; what it lacks is said, with what to give."""
    problems = BENCHMARK.load().problems[:6]
    folder = ResultsFolder(tmp_path / "old")
    folder.path.mkdir()
    folder.write_rows(rows_of({problem.id: (P if number % 2 else F,) for number, problem in enumerate(problems)}))
    folder.write_manifest(
        {
            "status": "complete", "benchmark": "starter", "version": "0.1.0", "data_digest": "d", "subset": "full",
            "variant": "complete", "model": "old", "scores": ["calibrated"], "run_id": "r",
        }
    )  # fmt: skip
    found = reported(tmp_path / "none", str(folder.path))
    assert found.models[0].breakdowns == {}
    assert any("give the benchmark's rows with --dataset" in note for note in found.notes)


def test_mixed_samples_are_pooled(store: Path) -> None:
    """Several samples in one run: pass@k, pass^k and consistency of that run."""
    add_run(store, "a", {"p": (P, P), "q": (P, F), "r": (F, X), "s": (M,)}, samples=2)
    (model,) = reported(store, "a").to_plain()["models"]
    assert model["pass_hat_k"]["1"]["value"] == model["estimates"]["pass@1"]["value"]
    assert model["consistency"] == {"always": 1, "sometimes": 1, "never": 2}
    assert model["repeats"] is None


def test_what_cannot_be_reported_is_misuse(store: Path) -> None:
    """Several benchmarks, mere numbers, unknown names."""
    add_run(store, "a", "PF")
    add_run(store, "b", "PF", benchmark="bigcodebench")
    listed = StoredRun(
        entry="", run_id="n", benchmark="starter", version="", subset="full", variant="complete", model="listed",
        origin=Origin.IMPORTED, source=Source(kind="l", title="L"), reported=(ReportedScore(metric="m", value=0.5),),
    )  # fmt: skip
    with ResultStore(store) as opened:
        opened.add(listed, [], {})
    assert reported(store, "a", "listed").notes[0].startswith("1 entries state numbers of their source only")
    for runs, words in (
        (("a", "b"), "results of bigcodebench and starter"),
        (("listed",), "only numbers of its source are known"),
        (("nobody",), "nobody"),
        ((), "nothing to report on"),
    ):
        with pytest.raises(UsageError, match=words):
            reported(store, *runs)
