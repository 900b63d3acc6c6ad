"""``bw compare``, and the lines on laziness below the estimates of ``bw grade``."""

import json
from pathlib import Path

import pytest
from running_bw import Run
from stored_pieces import add_import, add_run

from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.folder import ResultsFolder


def grading(path: Path, passes: int, of: int, samples: int = 1, **fields: object) -> Path:
    """A finished grading in which the first problems are solved."""
    rows = []
    for number in range(of):
        for sample in range(samples):
            passed = number < passes
            verdict = Verdict(
                outcome=Outcome.PASSED if passed else Outcome.FAILED,
                reason=Reason.ALL_TESTS_PASSED if passed else Reason.ASSERTION,
                detail="why",
                planned=1,
                passed=int(passed),
                judge_version=1,
                record_digest=None,
            )
            rows.append(
                ResultRow(
                    problem_id=f"Starter/{number}",
                    sample=sample,
                    score=Score.CALIBRATED,
                    verdict=verdict,
                    job_digest=None,
                )
            )
    path.mkdir()
    folder = ResultsFolder(path)
    folder.write_rows(rows)
    folder.write_manifest(
        {
            "status": "complete", "benchmark": "starter", "version": "0.1.0", "data_digest": "d", "subset": "full",
            "variant": "complete", "model": path.name, "scores": ["calibrated"], **fields,
        }
    )  # fmt: skip
    return path


def test_a_comparison_is_said_in_words(bw: Run, tmp_path: Path) -> None:
    """Who is better and by how much, who solves what alone, which settings differ and what was left out."""
    a = grading(tmp_path / "alder", 25, 40)
    b = grading(tmp_path / "birch", 10, 30, variant="instruct")
    done = bw("compare", a, b)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[0] == "starter 0.1.0, score calibrated, 30 problems that both have"
    assert said[1] == "A: alder (complete), 83.3 %, one sample each"
    assert said[2] == "B: birch (instruct), 33.3 %, one sample each"
    assert said[3].startswith("A solves 50.0 points more [")
    assert "p = 6.1e-05, n = 30." in said[3]
    assert "exact McNemar" in said[4]
    assert said[5].startswith("Solved by A alone (15): Starter/10, Starter/11, ")
    assert said[5].endswith("… and 7 more (see the JSON)")
    assert said[6] == "Solved by B alone (0)"
    assert "A answered variant complete, B instruct" in said[7]
    assert said[8] == "model: A alder, B birch"
    assert said[9].startswith("Left out, for B does not have them: problems in A only (10): Starter/30, ")
    assert len(said) == 10


def test_several_samples_are_said_to_be_another_test(bw: Run, tmp_path: Path) -> None:
    """With more than one sample the sign test takes McNemar's place, and the words say so."""
    done = bw("compare", grading(tmp_path / "a", 5, 9, samples=2), grading(tmp_path / "b", 5, 9, samples=3))
    assert "A: a (complete), 55.6 %, up to 2 samples each" in done.stdout
    assert "No difference shown at n = 9" in done.stdout
    assert "p: sign test" in done.stdout
    assert "Ahead: A alone (0)" in done.stdout


