"""Runs that were recorded, for those who read them: chosen by name, listed, and handed out as data frames."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never, overload

from benchwright.app.recording import kept_files, open_to_read, stored_run_of
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.store.entries import run_to_plain
from benchwright.store.finding import shown
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_NAME = 40
"""Characters of a name that a table shows; the JSON has all."""


def choose(names: Sequence[str], store: ResultStore) -> list[StoredRun]:
    """The runs that names mean, in their order, each once, with their manifests.

    Args:
        names: Each the path of a results folder, the beginning of an entry's or run's id, or a model's name.
        store: Where names are looked up.  A results folder that is not recorded is lent to it: its rows, tallies and
            files can be asked of the store as those of any other, and nothing is written.

    Raises:
        UnknownNameError: A name means nothing.
        UsageError: It means several runs, or a results folder that is not complete.
    """
    found: dict[str, StoredRun] = {}
    for name in names:
        run = _of_folder(Path(name), store) if is_folder(name) else store.run(name)
        found.setdefault(run.entry, run)
    return list(found.values())


def is_folder(name: str) -> bool:
    """Whether a name is that of a folder, whatever it holds."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # a name that can be no path: too long, or with a NUL
        return False


def _of_folder(path: Path, store: ResultStore) -> StoredRun:
    folder = ResultsFolder(path)
    rows = list(folder.rows()) if folder.rows_path.exists() else None
    run = stored_run_of(folder, rows)
    return store.borrow(run, rows or (), kept_files(folder, run.manifest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What ``bw results list`` says."""

    place: str
    """Folder of the store."""
    runs: tuple[StoredRun, ...]
    damaged: tuple[str, ...]
    """Why entries are left out, a sentence for each."""

    @property
    def table(self) -> list[tuple[str, ...]]:
        """A line of texts for each run: id, benchmark, model, solved, origin, recorded, flags."""
        return [_table_line(run) for run in self.runs]

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw results list --json``."""
        return {"place": self.place, "runs": [run_line(run) for run in self.runs], "damaged": list(self.damaged)}


def list_results(
    workspace: Workspace,
    store: Path | None = None,
    *,
    benchmark: str | None = None,
    subset: str | None = None,
    variant: str | None = None,
    model: str | None = None,
    superseded: bool = False,
) -> Listing:
    """The recorded runs, from the index alone."""
    with open_to_read(workspace, store) as opened:
        runs = opened.runs(benchmark=benchmark, subset=subset, variant=variant, model=model, superseded=superseded)
        damaged = tuple(sorted(opened.damaged.values()))
        return Listing(place=str(opened.layout.root), runs=tuple(runs), damaged=damaged)


def _table_line(run: StoredRun) -> tuple[str, ...]:
    return (
        run.entry[:12],
        " ".join(shown(part) for part in (run.benchmark, run.version, run.subset, run.variant)),
        shown(f"{run.model} ({run.scaffold})" if run.scaffold else run.model, _NAME),
        solved_words(run),
        shown(run.source.title, _NAME) if run.source else run.origin.value,
        run.recorded[:16].replace("T", " "),
        ", ".join(map(shown, run.flags)),
    )


def solved_words(run: StoredRun) -> str:
    """What a run came to, in few words: problems solved, or the score that its source states."""
    if run.reported_only:
        return ", ".join(f"{shown(one.metric)} {100 * one.value:.1f} %" for one in run.reported)
    return f"{run.solved} of {run.problems} ({run.scores[-1].value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What ``bw results show`` says of one run."""

    run: StoredRun
    recorded: bool
    """Whether it is in the store; a results folder need not be."""

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Name and value of each line for people."""
        run = self.run
        found = [
            ("entry", run.entry if self.recorded else "none: this results folder is not recorded"),
            ("run", shown(run.run_id)),
            ("benchmark", " ".join(shown(part) for part in (run.benchmark, run.version, run.subset, run.variant))),
            ("model", shown(run.model)),
            ("scaffold", shown(run.scaffold)),
            (
                "origin",
                f"{run.origin.value}{f': {shown(run.source.title)} {shown(run.source.url)}' if run.source else ''}",
            ),
            ("solved", solved_words(run)),
            ("samples", f"{run.samples} per problem"),
            ("faults", str(run.faults)),
            ("missing", str(run.missing)),
            ("cost", "unknown" if run.cost is None else f"${run.cost:,.2f}"),
            ("flags", ", ".join(map(shown, run.flags))),
            ("finished", shown(run.finished)),
            ("recorded", run.recorded),
            ("supersedes", run.supersedes or ""),
            ("files", ", ".join(map(shown, sorted(run.files)))),
        ]
        return [(name, value) for name, value in found if value]

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw results show --json``."""
        plain = run_to_plain(self.run) | {"manifest": dict(self.run.manifest)}
        return plain if self.recorded else {**plain, "entry": None}


def show_result(name: str, workspace: Workspace, store: Path | None = None) -> Shown:
    """One run, by its id, its model's name, or as a results folder; raises as `choose` does."""
    with open_to_read(workspace, store) as opened:
        (run,) = choose([name], opened)
        return Shown(run=run, recorded=bool(run.recorded))


def run_line(run: StoredRun) -> dict[str, Any]:
    """What listings say of a run, as plain data: all but its files, facts and evaluation."""
    plain = run_to_plain(run)
    for name in ("files", "facts", "evaluation", "data_digest"):
        plain.pop(name)
    return {
        **plain,
        "entry": run.entry or None,
        "source": run.source and run.source.title,
        "reported": {one.metric: one.value for one in run.reported},
    }


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
        runs = choose(names, opened) if names else opened.runs(superseded=superseded)
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
