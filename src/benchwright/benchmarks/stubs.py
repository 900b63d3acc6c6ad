"""Which names a problem's stub gives to an answer, read without running it."""

import ast
from collections.abc import Iterator

from benchwright.answers.parsing import ParseFailure, parse
from benchwright.core.problems import FunctionProblem


def given_names(problem: FunctionProblem) -> frozenset[str]:
    """Names that code behind the stub can use: imported, assigned or defined in it, except the entry point.

    A dotted module is given under its full name, and a name imported from a module under that of the module too: both
    imports make ``matplotlib.pyplot`` a member of ``matplotlib``.  A stub that does not parse gives nothing.
    """
    try:
        tree = parse(problem.calibration_stub)
    except ParseFailure:
        return frozenset()
    return frozenset(_bound(tree.body)) - {problem.entry_point}


def _bound(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.Import():
                for alias in statement.names:
                    yield alias.asname or alias.name.partition(".")[0]
                    yield from _loaded(alias.name)
            case ast.ImportFrom(level=0, module=str(module)):
                yield from _loaded(module)
                for alias in statement.names:
                    yield alias.asname or alias.name
                    yield f"{module}.{alias.name}"  # may be a module, which is then loaded
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield from _stored(statement)
                for block in ("body", "orelse", "finalbody"):
                    yield from _bound(getattr(statement, block, []))
                for handler in getattr(statement, "handlers", []):
                    yield from _bound(handler.body)
            case _:
                yield from _stored(statement)


def _loaded(module: str) -> Iterator[str]:
    """The modules that importing one loads as members of others: ``a.b`` and ``a.b.c`` for ``a.b.c``."""
    parts = module.split(".")
    for end in range(2, len(parts) + 1):
        yield ".".join(parts[:end])


def _stored(statement: ast.stmt) -> Iterator[str]:
    """Variables that a statement assigns itself; those of blocks in it are found where the blocks are."""
    match statement:
        case ast.Assign():
            targets: list[ast.expr] = statement.targets
        case ast.AnnAssign(value=ast.expr()):
            targets = [statement.target]
        case ast.For():
            targets = [statement.target]
        case ast.With():
            targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
        case _:
            targets = []
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
