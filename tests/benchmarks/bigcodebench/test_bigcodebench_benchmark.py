"""Facts about the benchmark objects, assembly, prompts and statistics."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import OfficialResults, ProblemSet
from benchwright.benchmarks.bigcodebench.assemble import assemble
from benchwright.benchmarks.bigcodebench.prompts import render
from benchwright.benchmarks.bigcodebench.rows import to_problem
from benchwright.benchmarks.bigcodebench.statistics import statistics_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.answers import CodeAnswer
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.execution import Submission
from benchwright.core.runs import Score

MakeRow = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("name", ["bigcodebench", "starter"])
def test_the_registry_gives_the_built_in_benchmarks(name: str) -> None:
    """Each built-in benchmark answers to its own name and says what grading needs to know."""
    benchmark = BENCHMARKS.get(name)
    assert benchmark.name == name
    assert benchmark.licence == "Apache-2.0"
    assert benchmark.environments[0] == name
    assert benchmark.variants == ("complete", "instruct")
    assert benchmark.subsets[0] == "full"
    assert benchmark.versions


def test_a_misspelt_benchmark_names_the_near_one() -> None:
    """The registry answers an unknown name with what was probably meant."""
    with pytest.raises(UnknownNameError, match="did you mean bigcodebench"):
        BENCHMARKS.get("bigcodebnch")


@pytest.mark.parametrize(
    ("score", "stubbed"), [(Score.EXTRACTED, False), (Score.CALIBRATED, True), (Score.AS_WRITTEN, False)]
)
def test_only_the_calibrated_score_puts_the_stub_in_front(row: MakeRow, score: Score, stubbed: bool) -> None:
    """The code is the same for every score; the stub is there for the calibrated one alone."""
    problem = to_problem(row())
    submission = assemble(problem, CodeAnswer(code="x", strategy="s"), score)
    stub = problem.calibration_stub if stubbed else None
    assert submission == Submission(code="x", stub=stub, entry_point="task_func")


def test_prompts_are_given_as_the_data_has_them(row: MakeRow) -> None:
    """A variant's prompt is not touched, and another variant is refused with the known ones."""
    problem = to_problem(row(instruct_prompt=" Say x. \n"))
    assert render(problem, "instruct") == " Say x. \n"
    with pytest.raises(UnknownNameError, match="did you mean complete"):
        render(problem, "completed")


def test_statistics_count_what_is_in_the_data(row: MakeRow, three_problems: ProblemSet) -> None:
    """Tasks, libraries, domains, tests and prompt lengths are counted, the most frequent first."""
    two_tests = row()["test"] + "    def test_y(self):\n        pass\n"
    other = to_problem(
        row(
            "BigCodeBench/11",
            libs=["os", "os", "numpy"],
            domains=["text"],
            test=two_tests,
            instruct_prompt="",
        )
    )
    problems = dataclasses.replace(three_problems, problems=(*three_problems.problems, other))
    counted = statistics_of(problems)
    assert (counted.tasks, counted.libraries, counted.libraries_per_task) == (4, 2, 1.25)
    assert list(counted.tasks_by_library.items()) == [("os", 4), ("numpy", 1)]
    assert counted.tasks_by_domain == {"text": 1}
    assert (counted.tests, counted.tests_per_task, counted.fewest_tests, counted.most_tests) == (
        5,
        1.25,
        1,
        2,
    )
    assert counted.prompt_characters["instruct"] == len("Say x.") * 3 / 4


def test_statistics_of_nothing_are_refused(three_problems: ProblemSet) -> None:
    """An empty selection has no means."""
    with pytest.raises(UsageError, match="no problem"):
        statistics_of(three_problems.only([]))


def test_a_selection_keeps_order_and_identity(three_problems: ProblemSet) -> None:
    """Chosen problems stand in the set's order and name the data they are from; unknown ids are refused."""
    chosen = three_problems.only(["BigCodeBench/10", "BigCodeBench/1"])
    assert [problem.id for problem in chosen.problems] == ["BigCodeBench/1", "BigCodeBench/10"]
    assert chosen.digest == three_problems.digest
    assert set(chosen.by_id) == {"BigCodeBench/1", "BigCodeBench/10"}
    with pytest.raises(UnknownNameError, match="bigcodebench problem named 'BigCodeBench/3'"):
        three_problems.only(["BigCodeBench/3"])


def test_the_starter_tasks_load_as_problems() -> None:
    """The built-in tasks are problems with tests, domains and ids of their own."""
    problems = BENCHMARKS.get("starter").load()
    assert len(problems.problems) >= 24
    assert problems.pinned
    assert problems.problems[0].id == "Starter/0"
    counted = statistics_of(problems)
    assert counted.fewest_tests >= 5
    assert sum(counted.tasks_by_domain.values()) >= len(problems.problems)


def test_starter_data_from_a_file_is_local(row: MakeRow, write_lines: Callable[..., Path]) -> None:
    """The starter benchmark also takes tasks of the same schema from a file, named by their digest."""
    starter = BENCHMARKS.get("starter")
    path = write_lines(row("Own/1"))
    problems = starter.load(path=path)
    assert problems.version == f"local-{problems.digest[:12]}"
    assert problems.problems[0].benchmark == "starter"
    with pytest.raises(UsageError, match="leave the version out"):
        starter.load(path=path, version=starter.versions[0])
    with pytest.raises(UnknownNameError):
        starter.load(subset="hard")
    with pytest.raises(UnknownNameError):
        starter.load(version="99")


@pytest.mark.parametrize("name", ["bigcodebench", "starter"])
def test_a_benchmark_serves_the_whole_path(
    name: str, row: MakeRow, write_lines: Callable[..., Path], tmp_path: Path
) -> None:
    """Through the protocol alone: load, show, read answers, assemble, write the official files."""
    benchmark = BENCHMARKS.get(name)
    problems = benchmark.load(path=write_lines(row("Own/1"), name="data.jsonl"))
    samples = benchmark.read_samples(write_lines({"task_id": "Own/1", "solution": "x"}), problems)
    (problem,), (attempt,) = problems.problems, samples.attempts
    answer = answer_of(attempt)
    assert isinstance(answer, CodeAnswer)
    assert benchmark.render(problem, benchmark.variants[0]) == problem.prompts["complete"]
    assert benchmark.assemble(problem, answer, Score.CALIBRATED).stub == problem.calibration_stub
    results = OfficialResults(
        rows=(),
        answers={},
        messages={},
        score=Score.CALIBRATED,
        pass_at_k={},
        model=samples.model,
        variant="complete",
        reference_pass_rate=1.0,
        failed_references=(),
        date=datetime(2025, 1, 1, tzinfo=UTC),
    )
    files = benchmark.write_official_files(tmp_path, samples.name, results, problems)
    assert all(path.is_file() for path in files.paths)
