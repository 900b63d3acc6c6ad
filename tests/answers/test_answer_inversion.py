"""Sabotage of test files: exactly the named tests fail, everything else stays as it was."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.answers.inversion import sabotage
from benchwright.answers.parsing import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sabotaged(
    source: str, *required: str, path: str = "tests/test_a.py", runner: str = "pytest"
) -> tuple[str, set[str]]:
    """The new source and the ids, checked to hold nothing but what was asked for."""
    text, ids = sabotage(source, path=path, required=required, runner=runner, number=3)
    assert ids <= set(required)
    assert ast.dump(without_statements(text, source)) == ast.dump(parse_module(source))
    return text, set(ids)


def parse_module(source: str) -> ast.Module:
    """The tree of a source, a byte-order mark left aside."""
    return parse(source.removeprefix("\ufeff"))


def functions(tree: ast.Module) -> list[Function]:
    """All functions in a fixed order."""
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def changed_functions(text: str, source: str) -> list[tuple[Function, Function]]:
    """Those functions, new and old, that have one statement more."""
    pairs = zip(functions(parse_module(text)), functions(parse_module(source)), strict=True)
    return [(new, old) for new, old in pairs if len(new.body) != len(old.body)]


def without_statements(text: str, source: str) -> ast.Module:
    """The new tree with the first statement behind the docstring taken out of every changed function."""
    tree = parse_module(text)
    for new, old in zip(functions(tree), functions(parse_module(source)), strict=True):
        if len(new.body) != len(old.body):
            statement = new.body.pop(0 if ast.get_docstring(old, clean=False) is None else 1)
            assert isinstance(statement, ast.Assert)
            with pytest.raises(AssertionError):
                exec(compile(ast.Module(body=[statement], type_ignores=[]), "statement", "exec"), {})
    return tree


def names_of_changed(text: str, source: str) -> list[str]:
    """Names of the sabotaged functions, sorted."""
    return sorted(new.name for new, _ in changed_functions(text, source))


PLAIN = '''\
import pytest

def test_one():
    """Describes itself."""
    with pytest.raises(ZeroDivisionError):
        1 / 0

@pytest.mark.parametrize("a, b", [(1, 2), ("x y", "z")])
def test_two(a, b):
    assert a

def test_three(): pass

class TestClass:
    def test_one(self):
        for _ in ():
            pass

    class TestInner:
        async def test_one(self):
            x = (
                1
            )

class TestChild(TestClass):
    pass

def helper():
    def test_four():
        pass
'''


@pytest.mark.parametrize(
    ("id", "count"),
    [
        ("tests/test_a.py::test_one", 1),
        ("tests/test_a.py::test_two[1-2]", 1),
        ("tests/test_a.py::test_two[x", 1),
        ("tests/test_a.py::test_three", 1),
        ("tests/test_a.py::TestClass::test_one", 1),
        ("tests/test_a.py::TestClass::()::test_one", 1),
        ("tests/test_a.py::TestClass::TestInner::test_one", 1),
        ("tests/test_a.py::TestChild::test_one", 1),
        ("test_a.py::test_one", 1),
        ("tests/test_a.py::test_four", 0),
        ("tests/test_a.py::TestClass::test_two", 0),
        ("tests/test_b.py::test_one", 0),
        ("ests/test_a.py::test_one", 0),
        ("tests/test_a.py", 0),
        ("[100%]", 0),
        ("", 0),
    ],
)
def test_pytest_ids(id: str, count: int) -> None:
    """Node ids, with parameters whole or cut, old and new spellings of classes, inherited methods, other roots."""
    text, ids = sabotaged(PLAIN, id)
    assert ids == ({id} if count else set())
    assert len(changed_functions(text, PLAIN)) == count


DJANGO = '''\
from unittest import TestCase, expectedFailure

class Base:
    def test_inherited(self):
        pass

class FormTests(Base, TestCase):
    def test_plain(self):
        x = 1

    def test_described(self):
        """
        Refs #1 -- a form's ... data.
        More words.
        """

    def test_same_words(self):
        "Regression for #2"

    def test_the_same_words(self):
        "Regression for #2"

    def test_words_of_an_expected_failure(self):
        "Regression for #3"

    @expectedFailure
    def test_expected(self):
        "Regression for #3"

    def helper(self):
        "Not a test."
'''


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("test_plain (forms_tests.test_forms.FormTests)", ["test_plain"]),
        ("test_plain (tests.forms_tests.test_forms.FormTests)", ["test_plain"]),
        ("test_plain (forms_tests.test_forms.FormTests.test_plain)", ["test_plain"]),
        ("test_inherited (forms_tests.test_forms.FormTests)", ["test_inherited"]),
        ("Refs #1 -- a form's ... data.", ["test_described"]),
        ("Refs #1 -- a form's", ["test_described"]),
        ("Regression for #2", ["test_same_words", "test_the_same_words"]),
        ("Regression for #3", []),
        ("test_expected (forms_tests.test_forms.FormTests)", []),
        ("test_plain (other_tests.test_forms.FormTests)", []),
        ("test_plain (forms_tests.test_forms.OtherTests)", []),
        ("test_absent (forms_tests.test_forms.FormTests)", []),
        ("test_plain", []),
        ("Not a test.", []),
        ("partial(func, *args, **keywords) - new function with partial application", []),
    ],
)
@pytest.mark.parametrize("runner", ["django", "unittest"])
def test_unittest_ids(runner: str, id: str, names: list[str]) -> None:
    """Old and new spellings, modules relative to the tests' folder, docstrings that may belong to several tests."""
    text, ids = sabotaged(DJANGO, id, path="tests/forms_tests/test_forms.py", runner=runner)
    assert ids == ({id} if names else set())
    assert names_of_changed(text, DJANGO) == names


