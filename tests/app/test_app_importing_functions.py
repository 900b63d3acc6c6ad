"""BigCodeBench results of others as runs: leaderboards and official verdicts."""

import json
from pathlib import Path

import pytest
from importing_pieces import LEADERBOARD, NAME, imported, real_data, verdicts, write

from benchwright.benchmarks.bigcodebench.pins import hard_ids
from benchwright.core.digest import digest_of_bytes
from benchwright.core.errors import UsageError
from benchwright.core.results import Origin, ReportedScore
from benchwright.core.runs import Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.store.folder import facts_from_lines


def test_a_leaderboard_makes_one_run_for_each_score(tmp_path: Path) -> None:
    """Numbers only, under the source's metric, with where they are from; a score that is null makes none."""
    path = write(tmp_path / "leaderboard-full.json", LEADERBOARD)
    report, store = imported(path)
    assert [(run.model, run.variant, run.reported) for run in report.runs] == [
        ("a", "complete", (ReportedScore(metric="pass@1", value=0.611),)),
        ("b", "complete", (ReportedScore(metric="pass@1", value=0.2),)),
        ("a", "instruct", (ReportedScore(metric="pass@1", value=0.511),)),
    ]
    run, rows, files = store.added[0]
    assert run.reported_only
    assert (rows, files, run.origin, run.version) == ([], {path.name: path}, Origin.IMPORTED, "unstated")
    assert run.source is not None
    assert (run.source.kind, run.source.title) == ("bigcodebench-leaderboard", "BigCodeBench leaderboard (full)")
    assert run.source.files == ((path.name, digest_of_bytes(path.read_bytes())),)
    assert report.left_out == ("Scores of leaderboard-full.json that are null and make no run: 1 (b (instruct)).",)
    assert report.to_plain()["runs"][0]["reported"] == {"pass@1": 0.611}


def test_a_leaderboard_of_an_unsaid_subset_must_be_told(tmp_path: Path) -> None:
    """Full or hard is in the file's name, or else an option."""
    path = write(tmp_path / "results.json", LEADERBOARD)
    with pytest.raises(UsageError, match="give --subset, one of full, hard"):
        imported(path)
    report, _ = imported(path, subset="hard", variant="instruct", model="a", source_url="https://x.org")
    assert [(run.subset, run.variant, run.model) for run in report.runs] == [("hard", "instruct", "a")]
    with pytest.raises(UsageError, match="'c' is none of them"):
        imported(path, subset="hard", model="c")
    with pytest.raises(UsageError, match="about bigcodebench, not starter"):
        imported(path, subset="hard", benchmark="starter")


def test_official_verdicts_become_rows(tmp_path: Path) -> None:
    """Statuses and reasons as the source has them, no judge of ours; tasks it lacks count as not solved."""
    hard = hard_ids()
    content = verdicts(*hard[:3])
    assertion = {"test_x": '  File "t.py", line 3\nAssertionError: 3 != 4'}
    content["eval"][hard[1]] = [{"status": "fail", "details": assertion}]
    content["eval"][hard[2]] = [{"status": "timeout", "details": {}}]
    report, store = imported(write(tmp_path / f"{NAME}_eval_results.json.gz", content))
    run, rows, _ = store.added[0]
    assert (run.model, run.subset, run.variant, run.scores) == ("o--m--main", "hard", "complete", (Score.CALIBRATED,))
    assert (run.problems, run.solved, run.missing, run.finished) == (148, 1, 145, "2024-12-25T02:52:00")
    found = {row.problem_id: (row.verdict.outcome, row.verdict.reason, row.verdict.detail) for row in rows}
    assert found[hard[0]] == (Outcome.PASSED, Reason.ALL_TESTS_PASSED, "pass")
    assert found[hard[1]] == (Outcome.FAILED, Reason.ASSERTION, "fail: test_x: AssertionError: 3 != 4")
    assert found[hard[2]] == (Outcome.OVER_LIMIT, Reason.WALL_TIME, "timeout")
    assert found[hard[3]][:2] == (Outcome.NO_ANSWER, Reason.MISSING)
    assert {(row.verdict.judge_version, row.verdict.record_digest) for row in rows} == {(0, None)}
    assert "counted as not solved: 145" in report.left_out[0]


