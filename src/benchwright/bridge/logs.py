"""Inspect logs as sample files: what ``bw grade BENCH run.eval`` reads."""

from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_samples

from benchwright.benchmarks.base import ProblemSet, SampleFile
from benchwright.bridge.replies import attempt_of, reply_of
from benchwright.bridge.scoring import LEAD, NOT_ASKED, PROBLEM
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError


def is_log(path: Path) -> bool:
    """Whether a path looks like a log of Inspect's."""
    return path.suffix == ".eval"


def read_log(path: Path, problems: ProblemSet) -> SampleFile:
    """The attempts of a log that one of benchwright's tasks made.

    Samples that the model was not asked are left out; a sample whose provider failed is an attempt with that
    ending.  Raises `UsageError` for a file that is no such log, or one of other problems.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    try:
        header = read_eval_log(str(path), header_only=True)
        attempts = tuple(_attempts(path, header, problems))
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{path} is not a readable Inspect log ({type(error).__name__}: {error}).") from error
    if not attempts:
        raise UsageError(f"{path} holds no answers.")
    counts: dict[str, int] = {}
    for attempt in attempts:
        counts[attempt.problem_id] = counts.get(attempt.problem_id, 0) + 1
    return SampleFile(
        name=path.name,
        digest=digest_of([[a.problem_id, a.sample, a.raw_text, a.prefill, a.ending.value] for a in attempts]),
        files=(str(path),),
        model=header.eval.model,
        attempts=attempts,
        missing=tuple(problem.id for problem in problems.problems if problem.id not in counts),
        fewest_samples=min(counts.values()),
        most_samples=max(counts.values()),
    )


def _attempts(path: Path, header: EvalLog, problems: ProblemSet) -> Iterator[Attempt]:
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        metadata = sample.metadata
        if PROBLEM not in metadata or LEAD not in metadata:
            raise UsageError(f"{path} was not made by a task of benchwright (its samples name no problem).")
        if NOT_ASKED not in metadata:
            problem = problems.problem(metadata[PROBLEM])
            yield _attempt(sample, problem.id, header.eval.model)


def _attempt(sample: EvalSample, problem_id: str, model: str) -> Attempt:
    number = sample.epoch - 1
    if sample.error is not None and not sample.output.choices:
        detail = sample.error.message
        return Attempt(
            problem_id=problem_id,
            sample=number,
            solution=None,
            model=model,
            ending=Ending.FAILED,
            ending_detail=detail,
        )
    lead = sample.metadata[LEAD]
    return attempt_of(reply_of(sample.output), problem_id=problem_id, sample=number, lead=lead, model=model)
