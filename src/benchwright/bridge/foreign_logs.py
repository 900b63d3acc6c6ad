"""Inspect logs of other people's tasks, such as those of inspect_evals: what their scorers said, sample by sample."""

import hashlib
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.scorer import Score

from benchwright.benchmarks.reading import hash_file
from benchwright.bridge.log_samples import samples_in
from benchwright.bridge.logs import DAMAGED
from benchwright.bridge.scoring import LEAD, PROBLEM
from benchwright.core.errors import UsageError

#: Largest part of a log, unpacked: a sample is parsed whole, which takes several times its size in memory.
_MAX_PART_BYTES = 512 * 1024 * 1024
_OWN = "benchwright/"
_IDS_IN_METADATA = ("task_id", "task_id_metadata", "instance_id")
_WORDS = {"C": True, "I": False, "P": False, "N": False}
"""Inspect's letters: correct, incorrect, partially correct, no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSample:
    """One sample and its score."""

    id: str
    """The sample's id; ``task_id`` or ``instance_id`` of its metadata where that says more than a number."""
    epoch: int
    """From 1."""
    passed: bool | None
    """None when it was not scored."""
    detail: str
    """The score as the log has it and the scorer's explanation; of a sample without score: why, as far as it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLog:
    """What a log says."""

    task: str
    scorer: str
    model: str
    solver: str
    status: str
    """``success``, or another word of Inspect's for a run that did not come to its end."""
    finished: str
    """ISO 8601."""
    asked: tuple[str, ...]
    """Ids of the samples that the run was to have; empty where the log does not say."""
    samples: tuple[ForeignSample, ...]
    cost: float | None
    """USD, where Inspect has worked it out for all models."""
    facts: Mapping[str, Any]
    """Versions and tokens, as plain data."""
    sha256: str


def read_foreign_log(path: Path, *, scorer: str | None = None) -> ForeignLog:
    """Read a log's scores.

    Args:
        path: ``.eval`` or ``.json``.
        scorer: Whose score it is; needed where samples have several.

    Raises:
        UsageError: It is no readable log, or one of benchwright's own tasks (which `bw grade` reads), has scores that
            are neither right nor wrong, or several scorers and none is named.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    _refuse_oversize(path)
    try:
        header = read_eval_log(str(path), header_only=True)
        _refuse_own(path, header)
        reading = _Reading(path, scorer)
        samples = tuple(reading.sample(sample) for sample in samples_in(path, header))
    except DAMAGED as error:
        text = f"{type(error).__name__}: {error}"
        raise UsageError(f"{path} is not a readable Inspect log ({text[:300]}).") from error
    if not samples:
        raise UsageError(f"{path} holds no samples.")
    if len({(sample.id, sample.epoch) for sample in samples}) < len(samples):
        raise UsageError(f"{path} holds the same sample twice; it is not as it was written.")
    if all(sample.passed is None for sample in samples):
        raise UsageError(f"{path} holds no score of its {len(samples)} samples; grade its answers with bw grade.")
    hasher = hashlib.sha256()
    hash_file(path, hasher)
    return _log(header, samples, reading, hasher.hexdigest())


def _log(header: EvalLog, samples: tuple[ForeignSample, ...], reading: "_Reading", sha256: str) -> ForeignLog:
    usage = header.stats.model_usage
    costs = [one.total_cost for one in usage.values()]
    known = [cost for cost in costs if cost is not None]
    asked = tuple(reading.ids.get(str(one), str(one)) for one in header.eval.dataset.sample_ids or ())
    return ForeignLog(
        task=header.eval.task_registry_name or header.eval.task,
        scorer=reading.scorer or "",
        model=header.eval.model,
        solver=header.eval.solver or "",
        status=header.status,
        finished=header.stats.completed_at or header.eval.created,
        asked=asked,
        samples=samples,
        cost=math.fsum(known) if known and len(known) == len(costs) else None,
        facts={
            "packages": dict(header.eval.packages),
            "task_version": str(header.eval.task_version),
            "usage": {model: one.model_dump(exclude_none=True) for model, one in usage.items()},
        },
        sha256=sha256,
    )


def _refuse_oversize(path: Path) -> None:
    """Raise for a log whose parts unpack to more than is read; anything that is no archive is taken by its size."""
    try:
        with zipfile.ZipFile(path) as archive:
            largest = max((part.file_size for part in archive.infolist()), default=0)
    except zipfile.BadZipFile:
        largest = path.stat().st_size
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if largest > _MAX_PART_BYTES:
        raise UsageError(f"{path} has a part of {largest:,} bytes; at most {_MAX_PART_BYTES:,} are read.")


def _refuse_own(path: Path, header: EvalLog) -> None:
    named = (header.eval.metadata or {}).get("benchmark")
    if (header.eval.task_registry_name or "").startswith(_OWN):
        raise UsageError(
            f"{path} was made by a task of benchwright; it is not imported but graded: bw grade {named or 'BENCHMARK'} "
            f"{path.name}."
        )


class _Reading:
    """Reads samples, and settles on the scorer by the first that has a score."""

    def __init__(self, path: Path, scorer: str | None) -> None:
        self.path = path
        self.scorer = scorer
        self.ids: dict[str, str] = {}
        """What a sample is called, by its id in the log."""

    def sample(self, sample: EvalSample) -> ForeignSample:
        """One sample; raises `UsageError` for one whose score cannot be taken."""
        if {PROBLEM, LEAD} <= sample.metadata.keys():
            raise UsageError(f"{self.path} was made by a task of benchwright; it is not imported but graded: bw grade.")
        scores = sample.scores or {}
        score = self._chosen(scores)
        where = f"{self.path}, sample {str(sample.id)!r:.80}"
        passed = None if score is None else _passed(score, where)
        named = self.ids[str(sample.id)] = _id(sample)
        return ForeignSample(id=named, epoch=sample.epoch, passed=passed, detail=_detail(sample, score, passed))

    def _chosen(self, scores: Mapping[str, Score]) -> Score | None:
        if not scores:
            return None
        if self.scorer is None:
            if len(scores) > 1:
                raise UsageError(f"{self.path} has the scorers {', '.join(sorted(scores))}; name one with --scorer.")
            self.scorer = next(iter(scores))
        if self.scorer not in scores:
            raise UsageError(f"{self.path} has no scorer {self.scorer!r}; it has {', '.join(sorted(scores))}.")
        return scores[self.scorer]


def _id(sample: EvalSample) -> str:
    """See `ForeignSample.id`."""
    found = str(sample.id)
    if found.isdecimal():
        said = (sample.metadata.get(name) for name in _IDS_IN_METADATA)
        return next((one for one in said if isinstance(one, str) and one), found)
    return found


def _passed(score: Score, where: str) -> bool | None:
    value = score.value
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, bool | int | float):
        if value in (0, 1):
            return bool(value)
        if isinstance(value, float) and math.isnan(value):  # Inspect's mark of a sample that is not scored
            return None
    raise UsageError(f"{where}: the score is {value!r:.60}; expected C or I, 1 or 0.")


def _detail(sample: EvalSample, score: Score | None, passed: bool | None) -> str:
    if passed is None and sample.error is not None:
        return f"not scored: {sample.error.message}"
    if score is None:
        return f"not scored: ended by Inspect's limit: {sample.limit.type}" if sample.limit else "not scored"
    last = (score.explanation or "").strip().splitlines()[-1:]
    return ": ".join([f"{score.value}", *last])