def test_the_score_must_be_known(tmp_path: Path) -> None:
    """Calibrated or not is never assumed: the name says it, a file beside it, or the user."""
    path = write(tmp_path / "hard-complete.json", verdicts(*hard_ids()))
    with pytest.raises(UsageError, match="say --score calibrated"):
        imported(path)
    with pytest.raises(UsageError, match="--score patch is for patches"):
        imported(path, score=Score.PATCH)
    report, _ = imported(path, score=Score.EXTRACTED, model="m")
    assert report.runs[0].scores == (Score.EXTRACTED,)
    assert "said by the importer" in report.notes[0]
    assert "said by the file's name" in imported(write(tmp_path / f"{NAME}.json", verdicts(*hard_ids())))[0].notes[0]


def test_variant_and_subset_must_be_known(tmp_path: Path) -> None:
    """The subset is also known by the tasks; some of the hard ones alone leave it open."""
    some = write(tmp_path / "a.json", verdicts(*hard_ids()[:3]))
    with pytest.raises(UsageError, match=r"subset of .* is said nowhere; give --subset"):
        imported(some, score=Score.CALIBRATED, variant="complete")
    every = write(tmp_path / "b.json", verdicts(*hard_ids()))
    with pytest.raises(UsageError, match=r"variant of .* is said nowhere; give --variant, one of complete, instruct"):
        imported(every, score=Score.CALIBRATED)
    with pytest.raises(UsageError, match="'both'; expected one of complete, instruct"):
        imported(every, score=Score.CALIBRATED, variant="both")
    full = write(tmp_path / "c.json", verdicts("BigCodeBench/0", "BigCodeBench/1139"))
    report, _ = imported(full, score=Score.CALIBRATED, variant="instruct", model="m")
    assert (report.runs[0].subset, report.runs[0].problems, report.runs[0].solved) == ("full", 1140, 2)


def test_tasks_that_the_benchmark_lacks_are_refused_or_ignored(tmp_path: Path) -> None:
    """A few are named; ignored ones are told; nothing but unknown ones is refused either way."""
    path = write(tmp_path / f"{NAME}.json", verdicts(*hard_ids(), "BigCodeBench/1140", "x"))
    with pytest.raises(
        UsageError, match=r"2 problems that are not among .* \(BigCodeBench/1140, x\); give --ignore-unknown"
    ):
        imported(path)
    report, _ = imported(path, ignore_unknown=True)
    assert report.runs[0].problems == 148
    assert "Unknown tasks of" in report.left_out[0]
    with pytest.raises(UsageError, match="1 problems that are not among"):
        imported(write(tmp_path / f"{NAME}.json", verdicts("x")), ignore_unknown=True)


def test_answers_come_from_the_samples_beside(tmp_path: Path) -> None:
    """Under the official name or given; a file with other samples is refused."""
    path = write(tmp_path / f"{NAME}_eval_results.json", verdicts(*hard_ids(), samples=2))
    lines = [{"task_id": one, "solution": f"x = {n}"} for one in hard_ids() for n in (0, 1)]
    samples = write(tmp_path / f"{NAME}.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
    run, rows, files = imported(path)[1].added[0]
    assert (run.samples, len(rows)) == (2, 296)
    kept = [json.loads(line) for line in bytes(files["samples.jsonl"]).splitlines()]  # type: ignore[arg-type]
    assert kept == [{**line, "sample": number % 2} for number, line in enumerate(lines)]
    assert run.source is not None
    assert [name for name, _ in run.source.files] == [path.name, samples.name]
    samples.write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"has 0 samples of BigCodeBench/\d+, and .* judges 2 \(148 tasks differ\)"):
        imported(path)


def test_real_verdicts_with_their_samples() -> None:
    """The passes are the source's, and the answers lie beside them."""
    folder = real_data() / "bigcodebench" / "samples" / "checkpoint-200"
    report, store = imported(
        folder / "hard-complete.official_verdicts.json.gz",
        score=Score.CALIBRATED,
        samples=folder / "hard-complete.samples.jsonl.gz",
    )
    run, _, files = store.added[0]
    assert (run.model, run.subset, run.variant, run.solved, run.problems) == (
        "checkpoint-200", "hard", "complete", 27, 148,
    )  # fmt: skip
    assert len(bytes(files["samples.jsonl"]).splitlines()) == 148  # type: ignore[arg-type]
    assert report.left_out == ()
    assert "problems.jsonl" not in files
    _, store = imported(
        folder / "hard-complete.official_verdicts.json.gz",
        score=Score.CALIBRATED,
        dataset=real_data() / "bigcodebench" / "BigCodeBench-v0.1.0_hf.jsonl.gz",
    )
    run, _, files = store.added[0]
    facts = facts_from_lines(bytes(files["problems.jsonl"]))  # type: ignore[arg-type]
    assert list(facts) == list(hard_ids())
    assert all(one.libraries and not one.digest for one in facts.values())
    assert (run.version, run.solved) == ("unstated", 27)
