"""Facts about reading strings, comments and lines of a text that need not parse."""

import ast
import io
import tokenize

import pytest
from extraction_programs import PROGRAMS, Program
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.answers.lexing import hidden, logical_lines, strings_of_code


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_logical_lines_are_those_of_pythons_own_tokenizer(program: Program) -> None:
    """In code that parses, a logical line begins where Python says so."""
    text = program.text
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    expected = {0}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in {tokenize.NEWLINE, tokenize.NL}:
            expected.add(lines[token.end[0] - 1] + token.end[1])
    inside = {
        lines[row]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
        for row in range(node.lineno, node.end_lineno or 0)
    }
    assert set(logical_lines(text)) == expected - inside


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = '@' # @\n@", "yyn"),
        ('"""\n@\n"""\n@', "yn"),
        ('"""\n@\n', "n"),
        ("'@\n'@'", "ny"),
        (r"'\'@'", "y"),
        (r'"""\"""@"""', "y"),
        ("don't\n@ it's", "n"),
        ("# '\n@ '", "n"),
        ("''@''", "n"),
        ("'''@'''", "y"),
        ("'a\\\n@'", "y"),
    ],
)
def test_what_is_within_strings_and_comments_is_hidden(text: str, found: str) -> None:
    """Offsets within strings that end and within comments are told from others."""
    offsets = [place for place, character in enumerate(text) if character == "@"]
    assert "".join("y" if offset in hidden(text, offsets) else "n" for offset in offsets) == found


def covered(text: str, *, cut: bool = False) -> str:
    offsets = [place for place, character in enumerate(text) if character == "@"]
    spans = strings_of_code(text, offsets, parses=parses, cut=cut)
    return "".join("y" if spans.cover(offset) else "n" for offset in offsets)


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('x = """\n@\n"""\n@', "yn"),
        ('Prose (as it were.\ndef f(\n    a\n):\n    """\n    @\n    """\n    return 1\n\nMore @', "yn"),
        ('   def f():\n       """\n   @\n       """\n       return 1\n   Prose', "y"),
        ('class A:\n    def f(self):\n        """@"""\n        x = (1,\n2)\n', "y"),
        ('x = """\n@\nThen y = """z\n@', "nn"),
        ('def f():\n    """Unfinished\n@\ndef g():\n    """Doc."""\n', "n"),
        ('print("""\n@\n""", end="")\n', "y"),
        ('He said """\n@\n"""', "n"),
        ("no quotes @", "n"),
    ],
)
def test_only_strings_of_statements_that_parse_cover(text: str, found: str) -> None:
    """A triple-quoted string counts when the statement around it parses, wherever it is indented."""
    assert covered(text) == found


def test_of_a_cut_text_a_docstring_need_not_end() -> None:
    """In a cut text the last docstring covers what is indented as far, and its function need not be complete."""
    assert covered('def f():\n    """\n    @\n', cut=True) == "y"
    assert covered('def f():\n    """\n@\n', cut=True) == "n"
    assert covered('def f():\n    """\n    @\n    """\n    x = "', cut=True) == "y"
    assert covered('def f():\n    """\n    @\n    """\n    x = "') == "n"


@given(st.text(alphabet="'\"\\\n#()[]{} @adefclas:", max_size=80), st.booleans())
@settings(deadline=None)
def test_any_text_is_survived(text: str, cut: bool) -> None:
    """No text makes the readers fail, and lines are found in order."""
    offsets = [place for place, character in enumerate(text) if character == "@"]
    assert hidden(text, offsets) <= set(offsets)
    assert logical_lines(text) == sorted(set(logical_lines(text)))
    covered(text, cut=cut)
