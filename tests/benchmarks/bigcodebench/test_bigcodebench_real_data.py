"""Facts about the real data set, real sample files and the official verdicts on them."""

import gzip
import json
from pathlib import Path

import pytest

from benchwright.answers.plans import read_plan
from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet, SampleKey
from benchwright.benchmarks.bigcodebench.loading import load
from benchwright.benchmarks.bigcodebench.official import read_official_verdicts
from benchwright.benchmarks.bigcodebench.pins import hard_ids
from benchwright.benchmarks.bigcodebench.samples import read_samples
from benchwright.benchmarks.bigcodebench.statistics import statistics_of
from benchwright.core.answers import NoAnswer
from benchwright.core.verdicts import Reason

DATA = "BigCodeBench-v0.1.0_hf.jsonl.gz"


@pytest.fixture(scope="module")
def full(real_data: Path) -> ProblemSet:
    return load(path=real_data / DATA)


@pytest.fixture(scope="module")
def hard(real_data: Path) -> ProblemSet:
    return load(path=real_data / DATA, subset="hard", version="v0.1.0_hf")


def test_the_published_file_is_recognised(full: ProblemSet, hard: ProblemSet) -> None:
    """The file of v0.1.0_hf is that version by its digest, full and restricted to the hard subset."""
    assert (full.version, full.pinned, len(full.problems)) == ("v0.1.0_hf", True, 1140)
    assert (hard.version, hard.pinned, len(hard.problems)) == ("v0.1.0_hf", True, 148)
    assert full.digest != hard.digest


def test_the_hard_ids_are_the_published_ones(real_data: Path) -> None:
    """The list in the package is the one that published sample files were made for."""
    assert set(hard_ids()) == set(json.loads((real_data / "hard_task_ids.json").read_text()))


def test_the_statistics_are_those_of_the_paper(full: ProblemSet) -> None:
    """1,140 tasks, 139 libraries, 2.8 libraries and 5.6 tests per task, as published."""
    counted = statistics_of(full)
    assert (counted.tasks, counted.libraries, counted.tests) == (1140, 139, 6420)
    assert round(counted.tests_per_task, 1) == 5.6
    assert round(counted.libraries_per_task, 1) == 2.8
    assert {variant: round(length) for variant, length in counted.prompt_characters.items()} == {
        "complete": 1112,
        "instruct": 663,
    }


def test_no_published_test_asks_for_a_skip(full: ProblemSet) -> None:
    """Every test of the benchmark is meant to run, so a skipped one is always the answer's doing."""
    plans = [read_plan(problem.test_source) for problem in full.problems]
    assert not any(test.may_skip for plan in plans for test in plan.tests)
    assert {plan.class_name for plan in plans} == {"TestCases"}


@pytest.mark.parametrize(
    "name",
    [
        "Qwen2.5-Coder-7B-Instruct/full-complete",
        "Qwen2.5-Coder-7B-Instruct/hard-complete",
        "Qwen2.5-Coder-7B-Instruct/hard-instruct",
        "checkpoint-200/hard-complete",
        "checkpoint-200/hard-instruct",
        "checkpoint-400/hard-complete",
        "checkpoint-400/hard-instruct",
    ],
)
def test_real_samples_and_official_verdicts_fit_together(
    real_data: Path, full: ProblemSet, hard: ProblemSet, name: str
) -> None:
    """Each real file answers every task once, with an official verdict about tests that the plan names."""
    problems = hard if "hard-" in name else full
    file = read_samples(real_data / "samples" / f"{name}.samples.jsonl.gz", problems)
    verdict_path = real_data / "samples" / f"{name}.official_verdicts.json.gz"
    verdicts = read_official_verdicts(verdict_path)
    assert file.model == name.partition("/")[0]
    assert (file.missing, file.fewest_samples, file.most_samples) == ((), 1, 1)
    assert {(attempt.problem_id, attempt.sample) for attempt in file.attempts} == set(verdicts)
    for attempt in file.attempts:
        answer = answer_of(attempt)
        if isinstance(answer, NoAnswer):  # the model wrote nothing for 760 and 764
            assert (attempt.problem_id[-4:], answer.reason) in {
                ("/760", Reason.EMPTY),
                ("/764", Reason.EMPTY),
            }
            assert verdicts[SampleKey(attempt.problem_id, attempt.sample)] == "fail"
    with gzip.open(verdict_path) as stream:
        evaluated = json.load(stream)["eval"]
    for problem_id, samples in evaluated.items():
        planned = {test.id.partition(".")[2] for test in read_plan(problems.problem(problem_id).test_source).tests}
        reported = {test for sample in samples for test in sample["details"]} - {"ALL"}
        # Task 488 uses subtests, whose official names carry parameters and are cut at a dot.
        assert reported <= planned or problem_id == "BigCodeBench/488"
