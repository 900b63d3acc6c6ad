"""The program: its entry point called here, which is fast, or started as a user starts it."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROGRAM = [sys.executable, "-c", "from benchwright.cli.main import main; main()"]


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of one command."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


def start_bw(folder: Path, *arguments: object, **variables: str) -> Done:
    """Run ``bw`` as a process in a folder, with a benchwright home below it and nothing to read from."""
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(folder / "home"), "NO_COLOR": "1", **variables}
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    return Done(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)
