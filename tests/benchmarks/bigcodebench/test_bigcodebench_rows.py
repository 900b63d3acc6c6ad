"""Facts about data files and rows."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.benchmarks.bigcodebench.rows import (
    canonical_row,
    digest_of_problems,
    problems_of,
    read_problems,
    to_problem,
)
from benchwright.core.errors import UsageError

MakeRow = Callable[..., dict[str, Any]]
WriteLines = Callable[..., Path]


def test_a_row_becomes_a_problem(row: MakeRow) -> None:
    """Every field of the problem comes from the row as the official tool understands it."""
    problem = to_problem(row(libs="['os', 'numpy']", domains=["text", "system"]))
    assert problem.prompts == {"complete": row()["complete_prompt"], "instruct": "Say x."}
    assert problem.stub == "import os\ndef task_func(x):\n"
    assert problem.calibration_stub == "import os\ndef task_func(x):\n\n    pass\n"
    assert problem.reference == row()["complete_prompt"] + "\n    return x"
    assert problem.libraries == ("os", "numpy")
    assert problem.tags == ("text", "system")


def test_the_reference_runs_and_passes_its_tests(row: MakeRow) -> None:
    """The reference of a problem is complete code, with which the tests can be executed."""
    namespace: dict[str, Any] = {}
    exec(to_problem(row()).reference, namespace)
    assert namespace["task_func"](3) == 3


def test_a_list_and_its_spelling_as_a_string_are_the_same_row(row: MakeRow) -> None:
    """Files that hold libs as a list and files that hold it as a string have the same digest."""
    assert to_problem(row(libs=["os"])) == to_problem(row(libs="['os']"))


def test_fields_beside_the_task_do_not_change_its_digest(row: MakeRow) -> None:
    """What the hard data set adds, and the repeated docstring, is no part of the task."""
    assert canonical_row(row(q_idx=7, score=0.5, doc_struct="other")) == canonical_row(row())


@pytest.mark.parametrize(
    "field",
    ["task_id", "complete_prompt", "instruct_prompt", "canonical_solution", "code_prompt", "test", "libs"],
)
def test_a_missing_field_is_named_with_file_and_line(row: MakeRow, write_lines: WriteLines, field: str) -> None:
    """A row without a field is refused with file, line and field."""
    broken = row()
    del broken[field]
    path = write_lines(row("BigCodeBench/9"), broken)
    with pytest.raises(UsageError, match=rf"samples.jsonl, line 2: the field '{field}' is missing"):
        read_problems(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": None}, "'test' is null; expected a string"),
        ({"code_prompt": 3}, "'code_prompt' is a number"),
        ({"entry_point": " "}, "'entry_point' is empty"),
        ({"libs": "os"}, "'libs' is 'os'; expected a list of names"),
        ({"libs": [1]}, "'libs' is"),
        ({"libs": "['os'"}, "'libs' is"),
        ({"domains": "text"}, "'domains' is"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(
    row: MakeRow, write_lines: WriteLines, change: dict[str, Any], message: str
) -> None:
    """A field that cannot be used is refused with file, line, field and what it is."""
    with pytest.raises(UsageError, match=f"line 1: the field {message}"):
        read_problems(write_lines(row(**change)))


def test_an_id_given_twice_is_refused_with_both_places(row: MakeRow, write_lines: WriteLines) -> None:
    """Two rows may not claim the same task."""
    path = write_lines(row("BigCodeBench/1"), row("BigCodeBench/2"), row("BigCodeBench/1"))
    with pytest.raises(UsageError, match=r"line 3: task_id 'BigCodeBench/1' was already given in .*, line 1"):
        read_problems(path)


def test_problems_stand_in_the_order_of_their_numbers(row: MakeRow, write_lines: WriteLines) -> None:
    """The order is that of the ids' numbers, whatever the order of the file."""
    path = write_lines(*(row(f"BigCodeBench/{number}") for number in (10, 9, 100, 0)))
    assert [problem.id for problem in read_problems(path).problems] == [
        f"BigCodeBench/{number}" for number in (0, 9, 10, 100)
    ]


@given(st.permutations(range(5)))
def test_the_digest_does_not_depend_on_the_order_of_rows(row: MakeRow, order: list[int]) -> None:
    """A data set is a set: reordering a file does not make another version of it."""
    rows = [(f"row {number}", row(f"T/{number}")) for number in range(5)]
    assert digest_of_problems(problems_of(rows[index] for index in order)) == digest_of_problems(problems_of(rows))


def test_every_container_holds_the_same_data(row: MakeRow, write_lines: WriteLines, tmp_path: Path) -> None:
    """JSON Lines, gzip (also misnamed) and Parquet of the same rows give the same problems and digest."""
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [row("BigCodeBench/1", instruct_prompt="é\u2028\r\n"), row("BigCodeBench/2")]
    plain = write_lines(*rows)
    packed = tmp_path / "data.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    table = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), table)
    expected = read_problems(plain).problems
    assert read_problems(packed).problems == expected
    assert read_problems(table).problems == expected


def test_a_bad_row_of_a_parquet_file_is_named_by_its_number(row: MakeRow, tmp_path: Path) -> None:
    """Parquet rows have no lines; they are counted."""
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row(), row("BigCodeBench/2", test=None)]), path)
    with pytest.raises(UsageError, match=r"data\.parquet, row 2: the field 'test' is null"):
        read_problems(path)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_rows_is_refused(tmp_path: Path, content: bytes) -> None:
    """An empty data file is no benchmark of zero tasks."""
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="holds no rows"):
        read_problems(path)


def test_data_that_is_not_utf8_is_refused(row: MakeRow, write_lines: WriteLines) -> None:
    """A damaged task text must not be graded against."""
    line = json.dumps(row(instruct_prompt="here")).encode().replace(b"here", b"h\xe9re") + b"\n"
    with pytest.raises(UsageError, match=r"line 1: byte \d+ is not UTF-8"):
        read_problems(write_lines(line))


def test_an_absent_file_is_a_usage_error(tmp_path: Path) -> None:
    """A path that does not exist is named."""
    with pytest.raises(UsageError, match=r"There is no file .*nowhere\.jsonl"):
        read_problems(tmp_path / "nowhere.jsonl")
