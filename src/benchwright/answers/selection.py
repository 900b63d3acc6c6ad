"""Of a program, the statements its entry point needs, in their own words.

Kept, with what they need in turn:

* what binds the entry point and every name it needs; of a name defined anew before anyone used it, the last
  definition only;
* imports before the entry point's definition, and statements made of imports (``try: import x``, ``if
  TYPE_CHECKING:``); later imports only when needed;
* what changes a kept name: ``task_func.limit = 3``, ``TABLE["a"] = helper``, ``@registry.add`` over a function;
* what may change it while doing something else: ``head = Q.pop()``, ``ok = setup(CFG)``, ``for x in (A, B):
  x.append(1)``, ``cur = conn.cursor(); cur.execute(…)``;
* before the definition, or before a later statement that is kept and evaluates something, what configures an imported
  module or calls an own function to do so;
* wherever it stands, what can only be meant to configure: ``random.seed(42)``, ``matplotlib.use("Agg")``, a store into
  an imported module.  The module is executed before anyone calls the entry point.

Left out: everything else, and in any case ``if __name__ == "__main__":``, what calls the entry point for its own
sake, what does nothing but print, and what reads input, shows, runs or sleeps.  When kept code looks names up at run
time (``globals``, ``eval``), all functions and classes stay, and all assignments before the definition.  Statements
are cut from the source with their comments; nothing is rewritten.
"""

import ast
import builtins
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchwright.answers.cutting import joined_source, kept_source
from benchwright.answers.scopes import PRINTS, Names, names_of

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__"}
_LOOK_UP = frozenset({"globals", "eval", "exec", "vars", "locals"})
_PRINTS = PRINTS | {"write", "writelines"}
_RUNS = frozenset(
    {"input", "open", "show", "savefig", "exit", "_exit", "quit", "abort", "sleep", "breakpoint"}
    | {"main", "run", "mainloop", "serve_forever", "testmod", "testfile"}
    | {"system", "popen", "Popen", "call", "check_call", "check_output"}
    | {"import_module", "__import__", "find_spec"}
)
"""Last names of calls that read, show, run something, wait, or look whether a library is there: what
demonstrations and checks consist of."""
_FILES = frozenset(
    {"read_csv", "read_excel", "read_json", "read_sql", "to_csv", "to_excel", "to_json", "urlopen", "urlretrieve"}
    | {"imread", "imwrite", "loadtxt", "savetxt", "dump", "download", "mkdir", "makedirs", "remove", "rmtree", "unlink"}
)
"""Last names of calls for which files or a network must be there; behind the definition, a demonstration's."""
_CONFIGURES = frozenset(
    {"seed", "manual_seed", "manual_seed_all", "set_seed", "use", "switch_backend", "setrecursionlimit", "setlocale"}
    | {"filterwarnings", "simplefilter", "disable_warnings", "basicConfig", "disable", "set_loglevel"}
    | {"set_option", "set_options", "seterr", "set_printoptions", "setcontext", "setdefaulttimeout", "putenv"}
    | {"set", "set_theme", "set_style", "set_palette", "set_context", "update", "setdefault", "insert", "append"}
    | {"setLevel", "addHandler", "set_start_method", "set_int_max_str_digits", "register", "setattr"}
)
"""Last names of calls to imported modules that set something which later calls depend on."""
_SEEDS = frozenset({"seed", "manual_seed", "manual_seed_all", "set_seed"})
_OF_PROCESS = frozenset({"stdin", "stdout", "stderr", "argv", "modules"})
"""Attributes of ``sys`` that a demonstration replaces for its own time."""

_MOST_CALLED = 20
"""Own functions that are looked into for what one statement calls."""

_MOST_USES = 100_000
"""Names followed from calls into the functions called, so that many calls of a long function cost no more."""

_MOST_ALIASES = 30
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
    if not isinstance(node.test.ops[0], ast.Eq):
        return False  # ``!=`` holds for whoever imports the module
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


