"""Where the hunks of a V4A patch belong in a file.

A hunk's old lines are looked for from the last hunk's end on: first exactly, then without white space at the ends of
lines, then without any around them, last with typographic punctuation taken for ASCII, as Codex does; the first place
counts.  A header moves the start behind the line it names, or behind the first line that begins with it (``class A``
for ``class A(Base):``).  A hunk that repeats its header as its own first line stands at the header.  Where a header is
not found, or its hunk not behind it, the hunk must fit exactly one place.  A hunk marked as the end of the file is
tried there first.  Only added lines, without a header, go to the end of the file; with one, directly behind it.
"""

import bisect
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchwright.answers.v4a_parsing import HunkLine, Mark, V4AError, V4AHunk

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    }
)
"""The characters that Codex folds (``seek_sequence.rs``)."""


def _same(text: str) -> str:
    return text


def _folded(text: str) -> str:
    return text.translate(_PUNCTUATION).strip()


_FORMS: tuple[Callable[[str], str], ...] = (_same, str.rstrip, str.strip, _folded)
"""What is compared, from the strictest to the loosest."""

_MOST_DISTINCT = 0x110000
"""Distinct lines of a file: each stands for itself as one character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A hunk with its place."""

    at: int
    """Index of the file's line at which it begins."""
    lines: tuple[HunkLine, ...]
    """What is left of it once blank lines that only set it apart are gone."""
    appended: bool
    """Whether it goes to the end of the file without having named it."""


class _Form:
    """A file's lines in one form, with every distinct line as one character, so that searching is C's `str.find`."""

    def __init__(self, lines: Sequence[str], form: Callable[[str], str]) -> None:
        self._form = form
        self._signs: dict[str, str] = {}
        signs = self._signs
        self.text = "".join([signs.setdefault(form(line), chr(len(signs))) for line in lines])

    def pattern(self, lines: Sequence[str]) -> str | None:
        """The same characters for other lines; None when one of them is nowhere in the file."""
        signs = [self._signs.get(self._form(line)) for line in lines]
        return None if None in signs else "".join(sign for sign in signs if sign is not None)


