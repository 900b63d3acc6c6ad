"""Code in a text that is not all code: the statements that parse, found one after the other.

The text is cut where a logical line begins in the first column; each piece is parsed once, and once more in
smaller pieces when it fails.  Prose does not parse, or comes out as an expression that selection drops later.
The time is that of parsing the text about twice, whatever it holds.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchwright.answers.lexing import logical_lines
from benchwright.answers.parsing import BoundedParser

LONGEST_SEARCHED = 60_000
"""Of a longer text only the first and the last half of so many characters are searched: no real answer is near
that long, and both an answer before a long repetition and one behind it are found."""

_MOST_PIECES = 4_000
"""Likewise for pieces: each costs some 15 µs, however short."""

_CONTINUES = re.compile(r"(?:else|finally)[ ]*+:|(?:elif|except)\b[^\n]*+(?<=:)|[)\]}#]")
_HEADER = re.compile(r"(?:@|(?:async|def|class|if|for|while|with|try|match)\b)")
_FIRST_COLUMN = re.compile(r"^(?=\S)", re.MULTILINE)
_MARGIN = re.compile(r"^([ \t]*+)\S", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*+(?:>>>|\.\.\.)(?:[ ]([^\n]*+))?$", re.MULTILINE)
_SHELL_LINE = re.compile(
    r"^[ \t]*+(?:[!%]|(?:\$[ ])?(?:pip3?|conda|mamba|apt|apt-get|python3?[ ]-m[ ]pip)[ ]install\b)[^\n]*+(?:\n|\Z)",
    re.MULTILINE,
)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,3}+)(?:python[ ]|py[ ])?([^`\n]++)\1(?!`)[ \t]*+")
# Prose, a colon and an import, with more code on the next line.
_BEGINS_ON_A_LINE = re.compile(
    r"^(?=\S)[^\n`#]*?:[ \t]++((?:import|from)[ ]++\w[^\n]*+\n)(?=(?:import|from|def|class|async)[ ]|@)", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The code found in a text."""

    code: str
    dropped: int = 0
    """Lines that were left out, blank ones not counted."""
    rest: str = ""
    """The text that was left out behind the last statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    parses: bool


def code_in(text: str, parser: BoundedParser) -> Region | None:
    """All statements of a text that parse, in order, or None when there are none."""
    if len(text) > LONGEST_SEARCHED:
        text = text[: LONGEST_SEARCHED // 2] + "\n" + text[-LONGEST_SEARCHED // 2 :]
    pieces = list(_pieces(without_margin(_BEGINS_ON_A_LINE.sub(r"\1", text)), parser, inner=False))
    kept = [number for number, piece in enumerate(pieces) if piece.parses]
    if not any(pieces[number].text.strip() for number in kept):
        return None
    return Region(
        code="".join(pieces[number].text for number in kept).strip("\n"),
        dropped=sum(_lines(piece.text) for piece in pieces if not piece.parses),
        rest="".join(piece.text for piece in pieces[kept[-1] + 1 :]),
    )


def without_margin(text: str) -> str:
    """The text moved to the first column when its first line is indented, as code within prose may be."""
    first = _MARGIN.search(text)
    margin = len(first[1]) if first else 0
    return re.sub(rf"^[ \t]{{1,{margin}}}", "", text, flags=re.MULTILINE) if margin else text


def without_shell_lines(text: str) -> str:
    """The text without lines that install something or speak to a notebook: ``!…``, ``%…``, ``pip install …``."""
    matches = list(_SHELL_LINE.finditer(text))
    if not matches:
        return text
    # Within brackets and strings such a line is part of the program.
    starts = frozenset(logical_lines(text))
    return _SHELL_LINE.sub(lambda match: "" if match.start() in starts else match[0], text)


def at_prompts(text: str) -> str:
    """What was typed at the prompts ``>>>`` and ``...`` of a transcript; nothing when it is none."""
    if ">>>" not in text:
        return ""
    return "\n".join(match[1] or "" for match in _PROMPT.finditer(text[:LONGEST_SEARCHED]))


def within_lines(text: str, entry_point: str) -> str:
    """The text with a definition of the entry point that stands within a line of prose on a line of its own.

    In backticks it may be any code that names the entry point; otherwise ``def`` or ``class`` must say so.
    """
    name = re.escape(entry_point)
    alone = rf"^[ \t]*+(?!async\b)[^\s`][^\n`]*?[ \t:.!]((?:(?:async[ ]+)?def|class)[ ]++{name}\b[^\n]*+)$"
    text = re.sub(alone, r"\1", text[:LONGEST_SEARCHED], flags=re.MULTILINE)
    return _INLINE_CODE.sub(lambda match: f"\n{match[2]}\n" if re.search(rf"\b{name}\b", match[2]) else match[0], text)


def _lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _pieces(text: str, parser: BoundedParser, *, inner: bool) -> Iterator[_Piece]:
    """The text in pieces of whole lines, each with whether it parses."""
    for piece in _cut(text, _statement_starts(text, logical_lines(text))):
        if parser.tree(piece) is not None:
            yield _Piece(text=piece, parses=True)
            continue
        # An unclosed quote or bracket of the prose may have swallowed what follows it.
        smaller = _statement_starts(piece, [match.start() for match in _FIRST_COLUMN.finditer(piece)])
        for part in _cut(piece, smaller):
            if len(smaller) > 1 and parser.tree(part) is not None:
                yield _Piece(text=part, parses=True)
            else:
                yield from _below_prose(part, parser, inner=inner)


def _below_prose(part: str, parser: BoundedParser, *, inner: bool) -> Iterator[_Piece]:
    """The indented code that stands below a line of prose; the part as it is when it is nothing of that kind."""
    head, newline, body = part.partition("\n")
    if inner or not body.strip() or _HEADER.match(head):
        yield _Piece(text=part, parses=False)
        return
    yield _Piece(text=head + newline, parses=False)
    yield from _pieces(without_margin(body), parser, inner=True)


def _statement_starts(text: str, lines: Sequence[int]) -> list[int]:
    """Those line starts at which a statement of the module may begin."""
    starts: list[int] = []
    decorated = False
    for start in lines:
        first = text[start : start + 1]
        if not first or first.isspace() or _CONTINUES.match(text, start):
            continue
        if not decorated:
            starts.append(start)
        decorated = first == "@"
    if len(starts) > _MOST_PIECES:
        starts = [*starts[: _MOST_PIECES // 2], *starts[-_MOST_PIECES // 2 :]]
    return starts


def _cut(text: str, starts: Sequence[int]) -> list[str]:
    bounds = [0, *(start for start in starts if start), len(text)]
    return [piece for first, last in pairwise(bounds) if (piece := text[first:last])]
