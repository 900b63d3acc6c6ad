"""What a test sees of the whole machine, without what other tests do to it at the same time."""

import contextlib
import os
from pathlib import Path


def mounts(folder: Path) -> set[str]:
    """What is mounted on this machine, seen from a test whose files lie in a folder.

    Left out is what changes without that test: the containers of an engine, and what other tests mounted in folders
    of their own.
    """
    found = set()
    for line in Path("/proc/self/mounts").read_text().splitlines():
        place = Path(line.split()[1])
        of_a_test = any(part.startswith("pytest-of-") for part in place.parts)
        if "docker" not in line and (not of_a_test or place.is_relative_to(folder)):
            found.add(line)
    return found


def processes_with(word: str) -> list[int]:
    """The processes of this machine, but for this one, that have a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return [pid for pid in found if pid != os.getpid()]


def own_seconds(number: int) -> str:
    """A long time to sleep that no process of another test has in its command line."""
    return f"{number}.{os.getpid()}"
