"""Cuts statements out of a source text, with their comments, and joins what is left of several texts."""

import ast
from collections.abc import Iterator, Sequence

_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def kept_source(code: str, statements: Sequence[ast.stmt], kept: Sequence[bool]) -> str:
    """The text of the kept statements with the comments above and beside them; the code itself when all are kept."""
    if all(kept):
        return without_outer_blank_lines(code)
    return without_outer_blank_lines("\n".join(_kept_lines(code, list(zip(statements, kept, strict=True)))))


def joined_source(parts: Sequence[str]) -> str:
    """The texts one after the other, with their ``from __future__`` lines at the top, where Python wants them."""
    parts = [part for part in parts if part]
    if len(parts) < 2:
        return "".join(parts)
    lines = "\n\n\n".join(parts).split("\n")
    future = [line for line in lines if line.startswith("from __future__ import ")]
    return "\n".join([*dict.fromkeys(future), *(line for line in lines if line not in future)])


def _kept_lines(code: str, statements: Sequence[tuple[ast.stmt, bool]]) -> Iterator[str]:
    lines = code.split("\n")
    position = 0
    clean = True  # whether everything since the last kept line was kept, blank lines and comments included
    for group in _groups(statements):
        first, last = first_line(group[0][0]) - 1, group[-1][0].end_lineno or 0
        chosen = [node for node, keep in group if keep]
        if chosen:
            yield from lines[position:first] if clean else _heading(lines[position:first])
        if len(chosen) == len(group):
            yield from lines[first:last]
        else:
            for node in chosen:
                yield from _segment(lines, node)
        clean = len(chosen) == len(group)
        position = last
    if clean:
        yield from lines[position:]


def _groups(statements: Sequence[tuple[ast.stmt, bool]]) -> Iterator[list[tuple[ast.stmt, bool]]]:
    """Statements that share a line, together."""
    group: list[tuple[ast.stmt, bool]] = []
    for node, keep in statements:
        if group and first_line(node) > (group[-1][0].end_lineno or 0):
            yield group
            group = []
        group.append((node, keep))
    if group:
        yield group


def first_line(node: ast.stmt) -> int:
    """Number of a statement's first line, decorators included."""
    decorators = node.decorator_list if isinstance(node, _DECORATED) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _heading(between: Sequence[str]) -> list[str]:
    """Of the lines between a statement left out and one kept: the blank lines and comments right above the latter."""
    start = len(between)
    while start and between[start - 1].lstrip().startswith("#"):
        start -= 1
    while start and not between[start - 1].strip():
        start -= 1
    return list(between[start:])


def _segment(lines: Sequence[str], node: ast.stmt) -> list[str]:
    """One statement of several on a line; columns count bytes."""
    part = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return [line.decode() for line in part]


def without_outer_blank_lines(code: str) -> str:
    """The code without blank lines at its two ends."""
    start = code.rfind("\n", 0, len(code) - len(code.lstrip())) + 1
    end = code.find("\n", len(code.rstrip()))
    return code[start : end if end >= 0 else len(code)]
