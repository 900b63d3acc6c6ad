"""Facts about Parquet files."""

import hashlib
import sys
from pathlib import Path

import pytest

from benchwright.benchmarks.tables import is_parquet, read_parquet_rows
from benchwright.core.errors import UsageError


def test_rows_come_in_order_with_their_place(tmp_path: Path) -> None:
    """Rows are numbered through all batches, and the hasher has seen the whole file."""
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{"n": number, "names": ["é"]} for number in range(200)]), path)
    hasher = hashlib.sha256()
    rows = list(read_parquet_rows(path, hasher))
    assert [row.value for row in rows] == [{"n": number, "names": ["é"]} for number in range(200)]
    assert (rows[0].where, rows[-1].where) == (f"{path}, row 1", f"{path}, row 200")
    assert hasher.digest() == hashlib.sha256(path.read_bytes()).digest()


def test_the_first_bytes_say_what_is_parquet(tmp_path: Path) -> None:
    """The name does not matter; a file that is absent is named."""
    (tmp_path / "data.jsonl").write_bytes(b"PAR1 and more")
    (tmp_path / "data.parquet").write_bytes(b"{}\n")
    assert is_parquet(tmp_path / "data.jsonl")
    assert not is_parquet(tmp_path / "data.parquet")
    with pytest.raises(UsageError, match=r"There is no file .*nowhere\.parquet"):
        is_parquet(tmp_path / "nowhere.parquet")


def test_a_damaged_file_is_a_usage_error(tmp_path: Path) -> None:
    """A file that only begins like Parquet is refused, not shown as a stack of library errors."""
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1 and then something else")
    with pytest.raises(UsageError, match="not a readable Parquet file"):
        list(read_parquet_rows(path, hashlib.sha256()))


def test_without_pyarrow_the_message_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyarrow is not installed the message says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'pyarrow"):
        list(read_parquet_rows(tmp_path / "data.parquet", hashlib.sha256()))
