"""Facts about published data files."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.hub import HubFile
from benchwright.core.errors import MachineError, UsageError

FILE = HubFile(repository="some/where", revision="c" * 40, path="data/test.parquet")


def test_a_file_is_asked_for_at_its_commit(fake_hub: Callable[..., Any], tmp_path: Path) -> None:
    """The hub is asked for the file of that data set at that revision, which is also what is recorded."""
    hub = fake_hub(tmp_path / "copy")
    assert FILE.fetch() == tmp_path / "copy"
    assert hub.asked == {
        "repository": "some/where",
        "file": "data/test.parquet",
        "repo_type": "dataset",
        "revision": "c" * 40,
    }
    assert FILE.source == f"hf://datasets/some/where@{'c' * 40}/data/test.parquet"


def test_without_a_connection_the_message_says_what_to_do(fake_hub: Callable[..., Any]) -> None:
    """Data that cannot be fetched is the machine's fault, and a local file is the way out."""
    fake_hub(None)
    with pytest.raises(MachineError, match=r"where@c+/data/test.parquet cannot be fetched \(no connection\); give"):
        FILE.fetch()


def test_without_the_client_the_message_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where huggingface_hub is not installed the message says so, and how to do without."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match=r"pip install 'huggingface_hub.*--dataset FILE"):
        FILE.fetch()
