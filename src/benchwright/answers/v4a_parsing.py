"""The V4A patch format taken apart: which operations a text asks for, before any file is looked at.

Sources of the format: OpenAI's GPT-4.1 prompting guide (its reference implementation of ``apply_patch``), the
instructions and grammar of Codex's ``apply-patch``, and the documentation of OpenAI's own ``apply_patch`` tool, whose
calls carry one operation each without the envelope.

Beyond the grammar, only what can be meant in one way is taken: a missing final newline, carriage returns at the end of
all lines, a here-document or a code fence around the envelope, a first hunk without ``@@``, an empty context line
without its space, blank lines between operations and hunks, the line numbers of unified diffs behind ``@@``.
"""

import enum
import posixpath
import re
from dataclasses import dataclass
from typing import NoReturn

BEGIN, END = "*** Begin Patch", "*** End Patch"
END_OF_FILE = "*** End of File"
_MOVE = "*** Move to:"
_ENVELOPE = f"A patch begins with the line '{BEGIN}' and ends with the line '{END}'"
_HEADERS = "'*** Add File: <path>', '*** Delete File: <path>' or '*** Update File: <path>'"

_OPERATION = re.compile(r"\*\*\* (Add|Delete|Update) File:(.*)")
_FENCE = re.compile(r"(?:```|~~~)[\w+-]*")
_HERE_DOCUMENT = re.compile(r"(?:apply_?patch\s+)?<<-?\s*(['\"]?)(?P<word>\w+)\1")
_LINE_NUMBERS = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


class V4AError(Exception):
    """A patch that cannot be read or does not fit; the message is written for the model that made it.

    Raised before anything is written.  Whoever runs the tool hands the message to the model.
    """


