"""SQL over the store, answered as texts, plain data, CSV or a Parquet file."""

import csv
import io
import math
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.app.recording import open_to_read
from benchwright.app.workspace import Workspace
from benchwright.core.errors import MachineError, UsageError
from benchwright.store.durable import replace_durably
from benchwright.store.finding import shown
from benchwright.store.query import QueryStuck, query

__all__ = ["Answer", "QueryStuck", "answer"]

_CELL = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a query came to."""

    table: pa.Table
    damaged: tuple[str, ...] = ()
    """Why runs are left out of it, a sentence for each."""

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.table.column_names)

    def texts(self, most: int) -> list[tuple[str, ...]]:
        """The first rows as texts for a terminal."""
        return [tuple(_text(value) for value in row) for row in self._rows(most)]

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw results query --json``."""
        return {
            "columns": list(self.columns),
            "rows": [[_plain(value) for value in row] for row in self._rows()],
            "damaged": list(self.damaged),
        }

    def to_csv(self) -> str:
        """All rows as CSV with a line of names; what is unknown is empty."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_plain(value) for value in row] for row in self._rows())
        return file.getvalue()

    def write_parquet(self, path: Path) -> None:
        """Write all rows as a Parquet file, all or nothing.

        Raises:
            UsageError: The answer has a type that Parquet has no form for.
            MachineError: The file cannot be written; one that was there is unharmed.
        """
        content = pa.BufferOutputStream()
        try:
            pq.write_table(self.table, content, compression="zstd")
        except pa.ArrowException as error:
            raise UsageError(
                f"The answer cannot be written as Parquet: {shown(str(error), 200).rstrip('.')}; turn the column into "
                f"another type in the query, such as CAST(x AS VARCHAR), or use --csv."
            ) from error
        try:
            if path.exists() and not path.is_file():
                path.write_bytes(content.getvalue())  # such as /dev/stdout, in whose place nothing can be put
            else:
                replace_durably(path.resolve(), content.getvalue())
        except OSError as error:
            raise MachineError(f"{path} cannot be written ({error.strerror or error}).") from error

    def _rows(self, most: int | None = None) -> list[tuple[Any, ...]]:
        table = self.table if most is None else self.table.slice(0, most)
        columns = (_values(name, table.column(number)) for number, name in enumerate(self.columns))
        return list(zip(*columns, strict=True))


def answer(sql: str, workspace: Workspace, store: Path | None = None, *, superseded: bool = False) -> Answer:
    """Answer one SELECT over the views ``runs``, ``rows`` and ``problems``; raises as `store.query.query` does."""
    with open_to_read(workspace, store) as opened:
        table = query(opened, sql, superseded=superseded)
        return Answer(table=table, damaged=tuple(sorted(opened.damaged.values())))


def _values(name: str, column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; raises `UsageError` for one that Python has no form for, such as an infinite date."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError, pa.ArrowException) as error:
        raise UsageError(
            f"Column {shown(name)} holds a value that cannot be shown, such as a date before the year 1, after 9999 or "
            f"at infinity ({shown(str(error), 200)}); turn it into text in the query, such as CAST(x AS VARCHAR)."
        ) from error


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal | date | datetime | time | timedelta):
        return str(value)
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return shown(f"{value:.6g}" if isinstance(value, float) else str(_plain(value)), _CELL)
