"""Turns for the scripted model (``benchwright/scripted``): a change of a repository, performed through one tool.

For trying a scaffold: the same change by a shell, by an editor, by ``apply_patch``, and what should not count.
"""

import re
from collections.abc import Sequence
from typing import Any

from benchwright.core.repositories import WORK

Turn = dict[str, Any]

_DELIMITER = "END_OF_PATCH"
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*$")


def by_bash(patch: str) -> list[Turn]:
    """The patch, handed to ``git apply`` in a here-document; then submitted."""
    if _DELIMITER in patch:
        raise ValueError(f"the patch holds {_DELIMITER!r}")
    command = f"cd {WORK} && git apply --whitespace=nowarn - <<'{_DELIMITER}'\n{patch}{_DELIMITER}\n"
    return [call("bash", command=command), SUBMIT]


def by_editor(patch: str) -> list[Turn]:
    """Every hunk as one ``str_replace``, every new file as one ``create``; then submitted."""
    turns: list[Turn] = []
    for path, new, hunks in _files(patch):
        place = f"{WORK}/{path}"
        if new:
            text = "".join(f"{line[1:]}\n" for hunk in hunks for line in hunk)
            turns.append(call("text_editor", command="create", path=place, file_text=text))
            continue
        turns += [
            call("text_editor", command="str_replace", path=place, old_str=_side(hunk, "-"), new_str=_side(hunk, "+"))
            for hunk in hunks
        ]
    return [*turns, SUBMIT]


def by_patch_tool(patch: str) -> list[Turn]:
    """The whole as one call of ``apply_patch``; then submitted."""
    lines = ["*** Begin Patch"]
    for path, new, hunks in _files(patch):
        lines.append(f"*** {'Add' if new else 'Update'} File: {path}")
        for hunk in hunks:
            lines += hunk if new else ["@@", *hunk]
    return [call("apply_patch", patch="\n".join([*lines, "*** End Patch", ""])), SUBMIT]


def call(tool: str, **arguments: Any) -> Turn:
    """A turn with one call of a tool."""
    return {"calls": [{"tool": tool, "arguments": arguments}]}


SUBMIT: Turn = {"calls": [{"tool": "submit", "arguments": {}}]}


def _files(patch: str) -> list[tuple[str, bool, list[list[str]]]]:
    """Path, whether it is new, and the lines of each hunk, of every file of a git patch that changes text."""
    files: list[tuple[str, bool, list[list[str]]]] = []
    inside = False
    for line in patch.splitlines():
        if line.startswith("diff --git "):
            files.append((line.rpartition(" b/")[2], False, []))
            inside = False
        elif _HUNK.match(line):
            files[-1][2].append([])
            inside = True
        elif inside and not line.startswith("\\"):
            files[-1][2][-1].append(line or " ")
        elif line.startswith("new file mode"):
            files[-1] = (files[-1][0], True, files[-1][2])
    return files


def _side(hunk: Sequence[str], mark: str) -> str:
    return "\n".join(line[1:] for line in hunk if line[0] in (" ", mark))
