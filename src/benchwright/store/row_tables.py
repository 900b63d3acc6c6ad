"""Result rows as Parquet: one line per sample and score, in columns that any tool can read."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from benchwright.core.results import Tally, tallies_of
from benchwright.core.runs import ResultRow, Score
from benchwright.store.folder import row_from_plain, row_to_plain

SCHEMA = pa.schema(
    [
        ("problem_id", pa.string()),
        ("sample", pa.int32()),
        ("score", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("tests_planned", pa.int32()),
        ("tests_passed", pa.int32()),
        ("wall_seconds", pa.float64()),
        ("cpu_seconds", pa.float64()),
        ("memory_peak_bytes", pa.int64()),
        ("strategy", pa.string()),
        ("notes", pa.list_(pa.string())),
        ("missing_names", pa.list_(pa.string())),
        ("job", pa.string()),
        ("record", pa.string()),
        ("judge_version", pa.int32()),
    ]
)
"""The columns of ``rows.jsonl``; ``tests`` is flat."""

_COUNTED = ("score", "problem_id", "outcome", "reason")
"""What is read to count verdicts."""
_NO_JUDGE = 0
"""Version of the judge in verdicts that other harnesses gave, as `benchwright.judging.imported` has it."""
_MEASURES = ("tests_planned", "tests_passed", "wall_seconds", "cpu_seconds", "memory_peak_bytes")
_BATCH = 20_000
_BATCH_OF_OTHERS = 500
"""Rows of somebody else's file that are held at once: a few bytes of it can stand for a long text in each."""
_MOST_UNPACKED = 512 * 1024**2
"""Bytes of somebody else's file, unpacked; a row has about 500."""


def storable(row: ResultRow) -> ResultRow:
    """The row as it is stored: lone surrogates, which no column can hold, become ``\\udXXX`` in letters."""
    plain = row_to_plain(row)
    try:
        json.dumps(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return row_from_plain(spelled(plain))
    return row


def spelled(value: Any) -> Any:
    """Plain data in which lone surrogates are spelled out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [spelled(one) for one in value]
    if isinstance(value, dict):
        return {name: spelled(one) for name, one in value.items()}
    return value


def write_rows(path: Path, rows: Sequence[ResultRow]) -> None:
    """Write a Parquet file of storable rows, with a checksum for every page."""
    table = table_of(flat_lines(rows), SCHEMA)
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def table_of(lines: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Lines of plain data as a table.

    They go through JSON, because Arrow's other ways from Python values load pandas where it is installed, which takes
    longer than all the rest of recording a run.
    """
    if not lines:
        return schema.empty_table()
    data = "\n".join(map(json.dumps, lines)).encode()
    return pyarrow.json.read_json(
        io.BytesIO(data),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )


def flat_lines(rows: Iterable[ResultRow]) -> list[dict[str, Any]]:
    """Rows as lines of plain data in the columns of `SCHEMA`."""
    return [_flat(row_to_plain(storable(row))) for row in rows]


def _flat(plain: dict[str, Any]) -> dict[str, Any]:
    tests = plain.pop("tests")
    flat = {**plain, "tests_planned": tests["planned"], "tests_passed": tests["passed"]}
    return _without_zeros(flat) if flat["judge_version"] == _NO_JUDGE else flat


def _without_zeros(flat: dict[str, Any]) -> dict[str, Any]:
    """A line of a row that was imported: what its source does not say is null, and no 0 to be averaged."""
    unsaid = [name for name in _MEASURES if not flat[name]]
    if flat["tests_planned"]:  # then that none of them passed is said, too
        unsaid = [name for name in unsaid if name != "tests_passed"]
    return {**flat, **dict.fromkeys(unsaid)}


def read_rows(path: Path | BinaryIO, *, most: int | None = None) -> Iterator[ResultRow]:
    """The rows in file order.

    With ``most``, a file that says it has more rows than that, or has other columns, is refused.

    Raises ``OSError`` or ``ValueError`` (`pyarrow.ArrowInvalid` is one) when the file is not whole.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        if most is not None:
            _refuse_huge(file.metadata, most)
            if not file.schema_arrow.equals(SCHEMA):  # one such file would keep all others from being asked together
                raise ValueError("its columns are other ones")
        for batch in file.iter_batches(_BATCH if most is None else _BATCH_OF_OTHERS, columns=SCHEMA.names):
            for line in batch.to_pylist():
                line |= {name: 0 for name in _MEASURES if line[name] is None}
                line["tests"] = {"planned": line.pop("tests_planned"), "passed": line.pop("tests_passed")}
                yield row_from_plain(line)


def _refuse_huge(facts: pq.FileMetaData, most: int) -> None:
    unpacked = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
    if facts.num_rows > most or unpacked > _MOST_UNPACKED:
        raise ValueError(f"it has {facts.num_rows} rows in {unpacked} bytes, more than any result")


def read_tallies(path: Path | BinaryIO, score: Score) -> dict[str, Tally]:
    """What the rows of one score come to by problem, in file order; reads the columns needed for that alone.

    Raises ``OSError`` or ``ValueError`` when the file is not whole.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read(list(_COUNTED))
    columns = (table.column(name).to_pylist() for name in _COUNTED)
    return tallies_of(verdict for of, *verdict in zip(*columns, strict=True) if of == score)


def read_table(path: Path | BinaryIO) -> pa.Table:
    """The rows as a table in the columns of `SCHEMA`; raises ``OSError`` or ``ValueError`` when it is not whole."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read(SCHEMA.names).cast(SCHEMA)
