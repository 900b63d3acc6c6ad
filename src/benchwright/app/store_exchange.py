"""Runs out of the store and into it: exports, bundles, results folders, and results that others measured."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.app.recording import open_store, open_to_read, take_folder
from benchwright.app.stored_results import choose, run_line
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.store.bundle import SUFFIX as BUNDLE_SUFFIX
from benchwright.store.folder import MANIFEST, ResultsFolder
from benchwright.store.layout import STORE_FILE

if TYPE_CHECKING:
    from benchwright.app.bundles import BundleReport
    from benchwright.app.importing import ImportOptions, ImportReport
    from benchwright.store.exchange import Exchange

__all__ = ["BUNDLE_SUFFIX", "StoreImport", "export_bundle", "export_store", "import_place"]

_EXPORT, _BUNDLE, _FOLDER = "export", "bundle", "folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreImport:
    """What came of an import."""

    place: str
    kind: str
    """``export``, ``bundle``, ``folder``, or a form of `benchwright.app.importing.Kind`."""
    runs: tuple[StoredRun, ...]
    """The new runs; of results of others all that were read."""
    new: int
    """How many entries were not in the store before."""
    there_before: int
    left_out: tuple[str, ...] = ()
    """What was not taken, and why."""
    notes: tuple[str, ...] = ()
    """What a reader must know, a sentence each."""
    foreign: "ImportReport | None" = None
    """More on results of others."""

    @property
    def damaged(self) -> bool:
        """Whether something was left out because it is damaged, and not because of what it is."""
        return self.foreign is None and bool(self.left_out)

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw store import --json``."""
        foreign = self.foreign
        return {
            "place": self.place,
            "kind": self.kind,
            "stored": foreign is None or foreign.stored,
            "new": self.new,
            "there_before": self.there_before,
            "runs": [run_line(run) for run in self.runs],
            "rows": None if foreign is None else foreign.rows,
            "notes": list(self.notes),
            "left_out": list(self.left_out),
        }


def export_store(
    place: str, names: Sequence[str], workspace: Workspace, store: Path | None, report: Callable[[int, int], None]
) -> "Exchange":
    """Copy runs of the store to a folder or an address; without names all of them, superseded entries too.

    Damaged runs are left out and named; the others are copied.

    Raises:
        UsageError: A name means no run or several, or the place cannot be used.
        MachineError: Writing failed; the same again goes on.
    """
    from benchwright.store.exchange import export_runs

    if place.endswith(".zip"):
        raise UsageError(
            f"A result bundle's name ends in {BUNDLE_SUFFIX}; give {place.removesuffix('.zip')}{BUNDLE_SUFFIX} for "
            f"one, or the name of a folder."
        )
    with open_to_read(workspace, store) as opened:
        runs = [opened.run(name) for name in names] if names else opened.runs(superseded=True)
        if not runs:
            raise UsageError(f"There are no runs in {opened.layout.root}, so there is nothing to export.")
        runs = list({run.entry: run for run in runs}.values())
        done = export_runs(opened, runs, place, lambda done: report(done, len(runs)))
        unreadable = () if names else tuple(text for _, text in sorted(opened.damaged.items()))
        return dataclasses.replace(done, problems=(*done.problems, *unreadable))


def export_bundle(
    path: Path,
    names: Sequence[str],
    workspace: Workspace,
    store: Path | None,
    *,
    sign_with: Path | None,
    with_logs: bool,
    force: bool = False,
) -> "BundleReport":
    """Make a result bundle of one run of the store, or of a results folder.

    Raises:
        UsageError: Not exactly one run is named, or it cannot become a bundle.
        MachineError: It cannot be written.
    """
    from benchwright.app.bundles import write_bundle

    if len(names) != 1:
        raise UsageError(f"A bundle is made of one run, but {len(names)} are named; name one after {path.name}.")
    folder = Path(names[0])
    if folder.is_dir():
        return write_bundle(folder, path, workspace, sign_with=sign_with, with_logs=with_logs, force=force)
    with open_to_read(workspace, store) as opened:
        (run,) = choose(names, opened)
        return write_bundle(run, path, workspace, store=opened, sign_with=sign_with, with_logs=with_logs, force=force)


