"""Sabotage: required tests that are made to fail, for the run that must not pass.

A run of tests that seems right is made once more with the hidden test files sabotaged.  A required test that passes
there, and fails there with the reference's patch, was not really run: its result was forged.

Where a test compares something with a literal, another literal is put in its place: what that something is must then
really have been looked at, by an assertion that really asserts, and nothing shows that the test is another one.  In
other tests a statement that does not hold is put at the head, or at the end.  Both are done in the text, at positions
that the syntax tree gives; everything else of the file stays as it is, and lines keep their numbers wherever the
language allows it.
"""

import ast
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from benchwright.answers.parsing import ParseFailure, parse

Function = ast.FunctionDef | ast.AsyncFunctionDef

_EXPECTING = frozenset(("expectedfailure", "xfail", "raises"))
"""Last words of decorators that turn a failure into a success: unittest's, pytest's and SymPy's, nose's."""
_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
"""Statements that cannot follow another one on its line."""
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DJANGO_ID = re.compile(r"(\S+) \((\S+)\)")


def sabotage(
    source: str, *, path: str, required: Collection[str], runner: str, number: int, anywhere: bool = False
) -> tuple[str, frozenset[str]]:
    """Make every test function fail that a required id refers to.

    Args:
        source: A test file.
        path: Its path, relative to the repository.
        required: Test ids as the benchmark's log parser spells them, cut ones and docstrings included.
        runner: ``pytest``, ``django`` (or ``unittest``) or ``sympy``: how ids refer to functions.
        number: Seed of what literals and statements say.
        anywhere: Whether a statement may also stand at the end of a test, which then must have run to its end.

    Returns:
        The new source, and those of the ids all of whose functions in this file were sabotaged.  Left out, and left as
        they are, are functions with a decorator that expects a failure on every machine, and generators, whose body
        does not run when they are called.  A file that does not parse is returned as it came, with no ids.

    Raises ``KeyError`` for an unknown runner.
    """
    functions_of = _RUNNERS[runner]
    mark = "\ufeff" if source.startswith("\ufeff") else ""
    try:
        tree = parse(source.removeprefix("\ufeff"))
    except ParseFailure:
        return source, frozenset()
    file = _TestFile.of(tree, path)
    meant = {id: functions_of(file, id) for id in required}
    sabotaged = frozenset(id for id, functions in meant.items() if functions and all(map(_fails, functions)))
    chosen = {function.node.lineno: function.node for id in sabotaged for function in meant[id]}
    statements = _Statements(random.Random(number))
    text = _sabotaged(
        source.removeprefix("\ufeff"), [chosen[line] for line in sorted(chosen)], statements, anywhere=anywhere
    )
    return mark + text, sabotaged


@dataclass(frozen=True, slots=True)
class _Test:
    """One function of a test file that may be a test."""

    node: Function
    expecting: bool
    """Whether it or its class has a decorator that expects a failure."""


@dataclass(slots=True)
class _Class:
    """One class of a test file."""

    bases: tuple[str, ...]
    methods: dict[str, list[_Test]] = field(default_factory=dict)


@dataclass(slots=True)
class _TestFile:
    """The functions and classes of a file by their names; a name that is given twice has all its functions."""

    path: str
    functions: dict[str, list[_Test]] = field(default_factory=dict)
    classes: dict[str, _Class] = field(default_factory=dict)
    """By qualified name."""
    described: dict[str, list[_Test]] = field(default_factory=dict)
    """Test methods by the first lines of their docstrings."""

    @classmethod
    def of(cls, tree: ast.Module, path: str) -> "_TestFile":
        file = cls(path)
        file._read(tree.body, "", file.functions, expecting=False)
        return file

    def _read(
        self, body: Sequence[ast.stmt], prefix: str, functions: dict[str, list[_Test]], *, expecting: bool
    ) -> None:
        for node in _definitions(body):
            expected = expecting or any(map(_expects_failure, node.decorator_list))
            if isinstance(node, ast.ClassDef):
                name = prefix + node.name
                bases = tuple(ast.unparse(base) for base in node.bases)
                here = self.classes[name] = _Class(bases)
                self._read(node.body, f"{name}.", here.methods, expecting=expected)
            else:
                test = _Test(node, expected)
                functions.setdefault(node.name, []).append(test)
                if prefix and node.name.startswith("test"):
                    for line in _first_lines(node):
                        self.described.setdefault(line, []).append(test)

    def methods(self, qualified: str, name: str) -> list[_Test]:
        """The functions behind a method, its own class's or else those of the first base in this file that has it."""
        waiting, seen = [qualified], set[str]()
        while waiting:
            here = waiting.pop(0)
            if here in seen or here not in self.classes:
                continue
            seen.add(here)
            if name in self.classes[here].methods:
                return self.classes[here].methods[name]
            waiting += self.classes[here].bases
        return []


