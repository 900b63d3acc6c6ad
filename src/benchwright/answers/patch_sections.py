"""A unified diff taken apart into its file sections: plain ones (POSIX diff) and git's, with extended headers.

What is content is decided by the counts in hunk headers, as patch programs do: a removed line ``-- a/x`` looks like a
header and is none.  Where the counts are wrong, the lines decide.
"""

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchwright.answers.patch_hunks import Hunk, is_name_pair, read_hunks
from benchwright.answers.patch_paths import DEV_NULL, git_names, is_prefixed, stripped, unquoted, with_prefix

_GIT = "diff --git "
_MODE_LINE = re.compile(r"^(old mode|new mode|new file mode|deleted file mode) (0*[0-7]{1,6})(?:\s|$)")
_INDEX_MODE = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+ (0*[0-7]{1,6})(?:\s|$)")
# "old" and "new" are how early versions of git spelled it; git apply still reads them.
_MOVE_LINE = re.compile(r"^(rename|copy) (from|to|old|new) (.+)$")
_MOVE_SIDES = {"old": "from", "new": "to"}
_OTHER_HEADER_LINES = ("index ", "similarity index ", "dissimilarity index ")
_NO_PAYLOAD = re.compile(r"^(?:Binary files|Files) .+ differ$")
_BINARY_HEADER = "GIT binary patch"
_SYMLINK, _SUBMODULE = "120000", "160000"


class EditKind(enum.StrEnum):
    """What a file section does."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"
    """Nothing but the file's mode changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedFile:
    """One file section of a patch; paths are relative to the repository, without prefixes."""

    old_path: str | None
    """None where a file is added, or where the section's names cannot be read."""
    new_path: str | None
    """None where a file is deleted, or where the section's names cannot be read."""
    kind: EditKind
    old_mode: str | None
    """Six octal digits, as git writes them; None where the section does not say."""
    new_mode: str | None
    binary: bool
    has_payload: bool
    """False for ``Binary files … differ``: the section says that a file differs, and not how."""
    link_target: str | None
    """Where a symbolic link that the section makes or changes points to; None for other files."""
    names: tuple[str, ...]
    """Every path the section's lines name, each once; more than the two above where they contradict each other."""
    text: str = field(repr=False)

    @property
    def path(self) -> str:
        """The path to speak of: the new one if there is one."""
        return self.new_path or self.old_path or ""

    @property
    def touched(self) -> tuple[str, ...]:
        """Paths that are changed by it; the source of a copy is not."""
        if self.kind is EditKind.COPIED:
            return tuple(name for name in self.names if name != self.old_path)
        return self.names

    @property
    def is_link(self) -> bool:
        """Whether there is a symbolic link afterwards."""
        return self.new_path is not None and (self.new_mode or self.old_mode) == _SYMLINK

    @property
    def is_submodule(self) -> bool:
        """Whether another repository's commit is recorded, before or after."""
        return _SUBMODULE in (self.old_mode, self.new_mode)


@dataclass(slots=True, kw_only=True)
class Section:
    """One file section while it is read: which lines it has, and what its header said."""

    start: int
    end: int = 0
    git_line: int | None = None
    old_line: int | None = None
    new_line: int | None = None
    hunks: list[Hunk] = field(default_factory=list)
    modes: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    stray: list[str] = field(default_factory=list)
    """Names behind a second ``---`` or ``+++``, or behind one without the other."""
    binary: bool = False
    has_payload: bool = False
    malformed: bool = False
    """Whether something that shall be a hunk follows and cannot be read; kept, for the whole patch is then refused."""

    @property
    def says_something(self) -> bool:
        """Whether it changes anything; a bare header does not."""
        return bool(self.hunks or self.malformed or self.moves or self.binary or set(self.modes) - {"index"})


def starts_section(lines: Sequence[str], index: int) -> bool:
    """Whether a file section begins at a line, provided that no hunk is open."""
    return lines[index].startswith(_GIT) or is_name_pair(lines, index)


def scan(lines: Sequence[str]) -> list[Section]:
    """The sections of a patch, in order; lines before the first one belong to none.

    What belongs together is what git apply takes together (``apply.c``, ``parse_chunk``): a header's lines in any order
    up to the first that is none, then hunks or a binary payload, then text that means nothing up to the next header.
    """
    sections: list[Section] = []
    index = 0
    while index < len(lines):
        if lines[index].startswith(_GIT):
            section = Section(start=index, git_line=index)
            index = _read_header(lines, index + 1, section)
        elif is_name_pair(lines, index):
            section = Section(start=index, old_line=index, new_line=index + 1)
            index += 2
        else:
            index += 1
            continue
        section.hunks = read_hunks(lines, index)
        index = section.hunks[-1].surplus_end if section.hunks else _read_binary(lines, index, section)
        section.malformed = index < len(lines) and lines[index].startswith("@@")
        sections.append(section)
    for section, following in itertools.pairwise(sections):
        section.end = following.start
    if sections:
        sections[-1].end = len(lines)
    return [section for section in sections if section.says_something]


