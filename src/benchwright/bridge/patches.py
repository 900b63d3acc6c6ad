"""Inspect logs as predictions: what ``bw grade swebench-verified run.eval`` reads."""

from pathlib import Path

from inspect_ai.log import EvalSample, read_eval_log

from benchwright.benchmarks.repositories import PatchFile, RepositorySet
from benchwright.bridge.log_samples import samples_in
from benchwright.bridge.logs import DAMAGED
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError

PATCH = "model_patch"
"""Where a log keeps a patch: in the metadata of a score (as inspect_evals' SWE-bench scorer does) or of a sample."""


def read_patch_log(path: Path, problems: RepositorySet, *, ignore_unknown: bool = False) -> PatchFile:
    """The patches of a log whose samples are named by instance, one attempt per sample and epoch.

    A patch is looked for in the scores' metadata, then in the sample's, then in the last answer.  A sample that ended
    in an error is a provider's fault only when it has no patch.  Raises `UsageError` for a file that is no log, for
    instances the set does not have unless ``ignore_unknown``, and for a log without any patch.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    try:
        header = read_eval_log(str(path), header_only=True)
        model = header.eval.model
        attempts = [_attempt(sample, model) for sample in samples_in(path, header)]
    except DAMAGED as error:
        raise UsageError(f"{path} is not a readable Inspect log ({type(error).__name__}: {error}).") from error
    if len({(attempt.problem_id, attempt.sample) for attempt in attempts}) < len(attempts):
        raise UsageError(f"{path} holds the same sample twice; it is not as it was written.")
    unknown = sorted({attempt.problem_id for attempt in attempts} - problems.by_id.keys())
    if unknown and not ignore_unknown:
        raise UnknownNameError(f"{problems.benchmark} problem", unknown[0], problems.by_id)
    kept = tuple(attempt for attempt in attempts if attempt.problem_id in problems.by_id)
    if not any(attempt.raw_text for attempt in kept):
        raise UsageError(f"{path} holds no patch of an instance of {problems.benchmark} ({len(attempts)} samples).")
    attempted = {attempt.problem_id for attempt in kept}
    return PatchFile(
        name=path.name,
        digest=digest_of([[attempt.problem_id, attempt.sample, attempt.raw_text] for attempt in kept]),
        files=(str(path),),
        model=model,
        attempts=kept,
        missing=tuple(problem.id for problem in problems.problems if problem.id not in attempted),
        ignored=tuple(unknown),
    )


def _attempt(sample: EvalSample, model: str) -> Attempt:
    patch = _patch(sample)
    failed = sample.error is not None and patch is None
    return Attempt(
        problem_id=str(sample.id),
        sample=sample.epoch - 1,
        solution=None,
        raw_text=patch,
        model=model,
        ending=Ending.FAILED if failed else Ending.SUBMITTED,
        ending_detail=sample.error.message if failed and sample.error is not None else "",
    )


def _patch(sample: EvalSample) -> str | None:
    places = [score.metadata or {} for score in (sample.scores or {}).values()]
    for metadata in (*places, sample.metadata):
        if isinstance(metadata.get(PATCH), str):
            return str(metadata[PATCH])
    answer = sample.output.completion if sample.output.choices else ""
    return answer if answer.strip() else None