def import_place(
    place: str,
    workspace: Workspace,
    store: Path | None,
    report: Callable[[int, int], None],
    *,
    options: "ImportOptions | None" = None,
    kind: str | None = None,
    dry_run: bool = False,
    take_over: bool = False,
) -> StoreImport:
    """Take runs into the store: an export, a bundle, a results folder, or results that others measured.

    Args:
        place: File, folder, or address of an export.
        workspace: Whose store, unless another is named.
        store: The store's folder.
        report: Told how far an export has been read, and how much there is.
        options: What the user says of results of others; None when that is nothing.
        kind: Their form; without it the content tells.
        dry_run: Of results of others, only say what would be imported.
        take_over: Of an export or a results folder: treat its runs as if this store had recorded them, so that they
            may count in place of those it did record.

    Raises:
        UsageError: It is nothing that can be imported, or options are given that mean nothing for it.
        MachineError: The store cannot be written.
    """
    path = Path(place)
    form = _form(place, path) if kind is None else None
    if take_over and form not in (_EXPORT, _FOLDER):
        raise UsageError(f"--take-over is for exports and results folders, and {place} is neither; leave it out.")
    if form is None:
        return _import_foreign(path, workspace, store, options, kind, dry_run=dry_run)
    if dry_run or options is not None:
        raise UsageError(
            f"{place} is no result of others but {_FORM_WORDS[form]}, which says everything itself; give it without "
            f"these options (taking it in twice changes nothing)."
        )
    if form == _EXPORT:
        return _import_export(place, workspace, store, report, take_over=take_over)
    return _import_own(path, form, workspace, store, take_over=take_over)


_FORM_WORDS = {_EXPORT: "an export of a store", _BUNDLE: "a result bundle", _FOLDER: "a results folder"}


def _form(place: str, path: Path) -> str | None:
    """Which of our own forms a place has; None for results of others, which are told apart elsewhere."""
    if "://" in place or (path / STORE_FILE).is_file():
        return _EXPORT
    if (path / MANIFEST).is_file():
        return _FOLDER
    return _BUNDLE if path.name.endswith(BUNDLE_SUFFIX) else None


def _import_export(
    place: str, workspace: Workspace, store: Path | None, report: Callable[[int, int], None], *, take_over: bool
) -> StoreImport:
    from benchwright.store.exchange import import_runs

    with open_store(workspace, store) as opened:
        done = import_runs(opened, place, report, take_over=take_over)
        taken = set(done.entries)
        runs = tuple(run for run in opened.runs(superseded=True) if run.entry in taken)
    return StoreImport(
        place=place,
        kind=_EXPORT,
        runs=runs,
        new=len(runs),
        there_before=done.there_before,
        left_out=done.problems,
        notes=(*_now_counting(done.now_count), *(_beside(entry, take_over=take_over) for entry in done.beside)),
    )


def _now_counting(count: int) -> tuple[str, ...]:
    return (f"{count} {'run that was' if count == 1 else 'runs that were'} there already count now.",) if count else ()


def _beside(entry: str, *, take_over: bool) -> str:
    if take_over:
        return (
            f"Run {entry[:12]} does not count even so: this store has recorded the same run itself, as often or more "
            f"often; `bw results list --superseded` shows both."
        )
    return (
        f"Run {entry[:12]} does not count: this store has recorded the same run itself. It is listed with "
        f"`bw results list --superseded`; --take-over lets the newest count, whoever recorded it."
    )


def _import_own(path: Path, form: str, workspace: Workspace, store: Path | None, *, take_over: bool) -> StoreImport:
    with open_store(workspace, store) as opened:
        before = opened.layout.names()
        if form == _BUNDLE:
            from benchwright.app.bundles import import_bundle

            run = import_bundle(path, opened)
        else:
            run = take_folder(opened, ResultsFolder(path), take_over=take_over)
        beside = opened.beside([run.entry])
    new = run.entry not in before
    return StoreImport(
        place=str(path),
        kind=form,
        runs=(run,) if new else (),
        new=int(new),
        there_before=int(not new),
        notes=tuple(_beside(one.entry, take_over=take_over) for one in beside),
    )


def _import_foreign(
    path: Path,
    workspace: Workspace,
    store: Path | None,
    options: "ImportOptions | None",
    kind: str | None,
    *,
    dry_run: bool,
) -> StoreImport:
    from benchwright.app.importing import import_results

    if dry_run:
        done, before = import_results(path, None, options, kind=kind, dry_run=True), set[str]()
    else:
        with open_store(workspace, store) as opened:
            before = opened.layout.names()
            done = import_results(path, opened, options, kind=kind)
    new = len({run.entry for run in done.runs} - before) if done.stored else 0
    return StoreImport(
        place=str(path),
        kind=done.kind.value,
        runs=done.runs,
        new=new,
        there_before=len(done.runs) - new if done.stored else 0,
        left_out=done.left_out,
        notes=done.notes,
        foreign=done,
    )