def _definitions(body: Iterable[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """The functions and classes of a body, those included that stand under a condition."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, name, ()))
            for handler in getattr(node, "handlers", ()):
                yield from _definitions(handler.body)


def _expects_failure(decorator: ast.expr) -> bool:
    """Whether a decorator makes a success of a failure whatever the machine; conditions are left to the control run."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")).lower()
    conditional = isinstance(decorator, ast.Call) and (
        bool(decorator.args) or any(keyword.arg == "condition" for keyword in decorator.keywords)
    )
    return name in _EXPECTING and not (name == "xfail" and conditional)


def _fails(function: _Test) -> bool:
    """Whether a failing statement at its head makes the test fail."""
    return not function.expecting and not _is_generator(function.node)


def _is_generator(function: Function) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function))


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes defined in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _by_node_id(file: _TestFile, id: str) -> list[_Test]:
    """``path::Class::test[parameters``; the parameters may be cut, and old pytest puts ``()`` after a class."""
    path, *names = (name for name in id.partition("[")[0].split("::") if name != "()")
    if not names or not path or not f"/{file.path}".endswith(f"/{path}"):
        return []
    *classes, name = names
    return file.methods(".".join(classes), name) if classes else file.functions.get(name, [])


def _by_test_case(file: _TestFile, id: str) -> list[_Test]:
    """``method (module.Class)``, with the method once more after the class from Python 3.11 on, or a docstring."""
    found = _DJANGO_ID.fullmatch(id)
    if found is not None:
        method, place = found.groups()
        for dotted in (place, place.removesuffix(f".{method}")):
            for qualified in file.classes:
                module = dotted.removesuffix(f".{qualified}")
                if module != dotted and _is_module(file.path, module):
                    return file.methods(qualified, method)
    return file.described.get(id, [])


def _is_module(path: str, module: str) -> bool:
    dotted = "." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return dotted.endswith(f".{module}")


def _first_lines(function: Function) -> set[str]:
    """What a verbose log calls a test with a docstring, and what the log parser makes of it."""
    text = ast.get_docstring(function, clean=False)
    if text is None:
        return set()
    lines = (text.split("\n")[0].strip(), text.strip().split("\n")[0].strip())
    return {name for line in lines for name in (line, line.split(" ... ")[0]) if name}


def _by_function(file: _TestFile, id: str) -> list[_Test]:
    """A bare function name, or one behind its file's path and one or two colons."""
    path, _, name = id.rpartition(":")
    path = path.removesuffix(":")
    return file.functions.get(name, []) if not path or f"/{file.path}".endswith(f"/{path}") else []


_RUNNERS: dict[str, Callable[[_TestFile, str], list[_Test]]] = {
    "pytest": _by_node_id,
    "django": _by_test_case,
    "unittest": _by_test_case,
    "sympy": _by_function,
}


