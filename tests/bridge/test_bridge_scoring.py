"""What Inspect's log and viewer show of a graded attempt, and what happens when grading goes wrong."""

import asyncio
import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, private_home
from run_pieces import Runs, fenced, log_of, problem_of, reasons, reference, unexecuted
from scripted_server import Answer, scripted_server

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.bridge.grader import ALL_SCORES, Graded, Grader
from benchwright.bridge.scoring import score_of
from benchwright.core.attempts import Attempt
from benchwright.core.errors import MachineError
from benchwright.core.execution import ExecutionRecord, Isolation, Job, TestOutcome
from benchwright.core.runs import Score
from benchwright.grading.pipeline import Pipeline
from benchwright.grading.service import GradingService
from benchwright.testing import ScriptedScheduler, finished_record, lost_record

PROBLEM = PROBLEMS[0]


class Graders:
    """Grades attempts of the first starter task, with scripted executions."""

    def __init__(self, home: Path) -> None:
        self.workspace = Workspace(home=home)
        self.script: Any = finished_record
        self.told: list[object] = []

    def grade(self, text: str, scores: tuple[Score, ...] = ALL_SCORES, solution: str | None = None) -> list[Graded]:
        """Grade one reply, or a solution that is taken as it is."""
        pipeline = Pipeline(BENCHMARK, self.workspace.target("starter"), Isolation.NAMESPACE, {}, official_limits=False)
        attempt = Attempt(problem_id=PROBLEM.id, sample=0, solution=solution, raw_text=text)
        with GradingService(ScriptedScheduler(self.script), self.workspace.records) as service:
            grader = Grader(
                pipeline,
                service,
                scores,
                on_graded=lambda: self.told.append("graded"),
                on_error=self.told.append,
            )
            return asyncio.run(grader.grade(PROBLEM, attempt))


@pytest.fixture
def graders(tmp_path: Path) -> Graders:
    """Makes graders in a home of its own."""
    return Graders(private_home(tmp_path / "home"))


def failing(job: Job) -> ExecutionRecord:
    """The first test fails, the others pass."""
    return finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})


def test_every_score_is_graded_in_order(graders: Graders) -> None:
    """One attempt gives one result per score, judged from an execution of its own, and is told once."""
    graded = graders.grade(fenced(PROBLEM.reference))
    assert [item.row.score for item in graded] == list(ALL_SCORES)
    assert len({item.row.job_digest for item in graded}) == 3
    assert all(item.record is not None for item in graded)
    assert graders.told == ["graded"]


def test_a_score_has_code_rule_and_tests(graders: Graders) -> None:
    """The code that was graded is the answer; the rule, the tests and the verdicts are in the metadata."""
    graders.script = failing
    score = score_of(graders.grade(fenced(PROBLEM.reference)))
    assert score.value == {"as_written": 0.0, "extracted": 0.0, "calibrated": 0.0}
    assert (score.answer or "").strip() == PROBLEM.reference.strip()
    metadata = score.metadata or {}
    assert metadata["strategy"] == "fenced"
    outcomes = [test["outcome"] for test in metadata["tests"]["extracted"]]
    assert outcomes == ["failed", *["passed"] * (len(outcomes) - 1)]
    assert metadata["verdicts"]["extracted"]["tests"] == {"planned": len(outcomes), "passed": len(outcomes) - 1}


def test_an_explanation_shows_what_failed(graders: Graders) -> None:
    """It has a line per score, the rule, the code, and the message of each test that did not pass; of no other."""
    graders.script = failing
    graded = graders.grade(fenced(PROBLEM.reference))
    text = score_of(graded).explanation or ""
    record = graded[-1].record
    assert record is not None
    for name in ("as written", "extracted", "calibrated"):
        assert f"| {name} |" in text
    assert f"**{record.tests[0].id}**: failed" in text
    assert "    AssertionError: as scripted" in text
    assert all(f"**{test.id}**" not in text for test in record.tests[1:])
    assert "Extraction: fenced" in text
    assert PROBLEM.reference.strip() in text


def test_an_attempt_without_code_is_explained(graders: Graders) -> None:
    """Without anything to run there is no answer, and the reason stands where the rule would."""
    score = score_of(graders.grade("no code from me", (Score.EXTRACTED,)))
    assert (score.answer, score.value) == (None, {"extracted": 0.0})
    assert "Extraction: no code found" in (score.explanation or "")
    assert (score.metadata or {})["tests"] == {"extracted": []}


