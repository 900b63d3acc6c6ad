"""Inspect logs as predictions of repository problems."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalError, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

from benchwright.benchmarks.repositories import PatchFile, RepositorySet
from benchwright.benchmarks.swebench.rows import to_problem
from benchwright.bridge.patches import read_patch_log
from benchwright.core.attempts import Ending
from benchwright.core.errors import UnknownNameError, UsageError

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


def problem_set(*ids: str) -> RepositorySet:
    """Problems of these ids."""
    row = {"repo": "o/n", "version": "1", "base_commit": "a" * 40, "problem_statement": "x"}
    problems = tuple(to_problem({"instance_id": name, **row}, benchmark="b") for name in ids)
    return RepositorySet(
        benchmark="b", version="1", subset="all", digest="d", source="rows", pinned=False, problems=problems
    )


def sample(name: str = "o__n-1", epoch: int = 1, **fields: Any) -> EvalSample:
    """A sample of a log."""
    return EvalSample(id=name, epoch=epoch, input="fix it", target="", **fields)


def write_log(path: Path, *samples: EvalSample, named: bool = True) -> Path:
    """A log of samples; older versions of Inspect did not name them in its header."""
    ids = [str(one.id) for one in samples] if named else None
    spec = EvalSpec(
        created="2025-01-01T00:00:00+00:00",
        task="swe_bench",
        dataset=EvalDataset(sample_ids=list(dict.fromkeys(ids)) if ids else None),
        model="provider/model",
        config=EvalConfig(epochs=max((one.epoch for one in samples), default=1)),
    )
    write_eval_log(EvalLog(eval=spec, samples=list(samples)), str(path))
    return path


def read(tmp_path: Path, *samples: EvalSample, **options: Any) -> PatchFile:
    """What a log of these samples holds for three problems."""
    path = write_log(tmp_path / "run.eval", *samples, named=options.pop("named", True))
    return read_patch_log(path, problem_set("o__n-1", "o__n-2", "o__n-3"), **options)


def text(found: PatchFile) -> str | None:
    """The first patch."""
    return found.attempts[0].raw_text


SCORES = {"scorer": Score(value=1, metadata={"model_patch": PATCH})}


@pytest.mark.parametrize(
    "fields",
    [
        {"scores": SCORES},
        {"scores": {"other": Score(value=1), **SCORES}},
        {"metadata": {"model_patch": PATCH}},
        {"output": ModelOutput.from_content("m", PATCH)},
        {"scores": SCORES, "metadata": {"model_patch": "older"}, "output": ModelOutput.from_content("m", "Done.")},
        {"scores": {"s": Score(value=0, metadata={"model_patch": None})}, "metadata": {"model_patch": PATCH}},
    ],
    ids=["score", "second score", "sample", "answer", "score first", "null is none"],
)
def test_where_a_patch_is_found(tmp_path: Path, fields: dict[str, Any]) -> None:
    """In the metadata of a score, else in that of the sample, else in the last answer."""
    found = read(tmp_path, sample(**fields))
    assert text(found) == PATCH
    assert (found.model, found.name, found.missing) == ("provider/model", "run.eval", ("o__n-2", "o__n-3"))
    assert found.attempts[0].ending is Ending.SUBMITTED


def test_an_empty_patch_is_one(tmp_path: Path) -> None:
    """An agent that changed nothing has answered, whatever it says about it."""
    done = ModelOutput.from_content("m", "Nothing to do.")
    found = read(tmp_path, sample(metadata={"model_patch": ""}, output=done), sample("o__n-2", scores=SCORES))
    assert text(found) == ""


def test_epochs_are_samples(tmp_path: Path) -> None:
    """Each is an attempt of its own."""
    found = read(tmp_path, sample(scores=SCORES), sample(epoch=2, metadata={"model_patch": "other"}))
    assert [(one.sample, one.raw_text) for one in found.attempts] == [(0, PATCH), (1, "other")]


def test_an_error_is_the_providers_only_without_a_patch(tmp_path: Path) -> None:
    """What was handed in before it is graded."""
    error = EvalError(message="overloaded", traceback="", traceback_ansi="")
    found = read(tmp_path, sample(error=error), sample("o__n-2", error=error, scores=SCORES))
    first, second = found.attempts
    assert (first.ending, first.ending_detail, first.raw_text) == (Ending.FAILED, "overloaded", None)
    assert (second.ending, second.raw_text) == (Ending.SUBMITTED, PATCH)


def test_a_log_that_does_not_name_its_samples(tmp_path: Path) -> None:
    """Older ones do not; it is read whole."""
    assert text(read(tmp_path, sample(scores=SCORES), named=False)) == PATCH


def test_the_digest_is_of_the_patches(tmp_path: Path) -> None:
    """Two logs of the same patches are the same predictions; another patch makes others."""
    one = read(tmp_path, sample(scores=SCORES))
    same = read(tmp_path, sample(metadata={"model_patch": PATCH}))
    other = read(tmp_path, sample(metadata={"model_patch": PATCH + "\n"}))
    assert one.digest == same.digest != other.digest


def test_unknown_instances(tmp_path: Path) -> None:
    """They are refused with near misses, or left out and listed."""
    samples = (sample(scores=SCORES), sample("o__n-l", scores=SCORES))
    with pytest.raises(UnknownNameError, match="'o__n-l'; did you mean"):
        read(tmp_path, *samples)
    found = read(tmp_path, *samples, ignore_unknown=True)
    assert found.ignored == ("o__n-l",)
    assert [one.problem_id for one in found.attempts] == ["o__n-1"]


def test_the_same_sample_twice(tmp_path: Path) -> None:
    """Which of them is meant cannot be known."""
    path = write_log(tmp_path / "run.eval", sample(scores=SCORES), sample("o__n-2", scores=SCORES))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data.replace(b'"o__n-2"', b'"o__n-1"') if "samples/" in name else data)
    with pytest.raises(UsageError, match="the same sample twice"):
        read_patch_log(path, problem_set("o__n-1", "o__n-2"))


@pytest.mark.parametrize("samples", [(), (sample(),), (sample(metadata={"model_patch": ""}),)])
def test_a_log_without_any_patch(tmp_path: Path, samples: tuple[EvalSample, ...]) -> None:
    """It was probably made for something else."""
    with pytest.raises(UsageError, match="holds no patch of an instance of b"):
        read(tmp_path, *samples)


@pytest.mark.parametrize("content", [b"", b"not a log", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_log(tmp_path: Path, content: bytes) -> None:
    """It is named."""
    path = tmp_path / "run.eval"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"run\.eval is not a readable Inspect log"):
        read_patch_log(path, problem_set("o__n-1"))


def test_no_file(tmp_path: Path) -> None:
    """A folder is none, either."""
    for path in (tmp_path / "run.eval", tmp_path):
        with pytest.raises(UsageError, match="There is no file"):
            read_patch_log(path, problem_set("o__n-1"))