class _Statements:
    """Ordinary-looking assertions that do not hold, whatever a test file has made of the names in them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def next(self) -> str:
        return self._chance.choice((self._sum, self._item, self._count, self._letters, self._entry))()

    def at_end(self) -> bool:
        """Whether the next one goes to the end."""
        return self._chance.random() < 0.5

    def other_than(self, value: object) -> str:
        """A literal that no second look at the same thing makes right."""
        if isinstance(value, str):
            return repr(value + self._word())
        assert isinstance(value, int)
        return repr(value + self._chance.randrange(1000, 100_000))

    def _sum(self) -> str:
        one, two = self._chance.randrange(10, 500), self._chance.randrange(10, 500)
        return f"assert int({one}) + {two} == {one + two + self._offset()}"

    def _item(self) -> str:
        items = [self._chance.randrange(100) for _ in range(4)]
        index = self._chance.randrange(4)
        return f"assert list({items})[{index}] == {items[index] + self._offset()}"

    def _count(self) -> str:
        word = self._word()
        letter = self._chance.choice(word)
        return f'assert str("{word}").count("{letter}") == {word.count(letter) + self._offset()}'

    def _letters(self) -> str:
        word = self._word()
        return f'assert len("{word}") == {len(word) + self._offset()}'

    def _entry(self) -> str:
        key, value = self._word(), self._chance.randrange(100)
        return f"assert dict({key}={value})[{key!r}] == {value + self._offset()}"

    def _offset(self) -> int:
        return self._chance.randrange(1, 20)

    def _word(self) -> str:
        return "".join(self._chance.choice("abcdefghiklmnoprstuvw") for _ in range(self._chance.randrange(4, 9)))


def _sabotaged(source: str, functions: Sequence[Function], statements: _Statements, *, anywhere: bool) -> str:
    lines: list[bytes] = _LINE.findall(source.encode())  # the tree counts bytes of UTF-8
    for function in reversed(functions):
        literal = _expected_literal(function)
        if literal is not None:
            _replace(lines, literal, statements.other_than(literal.value).encode())
        elif anywhere and statements.at_end() and _runs_to_its_end(function, lines):
            _append(lines, function, statements.next().encode())
        else:
            _insert(lines, function, statements.next().encode())
    return b"".join(lines).decode()


def _expected_literal(function: Function) -> ast.Constant | None:
    """The first number or text that the test, if it gets to its end, has compared for equality with something else."""
    if any(isinstance(node, ast.Return) for node in _own_nodes(function)):
        return None  # it may leave before it comes to any assertion
    for statement in function.body:
        sides = _compared(statement)
        literals = [side for side in sides if isinstance(side, ast.Constant) and type(side.value) in (int, str)]
        if len(literals) == 1 and literals[0].lineno == literals[0].end_lineno:
            return literals[0]
    return None


def _runs_to_its_end(function: Function, lines: Sequence[bytes]) -> bool:
    """Whether a test that passes has come to its last line, and a further line can be put behind that."""
    last = function.body[-1]
    begun = lines[last.lineno - 1][: last.col_offset].strip()
    leaves = any(isinstance(node, (ast.Return, ast.Raise)) for node in _own_nodes(function))
    return not leaves and not begun and not isinstance(last, ast.Pass)


def _append(lines: list[bytes], function: Function, statement: bytes) -> None:
    """Put a statement on a line of its own behind the last one of a function."""
    last = function.body[-1]
    assert last.end_lineno is not None
    first_line = lines[last.lineno - 1]
    row = last.end_lineno - 1
    ending = lines[row][len(lines[row].rstrip(b"\r\n")) :]
    indent = first_line[: len(first_line) - len(first_line.lstrip())]
    lines[row] = lines[row].rstrip(b"\r\n") + (ending or b"\n") + indent + statement + ending


def _compared(statement: ast.stmt) -> Sequence[ast.expr]:
    """Both sides of an assertion of equality; nothing for another statement."""
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        compare = statement.test
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Eq):
            return (compare.left, compare.comparators[0])
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("assertEqual", "assertEquals"):
            return statement.value.args[:2]
    return ()


def _replace(lines: list[bytes], literal: ast.Constant, text: bytes) -> None:
    row = literal.lineno - 1
    lines[row] = lines[row][: literal.col_offset] + text + lines[row][literal.end_col_offset :]


def _insert(lines: list[bytes], function: Function, statement: bytes) -> None:
    """Put a statement at the head of a function, behind its docstring."""
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        assert first.end_lineno is not None and first.end_col_offset is not None
        row, column, text = first.end_lineno - 1, first.end_col_offset, b"; " + statement
    elif isinstance(first, _COMPOUND):
        decorators = getattr(first, "decorator_list", [])
        row = min((first.lineno, *(decorator.lineno for decorator in decorators))) - 1
        column, line = 0, lines[row]
        indent = line[: len(line) - len(line.lstrip())]
        ending = line[len(line.rstrip(b"\r\n")) :] or b"\n"
        text = indent + statement + ending
    else:
        row, column, text = first.lineno - 1, first.col_offset, statement + b"; "
    lines[row] = lines[row][:column] + text + lines[row][column:]