def beginnings(tree: ast.Module, name: str) -> list[int]:
    """One number for each beginning of the last definition of a function, of one statement and more, docstring aside.

    Two definitions have a number in common if, and but for chance only if, they begin alike.
    """
    last = next((node for node in reversed(tree.body) if _defines(node, name)), None)
    if not isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    body = last.body[1:] if _is_docstring(last.body[0]) else last.body
    state = hash(tuple(argument.arg for argument in last.args.args))
    found: list[int] = []
    for node in body:
        state = hash((state, _fingerprint(node)))
        found.append(state)
    return found


def _fingerprint(node: ast.AST) -> int:
    """A number for a tree's form; `ast.dump` would recurse deeper than the stack."""
    state = 0
    for inner in ast.walk(node):
        fields = [
            (name, "list", len(value)) if isinstance(value, list) else (name, type(value).__name__, _plain(value))
            for name, value in ast.iter_fields(inner)
        ]
        state = hash((state, type(inner).__name__, tuple(fields)))
    return state


def _plain(value: object) -> object:
    return None if isinstance(value, ast.AST) else value


def only_rebinds(tree: ast.Module, name: str) -> bool:
    """Whether a module binds the name to nothing but what is made of it elsewhere, or to a mock."""
    binders = [node for node in tree.body if _defines(node, name)]
    return bool(binders) and all(isinstance(node, ast.Assign) and _borrows(node.value, name) for node in binders)


