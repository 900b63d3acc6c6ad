"""Of a program, the statements its entry point needs, in their own words.

Kept, with what they need in turn:

* what binds the entry point and every name it needs; of a name defined anew before anyone used it, the last
  definition only;
* imports before the entry point's definition, and statements made of imports (``try: import x``, ``if
  TYPE_CHECKING:``); later imports only when needed;
* what changes a kept name: ``task_func.limit = 3``, ``TABLE["a"] = helper``, ``@registry.add`` over a function;
* before the definition, or before a later statement that is kept and evaluates something, what configures an imported
  module or calls an own function to do so, such as ``random.seed(42)`` or ``matplotlib.use("Agg")``.

Left out: everything else, and in any case ``if __name__ == "__main__":``, what calls the entry point for its own
sake, and what prints, reads input, shows, runs or sleeps.  When kept code looks names up at run time (``globals``,
``eval``), all functions and classes stay, and all assignments before the definition.  Statements are cut from the
source with their comments; nothing is rewritten.
"""

import ast
import builtins
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchwright.answers.cutting import joined_source, kept_source
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

_MOST_CALLED = 20
"""Own functions that are looked into for what one statement calls."""

_MOST_ALIASES = 10
"""Other names of one object that are followed."""

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Import = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a reply that parses."""

    code: str
    tree: ast.Module
    helper: bool = False
    """Whether it only lends what the block with the entry point needs."""
    earlier: bool = True
    """Whether it stands before that block in the reply, or is that block; its imports then count as that block's."""


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
    if all(isinstance(node, ast.Pass) or _is_refusal(node) for node in body):
        return True
    return any(isinstance(node, ast.Expr) and _is_ellipsis(node.value) for node in last.body)


