"""Comparing runs of the store by name, several of them, and by clusters."""

import dataclasses
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from stored_pieces import F, P, add_import, add_run, outcomes, rows_of

from benchwright.app.compare_many import Against, Cluster, Comparisons, compare_runs
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import Origin, ProblemFacts, ReportedScore, Source, StoredRun
from benchwright.core.runs import Score
from benchwright.stats.paired import holm, mcnemar_exact
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store can be made."""
    return tmp_path / "results"


def compared(store: Path, *names: str, **options: Any) -> Comparisons:
    """A comparison of runs of a store."""
    return compare_runs(names, Workspace(home=store.parent), store=store, **options)


def test_two_runs_of_a_store_are_one_comparison(store: Path) -> None:
    """By model and by entry; the object has the fields that a comparison of folders has, and the entries."""
    a = add_run(store, "a", "PPPPPPPPPPFF")
    b = add_run(store, "b", "FFFFFFFFFFPF")
    found = compared(store, "a", b.entry[:10])
    plain = found.to_plain()
    assert (plain["difference"], plain["only_a"], plain["only_b"], plain["n"]) == (pytest.approx(0.75), 10, 1, 12)
    assert plain["p_value"] == pytest.approx(mcnemar_exact(10, 1))
    assert plain["permutation_p"] == pytest.approx(plain["p_value"])
    assert (plain["entry_a"], plain["entry_b"], plain["adjusted_p"]) == (a.entry, b.entry, None)
    assert plain["interval"] == "bonett-price"
    assert plain["shown"] is True


def test_a_folder_is_compared_with_a_stored_run(store: Path, tmp_path: Path) -> None:
    """Either side may be either; an import may not state its data, and says where it is from."""
    add_import(store, "theirs", "PPFF")
    folder = ResultsFolder(tmp_path / "mine")
    folder.path.mkdir()
    folder.write_rows(rows_of(outcomes("PPPF")))
    folder.write_manifest(
        {
            "status": "complete", "benchmark": "starter", "version": "0.1.0", "data_digest": "d", "subset": "full",
            "variant": "complete", "model": "mine", "scores": ["calibrated"],
        }
    )  # fmt: skip
    plain = compared(store, str(folder.path), "theirs").to_plain()
    assert (plain["difference"], plain["source_a"], plain["source_b"]) == (0.25, None, "Official verdicts")


def test_files_of_the_same_answers_are_no_difference(store: Path, tmp_path: Path) -> None:
    """A grading of a bundle writes its sample file anew; other answers, and files that are not kept, are told."""

    def patches(*texts: str) -> dict[str, Path | bytes]:
        files = {"preds.json": {"p0": {"model_patch": texts[0]}}}
        files |= {
            f"predictions-{number}.jsonl": {"instance_id": "p0", "model_patch": text}
            for number, text in enumerate(texts[1:], 2)
        }
        return {name: json.dumps(content).encode() for name, content in files.items()}

    def samples(solution: str, note: str) -> dict[str, Path | bytes]:
        return {"samples.jsonl": json.dumps({"task_id": "p0", "solution": solution, "note": note}).encode()}

    kept = {
        "a": samples("one", "x"),
        "again": samples("one", "y"),
        "other": samples("two", "x"),
        "without": {},
        "odd": {"samples.jsonl": b'{"task_id": "p0", "sample": []}\n{"task_id": "p0", "solution": NaN}\n'},
        "patches": patches("one", "two"),
        "same patches": patches("one", "two"),
        "fewer patches": patches("one"),
    }
    (run,) = [add_run(tmp_path / "first", "m", "P")]
    with ResultStore(store) as opened:
        for number, (model, files) in enumerate(kept.items()):
            changed = {"entry": "", "run_id": model, "model": model, "files": {}}
            manifest = {"samples_digest": f"{number}", "model": model}
            opened.add(dataclasses.replace(run, **changed, manifest=manifest), rows_of(outcomes("P")), files)
    told = {
        pair: [name for name, _, _ in compared(store, *pair).comparisons[0].settings] for pair in combinations(kept, 2)
    }
    alike = {pair for pair, names in told.items() if "samples_digest" not in names}
    assert alike == {("a", "again"), ("patches", "same patches")}
    folder = ResultsFolder(tmp_path / "mine")
    folder.path.mkdir()
    folder.write_rows(rows_of(outcomes("P")))
    for name, content in kept["a"].items():
        assert isinstance(content, bytes)
        (folder.path / name).write_bytes(content)
    with ResultStore(store) as opened:
        (known,) = opened.runs(model="a")
        said = {"benchmark": known.benchmark, "version": known.version, "data_digest": "", "subset": known.subset}
    folder.write_manifest(
        {
            "status": "complete",
            "samples_digest": "f",
            "variant": "complete",
            "model": "a",
            "scores": ["calibrated"],
            **said,
        }
    )
    for other, expected in (("again", False), ("other", True)):
        (one,) = compared(store, str(folder.path), other).comparisons
        assert ("samples_digest" in [name for name, _, _ in one.settings]) is expected


def test_several_are_compared_in_pairs_with_adjusted_p_values(store: Path) -> None:
    """Every pair, or all against the first; Holm's p-values are of all comparisons made."""
    for name, results in (("a", "P" * 20), ("b", "P" * 10 + "F" * 10), ("c", "F" * 20)):
        add_run(store, name, results)
    found = compared(store, "a", "b", "c")
    assert found.pairs == ((0, 1), (0, 2), (1, 2))
    raw = [one.paired.p_value for one in found.comparisons]
    assert [one.adjusted_p for one in found.comparisons] == holm(raw)
    assert found.shown == (0, 1, 2)
    plain = found.to_plain()
    assert (plain["models"], plain["against"], plain["adjusted_by"]) == (["a", "b", "c"], "all", "holm")
    assert [(one["a"], one["b"], one["n"]) for one in plain["comparisons"]] == [
        ("a", "b", 20), ("a", "c", 20), ("b", "c", 20)
    ]  # fmt: skip
    assert compared(store, "a", "b", "c", against=Against.FIRST).pairs == ((0, 1), (0, 2))


