"""Where the fences of a reply are, and the text within and between them.

A fence is a line that begins with three or more backticks or tildes, perhaps indented or in a list item.  Replies
are not careful with them: the closing one may be missing, stand behind the last line of code, or belong to a fence
that was opened by whoever prefilled the answer.  So every stretch between two fences is handed on, with what is
known of it.
"""

import enum
import re
from dataclasses import dataclass

from benchwright.answers.lexing import StringFinder

MOST_FENCES = 2_000
"""A reply with more fences than this repeats itself; the first and the last half of so many are read, so that
neither an answer before the repetition nor one behind it is lost."""

_LINE_WITH_FENCE = re.compile(r"^[^\n]*?(?:```|~~~)[^\n]*+$", re.MULTILINE)
_AT_START = re.compile(r"((?:[ \t]|[-*+>][ \t]|\d{1,3}[.)][ \t])*+)(`{3,}|~{3,})([^\n]*)\Z")
_AT_END = re.compile(r"([^\n]*?[^\s`][ \t]*+)(`{3,}+)[ \t]*+([A-Za-z][\w.+-]*+)?[ \t]*+\Z")
_FENCE_LINE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*[^\s`]*[ \t]*\Z")
_LANGUAGE = re.compile(r"[{.\s]*([A-Za-z][A-Za-z+#]*)")
_STATEMENT = re.compile(r"(?:import|from|def|class|async[ ]+def)[ ]+\w|@\w")
_NEUTRAL = frozenset({"text", "txt", "plaintext", "plain", "code", "none", "output", "markdown", "md"})


class Language(enum.Enum):
    """What the tag of a fence says of its text."""

    PYTHON = "python"
    NEUTRAL = "neutral"
    """No tag, or one that says nothing."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One line with a fence on it."""

    start: int
    """Offset of the line."""
    end: int
    """Offset behind the line, its newline included."""
    mark: str
    """The backticks or tildes."""
    info: str
    """The words that follow them."""
    lead: str
    """The blanks, list marks or quote marks before them."""
    before: str = ""
    """Text glued to their front, such as the last line of the code that they close."""
    after: str = ""
    """Code that follows on the same line."""

    @property
    def position(self) -> int:
        """Offset of the backticks or tildes."""
        return self.start + len(self.lead) + len(self.before)

    def ends(self, opening: "Fence") -> bool:
        """Whether this fence can close a block that the other one opened."""
        return not self.opens and self._matches(opening)

    def interrupts(self, opening: "Fence") -> bool:
        """Whether this fence opens a next block while the other one's was never closed."""
        return self.opens and self._matches(opening)

    @property
    def opens(self) -> bool:
        """Whether it can only be an opening fence, because something follows it on its line."""
        return bool(self.info or self.after)

    @property
    def language(self) -> Language:
        """What the words behind it name: ``python``, ``Python3``, ``py3.10``, ``{.python}`` are all Python."""
        match = _LANGUAGE.match(self.info)
        name = match[1].lower() if match else ""
        if name in {"py", "python", "ipython", "pycon", "pyi"}:
            return Language.PYTHON
        return Language.NEUTRAL if not self.info or name in _NEUTRAL else Language.OTHER

    def _matches(self, opening: "Fence") -> bool:
        return self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Text between two fences."""

    text: str
    fenced: bool
    """Whether an opening fence stands before it."""
    closed: bool
    """Whether a fence stands behind it."""
    language: Language = Language.NEUTRAL
    words: str = ""
    """Of a fenced one, what was written before its fence, back to the fence before that."""


def fences(text: str) -> list[Fence]:
    """All fences of a text in order; of very many, the first and the last."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = list(_LINE_WITH_FENCE.finditer(text))
    if len(lines) > MOST_FENCES:
        lines = [*lines[: MOST_FENCES // 2], *lines[-MOST_FENCES // 2 :]]
    return [fence for line in lines if (fence := _fence(line.group(), line.start(), len(text))) is not None]


def _fence(line: str, start: int, text_length: int) -> Fence | None:
    end = min(start + len(line) + 1, text_length)
    match = _AT_START.match(line)
    if match is not None:
        lead, mark, info = match[1], match[2], match[3].strip()
        if mark[0] == "`" and "`" in info:
            return None  # code within a line of prose
        first, _, rest = info.partition(" ")
        if _STATEMENT.match(info):
            info, after = "", info
        elif _STATEMENT.match(rest.lstrip()):
            info, after = first, rest.lstrip()
        else:
            after = ""
        return Fence(start=start, end=end, mark=mark, info=info, lead=lead, after=after)
    match = _AT_END.match(line)
    if match is None or match[2] in match[1] or match[1].rstrip().endswith("#"):
        return None  # the end of code within the line, or a comment
    return Fence(start=start, end=end, mark=match[2], info=match[3] or "", lead="", before=match[1].rstrip())


def without_fence_lines(text: str) -> str:
    """The text without the lines that hold a fence, perhaps with a language, and nothing else."""
    return "\n".join(line for line in text.split("\n") if not _FENCE_LINE.match(line))


def segments(text: str, strings: StringFinder) -> list[Segment]:
    """The text cut at its fences; those within a triple-quoted string of code that parses do not cut it."""
    found: list[Segment] = []
    opening: Fence | None = None
    position = 0
    words = ""
    for fence in fences_outside_strings(text, strings):
        if opening is not None and not fence.ends(opening) and not fence.interrupts(opening):
            continue  # a shorter or another fence is part of the block's text
        body = text[position : fence.start] + fence.before
        position = fence.end
        if opening is None:
            found.append(Segment(text=body, fenced=False, closed=True))
            words, opening = body, fence
        elif body.strip() or opening.after:
            found.append(_block(body, opening, words, closed=True))
            words, opening = "", fence if fence.opens else None
        else:
            opening = fence  # nothing was between them: the second one opens the block again
    rest = text[position:]
    if opening is not None:
        found.append(_block(rest, opening, words, closed=False))
    else:
        found.append(Segment(text=rest, fenced=False, closed=False))
    return found


def fences_outside_strings(text: str, strings: StringFinder) -> list[Fence]:
    """The fences of a text that are not within a triple-quoted string of code that parses."""
    found = fences(text)
    within = strings(text, [fence.position for fence in found])
    return [fence for fence in found if not within.cover(fence.position)]


def _block(body: str, opening: Fence, words: str, *, closed: bool) -> Segment:
    text = f"{opening.after}\n{body}" if opening.after else body
    text = _without_lead(text, opening.lead)
    return Segment(text=text, fenced=True, closed=closed, language=opening.language, words=words)


def _without_lead(text: str, lead: str) -> str:
    """The text of a block without what stands before its opening fence, on as many of its lines as have it."""
    if ">" in lead:
        return re.sub(r"^[ \t]{0,9}>[ ]?", "", text, flags=re.MULTILINE)
    columns = len(lead.expandtabs(4))
    tabs = max(1, columns // 4)
    return re.sub(rf"^(?:\t{{1,{tabs}}}|[ ]{{1,{columns}}})", "", text, flags=re.MULTILINE) if columns else text


def fence_at_end(text: str) -> Fence | None:
    """The fence that is still open when the text ends, or None."""
    opening: Fence | None = None
    for fence in fences(text):
        if opening is None or fence.interrupts(opening):
            opening = fence
        elif fence.ends(opening):
            opening = None
    return opening
