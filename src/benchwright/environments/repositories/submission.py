"""What an agent leaves, as a patch: the difference between the tree at its end and the one it was handed.

Made on this machine, by its own git, in a repository that holds the changed files alone: nothing of the agent's tree
is put at a path here but the ``.gitignore`` files, and neither its ``.git`` nor any configuration, attribute, filter or
hook has a say.  A patch that grading would refuse or could not apply as a whole for the sake of one file is of no use
to anybody, so such a file is left out and listed.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from benchwright.core.agents import LeftOut, Submission
from benchwright.core.errors import MachineError
from benchwright.environments.repositories.base_tree import (
    LINK,
    ArchivedFile,
    ArchivedTree,
    BaseFile,
    BaseTree,
    read_archive,
)
from benchwright.environments.repositories.files import told_plainly
from benchwright.environments.repositories.git import GitError, environment
from benchwright.environments.repositories.objects import ObjectFolder
from benchwright.sandboxes.base import TREE_FILE_BYTES

MIB = 1024**2

MOST_FILE_BYTES = TREE_FILE_BYTES
"""Of one file that is new or changed."""

MOST_PATCH_BYTES = 60 * MIB
"""Of the whole patch, counted before it is made and never too low; grading reads patches of up to 64 MiB."""

MOST_NEW_FILES = 20_000

LISTED = 200
"""Files left out that are listed by name."""

LONGEST_PATH = 1024
"""Bytes of a path; no file of SWE-bench's repositories has more than 200."""

GIT_SECONDS = 120.0
"""Comparing 60 MiB takes some seconds, as does asking for 100,000 ignored files."""

_MOST_RULES, _MOST_RULE_BYTES, _MOST_RULES_BYTES = 5000, MIB, 16 * MIB
"""How many ``.gitignore`` files are looked at, how large one may be, and how large all together: they are in memory."""

IGNORED = "ignored by git"
MADE_BY_SET_UP = "made by set-up"


@dataclass(frozen=True, slots=True)
class _Change:
    """One path that is not as it was: None stands for no file."""

    path: str
    old: BaseFile | None
    new: ArchivedFile | None

    @property
    def size(self) -> int:
        return (0 if self.old is None else self.old.size) + (0 if self.new is None else self.new.stamp.size)


@dataclass(slots=True)
class _LeftOut:
    """What is left out, by path, with the first reason found."""

    reasons: dict[str, str] = field(default_factory=dict)
    unread: int = 0

    def add(self, path: str, why: str) -> None:
        self.reasons.setdefault(path, why)

    def listed(self) -> tuple[LeftOut, ...]:
        """The first of them: what Python compiled comes last, for nobody looks for that."""
        paths = sorted(self.reasons, key=lambda path: (path.endswith(".pyc"), path))[:LISTED]
        return tuple(LeftOut(path=path, why=self.reasons[path]) for path in paths)

    @property
    def more(self) -> int:
        return max(len(self.reasons) - LISTED, 0) + self.unread


def make_submission(base: BaseTree, tree: BinaryIO, *, include_ignored: bool = False) -> Submission:
    """The patch that makes the tree an agent left of the tree it was handed, whatever it did with git.

    New and changed files, modes (may the owner execute it or not), links, removals; a renamed file is one removed and
    one added.  Left out and listed: new files that the ``.gitignore`` files of the final tree ignore, unless the base
    commit has them; changes of what set-up made; what lies in a ``.git`` folder; what no patch can hold or grading
    refuses; files over 16 MiB, and the largest when all would be too long.

    Args:
        base: What the agent was handed.
        tree: The tree at its end, as `LiveWorkspace.tree` wrote it; a file in which places can be sought.
        include_ignored: Whether ignored new files are taken in.

    Raises `SandboxFault` when the archive is not whole, and `MachineError` when git fails or the disk is full.
    """
    with told_plainly("make a submission"), tempfile.TemporaryDirectory(prefix="benchwright-submission-") as scratch:
        end = read_archive(tree, wanted=base.files.keys() | base.set_up.keys())
        left = _LeftOut(unread=end.unread)
        for path in end.others:
            left.add(path, "no regular file")
        changes = [change for change in _changes(base, end, tree, left) if _may_be_sent(change, end, left)]
        repository = _Repository(Path(scratch))
        if not include_ignored:
            changes = _without_ignored(changes, base, (end, tree), repository, left)
        patch = _Patch(base, tree, repository, left).make(changes)
    return Submission(patch=patch, left_out=left.listed(), left_out_more=left.more)


