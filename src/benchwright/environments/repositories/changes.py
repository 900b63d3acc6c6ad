"""A merged change of a repository, split into what it did to the source and what it did to the tests."""

import datetime
import re
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.git import GitError, git
from benchwright.environments.repositories.sources import open_source

_TEST_WORDS = ("test", "e2e")
"""A path that holds one of these is a test (SWE-bench, ``collect/utils.py: extract_patches``)."""
_NUMBER = re.compile(r"(?:Merge pull request #|\(#)(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change, as it was merged."""

    repo: str
    commit: str
    """The commit that was asked for: a merge, or the only commit of a squashed pull request."""
    base: str
    """Where the change branched off."""
    head: str
    """What was merged."""
    date: str
    """When it was committed, as ``2024-05-01T10:00:00Z``."""
    message: str
    number: int | None
    """Number of the pull request, where the message tells."""
    source_patch: str
    test_patch: str


def read_change(repo: str, place: Path, commit: str, *, clones: Path) -> Change:
    """Read a change out of a local repository.

    Of a merge, the change is the difference from the merge base to the merged side; of any other commit, that to its
    parent.  Files whose path speaks of tests make the test patch, the others the source patch.  Raises `UsageError`
    when the commit is not there or has no parent, or when one of the two parts is empty.
    """
    git_dir = open_source(repo, place, (), clones=clones).git_dir
    try:
        words = git(git_dir, "rev-list", "--parents", "-n1", f"{commit}^{{commit}}", what="find the commit").split()
    except GitError as error:
        raise UsageError(f"{place} has no commit {commit}; give one that `git log` shows there.") from error
    full, parents = words[0], words[1:]
    if not parents:
        raise UsageError(f"{commit} is the first commit of {place}, so there is nothing before it to start from.")
    base, head = parents[0], full
    if len(parents) > 1:
        head = parents[1]
        base = git(git_dir, "merge-base", parents[0], head, what="find the merge base").split()[0]
    source, tests = _split(git_dir, base, head)
    for part, name in ((source, "source file"), (tests, "test")):
        if not part:
            raise UsageError(f"{commit} changes no {name}; an instance needs a change to the source and to the tests.")
    seconds, _, message = git(git_dir, "show", "-s", "--format=%ct %B", full, what="read the message").partition(" ")
    number = _NUMBER.search(message)
    return Change(
        repo=repo,
        commit=full,
        base=base,
        head=head,
        date=datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        message=message.strip(),
        number=int(number[1]) if number else None,
        source_patch=_diff(git_dir, base, head, source),
        test_patch=_diff(git_dir, base, head, tests),
    )


def _split(git_dir: Path, base: str, head: str) -> tuple[list[str], list[str]]:
    listed = git(git_dir, "diff", "--name-only", "--no-renames", "-z", base, head, what="list the changed files")
    paths = [path for path in listed.split("\0") if path]
    tests = [path for path in paths if any(word in path for word in _TEST_WORDS)]
    return [path for path in paths if path not in tests], tests


def _diff(git_dir: Path, base: str, head: str, paths: list[str]) -> str:
    options = ("--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", "--full-index")
    return git(git_dir, "--literal-pathspecs", "diff", *options, base, head, "--", *paths, what="read the change")
