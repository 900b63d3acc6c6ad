"""Parquet files: recognised by content, read row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.reading import Hasher, hash_file, open_file
from benchwright.core.errors import UsageError

_PARQUET_MAGIC = b"PAR1"
# Rows that are Python objects at a time: one row of SWE-bench has up to a few MB of test ids.
_BATCH_ROWS = 64


class TableRow(NamedTuple):
    """One row of a file."""

    where: str
    """File and row, counted from 1."""
    value: dict[str, Any]


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet by its first bytes; raises `UsageError` for one that cannot be read."""
    with open_file(path) as file:
        return bool(file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC)


def read_parquet_rows(path: Path, hasher: Hasher) -> Iterator[TableRow]:
    """The rows of a Parquet file in order; the hasher sees the bytes of the file as stored.

    Raises `UsageError` that names the file when pyarrow is not installed and when the file is damaged.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(f"Reading {path} needs pyarrow; install it with: pip install 'pyarrow>=14'.") from error
    hash_file(path, hasher)
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield TableRow(f"{path}, row {number}", row)
    except (pyarrow.ArrowException, OSError) as error:
        raise UsageError(f"{path} is not a readable Parquet file: {error}") from error
