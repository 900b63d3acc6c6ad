"""The starter benchmark: small tasks shipped with the package, in BigCodeBench's schema and file formats."""

from dataclasses import dataclass
from pathlib import Path

import benchwright
from benchwright.benchmarks.base import Benchmark, OfficialFiles, OfficialResults, ProblemSet, SampleFile, local_version
from benchwright.benchmarks.bigcodebench import assemble, official, prompts, samples
from benchwright.benchmarks.bigcodebench.rows import digest_of_problems, problems_of, read_problems
from benchwright.benchmarks.starter.source import read_rows
from benchwright.core.answers import CodeAnswer
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.execution import Submission
from benchwright.core.problems import FunctionProblem
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.runs import Score

_NAME = "starter"
_SUBSETS = ("full",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """The built-in tasks; their version is the package's."""

    name: str = _NAME
    title: str = "Starter tasks"
    licence: str = "Apache-2.0"
    environments: tuple[str, ...] = ("starter",)
    variants: tuple[str, ...] = prompts.VARIANTS
    subsets: tuple[str, ...] = _SUBSETS
    versions: tuple[str, ...] = (benchwright.__version__,)

    def load(self, *, subset: str | None = None, version: str | None = None, path: Path | None = None) -> ProblemSet:
        """The built-in tasks, or tasks in the same schema from a file."""
        if subset is not None and subset not in _SUBSETS:
            raise UnknownNameError("subset of starter", subset, _SUBSETS)
        if version is not None and version not in self.versions:
            raise UnknownNameError("version of starter", version, self.versions)
        if path is not None and version is not None:
            raise UsageError("A starter data file has no published version; leave the version out.")
        if path is not None:
            problems = read_problems(path, benchmark=_NAME).problems
        else:
            rows = ((f"starter task {row['task_id']}", row) for row in read_rows())
            problems = problems_of(rows, benchmark=_NAME)
        digest = digest_of_problems(problems)
        return ProblemSet(
            benchmark=_NAME,
            version=self.versions[0] if path is None else local_version(digest),
            subset=_SUBSETS[0],
            digest=digest,
            source="built in" if path is None else str(path),
            pinned=path is None,
            problems=problems,
        )

    def subset_ids(self, subset: str) -> frozenset[str]:
        """Empty: there is one subset, the whole."""
        return frozenset()

    def read_samples(self, path: Path, problems: ProblemSet) -> SampleFile:
        """See :func:`benchwright.benchmarks.bigcodebench.samples.read_samples`."""
        return samples.read_samples(path, problems)

    def render(self, problem: FunctionProblem, variant: str) -> str:
        """See :func:`benchwright.benchmarks.bigcodebench.prompts.render`."""
        return prompts.render(problem, variant)

    def prompt(self, problem: FunctionProblem, variant: str, *, mode: Mode, prefill: bool = False) -> Prompt:
        """See :func:`benchwright.benchmarks.bigcodebench.prompts.prompt`."""
        return prompts.prompt(problem, variant, mode=mode, prefill=prefill)

    def for_instruction_tuned(self, variant: str) -> bool:
        """See :func:`benchwright.benchmarks.bigcodebench.prompts.for_instruction_tuned`."""
        return prompts.for_instruction_tuned(variant)

    def assemble(self, problem: FunctionProblem, answer: CodeAnswer, score: Score) -> Submission:
        """See :func:`benchwright.benchmarks.bigcodebench.assemble.assemble`."""
        return assemble.assemble(problem, answer, score)

    def write_official_files(
        self, folder: Path, stem: str, results: OfficialResults, problems: ProblemSet
    ) -> OfficialFiles:
        """See :func:`benchwright.benchmarks.bigcodebench.official.write_official_files`."""
        return official.write_official_files(folder, stem, results, problems)


BENCHMARK: Benchmark = Starter()