def test_adjustment_can_take_a_difference_away(store: Path) -> None:
    """What one comparison would show, three do not."""
    for name, results in (("a", "P" * 6 + "F" * 14), ("b", "F" * 20), ("c", "F" * 19 + "P")):
        add_run(store, name, results)
    assert compared(store, "a", "b").comparisons[0].paired.p_value == pytest.approx(0.03125)
    assert compared(store, "a", "b").shown == (0,)
    assert compared(store, "a", "b", "c").shown == ()


def test_every_pair_is_compared_on_its_common_problems(store: Path) -> None:
    """Different task sets make different n, and what is left out is listed."""
    add_run(store, "a", "PPPP")
    add_run(store, "b", "PF")
    add_run(store, "c", "PFP")
    found = compared(store, "a", "b", "c")
    assert [one.paired.n for one in found.comparisons] == [2, 3, 2]
    assert found.comparisons[0].a.not_in_other == ("p2", "p3")


def test_one_problem_shows_nothing(store: Path) -> None:
    """Whatever the number of samples: no interval of no width, no difference."""
    add_run(store, "a", "P")
    add_run(store, "b", "F")
    single = compared(store, "a", "b").comparisons[0]
    assert (single.shown, single.sentence) == (False, "No difference shown at n = 1: a single problem shows nothing.")
    add_run(store, "c", {"p0": (P, P, F)}, samples=3)
    add_run(store, "d", {"p0": (F, F, F)}, samples=3)
    several = compared(store, "c", "d").comparisons[0]
    assert (several.shown, several.paired.low, several.paired.high) == (False, -1.0, 1.0)


def test_what_could_have_been_shown_is_said(store: Path) -> None:
    """The smallest true difference that so many problems show; nothing where they show none."""
    add_run(store, "a", "PF" * 30)
    add_run(store, "b", "FP" * 30)
    found = compared(store, "a", "b").comparisons[0].detectable
    assert found is not None
    assert 0.2 < found < 0.5
    add_run(store, "c", "PF" * 30, run_id="c")
    assert compared(store, "a", "c").comparisons[0].detectable is None


REPOSITORIES = [ProblemFacts(id=f"p{number}", repository=f"r/{number // 5}") for number in range(30)]


