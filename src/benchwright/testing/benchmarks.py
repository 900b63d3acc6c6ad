"""What every benchmark promises, as a check that anyone can run against theirs; nothing is executed."""

import ast
import json
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchwright.answers.parsing import parse
from benchwright.answers.plans import read_plan
from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import Benchmark, OfficialResults, ProblemSet, SampleKey
from benchwright.core.answers import CodeAnswer
from benchwright.core.errors import UnknownNameError
from benchwright.core.problems import FunctionProblem
from benchwright.core.prompts import Mode
from benchwright.core.runs import FUNCTION_SCORES, ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict

ReadOfficial = Callable[[Path], Mapping[SampleKey, str]]


def check_benchmark(
    benchmark: Benchmark, problem_set: ProblemSet, *, read_official: ReadOfficial | None = None
) -> None:
    """Check every promise that needs no execution; raises ``AssertionError`` that names the broken one.

    References passing and stubs failing is what ``bw bench check`` proves on a real machine.

    Args:
        benchmark: The benchmark.
        problem_set: Problems it has loaded; the more, the better.
        read_official: The benchmark's reader of its own official result file, if it has one: status by sample.
    """
    assert problem_set.problems, "expected at least one problem"
    assert problem_set.benchmark == benchmark.name, "the problem set names another benchmark"
    assert benchmark.title and benchmark.licence, "a benchmark has a title and a licence"
    assert benchmark.environments and benchmark.variants and benchmark.subsets, (
        "a benchmark names its environments, variants and subsets, the default first"
    )
    _check_ids(benchmark, problem_set)
    for problem in problem_set.problems:
        _check_problem(benchmark, problem)
    with tempfile.TemporaryDirectory() as folder:
        _check_samples(benchmark, problem_set, Path(folder))
        for score in FUNCTION_SCORES:
            _check_official_files(benchmark, problem_set, Path(folder) / score.value, score, read_official)


def _check_ids(benchmark: Benchmark, problem_set: ProblemSet) -> None:
    ids = [problem.id for problem in problem_set.problems]
    assert len(set(ids)) == len(ids), "problem ids are not unique"
    digests = {problem.digest for problem in problem_set.problems}
    assert len(digests) == len(ids), "two problems have the same digest"
    for problem in problem_set.problems:
        assert problem.benchmark == benchmark.name, f"{problem.id} says it is of {problem.benchmark!r}"
        assert problem_set.problem(problem.id) is problem, f"{problem.id} is not found by its own id"
    chosen = problem_set.only(ids[-1:])
    assert [problem.id for problem in chosen.problems] == ids[-1:], "a selection gives other problems than asked for"
    assert chosen.digest == problem_set.digest, "a selection no longer says which data it is from"
    try:
        problem_set.problem("no such problem")
    except UnknownNameError:
        pass
    else:
        raise AssertionError("an unknown id is not refused")


def _check_problem(benchmark: Benchmark, problem: FunctionProblem) -> None:
    where = problem.id
    for variant in benchmark.variants:
        text = benchmark.render(problem, variant)
        assert text.strip(), f"{where}: the {variant} prompt is empty"
        assert text == benchmark.render(problem, variant), f"{where}: the {variant} prompt changes between calls"
        for mode in Mode:
            sent = benchmark.prompt(problem, variant, mode=mode)
            assert sent == benchmark.prompt(problem, variant, mode=mode), f"{where}: what is sent changes between calls"
            assert text.strip() in sent.text, f"{where}: the {mode} prompt leaves out the {variant} text"
            assert sent.mode is mode and sent.template_digest, f"{where}: the {mode} prompt does not say what it is"
    plan = read_plan(problem.test_source)
    assert plan == read_plan(problem.test_source), f"{where}: the plan changes between calls"
    assert len({test.id for test in plan.tests}) == len(plan.tests), f"{where}: two planned tests share an id"
    for name, source in (("stub", problem.calibration_stub), ("reference", problem.reference)):
        functions = {node.name for node in ast.walk(parse(source)) if isinstance(node, ast.FunctionDef)}
        assert problem.entry_point in functions, f"{where}: the {name} does not define {problem.entry_point}"
    answer = CodeAnswer(code=problem.reference, strategy="check")
    for score in FUNCTION_SCORES:
        submission = benchmark.assemble(problem, answer, score)
        assert submission.code == problem.reference, f"{where}: assembling under {score} changes the answer"
        assert submission.entry_point == problem.entry_point, f"{where}: assembling changes the entry point"
        assert (submission.stub is not None) == (score is Score.CALIBRATED), f"{where}: {score} has the wrong stub"


