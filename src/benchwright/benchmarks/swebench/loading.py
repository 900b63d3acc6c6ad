"""From a request (benchmark, subset, version, file) to a set of problems whose version is what its digest says."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from benchwright.benchmarks.base import local_version
from benchwright.benchmarks.repositories import RepositorySet, digest_of_repository_problems
from benchwright.benchmarks.swebench import subsets
from benchwright.benchmarks.swebench.files import as_row, read_entries
from benchwright.benchmarks.swebench.pins import Pins, read_pins
from benchwright.benchmarks.swebench.rows import to_problems
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.repositories import RepositoryProblem

SUBSETS = (subsets.ALL, *subsets.DIFFICULTIES)


def load(
    benchmark: str, *, subset: str | None = None, version: str | None = None, path: Path | None = None
) -> RepositorySet:
    """Load the problems of a benchmark, from a local file or from the hub.

    A local file is recognised by its bytes; a version given with it is a claim, and a file known not to be that
    version is refused with `UsageError`.  A file that nothing is known of gets the version claimed, or ``local-`` and
    its digest, and is not ``pinned``.  A subset is one of `SUBSETS` or the name of a file of ids
    (`benchwright.benchmarks.swebench.subsets.read_subset`).
    """
    subset = subset or subsets.ALL
    if subset not in SUBSETS and not subsets.is_subset_file(subset):
        raise UnknownNameError(f"subset of {benchmark}", subset, SUBSETS)
    pins = read_pins()
    problems = (
        _published(benchmark, version, pins) if path is None else _local(benchmark, version, path=path, pins=pins)
    )
    if subset == subsets.ALL:
        return problems
    if subset in subsets.DIFFICULTIES:
        return subsets.by_difficulty(problems, subset)
    return subsets.read_subset(Path(subset)).of(problems)


class RowFile(NamedTuple):
    """The problems of one data file."""

    problems: tuple[RepositoryProblem, ...]
    """In the order of their ids."""
    file_sha256: str
    """SHA-256 of the file as stored."""


def read_problems(path: Path, *, benchmark: str) -> RowFile:
    """Read a data file: JSON Lines or JSON (gzip or not) or Parquet, recognised by its content.

    Raises `UsageError` that names file, line (or row) and field for anything that is not a usable row, and for an id
    that occurs twice.
    """
    hasher = hashlib.sha256()
    rows = ((entry.where, as_row(entry, form="a row, which is an object")) for entry in read_entries(path, hasher))
    problems = to_problems(rows, benchmark=benchmark)
    if not problems:
        raise UsageError(f"{path} holds no rows; expected SWE-bench's row format, one row per line.")
    return RowFile(problems, hasher.hexdigest())


def _local(benchmark: str, claimed: str | None, *, path: Path, pins: Pins) -> RepositorySet:
    if claimed is not None:
        pins.of(benchmark, claimed)
    file = read_problems(path, benchmark=benchmark)
    digest = digest_of_repository_problems(file.problems)
    pin = pins.recognise(benchmark, file=file.file_sha256)
    if claimed is not None and pin is not None and pin.version != claimed:
        raise UsageError(f"{path} is version {pin.version} by its digest, not {claimed}.")
    return RepositorySet(
        benchmark=benchmark,
        version=pin.version if pin else claimed or local_version(digest),
        subset=subsets.ALL,
        digest=digest,
        source=str(path),
        pinned=pin is not None,
        problems=file.problems,
    )


def _published(benchmark: str, version: str | None, pins: Pins) -> RepositorySet:
    pin = pins.of(benchmark, version)
    published = pins.published(pin)
    source = published.source
    file = read_problems(published.fetch(), benchmark=benchmark)
    if pin.file is not None and pin.file != file.file_sha256:
        raise UsageError(f"{source} has SHA-256 {file.file_sha256}; expected {pin.file}.")
    if len(file.problems) != pin.rows:
        raise UsageError(f"{source} holds {len(file.problems)} rows; expected {pin.rows}.")
    return RepositorySet(
        benchmark=benchmark,
        version=pin.version,
        subset=subsets.ALL,
        digest=digest_of_repository_problems(file.problems),
        source=source,
        pinned=pin.file is not None,
        problems=file.problems,
    )
