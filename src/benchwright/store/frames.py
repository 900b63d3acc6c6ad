"""Runs, rows and problems as Arrow tables: what notebooks and SQL see of a store."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.core.results import StoredRun
from benchwright.store.entries import ROWS_FILE
from benchwright.store.first_hand import first_hand_first
from benchwright.store.folder import PROBLEMS as PROBLEMS_FILE
from benchwright.store.row_tables import SCHEMA, flat_lines, spelled, table_of

if TYPE_CHECKING:
    from benchwright.store.results import ResultStore

RUN_COLUMNS = ("entry", "run_id", "origin", "source", "benchmark", "version", "subset", "variant", "model", "scaffold")
"""What every row of a frame says of its run."""
RUNS = pa.schema(
    [
        *((name, pa.string()) for name in RUN_COLUMNS),
        ("data_digest", pa.string()),
        ("scores", pa.list_(pa.string())),
        ("reported", pa.list_(pa.struct([("metric", pa.string()), ("value", pa.float64())]))),
        ("problems", pa.int32()),
        ("samples", pa.int32()),
        ("solved", pa.int32()),
        ("faults", pa.int32()),
        ("missing", pa.int32()),
        ("cost", pa.float64()),
        ("flags", pa.list_(pa.string())),
        ("link", pa.string()),
        ("released", pa.string()),
        ("cutoff", pa.string()),
        ("parameters", pa.float64()),
        ("active_parameters", pa.float64()),
        ("open_weights", pa.bool_()),
        ("open_data", pa.string()),
        ("instruction_tuned", pa.bool_()),
        ("finished", pa.string()),
        ("recorded", pa.string()),
        ("supersedes", pa.string()),
    ]
)
PROBLEMS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("version", pa.string()),
        ("problem_id", pa.string()),
        ("digest", pa.string()),
        ("domains", pa.list_(pa.string())),
        ("libraries", pa.list_(pa.string())),
        ("repository", pa.string()),
        ("difficulty", pa.string()),
        ("created", pa.string()),
    ]
)


def runs_table(runs: Iterable[StoredRun]) -> pa.Table:
    """One line per run."""
    return table_of([_run_line(run) for run in runs], RUNS)


def _run_line(run: StoredRun) -> dict[str, object]:
    line: dict[str, object] = {name: getattr(run, name, None) for name in RUNS.names}
    line |= {
        "source": run.source and run.source.title,
        "scores": list(run.scores),
        "reported": [{"metric": spelled(one.metric), "value": one.value} for one in run.reported],
        "flags": list(run.flags),
        **run.facts.to_plain(),
    }
    return {name: spelled(line[name]) for name in RUNS.names}


def frame_of(
    store: "ResultStore", runs: Sequence[StoredRun], *, score: str | None = None, skip_damaged: bool = False
) -> pa.Table:
    """The rows of runs, one after the other, each with the columns of its run; of one score, if it is named.

    Raises `UsageError` for damaged rows, unless damaged runs are skipped: then ``store.damaged`` has them.
    """
    schema = pa.schema([*((name, pa.string()) for name in RUN_COLUMNS), *SCHEMA])
    asked = [run for run in runs if run.scores]
    if skip_damaged:
        tables = store.sound(asked, lambda run: _framed(store, run, schema))
    else:
        tables = [_framed(store, run, schema) for run in asked]
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    return table if score is None else table.filter(pc.equal(table["score"], score))


def _framed(store: "ResultStore", run: StoredRun, schema: pa.Schema) -> pa.Table:
    rows = store.row_table(run) if ROWS_FILE in run.files else table_of(flat_lines(store.rows(run.entry)), SCHEMA)
    line = _run_line(run)
    columns = [pa.repeat(pa.scalar(line[name], pa.string()), rows.num_rows) for name in RUN_COLUMNS]
    return pa.Table.from_arrays([*columns, *rows.columns], schema=schema)


def problems_table(store: "ResultStore", runs: Iterable[StoredRun]) -> pa.Table:
    """One line per problem of each benchmark and version, as the first run that knows it has it.

    Runs that were graded here come first.  Runs whose facts are damaged are left out; ``store.damaged`` has them.
    """
    lines: dict[tuple[str, str, str], dict[str, object]] = {}
    by_file: dict[tuple[str, str, str | None], StoredRun] = {}
    for run in first_hand_first(runs):  # equal files are read once
        by_file.setdefault((run.benchmark, run.version, run.files.get(PROBLEMS_FILE)), run)
    for run, found in store.sound(by_file.values(), lambda run: (run, store.problem_facts(run.entry))):
        for facts in found.values():
            line = {"benchmark": run.benchmark, "version": run.version, **facts.to_plain()}
            line["problem_id"] = line.pop("id")
            lines.setdefault((run.benchmark, run.version, facts.id), line)
    plain = [{name: spelled(value) for name, value in line.items()} for line in lines.values()]
    return table_of(plain, PROBLEMS)
