"""Gradings as results folders, wherever they are: in a folder, in a bundle, or in the store."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from benchwright.app.evidence import opened_results
from benchwright.app.recording import open_to_read
from benchwright.app.stored_results import choose, is_folder
from benchwright.app.workspace import Workspace
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.results import StoredRun
from benchwright.store.bundle_reading import is_bundle
from benchwright.store.entries import ROWS_FILE
from benchwright.store.finding import shown
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore


@contextlib.contextmanager
def opened_grading(name: str, workspace: Workspace, store: Path | None = None) -> Iterator[ResultsFolder]:
    """The results folder that a name means; bundles and entries of the store are laid out in one that goes away again.

    Args:
        name: A results folder, a bundle, the beginning of an entry's or run's id, or a model's name.
        workspace: Whose store, unless another is named.
        store: The store's folder.

    Raises:
        UnknownNameError: The name means nothing.
        UsageError: It means several runs, an import without evidence, or a bundle that cannot be read.
    """
    if is_folder(name) or is_bundle(Path(name)):
        with opened_results(Path(name)) as folder:
            yield folder
        return
    with open_to_read(workspace, store) as opened:
        (run,) = choose([name], opened)
        with folder_of(run, opened) as folder:
            yield folder


@contextlib.contextmanager
def folder_of(run: Path | StoredRun, store: ResultStore | None) -> Iterator[ResultsFolder]:
    """The results folder at a path; an entry of the store is laid out in one that goes away again.

    Raises `UsageError` for an import, which has no evidence, and for damaged files.
    """
    if isinstance(run, Path):
        yield ResultsFolder(run)
        return
    assert store is not None, "an entry comes with its store"
    if run.reported_only or run.source is not None:
        raise UsageError(
            f"{run.model} on {run.benchmark} is an import without evidence; expected a result that benchwright graded."
        )
    with tempfile.TemporaryDirectory(prefix="benchwright-entry-") as name:
        folder = ResultsFolder(Path(name))
        for file in run.files:
            if file == ROWS_FILE:
                continue
            _write(folder.path, file, store.read_file(run.entry, file))
        if not folder.rows_path.exists():
            folder.write_rows(store.rows(run.entry))
        yield folder


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a file of an entry, whose names may be somebody else's: an import takes them over as they are."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise UsageError(f"The run's file {shown(name)} leads out of its folder; somebody made it, and it is not used.")
    target = folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except UnicodeEncodeError as error:
        raise UsageError(f"The run's file {shown(name)} has a name that no file can have; it is not used.") from error
    except OSError as error:
        raise MachineError(f"{shown(str(target))} could not be written ({error.strerror}); is there room?") from error