def _changes(base: BaseTree, end: ArchivedTree, tree: BinaryIO, left: _LeftOut) -> Iterator[_Change]:
    """What differs, in the order of paths; what set-up made is left out."""
    for path in sorted(base.files.keys() | base.set_up.keys() | end.files.keys()):
        old, new = base.files.get(path), end.files.get(path)
        if path in base.set_up:
            if new is None or new.stamp != base.set_up[path]:
                left.add(path, MADE_BY_SET_UP)
        elif old is None or new is None or not _same(old, new, tree):
            yield _Change(path, old, new)


def _same(old: BaseFile, new: ArchivedFile, tree: BinaryIO) -> bool:
    if old.mode != new.stamp.mode or old.size != new.stamp.size:
        return False
    return old.size > MOST_FILE_BYTES or old.blob == new.blob(tree)  # larger ones come without their content


def _may_be_sent(change: _Change, end: ArchivedTree, left: _LeftOut) -> bool:
    """Whether nothing in the change's names, nor in where it links to, makes grading refuse the whole patch."""
    folder = _git_folder(change.path)
    if folder is not None:
        left.add(folder, "in a .git folder")
        return False
    why = _name_objection(change.path)
    if not why and change.new is not None and change.new.target is not None:
        why = _link_objection(change.path, change.new.target)
    if not why and change.new is None and any(_is_link(end.files.get(folder)) for folder in _folders(change.path)):
        why = "a link took the place of its folder"
    if why:
        left.add(change.path, why)
    return not why


# Characters that HFS+ leaves out when it compares names; git refuses them in ".git" for that reason (CVE-2014-9390).
_OVERLOOKED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _git_folder(path: str) -> str | None:
    """The path up to a component that some file system takes for ``.git``."""
    parts = path.split("/")
    for depth, part in enumerate(parts, start=1):
        if _means_git(part):
            return "/".join(parts[:depth])
    return None


def _means_git(part: str) -> bool:
    if "git" not in part.translate(_OVERLOOKED).casefold():
        return False
    pieces = part.translate(_OVERLOOKED).casefold().split("\\")
    return any(piece.partition(":")[0].rstrip(" .") in (".git", "git~1") for piece in pieces)


def _name_objection(path: str) -> str:
    if _CONTROL.search(path):
        return "its name holds a control character"
    if any(part[-1:].isspace() for part in path.split("/")[:-1]):
        return "its folder's name ends in white space, which git does not always read back from a patch"
    return f"its path has more than {LONGEST_PATH} bytes" if len(os.fsencode(path)) > LONGEST_PATH else ""


def _link_objection(path: str, target: str) -> str:
    parts = [part for part in target.split("/") if part not in ("", ".")]
    climbs = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    if not target or target.startswith("/") or climbs > path.count("/") or ".." in parts[climbs:]:
        return "a link that can leave the repository"
    if any(map(_means_git, parts)) or path.rpartition("/")[2].casefold() == ".gitmodules":
        return "a link that git refuses"
    return "a link whose target holds a control character" if _CONTROL.search(target) else ""


def _is_link(file: ArchivedFile | None) -> bool:
    return file is not None and file.stamp.mode == LINK


