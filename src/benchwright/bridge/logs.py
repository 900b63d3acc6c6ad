"""Inspect logs as sample files: what ``bw grade BENCH run.eval`` reads."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from benchwright.benchmarks.base import ProblemSet, SampleFile
from benchwright.bridge.log_samples import samples_in
from benchwright.bridge.replies import attempt_of, clip, reply_of
from benchwright.bridge.scoring import LEAD, NOT_ASKED, PROBLEM
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.errors import UsageError

# What a damaged or made-up archive raises, in Inspect's reader or in ours.
DAMAGED = (
    OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


def read_log(path: Path, problems: ProblemSet) -> SampleFile:
    """The attempts of a log that one of benchwright's tasks made.

    Samples that the model was not asked are left out; a sample whose provider failed is an attempt with that
    ending.  Raises `UsageError` for a file that is no such log, or one of other problems.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    try:
        header = read_eval_log(str(path), header_only=True)
        _refuse_other_data(path, header, problems)
        attempts = tuple(_attempts(path, header, problems))
    except DAMAGED as error:
        raise UsageError(f"{path} is not a readable Inspect log ({type(error).__name__}: {error}).") from error
    if not attempts:
        raise UsageError(f"{path} holds no answers.")
    if len({(attempt.problem_id, attempt.sample) for attempt in attempts}) < len(attempts):
        raise UsageError(f"{path} holds the same sample twice; it is not as it was written.")
    answered = {attempt.problem_id for attempt in attempts}
    return SampleFile.of(
        attempts,
        name=path.name,
        files=(str(path),),
        model=header.eval.model,
        missing=[problem.id for problem in problems.problems if problem.id not in answered],
        variant=(header.eval.metadata or {}).get("variant"),
    )


def _refuse_other_data(path: Path, header: EvalLog, problems: ProblemSet) -> None:
    """The prompts that were answered and the tests that judge must be of the same data."""
    asked = header.eval.metadata or {}
    named = [asked.get("benchmark"), asked.get("version")]
    here = [problems.benchmark, problems.version]
    same_subset = asked.get("subset") == problems.subset
    if asked and (named != here or (same_subset and asked.get("data_digest") != problems.digest)):
        raise UsageError(
            f"{path} answers {named[0]} {named[1]}, and would be judged by {here[0]} {here[1]} with other data; give "
            f"the data it was made with (--data-version or --dataset)."
        )


def _attempts(path: Path, header: EvalLog, problems: ProblemSet) -> Iterator[Attempt]:
    for sample in samples_in(path, header):
        metadata = sample.metadata
        if PROBLEM not in metadata or LEAD not in metadata:
            raise UsageError(f"{path} was not made by a task of benchwright (its samples name no problem).")
        if not isinstance(metadata[LEAD], str) or sample.epoch < 1:
            raise ValueError("a sample's metadata is not as it was written")
        if NOT_ASKED not in metadata:
            problem = problems.problem(metadata[PROBLEM])
            yield _attempt(sample, problem.id, header.eval.model)


def _attempt(sample: EvalSample, problem_id: str, model: str) -> Attempt:
    number = sample.epoch - 1
    if not sample.output.choices:
        # Ended by an error, or by one of Inspect's limits: either way the model has not answered.
        detail = f"ended by Inspect's limit: {sample.limit.type}" if sample.limit else "no output"
        if sample.error is not None:  # Inspect puts the whole request before the provider's words
            detail = clip(sample.error.message.rpartition("\\n\\n")[2])
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
