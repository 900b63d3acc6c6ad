"""OpenAI's V4A patches, as their ``apply_patch`` tools take them: from a text to new contents of files.

Nothing here touches a file system: `parse_v4a` reads a patch, `apply_v4a` computes what every file it names becomes,
and only when all of it fits.  How a patch is read says `v4a_parsing`, how places are found `v4a_places`.

Files are taken as UTF-8, with a byte order mark or without; a file that is no UTF-8 is taken as Latin-1, which gives
every byte back as it was.  Lines that a patch does not write keep their bytes.  A written line gets the line end of
the line that it stands for or follows (``\\n`` or ``\\r\\n``), also at the end of a file that had no final newline.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchwright.answers.v4a_parsing import (
    AddFile,
    DeleteFile,
    Mark,
    Operation,
    UpdateFile,
    V4AError,
    V4AHunk,
    V4APatch,
    parse_v4a,
    parse_v4a_operation,
)
from benchwright.answers.v4a_places import FileLines, Placed

__all__ = ["FileChange", "V4AError", "V4APatch", "apply_v4a", "parse_v4a", "parse_v4a_operation"]

_BOM = "\ufeff".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What one file becomes."""

    path: str
    """Relative to the root."""
    content: bytes | None
    """All of it; None when the file goes."""
    moved_from: str | None = None
    """The path that a moved file had, whose permissions it keeps."""


def apply_v4a(patch: V4APatch, read: Callable[[str], bytes | None]) -> tuple[FileChange, ...]:
    """What a patch makes of the files it names: one entry per path, in the order in which the patch touches them.

    Operations see what those before them have left, so two of them may change one file, and a deleted file may be
    added again.  A move is a removal and an addition.

    Args:
        patch: What to do.
        read: The bytes of a file by its relative path; None where no regular file is.

    Raises `V4AError` for a file that is added or moved to where one is, or below one; for one that is changed, moved or
    deleted and is not there or is no text; and for a hunk that does not fit.
    """
    tree = _Tree(read)
    for operation in patch.operations:
        try:
            _apply(operation, tree)
        except V4AError as error:
            raise V4AError(
                f"'*** {operation.title}' (line {operation.line} of the patch) cannot be done: {error}\n"
                "No file was changed."
            ) from error
    return tree.changes()


class _Tree:
    """Files as the operations so far have left them."""

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._before: dict[str, bytes | None] = {}
        self._changes: dict[str, FileChange] = {}

    def get(self, path: str) -> bytes | None:
        if path in self._changes:
            return self._changes[path].content
        if path not in self._before:
            self._before[path] = self._read(path)
        return self._before[path]

    def existing(self, path: str) -> bytes:
        content = self.get(path)
        if content is None:
            raise V4AError(f"there is no file {path}.")
        return content

    def check_free(self, path: str) -> None:
        """Raise unless a file can be made there."""
        if self.get(path) is not None:
            raise V4AError(f"{path} exists already; use '*** Update File: {path}', or delete it first.")
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            folder = "/".join(folders[:depth])
            if self.get(folder) is not None:
                raise V4AError(f"{folder} is a file, so nothing can be put below it.")

    def put(self, path: str, content: bytes | None, moved_from: str | None = None) -> None:
        if path in self._changes and moved_from is None and content is not None:
            moved_from = self._changes[path].moved_from
        self._changes[path] = FileChange(path=path, content=content, moved_from=moved_from)

    def origin(self, path: str) -> str:
        """The path that a file had before the patch."""
        change = self._changes.get(path)
        return path if change is None or change.moved_from is None else change.moved_from

    def changes(self) -> tuple[FileChange, ...]:
        changes = self._changes.values()
        return tuple(one for one in changes if one.content is not None or self._before.get(one.path) is not None)


def _apply(operation: Operation, tree: _Tree) -> None:
    match operation:
        case AddFile():
            tree.check_free(operation.path)
            tree.put(operation.path, _encoded("".join(f"{line}\n" for line in operation.lines), "utf-8"))
        case DeleteFile():
            tree.existing(operation.path)
            tree.put(operation.path, None)
        case UpdateFile():
            content = tree.existing(operation.path)
            if operation.hunks:
                content = _changed(content, operation.hunks)
            if operation.move_to is None or operation.move_to == operation.path:
                tree.put(operation.path, content)
                return
            tree.check_free(operation.move_to)
            origin = tree.origin(operation.path)
            tree.put(operation.path, None)
            tree.put(operation.move_to, content, moved_from=origin)


def _changed(content: bytes, hunks: Sequence[V4AHunk]) -> bytes:
    if b"\0" in content:
        raise V4AError("the file is no text (it has NUL bytes); change it with a command.")
    mark, body = (_BOM, content[len(_BOM) :]) if content.startswith(_BOM) else (b"", content)
    try:
        text, encoding = body.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = body.decode("latin-1"), "latin-1"
    file = _File(text)
    for number, hunk in enumerate(hunks, start=1):
        try:
            file.change(hunk)
        except V4AError as error:
            which = f"hunk {number} of {len(hunks)} (line {hunk.line} of the patch) does not fit"
            raise V4AError(f"{which}: {error}") from error
    return mark + _encoded(file.text(), encoding)


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise V4AError(
            f"the patch writes the character {character!r} (U+{ord(character):04X}), which the file's encoding, "
            f"{encoding}, does not have."
        ) from error


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a file."""

    text: str
    end: str


class _File:
    """A file's lines while hunks are placed in them."""

    def __init__(self, text: str) -> None:
        *whole, rest = text.split("\n")
        self._lines = [_line(piece) for piece in whole] + ([_Line(rest, "")] if rest else [])
        self._search = FileLines([line.text for line in self._lines])
        self._edits: list[tuple[int, int, list[_Line]]] = []
        self._next = 0

    def change(self, hunk: V4AHunk) -> None:
        """Note what a hunk puts in place of what; raises `V4AError` when it has no place."""
        placed = self._search.place(hunk, self._next)
        new = list(self._new_lines(placed))
        removed = sum(line.mark is not Mark.ADDED for line in placed.lines)
        self._edits.append((placed.at, removed, new))
        if not placed.appended:
            self._next = placed.at + removed

    def text(self) -> str:
        """The whole file with the changes so far."""
        parts: list[_Line] = []
        done = 0
        for at, removed, new in sorted(self._edits, key=lambda edit: edit[0]):
            parts += self._lines[done:at]
            parts += new
            done = at + removed
        parts += self._lines[done:]
        last = len(parts) - 1
        default = self._end_near(len(self._lines))
        return "".join(line.text + (line.end or (default if index < last else "")) for index, line in enumerate(parts))

    def _new_lines(self, placed: Placed) -> Iterator[_Line]:
        at = placed.at
        for line in placed.lines:
            if line.mark is Mark.ADDED:
                text = line.text.removesuffix("\r")
                yield _Line(text, "\r\n" if text != line.text else self._end_near(at))
                continue
            if line.mark is Mark.KEPT:
                yield self._lines[at]
            at += 1

    def _end_near(self, at: int) -> str:
        """The line end for a new line in front of an index: that of the line before, or else of one beside it."""
        ends = (self._lines[index].end for index in (at - 1, at, at - 2) if 0 <= index < len(self._lines))
        return next((end for end in ends if end), "\n")


def _line(piece: str) -> _Line:
    text = piece.removesuffix("\r")
    return _Line(text, "\r\n" if text != piece else "\n")
