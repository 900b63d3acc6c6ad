"""The contract check of benchmarks, on those built in and on some that break their promises."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.base import OfficialFiles, OfficialResults, ProblemSet, SampleFile
from benchwright.benchmarks.bigcodebench.benchmark import BENCHMARK as BIGCODEBENCH
from benchwright.benchmarks.bigcodebench.official import read_official_verdicts
from benchwright.benchmarks.starter.benchmark import BENCHMARK as STARTER
from benchwright.benchmarks.starter.benchmark import Starter
from benchwright.core.answers import CodeAnswer
from benchwright.core.execution import Submission
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import Score
from benchwright.testing import check_benchmark

REAL = Path(__file__).parents[3] / "shared" / "data" / "bigcodebench" / "BigCodeBench-v0.1.0_hf.jsonl.gz"


@pytest.fixture(scope="module")
def starter() -> ProblemSet:
    """All starter problems."""
    return STARTER.load()


def test_the_starter_benchmark_keeps_its_promises(starter: ProblemSet) -> None:
    """Ids, prompts, plans, stubs, sample files and official files of the built-in tasks."""
    check_benchmark(STARTER, starter, read_official=read_official_verdicts)


def test_a_single_problem_can_be_checked(starter: ProblemSet) -> None:
    """A set of one problem is a problem set as well."""
    check_benchmark(STARTER, starter.only([starter.problems[0].id]))


def test_bigcodebench_keeps_its_promises() -> None:
    """The same of a cross-section of the 1,140 tasks, where the data is there."""
    if not REAL.exists():
        pytest.skip(f"the real data is not at {REAL}")
    problems = BIGCODEBENCH.load(path=REAL)
    chosen = [problem.id for problem in problems.problems[::30]]
    check_benchmark(BIGCODEBENCH, problems.only(chosen), read_official=read_official_verdicts)


def changed(problem_set: ProblemSet, **changes: Any) -> ProblemSet:
    """The set with one field of its first problem changed."""
    first, *others = problem_set.problems
    return replace(problem_set, problems=(replace(first, **changes), *others))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: replace(s, problems=()), "at least one problem"),
        (lambda s: replace(s, benchmark="other"), "names another benchmark"),
        (lambda s: replace(s, problems=(*s.problems, s.problems[0])), "not unique"),
        (lambda s: changed(s, id=s.problems[1].id), "not unique"),
        (lambda s: changed(s, digest=s.problems[1].digest), "same digest"),
        (lambda s: changed(s, benchmark="other"), "says it is of"),
        (lambda s: changed(s, prompts={"complete": " ", "instruct": "x"}), "prompt is empty"),
        (lambda s: changed(s, entry_point="other"), "does not define other"),
    ],
)
def test_flawed_problem_sets_are_found(
    starter: ProblemSet, change: Callable[[ProblemSet], ProblemSet], words: str
) -> None:
    """Each flaw is named in a sentence."""
    with pytest.raises(AssertionError, match=words):
        check_benchmark(STARTER, change(starter))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overeager(Starter):
    """Puts the stub in front of every answer."""

    def assemble(self, problem: FunctionProblem, answer: CodeAnswer, score: Score) -> Submission:
        """Always calibrated."""
        return Submission(code=answer.code, stub=problem.calibration_stub, entry_point=problem.entry_point)


@dataclass(frozen=True, slots=True, kw_only=True)
class Careless(Starter):
    """Forgets which problems have no sample."""

    def read_samples(self, path: Path, problems: ProblemSet) -> SampleFile:
        """Nothing is ever missing."""
        return replace(STARTER.read_samples(path, problems), missing=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rosy(Starter):
    """Drops faults without a word."""

    def write_official_files(
        self, folder: Path, stem: str, results: OfficialResults, problems: ProblemSet
    ) -> OfficialFiles:
        """Everything is written, it says."""
        return STARTER.write_official_files(folder, stem, results, problems)._replace(left_out=())


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [(Overeager(), "wrong stub"), (Careless(), "named as missing"), (Rosy(), "neither written nor named")],
)
def test_flawed_benchmarks_are_found(starter: ProblemSet, benchmark: Starter, words: str) -> None:
    """A benchmark that calibrates, forgets or drops where it must not is caught."""
    with pytest.raises(AssertionError, match=words):
        check_benchmark(benchmark, starter.only([problem.id for problem in starter.problems[:6]]))
