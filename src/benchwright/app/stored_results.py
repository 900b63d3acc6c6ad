"""Runs that were recorded, for those who read them: chosen by name, listed, and handed out as data frames."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.recording import kept_files, open_to_read, stored_run_of
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.published import size_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import StoredRun
from benchwright.store.entries import run_to_plain
from benchwright.store.finding import near_names, shown
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore

_PATH = 1000
"""Characters of a path that a message shows: one that is cut does not say what was looked for."""
_FEW = 5
"""Names that a message lists."""
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
        UsageError: It means several runs, a results folder that is not complete, or a path where there is no folder.
    """
    found: dict[str, StoredRun] = {}
    for name in names:
        run = _of_folder(Path(name), store) if is_folder(name) else _of_store(name, store)
        found.setdefault(run.entry, run)
    return list(found.values())


def _of_store(name: str, store: ResultStore) -> StoredRun:
    """The run of that name; what looks like a path and is no name in the store is told to be no folder either."""
    try:
        return store.run(name)
    except UnknownNameError as error:
        if _exists(name):
            raise UsageError(
                f"{shown(name)} is a file; expected a results folder, the beginning of an id, or a model's name "
                f"(`bw store import` takes files into the store)."
            ) from error
        if "/" in name or name.startswith("~"):
            path = shown(name, _PATH)
            there = f"There is no folder {path}" if _may_look(name) else f"The permission to look for {path} is missing"
            raise UsageError(
                f"{there}, and no run in {store.layout.root} has that name; `bw results list` shows what runs there "
                f"are."
            ) from error
        raise


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _may_look(name: str) -> bool:
    """Whether it can be told what is at a path, or that nothing is."""
    try:
        Path(name).exists()
    except PermissionError:
        return False
    except (OSError, ValueError):
        pass
    return True


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
class Part:
    """How much of its benchmark a run was asked."""

    problems: int
    whole: int | None
    """Problems that its subset has; None where that is not known."""
    chosen: bool | None = None
    """Whether its manifest says that problems were chosen, by ids or by number; None where it was not looked at."""

    @property
    def partial(self) -> bool | None:
        """Whether problems are left out, so that `bw rank` keeps it apart; None where nothing tells."""
        return self.chosen if self.whole is None else 0 < self.problems < self.whole

    @property
    def words(self) -> str:
        """Such as ``1,140``, ``12 of 1,140``, ``12 chosen``; nothing where a source states scores only."""
        count = f"{self.problems:,}" if self.problems else ""
        if not self.partial:
            return count
        return f"{count} chosen" if self.whole is None else f"{count} of {self.whole:,}"

    def to_plain(self) -> dict[str, Any]:
        """Fields of a run in a listing."""
        return {"whole": self.whole, "partial": self.partial}


class _Wholes:
    """How many problems there are where runs of a store were asked: by the benchmark, or else by the fullest run."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store

    def of(self, run: StoredRun) -> int | None:
        """None where no run on the same data was asked more."""
        known = size_of(run.benchmark, run.version, run.subset)
        if known is not None:
            return known
        most = self._most.get(_data(run), 0)
        return most if most > run.problems else None

    @functools.cached_property
    def _most(self) -> dict[tuple[str, ...], int]:
        found: dict[tuple[str, ...], int] = {}
        for run in self._store.runs(superseded=True):
            found[_data(run)] = max(run.problems, found.get(_data(run), 0))
        return found


def _data(run: StoredRun) -> tuple[str, ...]:
    return run.benchmark, run.version, run.data_digest, run.subset


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What ``bw results list`` says."""

    place: str
    """Folder of the store."""
    runs: tuple[StoredRun, ...]
    parts: tuple[Part, ...]
    """How much of its benchmark each of them was asked."""
    damaged: tuple[str, ...]
    """Why entries are left out, a sentence for each."""

    @property
    def table(self) -> list[tuple[str, ...]]:
        """A line of texts for each run: id, benchmark, model, problems, solved, origin, recorded, flags."""
        return [_table_line(run, part) for run, part in zip(self.runs, self.parts, strict=True)]

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw results list --json``."""
        runs = [run_line(run) | part.to_plain() for run, part in zip(self.runs, self.parts, strict=True)]
        return {"place": self.place, "runs": runs, "damaged": list(self.damaged)}


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
    """The recorded runs, from the index alone.

    Raises `UsageError` when a store was named and is not there, `UnknownNameError` for a benchmark, subset, variant or
    model that no run has, unless there is no run at all.
    """
    wanted = {"benchmark": benchmark, "subset": subset, "variant": variant, "model": model}
    with open_to_read(workspace, store) as opened:
        runs = opened.runs(benchmark=benchmark, subset=subset, variant=variant, model=model, superseded=superseded)
        if not runs:
            _refuse_unknown(wanted, opened.runs(superseded=superseded), opened.layout.root)
        damaged = tuple(sorted(opened.damaged.values()))
        wholes = _Wholes(opened)
        parts = tuple(Part(problems=run.problems, whole=wholes.of(run)) for run in runs)
        return Listing(place=str(opened.layout.root), runs=tuple(runs), parts=parts, damaged=damaged)


def _refuse_unknown(wanted: Mapping[str, str | None], runs: Sequence[StoredRun], place: Path) -> None:
    """Raise for the first name that none of the runs has: a slip is no reason to say that there is nothing."""
    for kind, name in wanted.items():
        known = {getattr(run, kind) for run in runs}
        if name is None or name in known or not runs:
            continue
        near = near_names(name, known)
        if near:
            hint = f"did you mean {' or '.join(map(shown, near))}?"
        elif len(known) <= _FEW:
            hint = f"there are: {', '.join(map(shown, sorted(known)))}."
        else:
            hint = f"`bw results list` shows all {len(runs)} runs in {place}."
        raise UnknownNameError(f"{kind} in the store", shown(name), known, hint=hint)


def _table_line(run: StoredRun, part: Part) -> tuple[str, ...]:
    return (
        run.entry[:12],
        " ".join(shown(part) for part in (run.benchmark, run.version, run.subset, run.variant)),
        shown(f"{run.model} ({run.scaffold})" if run.scaffold else run.model, _NAME),
        part.words,
        solved_words(run),
        shown(run.source.title, _NAME) if run.source else run.origin.value,
        run.recorded[:16].replace("T", " "),
        ", ".join(map(shown, run.flags)),
    )


def solved_words(run: StoredRun) -> str:
    """What a run came to, in few words: problems solved, or the score that its source states."""
    if run.reported_only:
        return ", ".join(f"{shown(one.metric)} {100 * one.value:.1f} %" for one in run.reported)
    several = f" in any of {run.samples} samples" if run.samples > 1 else ""
    return f"{run.solved} of {run.problems}{several} ({run.scores[-1].value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What ``bw results show`` says of one run."""

    run: StoredRun
    part: Part
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
            ("problems", self.part.words),
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
        plain = run_to_plain(self.run) | self.part.to_plain() | {"manifest": dict(self.run.manifest)}
        return plain if self.recorded else {**plain, "entry": None}


def show_result(name: str, workspace: Workspace, store: Path | None = None) -> Shown:
    """One run, by its id, its model's name, or as a results folder; raises as `choose` does."""
    with open_to_read(workspace, store) as opened:
        (run,) = choose([name], opened)
        chosen = bool(run.manifest["ids"]) if "ids" in run.manifest else None
        part = Part(problems=run.problems, whole=_Wholes(opened).of(run), chosen=chosen)
        return Shown(run=run, part=part, recorded=bool(run.recorded))


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
