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
from dataclasses import dataclass, replace
from functools import partial

from benchwright.answers.fences import Language, Segment, fence_at_end, segments, without_fence_lines
from benchwright.answers.lexing import StringFinder, strings_of_code
from benchwright.answers.parsing import BoundedParser
from benchwright.answers.reasoning import unwrapped, visible
from benchwright.answers.regions import at_prompts, code_in, within_lines, without_margin
from benchwright.answers.scopes import names_of
from benchwright.answers.selection import (
    Block,
    Selection,
    defines,
    definition_end,
    is_main_guard,
    is_placeholder,
    select,
    without_outer_blank_lines,
)
from benchwright.answers.wording import standing
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.verdicts import Reason

MOST_PARSED = 250_000
"""Characters parsed for one reply, all attempts together: at up to 2 µs each that bounds its time, and a real reply
needs a tenth of it.  Code beyond that is handed on as it stands."""

LONGEST_PARSED = 60_000
"""Longest text that is parsed in one piece; the longest of 2,000 real answers has 6,800 characters."""

_ROUNDS = 4
"""How often selection is repeated on its own result; a round that drops nothing ends it."""

_MOST_LENDERS = 20
"""Other blocks that may lend names to the chosen one."""

_REASONED = "the reasoning was removed"
_UNPARSED, _NO_ENTRY_POINT = "unparsed", "no-entry-point"
_CODE_OR_TAG = re.compile(r"^[ \t]*+(?:def|class|import|from|async|@|[<\[◁])", re.MULTILINE)
_BEGUN = re.compile(r"^(?:(?:async[ ]++)?(?:def|class)[ ]++(\w+)|(\w+)[ ]*+(?::[^=\n]*+)?=(?!=))", re.MULTILINE)
_SIMPLE = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Import,
    ast.ImportFrom,
    ast.Assert,
    ast.Delete,
    ast.Pass,
)
_CODE_START = re.compile(r"\s*+(?:#|@|(?:async|def|class|import|from|if|try|with|for)\b|\w[\w.]*+[ ]*+[=(]|'''|\"\"\")")


def extract(text: str, *, entry_point: str, prefill: str = "", cut: bool = False) -> CodeAnswer | NoAnswer:
    """The code to grade in what a model wrote.

    ``prefill`` was written on the model's behalf and its text goes on from there.  ``cut`` says that the limit of
    tokens ended the text; it is graded then only if the answer was complete before.  No text makes it raise, and
    the code it gives is given again for that code.
    """
    parser = BoundedParser(MOST_PARSED)
    answer = _Extraction(parser, entry_point, cut=cut).answer(_newlines(prefill + text), _newlines(prefill))
    if isinstance(answer, CodeAnswer) and answer.strategy in {_UNPARSED, _NO_ENTRY_POINT}:
        # What was handed on as it stands may itself hold fences or tags.
        again = _Extraction(parser, entry_point, cut=False).answer(answer.code, "")
        if isinstance(again, CodeAnswer) and again.code != answer.code:
            return replace(again, notes=(*answer.notes, *again.notes))
    return answer


def as_written(text: str, *, prefill: str = "") -> CodeAnswer | NoAnswer:
    """What a model wrote without its reasoning and without the lines that hold only a fence; nothing else is taken.

    A prefill belongs to the answer unless it is the beginning of a chat answer: prose, or a fence.
    """
    prefill, text = _newlines(prefill), _newlines(text)
    lead = "" if fence_at_end(prefill) or not _CODE_OR_TAG.search(prefill) else prefill
    parser = BoundedParser(MOST_PARSED)
    seen = visible(lead + text, _finder(parser, cut=False))
    if seen.unfinished is not None:
        return _unfinished(seen.unfinished)
    code = without_fence_lines(seen.text)
    if not code.strip():
        return NoAnswer(reason=Reason.EMPTY, detail="the reply has no visible text")
    return CodeAnswer(code=code, strategy="as-written", notes=(_REASONED,) if seen.reasoned else ())