def test_problems_of_a_repository_are_resampled_together(store: Path) -> None:
    """Whole repositories that come out alike widen the interval, and the p-value is of their permutation."""
    patches: dict[str, Any] = {"subset": "all", "variant": "patch", "scores": (Score.PATCH,)}
    add_run(store, "a", ("P" * 5 + "F" * 5) * 3, facts=REPOSITORIES, **patches)
    add_run(store, "b", ("F" * 5 + "P" * 4 + "F") * 3, facts=REPOSITORIES, **patches)
    plain = compared(store, "a", "b").to_plain()
    clustered = compared(store, "a", "b", cluster=Cluster.REPOSITORY)
    wide = clustered.to_plain()
    assert (plain["clusters"], wide["clusters"]) == (None, 6)
    assert wide["high"] - wide["low"] > plain["high"] - plain["low"]
    assert clustered.comparisons[0].p_value == wide["permutation_p"] > plain["permutation_p"]
    assert (wide["p_value"], wide["test"], wide["two_points_take"]) == (wide["permutation_p"], "permutation", None)
    assert plain["test"] == "mcnemar"


def test_repositories_are_read_from_instance_ids(store: Path) -> None:
    """Where nothing was written down, SWE-bench's ids name them; other ids have none."""
    ids = {f"{owner}__{owner}-{number}": (P,) for owner in ("ant", "bee") for number in range(4)}
    add_run(store, "a", ids)
    add_run(store, "b", dict.fromkeys(ids, (F,)))
    assert compared(store, "a", "b", cluster=Cluster.REPOSITORY).comparisons[0].paired.clusters == 2
    known = [ProblemFacts(id=problem, repository="ant/ant") for problem in ids if problem.endswith("ant-0")]
    add_run(store, "f", dict.fromkeys(ids, (F,)), facts=known)  # it is one repository, however that is known
    assert compared(store, "a", "f", cluster=Cluster.REPOSITORY).comparisons[0].paired.clusters == 2
    add_run(store, "c", "PF")
    add_run(store, "d", "PP")
    with pytest.raises(UsageError, match="No repository is known of p0"):
        compared(store, "c", "d", cluster=Cluster.REPOSITORY)
    one = {problem: (P,) for problem in ids if problem.startswith("ant")}
    add_run(store, "e", one)
    with pytest.raises(UsageError, match="All 4 problems are of the repository ant/ant"):
        compared(store, "a", "e", cluster=Cluster.REPOSITORY)


def test_what_cannot_be_compared_is_misuse(store: Path) -> None:
    """Fewer than two, mere numbers, unknown and ambiguous names."""
    add_run(store, "a", "PF")
    add_run(store, "twice", "PF", run_id="1")
    add_run(store, "twice", "PP", run_id="2")
    listed = StoredRun(
        entry="", run_id="n", benchmark="starter", version="", subset="full", variant="complete", model="listed",
        origin=Origin.IMPORTED, source=Source(kind="l", title="L"), reported=(ReportedScore(metric="m", value=0.5),),
    )  # fmt: skip
    with ResultStore(store) as opened:
        opened.add(listed, [], {})
    for names, words in (
        (("a",), "takes at least two runs, and 1 was named"),
        (("a", "nobody"), "nobody"),
        (("a", "twice"), "the name of 2 runs"),
        (("a", "listed"), "only numbers of its source are known"),
    ):
        with pytest.raises(UsageError, match=words):
            compared(store, *names)


def test_repositories_are_those_that_own_results_know(store: Path) -> None:
    """A side out of a bundle, wherever it is named, does not say what was resampled together."""
    patches: dict[str, Any] = {"subset": "all", "variant": "patch", "scores": (Score.PATCH,)}
    add_run(store, "a", ("P" * 5 + "F" * 5) * 3, facts=REPOSITORIES, **patches)
    apart = [dataclasses.replace(one, repository=f"r/{one.id}") for one in REPOSITORIES]
    add_run(store, "b", ("F" * 5 + "P" * 4 + "F") * 3, facts=apart, flags=("bundle",), **patches)
    for sides in (("a", "b"), ("b", "a")):
        assert compared(store, *sides, cluster=Cluster.REPOSITORY).to_plain()["clusters"] == 6