class Mark(enum.StrEnum):
    """What a line of a hunk says, by its first character."""

    KEPT = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk."""

    mark: Mark
    text: str
    """Without the mark; a carriage return stays at its end where only some lines of the patch have one."""
    spaced: bool = True
    """False for an empty line that lacks its mark: it may also be meant to set two hunks apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class V4AHunk:
    """One change of a file: lines to find, and what takes their place."""

    headers: tuple[str, ...]
    """Lines of the file that stand before it (a class, a function), from the outer to the inner; mostly none or one."""
    lines: tuple[HunkLine, ...]
    at_end: bool
    """Whether its last line is the file's."""
    line: int
    """Where it begins in the patch, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddFile:
    """Make a file that is not there."""

    path: str
    lines: tuple[str, ...]
    line: int

    @property
    def title(self) -> str:
        """As the patch words it."""
        return f"Add File: {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile:
    """Remove a file."""

    path: str
    line: int

    @property
    def title(self) -> str:
        """As the patch words it."""
        return f"Delete File: {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateFile:
    """Change a file, move it, or both."""

    path: str
    move_to: str | None
    hunks: tuple[V4AHunk, ...]
    """In the order in which their places follow one another in the file."""
    line: int

    @property
    def title(self) -> str:
        """As the patch words it."""
        return f"Update File: {self.path}"


Operation = AddFile | DeleteFile | UpdateFile


@dataclass(frozen=True, slots=True, kw_only=True)
class V4APatch:
    """What a patch asks for, in its order."""

    operations: tuple[Operation, ...]


def parse_v4a(text: str, *, root: str | None = None) -> V4APatch:
    """Read a patch with its envelope.

    Args:
        text: What the model sent.
        root: Folder that relative paths start from; absolute paths are taken only when they lie in it.

    Raises `V4AError`.
    """
    lines = _split(text)
    start, end = _envelope(lines)
    reader = _Reader(lines, start + 1, end, root)
    operations = []
    while reader.skip_blank():
        operations.append(reader.operation())
    if not operations:
        raise V4AError(f"The patch is empty: between '{BEGIN}' and '{END}' put {_HEADERS}. No file was changed.")
    return V4APatch(operations=tuple(operations))


def parse_v4a_operation(kind: str, path: str, diff: str | None = None, *, root: str | None = None) -> V4APatch:
    """Read one operation of OpenAI's own tool.

    Args:
        kind: ``create_file``, ``update_file`` or ``delete_file``.
        path: The file.
        diff: What would stand below the operation's header in a patch; nothing for ``delete_file``.
        root: As for `parse_v4a`.

    Raises `V4AError`.
    """
    lines = _split(diff or "")
    reader = _Reader(lines, 0, len(lines), root)
    where = reader.path(path, "path")
    operation: Operation
    if kind == "create_file":
        operation = AddFile(path=where, lines=reader.added(), line=1)
    elif kind == "update_file":
        operation = reader.update(where, None, 1)
    elif kind == "delete_file":
        operation = DeleteFile(path=where, line=1)
    else:
        raise V4AError(f"An operation is 'create_file', 'update_file' or 'delete_file', not {kind!r}.")
    if reader.skip_blank():
        reader.fail(f"the diff of {kind} has one line too many: {reader.shown()}")
    return V4APatch(operations=(operation,))


def _split(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n") if text else []
    if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
        return [line.removesuffix("\r") for line in lines]
    return lines


def _envelope(lines: list[str]) -> tuple[int, int]:
    """Indexes of the first and the last line of the envelope."""
    start = next((index for index, line in enumerate(lines) if line.strip() == BEGIN), None)
    if start is None:
        raise V4AError(f"{_ENVELOPE}; the first is missing.")
    words = set()
    for number, line in enumerate(lines[:start], start=1):
        here = _HERE_DOCUMENT.fullmatch(line.strip())
        if here:
            words.add(here["word"])
        elif line.strip() and not _FENCE.fullmatch(line.strip()):
            raise V4AError(f"{_ENVELOPE}; line {number} stands before it: {_quoted(line)}. No file was changed.")
    end = len(lines) - 1
    while end > start and (not (last := lines[end].strip()) or _FENCE.fullmatch(last) or last in words):
        end -= 1
    if lines[end].strip() != END:
        raise V4AError(f"{_ENVELOPE}; its last line is {_quoted(lines[end])}. No file was changed; send it whole.")
    return start, end


class _Reader:
    """Reads the lines of a patch from one to another."""

    def __init__(self, lines: list[str], index: int, end: int, root: str | None) -> None:
        self._lines = lines
        self._index = index
        self._end = end
        self._root = root

    def skip_blank(self) -> bool:
        """Pass blank lines; whether anything is left."""
        while self._index < self._end and not self._lines[self._index].strip():
            self._index += 1
        return self._index < self._end

    def shown(self) -> str:
        """The line that comes next, for a message."""
        return _quoted(self._lines[self._index]) if self._index < self._end else "the end of the patch"

    def fail(self, problem: str) -> NoReturn:
        """Raise, naming the line that comes next."""
        raise V4AError(f"Line {self._index + 1} of the patch cannot be read: {problem}. No file was changed.")

    def operation(self) -> Operation:
        line = self._index + 1
        found = _OPERATION.fullmatch(self._lines[self._index].strip())
        if found is None:
            self.fail(f"{_HEADERS} must stand here, not {self.shown()}")
        path = self.path(found[2], f"*** {found[1]} File:")
        self._index += 1
        if found[1] == "Add":
            return AddFile(path=path, lines=self.added(), line=line)
        if found[1] == "Delete":
            return DeleteFile(path=path, line=line)
        move_to = None
        if self._index < self._end and self._lines[self._index].startswith(_MOVE):
            move_to = self.path(self._lines[self._index].removeprefix(_MOVE), _MOVE)
            self._index += 1
        return self.update(path, move_to, line)

    def path(self, given: str, header: str) -> str:
        """A path relative to the root, in its shortest spelling."""
        path = given.strip()
        if not path or "\0" in path:
            self.fail(f"'{header}' needs the path of a file")
        if path.startswith("/"):
            inside = None if self._root is None else self._root.rstrip("/") + "/"
            if inside is None or not path.startswith(inside):
                self.fail(f"paths are relative to {self._root or 'the repository'}, but {_quoted(path)} is absolute")
            path = path.removeprefix(inside)
        if ".." in path.split("/"):
            self.fail(f"a path must not go up by '..', as {_quoted(path)} does")
        if path.endswith("/") or posixpath.normpath(path) == ".":
            self.fail(f"{_quoted(given.strip())} is a folder, and only files can be changed")
        return posixpath.normpath(path).lstrip("/")

    def added(self) -> tuple[str, ...]:
        """The content of a new file."""
        start = self._index
        while self._index < self._end and self._lines[self._index].startswith("+"):
            self._index += 1
        lines = tuple(line[1:] for line in self._lines[start : self._index])
        if self.skip_blank() and not _OPERATION.match(self._lines[self._index].strip()):
            self.fail(f"every line of a new file begins with '+', also an empty one; this one is {self.shown()}")
        return lines

    def update(self, path: str, move_to: str | None, line: int) -> UpdateFile:
        hunks: list[V4AHunk] = []
        while self.skip_blank_before_hunk():
            hunks.append(self.hunk(first=not hunks))
        changed = any(one.mark is not Mark.KEPT for hunk in hunks for one in hunk.lines)
        if not changed and move_to is None:
            what = "has no hunk" if not hunks else "has only context, no line that begins with '+' or '-'"
            raise V4AError(f"The change of {path} (line {line} of the patch) {what}. No file was changed.")
        return UpdateFile(path=path, move_to=move_to, hunks=tuple(hunks), line=line)

    def skip_blank_before_hunk(self) -> bool:
        """Pass blank lines in front of ``@@``; whether a hunk follows."""
        start = self._index
        if not self.skip_blank() or self._lines[self._index].startswith("***"):
            return False
        if not self._lines[self._index].startswith("@@"):
            self._index = start  # blank lines of a first hunk that has no "@@" are context
        return True

    def hunk(self, *, first: bool) -> V4AHunk:
        line = self._index + 1
        headers = []
        while self._index < self._end and self._lines[self._index].startswith("@@"):
            headers.append(self._header())
            self._index += 1
        if not headers and not first:
            self.fail(f"a further hunk begins with '@@'; this line is {self.shown()}")
        lines = self._hunk_lines()
        at_end = self._index < self._end and self._lines[self._index].rstrip() == END_OF_FILE
        if not lines:
            self.fail(f"the hunk that begins at line {line} has no lines; instead there is {self.shown()}")
        self._index += at_end
        named = tuple(header for header in headers if header)
        return V4AHunk(headers=named, lines=lines, at_end=at_end, line=line)

    def _header(self) -> str:
        rest = self._lines[self._index][2:].rstrip()
        if rest and not rest[0].isspace():
            self.fail(f"a blank stands between '@@' and the line it names, unlike in {self.shown()}")
        rest = rest[1:]
        numbers = _LINE_NUMBERS.match(rest)
        return rest[numbers.end() :].strip() if numbers else rest

    def _hunk_lines(self) -> tuple[HunkLine, ...]:
        lines = []
        while self._index < self._end:
            line = self._lines[self._index]
            if line.startswith(("@@", "***")):
                break
            if not line.strip("\r"):
                lines.append(HunkLine(Mark.KEPT, "", spaced=False))
            elif line[0] in " +-":
                lines.append(HunkLine(Mark(line[0]), line[1:]))
            else:
                self.fail(
                    f"a line of a hunk begins with ' ' (kept), '-' (removed) or '+' (added); this one is {self.shown()}"
                )
            self._index += 1
        return tuple(lines)


_SHOWN_CHARACTERS = 120


def _quoted(text: str) -> str:
    """A piece of text for a message, cut to a length that a reader takes in."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")