def test_foreign_words_cannot_break_the_table(graders: Graders) -> None:
    """What a test says stays in its cell, as code, and a fence in the answer does not end the block it is shown in."""

    def speaking(job: Job) -> ExecutionRecord:
        record = failing(job)
        first = dataclasses.replace(record.tests[0], message="ValueError: a | b `c` ![d](http://e)")
        return dataclasses.replace(record, tests=(first, *record.tests[1:]))

    graders.script = speaking
    code = PROBLEM.reference + '\nTEXT = """\n```\n| a | b |\n```\n"""\n'
    text = score_of(graders.grade("", (Score.EXTRACTED,), code)).explanation or ""
    table = text.split("\n\n")[0].splitlines()
    assert len(table) == 3
    assert "![d](http://e)" in table[2]
    assert table[2].replace("\\|", "").count("|") == 5
    assert table[2].count("`") == 2
    assert f"````python\n{code}" in text


def test_a_fault_is_not_a_number(graders: Graders) -> None:
    """A sandbox that broke says nothing about the answer: the value is none that could be counted."""
    graders.script = lost_record
    score = score_of(graders.grade(fenced(PROBLEM.reference), (Score.EXTRACTED,)))
    assert isinstance(score.value, dict)
    value = score.value["extracted"]
    assert isinstance(value, float)
    assert math.isnan(value)
    assert "fault" in (score.explanation or "")


@pytest.mark.parametrize("error", [MachineError("no more processes"), ZeroDivisionError("a bug")])
def test_an_error_of_grading_is_told_before_it_is_raised(graders: Graders, error: Exception) -> None:
    """Whoever asks models must know at once that nothing can be graded any more; the sample is named."""

    def broken(job: Job) -> ExecutionRecord:
        raise error

    graders.script = broken
    with pytest.raises(type(error)) as caught:
        graders.grade(fenced(PROBLEM.reference), (Score.EXTRACTED,))
    assert graders.told == [caught.value]
    assert caught.value.__notes__ == [f"while grading sample 0 of {PROBLEM.id}"]


@pytest.fixture
def executions(monkeypatch: pytest.MonkeyPatch) -> ScriptedFactory:
    """Executions of runs, by a script."""
    return unexecuted(monkeypatch)


def test_a_fault_is_in_no_mean_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executions: ScriptedFactory
) -> None:
    """Inspect's own means leave out what broke, as the table does, instead of counting it or becoming no number."""
    stub = PROBLEMS[1].stub.strip().splitlines()[-1]

    def script(job: Job) -> ExecutionRecord:
        broken = len(executions.ran) > 1 and stub in job.submission.code
        return lost_record(job) if broken else finished_record(job)

    executions.script = script
    runs = Runs(tmp_path, private_home(tmp_path / "home"), monkeypatch)
    with scripted_server(lambda body, number: Answer(text=fenced(problem_of(body).reference))) as server:
        report = runs.run(server, limit=3)
    assert [verdict.partition(" ")[0] for verdict in reasons(report).values()] == ["passed", "fault", "passed"]
    results = log_of(report).results
    assert results is not None
    means = {score.name: score.metrics["mean"].value for score in results.scores}
    assert means == {"as_written": 1.0, "extracted": 1.0, "calibrated": 1.0}


def test_what_was_not_asked_is_in_no_mean_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executions: ScriptedFactory
) -> None:
    """Samples that a budget left out are there, say why, and count for nothing."""
    runs = Runs(tmp_path, private_home(tmp_path / "home"), monkeypatch)
    with scripted_server(lambda body, number: Answer(text=reference(body).text, usage=(900, 50))) as server:
        report = runs.run(server, limit=4, max_tokens=2_000, reply_tokens=50, max_connections=1)
    assert report.not_asked
    log = log_of(report)
    unasked = [sample for sample in log.samples or [] if f"{sample.id}#0" in report.not_asked]
    assert len(unasked) == len(report.not_asked)
    assert all(sample.error is None for sample in unasked)
    for sample in unasked:
        ((_, score),) = (sample.scores or {}).items()
        assert "The model was not asked: A call may use" in (score.explanation or "")
    assert log.results is not None
    assert {score.metrics["mean"].value for score in log.results.scores if score.name in list(ALL_SCORES)} == {1.0}
