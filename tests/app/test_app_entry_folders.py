"""Entries of a store laid out as results folders: what others called their files leads nowhere else."""

import sys
from pathlib import Path
from typing import Any, cast

import pytest

sys.path.append(str(Path(__file__).parents[1] / "store"))

from entry_pieces import run

from benchwright.app.entry_folders import folder_of
from benchwright.core.errors import UsageError
from benchwright.store.results import ResultStore


class Content:
    """A store in which every file has the same content."""

    def read_file(self, entry: str, name: str) -> bytes:
        """The content."""
        return b"{}"

    def rows(self, entry: str) -> Any:
        """No rows."""
        return iter(())


def test_an_entry_is_a_folder_while_it_is_looked_at() -> None:
    """Its files are there, below folders too, and the folder goes away again."""
    with folder_of(
        run(files={"manifest.json": "d", "logs/a/report.json": "d"}), cast(ResultStore, Content())
    ) as folder:
        place = folder.path
        assert (place / "logs/a/report.json").read_bytes() == b"{}"
        assert folder.rows_path.exists()
    assert not place.exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../escaped", "leads out of its folder"),
        ("a/../../escaped", "leads out of its folder"),
        ("/etc/escaped", "leads out of its folder"),
        ("lone \ud800", "has a name that no file can have"),
    ],
)
def test_no_name_leads_out_of_it(name: str, words: str) -> None:
    """Such an entry is refused in one sentence."""
    with pytest.raises(UsageError, match=words), folder_of(run(files={name: "d"}), cast(ResultStore, Content())):
        pass
