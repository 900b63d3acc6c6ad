"""Which edits of a patch reach outside the repository's files, and what a patch lacks to be applied whole."""

import posixpath
from collections.abc import Iterator, Sequence

from benchwright.answers.patch_sections import EditKind, PatchedFile
from benchwright.core.repositories import Edit

# Characters that HFS+ leaves out when it compares names; git refuses them in ".git" for that reason (CVE-2014-9390).
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)  # fmt: skip
_GIT_FOLDER = frozenset({".git", "git~1"})


def unsafe_edits(files: Sequence[PatchedFile]) -> tuple[Edit, ...]:
    """One entry for each file section that must not be applied, with the reason; the first reason found is given."""
    links = frozenset(file.new_path for file in files if file.is_link and file.new_path is not None)
    found = ((file, _objection(file, links)) for file in files)
    return tuple(Edit(path=file.path, why=why) for file, why in found if why)


def _objection(file: PatchedFile, links: frozenset[str]) -> str:
    if not file.names:
        return "the section does not say which file it is about"
    return next(_objections(file, links), "")


def _objections(file: PatchedFile, links: frozenset[str]) -> Iterator[str]:
    for name in file.names:
        if len(name) > _LONGEST_PATH:
            yield f"the path has {len(name):,} characters"
            continue
        yield from _name_objections(name)
        below = next((folder for folder in _folders(name) if folder in links), None)
        if below is not None:
            yield f"it lies below {below}, which the patch makes a symbolic link"
    if len(file.names) > (2 if file.kind in (EditKind.RENAMED, EditKind.COPIED) else 1):
        yield "the section's lines name different files"
    if file.is_submodule:
        yield "it is a submodule, another repository's commit"
    if file.is_link:
        yield from _link_objections(file)
    if file.binary and not file.has_payload:
        yield "the patch says that this binary file differs, and does not hold its content"


_LONGEST_PATH = 4095
"""What the kernel takes (``PATH_MAX`` less the closing byte)."""


def _name_objections(name: str) -> Iterator[str]:
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in name):
        yield "the path holds a control character"
    if name.startswith("/"):
        yield "the path is absolute"
    parts = name.split("/")
    if ".." in parts:
        yield "the path leaves the repository by '..'"
    if "" in parts or "." in parts:
        yield "the path has an empty or '.' component"
    if any(_means_git_folder(part) for part in parts):
        yield "the path lies in a .git folder"


def _means_git_folder(part: str) -> bool:
    """Whether some file system takes a component for ``.git``, as git itself guards against."""
    return part.translate(_IGNORED).rstrip(" .").casefold() in _GIT_FOLDER


def _folders(name: str) -> Iterator[str]:
    folder = posixpath.dirname(name)
    while folder and folder != "/":
        yield folder
        folder = posixpath.dirname(folder)


def _link_objections(file: PatchedFile) -> Iterator[str]:
    target = file.link_target
    if not target:
        yield "it is a symbolic link whose target cannot be read"
        return
    parts = target.split("/")
    inner = [part for part in parts if part not in ("", ".")]
    climbs = next((place for place, part in enumerate(inner) if part != ".."), len(inner))
    if target.startswith("/") or climbs > file.path.count("/") or ".." in inner[climbs:]:
        yield f"it is a symbolic link that can leave the repository: {target!r}"
    if any(_means_git_folder(part) for part in inner if part != ".."):
        yield f"it is a symbolic link into a .git folder: {target!r}"
    if any(ord(character) < 0x20 for character in target):
        yield "it is a symbolic link whose target holds a control character"