def is_only_header(text: str) -> bool:
    """Whether a section's text is nothing but a git header, to which names that follow would be reckoned."""
    lines = text.removesuffix("\n").split("\n")
    return lines[0].startswith(_GIT) and _read_header(lines, 1, Section(start=0)) == len(lines)


def _read_header(lines: Sequence[str], index: int, section: Section) -> int:
    """Take in the lines of git's extended header; the index of the first line after it."""
    while index < len(lines):
        line = lines[index].rstrip("\r")
        if found := _MODE_LINE.match(line):
            section.modes[found[1]] = _mode(found[2])
        elif found := _INDEX_MODE.match(line):
            section.modes["index"] = _mode(found[1])
        elif found := _MOVE_LINE.match(line):
            section.moves[f"{found[1]} {_MOVE_SIDES.get(found[2], found[2])}"] = found[3]
        elif line.startswith("--- ") and section.old_line is None:
            section.old_line = index
        elif line.startswith("+++ ") and section.new_line is None:
            section.new_line = index
        elif line.startswith(("--- ", "+++ ")):
            section.stray.append(unquoted(line[4:]))
        elif not line.startswith(_OTHER_HEADER_LINES):
            break
        index += 1
    return index


def _read_binary(lines: Sequence[str], index: int, section: Section) -> int:
    """Take in what stands for a binary file's content; the index of the first line after it."""
    line = lines[index].rstrip("\r") if index < len(lines) and section.git_line is not None else ""
    if _NO_PAYLOAD.match(line):
        section.binary = True
    elif line == _BINARY_HEADER:
        section.binary = True
        index += 1
        while index < len(lines) and not starts_section(lines, index):
            section.has_payload = section.has_payload or lines[index].startswith(("literal ", "delta "))
            index += 1
    return index


def _mode(digits: str) -> str:
    return f"{int(digits, 8):06o}"


def patched_files(lines: Sequence[str]) -> tuple[list[PatchedFile], bool]:
    """The sections of a patch as values, and whether names had to be given the prefixes ``a/`` and ``b/``.

    Where a section's names may have prefixes or not (``a/x.py`` on both sides), they are as the others', and have them
    if no other tells.
    """
    spelled = [(section, _spellings(lines, section)) for section in scan(lines)]
    lone = not any(names.prefixed is False for _, names in spelled)
    files: list[PatchedFile] = []
    put = False
    for section, spellings in spelled:
        names = _names(spellings, _other_names(lines, section), lone)
        own = list(lines[section.start : section.end])
        if names.lacks_prefix:
            _put_prefixes(own, section)
        put = put or names.lacks_prefix
        files.append(_patched_file(lines, section, names, "".join(line + "\n" for line in own)))
    return files, put