def test_tests_in_the_init_file_of_a_package() -> None:
    """The package itself is their module."""
    source = "from unittest import TestCase\nclass A(TestCase):\n    def test_a(self): pass\n"
    _, ids = sabotaged(source, "test_a (forms_tests.A)", path="tests/forms_tests/__init__.py", runner="django")
    assert ids == {"test_a (forms_tests.A)"}


SYMPY = """\
from sympy.testing.pytest import XFAIL, slow

def test_coth():
    assert 1

@XFAIL
def test_expected():
    assert 0

@slow
def test_slow():
    assert 1

def test_generator():
    yield lambda: None
"""


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("test_coth", ["test_coth"]),
        ("sympy/functions/tests/test_hyperbolic.py::test_coth", ["test_coth"]),
        ("sympy/functions/tests/test_hyperbolic.py:test_coth", ["test_coth"]),
        ("sympy/core/tests/test_hyperbolic.py:test_coth", []),
        ("test_slow", ["test_slow"]),
        ("test_expected", []),
        ("test_generator", []),
    ],
)
def test_sympy_ids(id: str, names: list[str]) -> None:
    """Bare names and both spellings with a path."""
    text, ids = sabotaged(SYMPY, id, path="sympy/functions/tests/test_hyperbolic.py", runner="sympy")
    assert ids == ({id} if names else set())
    assert names_of_changed(text, SYMPY) == names


@pytest.mark.parametrize(
    ("decorator", "changed"),
    [
        ("unittest.expectedFailure", False),
        ("pytest.mark.xfail", False),
        ("pytest.mark.xfail(reason='later', strict=True)", False),
        ("pytest.mark.xfail(os.name != 'posix', reason='other paths')", True),
        ("pytest.mark.xfail(condition=os.name != 'posix')", True),
        ("raises(ValueError)", False),
        ("pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.xfail)])", True),
        ("decorators[0]", True),
    ],
)
def test_expected_failures_are_left_out(decorator: str, changed: bool) -> None:
    """A test that is to fail would not fail by a failing statement; what depends on the machine is left to controls."""
    source = f"@{decorator}\ndef test_a(a):\n    pass\n"
    assert bool(sabotaged(source, "tests/test_a.py::test_a")[1]) == changed


