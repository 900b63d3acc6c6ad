"""SQL over a store: DuckDB in memory, with views of what was recorded and no way to anything else."""

import contextlib
import os
import queue
import threading
from collections.abc import Iterator, Sequence
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
_PATIENCE_SECONDS = 1.0


class QueryStuck(KeyboardInterrupt):
    """Ctrl-C came, and the engine does not stop; it would go on until this process is gone, and nothing ends it.

    The command that asked is to end the process.
    """


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
    with _connected() as connection:
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
            return _interruptible(connection, sql)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise UsageError(_words(error)) from error


@contextlib.contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    try:
        yield connection
    except QueryStuck:
        raise  # closing it would wait for the query
    except BaseException:
        connection.close()
        raise
    connection.close()


def _interruptible(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The answer, worked out beside the thread that hears of Ctrl-C: the engine itself does not always listen."""
    ended: queue.Queue[pa.Table | BaseException] = queue.Queue()

    def work() -> None:
        try:
            ended.put(connection.sql(sql).to_arrow_table())
        except BaseException as error:  # noqa: BLE001  # a worker's outermost: whatever it is, it is raised below
            ended.put(error)

    try:
        threading.Thread(target=work, daemon=True).start()
        found = ended.get()
    except KeyboardInterrupt:
        _stop(connection, ended)
        raise
    if isinstance(found, BaseException):
        raise found
    return found


def _stop(connection: duckdb.DuckDBPyConnection, ended: "queue.Queue[pa.Table | BaseException]") -> None:
    """End a query; raises `QueryStuck` when it goes on all the same."""
    try:
        connection.interrupt()
        ended.get(timeout=_PATIENCE_SECONDS)
    except (queue.Empty, KeyboardInterrupt) as error:
        raise QueryStuck from error


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
