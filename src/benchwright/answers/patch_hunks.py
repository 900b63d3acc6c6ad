"""Hunks of a unified diff: where they end, and their counts put right."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_HUNK = re.compile(r"^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
# What git format-patch writes below the last hunk.
_SIGNATURE = ("-- ", "--")
_BLANK = ("", "\r")


@dataclass(slots=True, kw_only=True)
class Hunk:
    """One hunk by its place in the list of lines."""

    header: int
    end: int
    """Line after the last one that its counts, or failing that its lines, claim."""
    sound: bool
    """Whether the counts of its header fit what follows."""
    only_adds: bool
    """Whether its header says that there is no old side."""
    surplus_end: int
    """Line after what the counts leave out: more content, blank lines in front of another hunk; else `end`."""


def is_name_pair(lines: Sequence[str], index: int) -> bool:
    """Whether a line and the next one name the two sides of a file, provided that no hunk is open."""
    return lines[index].startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ ")


def read_hunks(lines: Sequence[str], index: int) -> list[Hunk]:
    """The hunks that follow one another from a line on."""
    hunks: list[Hunk] = []
    while index < len(lines) and _HUNK.match(lines[index]):
        hunks.append(_read_hunk(lines, index))
        index = hunks[-1].surplus_end
    return hunks


def _read_hunk(lines: Sequence[str], header: int) -> Hunk:
    found = _HUNK.match(lines[header])
    assert found is not None
    old, new = (1 if count is None else int(count) for count in (found[2], found[4]))
    only_adds = old == 0
    index = header + 1
    while (old > 0 or new > 0) and index < len(lines):
        mark = lines[index][:1]
        if mark not in ("", "\r", " ", "+", "-", "\\"):
            break
        old -= mark not in ("+", "\\")
        new -= mark not in ("-", "\\")
        index += 1
    sound = not (old or new)
    if sound:
        while index < len(lines) and lines[index].startswith("\\"):
            index += 1
    else:
        index = _before_swallowed_names(lines, header, index)
    end = index
    while sound and index < len(lines) and _is_surplus(lines, index):
        index += 1
    return Hunk(header=header, end=end, sound=sound, only_adds=only_adds, surplus_end=_before_next_hunk(lines, index))


def _before_next_hunk(lines: Sequence[str], index: int) -> int:
    """The index of the hunk that follows after blank lines; where none does, the index itself."""
    following = index
    while following < len(lines) and lines[following] in _BLANK:
        following += 1
    return following if following < len(lines) and _HUNK.match(lines[following]) else index


def _before_swallowed_names(lines: Sequence[str], header: int, index: int) -> int:
    """Give back what a hunk with too large counts took of the next section: its two name lines, and blank lines."""
    at_hunk = index < len(lines) and lines[index].startswith("@@ -")
    if at_hunk and index - 2 > header and is_name_pair(lines, index - 2):
        index -= 2
    while index - 1 > header and lines[index - 1] in _BLANK:
        index -= 1
    return index


def _is_surplus(lines: Sequence[str], index: int) -> bool:
    line = lines[index]
    if line in _SIGNATURE or is_name_pair(lines, index):
        return False
    return line.startswith((" ", "+", "-", "\\"))


def is_miscounted(hunk: Hunk) -> bool:
    """Whether a hunk's counts do not fit what follows it."""
    return not hunk.sound or hunk.surplus_end > hunk.end


def recounted(lines: Sequence[str], hunks: Iterable[Hunk]) -> list[str]:
    """The lines with the counts of miscounted hunks as their lines have them.

    Content that a hunk's counts left out is counted in; blank lines between hunks go.
    """
    result: list[str] = []
    done = 0
    for hunk in filter(is_miscounted, hunks):
        end = hunk.surplus_end
        while end > hunk.end and lines[end - 1] in _BLANK:
            end -= 1
        body = lines[hunk.header + 1 : end]
        old = sum(not line.startswith(("+", "\\")) for line in body)
        new = sum(not line.startswith(("-", "\\")) for line in body)
        found = _HUNK.match(lines[hunk.header])
        assert found is not None
        counts = f"@@ -{found[1]},{old} +{found[3]},{new} @@"
        result += [*lines[done : hunk.header], counts + lines[hunk.header][found.end() :], *body]
        done = hunk.surplus_end
    return result + list(lines[done:])


def with_header_line_ends(lines: Sequence[str], hunks: Iterable[Hunk]) -> list[str]:
    """The lines without carriage returns at their ends, except for the content of hunks."""
    content = {
        index
        for hunk in hunks
        for index in range(hunk.header + 1, hunk.surplus_end)
        if not lines[index].startswith("\\")
    }
    return [line if index in content else line.rstrip("\r") for index, line in enumerate(lines)]
