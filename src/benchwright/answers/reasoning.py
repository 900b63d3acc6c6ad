"""What of a reply is visible: without its reasoning sections, the wrapper around its answer, and end marks.

Rules, in order:

* A tag counts only where it is written as a tag.  It does not count between quotes or backticks on its line, nor
  in a string or comment of a fenced block.  An opening tag counts at the beginning or end of a line outside
  fences; a closing one anywhere outside quotes, but not in the middle or the comment of an indented line unless
  its section is open.
* A section goes from its opening tag to the first closing tag of the same style that follows.
* A closing tag without an opening one (which was in the prompt, then) takes everything before it away, unless
  that is all the code there is.
* A section that is never closed was cut off: nothing of such a reply is visible.
* In a reply with channels, what is visible is the last message on the channel ``final``.
* Of the contents of ``<answer>``, ``<solution>`` and their like, the last that defines the entry point is taken, or
  speaks of it when nothing in the reply defines it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchwright.answers.fences import Fence, Language, fences_outside_strings
from benchwright.answers.lexing import StringFinder, hidden

MOST_TAGS = 2_000
"""Of more tags than this, the first and the last half are read, as with fences."""

_MOST_END_MARKS = 50
_QUOTE_REACH = 200
"""Characters to both sides of a tag in which quotes around it are looked for."""

_WORDS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think"
_REASONING = re.compile(
    rf"""
      <(?P<slash1>/?)(?P<word>{_WORDS})\s{{0,9}}>
    | \[(?P<slash2>/?)(?P<bracket>THINK)\]
    | ◁(?P<slash3>/?)(?P<triangle>think)▷
    | <\|(?P<edge>begin|end)_of_(?P<kind>thought|thinking)\|>
    | <\|(?P<command>START|END)_(?P<kind2>THINKING)\|>
    | <\|channel\|>\s{{0,9}}(?P<channel>analysis|commentary|final)[^<\n]{{0,99}}
      (?:<\|constrain\|>[^<\n]{{0,99}})?<\|message\|>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WRAPPERS = re.compile(
    r"""
      <(?P<slash1>/?)(?P<word>answer|final_answer|solution|response)\s{0,9}>
    | <\|(?P<edge>begin|end)_of_(?P<kind>solution)\|>
    | <\|(?P<command>START|END)_(?P<kind2>RESPONSE)\|>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TURN_MARK = (
    r"(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|call|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>)"
)
_LAST_MARK = re.compile(rf"(?:{_TURN_MARK}|</s>|<eos>)\Z")
_END_OF_TURN = re.compile(rf"^([ \t]*+(?:`{{3,}}+|~{{3,}}+)?[ \t]*+){_TURN_MARK}", re.MULTILINE)
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|start|call)\|>")
# What is left of channels when special tokens are dropped on decoding.
_BARE_CHANNEL = re.compile(r"\s*+(?:assistant)?analysis(?=[A-Z][a-z']*+[ ][a-z])")
_BARE_FINAL = "assistantfinal"
_CHANNEL = "channel"
_CODE = re.compile(r"`{3}|~{3}|^[ \t]*+(?:(?:async[ ]++)?def|class|import|from)[ ]++\w", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """What a reader of the reply was meant to see."""

    text: str
    unfinished: str | None = None
    """The opening tag of a section that is never closed; the text is then empty."""
    reasoned: bool = False
    """Whether anything was taken away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    start: int
    end: int
    opens: bool
    style: str
    text: str


def visible(text: str, strings: StringFinder, *, cut: bool = False) -> Visible:
    """The reply without its reasoning and without what follows an end mark.

    Of a ``cut`` one the code may have been to come.
    """
    text = _without_end_marks(text, strings)
    if _BARE_CHANNEL.match(text):
        _, final, rest = text.rpartition(_BARE_FINAL)
        return Visible(text=rest, reasoned=True) if final else Visible(text="", unfinished="analysis", reasoned=True)
    tags = _tags(text, _REASONING, strings)
    if not tags:
        return Visible(text=text)
    if any(tag.style == _CHANNEL for tag in tags):
        return _final_message(text, [tag for tag in tags if tag.style == _CHANNEL])
    kept: list[str] = []
    opened: set[str] = set()
    section: _Tag | None = None
    position = 0
    before: list[str] = []
    for tag in tags:
        if tag.opens:
            opened.add(tag.style)
            if section is None:
                kept.append(text[position : tag.start])
                section = tag
        elif section is not None and section.style == tag.style:
            section, position = None, tag.end
        elif section is None or tag.style not in opened:
            if section is None:
                before += [*kept, text[position : tag.start]]
            kept, section, position = [], None, tag.end
    if before and not cut and section is None and not _holds_code([*kept, text[position:]]) and _holds_code(before):
        kept = [*before, *kept]  # what a stray tag would take away is all the code there is
    if section is None:
        kept.append(text[position:])
    elif text[section.end :].strip() or not "".join(kept).strip():
        return Visible(text="", unfinished=section.text, reasoned=True)
    return Visible(text="\n".join(piece for piece in kept if piece.strip()), reasoned=True)


def _holds_code(pieces: Sequence[str]) -> bool:
    return any(_CODE.search(piece) for piece in pieces)


def _final_message(text: str, channels: Sequence[_Tag]) -> Visible:
    """The last message on the channel ``final``, which is the only one that is shown."""
    finals = [tag for tag in channels if not tag.opens]
    if not finals:
        return Visible(text="", unfinished=channels[0].text, reasoned=True)
    return Visible(text=_END_OF_MESSAGE.split(text[finals[-1].end :], maxsplit=1)[0], reasoned=True)


def unwrapped(text: str, entry_point: str, strings: StringFinder) -> str:
    """The text without the wrapper around the answer: the last content that defines the entry point.

    When nothing in the text defines it, the last content that names it, if any does.
    """
    tags = _tags(text, _WRAPPERS, strings)
    if not tags:
        return text
    name = re.escape(entry_point)
    named = re.compile(rf"\b{name}\b")
    defining = re.compile(rf"\b(?:def|class)[ \t]++{name}\b|^[ \t]*+{name}[ \t]*+(?::[^\n=]*+)?=(?!=)", re.MULTILINE)
    pieces: list[str] = []
    chosen: str | None = None
    defined = False
    inside = False
    position = 0
    for tag in [*tags, None]:
        piece = text[position : tag.start if tag else len(text)]
        defines = defining.search(piece) is not None
        if inside and (defines or (not defined and named.search(piece))):
            chosen = piece
        elif defines and not defined:
            chosen = None
        defined = defined or defines
        pieces.append(piece)
        if tag is not None:
            inside, position = tag.opens, tag.end
    return chosen if chosen is not None else "\n".join(pieces)


def _without_end_marks(text: str, strings: StringFinder) -> str:
    """The text up to the first end mark that begins a line outside of code's strings, and without those at its end."""
    stripped = text.rstrip()
    for _ in range(_MOST_END_MARKS):
        mark = _LAST_MARK.search(stripped, max(0, len(stripped) - 40))
        if mark is None:
            break
        text = stripped = stripped[: mark.start()].rstrip()
    if "<|channel|>" in text:
        return text
    turns = [match.end(1) for match in islice(_END_OF_TURN.finditer(text), MOST_TAGS)]
    within = strings(text, turns)
    return text[: next((turn for turn in turns if not within.cover(turn)), len(text))]


def _tags(text: str, pattern: re.Pattern[str], strings: StringFinder) -> list[_Tag]:
    """The tags that count, in order."""
    matches = list(pattern.finditer(text))
    if len(matches) > MOST_TAGS:
        matches = [*matches[: MOST_TAGS // 2], *matches[-MOST_TAGS // 2 :]]
    found = [tag for match in matches if not _quoted(text, tag := _tag(match))]
    within = strings(text, [tag.start for tag in found])
    found = [tag for tag in found if not within.cover(tag.start)]
    return _Outline(text, found, fences_outside_strings(text, strings)).tags() if found else []


def _tag(match: re.Match[str]) -> _Tag:
    groups = match.groupdict()
    style = next(
        groups[name].lower()
        for name in ("word", "bracket", "triangle", "kind", "kind2", "channel")
        if groups.get(name) is not None
    )
    closes = (
        "/" in (groups["slash1"] or "", groups.get("slash2") or "", groups.get("slash3") or "")
        or (groups["edge"] or groups["command"] or "").lower() == "end"
        or style == "final"
    )
    if groups.get("channel"):
        style = _CHANNEL
    elif match[0][0] != "<":
        style = match[0].strip("[]◁▷/") + match[0][0]
    elif match[0].startswith("<|"):
        style += "|"
    return _Tag(start=match.start(), end=match.end(), opens=not closes, style=style, text=match[0])


def _quoted(text: str, tag: _Tag) -> bool:
    """Whether the tag is between quotes or backticks on its line."""
    start = text.rfind("\n", max(0, tag.start - _QUOTE_REACH), tag.start) + 1
    before = text[max(start, tag.start - _QUOTE_REACH) : tag.start]
    after = text[tag.end : tag.end + _QUOTE_REACH].partition("\n")[0]
    quote = ""
    for match in _QUOTE.finditer(before):
        if not quote:
            quote = match[0]
        elif match[0] == quote:
            quote = ""
    return bool(quote) and any(match[0] == quote for match in _QUOTE.finditer(after))


# An apostrophe between letters is none; three backticks are a fence.
_QUOTE = re.compile(r"""(?<!\w)'|'(?!\w)|"|(?<!`)`(?!`)""")


def _position(event: _Tag | Fence) -> int:
    return event.start if isinstance(event, _Tag) else event.position


class _Outline:
    """Tags and fences of a text in their order, to see which tags are within a block of code."""

    def __init__(self, text: str, tags: Sequence[_Tag], marks: Sequence[Fence]) -> None:
        self._text = text
        self._events: list[_Tag | Fence] = sorted([*tags, *marks], key=_position)
        self._found: list[_Tag] = []
        self._first = len(text) - len(text.lstrip())

    def tags(self) -> list[_Tag]:
        number = 0
        opening: Fence | None = None
        pending: list[int] = []
        while number < len(self._events):
            event = self._events[number]
            if isinstance(event, Fence):
                if opening is None:
                    opening, pending = event, []
                elif event.ends(opening) or event.interrupts(opening):
                    last = self._settle(opening, pending, event.start, closed=event.ends(opening))
                    if last is not None:
                        # The block was none: reading goes on behind the tag, outside of fences.
                        number, opening = last, None
                    else:
                        opening, pending = (event if event.opens else None), []
            elif opening is not None:
                pending.append(number)
            elif self._counts(event):
                self._found.append(event)
            number += 1
            if number == len(self._events) and opening is not None and pending:
                last = self._settle(opening, pending, len(self._text), closed=False)
                if last is not None:
                    number, opening, pending = last + 1, None, []
        return self._found

    def _settle(self, opening: Fence, pending: Sequence[int], end: int, *, closed: bool) -> int | None:
        """Take those tags of a block that count; the number of the last of them, or None when none does.

        Only closing tags can: what opens in a block of code is an example.
        """
        if not pending or (closed and opening.language is Language.OTHER):
            return None
        tags = [event for number in pending if isinstance(event := self._events[number], _Tag)]
        block = self._text[opening.end : end]
        inert = hidden(block, [tag.start - opening.end for tag in tags])
        shown: set[str] = set()
        last = None
        for number, tag in zip(pending, tags, strict=True):
            if tag.start - opening.end in inert:
                continue
            if tag.opens:
                shown.add(tag.style)
            elif tag.style not in shown:
                self._found.append(tag)
                last = number
        return last

    def _counts(self, tag: _Tag) -> bool:
        before = self._text[max(0, tag.start - _QUOTE_REACH) : tag.start].rpartition("\n")[2]
        after = self._text[tag.end : tag.end + _QUOTE_REACH].partition("\n")[0]
        if tag.text.startswith("<|") or tag.text[0] == "◁":
            return True
        if tag.opens:
            indented = before != "" and not before.strip() and tag.start != self._first
            return not indented and (not before.strip() or not after.strip())
        open_before = bool(self._found) and self._found[-1].opens and self._found[-1].style == tag.style
        in_code = before[:1].isspace() and before.strip() and (after.strip() or "#" in before)
        return open_before or not in_code
