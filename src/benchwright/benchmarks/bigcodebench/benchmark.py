"""BigCodeBench as a `Benchmark`: the one object that the registry gives."""

from dataclasses import dataclass
from pathlib import Path

from benchwright.benchmarks.base import Benchmark, OfficialFiles, OfficialResults, ProblemSet, SampleFile
from benchwright.benchmarks.bigcodebench import assemble, loading, official, prompts, samples
from benchwright.benchmarks.bigcodebench.pins import hard_ids, read_pins
from benchwright.core.answers import CodeAnswer
from benchwright.core.execution import Submission
from benchwright.core.problems import FunctionProblem
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.runs import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class BigCodeBench:
    """BigCodeBench, full and hard."""

    name: str = loading.BENCHMARK_NAME
    title: str = "BigCodeBench"
    environments: tuple[str, ...] = ("bigcodebench", "bigcodebench-light")
    variants: tuple[str, ...] = prompts.VARIANTS
    subsets: tuple[str, ...] = loading.SUBSETS

    @property
    def licence(self) -> str:
        """SPDX name of the data's licence."""
        return read_pins().licence

    @property
    def versions(self) -> tuple[str, ...]:
        """Published versions of the data, oldest first."""
        return read_pins().versions

    def load(self, *, subset: str | None = None, version: str | None = None, path: Path | None = None) -> ProblemSet:
        """See :func:`benchwright.benchmarks.bigcodebench.loading.load`."""
        return loading.load(subset=subset, version=version, path=path)

    def subset_ids(self, subset: str) -> frozenset[str]:
        """The ids of BigCodeBench-Hard; empty for the whole."""
        return frozenset(hard_ids()) if subset == "hard" else frozenset()

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


BENCHMARK: Benchmark = BigCodeBench()
