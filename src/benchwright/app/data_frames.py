"""Recorded results as data frames: what ``benchwright.load_results`` is."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never, overload

from benchwright.app.recording import open_to_read
from benchwright.app.stored_results import choose, is_folder
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import Origin, StoredRun
from benchwright.core.runs import Score
from benchwright.store.finding import shown, told
from benchwright.store.results import ResultStore

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@overload
def load_results(
    *names: str,
    kind: Literal["pandas"] = ...,
    benchmark: str | None = ...,
    subset: str | None = ...,
    variant: str | None = ...,
    score: str | None = ...,
    imports: bool = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "pandas.DataFrame": ...
@overload
def load_results(
    *names: str,
    kind: Literal["polars"],
    benchmark: str | None = ...,
    subset: str | None = ...,
    variant: str | None = ...,
    score: str | None = ...,
    imports: bool = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "polars.DataFrame": ...
@overload
def load_results(
    *names: str,
    kind: Literal["arrow"],
    benchmark: str | None = ...,
    subset: str | None = ...,
    variant: str | None = ...,
    score: str | None = ...,
    imports: bool = ...,
    superseded: bool = ...,
    store: str | Path | None = ...,
) -> "pyarrow.Table": ...
def load_results(
    *names: str,
    kind: Literal["pandas", "polars", "arrow"] = "pandas",
    benchmark: str | None = None,
    subset: str | None = None,
    variant: str | None = None,
    score: str | None = None,
    imports: bool = False,
    superseded: bool = False,
    store: str | Path | None = None,
) -> Any:
    """Recorded results as a data frame: one row per problem, sample and score, with the columns of its run.

    Args:
        names: Runs: results folders, beginnings of entries' or runs' ids, or models' names.  None given means all of
            your own.
        kind: ``pandas``, ``polars`` or ``arrow``; the first two must be installed.
        benchmark: Only runs of this benchmark; of a name that several runs have, the one of this benchmark.
        subset: See above.
        variant: See above.
        score: Only rows of this score, such as ``calibrated``.
        imports: Also what others measured.  A run that is named is there in any case.
        superseded: Also entries that another one of the same run replaces, when no names are given.
        store: The store's folder; None is the usual one.

    Returns:
        The frame.  Runs that only state scores have no rows, and are not in it; damaged ones are left out with a
        warning, unless they were named.

    Raises:
        UsageError: A name means no such run, or several; a library is not installed; rows of a named run are damaged.
    """
    if kind not in ("pandas", "polars", "arrow"):
        raise UsageError(f"load_results has no kind {kind!r}; choose pandas, polars or arrow.")
    if score is not None and score not in set(Score):
        raise UnknownNameError("score", score, Score)
    from benchwright.store.frames import frame_of  # pyarrow takes time to load, and this module is for listing too

    workspace = Workspace.from_environment(os.environ)
    wanted = {"benchmark": benchmark, "subset": subset, "variant": variant}
    with open_to_read(workspace, None if store is None else Path(store)) as opened:
        if names:
            runs = [_named(name, wanted, opened) for name in names]
        else:
            origin = None if imports else Origin.OWN
            runs = [run for run in opened.runs(origin=origin, superseded=superseded) if _fits(run, wanted)]
        runs = list({run.entry: run for run in runs}.values())
        table = frame_of(opened, runs, score=score, skip_damaged=not names)
        for text in sorted(opened.damaged.values()):
            warnings.warn(text, stacklevel=2)
    return _as(kind, table)


def _named(name: str, wanted: Mapping[str, str | None], store: ResultStore) -> StoredRun:
    """The run that a name means among those that are wanted."""
    of_model = [] if is_folder(name) else store.runs(model=name)
    every = of_model or choose([name], store)
    found = [run for run in every if _fits(run, wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        asked = " ".join(value for value in wanted.values() if value is not None)
        raise UsageError(f"{shown(name)} has no run of {asked}, only of {told(every)}; ask for one of these.")
    raise UsageError(
        f"{shown(name)} is the name of {len(found)} runs ({told(found)}); give the id of one, or say more with "
        f"benchmark=, subset= and variant=."
    )


def _fits(run: StoredRun, wanted: Mapping[str, str | None]) -> bool:
    return all(value in (None, getattr(run, kind)) for kind, value in wanted.items())


def _as(kind: Literal["pandas", "polars", "arrow"], table: "pyarrow.Table") -> Any:
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
