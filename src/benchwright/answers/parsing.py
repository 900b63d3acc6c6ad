"""Source text to a syntax tree, without ever running it or letting a warning through."""

import ast
import warnings


class ParseFailure(Exception):
    """The text is not Python that this host can parse.  Handled by the callers in this package."""


def parse(code: str) -> ast.Module:
    """The syntax tree of a module; raises `ParseFailure` whatever the reason that there is none."""
    with warnings.catch_warnings():
        # Invalid escapes such as "\d" warn while the tree is built; they are the answer's business.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        # ValueError: NUL bytes before Python 3.12, lone surrogates; the other two: nesting beyond the parser.
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ParseFailure(f"{type(error).__name__}: {error}") from error


MOST_PARSED = 250_000
"""Characters parsed for one reply, all attempts together: CPython takes up to 2 µs for each, so this bounds the time,
and a real reply needs a tenth of it."""

LONGEST_PARSED = 60_000
"""Longest text that is parsed in one piece; the longest of 2,000 real answers has 6,800 characters."""


class BoundedParser:
    """Parses pieces of one reply, each once, within `MOST_PARSED` and `LONGEST_PARSED`."""

    def __init__(self) -> None:
        self.remaining = MOST_PARSED
        """Characters that may still be parsed."""
        self._known: dict[str, ast.Module | None] = {}

    def tree(self, code: str) -> ast.Module | None:
        """The syntax tree, or None when there is none or the text is too long."""
        if len(code) > LONGEST_PARSED:
            return None
        if code not in self._known:
            if len(code) > self.remaining:
                return None
            self.remaining -= len(code)
            try:
                self._known[code] = parse(code)
            except ParseFailure:
                self._known[code] = None
        return self._known[code]
