"""Ways to read what is visible of a reply, the surest first, and the code that each of them finds.

Of a cut reply each says too whether the code was written to its end.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchwright.answers.cutting import first_line
from benchwright.answers.fences import Language, Segment
from benchwright.answers.parsing import LONGEST_PARSED, BoundedParser
from benchwright.answers.regions import at_prompts, code_in, within_lines, without_margin, without_shell_lines
from benchwright.answers.selection import Block, defines, definition_end, select
from benchwright.answers.wording import standing

UNPARSED = "unparsed"
"""Strategy of code that is handed on although it does not parse here."""
DOES_NOT_PARSE = "the code does not parse"

_BEGUN = re.compile(r"^(?:(?:async[ ]++)?(?:def|class)[ ]++(\w+)|(\w+)[ ]*+(?::[^=\n]*+)?=(?!=))", re.MULTILINE)
_ONE_LINE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Assert, ast.Delete)
_DEFINITION_START = re.compile(r"^(?:(?:async|def|class|import|from)[ ]|@)", re.MULTILINE)
_CODE_START = re.compile(
    r"""\s*+(?:\#|@|'''|\"""|(?:async|def|class|import|from|if|try|with|for|while|print|return|raise|assert)\b"""
    r"""|\w[\w.]*+[ ]*+[=(])"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
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


class Candidates:
    """Finds candidates in the segments of one reply."""

    def __init__(self, parser: BoundedParser, entry_point: str, *, cut: bool) -> None:
        self._parser = parser
        self._entry = entry_point
        self._cut = cut
        name = re.escape(entry_point)
        self._defining = re.compile(rf"\b(?:def|class)[ \t]++{name}\b|\b{name}\b[^\n=]{{0,200}}+=(?!=)")

    def program(self, text: str) -> Iterator[Candidate]:
        """The text as one program."""
        return self._whole([(0, Segment(text=text, fenced=False, closed=False))])

    def ways(self, parts: Sequence[Segment], *, continued: bool) -> Iterator[Iterable[Candidate]]:
        """Ways to read the reply, the surest first."""
        named = [(number, part) for number, part in enumerate(parts) if self._defining.search(part.text)]
        plain = [(number, part) for number, part in named if not part.fenced]
        fenced = [(number, part) for number, part in named if part.fenced and part.language is not Language.OTHER]
        foreign = [(number, part) for number, part in named if part.language is Language.OTHER]
        if continued:
            first = [(number, part) for number, part in plain if number == 0]
            yield self._whole(first, "continuation")
            yield self._found(first, "continuation")
        yield self._whole([*plain, *fenced])
        yield self._found(fenced, "fenced")
        yield self._found(plain, "unfenced")
        yield self._whole(foreign, "foreign-fence")
        yield self._found([(number, replace(part, text=at_prompts(part.text))) for number, part in named], "prompts")
        lines = [(number, replace(part, text=within_lines(part.text, self._entry))) for number, part in plain]
        yield self._found(lines, "unfenced")
        yield self._unparsed([*plain, *fenced])

    def _whole(self, parts: _Numbered, strategy: str | None = None) -> Iterator[Candidate]:
        """Segments that parse as they are."""
        for number, part in sorted(parts, key=lambda numbered: numbered[0], reverse=True):
            for code in self._spellings(part.text):
                tree = self._parser.tree(code)
                if tree is not None and defines(tree, self._entry):
                    kind = strategy or ("fenced" if part.fenced or part.closed else "program")
                    notes = ["the block is marked as another language"] if part.language is Language.OTHER else []
                    shell = part.text.count("\n") - code.count("\n")
                    notes += [_left_out(shell)] if shell else []
                    yield self._candidate(part, number, code, tree, strategy=kind, notes=tuple(notes))
                    break

    def _spellings(self, text: str) -> Iterator[str]:
        """The text; moved to the first column; and without lines for a shell or a notebook."""
        yield text
        moved = without_margin(text)
        if moved != text:
            yield moved
        program = without_shell_lines(moved)
        if program != moved:
            yield program

    def _found(self, parts: _Numbered, strategy: str) -> Iterator[Candidate]:
        """Code among other text."""
        for number, part in reversed(parts):
            if len(part.text) > LONGEST_PARSED and begins_with_code(part.text):
                continue  # a long program, of which a search would give pieces only
            region = code_in(part.text, self._parser)
            tree = self._parser.tree(region.code) if region else None
            if region is None or tree is None or not defines(tree, self._entry):
                continue
            notes = (_left_out(region.dropped),) if region.dropped else ()
            yield self._candidate(part, number, region.code, tree, strategy=strategy, rest=region.rest, notes=notes)

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
    ) -> Candidate:
        complete = True
        if self._cut and not part.closed:
            code, tree, rest = self._without_unfinished(code, tree, rest)
            complete = self._is_complete(code, tree, rest)
        return Candidate(
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
        finished = _goes_on(code, last.end_lineno or 0) or (code.endswith("\n") and isinstance(last, _ONE_LINE))
        if rest.strip() or finished:
            return code, tree, rest
        lines = code.split("\n")
        start = first_line(last) - 1
        shorter = "\n".join(lines[:start])
        shorter_tree = self._parser.tree(shorter)
        if shorter_tree is None:  # it shares its line with another one
            return code, tree, rest
        return shorter, shorter_tree, "\n".join(lines[start:])

    def _is_complete(self, code: str, tree: ast.Module, rest: str) -> bool:
        """Whether the definition ends before the code or the rest does, and the rest begins nothing that it needs."""
        if not defines(tree, self._entry):
            return False
        if not rest.strip() and not _goes_on(code, definition_end(tree, self._entry)):
            return False
        begun = [name for match in _BEGUN.finditer(rest) for name in match.groups() if name]
        missing = select([Block(code=code, tree=tree)], self._entry).missing
        return not any(
            name == other or (rest.endswith(other) and name.startswith(other)) for name in missing for other in begun
        )

    def _unparsed(self, parts: _Numbered) -> Iterator[Candidate]:
        """Text that names the entry point as definitions do, although it does not parse here."""
        for number, part in reversed(parts):
            code = part.text if part.fenced else self._from_first_code(part.text)
            if code and self._parser.tree(code) is None:
                long = len(code) > LONGEST_PARSED
                yield Candidate(
                    code=code,
                    tree=None,
                    strategy=UNPARSED,
                    number=number,
                    complete=part.closed,
                    standing=standing(part.words, code),
                    notes=("the code is too long to be parsed and is taken as it stands" if long else DOES_NOT_PARSE,),
                )

    def _from_first_code(self, text: str) -> str:
        """The text from its first line of code on, if it defines the entry point in the first column."""
        if begins_with_code(text):
            return text
        if not re.search(rf"^(?:async[ ]++)?(?:def|class)[ ]++{re.escape(self._entry)}\b", text, re.MULTILINE):
            return ""
        first = _DEFINITION_START.search(text)
        return text[first.start() :] if first else ""


def begins_with_code(text: str) -> bool:
    """Whether the first word of a text is one of code rather than of prose."""
    return _CODE_START.match(text) is not None


def _left_out(lines: int) -> str:
    return f"lines that are no Python were left out: {lines}"


def _goes_on(code: str, line: int) -> bool:
    """Whether anything stands in the first column below a line."""
    return any(text and not text[0].isspace() for text in code.split("\n")[line:])
