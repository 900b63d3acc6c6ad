"""Fixtures: small rows in SWE-bench's schema, files of them, and the real data where it is there."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.repositories import RepositorySet, digest_of_repository_problems
from benchwright.benchmarks.swebench.rows import to_problems

Row = dict[str, Any]

PATCH = "diff --git a/pkg/core.py b/pkg/core.py\n--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def make_row(instance_id: str = "owner__pkg-1", **changes: Any) -> Row:
    """A complete row, with changes; a change to ``...`` takes the field out."""
    row: Row = {
        "repo": "owner/pkg",
        "instance_id": instance_id,
        "base_commit": "a" * 40,
        "patch": PATCH,
        "test_patch": PATCH.replace("core", "test_core"),
        "problem_statement": "x is wrong.",
        "hints_text": "",
        "created_at": "2020-05-01T18:29:11Z",
        "version": "3.10",
        "FAIL_TO_PASS": '["test_core.py::test_x"]',
        "PASS_TO_PASS": '["test_core.py::test_y", "test_core.py::test_z[a b]"]',
        "environment_setup_commit": "b" * 40,
    }
    return {field: value for field, value in (row | changes).items() if value is not ...}


def make_set(*rows: Row) -> RepositorySet:
    """A set of the problems of these rows."""
    problems = to_problems(((f"row {n}", row) for n, row in enumerate(rows, 1)), benchmark="swebench-verified")
    return RepositorySet(
        benchmark="swebench-verified",
        version="local-test",
        subset="all",
        digest=digest_of_repository_problems(problems),
        source="test rows",
        pinned=False,
        problems=problems,
    )


@pytest.fixture(scope="session")
def row() -> Callable[..., Row]:
    """Makes a complete row."""
    return make_row


@pytest.fixture(scope="session")
def set_of() -> Callable[..., RepositorySet]:
    """Makes a set of the problems of rows."""
    return make_set


@pytest.fixture
def three() -> RepositorySet:
    """The instances 1, 2 and 10."""
    return make_set(*(make_row(f"owner__pkg-{n}") for n in (1, 2, 10)))


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file: bytes as they are, lists as lines of JSON, everything else as one JSON document."""

    def write_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and ".jsonl" in name:
            data = b"".join(json.dumps(value).encode() + b"\n" for value in content)
        else:
            data = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real SWE-bench data; tests that use it skip where it is absent."""
    beside_the_repository = Path(__file__).resolve().parents[4] / "shared" / "data"
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", beside_the_repository)) / "swebench"
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    return folder
