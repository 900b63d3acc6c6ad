"""What a test sees of the whole machine, without what other tests do to it at the same time."""

import contextlib
import fnmatch
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
    for name in os.listdir("/proc"):  # noqa: PTH208 - unlike glob it asks nothing of a process that may be gone
        with contextlib.suppress(OSError):
            if name.isdigit() and word.encode() in Path("/proc", name, "cmdline").read_bytes():
                found.append(int(name))
    return [pid for pid in found if pid != os.getpid()]


def groups_of_this_process() -> set[Path]:
    """Control groups that this process has made and that are still there."""
    wanted = f"benchwright-*{os.getpid()}-*"
    # Other tests make and remove groups meanwhile, at which rglob raises and walk does not.
    walked = os.walk("/sys/fs/cgroup")
    return {Path(folder, name) for folder, names, _ in walked for name in names if fnmatch.fnmatch(name, wanted)}


def own_seconds(number: int) -> str:
    """A long time to sleep that no process of another test has in its command line."""
    return f"{number}.{os.getpid()}"
