"""Results of others into the store, marked as what they are: behind ``bw store import``."""

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, assert_never

from benchwright.app.importing_base import Imported, ImportOptions, Kind
from benchwright.app.importing_bigcodebench import import_leaderboard
from benchwright.app.importing_logs import import_log
from benchwright.app.importing_reports import import_report, import_submissions
from benchwright.app.importing_submissions import import_resolved
from benchwright.app.importing_verdict_files import import_verdict_files, verdict_files
from benchwright.benchmarks.bigcodebench.official_verdicts import looks_like_verdicts
from benchwright.benchmarks.bigcodebench.public_leaderboard import looks_like_leaderboard
from benchwright.benchmarks.documents import parse_document, unpacked
from benchwright.benchmarks.jsonl import read_json_lines
from benchwright.benchmarks.reading import check_file
from benchwright.benchmarks.swebench.run_reports import (
    instance_report_folders,
    looks_like_run_report,
    submission_folders,
)
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.core.runs import ResultRow

__all__ = [
    "Attempted",
    "ImportOptions",
    "ImportReport",
    "Kind",
    "detect",
    "import_results",
    "read_import",
]

_MAX_BYTES = 512 * 1024 * 1024
_LOG_NAMES = (".eval",)
_SAMPLE_NAMES = (".jsonl",)


class Store(Protocol):
    """What is needed of the store of results."""

    def add(self, run: StoredRun, rows: Iterable[ResultRow], files: Mapping[str, Path | bytes]) -> StoredRun:
        """Record a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What came of an import."""

    path: Path
    kind: Kind
    runs: tuple[StoredRun, ...]
    """As they were stored; of a dry run: as they would be, without an entry."""
    rows: int
    notes: tuple[str, ...]
    """What a reader must know of the numbers, one sentence each."""
    left_out: tuple[str, ...]
    """What of the source was not taken, and why."""
    stored: bool
    """Whether anything was written."""

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw store import --json``."""
        return {
            "path": str(self.path),
            "kind": self.kind.value,
            "stored": self.stored,
            "rows": self.rows,
            "runs": [_run_to_plain(run) for run in self.runs],
            "notes": list(self.notes),
            "left_out": list(self.left_out),
        }


def _run_to_plain(run: StoredRun) -> dict[str, Any]:
    return {
        "entry": run.entry or None,
        "benchmark": run.benchmark,
        "version": run.version,
        "subset": run.subset,
        "variant": run.variant,
        "model": run.model,
        "scaffold": run.scaffold,
        "scores": [score.value for score in run.scores],
        "problems": run.problems,
        "solved": run.solved,
        "missing": run.missing,
        "faults": run.faults,
        "reported": {one.metric: one.value for one in run.reported},
        "flags": list(run.flags),
    }


def detect(path: Path) -> Kind:
    """Which form a file or folder has, by its content.

    Raises `UsageError` for one that is none of `Kind`, or is not there.
    """
    check_file(path)
    if path.is_dir():
        return _kind_of_folder(path)
    if path.suffix in _LOG_NAMES or zipfile.is_zipfile(path):
        return Kind.INSPECT_LOG
    if path.name.removesuffix(".gz").endswith(_SAMPLE_NAMES):
        if _is_data(path):
            raise UsageError(
                f"{path} holds the rows of a benchmark, and no results; it goes with --dataset beside results that are "
                f"imported or ranked, and with --dataset of `bw grade`."
            )
        raise UsageError(
            f"{path} looks like samples or predictions, which are graded and not imported: bw grade BENCHMARK "
            f"{path.name}; for results in it say which form they have with --as."
        )
    kind = _kind_of_document(parse_document(unpacked(path, most=_MAX_BYTES), path))
    if kind is None:
        raise UsageError(f"{path} has none of the forms that are imported ({', '.join(Kind)}); name one with --as.")
    return kind


def read_import(path: Path, options: ImportOptions, kind: Kind | None = None) -> Imported:
    """Read results of others as runs, without storing them.

    Args:
        path: File or folder.
        options: What the user says of it.
        kind: Its form; without it the content tells.

    Raises:
        UsageError: It cannot be read, or what is missing must be said by an option.
    """
    kind = kind or detect(path)
    match kind:
        case Kind.BIGCODEBENCH_VERDICTS:
            return import_verdict_files([path], options)
        case Kind.BIGCODEBENCH_LEADERBOARD:
            return import_leaderboard(path, options)
        case Kind.SWEBENCH_RESOLVED:
            return import_resolved(path, options)
        case Kind.SWEBENCH_SUBMISSION:
            return import_submissions(path, options)
        case Kind.SWEBENCH_REPORT:
            return import_report(path, options)
        case Kind.INSPECT_LOG:
            return import_log(path, options)
        case _:
            assert_never(kind)


def import_results(
    path: Path,
    store: Store | None,
    options: ImportOptions | None = None,
    *,
    kind: Kind | str | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Import results of others into a store.

    Everything is read before anything is written; importing the same again changes nothing, and a newer state of the
    same source replaces the older one.

    Args:
        path: File or folder.
        store: Where they go; not needed for a dry run.
        options: What the user says of the source.
        kind: Its form, a `Kind` or its name; without it the content tells.
        dry_run: Only say what would be imported.

    Raises:
        UsageError: The source cannot be read, or something it does not say must be said by an option.
        MachineError: The store cannot be written.
    """
    if kind is not None and kind not in set(Kind):
        raise UsageError(f"There is no form of results named {kind!r:.60}; known: {', '.join(Kind)}.")
    form = detect(path) if kind is None else Kind(kind)
    found = read_import(path, options or ImportOptions(), form)
    write = store is not None and not dry_run
    runs = tuple(
        store.add(one.run, one.rows, one.files) if store is not None and write else one.run for one in found.runs
    )
    return ImportReport(
        path=path,
        kind=form,
        runs=runs,
        rows=sum(len(one.rows) for one in found.runs),
        notes=found.notes,
        left_out=found.left_out,
        stored=write,
    )


def _is_data(path: Path) -> bool:
    """Whether a file of JSON lines begins with a problem of a benchmark: with its tests, and without an answer."""
    try:
        first = next(read_json_lines(path, hashlib.sha256())).value
    except (StopIteration, UsageError):
        return False
    answers = first.keys() & {"solution", "completion", "raw_solution", "model_patch"}
    return not answers and bool(first.keys() & {"test", "FAIL_TO_PASS", "canonical_solution", "base_commit"})


def _kind_of_folder(path: Path) -> Kind:
    if submission_folders(path):
        return Kind.SWEBENCH_SUBMISSION
    if instance_report_folders(path):
        return Kind.SWEBENCH_REPORT
    try:
        verdict_files(path)
    except UsageError as error:
        raise UsageError(
            f"The folder {path} holds nothing that is imported: expected <submission>/results/results.json, "
            f"<instance>/report.json, or files called …_eval_results.json; other files are given one at a time."
        ) from error
    return Kind.BIGCODEBENCH_VERDICTS


def _kind_of_document(document: Any) -> Kind | None:
    if looks_like_run_report(document):
        return Kind.SWEBENCH_REPORT
    if looks_like_verdicts(document):
        # An Inspect log as JSON has an object under 'eval', too; it says what was run.
        return Kind.INSPECT_LOG if "task" in document["eval"] else Kind.BIGCODEBENCH_VERDICTS
    if looks_like_leaderboard(document):
        return Kind.BIGCODEBENCH_LEADERBOARD
    if isinstance(document, dict) and document and all(isinstance(value, list) for value in document.values()):
        return Kind.SWEBENCH_RESOLVED
    return None
