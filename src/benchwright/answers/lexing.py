"""A light reading of Python text: where strings, comments, brackets and logical lines are, also when it does not parse.

One regular expression finds the tokens that matter.  Strings in single quotes end with their line, so an
apostrophe in prose confuses one line at most.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

# Possessive quantifiers (`++`, `*+`) never step back, so that time stays linear on any text.
_TOKEN = re.compile(
    r"""
      (?P<triple>  '''(?:[^'\\]++|\\.|'(?!''))*+(?P<closed1>''')?
                 | \"""(?:[^"\\]++|\\.|"(?!""))*+(?P<closed2>\""")? )
    | (?P<string>  '(?:[^'\\\n]++|\\.)*+'? | "(?:[^"\\\n]++|\\.)*+"? )
    | (?P<comment> \#[^\n]*+ )
    | (?P<opening> [(\[{] )
    | (?P<closing> [)\]}] )
    | (?P<joined>  \\\n )
    | (?P<newline> \n )
    """,
    re.VERBOSE | re.DOTALL,
)

LONGEST_LEXED = 200_000
"""Characters of a text in which strings around fences and tags are looked for."""

_BLANKS = re.compile(r"[ \t]*+")
_RESTART = re.compile(r"(?:async[ ]+def|def|class|import|from)[ ]")


class Spans:
    """Stretches of a text, in order and apart."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def cover(self, offset: int) -> bool:
        """Whether an offset is within one of them."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]


def strings_of_code(text: str, offsets: Sequence[int], *, parses: Callable[[str], bool], cut: bool) -> Spans:
    """The triple-quoted strings that hold any of the ascending offsets, where the statement around them parses.

    That the statement parses tells a string of the code from quotes that belong to two unfinished pieces.  Of a
    ``cut`` text the last statement need not parse behind the string, and its docstring need not end.
    """
    if not offsets or not ("'''" in text or '"""' in text):
        return Spans(())
    starts = [0]
    strings: list[tuple[int, int]] = []
    for token in _tokens(text[:LONGEST_LEXED], starts):
        if token.lastgroup != "triple":
            continue
        at = bisect_left(offsets, token.start())
        within = at < len(offsets) and offsets[at] < token.end()
        if within and (_ends(token) or (cut and _all_indented(text, offsets[at:], token.start()))):
            strings.append(token.span())
    return Spans([span for span in strings if _holds(text, span, starts, parses, cut=cut)])


def _holds(
    text: str, string: tuple[int, int], starts: Sequence[int], parses: Callable[[str], bool], *, cut: bool
) -> bool:
    start, end = _statement_around(text, string, starts)
    if cut and end == len(text):
        if string[1] == len(text):
            return True  # which strings without an end can be ones of the code was decided before
        end = string[1]
    margin = max(0, _indent(text, start))
    code = text[start:end]
    return parses(re.sub(rf"^[ \t]{{1,{margin}}}", "", code, flags=re.MULTILINE) if margin else code)


def _statement_around(text: str, string: tuple[int, int], starts: Sequence[int]) -> tuple[int, int]:
    """The statement a string is in; of a docstring, the definition."""
    at = bisect_right(starts, string[0]) - 1
    indent = _indent(text, starts[at])
    if starts[at] + indent == string[0]:
        # It begins its line.  If the line before is indented less, that is the definition it documents.
        before = next((number for number in range(at - 1, -1, -1) if _indent(text, starts[number]) >= 0), at)
        at = before if _indent(text, starts[before]) < indent else at
    margin = _indent(text, starts[at])
    behind = range(bisect_right(starts, string[1] - 1), len(starts))
    return starts[at], next((starts[at] for at in behind if 0 <= _indent(text, starts[at]) <= margin), len(text))


def _all_indented(text: str, offsets: Sequence[int], string: int) -> bool:
    """Whether a string is a docstring, and the lines at all offsets are indented as far as it is."""
    line = text.rfind("\n", 0, string) + 1
    indent = _indent(text, line)
    return 0 < indent == string - line and all(
        _indent(text, text.rfind("\n", 0, offset) + 1) >= indent for offset in offsets
    )


def _indent(text: str, start: int) -> int:
    """Number of blanks a line begins with; -1 when it has nothing else."""
    match = _BLANKS.match(text, start)
    return match.end() - start if match and match.end() < len(text) and text[match.end()] != "\n" else -1


def hidden(text: str, offsets: Sequence[int]) -> frozenset[int]:
    """Those of the ascending offsets that are within a string that ends, or within a comment."""
    found: set[int] = set()
    index = 0
    for token in _TOKEN.finditer(text):
        while index < len(offsets) and offsets[index] < token.start():
            index += 1
        if index == len(offsets):
            break
        if offsets[index] < token.end() and _hides(token):
            while index < len(offsets) and offsets[index] < token.end():
                found.add(offsets[index])
                index += 1
    return frozenset(found)


def _ends(token: re.Match[str]) -> bool:
    """Whether a triple-quoted string ends."""
    return token["closed1"] is not None or token["closed2"] is not None


def _hides(token: re.Match[str]) -> bool:
    if token["triple"] is not None:
        return _ends(token)
    if token["string"] is not None:
        return len(token["string"]) > 1 and token["string"].endswith(token["string"][0])
    return token["comment"] is not None


StringFinder = Callable[[str, Sequence[int]], Spans]
"""`strings_of_code` for one reply: takes a text and offsets."""


def logical_lines(text: str) -> list[int]:
    """Offsets at which a line begins outside brackets, strings and continued lines.

    No line within brackets begins with ``def``, ``class``, ``import`` or ``from``: where one does, an unclosed
    bracket before it belongs to prose, or to code that breaks off.
    """
    starts = [0]
    for _ in _tokens(text, starts):
        pass
    return starts


def _tokens(text: str, starts: list[int]) -> Iterator[re.Match[str]]:
    """All tokens that matter; the offsets of logical lines are added to ``starts`` on the way."""
    depth = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "opening":
            depth += 1
        elif kind == "closing":
            depth = max(0, depth - 1)
        elif kind == "newline" and (depth == 0 or _RESTART.match(text, token.end())):
            depth = 0
            starts.append(token.end())
        yield token
