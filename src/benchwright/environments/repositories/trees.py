"""Checkouts with thousands of folders, kept as what differs from an older one that they stand on.

Equal files of two layers are one file on disk, but folders cannot be: Django's 3,200 take 12 MiB in each checkout.
So instances of such a repository stand on the tree of an older commit, and have only what differs from it.  Which one
that is follows from the base commit alone, whatever else is built, and it is always one of the base's past: what is
hidden below an instance is older than the instance.
"""

import datetime
from pathlib import Path

from benchwright.core.digest import digest_of
from benchwright.core.repositories import WORK
from benchwright.environments.repositories.git import git
from benchwright.environments.repositories.layers import Draft, Layer, LayerKey, LayerKind, LayerStore, Made, own_root
from benchwright.environments.repositories.sealing import shift_owners
from benchwright.environments.repositories.sources import slug

MANY_FOLDERS = 1500
"""Folders of a checkout from which on it is worth a layer of its own; Django alone of SWE-bench's repositories has more
(sphinx 700, matplotlib, scikit-learn, sympy and astropy below 500)."""

PROCEDURE = 1
"""Raised when the steps below make something else of the same commit."""


def older_commit(git_dir: Path, base: str) -> str | None:
    """The last commit of the base's first-parent line before the quarter of a year in which the base was committed.

    None when the line begins in that quarter.  Raises `GitError`.
    """
    seconds = int(git(git_dir, "show", "--no-patch", "--format=%ct", base, what="read the date of a commit"))
    date = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    quarter = datetime.datetime(date.year, 3 * ((date.month - 1) // 3) + 1, 1, tzinfo=datetime.UTC)
    before = f"--before={int(quarter.timestamp()) - 1}"
    found = git(git_dir, "rev-list", "-1", "--first-parent", before, base, what="look for an older commit")
    return found.strip() or None


def tree_layer(store: LayerStore, repo: str, git_dir: Path, commit: str) -> Layer:
    """The layer with a commit's files at their place, made if it is not there.

    Args:
        store: Where it is put.
        repo: ``owner/name``.
        git_dir: A repository that has the commit.
        commit: By its 40 digits.

    Raises `MachineError` when git fails or the disk is full.
    """

    def make(draft: Draft) -> Made:
        work = draft.folder / WORK.strip("/")
        work.mkdir(mode=0o755)
        own_root(work, store.owner)
        index = {"GIT_INDEX_FILE": str(draft.scratch / "index")}
        git(git_dir, "read-tree", commit, what="read a commit's files", environ=index)
        in_work = (f"--work-tree={work}", "-C", work)
        git(git_dir, *in_work, "checkout-index", "--all", what="check a commit's files out", environ=index)
        shift_owners(draft.folder, store.owner)
        return Made(facts={"commit": commit})

    digest = digest_of({"repo": repo, "commit": commit, "procedure": PROCEDURE})
    return store.put(LayerKey(kind=LayerKind.TREE, name=f"{slug(repo)}-{commit[:10]}", digest=digest), make)


def count_folders(folder: Path) -> int:
    """How many folders are below a folder, git's own left out."""
    return sum(
        1 + count_folders(path)
        for path in folder.iterdir()
        if path.is_dir() and not path.is_symlink() and path.name != ".git"
    )