def _folders(path: str) -> Iterator[str]:
    """The folders that a path lies in, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _without_ignored(
    changes: Sequence[_Change],
    base: BaseTree,
    end: tuple[ArchivedTree, BinaryIO],
    repository: "_Repository",
    left: _LeftOut,
) -> list[_Change]:
    """The changes less new files that the final tree's ``.gitignore`` files ignore."""
    files, tree = end[0].files, end[1]
    new = [change.path for change in changes if change.old is None and change.path not in base.tracked]
    if not new:
        return list(changes)
    rules, size = list[str](), 0
    for path, file in files.items():
        if path.rpartition("/")[2] == ".gitignore" and _is_rule(path, file):
            size += file.stamp.size
            if size > _MOST_RULES_BYTES or len(rules) == _MOST_RULES:
                left.add(path, "no more .gitignore files are looked at")
                break
            rules.append(path)
    try:
        ignored = repository.ignored(new, {path: files[path].content(tree) for path in rules})
    except subprocess.TimeoutExpired:
        left.add(".gitignore", f"its patterns took git over {GIT_SECONDS:g} s, so nothing counted as ignored")
        return list(changes)
    for path in ignored:
        left.add(path, IGNORED)
    return [change for change in changes if change.path not in ignored]


def _is_rule(path: str, file: ArchivedFile) -> bool:
    small = file.stamp.mode != LINK and file.stamp.size <= _MOST_RULE_BYTES
    return small and _git_folder(path) is None and not _name_objection(path)


