"""The answers of a result bundle as something to grade: executed again on this machine, asked as they were asked."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.app.evidence import from_others, of_repositories, opened_results
from benchwright.app.grading import GradeOptions
from benchwright.benchmarks.base import LOCAL
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.swebench.loading import SUBSETS
from benchwright.core.errors import UsageError
from benchwright.core.repositories import Rules
from benchwright.core.runs import Score
from benchwright.store.bundle import SUFFIX
from benchwright.store.bundle_reading import is_bundle
from benchwright.store.folder import PATCHES, SAMPLES, ResultsFolder

if TYPE_CHECKING:
    from benchwright.app.repositories.grading import PatchGradeOptions

_ASKED = frozenset({"subset", "ids"})
"""Options that say together which problems are asked."""


def of_bundle(path: Path) -> bool:
    """Whether what is graded are the answers of a bundle.

    Such a grading checks somebody's result, and is recorded only where the user names a store: beside the result
    itself it would be a second run of the same answers.
    """
    return is_bundle(path)


@contextlib.contextmanager
def with_answers(options: GradeOptions, given: Collection[str]) -> Iterator[GradeOptions]:
    """Options for grading what ``options.samples`` names; for a bundle: its answers, asked and scored as they were.

    Environment, isolation and limits are this machine's; official limits stay official.

    Args:
        options: As the user gave them.
        given: Names of those that the user did give, which hold in any case.

    Raises `UsageError` for a bundle of another benchmark, or one that cannot be graded again.
    """
    if not is_bundle(options.samples):
        yield options
        return
    with opened_results(options.samples) as folder, tempfile.TemporaryDirectory(prefix="benchwright-answers-") as name:
        with from_others(options.samples):
            filled = _answers_of(folder, options, given)
        samples = _laid_out(folder, SAMPLES, Path(name), options.samples)
        yield dataclasses.replace(options, samples=samples, **filled)


def _answers_of(folder: ResultsFolder, options: GradeOptions, given: Collection[str]) -> dict[str, Any]:
    """What a bundle's answers were graded by, as fields of the options that the user did not give."""
    manifest = _manifest(folder, options.samples, options.benchmark, options.data)
    if of_repositories(manifest):
        raise UsageError(f"{options.samples} is a bundle of patches; expected answers to {options.benchmark}.")
    known = BENCHMARKS.get(options.benchmark).environments  # others are not looked for: a name may be a path
    filled: dict[str, Any] = {
        "variant": str(manifest["variant"]),
        "subset": str(manifest["subset"]),
        "version": None if options.data else str(manifest["version"]),
        "ids": tuple(map(str, manifest.get("ids") or ())),
        "scores": tuple(Score(score) for score in manifest["scores"]),
        "model": str(manifest["model"]),
        "environment": manifest["environment"] if manifest["environment"] in known else None,
        "official_limits": manifest["limits"] == "official",
        "extract": manifest.get("answers") == "extracted",
    }
    kept = set(given) | (_ASKED if _ASKED & set(given) else set())
    return {field: value for field, value in filled.items() if field not in kept}


@contextlib.contextmanager
def with_patches(options: "PatchGradeOptions", given: Collection[str]) -> Iterator["PatchGradeOptions"]:
    """Options for grading what ``options.predictions`` names; for a bundle: its patches, by the rules they had.

    Sandbox and environments are this machine's.  As for :func:`with_answers`.
    """
    if not is_bundle(options.predictions):
        yield options
        return
    with (
        opened_results(options.predictions) as folder,
        tempfile.TemporaryDirectory(prefix="benchwright-answers-") as name,
    ):
        with from_others(options.predictions):
            asked, filled = _patches_of(folder, options, given)
        yield dataclasses.replace(
            options,
            selection=dataclasses.replace(options.selection, **asked),
            predictions=_laid_out(folder, PATCHES, Path(name), options.predictions),
            **filled,
        )


def _patches_of(
    folder: ResultsFolder, options: "PatchGradeOptions", given: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a bundle's patches were graded by: fields of the selection, and of the options, that were not given."""
    selection = options.selection
    manifest = _manifest(folder, options.predictions, selection.benchmark, selection.data)
    if not of_repositories(manifest):
        raise UsageError(f"{options.predictions} is no bundle of patches; expected one for {selection.benchmark}.")
    asked: dict[str, Any] = {}
    if not _ASKED & set(given):
        ids = tuple(map(str, manifest.get("ids") or ()))
        asked = {"subset": _subset(manifest, options.predictions), "ids": ids}
    if "version" not in given and selection.data is None:
        asked["version"] = str(manifest["version"])
    if "timeout" not in given:
        seconds = float(manifest["limits"]["wall_seconds"])
        asked["limits"] = dataclasses.replace(selection.limits, wall_seconds=seconds)
    filled: dict[str, Any] = {}
    if "rules" not in given:
        filled["rules"] = Rules(manifest["rules"])
    if "model" not in given:
        filled["model"] = str(manifest["model"])
    return asked, filled


def _manifest(folder: ResultsFolder, bundle: Path, benchmark: str, data: Path | None) -> Mapping[str, Any]:
    manifest = folder.finished_manifest()
    if manifest.get("benchmark") != benchmark:
        raise UsageError(f"{bundle} answers {manifest.get('benchmark')}, not {benchmark}; name that benchmark.")
    if str(manifest.get("version")).startswith(LOCAL) and data is None:
        raise UsageError(
            f"{bundle} was graded with data of its own ({manifest['version']}), which a bundle does not hold; give the "
            f"file with --dataset."
        )
    return manifest


def _subset(manifest: Mapping[str, Any], bundle: Path) -> str | None:
    """The subset by its name, or None where ids say it all: never a path out of a bundle.

    Raises `UsageError` where it was a file of ids, which the bundle does not hold.
    """
    subset = str(manifest["subset"])
    if subset in SUBSETS:
        return subset
    if not manifest.get("ids"):
        raise UsageError(
            f"{bundle} was graded on the file of ids {subset!r}, which a bundle does not hold; give it with --subset."
        )
    return None


def _laid_out(folder: ResultsFolder, name: str, target: Path, bundle: Path) -> Path:
    """The file with the answers, under the bundle's name: results are called after it."""
    source = folder.path / name
    if not source.exists():
        raise UsageError(f"{bundle} holds no {name}, so there are no answers in it to grade.")
    path = target / f"{bundle.name.removesuffix(SUFFIX)}{source.suffix}"
    source.rename(path)
    return path