def _check_samples(benchmark: Benchmark, problem_set: ProblemSet, folder: Path) -> None:
    problems = problem_set.problems
    file = folder / "samples.jsonl"
    rows = [
        {"task_id": problem.id, "solution": f"# {n}\n{problem.reference}"} for problem in problems for n in range(2)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[:-2]), encoding="utf-8")
    if len(problems) == 1:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    samples = benchmark.read_samples(file, problem_set)
    keys = [(attempt.problem_id, attempt.sample) for attempt in samples.attempts]
    expected = [(problem.id, n) for problem in (problems[:-1] or problems) for n in range(2)]
    assert keys == expected, "samples are not numbered from 0 in file order"
    for attempt, row in zip(samples.attempts, rows, strict=False):
        answer = answer_of(attempt)
        assert isinstance(answer, CodeAnswer) and answer.code == row["solution"], (
            "a solution is not read as it was written"
        )
    missing = tuple(problem.id for problem in problems[1:][-1:])
    assert samples.missing == missing, f"expected {missing} to be named as missing, got {samples.missing}"
    assert samples.digest == benchmark.read_samples(file, problem_set).digest, "the file's digest changes between calls"


def _check_official_files(
    benchmark: Benchmark, problem_set: ProblemSet, folder: Path, score: Score, read: ReadOfficial | None
) -> None:
    statuses = {Outcome.PASSED: "pass", Outcome.FAILED: "fail", Outcome.OVER_LIMIT: "timeout", Outcome.FAULT: None}
    kinds = list(statuses)
    rows = tuple(
        _row(problem.id, kinds[index % len(kinds)], score) for index, problem in enumerate(problem_set.problems)
    )
    results = OfficialResults(
        rows=rows,
        answers={SampleKey(problem.id, 0): problem.reference for problem in problem_set.problems},
        messages={},
        score=score,
        pass_at_k={1: 0.25},
        model="checked",
        variant=benchmark.variants[0],
        reference_pass_rate=1.0,
        failed_references=(),
        date=datetime(2024, 6, 22, tzinfo=UTC),
    )
    written = benchmark.write_official_files(folder, "checked", results, problem_set)
    faults = {SampleKey(row.problem_id, 0) for row in rows if row.verdict.outcome is Outcome.FAULT}
    assert set(written.left_out) == faults, "faults are neither written nor named as left out"
    assert written.paths and all(path.is_file() for path in written.paths), "an official file was not written"
    if read is not None:
        found = dict(read(written.paths[0]))
        expected = {
            SampleKey(row.problem_id, 0): status
            for row in rows
            if (status := statuses[row.verdict.outcome]) is not None
        }
        assert found == expected, "official files do not read back as they were written"


def _row(problem_id: str, outcome: Outcome, score: Score) -> ResultRow:
    reasons = {
        Outcome.PASSED: Reason.ALL_TESTS_PASSED,
        Outcome.FAILED: Reason.ASSERTION,
        Outcome.OVER_LIMIT: Reason.WALL_TIME,
        Outcome.FAULT: Reason.SANDBOX_LOST,
    }
    verdict = Verdict(
        outcome=outcome,
        reason=reasons[outcome],
        detail="made for a check",
        planned=1,
        passed=int(outcome is Outcome.PASSED),
        judge_version=0,
        record_digest=None,
    )
    return ResultRow(problem_id=problem_id, sample=0, score=score, verdict=verdict, job_digest=None)