def _patched_file(lines: Sequence[str], section: Section, names: "_Names", text: str) -> PatchedFile:
    kind = _kind(section, names)
    modes = section.modes
    old_mode = modes.get("old mode") or modes.get("deleted file mode") or modes.get("index")
    new_mode = modes.get("new mode") or modes.get("new file mode") or modes.get("index")
    stays_link = new_mode == _SYMLINK and kind is not EditKind.DELETED
    return PatchedFile(
        old_path=None if kind is EditKind.ADDED else names.old,
        new_path=None if kind is EditKind.DELETED else names.new,
        kind=kind,
        old_mode=None if kind is EditKind.ADDED else old_mode,
        new_mode=None if kind is EditKind.DELETED else new_mode,
        binary=section.binary,
        has_payload=section.has_payload,
        link_target=_link_target(lines, section) if stays_link else None,
        names=names.all,
        text=text,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spellings:
    """The pairs of names that the lines of one section hold, as they are spelled."""

    plain: tuple[str, str] | None
    """Behind ``---`` and ``+++``."""
    git: tuple[str, str] | None
    """Behind ``diff --git``."""
    moved: tuple[str, str] | None
    """Of a rename or copy; never with a prefix."""
    prefixed: bool | None
    """Whether the others have prefixes; None when that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What the lines of one section say of its file's names."""

    old: str | None
    new: str | None
    all: tuple[str, ...]
    lacks_prefix: bool


def _spellings(lines: Sequence[str], section: Section) -> _Spellings:
    plain, git, moved = _plain_names(lines, section), _git_line_names(lines, section), _moved_names(section)
    pair = git or plain
    if pair is None:
        prefixed: bool | None = True
    elif moved is not None and git is not None:
        prefixed = git != moved
    else:
        prefixed = is_prefixed(*pair)
    return _Spellings(plain=plain, git=git, moved=moved, prefixed=prefixed)


def _names(spellings: _Spellings, others: Sequence[str], lone: bool) -> _Names:
    prefixed = lone if spellings.prefixed is None else spellings.prefixed
    pairs: list[tuple[str | None, str | None]] = [spellings.moved] if spellings.moved is not None else []
    for pair in (spellings.plain, spellings.git):
        if pair is not None:
            pairs.append(_paths(pair, prefixed=prefixed, is_plain=spellings.git is None))
    old, new = pairs[0] if pairs else (None, None)
    every = tuple(dict.fromkeys(name for pair in pairs for name in pair if name is not None))
    every += tuple(name for name in dict.fromkeys(others) if name not in every)
    absolute = any(name.startswith("/") for name in every)
    return _Names(old=old, new=new, all=every, lacks_prefix=not prefixed and not absolute)


def _paths(names: tuple[str, str], *, prefixed: bool, is_plain: bool) -> tuple[str | None, str | None]:
    old, new = (None if name == DEV_NULL else stripped(name) if prefixed else name for name in names)
    if is_plain and old is not None and new is not None and not prefixed:
        return new, new  # as in "--- x.py.orig": the second name is meant
    return old, new


def _plain_names(lines: Sequence[str], section: Section) -> tuple[str, str] | None:
    if section.old_line is None or section.new_line is None:
        return None
    return unquoted(lines[section.old_line].rstrip("\r")[4:]), unquoted(lines[section.new_line].rstrip("\r")[4:])


def _other_names(lines: Sequence[str], section: Section) -> list[str]:
    """Names of a header that has too many of them, or too few: git apply may take them all the same."""
    names = list(section.stray)
    sides = [place for place in (section.old_line, section.new_line) if place is not None]
    if len(sides) == 1:
        names.append(unquoted(lines[sides[0]].rstrip("\r")[4:]))
    return [stripped(name) for name in names if name != DEV_NULL] + [unquoted(name) for name in section.moves.values()]


def _git_line_names(lines: Sequence[str], section: Section) -> tuple[str, str] | None:
    if section.git_line is None:
        return None
    names = git_names(lines[section.git_line].rstrip("\r")[len(_GIT) :])
    return None if names is None else (unquoted(names[0]), unquoted(names[1]))


def _moved_names(section: Section) -> tuple[str, str] | None:
    for verb in ("rename", "copy"):
        old, new = (section.moves.get(f"{verb} {side}") for side in ("from", "to"))
        if old is not None and new is not None:
            return unquoted(old), unquoted(new)
    return None


def _kind(section: Section, names: _Names) -> EditKind:
    if any(move.startswith("rename") for move in section.moves):
        return EditKind.RENAMED
    if section.moves:
        return EditKind.COPIED
    if "new file mode" in section.modes or (names.old is None and names.new is not None) or _makes_file(section):
        return EditKind.ADDED
    if "deleted file mode" in section.modes or (names.new is None and names.old is not None):
        return EditKind.DELETED
    only_mode = "new mode" in section.modes and not section.hunks and not section.binary
    return EditKind.MODE if only_mode else EditKind.MODIFIED


def _makes_file(section: Section) -> bool:
    """Whether a plain section's one hunk has no old side, by which git apply makes a file that is not there."""
    return section.git_line is None and len(section.hunks) == 1 and section.hunks[0].only_adds


def _link_target(lines: Sequence[str], section: Section) -> str:
    """The text of a link, which is its target; empty when the section's lines do not hold it."""
    added = [line[1:] for line in _content(lines, section) if line.startswith("+")]
    return "\n".join(added)


def _content(lines: Sequence[str], section: Section) -> Iterator[str]:
    for hunk in section.hunks:
        yield from lines[hunk.header + 1 : hunk.end]


def _put_prefixes(own: list[str], section: Section) -> None:
    if section.git_line is not None:
        line, end = _line_end(own[0])
        names = git_names(line[len(_GIT) :])
        if names is not None:
            own[0] = f"{_GIT}{with_prefix(names[0], 'a/')} {with_prefix(names[1], 'b/')}{end}"
    if section.old_line is not None and section.new_line is not None:
        old_place, new_place = section.old_line - section.start, section.new_line - section.start
        (old, old_end), (new, new_end) = _line_end(own[old_place][4:]), _line_end(own[new_place][4:])
        if section.git_line is None and DEV_NULL not in (unquoted(old), unquoted(new)):
            old = new
        own[old_place] = f"--- {with_prefix(old, 'a/')}{old_end}"
        own[new_place] = f"+++ {with_prefix(new, 'b/')}{new_end}"


def _line_end(line: str) -> tuple[str, str]:
    return (line[:-1], "\r") if line.endswith("\r") else (line, "")
