"""What a Python program of an agent would do, as an integrity check reads it: the calls in its text.

The program is parsed, never run; a text that does not parse would not have run either.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LONGEST_PROGRAM = 200_000
"""Characters; no agent types a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call in the text of a program."""

    name: str
    """With dots, such as ``requests.get``, as the module is really called; the end alone behind what is no name."""
    texts: tuple[str, ...]
    """String constants among its arguments, in order; those of a variable that is set to constants too."""
    words: tuple[str, ...]
    """The first argument where it is a list or tuple of constants, each as text."""
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is seen of a program."""

    calls: tuple[Call, ...]
    texts: tuple[str, ...]
    """Every string constant, docstrings left out."""
    imports: frozenset[str]
    """Top-level modules that it imports."""


def read_program(code: str) -> Program:
    """The calls and constants of a program; an empty one for what does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in the agent's text
            tree = ast.parse(code[:LONGEST_PROGRAM])
        nodes = list(ast.walk(tree))
        known, imports = dict(_constants(nodes)), dict(_imports(nodes))
        calls = tuple(_call(node, known, imports) for node in nodes if isinstance(node, ast.Call))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program(calls=(), texts=(), imports=frozenset())
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    )
    modules = frozenset(name.partition(".")[0] for name in imports.values())
    return Program(calls=calls, texts=texts, imports=modules)


def _constants(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are set to, the last time counting."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            yield node.target.id, node.iter


def _call(node: ast.Call, known: Mapping[str, ast.expr], imports: Mapping[str, str]) -> Call:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    values = [known.get(value.id, value) if isinstance(value, ast.Name) else value for value in arguments]
    constants = [inner.value for value in values for inner in ast.walk(value) if isinstance(inner, ast.Constant)]
    first = values[0] if values else None
    return Call(
        name=_dotted(node.func, imports),
        texts=tuple(value for value in constants if isinstance(value, str)),
        words=tuple(map(_word, first.elts)) if isinstance(first, ast.List | ast.Tuple) else (),
        numbers=tuple(
            float(value.value)
            for value in values
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float)
        ),
    )


def _word(node: ast.expr) -> str:
    """A constant of a list as text; something that is no known name for anything else."""
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def _dotted(node: ast.expr, imports: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(imports.get(node.id, node.id))
    return ".".join(reversed(parts))


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names that imports make, with what they stand for."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
