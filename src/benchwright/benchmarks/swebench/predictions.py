"""Patches in the forms that agents and the official harness write them: one file, or a folder of files."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from benchwright.answers.reading import MAX_ANSWER_BYTES, too_large, unreadable_because
from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.reading import Hasher, hash_file, open_file
from benchwright.benchmarks.repositories import PatchFile, RepositorySet, named_few
from benchwright.benchmarks.swebench.files import Entry, read_entries
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.verdicts import Reason

INSTANCE, MODEL, PATCH = "instance_id", "model_name_or_path", "model_patch"
"""The official names of a prediction's fields."""

_PREDICTION_FILES = ("preds.json", "all_preds.jsonl", "predictions.jsonl", "predictions.json")
"""What agents call the one file in their output folder: mini-swe-agent, SWE-bench's own and OpenHands."""
_PATCH_SUFFIXES = (".patch", ".diff")
_FORM = f"an object with {INSTANCE}, {MODEL} and {PATCH}"
# How many unknown ids an error names before it only counts them.
_NAMED = 5


def read_predictions(path: Path, problems: RepositorySet, *, ignore_unknown: bool = False) -> PatchFile:
    """Read the patches of a file or folder for a set of problems: at most one per problem.

    A file is JSON Lines, or JSON with a list or a mapping from id, of objects with ``instance_id``,
    ``model_name_or_path`` and ``model_patch``; gzip or not.  A folder holds one such file under a name that agents
    use, or patches as ``<id>.patch``, ``<id>.diff``, ``<id>/patch.diff``, ``<id>/<id>.patch`` or ``<id>/<id>.diff``.

    A null or empty patch is an attempt without an answer, and so is one that is no text, not UTF-8 or too large; what
    is not a diff is kept as it is and found out when it is applied.  Bytes of a patch file that are not UTF-8 become
    lone surrogates (``surrogateescape``), so that patches of files in other encodings arrive unchanged.

    Raises `UsageError`, naming the place, for malformed files, ids given twice, patches of several models, and,
    unless ``ignore_unknown``, ids that the set does not have.
    """
    reading = _Reading(problems, ignore_unknown)
    source = _source(path)
    hashers = {file: hashlib.sha256() for file in source.files}
    for found in _patches_of_files(source, hashers) if source.is_patches else _patches_of_rows(source, hashers):
        reading.add(found)
    if not reading.places:
        raise UsageError(f"{path} holds no predictions; expected {_FORM} for each instance.")
    reading.refuse_repeated(path)
    reading.refuse_unknown(path)
    model = reading.one_model(path) or _model_by_name(path)
    attempted = {attempt.problem_id for attempt in reading.attempts}
    digests = [(str(file.relative_to(path)), hasher.hexdigest()) for file, hasher in hashers.items() if path.is_dir()]
    return PatchFile(
        name=path.resolve().name,
        digest=digest_of(digests) if path.is_dir() else hashers[path].hexdigest(),
        files=tuple(str(file) for file in source.files),
        model=model,
        attempts=tuple(replace(attempt, model=model) for attempt in reading.attempts),
        missing=tuple(problem.id for problem in problems.problems if problem.id not in attempted),
        ignored=tuple(reading.unknown),
    )


class _Found(NamedTuple):
    """A patch as the file has it."""

    problem_id: str
    patch: str | None
    unreadable: str | None
    model: str
    where: str


class _Source(NamedTuple):
    files: tuple[Path, ...]
    is_patches: bool
    """Whether each file is a patch; otherwise there is one file of rows."""
    ids: tuple[str, ...] = ()
    """Whose patch each file is."""


