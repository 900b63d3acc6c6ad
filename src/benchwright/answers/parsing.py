"""Source text to a syntax tree, without ever running it or letting a warning through."""

import ast
import warnings


class ParseFailure(Exception):
    """The text is not Python that this host can parse.  Handled by the callers in this package."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """Number of the line the parser names, from 1; None when it names none."""


def parse(code: str) -> ast.Module:
    """The syntax tree of a module; raises `ParseFailure` whatever the reason that there is none."""
    with warnings.catch_warnings():
        # Invalid escapes such as "\d" warn while the tree is built; they are the answer's business.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        # ValueError: NUL bytes before Python 3.12, lone surrogates; the other two: nesting beyond the parser.
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = error.lineno if isinstance(error, SyntaxError) else None
            raise ParseFailure(f"{type(error).__name__}: {error}", line=line) from error


class BoundedParser:
    """Parses pieces of one reply until a number of characters is used up; the same piece is parsed once.

    CPython parses at up to 2 µs per character, so the number bounds the time that a reply can take.
    """

    def __init__(self, characters: int) -> None:
        self.remaining = characters
        """Characters that may still be parsed."""
        self._known: dict[str, ast.Module | ParseFailure] = {}

    def tree(self, code: str) -> ast.Module | None:
        """The syntax tree, or None when there is none or the characters are used up."""
        outcome = self._outcome(code)
        return outcome if isinstance(outcome, ast.Module) else None

    def failing_line(self, code: str) -> int | None:
        """Line at which the code stops being Python, as the parser says; None when it does not say."""
        outcome = self._outcome(code)
        return outcome.line if isinstance(outcome, ParseFailure) else None

    def _outcome(self, code: str) -> ast.Module | ParseFailure:
        known = self._known.get(code)
        if known is not None:
            return known
        if len(code) > self.remaining:
            return ParseFailure("there is more text than is parsed")
        self.remaining -= len(code)
        outcome: ast.Module | ParseFailure
        try:
            outcome = parse(code)
        except ParseFailure as failure:
            outcome = failure
        self._known[code] = outcome
        return outcome