class FileLines:
    """The lines of one file, to be searched."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Args: ``lines`` without their ends."""
        self.lines = lines
        self._made: dict[int, _Form] = {}
        if len(lines) >= _MOST_DISTINCT:
            raise V4AError(f"The file has {len(lines):,} lines, more than this tool takes; change it with a command.")

    def place(self, hunk: V4AHunk, start: int) -> Placed:
        """Where a hunk belongs at or after an index; raises `V4AError` that tells what is there instead."""
        header, after, missing = self._behind_headers(hunk.headers, start)
        readings = tuple(_readings(hunk.lines))
        if not _old(readings[-1]):
            return self._addition(hunk, readings[-1], after, missing)
        if missing is None:
            for lines in readings:
                at = self._find(_old(lines), header, after, at_end=hunk.at_end)
                if at is not None:
                    return Placed(at=at, lines=lines, appended=False)
        if hunk.headers:
            for lines in readings:
                at = self._only_place(_old(lines), start)
                if at is not None:
                    return Placed(at=at, lines=lines, appended=False)
        raise V4AError(self._explain(_old(readings[-1]), start if missing else after, start, missing))

    def _addition(self, hunk: V4AHunk, lines: tuple[HunkLine, ...], after: int, missing: str | None) -> Placed:
        if missing is not None:
            raise V4AError(f"its header {missing!r} is no line of the file{self._closest(missing)}")
        if hunk.headers and not hunk.at_end:
            return Placed(at=after, lines=lines, appended=False)
        return Placed(at=len(self.lines), lines=lines, appended=not hunk.at_end)

    def _behind_headers(self, headers: Sequence[str], start: int) -> tuple[int | None, int, str | None]:
        """Index of the last header's line, the index behind it, and the first header that is not found."""
        found = None
        for header in headers:
            line = self._find_header(header, start)
            if line is None:
                return found, start, header
            found, start = line, line + 1
        return found, start, None

    def _find_header(self, header: str, start: int) -> int | None:
        for number in range(len(_FORMS)):
            pattern = self._in_form(number).pattern([header])
            at = -1 if pattern is None else self._in_form(number).text.find(pattern, start)
            if at >= 0:
                return at
        beginning = header.strip()
        for index in range(start, len(self.lines)):
            line = self.lines[index].lstrip()
            if line.startswith(beginning) and not line[len(beginning) :][:1].replace("_", "a").isalnum():
                return index
        return None

    def _find(self, old: Sequence[str], header: int | None, start: int, *, at_end: bool) -> int | None:
        last = len(self.lines) - len(old)
        if at_end and last >= start and any(form.text.startswith(signs, last) for form, signs in self._patterns(old)):
            return last
        for form, signs in self._patterns(old):
            if header is not None and form.text.startswith(signs, header):
                return header
            at = form.text.find(signs, start)
            if at >= 0:
                return at
        return None

    def _only_place(self, old: Sequence[str], start: int) -> int | None:
        """The one place of some lines at or after an index, by the strictest form that has any."""
        for form, pattern in self._patterns(old):
            at = form.text.find(pattern, start)
            if at >= 0:
                return at if form.text.find(pattern, at + 1) < 0 else None
        return None

    def _patterns(self, old: Sequence[str]) -> Iterator[tuple[_Form, str]]:
        for number in range(len(_FORMS)):
            form = self._in_form(number)
            pattern = form.pattern(old)
            if pattern is not None:
                yield form, pattern

    def _in_form(self, number: int) -> _Form:
        if number not in self._made:
            self._made[number] = _Form(self.lines, _FORMS[number])
        return self._made[number]

    def _explain(self, old: Sequence[str], start: int, last: int, missing: str | None) -> str:
        """Why a hunk has no place: what of it is there, and where."""
        places = self._count(old, last)
        if places > 1:
            many = f"{places} places{' or more' if places == _MOST_COUNTED else ''}"
            why = "and none behind its header" if missing is None else f"and its header {missing!r} is no line of it"
            return f"its lines fit {many} of the file from line {last + 1} on, {why}"
        about = "" if missing is None else f" (its header {missing!r} is no line of it either)"
        before = self._only_place(old, 0)
        if before is not None and before < last:
            return (
                f"its lines are at line {before + 1}, before the end of the hunk that precedes it (line {last}); "
                "hunks follow one another in the order of the file and do not overlap"
            )
        known, at = self._longest_start(old, start)
        where = f" from line {start + 1} on" if start else ""
        if not known:
            return f"its lines are not in the file{where}{about}{self._closest(_telling(old))}"
        found = f"the file has {_cut(self.lines[at + known])!r}" if at + known < len(self.lines) else "the file ends"
        return (
            f"its lines are not in the file{where}{about}. The first {known} of {len(old)} are at line {at + 1}, but "
            f"then the patch has {_cut(old[known])!r} where {found}:\n{self._excerpt(at, at + known)}"
        )

    def _count(self, old: Sequence[str], start: int) -> int:
        """At how many places some lines are, counted up to ten."""
        for form, pattern in self._patterns(old):
            count, at = 0, form.text.find(pattern, start)
            while at >= 0 and count < _MOST_COUNTED:
                count, at = count + 1, form.text.find(pattern, at + 1)
            if count:
                return count
        return 0

    def _longest_start(self, old: Sequence[str], start: int) -> tuple[int, int]:
        """How many of some lines, from the first, stand somewhere together, and where."""
        form = self._in_form(len(_FORMS) - 1)
        known = [form.pattern([line]) for line in old]
        first_strange = next((index for index, sign in enumerate(known) if sign is None), len(old))
        pattern = "".join(sign for sign in known[:first_strange] if sign is not None)
        length = bisect.bisect_left(
            range(1, len(pattern) + 1), True, key=lambda count: form.text.find(pattern[:count], start) < 0
        )
        return length, form.text.find(pattern[:length], start)

    def _closest(self, wanted: str) -> str:
        """The line that is most like another, as a clause; nothing when none is."""
        lines = {line.strip()[:_COMPARED_CHARACTERS]: index for index, line in enumerate(self.lines[:_COMPARED_LINES])}
        found = difflib.get_close_matches(wanted.strip()[:_COMPARED_CHARACTERS], list(lines), n=1)
        if not found:
            return ""
        at = lines[found[0]]
        return f". The line most like {wanted.strip()[:_COMPARED_CHARACTERS]!r} is:\n{self._excerpt(at, at)}"

    def _excerpt(self, first: int, last: int) -> str:
        start, end = max(max(first, last - _AROUND) - _AROUND, 0), min(last + _AROUND + 1, len(self.lines))
        numbered = enumerate(self.lines[start:end], start=start + 1)
        return "\n".join(f"{number:6} | {_cut(line)}" for number, line in numbered)


_MOST_COUNTED = 10
_AROUND = 3
"""Lines shown on both sides of the one that a message is about."""
_SHOWN = 200
_COMPARED_CHARACTERS, _COMPARED_LINES = 120, 3000
"""Looking for a similar line in 3,000 lines takes about 20 ms."""


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _old(lines: Sequence[HunkLine]) -> list[str]:
    return [line.text.removesuffix("\r") for line in lines if line.mark is not Mark.ADDED]


def _telling(lines: Sequence[str]) -> str:
    """The first line that has more than white space and brackets."""
    return next((line for line in lines if any(character.isalnum() for character in line)), lines[0])


def _readings(lines: tuple[HunkLine, ...]) -> Iterator[tuple[HunkLine, ...]]:
    """The lines as they are, then without blank context at the edges, which may only set hunks apart."""
    start, end = 0, len(lines)
    while start < end and _is_blank(lines[start]):
        start += 1
    while end > start and _is_blank(lines[end - 1]):
        end -= 1
    inner = lines[start:end]
    only_blank = all(line.mark is Mark.ADDED for line in inner) and not any(
        line.spaced for line in (*lines[:start], *lines[end:])
    )
    if not only_blank:
        yield lines
    if only_blank or (inner != lines and any(line.mark is not Mark.ADDED for line in inner)):
        yield inner


def _is_blank(line: HunkLine) -> bool:
    return line.mark is Mark.KEPT and not line.text.removesuffix("\r")
