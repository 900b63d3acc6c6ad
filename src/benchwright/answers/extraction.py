"""From the raw text of a reply to the code that is graded; docs/explanation/extraction.md tells the rules.

In order: a text that parses as a whole and defines the entry point is a program.  Otherwise reasoning is removed
(`benchwright.answers.reasoning`), the rest is cut at its fences (`benchwright.answers.fences`), and the stretch of
text to grade is chosen: one that parses and defines the entry point, else one in which statements that do so are
found among others (`benchwright.answers.regions`), else what comes nearest.  Of the chosen code, and of other
blocks where it needs them, what the entry point needs is kept (`benchwright.answers.selection`).
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from benchwright.answers.candidates import DOES_NOT_PARSE, UNPARSED, Candidate, Candidates, begins_with_code
from benchwright.answers.cutting import without_outer_blank_lines
from benchwright.answers.fences import Language, Segment, fence_at_end, segments, without_fence_lines
from benchwright.answers.lexing import StringFinder, strings_of_code
from benchwright.answers.parsing import BoundedParser
from benchwright.answers.reasoning import unwrapped, visible
from benchwright.answers.regions import code_in, without_margin
from benchwright.answers.scopes import names_of
from benchwright.answers.selection import (
    Block,
    Selection,
    beginnings,
    defines,
    is_main_guard,
    is_placeholder,
    only_rebinds,
    select,
)
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.verdicts import Reason

_ROUNDS = 4
"""How often selection is repeated on its own result; a round that drops nothing ends it."""

_MOST_LENDERS = 20
"""Other blocks that may lend names to the chosen one."""

_REASONED = "the reasoning was removed"
_NO_ENTRY_POINT = "no-entry-point"
_CUT_OFF = "cut off by the limit of tokens; graded as far as it goes"
# Zero-width and no-break spaces that stand before a fence or a statement, where Python accepts none.
_INVISIBLE = re.compile(
    r"^[\u200b\u2060\ufeff\xa0]++(?=[ \t]*+(?:`{3}|~{3}|@\w|(?:async|def|class|import|from)[ ]))", re.MULTILINE
)
_CODE_OR_TAG = re.compile(r"^[ \t]*+(?:def|class|import|from|async|@|[<\[◁])", re.MULTILINE)


def extract(text: str, *, entry_point: str, prefill: str = "", cut: bool = False) -> CodeAnswer | NoAnswer:
    """The code to grade in what a model wrote.

    ``prefill`` was written on the model's behalf and its text goes on from there.  ``cut`` says that the limit of
    tokens ended the text; it is graded then only if the answer was complete before – or as far as it goes, when it
    continues a program, for a base model's reply has no end of its own.  No text makes it raise, and code that it
    gives and that parses is given again for that code.
    """
    parser = BoundedParser()
    answer = _Extraction(parser, entry_point, cut=cut).answer(_newlines(prefill + text), _newlines(prefill))
    if cut and isinstance(answer, NoAnswer) and continues(prefill, entry_point):
        return _as_far_as_it_goes(text, entry_point, prefill) or answer
    if isinstance(answer, CodeAnswer) and answer.strategy in {UNPARSED, _NO_ENTRY_POINT}:
        # What was handed on as it stands may itself hold fences or tags.
        again = _Extraction(parser, entry_point, cut=False).answer(answer.code, "")
        worse = answer.strategy == UNPARSED and isinstance(again, CodeAnswer) and again.strategy == _NO_ENTRY_POINT
        if isinstance(again, CodeAnswer) and again.code != answer.code and not worse:
            return replace(again, notes=(*answer.notes, *again.notes))
    return answer


def continues(prefill: str, entry_point: str) -> bool:
    """Whether a reply goes on with a program: the prefill begins the entry point and opens no fence before."""
    begun = re.search(rf"^(?:async[ ]+def|def|class)[ ]+{re.escape(entry_point)}\b", prefill, re.MULTILINE)
    return begun is not None and "```" not in prefill[: begun.start()] and "~~~" not in prefill[: begun.start()]


def _as_far_as_it_goes(text: str, entry_point: str, prefill: str) -> CodeAnswer | None:
    """A cut continuation without its last line, which may be half of one; None when that is no program.

    The official tool grades such replies the same way: it knows no cut ones.
    """
    whole_lines = text[: text.rfind("\n") + 1]
    answer = extract(whole_lines, entry_point=entry_point, prefill=prefill)
    if isinstance(answer, NoAnswer) or answer.strategy in {UNPARSED, _NO_ENTRY_POINT}:
        return None
    return replace(answer, notes=(*answer.notes, _CUT_OFF))


def as_written(text: str, *, prefill: str = "") -> CodeAnswer | NoAnswer:
    """What a model wrote without its reasoning and without the lines that hold only a fence; nothing else is taken.

    A prefill belongs to the answer unless it is the beginning of a chat answer: prose, or a fence.
    """
    prefill, text = _newlines(prefill), _newlines(text)
    lead = "" if fence_at_end(prefill) or not _CODE_OR_TAG.search(prefill) else prefill
    parser = BoundedParser()
    seen = visible(lead + text, _finder(parser, cut=False))
    if seen.unfinished is not None:
        return _unfinished(seen.unfinished)
    code = without_fence_lines(seen.text)
    if not code.strip():
        return NoAnswer(reason=Reason.EMPTY, detail="the reply has no visible text")
    return CodeAnswer(code=code, strategy="as-written", notes=(_REASONED,) if seen.reasoned else ())


def _finder(parser: BoundedParser, *, cut: bool) -> StringFinder:
    return partial(strings_of_code, parses=lambda code: parser.tree(code) is not None, cut=cut)


def _newlines(text: str) -> str:
    """The text with the line ends that Python itself would read, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _unfinished(tag: str) -> NoAnswer:
    return NoAnswer(reason=Reason.TRUNCATED, detail=f"the reasoning that {tag} opens was never closed")


