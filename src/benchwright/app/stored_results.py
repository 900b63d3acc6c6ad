"""Runs that were recorded, for those who read them: chosen by name, listed, and handed out as data frames."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never, overload

from benchwright.app.recording import kept_files, open_to_read, stored_run_of
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def choose(names: Sequence[str], workspace: Workspace, store: ResultStore) -> list[StoredRun]:
    """The runs that names mean, in their order, each once, with their manifests.

    Args:
        names: Each the path of a results folder, the beginning of an entry's or run's id, or a model's name.
        workspace: Unused where the store was opened already; paths are relative to the working directory.
        store: Where names are looked up.  A results folder that is not recorded is lent to it: its rows, tallies and
            files can be asked of the store as those of any other, and nothing is written.

    Raises:
        UnknownNameError: A name means nothing.
        UsageError: It means several runs, or a results folder that is not complete.
    """
    found: dict[str, StoredRun] = {}
    for name in names:
        run = _of_folder(Path(name), store) if _is_folder(name) else store.run(name)
        found.setdefault(run.entry, run)
    return list(found.values())


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # a name that can be no path: too long, or with a NUL
        return False


def _of_folder(path: Path, store: ResultStore) -> StoredRun:
    folder = ResultsFolder(path)
    rows = list(folder.rows()) if folder.rows_path.exists() else None
    run = stored_run_of(folder, rows)
    return store.borrow(run, rows or (), kept_files(folder, run.manifest))


def stored_runs(
    workspace: Workspace,
    store: Path | None = None,
    *,
    benchmark: str | None = None,
    model: str | None = None,
    superseded: bool = False,
) -> tuple[list[StoredRun], list[str]]:
    """The recorded runs, and a sentence for every entry that cannot be read."""
    with open_to_read(workspace, store) as opened:
        runs = opened.runs(benchmark=benchmark, model=model, superseded=superseded)
        return runs, sorted(opened.damaged.values())


@overload
def load_results(
    *names: str,
    kind: Literal["pandas"] = ...,
    benchmark: str | None = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "pandas.DataFrame": ...
@overload
def load_results(
    *names: str,
    kind: Literal["polars"],
    benchmark: str | None = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "polars.DataFrame": ...
@overload
def load_results(
    *names: str,
    kind: Literal["arrow"],
    benchmark: str | None = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "pyarrow.Table": ...
def load_results(
    *names: str,
    kind: Literal["pandas", "polars", "arrow"] = "pandas",
    benchmark: str | None = None,
    superseded: bool = False,
    store: str | Path | None = None,
) -> Any:
    """Recorded results as a data frame: one row per problem, sample and score, with the columns of its run.

    Args:
        names: Runs: results folders, beginnings of entries' or runs' ids, or models' names.  None given means all.
        kind: ``pandas``, ``polars`` or ``arrow``; the first two must be installed.
        benchmark: Only runs of this benchmark.
        superseded: Also entries that a newer one of the same run replaces, when no names are given.
        store: The store's folder; None is the usual one.

    Returns:
        The frame.  Runs that only state scores have no rows, and are not in it.

    Raises:
        UsageError: A name means no run, or several; a library is not installed; rows are damaged.
    """
    if kind not in ("pandas", "polars", "arrow"):
        raise UsageError(f"load_results has no kind {kind!r}; choose pandas, polars or arrow.")
    from benchwright.store.frames import frame_of  # pyarrow takes time to load, and this module is for listing too

    workspace = Workspace.from_environment(os.environ)
    with open_to_read(workspace, None if store is None else Path(store)) as opened:
        runs = choose(names, workspace, opened) if names else opened.runs(superseded=superseded)
        table = frame_of(opened, [run for run in runs if benchmark in (None, run.benchmark)])
    match kind:
        case "arrow":
            return table
        case "polars":
            try:
                import polars as pl
            except ImportError as error:
                raise UsageError("kind='polars' needs the library polars; give: pip install polars") from error
            return pl.from_arrow(table)
        case "pandas":
            try:
                import pandas  # noqa: F401  # pyarrow makes the frame, and says less clearly what is missing
            except ImportError as error:
                raise UsageError("kind='pandas' needs the library pandas; give: pip install pandas") from error
            return table.to_pandas()
        case _:
            assert_never(kind)
