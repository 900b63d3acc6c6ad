"""Files of others' results, a store that keeps what it is given, and where the real data is."""

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchwright.app.importing import ImportReport, import_results
from benchwright.app.importing_base import ImportOptions
from benchwright.core.results import StoredRun
from benchwright.core.runs import ResultRow


class FakeStore:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.added: list[tuple[StoredRun, list[ResultRow], dict[str, Path | bytes]]] = []

    def add(self, run: StoredRun, rows: Iterable[ResultRow], files: Mapping[str, Path | bytes]) -> StoredRun:
        self.added.append((run, list(rows), dict(files)))
        return run


def write(path: Path, content: Any) -> Path:
    """A file of JSON, gzip when its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def imported(path: Path, **options: Any) -> tuple[ImportReport, FakeStore]:
    """What is made of a file or folder."""
    store = FakeStore()
    return import_results(path, store, ImportOptions(**options)), store


def real_data() -> Path:
    """The folder of real data; a test that asks for it skips where it is absent."""
    beside_the_repository = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", beside_the_repository))
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    return folder


LEADERBOARD = {
    "a": {"pass@1": {"complete": 61.1, "instruct": 51.1}, "date": "2024-05-13"},
    "b": {"pass@1": {"complete": 20.0, "instruct": None}},
}


def verdicts(*ids: str, status: str = "pass", samples: int = 1) -> dict[str, Any]:
    """A verdict file's content."""
    return {"eval": {one: [{"status": status, "details": {}}] * samples for one in ids}, "date": "2024-12-25 02:52"}


NAME = "o--m--main--bigcodebench-hard-complete--vllm-0-1-sanitized_calibrated"
