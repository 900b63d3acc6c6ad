"""Of a program, the statements its entry point needs, in their own words.

Kept, with what they need in turn:

* what binds the entry point and every name it needs; of a name defined anew before anyone used it, the last
  definition only;
* imports before the entry point's definition, and statements made of imports (``try: import x``, ``if
  TYPE_CHECKING:``); later imports only when needed;
* what changes a kept name: ``task_func.limit = 3``, ``TABLE["a"] = helper``, ``@registry.add`` over a function;
* before the definition, statements that configure an imported module or call an own function to do so, such as
  ``random.seed(42)`` or ``matplotlib.use("Agg")``.

Left out: everything else, and in any case ``if __name__ == "__main__":``, what calls the entry point for its own
sake, and what prints, reads input, shows, runs or sleeps.  When kept code looks names up at run time (``globals``,
``eval``), all functions and classes stay, and all assignments before the definition.  Statements are cut from the
source with their comments; nothing is rewritten.
"""

import ast
import builtins
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from benchwright.answers.scopes import Names, names_of

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__"}
_LOOK_UP = frozenset({"globals", "eval", "exec"})
_SHOWS = frozenset(
    {"print", "pprint", "input", "open", "display", "show", "savefig", "write", "writelines"}
    | {"exit", "_exit", "quit", "abort", "sleep", "breakpoint", "help"}
    | {"main", "run", "mainloop", "serve_forever", "testmod", "testfile"}
    | {"system", "popen", "Popen", "call", "check_call", "check_output"}
    | {"import_module", "__import__", "find_spec"}
)
"""Last names of calls that print, read, show, run something, wait, or look whether a library is there: what
demonstrations and checks consist of."""

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Import = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a reply that parses."""

    code: str
    tree: ast.Module
    helper: bool = False
    """Whether it only lends what the block with the entry point needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was kept of some blocks."""

    code: str
    dropped: int
    """Statements left out."""
    missing: frozenset[str]
    """Names that the kept statements need and nothing binds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Statement:
    node: ast.stmt
    names: Names
    block: Block
    number: int


def defines(tree: ast.Module, name: str) -> bool:
    """Whether the module binds the name at its top by a definition or an assignment."""
    return any(_defines(node, name) for node in tree.body)


def _defines(node: ast.stmt, name: str) -> bool:
    if isinstance(node, _Definition):
        return node.name == name
    if isinstance(node, ast.Assign):
        return any(_binds(target, name) for target in node.targets)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and isinstance(node.target, ast.Name) and node.target.id == name
    if isinstance(node, (ast.If, ast.Try, ast.With)) and not is_main_guard(node):
        return name in names_of(node).binds
    return False


def _binds(target: ast.expr, name: str) -> bool:
    if isinstance(target, ast.Name):
        return target.id == name
    inside = ast.walk(target) if isinstance(target, (ast.Tuple, ast.List)) else ()
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in inside)