def test_the_tests_of_a_class_that_is_expected_to_fail_are_left_out() -> None:
    """The class's decorator counts for its methods."""
    source = "@expectedFailure\nclass TestA:\n    def test_a(self):\n        pass\n"
    assert sabotaged(source, "tests/test_a.py::TestA::test_a") == (source, set())


@pytest.mark.parametrize(
    "source",
    ["print 'Python 2'\ndef test_a():\n    pass\n", "def test_a():\n\tpass\n        pass\n", "def test_a(): '\x00'\n"],
)
def test_what_does_not_parse_stays_as_it_is(source: str) -> None:
    """Nothing is claimed of a file that this Python cannot read."""
    assert sabotage(source, path="a.py", required=["a.py::test_a"], runner="pytest", number=1) == (source, frozenset())


def test_an_unknown_runner_is_the_callers_mistake() -> None:
    """There is no way to read its ids."""
    with pytest.raises(KeyError, match="nose"):
        sabotage("", path="a.py", required=(), runner="nose", number=1)


@pytest.mark.parametrize(
    "body",
    [
        "    pass",
        "    x = 1; y = 2",
        "    global g; g = 1",
        "    return [\n        1]",
        "    (1,\n 2)",
        '    """Words."""',
        '    """Words."""  # a remark',
        '    """Words."""; x = 1',
        '    """Ünïcode\n\n    words."""\n    if 1:\n        pass',
        '    ("in brackets" "\\n"\n     "and parts")\n    x = 1',
        "    'one' \\\n    'two'\n    pass",
        "    # first a remark\n    x = 'ünïcode'",
        "    é = 1; x = é",
    ],
)
def test_lines_keep_their_numbers(body: str) -> None:
    """A simple first statement or a docstring gets the statement on its own line."""
    source = f"def test_a():\n{body}\n\n\ndef test_b(): pass"
    text, ids = sabotaged(source, "tests/test_a.py::test_a")
    assert ids
    assert len(text.splitlines()) == len(source.splitlines())


