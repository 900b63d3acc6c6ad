"""From a test source to the plan: which tests must run, in unittest's order; nothing is executed."""

import ast
from collections.abc import Mapping

from benchwright.answers.parsing import ParseFailure, parse
from benchwright.core.errors import UsageError
from benchwright.core.execution import PlannedTest, TestPlan

#: The class BigCodeBench's tests are in; its harness loads this name and no other.
TEST_CLASS = "TestCases"

# Descriptors that are not callable on the class, so that unittest's loader passes over them.
_NOT_CALLABLE = frozenset({"property", "cached_property"})


def read_plan(test_source: str) -> TestPlan:
    """Read which tests a test source holds.

    The tests are those of the class ``TestCases``; without one, of the last class that derives from a
    ``TestCase``.  Methods inherited from classes in the same source count, in the way Python would resolve
    them; methods from classes outside it cannot be seen here.  Raises `UsageError` when the source does not
    parse or holds no test.
    """
    try:
        tree = parse(test_source)
    except ParseFailure as failure:
        raise UsageError(f"The test source is not valid Python ({failure}); correct the data row.") from failure
    classes = {node.name: node for node in _class_statements(tree)}
    test_class = _choose(classes)
    lineage = _resolution_order(test_class, classes)
    methods: dict[str, tuple[str, ...] | None] = {}
    for owner in reversed(lineage):
        methods.update(_test_attributes(owner, test_source))
    inherited = tuple(text for owner in lineage for text in _decorators(owner, test_source))
    tests = tuple(
        PlannedTest(id=f"{test_class.name}.{name}", decorators=inherited + decorators)
        for name, decorators in sorted(methods.items())
        if decorators is not None
    )
    if not tests:
        raise UsageError(f"The test class {test_class.name} holds no method whose name starts with 'test'.")
    return TestPlan(
        source=test_source,
        class_name=test_class.name,
        tests=tests,
        assertions=_assertions(tree),
        calls_own_tests=_calls_own_tests(tree),
        references=_references(tree),
        plain_bases=_has_plain_bases(test_class, _aliases(tree)),
    )


def _class_statements(tree: ast.Module) -> list[ast.ClassDef]:
    """Classes of the module in order, also those inside ``if``, ``try`` and ``with`` at its top level."""
    found: list[ast.ClassDef] = []
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.ClassDef):
            found.append(statement)
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            branches = [statement.body, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])]
            branches[1:1] = [handler.body for handler in getattr(statement, "handlers", [])]
            pending.extend(reversed([inner for branch in branches for inner in branch]))
    return found


def _choose(classes: dict[str, ast.ClassDef]) -> ast.ClassDef:
    if TEST_CLASS in classes:
        return classes[TEST_CLASS]
    derived = [node for node in classes.values() if _derives_from_testcase(node, classes, frozenset())]
    if not derived:
        raise UsageError(f"The test source has no class {TEST_CLASS} and no other that derives from unittest.TestCase.")
    return derived[-1]


def _derives_from_testcase(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str]) -> bool:
    if node.name in seen:
        return False
    for name in _base_names(node):
        if name in classes and name != node.name:
            if _derives_from_testcase(classes[name], classes, seen | {node.name}):
                return True
        elif name.endswith("TestCase"):
            return True
    return False


def _base_names(node: ast.ClassDef) -> list[str]:
    """Last part of each base's name; bases that are not plain names cannot be followed."""
    return [
        base.attr if isinstance(base, ast.Attribute) else base.id
        for base in node.bases
        if isinstance(base, (ast.Attribute, ast.Name))
    ]


def _resolution_order(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The classes of this source in method resolution order: empty stand-ins let Python itself compute it."""
    stand_ins: dict[str, type] = {}
    source_of: dict[type, ast.ClassDef] = {}

    def stand_in(current: ast.ClassDef, seen: frozenset[str]) -> type:
        if current.name not in stand_ins:
            bases = tuple(
                stand_in(classes[name], seen | {current.name})
                for name in _base_names(current)
                if name in classes and name not in seen | {current.name}
            )
            made = type(current.name, bases, {})
            stand_ins[current.name] = made
            source_of[made] = current
        return stand_ins[current.name]

    try:
        order = stand_in(node, frozenset()).__mro__
    except TypeError as error:
        raise UsageError(f"The base classes of {node.name} contradict each other ({error}).") from error
    return [source_of[member] for member in order if member in source_of]


def _test_attributes(owner: ast.ClassDef, source: str) -> dict[str, tuple[str, ...] | None]:
    """What a class body binds to names that start with ``test``: a test's decorators, or None for no test."""
    bound: dict[str, tuple[str, ...] | None] = {}
    for statement in owner.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bound[statement.name] = None if _is_property(statement) else _decorators(statement, source)
        elif isinstance(statement, ast.ClassDef):
            # Odd, but a class is callable: unittest's loader takes it for a test.
            bound[statement.name] = _decorators(statement, source)
        elif isinstance(statement, ast.Assign):
            value = statement.value
            decorators: tuple[str, ...] | None = () if isinstance(value, ast.Lambda) else None
            if isinstance(value, ast.Name):
                decorators = bound.get(value.id)
            bound.update({target.id: decorators for target in statement.targets if isinstance(target, ast.Name)})
        elif isinstance(statement, ast.Delete):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    bound.pop(target.id, None)
    return {name: decorators for name, decorators in bound.items() if name.startswith("test")}


def _is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in _NOT_CALLABLE
        for node in function.decorator_list
    )


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, source: str) -> tuple[str, ...]:
    return tuple(
        ast.get_source_segment(source, decorator) or ast.unparse(decorator) for decorator in node.decorator_list
    )


def _assertions(tree: ast.Module) -> tuple[str, ...]:
    """Names of the assertion methods the source calls on anything, sorted."""
    called = {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    return tuple(sorted(name for name in called if name == "fail" or name.startswith("assert")))


def _calls_own_tests(tree: ast.Module) -> bool:
    """Whether anything in the source refers to a test by ``something.test…``."""
    return any(isinstance(node, ast.Attribute) and node.attr.startswith("test") for node in ast.walk(tree))


def _has_plain_bases(test_class: ast.ClassDef, aliases: Mapping[str, str]) -> bool:
    """Whether ``unittest.TestCase``, by whatever name, is the only base, and nothing else makes the class."""
    bases = [_resolved(_dotted(base), aliases) for base in test_class.bases]
    return bases == ["unittest.TestCase"] and not test_class.keywords and not test_class.decorator_list


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What the names bound by the source's imports stand for."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                aliases[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            aliases.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return aliases


def _resolved(name: str, aliases: Mapping[str, str]) -> str:
    head, dot, rest = name.partition(".")
    return aliases.get(head, head) + dot + rest


def _references(tree: ast.Module) -> tuple[str, ...]:
    """Dotted names of what the source uses from the modules it imports itself, sorted."""
    aliases = _aliases(tree)
    found = {name for name in aliases.values() if "." in name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = _dotted(node)
            if name.partition(".")[0] in aliases:
                found.add(_resolved(name, aliases))
    return tuple(sorted(found))


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` of a chain of plain names, or an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""
