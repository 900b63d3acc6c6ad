"""Fixtures: a small set of problems in BigCodeBench's schema, and the real data where it is there."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.bigcodebench.rows import digest_of_problems, to_problem

Row = dict[str, Any]


def make_row(task_id: str = "BigCodeBench/1", **changes: Any) -> Row:
    """A complete row, with changes."""
    stub = "import os\ndef task_func(x):\n"
    row: Row = {
        "task_id": task_id,
        "complete_prompt": stub + '    """Say x."""\n',
        "instruct_prompt": "Say x.",
        "canonical_solution": "    return x",
        "code_prompt": stub,
        "test": (
            "import unittest\n"
            "class TestCases(unittest.TestCase):\n"
            "    def test_x(self):\n"
            "        self.assertEqual(task_func(1), 1)\n"
        ),
        "entry_point": "task_func",
        "doc_struct": "{}",
        "libs": "['os']",
    }
    return row | changes


def make_problems(*task_ids: str) -> ProblemSet:
    """A problem set of plain rows with these ids."""
    problems = tuple(to_problem(make_row(task_id)) for task_id in task_ids)
    return ProblemSet(
        benchmark="bigcodebench",
        version="local-test",
        subset="full",
        digest=digest_of_problems(problems),
        source="test",
        pinned=False,
        problems=problems,
    )


@pytest.fixture(scope="session")
def row() -> Callable[..., Row]:
    """Makes a complete row."""
    return make_row


@pytest.fixture
def three_problems() -> ProblemSet:
    """The tasks 1, 2 and 10."""
    return make_problems("BigCodeBench/1", "BigCodeBench/2", "BigCodeBench/10")


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes objects (or bytes, as they are) as the lines of a file in the temporary folder."""

    def write(*lines: Any, name: str = "samples.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
        )
        return path

    return write


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real BigCodeBench data; tests that use it skip where it is absent."""
    beside_the_repository = Path(__file__).resolve().parents[4] / "shared" / "data"
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", beside_the_repository)) / "bigcodebench"
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    return folder
