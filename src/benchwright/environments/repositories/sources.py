"""Where histories come from: a clone or mirror on this machine, which is only read, or an address.

An address is cloned once, branches and tags without the thousands of pull request refs of a hosting service, and
fetched again only when a commit is lacking.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import UsageError
from benchwright.environments.environment import exclusive
from benchwright.environments.repositories.git import (
    GitError,
    git,
    make_empty_repository,
    run_git,
    without_secret,
)

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.+|[A-Za-z0-9_.-]+@[^/:]+:.+")
"""``https://…`` and the like, or ``user@host:path``."""

COMMIT_ID = re.compile(r"[0-9a-f]{40}")

REPOSITORY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A repository on this machine that histories are read from; nothing is ever written into it."""

    repo: str
    """``owner/name``."""
    place: str
    """The path or address as the user gave it, for messages."""
    git_dir: Path

    @property
    def objects(self) -> Path:
        """The folder of its objects; git finds further ones that it borrows from by itself."""
        return self.git_dir / "objects"

    def tags(self) -> dict[str, str]:
        """Object id by tag name, without ``refs/tags/``: a commit, or a tag object with message and signer."""
        lines = git(
            self.git_dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags", what="list the tags"
        )
        pairs = (line.split(" ", 1) for line in lines.splitlines())
        return {name.removeprefix("refs/tags/"): object_id for object_id, name in pairs}

    def peeled(self, object_ids: Iterable[str]) -> dict[str, str]:
        """Id of the commit that each of these objects is or, as a tag, points at; left out when there is none."""
        asked = list(dict.fromkeys(object_ids))
        lines = git(
            self.git_dir,
            "cat-file",
            "--batch-check=%(objecttype) %(objectname)",
            what="look for commits",
            stdin="".join(f"{object_id}^{{commit}}\n" for object_id in asked),
        ).splitlines()
        answers = zip(asked, (line.split(" ") for line in lines), strict=True)
        return {object_id: answer[1] for object_id, answer in answers if answer[0] == "commit"}


def slug(repo: str) -> str:
    """The repository's name as a folder name, ``owner__name``; raises `UsageError` for other names."""
    if not REPOSITORY_NAME.fullmatch(repo):
        raise UsageError(f"A repository is named owner/name, such as sympy/sympy, not {repo!r}.")
    return repo.replace("/", "__")


def open_source(repo: str, place: str | Path, bases: Iterable[str], *, clones: Path) -> Source:
    """Open a repository that has all these commits.

    Args:
        repo: ``owner/name``.
        place: A clone, bare or not, on this machine, or an address that git can clone.
        bases: Commits, as 40 hexadecimal digits.
        clones: Folder that keeps what was cloned from addresses.

    Raises `UsageError` when there is no such repository, it is a shallow clone, or it lacks a commit, and
    `MachineError` when an address cannot be cloned.
    """
    wanted = list(dict.fromkeys(bases))
    for base in wanted:
        if not COMMIT_ID.fullmatch(base):
            raise UsageError(f"A base commit of {repo} must be given by its 40 hexadecimal digits, not as {base!r}.")
    if ADDRESS.fullmatch(os.fspath(place)):
        return _open_address(repo, os.fspath(place), wanted, clones)
    source = _open_local(repo, Path(place))
    missing = _missing(source, wanted)
    if missing:
        raise UsageError(
            f"{place} lacks the commit {missing[0]} of {repo}; "
            f"fetch it there (git fetch https://github.com/{repo} {missing[0]}), or name a fuller clone."
        )
    return source


def _open_local(repo: str, place: Path) -> Source:
    place = place.absolute()
    for candidate in (place / ".git", place):
        try:
            found = git(candidate, "rev-parse", "--resolve-git-dir", candidate, what="open a repository").strip()
            folder = git(Path(found), "rev-parse", "--git-common-dir", what="open a repository").strip()
        except GitError:
            continue
        git_dir = Path(folder).resolve()
        if (git_dir / "shallow").exists():
            raise UsageError(f"{place} is a shallow clone of {repo}; complete it (git fetch --unshallow) first.")
        return Source(repo=repo, place=os.fspath(place), git_dir=git_dir)
    raise UsageError(f"{place} is no git repository; give the folder of a clone of {repo}, bare or not.")


def _missing(source: Source, bases: Iterable[str]) -> list[str]:
    found = source.peeled(bases)
    return [base for base in bases if found.get(base) != base]


def _open_address(repo: str, address: str, bases: list[str], clones: Path) -> Source:
    folder = clones / f"{slug(repo)}.git"
    clones.mkdir(parents=True, exist_ok=True)
    with exclusive(folder, wait=True):
        if not folder.exists():
            _clone(repo, address, folder)
        source = Source(repo=repo, place=address, git_dir=folder)
        missing = _missing(source, bases)
        if missing:
            _fetch(folder, address, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
            missing = _missing(source, bases)
        for base in missing:
            _fetch_commit(source, base)
    return source


def _clone(repo: str, address: str, folder: Path) -> None:
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    try:
        partial.chmod(0o755)
        make_empty_repository(partial, "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n")
        _fetch(partial, address, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # only there when something failed, and then of no use


def _fetch_commit(source: Source, base: str) -> None:
    """Commits of closed pull requests lie on no branch; GitHub gives them out by their id."""
    try:
        _fetch(source.git_dir, source.place, base)
    except GitError as error:
        raise UsageError(
            f"{without_secret(source.place)} has no commit {base} of {source.repo} on its branches and tags "
            "and does not give it out by its id; name a clone that has it."
        ) from error


def _fetch(git_dir: Path, address: str, *wanted: str) -> None:
    """Fetch with the user's own configuration: proxies, credentials and replaced addresses live there."""
    variables = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    words = ["git", f"--git-dir={git_dir}", "fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", "--no-tags"]
    run_git(
        [*words, "--", address, *wanted],
        what=f"fetch {without_secret(address)}",
        environ={**variables, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
    )