@pytest.mark.parametrize(
    "body",
    [
        "    if 1:\n        pass",
        "    if 1: pass",
        "    # a remark\n    @decorator\n    @another\n    def inner(): pass",
        "    class Inner: pass",
        "\tfor x in ():\n\t\tpass",
        "    async with a: pass",
        "    match x:\n        case _: pass",
        "    try: pass\n    except* ValueError: pass",
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_compound_statements_get_a_line_before_them(body: str, ending: str) -> None:
    """The language allows nothing before them on their line; line ends are the file's."""
    source = f"async def test_a():\n{body}\n"
    source = source.replace("\n", ending) if ending else source.removesuffix("\n")
    text, ids = sabotaged(source, "tests/test_a.py::test_a")
    assert ids
    assert len(text.splitlines()) == len(source.splitlines()) + 1
    assert ("\r\n" in text) == ("\r\n" in source)
    assert text.count("\n") == text.count("\r\n") or "\r\n" not in text


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_other_bytes_of_the_file_stay(ending: str) -> None:
    """A byte-order mark, form feeds, trailing blanks and line ends are as before."""
    source = '\ufeff# -*- coding: utf-8 -*-\n\x0c\ndef test_a():   \n\tx = "\u2028"  \n\n'.replace("\n", ending)
    text, _ = sabotaged(source, "tests/test_a.py::test_a")
    before, after = source.split("x = ")
    assert text.startswith(before)
    assert text.endswith("x = " + after)


def test_definitions_under_conditions_are_found() -> None:
    """All functions of a name are sabotaged, whichever of them the machine defines."""
    source = textwrap.dedent(
        """
        try:
            import one
        except ImportError:
            def test_a(): pass
        else:
            if one:
                def test_a(): pass
        finally:
            with one:
                def test_a(): pass
        """
    )
    text, ids = sabotaged(source, "tests/test_a.py::test_a")
    assert ids
    assert len(changed_functions(text, source)) == 3


def test_classes_that_inherit_from_each_other_end() -> None:
    """A circle of bases, which Python would refuse, is no endless search."""
    source = "class A(B): pass\nclass B(A): pass\n"
    assert sabotaged(source, "tests/test_a.py::A::test_a") == (source, set())


def test_statements_depend_on_the_number_alone() -> None:
    """The same number gives the same file; another one, other statements."""
    required = ["tests/test_a.py::test_one", "tests/test_a.py::test_two", "tests/test_a.py::test_three"]

    def text(number: int) -> str:
        return sabotage(PLAIN, path="tests/test_a.py", required=required, runner="pytest", number=number)[0]

    assert text(1) == text(1)
    assert len({text(number) for number in range(20)}) == 20


SIMPLE = ("pass", "x = 1", "return", "assert 1 == 1", "x = '''a\nb'''", "(1,\n  2)", "é = 'ü'", "import os")
COMPOUND = (
    "if 1:\n{i}    pass",
    "with a:\n{i}    pass",
    "def inner():\n{i}    yield",
    "@d\n{i}class C: pass",
    "for x in (): pass",
)
DOCSTRINGS = ("", '"""Words."""', "'''Two\n\nlines.'''", "'é' 'ü'", '("""b"""\n)')
ENDS = ("\n", "\r\n")


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A test file of some functions and methods, and their node ids."""
    indent = draw(st.sampled_from(["    ", "\t", "  "]))
    parts, ids = [], []
    for number in range(draw(st.integers(1, 5))):
        in_class = draw(st.booleans())
        outer = indent if in_class else ""
        inner = outer + indent
        statements = [draw(st.sampled_from(DOCSTRINGS))]
        statements += draw(st.lists(st.sampled_from(SIMPLE + COMPOUND), min_size=1, max_size=3))
        body = "\n".join(inner + statement.replace("{i}", inner) for statement in statements if statement)
        lead = f"class Test{number}:\n" if in_class else ""
        decorator = draw(st.sampled_from(["", "@decorator\n", "@decorator(\n1)\n"]))
        word = draw(st.sampled_from(["def", "async def"]))
        decorated = "".join(outer + line + "\n" for line in decorator.splitlines())
        parts.append(f"{lead}{decorated}{outer}{word} test_{number}(a=(\n1)):  # remark\n{body}\n")
        ids.append(f"tests/test_a.py::Test{number}::test_{number}" if in_class else f"tests/test_a.py::test_{number}")
    return "\n".join(parts).replace("\n", draw(st.sampled_from(ENDS))), ids


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(sources(), st.data())
def test_exactly_the_named_functions_get_one_statement(case: tuple[str, list[str]], data: st.DataObject) -> None:
    """Whatever the shape of a file: it compiles, the named functions have a failing head, all else is unchanged."""
    source, ids = case
    named = data.draw(st.lists(st.sampled_from(ids), unique=True))
    text, found = sabotaged(source, *named)
    compile(text, "test_a.py", "exec")
    assert found == set(named)
    assert names_of_changed(text, source) == sorted(id.split("::")[-1] for id in named)


RUN = '''\
import unittest
import pytest


def test_one():
    """Words."""


@pytest.mark.parametrize("a", ["x y", "z"])
def test_two(a):
    if a:
        assert a


def test_three(tmp_path): assert tmp_path


class TestCase(unittest.TestCase):
    def test_one(self):
        self.assertTrue(True)

    def test_two(self): "Words."


class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_one(self):
        async with self.subTest_context():
            pass

    def subTest_context(self):
        import contextlib
        return contextlib.AsyncExitStack()
'''


def statuses(folder: Path, source: str) -> dict[str, str]:
    """What pytest says of each test."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_a.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-rA", "--tb=no", "-p", "no:cacheprovider", "test_a.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    lines = [line.split(" - ")[0].split(" ", 1) for line in done.stdout.splitlines()]
    return {words[1]: words[0] for words in lines if words[0] in ("PASSED", "FAILED", "ERROR")}


def test_sabotaged_tests_fail_and_others_pass(tmp_path: Path) -> None:
    """Run by pytest: of two named tests both fail, in all their parameters, and no other."""
    before = statuses(tmp_path, RUN)
    assert len(before) == 7
    assert set(before.values()) == {"PASSED"}
    for named in (
        ("test_one", "test_two"),
        ("test_three", "TestCase::test_one"),
        ("TestCase::test_two", "TestAsync::test_one"),
    ):
        text, ids = sabotaged(RUN, *(f"test_a.py::{name}" for name in named), path="test_a.py")
        assert len(ids) == 2
        failed = {id for id, status in statuses(tmp_path, text).items() if status == "FAILED"}
        assert failed == {id for id in before if id.partition("[")[0] in ids}


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("    assert volume() == 31\n", "    assert volume() == "),
        ("    assert 'a' == name()\n", "    assert 'a"),
        ("    box.assertEqual(name(), 'a', 'why')\n", "    box.assertEqual(name(), 'a"),
        ("    x = name()\n    assert x\n    assert x == 'é'; y = 1\n", "    assert x == 'é"),
    ],
)
def test_an_expected_literal_becomes_another(body: str, changed: str) -> None:
    """What is compared must then have been looked at, and nothing shows that the test is not the real one."""
    source = f"def test_it():\n{body}"
    text, ids = sabotage(source, path="t.py", required=["t.py::test_it"], runner="pytest", number=7)
    assert ids == {"t.py::test_it"}
    assert changed in text
    assert text != source
    assert text.count("assert") == source.count("assert")
    assert len(ast.parse(text).body[0].body) == len(ast.parse(source).body[0].body)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        "    if maybe():\n        return\n    assert volume() == 31\n",
        "    assert volume() != 31\n",
        "    assert volume() == -1\n",
        "    assert volume() == True\n",
        "    assert 1 == 1\n",
        "    for x in range(3):\n        assert x == 1\n",
    ],
)
def test_a_literal_that_may_not_decide_is_left(body: str) -> None:
    """The test gets a statement at its head instead."""
    text, ids = sabotage(f"def test_it():\n{body}", path="t.py", required=["t.py::test_it"], runner="pytest", number=7)
    assert ids == {"t.py::test_it"}
    assert text.count("assert") == body.count("assert") + 1