def test_a_comparison_is_one_object(bw: Run, tmp_path: Path) -> None:
    """The fields that others build on are all there."""
    done = bw("compare", grading(tmp_path / "a", 25, 30), grading(tmp_path / "b", 10, 30), "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    fields = {"difference", "low", "high", "p_value", "only_a", "only_b", "n", "tasks_only_a", "tasks_only_b"}
    assert fields | {"mean_a", "mean_b", "k", "samples_a", "samples_b", "settings", "left_out", "test"} <= set(found)
    assert (found["difference"], found["only_a"], found["n"]) == (0.5, 15, 30)
    assert found["low"] < 0.5 < found["high"]


@pytest.mark.parametrize(
    ("fields", "arguments", "words"),
    [
        ({"benchmark": "bigcodebench"}, (), "only gradings of one benchmark"),
        ({"data_digest": "e"}, (), "--data-version"),
        ({"status": "running"}, (), "is not finished"),
        ({}, ("--score", "extracted"), "A has no score extracted"),
        ({}, ("--score", "best"), "--score"),
    ],
)
def test_what_cannot_be_compared_is_misuse(
    bw: Run, tmp_path: Path, fields: dict[str, str], arguments: tuple[str, ...], words: str
) -> None:
    """Exit code 2, nothing on standard output, and what to do."""
    a, b = grading(tmp_path / "a", 1, 2), grading(tmp_path / "b", 1, 2, **fields)
    done = bw("compare", a, b, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_the_report_of_a_grading_has_two_lines_on_laziness() -> None:
    """One with the share and the tasks, one with the plain gap; none when there is a single score."""
    from benchwright.app.summary import summarise
    from benchwright.cli.tables import laziness_lines

    def row(problem: str, score: Score, outcome: Outcome, *missing: str) -> ResultRow:
        verdict = Verdict(
            outcome=outcome,
            reason=Reason.EXCEPTION,
            detail="",
            planned=1,
            passed=0,
            judge_version=1,
            record_digest=None,
        )
        return ResultRow(
            problem_id=problem, sample=0, score=score, verdict=verdict, job_digest=None, missing_names=missing
        )

    rows = [row(str(i), score, Outcome.FAILED) for i in range(9) for score in (Score.EXTRACTED, Score.CALIBRATED)]
    rows += [row("9", Score.EXTRACTED, Outcome.FAILED, "np"), row("9", Score.CALIBRATED, Outcome.PASSED)]
    given = {"9": frozenset({"np"})}
    scores = (Score.EXTRACTED, Score.CALIBRATED)
    lazy, gap = laziness_lines(summarise(rows, scores, {}, given_names=given))
    assert lazy.startswith("Laziness 10.0 %  [1.8, 40.4]: 1 of 10 tasks fail as extracted for want of a name")
    assert gap.startswith("Calibrated minus extracted +10.0 points  [-19.6, ")
    assert gap.endswith("p = 1")
    assert laziness_lines(summarise(rows, scores, {})) == []
    _, nothing = laziness_lines(summarise(rows[:4], scores, {}, given_names=given))
    assert nothing == "Calibrated minus extracted +0.0 points: no task came out differently"


def test_one_p_value_is_printed_in_one_way(bw: Run, tmp_path: Path) -> None:
    """Among two runs and among three the same comparison has the same p, with two digits that count."""
    store = tmp_path / "home" / "results"
    add_run(store, "a", "P" * 18)
    add_run(store, "b", "F" * 17 + "P")
    add_run(store, "c", "P" * 18)
    assert "p = 1.5e-05, n = 18." in bw("compare", "a", "b").stdout
    row = next(line for line in bw("compare", "a", "b", "c").stdout.splitlines() if "+94.4" in line)
    assert [cell.strip() for cell in row.split("│")][4:6] == ["1.5e-05", "4.6e-05"]


def test_problems_are_listed_by_their_numbers(bw: Run, tmp_path: Path) -> None:
    """2 stands before 12, whatever the order of rows, in the lists and in the JSON."""
    numbers = (1, 12, 123, 15, 2)
    store = tmp_path / "home" / "results"
    add_run(store, "a", {f"Task/{one}": (Outcome.PASSED,) for one in (*numbers, 30, 4)})
    add_run(store, "b", {f"Task/{one}": (Outcome.FAILED,) for one in numbers})
    said = bw("compare", "a", "b").stdout
    assert "Solved by A alone (5): Task/1, Task/2, Task/12, Task/15, Task/123\n" in said
    assert "problems in A only (2): Task/4, Task/30" in said
    plain = json.loads(bw("compare", "a", "b", "--json").stdout)
    assert plain["tasks_only_a"] == [f"Task/{one}" for one in sorted(numbers)]


def test_what_repositories_could_have_shown_is_said(bw: Run, tmp_path: Path) -> None:
    """With clusters the difference that would show is theirs, which is larger than that of as many single problems."""
    store = tmp_path / "home" / "results"
    ids = [f"{owner}__{owner}-{number}" for owner in "abcdefghijkl" for number in range(10)]
    for model, odd in (("one", 0), ("other", 1)):
        passes = {task: Outcome.PASSED if (ord(task[0]) + odd) % 2 else Outcome.FAILED for task in ids}
        add_run(store, model, {task: (outcome,) for task, outcome in passes.items()})
    plain = bw("compare", "one", "other").stdout
    assert "Disagreeing as here, a true difference of 25" in plain
    said = bw("compare", "one", "other", "--cluster", "repository").stdout
    assert "Over these 12 repositories a true difference of 9" in said
    assert "Disagreeing as here" not in said


def test_several_runs_of_the_store_are_a_table(bw: Run, tmp_path: Path) -> None:
    """Pairs with differences, adjusted p-values and what is shown; strange names do no harm."""
    store = tmp_path / "home" / "results"
    add_run(store, "[b]alder[/b]", "P" * 20)
    add_run(store, "birch", "P" * 10 + "F" * 10)
    add_run(store, "cedar", "F" * 19)
    done = bw("compare", "[b]alder[/b]", "birch", "cedar")
    assert (done.returncode, done.stderr) == (0, "")
    assert "[b]alder[/b]" in done.stdout
    assert "+50.0 [" in done.stdout
    assert "3 of 3 comparisons show a difference, with p-values adjusted for 3 (Holm)." in done.stdout
    assert "The runs have different problems: every pair is compared on those that both have (column n)." in done.stdout
    first = json.loads(bw("compare", "[b]alder[/b]", "birch", "cedar", "--against", "first", "--json").stdout)
    assert [(one["a"], one["b"]) for one in first["comparisons"]] == [
        ("[b]alder[/b]", "birch"), ("[b]alder[/b]", "cedar")
    ]  # fmt: skip


def test_what_no_difference_means_is_said(bw: Run, tmp_path: Path) -> None:
    """What so many problems could have shown, and that one problem shows nothing."""
    store = tmp_path / "home" / "results"
    add_run(store, "alder", "PF" * 30)
    add_run(store, "birch", "FP" * 30)
    add_import(store, "cedar", "P")
    said = bw("compare", "alder", "birch").stdout
    assert "Disagreeing as here, a true difference of 3" in said
    assert "points would show in four of five cases; one of 2 points takes " in said
    said = bw("compare", "alder", "cedar").stdout
    assert "No difference shown at n = 1" in said
    assert "one sample each; imported from Official verdicts" in said


def test_never_ranked_is_said_only_where_it_is_true(bw: Run, tmp_path: Path) -> None:
    """Every flag is named; `bw rank` leaves out a base model on instructions alone."""
    a = grading(tmp_path / "alder", 25, 40, flags=["tampered"])
    b = grading(tmp_path / "birch", 10, 40, flags=["bundle", "base_model_on_instruct"])
    said = bw("compare", a, b).stdout.splitlines()
    assert said[1].endswith("one sample each; flagged tampered")
    assert said[2].endswith("one sample each; flagged bundle, base_model_on_instruct; never ranked")
