"""A working repository of one instance, made from a stored history."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.files import link_or_copy, told_plainly
from benchwright.environments.repositories.git import BRANCH, git, make_empty_repository
from benchwright.environments.repositories.history import History

FILE_TIME = 946_684_800
"""Modification time of every file and folder of a working tree: 2000-01-01, so that equal files of two instances can
be one file on disk.  Not earlier, since zip archives (wheels) begin with 1980."""

FOLDER_MODE = 0o755


def check_out(history: History, destination: Path) -> None:
    """Make a repository whose past is the history and which knows nothing later, with its files checked out.

    HEAD is on the branch ``main`` at the base commit; the tags merged into it are there; nothing else is.  Packs are
    hard links into the store where the file system allows.  Files are as git stores them, except where the
    repository's own ``.gitattributes`` ask for a conversion; submodules are empty folders, Git LFS files are pointers.
    All files have the modification time ``FILE_TIME``; git's index must stay newer than they are, otherwise
    ``git status`` reads every file each time.

    The destination may be an empty folder or absent; it is there whole or not at all.  Raises `UsageError` when it
    holds something, `MachineError` when git fails or the disk is full.
    """
    destination = destination.absolute()
    if os.path.lexists(destination) and not (destination.is_dir() and not any(destination.iterdir())):
        raise UsageError(f"{destination} is not empty; give a new folder for the repository.")
    with told_plainly(f"check {history.repo} out into {destination}"):
        destination.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{destination.name}.partial-", dir=destination.parent))
        try:
            partial.chmod(FOLDER_MODE)
            _fill(history, partial)
            partial.rename(destination)
        finally:
            shutil.rmtree(partial, ignore_errors=True)  # only there when something failed, and then of no use


def _fill(history: History, work: Path) -> None:
    git_dir = work / ".git"
    make_empty_repository(git_dir)
    for pack in history.packs:
        for file in (pack.with_suffix(".idx"), pack):
            link_or_copy(file, git_dir / "objects" / "pack" / file.name)
    refs = {BRANCH: history.base, **{f"refs/tags/{name}": object_id for name, object_id in history.tags}}
    updates = "".join(f"create {ref}\0{object_id}\0" for ref, object_id in refs.items())
    no_reflog = ("-c", "core.logAllRefUpdates=false")
    git(git_dir, *no_reflog, "update-ref", "--stdin", "-z", what="write the refs", stdin=updates)
    git(git_dir, "pack-refs", "--all", what="write the refs")
    in_tree = (f"--work-tree={work}", "-C", work)
    git(git_dir, *in_tree, "read-tree", "--reset", "-u", BRANCH, what="check the files out")
    _set_times(work)
    _match_index(git_dir, in_tree)


def _set_times(work: Path) -> None:
    for path in _below(work):
        os.utime(path, (FILE_TIME, FILE_TIME), follow_symlinks=False)


def _below(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name == ".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))
        yield Path(entry.path)


def _match_index(git_dir: Path, in_tree: tuple[str | Path, ...]) -> None:
    git(git_dir, *in_tree, "update-index", "-q", "--refresh", what="note the files' times")
    changed = git(git_dir, *in_tree, "status", "--porcelain", what="compare the files with the commit")
    if changed:
        raise MachineError(f"The files just checked out differ from their commit:\n{changed}")