def is_main_guard(node: ast.stmt) -> bool:
    """Whether a statement is ``if __name__ == "__main__":`` without another branch."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return len(sides) == 2 and any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def definition_end(tree: ast.Module, name: str) -> int:
    """Number of the line on which the last definition of a name ends; 0 without one."""
    return max((node.end_lineno or 0 for node in tree.body if _defines(node, name)), default=0)


def is_placeholder(tree: ast.Module, name: str) -> bool:
    """Whether the last definition of a function says nothing, or leaves something out with ``...``."""
    last = next((node for node in reversed(tree.body) if _defines(node, name)), None)
    if not isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    body = [node for node in last.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if all(isinstance(node, (ast.Pass, ast.Raise)) for node in body):
        return not body or isinstance(body[0], ast.Pass) or "NotImplementedError" in ast.dump(body[0])
    return any(isinstance(node, ast.Expr) and _is_ellipsis(node.value) for node in last.body)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def select(blocks: Sequence[Block], entry_point: str) -> Selection:
    """What the entry point needs of the blocks, which are read one after the other."""
    return _Selector(blocks, entry_point).select()


class _Selector:
    def __init__(self, blocks: Sequence[Block], entry_point: str) -> None:
        self._entry = entry_point
        self._statements: list[_Statement] = []
        for block in blocks:
            for node in block.tree.body:
                number = len(self._statements)
                self._statements.append(_Statement(node=node, names=names_of(node), block=block, number=number))
        self._blocks = blocks
        self._usable = [
            statement
            for statement in self._statements
            if not is_main_guard(statement.node) and not _imports_name(statement.node, entry_point)
        ]
        self._binders: dict[str, list[_Statement]] = defaultdict(list)
        self._users: dict[str, list[int]] = defaultdict(list)
        self._changers: dict[str, list[_Statement]] = defaultdict(list)
        self._imported: set[str] = set()
        self._own: set[str] = set()
        self._definition = -1
        self._kept: set[int] = set()
        self._needed: set[str] = set()
        self._pending: list[str] = []
        self._index()

    def _index(self) -> None:
        for statement in self._usable:
            node, names = statement.node, statement.names
            for name in names.binds:
                self._binders[name].append(statement)
                (self._imported if isinstance(node, _Import) else self._own).add(name)
            if _defines(node, self._entry):
                self._definition = statement.number
            if not isinstance(node, (ast.Expr, ast.Assert)):
                used = names.eager if isinstance(node, _Definition) else names.needs
                others = () if not isinstance(node, _Definition) else names.needs - {node.name}
                for name in {*used, *others}:
                    self._users[name].append(statement.number)
        for statement in self._usable:
            for name in self._changed_by(statement):
                self._changers[name].append(statement)

    def _changed_by(self, statement: _Statement) -> set[str]:
        names = statement.names
        changed = set(names.changes) | (names.passed if "setattr" in names.called else names.passed - {self._entry})
        for function in self._functions_called(names):
            changed |= function.names.later_changes | function.names.later_binds
        return changed - names.binds

    def _functions_called(self, names: Names) -> Iterable[_Statement]:
        """The block's own functions that a statement calls, and those that they call."""
        direct = [binder for name in names.calls for binder in self._definitions(name)]
        for function in direct:
            yield function
            for name in function.names.later_called:
                yield from self._definitions(name)

    def _definitions(self, name: str) -> list[_Statement]:
        # The last one is what a call finds; a name defined a thousand times must not cost a thousand looks.
        return [binder for binder in self._binders.get(name, ())[-1:] if isinstance(binder.node, _Definition)]

    def select(self) -> Selection:
        for statement in self._usable:
            early = statement.number < self._definition and not statement.block.helper
            if (early and _imports(statement.node)) or _is_future(statement.node):
                self._keep(statement)
        self._need(self._entry)
        self._settle()
        for statement in self._usable:
            if statement.number < self._definition and not statement.block.helper and self._sets_up(statement):
                self._keep(statement)
                self._settle()
        if self._looks_names_up():
            for statement in self._usable:
                if self._is_definition(statement):
                    self._keep(statement)
            self._settle()
        kept = [statement for statement in self._statements if statement.number in self._kept]
        bound = frozenset().union(*(statement.names.binds | statement.names.later_binds for statement in kept))
        return Selection(
            code=_source(self._blocks, self._statements, self._kept),
            dropped=len(self._statements) - len(kept),
            missing=frozenset(self._needed - bound - _BUILTINS),
        )

    def _keep(self, statement: _Statement) -> None:
        if statement.number not in self._kept:
            self._kept.add(statement.number)
            for name in statement.names.needs:
                self._need(name)

    def _need(self, name: str) -> None:
        if name not in self._needed:
            self._needed.add(name)
            self._pending.append(name)

    def _settle(self) -> None:
        """Keep what binds and what changes the names needed, until nothing more is needed."""
        while self._pending:
            name = self._pending.pop()
            for statement in self._effective(name):
                self._keep(statement)
            if name in self._own:
                for statement in self._changers.get(name, ()):
                    if statement.number not in self._kept and not self._demonstrates(statement):
                        self._keep(statement)

    def _effective(self, name: str) -> Sequence[_Statement]:
        """The statements that bind a name, without those replaced before anyone used the name.

        What binds another name by calling the entry point is a demonstration even if the name is needed.
        """
        binders = [
            binder
            for binder in self._binders.get(name, ())
            if name == self._entry or isinstance(binder.node, _Definition) or self._entry not in binder.names.calls
        ]
        last = next((at for at in range(len(binders) - 1, 0, -1) if _replaces(binders[at].node, name)), 0)
        if last == 0 or name in binders[last].names.eager:
            return binders
        users = self._users.get(name, [])
        return binders if self._used_between(users, binders[0].number, binders[last].number) else binders[last:]

    def _used_between(self, users: Sequence[int], start: int, end: int) -> bool:
        at = bisect_right(users, start)
        return at < len(users) and users[at] < end

    def _demonstrates(self, statement: _Statement) -> bool:
        """Whether a statement prints and the like, or calls the entry point."""
        names = statement.names
        if self._entry in names.calls and not isinstance(statement.node, _Definition):
            return True
        shown = _SHOWS - self._own
        if names.called & shown:
            return True
        return any(function.names.later_called & (shown | {self._entry}) for function in self._functions_called(names))

    def _sets_up(self, statement: _Statement) -> bool:
        names = statement.names
        if statement.number in self._kept or not _acts(statement.node) or self._demonstrates(statement):
            return False
        roots = names.changes | names.calls
        if not any(name in self._imported or name in self._own or name == "setattr" for name in roots):
            return False
        if any(self._is_variable(name) and not self._definitions(name) for name in names.changes):
            return False
        return all(name in self._needed or self._is_inert(name) for name in names.eager if self._is_variable(name))

    def _is_variable(self, name: str) -> bool:
        """Whether the name is bound by the program itself rather than by an import."""
        return name in self._own and name not in self._imported

    def _is_inert(self, name: str) -> bool:
        """Whether only definitions and plain values bind the name."""
        return all(
            isinstance(binder.node, _Definition)
            or (isinstance(binder.node, (ast.Assign, ast.AnnAssign)) and _is_literal(binder.node.value))
            for binder in self._binders[name]
        )

    def _looks_names_up(self) -> bool:
        return bool(_LOOK_UP & self._needed - self._own) or any(
            self._statements[number].names.texts for number in self._kept
        )

    def _is_definition(self, statement: _Statement) -> bool:
        node = statement.node
        if isinstance(node, ast.ClassDef):
            return not any(base.split(".")[-1].endswith("TestCase") for base in map(ast.unparse, node.bases))
        if isinstance(node, _Definition):
            return True
        above = statement.number < self._definition
        return above and isinstance(node, (ast.Assign, ast.AnnAssign)) and not self._demonstrates(statement)