class _Repository:
    """A repository of our own for one submission, with an empty working tree."""

    def __init__(self, scratch: Path) -> None:
        self._git_dir = scratch / "git"
        self._work = scratch / "work"
        self._work.mkdir()
        self.objects = ObjectFolder.make(self._git_dir)
        self._all_binary = scratch / "attributes"
        self._all_binary.write_text("* -diff\n", encoding="ascii")

    def ignored(self, paths: Sequence[str], rules: Mapping[str, bytes]) -> frozenset[str]:
        """Which of these paths the ``.gitignore`` files ignore; raises ``TimeoutExpired`` when that takes too long."""
        for path, content in rules.items():
            place = self._work / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        # "./" in front: git would take a leading colon for the sign of a pattern
        stdin = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        output = self._git("check-ignore", "--no-index", "--stdin", "-z", stdin=stdin, fine=(0, 1))
        return frozenset(os.fsdecode(name[2:]) for name in output.split(b"\0") if name)

    def difference(self, old: str, new: str, *, binary: bool) -> str:
        """The patch from one tree to another; with ``binary``, of all files as of binary ones.

        So too when comparing lines takes too long, as it does where millions of them are shuffled.
        """
        options = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--unified=3", "--no-color")
        prefixes = ("--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")
        attributes = os.fspath(self._all_binary) if binary else os.devnull
        try:
            output = self._git("diff-tree", *options, *prefixes, old, new, attributes=attributes)
        except subprocess.TimeoutExpired as error:
            if not binary:
                return self.difference(old, new, binary=True)
            raise MachineError(f"Could not make a submission: git took over {GIT_SECONDS:g} s to compare.") from error
        return output.decode("utf-8", "surrogateescape")

    def _git(
        self, *arguments: str, stdin: bytes = b"", attributes: str = os.devnull, fine: Collection[int] = (0,)
    ) -> bytes:
        settings = ("core.excludesFile=" + os.devnull, f"core.attributesFile={attributes}", "core.quotePath=true")
        words = ["git", f"--git-dir={self._git_dir}", f"--work-tree={self._work}"]
        words += [word for setting in settings for word in ("-c", setting)]
        try:
            done = subprocess.run(
                [*words, *arguments],
                cwd=self._work,
                env=environment(),
                input=stdin,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except OSError as error:
            raise MachineError(f"Could not make a submission: git does not start ({error.strerror}).") from error
        if done.returncode not in fine:
            last = done.stderr.decode(errors="replace").strip()[-500:]
            raise GitError(f"Could not make a submission: git {arguments[0]} failed with {done.returncode}: {last}")
        return done.stdout


class _Patch:
    """The making of a patch within its limits."""

    def __init__(self, base: BaseTree, tree: BinaryIO, repository: _Repository, left: _LeftOut) -> None:
        self._base = base
        self._tree = tree
        self._repository = repository
        self._left = left
        self._bytes_left = MOST_PATCH_BYTES
        self._new_left = MOST_NEW_FILES

    def make(self, changes: Sequence[_Change]) -> str:
        """The patch of those changes that find room: first what changes files of the base, then small new files."""
        in_order = sorted(changes, key=lambda change: (change.old is None, change.size, change.path))
        contents = {change: sides for change in in_order if (sides := self._sides(change)) is not None}
        for change in _in_the_way(contents, self._base):
            self._left.add(change.path, "in the place of something that stays")
            del contents[change]
        patch = ""
        for binary in (False, True):
            group = [(change, sides) for change, sides in contents.items() if sides.binary is binary]
            if group:
                old = {change.path: (change.old.mode, sides.old) for change, sides in group if change.old and sides.old}
                new = {
                    change.path: (change.new.stamp.mode, sides.new)
                    for change, sides in group
                    if change.new and sides.new
                }
                objects = self._repository.objects
                patch += self._repository.difference(objects.add_tree(old), objects.add_tree(new), binary=binary)
        return patch

    def _sides(self, change: _Change) -> "_Sides | None":
        """The contents of a change, put among the objects; None when it is left out."""
        why = self._no_room(change)
        if not why:
            old = None if change.old is None else self._base.read(change.path)
            new = None if change.new is None else change.new.content(self._tree)
            cost = _cost(change.path, old, new)
            if cost <= self._bytes_left:
                self._bytes_left -= cost
                self._new_left -= change.old is None
                objects = self._repository.objects
                return _Sides(
                    old=None if old is None else objects.add_blob(old),
                    new=None if new is None else objects.add_blob(new),
                    binary=any(side is not None and b"\0" in side for side in (old, new)),
                )
            why = _TOO_LONG
        self._left.add(change.path, why)
        return None

    def _no_room(self, change: _Change) -> str:
        if change.new is not None and change.new.stamp.size > MOST_FILE_BYTES:
            return f"larger than {MOST_FILE_BYTES // MIB} MiB"
        if change.old is None and not self._new_left:
            return f"there are more than {MOST_NEW_FILES:,} new files"
        # a mode alone takes no content into the patch
        same_content = change.old is not None and change.new is not None and change.old.size == change.new.stamp.size
        return _TOO_LONG if change.size > self._bytes_left and not same_content else ""


_TOO_LONG = f"the patch would be longer than {MOST_PATCH_BYTES // MIB} MiB"


@dataclass(frozen=True, slots=True)
class _Sides:
    """The objects of a change."""

    old: str | None
    new: str | None
    binary: bool
    """Whether it must go into the patch as a binary file: git looks at the first 8,000 bytes only, but a patch with a
    NUL byte is no text."""


def _cost(path: str, old: bytes | None, new: bytes | None) -> int:
    """Bytes that a change takes in a patch at most: content with marks and headers, or in base 85 when it is binary."""
    names = 8 * 4 * len(os.fsencode(path)) + 512
    if old == new:
        return names
    sides = [side for side in (old, new) if side is not None]
    if any(b"\0" in side for side in sides):
        return names + sum(len(side) * 13 // 10 + 128 for side in sides)
    lines = [side.count(b"\n") for side in sides]
    hunks = _HUNK_BYTES * max(lines) // _HUNK_LINES if len(sides) > 1 else 0
    return names + sum(map(len, sides)) + sum(lines) + hunks


_HUNK_BYTES, _HUNK_LINES = 128, 7
"""A hunk's header, which names a line of up to 80 bytes, and how far two hunks are apart at least."""


def _in_the_way(contents: Mapping[_Change, "_Sides"], base: BaseTree) -> list[_Change]:
    """Additions where something stays that is left out: a file in place of a folder, or below a file."""
    gone = {change.path for change in contents if change.new is None}
    kept = (base.files.keys() | base.set_up.keys()) - gone
    kept_folders = {folder for path in kept for folder in _folders(path)}
    added = [change for change in contents if change.old is None]
    return [
        change
        for change in added
        if change.path in kept_folders or any(folder in kept for folder in _folders(change.path))
    ]
