"""Writers that are killed with ``kill -9`` lose nothing that they were told was recorded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parents[2] / "benchmarks/killed_writers.py"


def killed(folder: Path, *options: str) -> dict[str, Any]:
    """What the program says of writers that it killed."""
    done = subprocess.run([sys.executable, PROGRAM, folder, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["lost"], found["damage"], found["index_same"], found["sound"]) == ([], [], True, True)
    return found


def test_four_writers_killed_at_random(tmp_path: Path) -> None:
    """Every acknowledged run is there with its rows, and an index made anew is the same."""
    found = killed(tmp_path, "--writes", "40", "--writers", "4", "--seed", "7")
    assert found["acknowledged"] == 40
    assert found["kills"] > 0


def test_a_writer_killed_at_each_of_its_file_operations(tmp_path: Path) -> None:
    """Wherever it is killed, the next writer finds a whole store, in which the write is all there or not at all."""
    found = killed(tmp_path, "--every-step")
    assert found["acknowledged"] == 1
    assert found["kills"] >= 20
    assert 1 <= found["entries"] < found["kills"]