def _is_refusal(node: ast.stmt) -> bool:
    """Whether a statement is ``raise NotImplementedError``, with or without a message."""
    raised = node.exc.func if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) else None
    raised = node.exc if isinstance(node, ast.Raise) and raised is None else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


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
        self._aliases: dict[str, set[str]] = defaultdict(set)
        self._imported: set[str] = set()
        self._own: set[str] = set()
        self._shows = _SHOWS
        self._definition = -1
        self._kept: set[int] = set()
        self._needed: set[str] = set()
        self._pending: list[str] = []
        self._index()

    def _index(self) -> None:
        for statement in self._usable:
            for name in statement.names.binds:
                self._binders[name].append(statement)
                (self._imported if isinstance(statement.node, _Import) else self._own).add(name)
            if _defines(statement.node, self._entry):
                self._definition = statement.number
            if isinstance(statement.node, ast.Assign) and isinstance(statement.node.value, ast.Name):
                self._aliases[statement.node.value.id] |= statement.names.binds
        self._shows = _SHOWS - self._own
        for statement in self._usable:
            node, names = statement.node, statement.names
            if not isinstance(node, (ast.Expr, ast.Assert)) or not self._demonstrates(statement):
                # A function that calls itself does not use an earlier one of its name.
                later = names.needs - {node.name} if isinstance(node, _Definition) else names.needs
                for name in names.eager | later:
                    self._users[name].append(statement.number)
            for name in self._changed_by(statement):
                self._changers[name].append(statement)

    def _changed_by(self, statement: _Statement) -> set[str]:
        names = statement.names
        changed = set(names.changes) | (names.passed if "setattr" in names.called else names.passed - {self._entry})
        for function in self._functions_called(statement):
            changed |= function.names.later_changes | function.names.later_binds
        return changed - names.binds

    def _functions_called(self, statement: _Statement) -> list[_Statement]:
        """The program's own functions that a statement calls, and those that they call in turn."""
        found: dict[int, _Statement] = {}
        pending = list(statement.names.calls)
        while pending and len(found) < _MOST_CALLED:
            function = self._definition_at(pending.pop(), statement.number)
            if function is not None and function.number not in found:
                found[function.number] = function
                pending.extend(function.names.later_called)
        return list(found.values())

    def _definition_at(self, name: str, number: int) -> _Statement | None:
        """The function or class that a name stands for when a statement is executed."""
        for _ in range(_MOST_ALIASES):
            binders = self._binders.get(name, [])
            before = bisect_left(binders, number, key=lambda binder: binder.number)
            if not before:
                return None
            binder = binders[before - 1]
            if isinstance(binder.node, _Definition):
                return binder
            if not (isinstance(binder.node, ast.Assign) and isinstance(binder.node.value, ast.Name)):
                return None
            name, number = binder.node.value.id, binder.number
        return None

    def select(self) -> Selection:
        for statement in self._usable:
            early = statement.number < self._definition and statement.block.earlier
            if (early and _imports(statement.node)) or _is_future(statement.node):
                self._keep(statement)
        self._need(self._entry)
        self._settle()
        last = max(number for number in self._kept if self._matters_when(number))
        for statement in self._usable:
            if statement.number < last and not statement.block.helper and self._sets_up(statement):
                self._keep(statement)
                self._settle()
        if self._looks_names_up():
            for statement in self._usable:
                if self._is_definition(statement):
                    self._keep(statement)
            self._settle()
        if self._missing():
            for statement in self._usable:
                if _is_star_import(statement.node):
                    self._keep(statement)
        return Selection(
            code=joined_source([self._source(block) for block in self._blocks]),
            dropped=len(self._statements) - len(self._kept),
            missing=self._missing(),
        )

    def _matters_when(self, number: int) -> bool:
        """Whether it matters what was executed before a statement: it is the definition, or evaluates something."""
        plain = isinstance(self._statements[number].node, (*_Definition, *_Import))
        return number == self._definition or not plain

    def _source(self, block: Block) -> str:
        own = [statement for statement in self._statements if statement.block is block]
        nodes = [statement.node for statement in own]
        return kept_source(block.code, nodes, [statement.number in self._kept for statement in own])

    def _missing(self) -> frozenset[str]:
        kept = [statement.names for statement in self._statements if statement.number in self._kept]
        return frozenset(self._needed).difference(
            _BUILTINS, *(names.binds for names in kept), *(names.later_binds for names in kept)
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
            for alias in self._names_of_same(name):
                for statement in self._changers.get(alias, ()):
                    if statement.number not in self._kept and not self._demonstrates(statement):
                        self._keep(statement)

    def _names_of_same(self, name: str) -> set[str]:
        """The name and others that the program gives to the same object, when it is the program's own."""
        found = {name} & self._own
        pending = list(found)
        while pending and len(found) < _MOST_ALIASES:
            further = self._aliases.get(pending.pop(), set()) - found
            found |= further
            pending.extend(further)
        return found

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
        if names.called & self._shows:
            return True
        shows = self._shows | {self._entry}
        return any(function.names.later_called & shows for function in self._functions_called(statement))

    def _sets_up(self, statement: _Statement) -> bool:
        names = statement.names
        if statement.number in self._kept or not _acts(statement.node) or self._demonstrates(statement):
            return False
        roots = names.changes | names.calls
        if not any(name in self._imported or name in self._own or name == "setattr" for name in roots):
            return False
        if any(self._is_variable(name) and not self._is_defined(name) for name in names.changes):
            return False
        return all(name in self._needed or self._is_inert(name) for name in names.eager if self._is_variable(name))

    def _is_variable(self, name: str) -> bool:
        """Whether the name is bound by the program itself rather than by an import."""
        return name in self._own and name not in self._imported

    def _is_defined(self, name: str) -> bool:
        """Whether only functions and classes bind the name."""
        return all(isinstance(binder.node, _Definition) for binder in self._binders[name])

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
            names = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases)
            return not any(name.endswith("TestCase") for name in names)
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


def _is_star_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
