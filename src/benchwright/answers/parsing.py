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