def _source(path: Path) -> _Source:
    if not path.is_dir():
        if path.name.endswith(_PATCH_SUFFIXES):
            return _Source((path,), True, (_without_suffix(path.name),))
        return _Source((path,), False)
    named = [path / name for name in _PREDICTION_FILES if (path / name).is_file()]
    if len(named) > 1:
        raise UsageError(f"The folder {path} holds {named_few(file.name for file in named)}; name the one to read.")
    if named:
        return _Source((named[0],), False)
    patches = sorted(_patch_files(path))
    if not patches:
        raise UsageError(
            f"The folder {path} holds no predictions; expected {' or '.join(_PREDICTION_FILES[:2])}, or patches named "
            "<instance_id>.patch, <instance_id>.diff or <instance_id>/patch.diff."
        )
    return _Source(tuple(file for file, _ in patches), True, tuple(problem_id for _, problem_id in patches))


def _patch_files(folder: Path) -> Iterator[tuple[Path, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            names = ("patch.diff", *(entry.name + suffix for suffix in _PATCH_SUFFIXES))
            yield from ((entry / name, entry.name) for name in names if (entry / name).is_file())
        elif entry.name.endswith(_PATCH_SUFFIXES):
            yield entry, _without_suffix(entry.name)


def _model_by_name(path: Path) -> str:
    """Whose patches they are, for want of a better source: the file's name, or its folder's when that says nothing."""
    path = path.resolve()
    return path.parent.name if path.name in _PREDICTION_FILES else _without_suffix(path.name)


def _without_suffix(name: str) -> str:
    """The name less what says its form; ids hold dots themselves."""
    name = name.removesuffix(".gz")
    for suffix in (*_PATCH_SUFFIXES, ".jsonl", ".json"):
        name = name.removesuffix(suffix)
    return name


def _patches_of_files(source: _Source, hashers: Mapping[Path, Hasher]) -> Iterator[_Found]:
    for file, problem_id in zip(source.files, source.ids, strict=True):
        hash_file(file, hashers[file])
        with open_file(file) as opened:
            data = opened.read(MAX_ANSWER_BYTES + 1)
        if len(data) > MAX_ANSWER_BYTES:
            flaw = unreadable_because(
                Reason.TOO_LARGE, f"the patch file has more than the {MAX_ANSWER_BYTES:,} bytes that are graded"
            )
            yield _Found(problem_id, None, flaw, "", str(file))
        else:
            yield _Found(problem_id, data.decode("utf-8", "surrogateescape"), None, "", str(file))


def _patches_of_rows(source: _Source, hashers: Mapping[Path, Hasher]) -> Iterator[_Found]:
    (file,) = source.files
    for entry in read_entries(file, hashers[file]):
        yield _found(entry)


def _found(entry: Entry) -> _Found:
    row = entry.value
    if entry.key is not None and (row is None or isinstance(row, str)):
        row = {PATCH: row}
    if not isinstance(row, dict):
        raise UsageError(f"{entry.where}: expected {_FORM}, got {type_name(row)}.")
    problem_id = row.get(INSTANCE, entry.key)
    if not isinstance(problem_id, str):
        raise UsageError(
            f"{entry.where}: the field {INSTANCE!r} is {'missing' if problem_id is None else type_name(problem_id)}; "
            f"expected {_FORM}."
        )
    if entry.key is not None and problem_id != entry.key:
        raise UsageError(f"{entry.where}: the prediction under this key says that it is for {problem_id!r}.")
    if PATCH not in row:
        raise UsageError(
            f"{entry.where}: the prediction for {problem_id!r} has no field {PATCH!r} (it has "
            f"{named_few(sorted(row)) or 'none'}); where there is no patch, say null."
        )
    model = row.get(MODEL)
    if model is not None and not isinstance(model, str):
        raise UsageError(f"{entry.where}: the field {MODEL!r} is {type_name(model)}; expected a string.")
    patch = row[PATCH]
    flaw = _flaw(patch, entry.undecodable)
    return _Found(problem_id, None if flaw else patch, flaw, model or "", entry.where)


def _flaw(patch: object, undecodable: int | None) -> str | None:
    if undecodable is not None:
        return unreadable_because(Reason.NOT_TEXT, f"byte {undecodable} of its line is not UTF-8")
    if patch is None:
        return None
    if not isinstance(patch, str):
        return unreadable_because(Reason.NOT_TEXT, f"the field {PATCH!r} is {type_name(patch)}, not a string")
    try:
        patch.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        line = patch.count("\n", 0, error.start) + 1
        return unreadable_because(Reason.NOT_TEXT, f"line {line} of the patch has a lone surrogate")
    return too_large(patch)


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    problems: RepositorySet
    ignore_unknown: bool
    attempts: list[Attempt] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """Where each id stands first."""
    repeated: dict[str, list[str]] = field(default_factory=dict)
    """Where ids stand again."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Where each id stands that the set does not have."""
    models: dict[str, str] = field(default_factory=dict)
    """Where each model is named first."""

    def add(self, found: _Found) -> None:
        """Take a patch."""
        if found.problem_id in self.places:
            self.repeated.setdefault(found.problem_id, [self.places[found.problem_id]]).append(found.where)
            return
        self.places[found.problem_id] = found.where
        if found.model:
            self.models.setdefault(found.model, found.where)
        if found.problem_id not in self.problems.by_id:
            self.unknown[found.problem_id] = found.where
            return
        self.attempts.append(
            Attempt(
                problem_id=found.problem_id,
                sample=0,
                solution=None,
                raw_text=found.patch,
                model=found.model,
                unreadable=found.unreadable,
            )
        )

    def refuse_repeated(self, path: Path) -> None:
        """Raise if any id was given twice: which patch is meant cannot be known."""
        if not self.repeated:
            return
        parts = [f"{problem_id} ({' and '.join(places)})" for problem_id, places in self.repeated.items()]
        raise UsageError(
            f"{path} has duplicate predictions for {len(parts)} instance{'s' if len(parts) > 1 else ''}: "
            f"{named_few(parts)}; keep one patch for each, and put further samples in files of their own."
        )

    def refuse_unknown(self, path: Path) -> None:
        """Raise if any id is not in the set, unless those are to be ignored."""
        if not self.unknown or self.ignore_unknown:
            return
        first = list(self.unknown.items())[:_NAMED]  # similar ids take time to find
        parts = [f"{problem_id!r} ({where}{self._near(problem_id)})" for problem_id, where in first]
        count = len(self.unknown)
        raise UsageError(
            f"{path} has patches for {count} instance{'s' if count > 1 else ''} that {self.problems.benchmark} "
            f"{self.problems.version} (subset {self.problems.subset}, {len(self.problems.problems)} instances) lacks: "
            f"{', '.join(parts)}{f' and {count - _NAMED} more' if count > _NAMED else ''}."
        )

    def one_model(self, path: Path) -> str:
        """The model that the rows name, or the empty string; raises if there are several."""
        if len(self.models) > 1:
            named = named_few(f"{model} ({where})" for model, where in self.models.items())
            raise UsageError(f"{path} holds patches of {len(self.models)} models: {named}; grade each by itself.")
        return next(iter(self.models), "")

    def _near(self, problem_id: str) -> str:
        known = self.problems.by_id
        # Spellings of an id in image names and on case-insensitive file systems, before asking for similar ones.
        spelling = problem_id.strip().replace("_1776_", "__")
        for candidate in (spelling, spelling.lower()):
            if candidate in known:
                return f"; did you mean {candidate}?"
        message = str(UnknownNameError("instance", problem_id, known))
        _, marker, hint = message.partition("; did you mean ")
        return f"; did you mean {hint}" if marker else ""


def prediction_rows(attempts: Iterable[Attempt]) -> dict[str, dict[str, str | None]]:
    """Attempts as ``preds.json`` has them: a mapping from id, which the official harness reads too."""
    return {
        attempt.problem_id: {INSTANCE: attempt.problem_id, MODEL: attempt.model, PATCH: attempt.raw_text}
        for attempt in attempts
    }
