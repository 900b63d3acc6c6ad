"""Facts about which names of its module a statement touches."""

import ast
import builtins
import symtable
import sys

import pytest
from extraction_programs import PROGRAMS, Program

from benchwright.answers.scopes import Names, names_of


def names(code: str) -> Names:
    (statement,) = ast.parse(code).body
    return names_of(statement)


@pytest.mark.parametrize(
    ("code", "binds", "needs"),
    [
        ("x = y", "x", "y"),
        ("x: int = y", "x", "int y"),
        ("x: Later", "", "Later"),
        ("x: 'Later | None' = 1", "x", "Later None"),
        ("x += 1", "x", "x"),
        ("x.a = y", "", "x y"),
        ("x[i] = y", "", "x i y"),
        ("(a, [b, *c]), d.e = z", "a b c", "d z"),
        ("del x", "x", ""),
        ("import a.b as c, d.e", "c d", ""),
        ("from a import b as c, d", "c d", ""),
        ("for i in xs: y = i", "i y", "xs i"),
        ("with a as b, c: d", "b", "a c d"),
        ("try:\n    a\nexcept B as e:\n    f = e", "e f", "a B e"),
        ("if (a := b): pass", "a", "b"),
        ("[x for x in xs if (last := x)]", "last", "xs x"),
        ("{k: v for k, v in d for w in v}", "", "d"),
        ("x = [y for y in y]", "x", "y"),
        ("def f(a, *b, c=d, **e): return a, b, c, e, g", "f", "d g"),
        ("def f(a: A, b: 'B') -> C: pass", "f", "A B C"),
        ("@deco(x)\ndef f(): pass", "f", "deco x"),
        ("async def f():\n    async with a as b:\n        return await b", "f", "a"),
        ("def f():\n    global x\n    x = 1", "f", "x"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = y\n    return g", "f", "y"),
        ("def f():\n    x = 1\n    class A:\n        z = x\n        def m(self): return z\n    return A", "f", "z"),
        ("def f():\n    import os\n    return os, sys", "f", "sys"),
        ("def f():\n    for i in range(3): pass\n    return i", "f", "range"),
        ("class A(B, metaclass=C):\n    d = e\n    def f(self): return d", "A", "B C e d"),
        ("class A:\n    x = x", "A", "x"),
        ("f = lambda a, b=c: a + b + d", "f", "c d"),
        ("match x:\n    case {'a': A(b=c), **d} | [*e]: f", "c d e", "x A f"),
        ("global x\n", "", "x"),
        ("print(f'{a!r:>{b}} {{c}}')", "", "print a b"),
    ],
)
def test_names_are_bound_and_needed_as_python_scopes_them(code: str, binds: str, needs: str) -> None:
    """Parameters, locals, class bodies, comprehensions and patterns are followed."""
    found = names(code)
    assert found.binds == set(binds.split())
    assert found.needs == set(needs.split())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    ("code", "binds", "needs"),
    [
        ("type Pair[T] = tuple[T, Other]", "Pair", "tuple Other"),
        ("def f[T: Bound](x: T) -> Other: return x", "f", "T Bound Other"),
        ("class A[T](Base): x = y", "A", "Base y"),
    ],
)
def test_type_parameters_are_names_of_their_own(code: str, binds: str, needs: str) -> None:
    """Type aliases and parameters of types are followed; a parameter in an annotation counts as needed too."""
    found = names(code)
    assert found.binds == set(binds.split())
    assert found.needs == set(needs.split())


@pytest.mark.parametrize(
    ("code", "eager"),
    [
        ("def f(a=b): return c", "b"),
        ("class A(B):\n    x = c\n    def f(self): return d", "B c"),
        ("x = [y for y in z]", "z"),
        ("f = lambda: a", ""),
        ("@d\nclass A: pass", "d"),
    ],
)
def test_what_is_executed_at_once_is_told_from_what_waits(code: str, eager: str) -> None:
    """Defaults, decorators, bases and class bodies are executed with their statement, function bodies are not."""
    assert names(code).eager == set(eager.split())


def test_changes_and_calls_are_told_by_where_they_happen() -> None:
    """Stores and ignored calls count as changes, of the statement itself or of functions that it defines."""
    found = names("a.b[0].c = d.e(f)")
    assert (found.changes, found.calls, found.called) == ({"a"}, {"d"}, {"e"})
    found = names("a.b().add(c)")
    assert (found.changes, found.passed) == ({"a"}, {"c"})
    found = names("def f():\n    global n\n    n = 1\n    xs.append(n)\n    own = []\n    own.append(2)\n    helper()")
    assert (found.later_binds, found.later_changes, found.changes) == ({"n"}, {"xs"}, set())
    assert found.later_called == {"append", "helper"}
    assert names("@registry.add(1)\ndef f(): pass").changes == {"registry"}
    assert names("class A(Base): pass").changes == {"Base"}
    assert names("x = __import__('__main__')").texts == {"__main__"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_needed_names_agree_with_the_compilers_own_table(program: Program) -> None:
    """In real programs the names needed of the module are those that Python's symbol table calls global."""
    text = program.text
    expected: set[str] = set()
    pending = [symtable.symtable(text, "answer.py", "exec")]
    while pending:
        table = pending.pop()
        pending.extend(table.get_children())
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
                expected.add(symbol.get_name())
    found = set().union(*(names_of(statement).needs for statement in ast.parse(text).body))
    assert found - set(dir(builtins)) == expected - set(dir(builtins))


def test_expressions_nested_beyond_recursion_are_read() -> None:
    """The walk does not recurse, so that no tree the parser gives is too deep for it."""
    code = "x = " + "not " * 900 + "y"
    assert names(code).needs == {"y"}
