"""From a results folder to the store of results: what a finished grading records at its end."""

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.bigcodebench.official import RATES_ENDING, VERDICTS_ENDING
from benchwright.core.errors import BenchwrightError, UsageError
from benchwright.core.results import FROM_FOLDER, Origin, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.entries import run_to_plain
from benchwright.store.entry_checks import check_run
from benchwright.store.evidence import RECORDS
from benchwright.store.folder import (
    ASIDE,
    ATTEMPTS,
    JOBS,
    MANIFEST,
    PATCHES,
    PLANS,
    PROBLEMS,
    RUN,
    SAMPLES,
    TESTS,
    ResultsFolder,
    is_predictions,
)
from benchwright.store.layout import Layout
from benchwright.store.replies import NAME as REPLIES
from benchwright.store.results import ResultStore
from benchwright.store.row_facts import TAMPERED, facts_of_rows

_KEPT = (MANIFEST, PLANS, PROBLEMS, SAMPLES, PATCHES, JOBS, TESTS, RUN, ATTEMPTS)
"""Files of a results folder that go into the store, besides patches of agents and official files; logs and journals of
calls stay in the folder."""


def open_store(workspace: Workspace, path: Path | None = None, *, read_only: bool = False) -> ResultStore:
    """Open the store of a workspace, or one at a path; use as a context manager."""
    return ResultStore(path or workspace.results, read_only=read_only)


def open_to_read(workspace: Workspace, path: Path | None = None) -> ResultStore:
    """Open a store for a command that records nothing; the usual one, not there, is empty, and is not made.

    An index that is there is brought up to date where it can be written.  None is made in a place that was named: it
    may be an export, which has none.  Raises `UsageError` when a place was named, and there is no store.
    """
    place = path or workspace.results
    if path is not None and not Layout(path).exists():
        Layout(path).check_usable()  # where there is something else, that is what must be said
        raise UsageError(f"There is no store of results in {path}; name another folder with --store.")
    kept = place.is_dir() and os.access(place, os.W_OK) and (path is None or Layout(place).index.exists())
    return ResultStore(place, read_only=not kept)