def _imports(node: ast.stmt) -> bool:
    """Whether a statement imports: by itself, or in a ``try``, ``if`` or ``with`` that does little else."""
    if isinstance(node, _Import):
        return True
    if not isinstance(node, (ast.Try, ast.If, ast.With)):
        return False
    leaves = list(_leaves(node))
    return any(isinstance(leaf, _Import) for leaf in leaves) and all(
        isinstance(leaf, (*_Import, *_Definition, ast.Assign, ast.AnnAssign, ast.Pass, ast.Raise)) or _acts(leaf)
        for leaf in leaves
    )


def _leaves(node: ast.stmt) -> Iterable[ast.stmt]:
    """The statements inside compound ones, definitions not opened."""
    pending: list[ast.stmt] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            pending.extend(current.body)
            pending.extend(getattr(current, "orelse", ()))
            pending.extend(getattr(current, "finalbody", ()))
            for handler in getattr(current, "handlers", ()):
                pending.extend(handler.body)
        else:
            yield current


def _acts(node: ast.stmt) -> bool:
    """Whether a statement is made for its effect: calls, stores into objects, and branches made of them."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await))
    if isinstance(node, (ast.Assign, ast.Delete)):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return isinstance(node.target, (ast.Attribute, ast.Subscript))
    if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        return all(isinstance(leaf, (*_Import, ast.Pass)) or _acts(leaf) for leaf in _leaves(node))
    return False


def _replaces(node: ast.stmt, name: str) -> bool:
    """Whether a statement gives the name a new value whatever it had before."""
    if isinstance(node, _Definition):
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return False


def _is_literal(node: ast.expr | None) -> bool:
    """Whether an expression is made of constants only, so that evaluating it does nothing."""
    allowed = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.unaryop, ast.expr_context)
    return node is not None and all(isinstance(inner, allowed) for inner in ast.walk(node))


def _imports_name(node: ast.stmt, name: str) -> bool:
    """Whether a statement imports a name and nothing else, as a demonstration does with what it shows."""
    return isinstance(node, _Import) and [alias.asname or alias.name for alias in node.names] == [name]


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _source(blocks: Sequence[Block], statements: Sequence[_Statement], kept: Set[int]) -> str:
    """The text of the kept statements with the comments above and beside them."""
    parts: list[str] = []
    for block in blocks:
        own = [statement for statement in statements if statement.block is block]
        if all(statement.number in kept for statement in own):
            parts.append(without_outer_blank_lines(block.code))
        else:
            parts.append(without_outer_blank_lines("\n".join(_kept_lines(block.code, own, kept))))
    if len(parts) == 1:
        return parts[0]
    return _future_first("\n\n\n".join(part for part in parts if part))


def _future_first(code: str) -> str:
    """The code of joined blocks with its ``from __future__`` lines at the top, where Python wants them."""
    lines = code.split("\n")
    future = [line for line in lines if line.startswith("from __future__ import ")]
    return "\n".join([*dict.fromkeys(future), *(line for line in lines if line not in future)]) if future else code


def _kept_lines(code: str, statements: Sequence[_Statement], kept: Set[int]) -> Iterator[str]:
    lines = code.split("\n")
    position = 0
    clean = True  # whether everything since the last kept line was kept, blank lines and comments included
    for group in _groups(statements):
        first, last = _first_line(group[0].node) - 1, group[-1].node.end_lineno or 0
        chosen = [statement for statement in group if statement.number in kept]
        if chosen:
            yield from lines[position:first] if clean else _heading(lines[position:first])
        if len(chosen) == len(group):
            yield from lines[first:last]
        else:
            for statement in chosen:
                yield from _segment(lines, statement.node)
        clean = len(chosen) == len(group)
        position = last
    if clean:
        yield from lines[position:]


def _groups(statements: Sequence[_Statement]) -> Iterator[list[_Statement]]:
    """Statements that share a line, together."""
    group: list[_Statement] = []
    for statement in statements:
        if group and _first_line(statement.node) > (group[-1].node.end_lineno or 0):
            yield group
            group = []
        group.append(statement)
    if group:
        yield group


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _Definition) else []
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
