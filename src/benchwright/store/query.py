"""SQL over a store: DuckDB in memory, with views of what was recorded and no way to anything else."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.store.entries import ROWS_FILE
from benchwright.store.finding import shown
from benchwright.store.frames import problems_table, runs_table
from benchwright.store.results import ResultStore
from benchwright.store.row_tables import SCHEMA

VIEWS = ("runs", "rows", "problems")
_MEMORY = "1500MB"
"""Below the 2 GB that reading a store of a thousand runs may take in all."""


def query(store: ResultStore, sql: str, *, superseded: bool = False) -> pa.Table:
    """What one SELECT says over the views ``runs``, ``rows`` and ``problems``.

    Args:
        store: The store.
        sql: One statement in DuckDB's SQL.
        superseded: Whether entries that another one of the same run replaces are in the views.

    Raises:
        UsageError: The statement is wrong or none that only reads, with DuckDB's own words.

    Runs whose rows are damaged are left out of ``rows``; ``store.damaged`` has them.
    """
    runs = store.runs(superseded=superseded)
    with duckdb.connect(":memory:") as connection:
        _check(connection, sql)
        connection.register("runs", runs_table(runs))
        # Every file of rows is read and checked, and facts of problems are read out of many files: only where a query
        # can mean them.
        with_rows = [run for run in runs if ROWS_FILE in run.files]
        sound = store.sound(with_rows, lambda run: _checked(store, run)) if "rows" in sql.lower() else []
        connection.register("rows", _rows(store.layout.runs, sound))
        connection.register("problems", problems_table(store, runs if "problems" in sql.lower() else ()))
        _shut_in(connection)
        try:
            return connection.sql(sql).to_arrow_table()
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise UsageError(_words(error)) from error


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(_words(error)) from error
    if len(statements) != 1 or statements[0].type is not duckdb.StatementType.SELECT:
        raise UsageError(f"Expected one SELECT over {', '.join(VIEWS)}; the store is only read here.")


def _checked(store: ResultStore, run: StoredRun) -> str:
    """The entry of a run whose file of rows is what was written."""
    store.read_file(run.entry, ROWS_FILE)
    return run.entry


def _rows(folder: Path, entries: Sequence[str]) -> Any:
    """All rows, with the name of their entry, which is the name of the folder they are in."""
    schema = pa.schema([*SCHEMA, ("entry", pa.string())])
    if not entries:
        return schema.empty_table()
    return ds.dataset(
        [str(folder / entry / ROWS_FILE) for entry in entries],
        schema=schema,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("entry", pa.string())])),
        partition_base_dir=str(folder),
    )


def _shut_in(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing but the views can be read, and nothing written: no files, no network, no variables of this program."""
    for setting in (
        f"memory_limit = '{_MEMORY}'",
        f"threads = {len(os.sched_getaffinity(0))}",
        "temp_directory = ''",
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _words(error: Exception) -> str:
    """DuckDB's message as one sentence."""
    first = str(error).strip().split("\n\n")[0]
    return f"The query cannot be answered: {shown(' '.join(first.split()), 500).rstrip('.?')}."