def check_store(workspace: Workspace, path: Path | None = None) -> Path:
    """The place of the store that will be recorded in, found usable before hours of work; nothing is written yet.

    Raises `UsageError` when there is something else, or a store of a newer version.
    """
    place = path or workspace.results
    Layout(place).check_usable()
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What became of recording a finished grading."""

    entry: str | None
    """None when it was not recorded."""
    problem: BenchwrightError | None = None
    """Why it could not be; the results folder is complete all the same."""

    def raise_problem(self) -> None:
        """Raise the problem, if there was one: after the results have been shown."""
        if self.problem is not None:
            raise self.problem


def stored_run_of(folder: ResultsFolder, rows: Sequence[ResultRow] | None = None) -> StoredRun:
    """A results folder as a run of the store: functions, repositories, runs of models and of agents.

    Args:
        folder: A finished one.
        rows: Its rows, if they were read already.

    Raises:
        UsageError: The grading is not complete, or its files cannot be read.
    """
    manifest = folder.finished_manifest()
    rows = list(folder.rows()) if rows is None else rows
    try:
        return _stored_run(folder, manifest, rows)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{folder.path / MANIFEST} does not say what a manifest says ({error!r}); grade again to make it anew."
        ) from error


def _stored_run(folder: ResultsFolder, manifest: Mapping[str, Any], rows: Sequence[ResultRow]) -> StoredRun:
    scores = _in_order((Score(name) for name in manifest["scores"]), rows)
    facts = facts_of_rows(rows, scores[-1] if scores else None)
    run = StoredRun(
        entry="",
        run_id=run_id_of(folder, manifest),
        origin=Origin.OWN,
        benchmark=manifest["benchmark"],
        version=manifest["version"],
        data_digest=manifest.get("data_digest", ""),
        subset=manifest["subset"],
        variant=manifest["variant"],
        model=manifest["model"],
        scaffold=manifest.get("scaffold", ""),
        scores=scores,
        problems=facts.problems,
        samples=facts.samples,
        solved=facts.solved,
        faults=facts.faults,
        missing=facts.missing,
        cost=manifest.get("cost"),
        flags=tuple(dict.fromkeys(_flags(manifest, tampered=facts.tampered))),
        evaluation=manifest.get("evaluation"),
        finished=manifest.get("finished", ""),
        manifest=manifest,
    )
    check_run(run_to_plain(run))
    return run


def _in_order(scores: Iterable[Score], rows: Iterable[ResultRow]) -> tuple[Score, ...]:
    there = {row.score for row in rows}
    return tuple(score for score in scores if score in there)


def _flags(manifest: Mapping[str, Any], *, tampered: bool) -> Iterable[str]:
    said = manifest.get("flags", [])
    if not isinstance(said, list | tuple) or not all(isinstance(name, str) for name in said):
        raise ValueError("its flags are no list of names")
    yield from said
    if tampered or manifest.get("tampered"):  # the manifest alone could leave it out
        yield TAMPERED
    if manifest.get("isolation", "namespace") != "namespace":
        yield "weak_isolation"


def run_id_of(folder: ResultsFolder, manifest: Mapping[str, Any]) -> str:
    """The identity of a folder's run in the store.

    Settings alone make the ``run_id`` of ``bw run``: asked twice in two folders, a model answers twice, and these are
    two runs.  What tells them apart is the first line of the journal of replies, which never changes.
    """
    for name in (REPLIES, JOURNAL):
        try:
            with (folder.path / name).open("rb") as file:
                return f"{manifest['run_id']}-{hashlib.sha256(file.readline()).hexdigest()[:8]}"
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UsageError(f"{folder.path / name} cannot be read ({error.strerror}).") from error
    return str(manifest["run_id"])


def kept_files(folder: ResultsFolder, manifest: Mapping[str, Any]) -> dict[str, Path | bytes]:
    """The files of a results folder that go into the store, by name."""
    endings = (VERDICTS_ENDING, RATES_ENDING, f".{manifest['run_id']}.json")
    return {
        path.name: path
        for path in sorted(folder.path.iterdir())
        if (path.name in _KEPT or is_predictions(path.name) or path.name.endswith(endings))
        and path.is_file()
        and not path.is_symlink()
        and f".{ASIDE}" not in path.name
    }


def record(folder: ResultsFolder, store_root: Path) -> StoredRun:
    """Record a finished results folder; the same verdicts recorded again change nothing.

    Raises:
        UsageError: The grading is not complete, or the store is none that can be used.
        MachineError: The store cannot be written; nothing was recorded.
    """
    with ResultStore(store_root) as store:
        return record_into(store, folder)


def record_into(store: ResultStore, folder: ResultsFolder) -> StoredRun:
    """As :func:`record`, into a store that is open."""
    run, rows, files = _contents(folder)
    return store.add(run, rows, files)


def take_folder(store: ResultStore, folder: ResultsFolder, *, take_over: bool = False) -> StoredRun:
    """Take a finished results folder into a store that did not record it when it was graded.

    Nothing shows where it was graded, so the run is flagged ``from_folder``; and it does not count where the store has
    recorded the same run itself.  One that is to take over is recorded as if it had been graded here.  What says the
    same is left as it is.  Raises as `record`.
    """
    run, rows, files = _contents(folder)
    if take_over:
        return store.add(run, rows, files)
    handed = dataclasses.replace(run, flags=(*run.flags, FROM_FOLDER))
    known = store.saying(run, rows) or store.saying(handed, rows)
    if known is not None:
        return store.run(known.entry)
    return store.add(handed, rows, files, yields=True)


def _contents(folder: ResultsFolder) -> tuple[StoredRun, list[ResultRow], dict[str, Path | bytes]]:
    """What of a results folder goes into the store, read and checked."""
    if (folder.path / RECORDS).exists():
        raise UsageError(
            f"{folder.path} was unpacked from a result bundle and is not recorded as one of your own; take the bundle "
            f"in with `bw store import`."
        )
    rows = list(folder.rows())
    run = stored_run_of(folder, rows)
    folder.problem_facts()
    return run, rows, kept_files(folder, run.manifest)


def record_finished(path: Path, store_root: Path | None) -> Recorded:
    """Record what a command has just finished, without losing its output when that cannot be done.

    Args:
        path: The results folder.
        store_root: The store; None records nothing.
    """
    folder = ResultsFolder(path)
    if store_root is None or folder.manifest().get("status") != "complete":
        return Recorded(entry=None)
    try:
        return Recorded(entry=record(folder, store_root).entry)
    except BenchwrightError as error:
        text = f"The results in {path} are complete, but were not recorded in the store: {error}"
        return Recorded(entry=None, problem=type(error)(text))
