"""What a grading reads before it runs anything: options, data, answers, and the identity they have together."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import benchwright
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import Benchmark, ProblemSet, SampleFile
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation
from benchwright.core.runs import Score
from benchwright.execution.guest import guest_version
from benchwright.execution.target import Target
from benchwright.grading.limits import FLOOR_SECONDS
from benchwright.judging.function import JUDGE_VERSION

DEFAULT_FLOOR_SECONDS = FLOOR_SECONDS
BOTH_SCORES = (Score.EXTRACTED, Score.CALIBRATED)
FUNCTIONS = "functions"
"""What the manifest of a grading of functions says it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    """What to grade and how."""

    benchmark: str
    samples: Path
    workers: int
    variant: str | None = None
    subset: str | None = None
    version: str | None = None
    data: Path | None = None
    """Local file with the benchmark's rows; None loads the published data."""
    environment: str | None = None
    scores: tuple[Score, ...] = BOTH_SCORES
    out: Path | None = None
    ids: tuple[str, ...] = ()
    official_limits: bool = False
    floor_seconds: float = DEFAULT_FLOOR_SECONDS
    """Smallest CPU limit of a problem with a control run."""
    isolation: Isolation = Isolation.NAMESPACE
    model: str | None = None
    extract: bool = False
    """Whether answers are read out of the raw replies by our own rules, instead of taken as the file has them."""
    official_files: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything a grading reads before it runs anything."""

    benchmark: Benchmark
    problems: ProblemSet
    samples: SampleFile
    target: Target
    manifest: dict[str, Any]
    given: tuple[Attempt, ...] | None = None
    """The samples as they were read, to be kept with the results; None where the folder has them already."""

    @property
    def run_id(self) -> str:
        return str(self.manifest["run_id"])

    @classmethod
    def read(cls, options: GradeOptions, workspace: Workspace) -> "Inputs":
        benchmark = BENCHMARKS.get(options.benchmark)
        if options.variant is not None and options.variant not in benchmark.variants:
            known = ", ".join(benchmark.variants)
            raise UsageError(f"{benchmark.title} has no variant {options.variant!r}; choose one of: {known}.")
        target = workspace.target(options.environment or benchmark.environments[0])
        problems = benchmark.load(subset=options.subset, version=options.version, path=options.data)
        given = _read_samples(options, benchmark, problems)
        samples = _raw(given) if options.extract and options.samples.suffix != ".eval" else given
        _refuse_other_subset(options, benchmark, samples)
        _refuse_other_variant(options, samples)
        if options.ids:
            problems = problems.only(options.ids)
            samples, given = _only(samples, problems), _only(given, problems)
        manifest = _manifest(options, benchmark, problems, samples, target)
        return cls(
            benchmark=benchmark,
            problems=problems,
            samples=samples,
            target=target,
            manifest=manifest,
            given=given.attempts,
        )


def _read_samples(options: GradeOptions, benchmark: Benchmark, problems: ProblemSet) -> SampleFile:
    if options.samples.suffix == ".eval":
        from benchwright.bridge.logs import read_log  # only logs need Inspect, which takes two seconds to import

        return read_log(options.samples, problems)
    return benchmark.read_samples(options.samples, problems)


def _raw(samples: SampleFile) -> SampleFile:
    """The same samples without what somebody else extracted; texts kept once are raw and solution at the same time."""
    without = sum(attempt.raw_text is None and attempt.unreadable is None for attempt in samples.attempts)
    if without:
        raise UsageError(
            f"{without} of {len(samples.attempts)} samples in {samples.name} have no raw_solution to extract from; "
            f"leave --extract out to grade their solution field."
        )
    attempts = (dataclasses.replace(attempt, solution=None) for attempt in samples.attempts)
    return dataclasses.replace(samples, attempts=tuple(attempts))


def _variant_in_name(name: str, benchmark: Benchmark) -> str:
    """The variant that a file's name speaks of, as the official tool's names do; otherwise the default."""
    named = [variant for variant in benchmark.variants if variant in name.lower()]
    return named[0] if len(named) == 1 else benchmark.variants[0]


def _refuse_other_subset(options: GradeOptions, benchmark: Benchmark, samples: SampleFile) -> None:
    """Ask rather than count hundreds of problems as missing when a file answers exactly a smaller subset."""
    if options.subset is not None or options.ids or not samples.missing:
        return
    answered = {attempt.problem_id for attempt in samples.attempts}
    for subset in benchmark.subsets[1:]:
        if answered == benchmark.subset_ids(subset):
            raise UsageError(
                f"The samples answer exactly the {len(answered)} problems of subset {subset!r}; say --subset {subset}, "
                f"or --subset {benchmark.subsets[0]} to count the other {len(samples.missing)} as missing."
            )


def _refuse_other_variant(options: GradeOptions, samples: SampleFile) -> None:
    if options.variant is not None and samples.variant not in (None, options.variant):
        raise UsageError(
            f"{options.samples} says that it answers variant {samples.variant}, but --variant {options.variant} was "
            f"given; leave --variant out."
        )


def _only(samples: SampleFile, problems: ProblemSet) -> SampleFile:
    attempts = tuple(attempt for attempt in samples.attempts if attempt.problem_id in problems.by_id)
    missing = tuple(problem for problem in samples.missing if problem in problems.by_id)
    return dataclasses.replace(samples, attempts=attempts, missing=missing)


def _manifest(
    options: GradeOptions, benchmark: Benchmark, problems: ProblemSet, samples: SampleFile, target: Target
) -> dict[str, Any]:
    identity = {
        "benchmark": benchmark.name,
        "version": problems.version,
        "data_digest": problems.digest,
        "subset": problems.subset,
        "variant": options.variant or samples.variant or _variant_in_name(options.samples.name, benchmark),
        "ids": sorted(problems.by_id) if options.ids else None,
        "samples_digest": samples.digest,
        "model": options.model or samples.model,
        "scores": [score.value for score in options.scores],
        "answers": "extracted" if options.extract else "as given",
        "environment": target.name,
        "environment_digest": target.digest,
        "isolation": options.isolation.value,
        "limits": "official" if options.official_limits else f"control, at least {options.floor_seconds:g} s",
        "guest_version": guest_version(),
        "judge_version": JUDGE_VERSION,
        "benchwright_version": benchwright.__version__,
    }
    return {
        "run_id": digest_of(identity)[:16],
        **identity,
        "data_source": problems.source,
        "data_pinned": problems.pinned,
        "samples_name": samples.name,
        "unavailable_modules": sorted(target.unavailable_modules),
    }