class _Extraction:
    """One reply on its way to an answer."""

    def __init__(self, parser: BoundedParser, entry_point: str, *, cut: bool) -> None:
        self._parser = parser
        self._entry = entry_point
        self._cut = cut
        self._strings = _finder(parser, cut=cut)
        self._notes: list[str] = []
        self._candidates = Candidates(parser, entry_point, cut=cut)

    def answer(self, whole: str, prefill: str) -> CodeAnswer | NoAnswer:
        program = self._parser.tree(whole)
        if program is not None and defines(program, self._entry):
            return self._choose([], [self._candidates.program(whole)])
        text = whole = _INVISIBLE.sub("", whole)
        continued = continues(prefill, self._entry)
        if not continued:
            seen = visible(whole, self._strings, cut=self._cut)
            if seen.unfinished is not None:
                return _unfinished(seen.unfinished)
            if seen.reasoned:
                self._notes.append(_REASONED)
            text = unwrapped(seen.text, self._entry, self._strings)
        if not text.strip():
            return self._nothing(Reason.EMPTY, "the reply has no visible text")
        parts = segments(text, self._strings)
        return self._choose(parts, self._candidates.ways(parts, continued=continued))

    def _choose(self, parts: Sequence[Segment], ways: Iterable[Iterable[Candidate]]) -> CodeAnswer | NoAnswer:
        """The answer from the first of the ways to read the reply that gives any."""
        placeholders: list[Candidate] = []
        for way in ways:
            found = [candidate for candidate in way if candidate.complete or not self._cut]
            seen = {item.number for item in placeholders}
            found = [item for item in found if item.number not in seen]
            real = [item for item in found if item.tree is None or not is_placeholder(item.tree, self._entry)]
            if real:
                return self._finish(real, parts)
            placeholders.extend(found)
        if placeholders:
            return self._finish(placeholders, parts)
        if self._cut:
            return self._nothing(Reason.TRUNCATED, "")
        return self._without_entry_point(parts)

    def _finish(self, candidates: Sequence[Candidate], parts: Sequence[Segment]) -> CodeAnswer:
        """The best candidate, with what it needs of other blocks and without what it does not need."""
        candidates = self._definitions(candidates)
        best = max(candidates, key=lambda candidate: (candidate.standing, candidate.number))
        last = max(candidate.number for candidate in candidates)
        if len(candidates) > 1:
            why = "the last one was taken" if best.number == last else "their headings speak for an earlier one"
            self._notes.append(f"blocks that define {self._entry}: {len(candidates)}; {why}")
        self._notes.extend(best.notes)
        if best.tree is None:
            return self._given(without_outer_blank_lines(best.code), best.strategy)
        code, strategy, dropped = best.code, best.strategy, 0
        selection, joined = self._joined(Block(code=code, tree=best.tree), best.number, parts)
        if joined > 1:
            strategy = "joined"
            self._notes.append(f"blocks joined: {joined}")
        for _ in range(_ROUNDS):
            dropped += selection.dropped
            if not selection.dropped and joined == 1:
                code = selection.code
                break
            tree = self._parser.tree(selection.code)
            if tree is None or not defines(tree, self._entry):
                break  # never seen; the code as it was is right in any case
            code, joined = selection.code, 1
            selection = select([Block(code=code, tree=tree)], self._entry)
        if dropped:
            self._notes.append(f"statements that {self._entry} does not need were left out: {dropped}")
        return self._given(without_outer_blank_lines(code), strategy)

    def _definitions(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The candidates without those that only show or use what another one defines.

        They are later ones that repeat the first lines of an earlier definition, and those that bind the name to
        something made of it, or to a stand-in, when another one defines it.
        """
        if len(candidates) < 2 or any(candidate.tree is None for candidate in candidates):
            return candidates
        kept: list[Candidate] = []
        begun: set[int] = set()
        for candidate in sorted(candidates, key=lambda candidate: candidate.number):
            states = beginnings(candidate.tree, self._entry) if candidate.tree else []
            if not states or states[-1] not in begun:
                kept.append(candidate)
            begun.update(states[:-1])
        made = [item for item in kept if item.tree is None or not only_rebinds(item.tree, self._entry)]
        return made or kept

    def _joined(self, chosen: Block, number: int, parts: Sequence[Segment]) -> tuple[Selection, int]:
        """What is needed of the chosen block and those others that bind names it needs and does not bind itself.

        Of several that bind a name, the nearest before the chosen one lends it, else the nearest after it.  They are
        joined in their order, the chosen one last.  Returns also how many there are.
        """
        selection = select([chosen], self._entry)
        if not selection.missing:
            return selection, 1
        lenders = list(self._lenders(parts, number))
        lent: dict[int, Block] = {}
        while selection.missing and len(lent) < _MOST_LENDERS:
            missing = selection.missing
            found = next(((key, block) for key, block, binds in lenders if key not in lent and binds & missing), None)
            if found is None:
                break
            lent[found[0]] = found[1]
            selection = select([*(lent[key] for key in sorted(lent)), chosen], self._entry)
        return selection, len(lent) + 1

    def _lenders(self, parts: Sequence[Segment], chosen: int) -> Iterator[tuple[int, Block, frozenset[str]]]:
        """Other fenced blocks that parse, with the names they bind: those before the chosen one from it backwards,
        then those after it."""
        for key in [*range(chosen - 1, -1, -1), *range(chosen + 1, len(parts))]:
            part = parts[key]
            tree = self._parser.tree(part.text) if part.fenced and part.language is not Language.OTHER else None
            if tree is not None:
                nodes = [node for node in tree.body if not is_main_guard(node)]
                binds = frozenset().union(*(names_of(node).binds for node in nodes))
                yield key, Block(code=part.text, tree=tree, helper=True, earlier=key < chosen), binds

    def _without_entry_point(self, parts: Sequence[Segment]) -> CodeAnswer | NoAnswer:
        """The nearest thing to code in a reply that does not define the entry point."""
        blocks = [part.text for part in parts if part.fenced and part.language is not Language.OTHER]
        found = self._code_among(without_margin(text) for text in blocks)
        if not found:
            regions = [code_in(part.text, self._parser) for part in parts if not part.fenced]
            found = self._code_among(region.code for region in regions if region is not None)
        if found:
            code, tree = max(found, key=lambda item: len(item[0]))
            body = any(isinstance(node, ast.Return) for node in tree.body)
            why = ": it seems to be the body of a function without its first line" if body else ""
            note = f"the code does not define {self._entry}{why}"
            return self._given(without_outer_blank_lines(code), _NO_ENTRY_POINT, note)
        marked = [part.text for part in parts if not part.fenced or part.language is Language.PYTHON]
        begun = [text for text in marked if begins_with_code(text)]
        if begun:
            return self._given(without_outer_blank_lines(begun[-1]), UNPARSED, DOES_NOT_PARSE)
        return self._nothing(Reason.NO_CODE, "the reply holds no Python code")

    def _code_among(self, texts: Iterable[str]) -> list[tuple[str, ast.Module]]:
        """Those texts that parse and hold a statement that prose does not happen to be."""
        parsed = [(text, self._parser.tree(text)) for text in texts]
        return [(text, tree) for text, tree in parsed if tree is not None and any(map(_is_code, tree.body))]

    def _given(self, code: str, strategy: str, *notes: str) -> CodeAnswer:
        return CodeAnswer(code=code, strategy=strategy, notes=(*self._notes, *notes))

    def _nothing(self, reason: Reason, detail: str) -> NoAnswer:
        if self._cut:
            return NoAnswer(reason=Reason.TRUNCATED, detail=f"the reply was cut off before {self._entry} was complete")
        return NoAnswer(reason=reason, detail=detail)


def _is_code(node: ast.stmt) -> bool:
    """Whether a statement is none that prose can happen to be, such as a name or ``Note: text``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return not isinstance(node, ast.AnnAssign) or node.value is not None