def _borrows(value: ast.expr, name: str) -> bool:
    for node in ast.walk(value):
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if word == name or word in {"Mock", "MagicMock", "AsyncMock", "create_autospec"}:
            return True
    return False


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
        self._tainted: set[str] = set()
        self._methods: set[str] = set()
        self._last_demonstration: int | None = None
        self._changeable: dict[str, bool] = {}
        self._defined: dict[str, bool] = {}
        self._followed: set[str] = set()
        self._budget = _MOST_USES
        self._called_by: dict[int, list[_Statement]] = {}
        self._imported: set[str] = set()
        self._own: set[str] = set()
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
            if isinstance(statement.node, ast.ClassDef):
                self._methods.update(node.name for node in statement.node.body if isinstance(node, _Definition))
        for statement in self._usable:
            self._relate(statement)
        for statement in self._usable:
            node, names = statement.node, statement.names
            if not isinstance(node, (ast.Expr, ast.Assert)) or not self._demonstrates(statement):
                # A function that calls itself does not use an earlier one of its name.
                later = names.needs - {node.name} if isinstance(node, _Definition) else names.needs
                for name in names.eager | later:
                    self._users[name].append(statement.number)
                for function in self._functions_called(statement):
                    self._budget -= len(function.names.needs)
                    if self._budget < 0:
                        break
                    # What a function looks up is used whenever it is called.
                    for name in function.names.needs - later:
                        self._users[name].append(statement.number)
            for name in self._changed_by(statement):
                self._changers[name].append(statement)

    def _relate(self, statement: _Statement) -> None:
        """Note other names of objects, and names that only a demonstration binds."""
        names = statement.names
        early = statement.number < self._definition
        for source, name in names.same | names.held if early else names.same:
            if source in self._own and source != name and self._is_changeable(source):
                self._aliases[source].add(name)
        if isinstance(statement.node, _Definition):
            self._tainted.discard(statement.node.name)
        elif self._entry not in names.binds:
            demonstrates = self._demonstrates(statement)
            for name in names.binds:
                first = self._binders[name][0] is statement
                if demonstrates and (first or name in self._tainted):
                    self._tainted.add(name)
                elif not demonstrates:
                    self._tainted.discard(name)

    def _is_changeable(self, name: str) -> bool:
        """Whether the name may stand for an object that can be changed."""
        if name not in self._changeable:
            self._changeable[name] = not all(
                isinstance(binder.node, (ast.Assign, ast.AnnAssign)) and _is_fixed(binder.node.value)
                for binder in self._binders[name]
            )
        return self._changeable[name]

    def _changed_by(self, statement: _Statement) -> set[str]:
        names = statement.names
        changed = set(names.changes) | (names.passed if "setattr" in names.called else names.passed - {self._entry})
        for function in self._functions_called(statement):
            changed |= function.names.later_changes | function.names.later_binds
        handles = names.received or names.handed
        if handles and self._entry not in names.eager and not isinstance(statement.node, _Definition):
            changed |= self._handled_by(statement)
        # What is done to a name that the statement itself gives to an object is done to the object.
        if changed and names.same:
            changed |= {source for source, name in names.same if name in changed and source in self._own}
        return changed - names.binds

    def _handled_by(self, statement: _Statement) -> set[str]:
        """Own objects that a statement may change by calls whose results it uses.

        Behind the definition a library is trusted to leave alone what it is given: there it is a demonstration that
        makes a table of a list which the entry point uses.
        """
        early = statement.number < self._definition
        found = {name for name in statement.names.received if name in self._own}
        for first, name in statement.names.handed:
            if name in self._own and not self._is_defined(name) and (early or first not in self._imported):
                found.add(name)
        return {name for name in found if self._is_changeable(name)}

    def _functions_called(self, statement: _Statement) -> list[_Statement]:
        """The program's own functions that a statement calls, and those that they call in turn."""
        if not statement.names.calls:
            return []
        if statement.number in self._called_by:
            return self._called_by[statement.number]
        found: dict[int, _Statement] = {}
        passed: set[int] = set()
        pending = [(name, statement.number) for name in sorted(statement.names.calls)]
        while pending and len(found) < _MOST_CALLED and len(passed) < _MOST_ALIASES:
            name, number = pending.pop()
            binder = self._bound_before(name, number)
            if binder is None or binder.number in found or binder.number in passed:
                continue
            if isinstance(binder.node, _Definition):
                found[binder.number] = binder
                pending.extend((called, statement.number) for called in sorted(binder.names.later_called))
            elif isinstance(binder.node, ast.Assign):
                # What was made of a function, by a wrapper or without one, may call it.
                passed.add(binder.number)
                pending.extend((source, binder.number) for source in sorted(binder.names.needs)[:_MOST_CALLED])
        self._called_by[statement.number] = list(found.values())
        return self._called_by[statement.number]

    def _bound_before(self, name: str, number: int) -> _Statement | None:
        """The statement that gave a name the value it has when a statement is executed."""
        binders = self._binders.get(name, [])
        before = bisect_left(binders, number, key=lambda binder: binder.number)
        return binders[before - 1] if before else None

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
        for statement in self._usable:
            if self._configures(statement):
                self._keep(statement)
                self._settle()
        first = self._usable[0] if self._usable else None
        if first is not None and "__doc__" in self._needed and _is_docstring(first.node):
            self._keep(first)
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
            for name in statement.names.references:
                # Only a word, perhaps: what a demonstration binds is not meant.
                if name in self._own and name not in self._tainted:
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
            for alias in self._names_of_same(name) - self._followed:
                self._followed.add(alias)
                for statement in self._changers.get(alias, ()):
                    if statement.number not in self._kept and not self._demonstrates(statement):
                        self._keep(statement)

    def _names_of_same(self, name: str) -> set[str]:
        """The name and others that the program gives to the same object, when it is the program's own."""
        found = {name} & self._own
        pending = list(found)
        while pending and len(found) < _MOST_ALIASES:
            further = sorted(self._aliases.get(pending.pop(), set()) - found)
            found.update(further)
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
        """Whether a statement does nothing but print, runs something and the like, or calls the entry point."""
        names = statement.names
        if isinstance(statement.node, _Import) or not (names.pairs or names.calls or names.eager & self._tainted):
            return False
        if self._entry in names.calls and not isinstance(statement.node, _Definition):
            return True
        if names.eager & self._tainted and self._entry not in names.binds:
            return True
        early = statement.number < self._definition
        if any(
            last in _RUNS and not (early and last == "open") and not self._is_own_call(first, last)
            for first, last in names.pairs
        ):
            return True
        if not early and names.called & (_FILES - self._own):
            return True
        runs = (_RUNS - self._own - self._methods) | {self._entry}
        if any(function.names.later_called & runs for function in self._functions_called(statement)):
            return True
        return self._only_prints(statement)

    def _is_own_call(self, first: str, last: str) -> bool:
        """Whether it is the program's own function or method that a call of these names stands for."""
        return last in self._own or (last in self._methods and first in self._own)

    def _only_prints(self, statement: _Statement) -> bool:
        if not statement.names.called & (_PRINTS - self._own):
            return False
        leaves = [leaf for leaf in _leaves(statement.node) if not isinstance(leaf, ast.Pass)]
        return all(isinstance(leaf, ast.Expr) and self._is_print(leaf.value) for leaf in leaves)

    def _is_print(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.Constant)
        if isinstance(node.func, ast.Name):
            return node.func.id in PRINTS - self._own
        if not isinstance(node.func, ast.Attribute):
            return False
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        imported = isinstance(root, ast.Name) and root.id in self._imported
        return node.func.attr in PRINTS or (imported and node.func.attr in _PRINTS)

    def _prints(self, statement: _Statement) -> bool:
        """Whether an own function that a statement calls prints and does nothing that configures."""
        return any(
            function.names.later_called & (_PRINTS - self._own) and not function.names.later_called & _CONFIGURES
            for function in self._functions_called(statement)
        )

    def _sets_up(self, statement: _Statement) -> bool:
        names = statement.names
        if statement.number in self._kept or not _acts(statement.node):
            return False
        if self._demonstrates(statement) or self._prints(statement) or "open" in names.called:
            return False
        roots = names.changes | names.calls
        if not any(name in self._imported or name in self._own or name == "setattr" for name in roots):
            return False
        if any(self._is_variable(name) and not self._is_defined(name) for name in names.changes):
            return False
        return all(name in self._needed or self._is_inert(name) for name in names.eager if self._is_variable(name))

    def _configures(self, statement: _Statement) -> bool:
        """Whether a statement is made to configure something imported, so that it counts wherever it stands."""
        names, node = statement.names, statement.node
        if not (names.pairs or names.changes):
            return False
        if statement.number in self._kept or statement.block.helper or self._demonstrates(statement):
            return False
        if self._entry in names.eager or "open" in names.called:
            return False
        late = statement.number > self._definition
        if late and (names.called & _SEEDS and self._demonstration_follows(statement)):
            return False  # its numbers are for the demonstration, which uses them up
        pairs = {(first, last) for first, last in names.pairs if first in self._imported}
        if isinstance(node, _Definition):
            # A decorator of a library that is made to register something, such as an accessor of pandas.
            imported = names.changes & self._imported
            return bool(imported) and any(last.startswith("register") for _, last in pairs)
        if not _acts(node) or any(self._is_variable(name) and not self._is_defined(name) for name in names.changes):
            return False
        stores = [leaf for leaf in _leaves(node) if isinstance(leaf, (ast.Assign, ast.AugAssign))]
        if late and any(_touches_process(leaf) for leaf in stores):
            return False
        if stores and names.changes & self._imported:
            return True
        return any(last in _CONFIGURES and (first in names.changes or last == first) for first, last in pairs)

    def _demonstration_follows(self, statement: _Statement) -> bool:
        if self._last_demonstration is None:
            uses = (
                other.number
                for other in self._usable
                if self._entry in other.names.eager
                or any(self._entry in function.names.later_called for function in self._functions_called(other))
            )
            self._last_demonstration = max(uses, default=-1)
        return self._last_demonstration > statement.number

    def _is_variable(self, name: str) -> bool:
        """Whether the name is bound by the program itself rather than by an import."""
        return name in self._own and name not in self._imported

    def _is_defined(self, name: str) -> bool:
        """Whether only functions and classes bind the name."""
        if name not in self._defined:
            self._defined[name] = all(isinstance(binder.node, _Definition) for binder in self._binders[name])
        return self._defined[name]

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


def _touches_process(node: ast.stmt) -> bool:
    """Whether a statement stores into ``sys.stdout`` and the like."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    attributes = [target.value if isinstance(target, ast.Subscript) else target for target in targets]
    return any(isinstance(attribute, ast.Attribute) and attribute.attr in _OF_PROCESS for attribute in attributes)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_fixed(node: ast.expr | None) -> bool:
    """Whether an expression makes an object that cannot be changed."""
    allowed = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context)
    return node is not None and all(isinstance(inner, allowed) for inner in ast.walk(node))


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
