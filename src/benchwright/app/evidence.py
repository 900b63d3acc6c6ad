"""Where the evidence behind a grading is: in the folder that it came with, or in the home that executed it."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.app.bundle_files import flaws_of_files
from benchwright.app.repositories.results import REPOSITORIES
from benchwright.app.workspace import Workspace
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import Isolation
from benchwright.store.bundle_reading import Bundle, is_bundle
from benchwright.store.evidence import MALFORMED, RECORDS, load_evidence
from benchwright.store.folder import ResultsFolder
from benchwright.store.records import RecordStore, records_in


def of_repositories(manifest: Mapping[str, Any]) -> bool:
    """Whether a grading is one of patches."""
    return manifest.get("kind") == REPOSITORIES


def controls_of(manifest: Mapping[str, Any], store: RecordStore) -> dict[str, ControlRun]:
    """The control runs of a grading of functions that are among its evidence, by problem."""
    place = place_of(manifest["environment_digest"], Isolation(manifest["isolation"]))
    found = store.controls(place, manifest["guest_version"])
    digests = manifest.get("problem_digests", {})
    return {problem: found[digest] for problem, digest in digests.items() if digest in found}


@contextlib.contextmanager
def evidence_of(folder: ResultsFolder, manifest: Mapping[str, Any], workspace: Workspace) -> Iterator[RecordStore]:
    """The records behind a grading, in a store.

    A folder out of a bundle brings its own, which never become part of the home's.  Raises `UsageError` when they
    cannot be read.
    """
    if (folder.path / RECORDS).exists():
        with brought_evidence(folder, manifest) as (store, _):
            yield store
    else:
        with workspace.records() as store:
            yield store


class Brought(NamedTuple):
    """The evidence that a folder out of a bundle brings."""

    store: RecordStore
    jobs: Sequence[str]
    """Digest of the job of every record, in file order."""


@contextlib.contextmanager
def brought_evidence(folder: ResultsFolder, manifest: Mapping[str, Any]) -> Iterator[Brought]:
    """What a folder brings, in a store that is thrown away; raises `UsageError` when it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="benchwright-evidence-") as home, records_in(Path(home)) as store:
        yield Brought(store, load_evidence(folder.path, store, repositories=of_repositories(manifest)))


@contextlib.contextmanager
def from_others(*paths: Path) -> Iterator[None]:
    """Say plainly, where one of the paths is a bundle, that its files are not of the form that is expected."""
    try:
        yield
    except MALFORMED as error:
        bundles = [str(path) for path in paths if is_bundle(path)]
        if not bundles:
            raise
        raise UsageError(
            f"The files in {' or '.join(bundles)} are not of the form that is expected ({type(error).__name__}: "
            f"{str(error)[:80]}); `bw verify` says all."
        ) from error


def unpack_into(path: Path, out: Path | None) -> Path:
    """Unpack a bundle, checked, into a new folder; returns the folder.

    Raises `UsageError` when no folder is named, or it holds something already.
    """
    if out is None:
        raise UsageError(f"{path} is a bundle, which is never changed; name a folder for the result with --out.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} holds something already; name a new folder with --out.")
    with tempfile.TemporaryDirectory(prefix="benchwright-bundle-") as name:  # where what is refused leaves nothing
        _unpack(path, Path(name))
        try:
            out.mkdir(parents=True, exist_ok=True)
            for unpacked in Path(name).iterdir():
                shutil.move(unpacked, out)
        except OSError as error:
            raise MachineError(f"{out} could not be written ({error.strerror or error}); is there room?") from error
    return out


@contextlib.contextmanager
def opened_results(path: Path) -> Iterator[ResultsFolder]:
    """The results folder at a path; that of a bundle is unpacked, checked, into a folder that goes away again."""
    if not is_bundle(path):
        yield ResultsFolder(path)
        return
    with tempfile.TemporaryDirectory(prefix="benchwright-bundle-") as folder:
        _unpack(path, Path(folder))
        yield ResultsFolder(Path(folder))


def _unpack(path: Path, folder: Path) -> None:
    """Unpack a bundle, checked; raises `UsageError` for files that no bundle has, or that have no one meaning."""
    with Bundle(path) as bundle:
        bundle.extract(folder)
        for name, flaw in flaws_of_files(folder, (file.name for file in bundle.head.files)):
            raise UsageError(f"{path} cannot be used: {name} {flaw}; `bw verify {path}` says all.")
