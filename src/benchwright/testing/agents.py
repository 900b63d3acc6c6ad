"""Turns for the scripted model (``benchwright/scripted``): a change of a repository, performed through one tool.

For trying a scaffold: the same change by a shell, by an editor, by ``apply_patch``, and what should not count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.answers.patch_hunks import read_hunks
from benchwright.answers.patch_sections import EditKind, PatchedFile
from benchwright.answers.patches import PatchAnswer, read_patch
from benchwright.core.repositories import WORK

Turn = dict[str, Any]

_DELIMITER = "END_OF_PATCH"
_PLAIN_MODE = "100644"


def by_bash(patch: str) -> list[Turn]:
    """Any git patch, handed to ``git apply`` in a here-document; then submitted.

    Raises ``ValueError`` for a patch that holds the here-document's own last line.
    """
    if _DELIMITER in patch:
        raise ValueError(f"the patch holds {_DELIMITER!r}")
    text = patch if patch.endswith("\n") else f"{patch}\n"
    command = f"cd {WORK} && git apply --whitespace=nowarn - <<'{_DELIMITER}'\n{text}{_DELIMITER}\n"
    return [call("bash", command=command), SUBMIT]


def by_editor(patch: str) -> list[Turn]:
    """Every hunk as one ``str_replace``, every new file as one ``create``; then submitted.

    A hunk's lines must be in their file once.  Raises ``ValueError`` for what an editor cannot do: remove, rename or
    link files, change modes, write binary ones; and for hunks that only add and show no line beside.
    """
    turns: list[Turn] = []
    for file in _files(patch):
        if file.kind not in (EditKind.ADDED, EditKind.MODIFIED):
            raise ValueError(f"an editor cannot do this: {file.path} is {file.kind}")
        place, hunks = f"{WORK}/{file.path}", list(_hunks(file))
        if file.kind is EditKind.ADDED:
            turns.append(call("text_editor", command="create", path=place, file_text="".join(h.new for h in hunks)))
            continue
        turns += [call("text_editor", command="str_replace", path=place, old_str=h.old, new_str=h.new) for h in hunks]
    return [*turns, SUBMIT]


def by_patch_tool(patch: str) -> list[Turn]:
    """The whole as one call of ``apply_patch``; then submitted.

    A hunk's lines must not be in their file before the place that is meant.  Raises ``ValueError`` for what the format
    of such patches cannot say: links, modes, binary files, a last line that loses or gets its line end, or has none in
    a new file; and for hunks that only add and show no line beside.
    """
    lines = ["*** Begin Patch"]
    for file in _files(patch):
        lines += _operation(file)
    return [call("apply_patch", patch="\n".join([*lines, "*** End Patch", ""])), SUBMIT]


def call(tool: str, **arguments: Any) -> Turn:
    """A turn with one call of a tool."""
    return {"calls": [{"tool": tool, "arguments": arguments}]}


SUBMIT: Turn = {"calls": [{"tool": "submit", "arguments": {}}]}


@dataclass(frozen=True, slots=True)
class _Hunk:
    """The lines of a hunk with their marks, and the text before and after it."""

    lines: Sequence[str]
    old: str
    new: str


def _files(patch: str) -> tuple[PatchedFile, ...]:
    """The sections of a git patch, all of which change text in plain files."""
    answer = read_patch(patch)
    if not isinstance(answer, PatchAnswer):
        raise ValueError(answer.detail)
    for file in answer.files:
        modes = {mode for mode in (file.old_mode, file.new_mode) if mode is not None}
        changed = file.kind is not EditKind.DELETED and file.old_mode is not None and file.old_mode != file.new_mode
        added = file.kind is EditKind.ADDED and modes != {_PLAIN_MODE}
        if file.binary or file.is_link or changed or added:
            raise ValueError(f"only text in plain files can be written so, and {file.path} is something else")
    return answer.files


def _hunks(file: PatchedFile) -> Iterator[_Hunk]:
    lines = file.text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.startswith("@@ -")), len(lines))
    for hunk in read_hunks(lines, first):
        body = lines[hunk.header + 1 : hunk.end]
        made = _Hunk([line for line in body if line[:1] != "\\"], _side(body, "-"), _side(body, "+"))
        if not made.old and file.kind is not EditKind.ADDED:
            raise ValueError(f"a hunk of {file.path} shows no line that is there already")
        yield made


def _side(body: Sequence[str], mark: str) -> str:
    """The text before (``-``) or after (``+``) a hunk; git says of the line before it when a line has no end."""
    text, belongs = "", False
    for line in body:
        if line[:1] != "\\":
            belongs = line[:1] in ("", " ", mark)
            text += f"{line[1:]}\n" if belongs else ""
        elif belongs:
            text = text[:-1]
    return text


def _operation(file: PatchedFile) -> Iterator[str]:
    """The lines of a file's operation in a V4A patch."""
    if file.kind is EditKind.COPIED:
        raise ValueError(f"a copy cannot be written so: {file.path}")
    if file.kind is EditKind.DELETED:
        yield f"*** Delete File: {file.path}"
        return
    hunks = list(_hunks(file))
    for hunk in hunks:
        before = "\n" if file.kind is EditKind.ADDED else hunk.old
        if hunk.new and before.endswith("\n") != hunk.new.endswith("\n"):
            raise ValueError(f"the last line of {file.path} loses or gets its line end")
    if file.kind is EditKind.ADDED:
        yield f"*** Add File: {file.path}"
        yield from (line for hunk in hunks for line in hunk.lines)
        return
    yield f"*** Update File: {file.old_path}"
    if file.new_path != file.old_path:
        yield f"*** Move to: {file.new_path}"
    for hunk in hunks:
        yield from ("@@", *hunk.lines)