TAILS = """\
import pytest


def test_plain(tmp_path):
    value = tmp_path / "x"
    assert value
    with pytest.raises(ValueError):
        int("x")


class TestIt:
    def test_nested(self):
        def inner():
            return 1

        for part in (1, 2):
            assert inner() <= part  # a remark


def test_leaves():
    if test_plain:
        return
    assert False


def test_short(): assert test_plain


async def test_last():
    text = \'\'\'
two lines\'\'\'
    assert text"""


@pytest.mark.parametrize("number", range(12))
def test_statements_may_stand_at_the_end(number: int) -> None:
    """There each test has one statement more, first or last, and the last of them is reached by a run to the end."""
    names = ["test_plain", "TestIt::test_nested", "test_leaves", "test_short", "test_last"]
    required = [f"t.py::{name}" for name in names]
    text, ids = sabotage(TAILS, path="t.py", required=required, runner="pytest", number=number, anywhere=True)
    assert ids == set(required)
    changed = changed_functions(text, TAILS)
    assert len(changed) == len(names)
    for new, old in changed:
        inside = [ast.dump(node) for node in old.body]
        first, last = [ast.dump(node) for node in new.body[1:]], [ast.dump(node) for node in new.body[:-1]]
        assert inside in (first, last)
        if old.name in ("test_leaves", "test_short"):
            assert inside == first, "an end that need not be reached, or has no line of its own"


def test_some_statements_stand_at_the_end() -> None:
    """Which ones cannot be foreseen."""
    required = ["t.py::test_plain"]
    places = set()
    for number in range(30):
        text, _ = sabotage(TAILS, path="t.py", required=required, runner="pytest", number=number, anywhere=True)
        ((new, old),) = changed_functions(text, TAILS)
        places.add(ast.dump(new.body[0]) == ast.dump(old.body[0]))
    assert places == {True, False}