def _finder(parser: BoundedParser, *, cut: bool) -> StringFinder:
    def parses(code: str) -> bool:
        return len(code) <= LONGEST_PARSED and parser.tree(code) is not None

    return partial(strings_of_code, parses=parses, cut=cut)


def _newlines(text: str) -> str:
    """The text with the line ends that Python itself would read, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _unfinished(tag: str) -> NoAnswer:
    return NoAnswer(reason=Reason.TRUNCATED, detail=f"the reasoning that {tag} opens was never closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """Code that defines the entry point, and may be the answer."""

    code: str
    tree: ast.Module | None
    strategy: str
    number: int
    """Number of its segment."""
    complete: bool
    """Whether it was written to its end even if the reply was cut."""
    standing: int = 0
    """What the words before it make of it."""
    notes: tuple[str, ...] = ()


_Numbered = Sequence[tuple[int, Segment]]


class _Extraction:
    """One reply on its way to an answer."""

    def __init__(self, parser: BoundedParser, entry_point: str, *, cut: bool) -> None:
        self._parser = parser
        self._entry = entry_point
        self._cut = cut
        self._strings = _finder(parser, cut=cut)
        self._notes: list[str] = []
        name = re.escape(entry_point)
        self._defining = re.compile(rf"\b(?:def|class)[ \t]++{name}\b|\b{name}\b[^\n=]{{0,200}}+=(?!=)")

    def answer(self, whole: str, prefill: str) -> CodeAnswer | NoAnswer:
        program = self._tree(whole)
        if program is not None and defines(program, self._entry):
            part = Segment(text=whole, fenced=False, closed=False)
            return self._choose([part], [self._whole([(0, part)], "program")])
        text = whole
        continued = self._continues(prefill)
        if not continued:
            seen = visible(whole, self._strings)
            if seen.unfinished is not None:
                return _unfinished(seen.unfinished)
            if seen.reasoned:
                self._notes.append(_REASONED)
            text = unwrapped(seen.text, self._entry, self._strings)
        if not text.strip():
            return self._nothing(Reason.EMPTY, "the reply has no visible text")
        parts = segments(text, self._strings)
        return self._choose(parts, self._ways(parts, continued=continued))

    def _continues(self, prefill: str) -> bool:
        """Whether the reply goes on with a program: the prefill begins a definition and opens no fence before."""
        begun = re.search(rf"^(?:async[ ]+def|def|class)[ ]+{re.escape(self._entry)}\b", prefill, re.MULTILINE)
        return begun is not None and "```" not in prefill[: begun.start()] and "~~~" not in prefill[: begun.start()]

    def _choose(self, parts: Sequence[Segment], ways: Iterable[Iterable[_Candidate]]) -> CodeAnswer | NoAnswer:
        """The answer from the first of the ways to read the reply that gives any."""
        placeholders: list[_Candidate] = []
        for way in ways:
            found = [candidate for candidate in way if candidate.complete or not self._cut]
            real = [item for item in found if item.tree is None or not is_placeholder(item.tree, self._entry)]
            if real:
                return self._finish(real, parts)
            placeholders.extend(found)
        if placeholders:
            return self._finish(placeholders, parts)
        if self._cut:
            return self._nothing(Reason.TRUNCATED, "")
        return self._without_entry_point(parts)

    def _ways(self, parts: Sequence[Segment], *, continued: bool) -> Iterator[Iterable[_Candidate]]:
        """Ways to read the reply, the surest first."""
        named = [(number, part) for number, part in enumerate(parts) if self._defining.search(part.text)]
        plain = [(number, part) for number, part in named if not part.fenced]
        fenced = [(number, part) for number, part in named if part.fenced and part.language is not Language.OTHER]
        foreign = [(number, part) for number, part in named if part.language is Language.OTHER]
        if continued:
            first = [(number, part) for number, part in plain if number == 0]
            yield self._whole(first, "continuation")
            yield self._found(first, "continuation")
        yield self._whole([*plain, *fenced], "fenced")
        yield self._found(fenced, "fenced")
        yield self._found(plain, "unfenced")
        yield self._whole(foreign, "foreign-fence")
        yield self._found([(number, replace(part, text=at_prompts(part.text))) for number, part in named], "prompts")
        yield self._found([(number, replace(part, text=within_lines(part.text))) for number, part in plain], "unfenced")
        yield self._unparsed([*plain, *fenced])

    def _whole(self, parts: _Numbered, strategy: str) -> Iterator[_Candidate]:
        """Segments that parse as they are."""
        for number, part in sorted(parts, key=lambda numbered: numbered[0], reverse=True):
            for code in dict.fromkeys((part.text, without_margin(part.text))):
                tree = self._tree(code)
                if tree is not None and defines(tree, self._entry):
                    note = ("the block is marked as another language",) if part.language is Language.OTHER else ()
                    yield self._candidate(part, number, code, tree, strategy=strategy, notes=note)
                    break

    def _found(self, parts: _Numbered, strategy: str) -> Iterator[_Candidate]:
        """Code among other text."""
        for number, part in reversed(parts):
            if len(part.text) > LONGEST_PARSED and _CODE_START.match(part.text):
                continue  # a long program, of which a search would give pieces only
            region = code_in(part.text, self._parser, trim=not self._cut and not part.closed)
            tree = self._tree(region.code) if region else None
            if region is None or tree is None or not defines(tree, self._entry):
                continue
            notes = [f"lines that are no Python were left out: {region.dropped}"] if region.dropped else []
            if region.trimmed:
                notes.append(f"of these, at the end of a statement that breaks off: {region.trimmed}")
            yield self._candidate(
                part, number, region.code, tree, strategy=strategy, rest=region.rest, notes=tuple(notes)
            )

    def _candidate(
        self,
        part: Segment,
        number: int,
        code: str,
        tree: ast.Module,
        *,
        strategy: str,
        rest: str = "",
        notes: tuple[str, ...] = (),
    ) -> _Candidate:
        complete = True
        if self._cut and not part.closed:
            code, tree, rest = self._without_unfinished(code, tree, rest)
            complete = self._is_complete(code, tree, rest)
        return _Candidate(
            code=code,
            tree=tree,
            strategy=strategy,
            number=number,
            complete=complete,
            standing=standing(part.words, code),
            notes=notes,
        )

    def _without_unfinished(self, code: str, tree: ast.Module, rest: str) -> tuple[str, ast.Module, str]:
        """The code and its tree without a last statement that the cut may have shortened, which joins the rest."""
        last = tree.body[-1]
        if rest.strip() or (code.endswith("\n") and isinstance(last, _SIMPLE)):
            return code, tree, rest
        lines = code.split("\n")
        start = min([last.lineno, *(node.lineno for node in getattr(last, "decorator_list", ()))]) - 1
        shorter = "\n".join(lines[:start])
        shorter_tree = self._tree(shorter)
        if shorter_tree is None:  # it shares its line with another one
            return code, tree, rest
        return shorter, shorter_tree, "\n".join(lines[start:])

    def _is_complete(self, code: str, tree: ast.Module, rest: str) -> bool:
        """Whether the definition ends before the code or the rest does, and the rest begins nothing that it needs."""
        if not defines(tree, self._entry):
            return False
        below = code.split("\n")[definition_end(tree, self._entry) :]
        if not rest.strip() and not any(line.strip() for line in below):
            return False
        begun = [name for match in _BEGUN.finditer(rest) for name in match.groups() if name]
        missing = select([Block(code=code, tree=tree)], self._entry).missing
        return not any(
            name == other or (rest.endswith(other) and name.startswith(other)) for name in missing for other in begun
        )

    def _unparsed(self, parts: _Numbered) -> Iterator[_Candidate]:
        """Text that names the entry point as definitions do, although it does not parse here."""
        for number, part in reversed(parts):
            if part.fenced or _CODE_START.match(part.text):
                yield _Candidate(
                    code=part.text,
                    tree=None,
                    strategy=_UNPARSED,
                    number=number,
                    complete=part.closed,
                    standing=standing(part.words, part.text),
                    notes=("the code does not parse",)
                    if len(part.text) <= LONGEST_PARSED
                    else ("the code is too long to be parsed and is taken as it stands",),
                )

    def _finish(self, candidates: Sequence[_Candidate], parts: Sequence[Segment]) -> CodeAnswer:
        """The best candidate, with what it needs of other blocks and without what it does not need."""
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
            tree = self._tree(selection.code)
            if tree is None or not defines(tree, self._entry):
                break  # never seen; the code as it was is right in any case
            code, joined = selection.code, 1
            selection = select([Block(code=code, tree=tree)], self._entry)
        if dropped:
            self._notes.append(f"statements that {self._entry} does not need were left out: {dropped}")
        return self._given(without_outer_blank_lines(code), strategy)

    def _joined(self, chosen: Block, number: int, parts: Sequence[Segment]) -> tuple[Selection, int]:
        """What is needed of the chosen block and those others that bind names it needs and does not bind itself.

        Of several that bind a name, the nearest before the chosen one lends it, else the nearest after it.  They are
        joined in their order, the chosen one last.  Returns also how many there are.
        """
        selection = select([chosen], self._entry)
        if not selection.missing:
            return selection, 1
        lenders = list(self._lenders(parts, [*range(number - 1, -1, -1), *range(number + 1, len(parts))]))
        lent: dict[int, Block] = {}
        while selection.missing and len(lent) < _MOST_LENDERS:
            missing = selection.missing
            found = next(((key, block) for key, block, binds in lenders if key not in lent and binds & missing), None)
            if found is None:
                break
            lent[found[0]] = found[1]
            selection = select([*(lent[key] for key in sorted(lent)), chosen], self._entry)
        return selection, len(lent) + 1

    def _lenders(self, parts: Sequence[Segment], order: Sequence[int]) -> Iterator[tuple[int, Block, frozenset[str]]]:
        """Other fenced blocks that parse, with the names they bind."""
        for key in order:
            part = parts[key]
            tree = self._tree(part.text) if part.fenced and part.language is not Language.OTHER else None
            if tree is not None:
                nodes = [node for node in tree.body if not is_main_guard(node)]
                binds = frozenset().union(*(names_of(node).binds for node in nodes))
                yield key, Block(code=part.text, tree=tree, helper=True), binds

    def _without_entry_point(self, parts: Sequence[Segment]) -> CodeAnswer | NoAnswer:
        """The nearest thing to code in a reply that does not define the entry point."""
        found: list[tuple[int, str]] = []
        for part in parts:
            if part.fenced and part.language is not Language.OTHER:
                tree = self._tree(part.text)
                if tree is not None and _is_code(tree):
                    found.append((len(part.text), part.text))
        if not found:
            for part in parts:
                region = None if part.fenced else code_in(part.text, self._parser, trim=False)
                tree = self._tree(region.code) if region else None
                if region is not None and tree is not None and _is_code(tree):
                    found.append((len(region.code), region.code))
        if found:
            code = max(found)[1]
            return self._given(
                without_outer_blank_lines(code), _NO_ENTRY_POINT, f"the code does not define {self._entry}"
            )
        marked = [part.text for part in parts if part.fenced and part.language is Language.PYTHON and part.text.strip()]
        if marked:
            return self._given(without_outer_blank_lines(marked[-1]), _UNPARSED, "the code does not parse")
        return self._nothing(Reason.NO_CODE, "the reply holds no Python code")

    def _given(self, code: str, strategy: str, *notes: str) -> CodeAnswer:
        return CodeAnswer(code=code, strategy=strategy, notes=(*self._notes, *notes))

    def _nothing(self, reason: Reason, detail: str) -> NoAnswer:
        if self._cut:
            return NoAnswer(reason=Reason.TRUNCATED, detail=f"the reply was cut off before {self._entry} was complete")
        return NoAnswer(reason=reason, detail=detail)

    def _tree(self, code: str) -> ast.Module | None:
        return self._parser.tree(code) if len(code) <= LONGEST_PARSED else None


def _is_code(tree: ast.Module) -> bool:
    """Whether a module holds a statement that prose does not happen to be."""
    return any(
        isinstance(node.value, ast.Call)
        if isinstance(node, ast.Expr)
        else not isinstance(node, ast.AnnAssign) or node.value is not None
        for node in tree.body
    )
