"""What a Python program of an agent would do, as an integrity check reads it: the calls in its text.

The program is parsed, never run; a text that does not parse would not have run either.
"""

import ast
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LONGEST_PROGRAM = 200_000
"""Characters; no agent types a longer one."""
_MOST_TEXTS = 50  # of one call
_LONGEST_NUMBER = 1_000  # bits; Python refuses to write much longer ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call in the text of a program."""

    name: str
    """With dots, such as ``requests.get``, as the module is really called; the end alone behind what is no name."""
    texts: tuple[str, ...]
    """String constants among its arguments, in order; those of a variable that is set to constants too.

    Of hundreds, the first ones.
    """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    """What names and nodes of a program amount to; made once, for calls may share long ones."""

    known: Mapping[str, ast.expr]
    """Names with what they are set to."""
    imports: Mapping[str, str]
    texts: Mapping[int, tuple[str, ...]]
    """String constants in a node and below it, the first ones, by the node's identity."""
    words: Mapping[int, tuple[str, ...]]
    """Elements of a list or tuple, likewise."""


def read_program(code: str) -> Program:
    """The calls and constants of a program; an empty one for what does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in the agent's text
            tree = ast.parse(code[:LONGEST_PROGRAM])
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program(calls=(), texts=(), imports=frozenset())
    values = _values_of(nodes)
    calls = tuple(_call(node, values) for node in nodes if isinstance(node, ast.Call))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    )
    modules = frozenset(name.partition(".")[0] for name in values.imports.values())
    return Program(calls=calls, texts=texts, imports=modules)


def _constants(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are set to, the last time counting."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            yield node.target.id, node.iter


def _values_of(nodes: list[ast.AST]) -> _Values:
    texts: dict[int, tuple[str, ...]] = {}
    words: dict[int, tuple[str, ...]] = {}
    for node in reversed(nodes):  # what is below a node comes before it
        if isinstance(node, ast.Constant):
            texts[id(node)] = (node.value,) if isinstance(node.value, str) else ()
            continue
        below = itertools.chain.from_iterable(texts[id(child)] for child in ast.iter_child_nodes(node))
        texts[id(node)] = tuple(itertools.islice(below, _MOST_TEXTS))
        if isinstance(node, ast.List | ast.Tuple):
            words[id(node)] = tuple(map(_word, node.elts))
    return _Values(known=dict(_constants(nodes)), imports=dict(_imports(nodes)), texts=texts, words=words)


def _call(node: ast.Call, values: _Values) -> Call:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    given = [values.known.get(value.id, value) if isinstance(value, ast.Name) else value for value in arguments]
    texts = itertools.chain.from_iterable(values.texts[id(value)] for value in given)
    return Call(
        name=_dotted(node.func, values.imports),
        texts=tuple(itertools.islice(texts, _MOST_TEXTS)),
        words=values.words.get(id(given[0]), ()) if given else (),
        numbers=tuple(
            _number(value.value)
            for value in given
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float)
        ),
    )


def _word(node: ast.expr) -> str:
    """A constant of a list as text; something that is no known name for anything else."""
    if not isinstance(node, ast.Constant) or _is_endless(node.value):
        return "…"
    return str(node.value)


def _number(value: float) -> float:
    return math.inf if _is_endless(value) else float(value)


def _is_endless(value: object) -> bool:
    """Whether a constant is a whole number that neither a float holds nor Python writes."""
    return isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER


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
