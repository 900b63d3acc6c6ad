"""Which names of its module a statement binds, needs and changes, read without running it.

Python's scopes are followed: parameters and local names of functions, class bodies, comprehensions, ``global``
and ``nonlocal``.  Where that cannot be exact (names bound in a class body, names in quoted annotations), too many
names are needed rather than too few.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Item = TypeVar("_Item")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_MOST_NAMES = 20
"""Names of one assignment and of its value that are put in relation."""

_REFERENCE = re.compile(r"(?<!\w)@([^\W\d]\w*)")
_APPLIED = re.compile(r"([^\W\d]\w*+)\(")

PRINTS = frozenset({"print", "pprint", "display", "help"})
"""Last names of calls that only show something."""

# Calls that change nothing of what they are given.  Iterating is none of them: it uses up an iterator.
_LOOKS = PRINTS | {"len", "str", "repr", "bool", "int", "float", "type", "isinstance", "issubclass", "id", "hash"}
_LOOKS |= {"callable", "range", "abs", "round", "format", "hasattr", "getattr"}
_LOOKING_METHODS = frozenset(
    {"copy", "keys", "values", "items", "get", "index", "count", "join", "split", "splitlines", "format", "lower"}
    | {"upper", "title", "strip", "lstrip", "rstrip", "replace", "startswith", "endswith", "encode", "decode"}
    | {"head", "tail", "describe", "info", "mean", "sum", "min", "max", "tolist", "union", "intersection"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one statement at the top of a module."""

    binds: frozenset[str]
    """Bound in the module when the statement is executed."""
    needs: frozenset[str]
    """Looked up in the module by the statement, or by functions in it when they are called."""
    eager: frozenset[str]
    """Those looked up when the statement itself is executed."""
    calls: frozenset[str]
    """First names of what the statement itself calls: ``np`` and ``f`` for ``f(np.zeros(1))``, decorators too."""
    called: frozenset[str]
    """Last names of what the statement itself calls: ``zeros`` and ``f``."""
    changes: frozenset[str]
    """First names of the objects that the statement itself may change: by storing into an attribute or item, or
    by calling a method and ignoring what it returns."""
    passed: frozenset[str]
    """Names that the statement itself hands to calls whose result is not used."""
    later_binds: frozenset[str]
    """Names of the module that functions in the statement bind when they are called (``global``)."""
    later_changes: frozenset[str]
    """First names of the module's objects that functions in the statement may change when they are called."""
    later_called: frozenset[str]
    """Last names of what functions in the statement call."""
    texts: frozenset[str]
    """The string constants that name ``__main__``, and ``sys.modules``: ways to look the module's names up."""
    pairs: frozenset[tuple[str, str]]
    """First and last name of what the statement itself calls; an empty first one when there is none."""
    received: frozenset[str]
    """First names of the objects of which the statement itself calls a method that may change them."""
    handed: frozenset[tuple[str, str]]
    """Of what the statement itself hands to calls that may change it: the call's first name and the object's."""
    same: frozenset[tuple[str, str]]
    """Names of an object and of a part of it: ``("D", "x")`` for ``x = D["a"]`` and ``for x in (D, E)``."""
    held: frozenset[tuple[str, str]]
    """Names of an object and of what was made with it by a call: ``("c", "x")`` for ``x = c.cursor()``."""
    references: frozenset[str]
    """Names within strings, as ``@LIMIT`` of a query and ``f`` of the formula ``y ~ f(x)``."""


@dataclass(slots=True, eq=False)
class _Scope:
    kind: str
    """``module``, ``class``, ``function`` or ``comprehension``."""
    parent: "_Scope | None"
    lazy: bool
    """Whether it is executed later than the statement it is in."""
    bound: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    """First names of calls."""
    passed: set[str] = field(default_factory=set)
    """Handed to calls whose result is not used."""
    received: set[str] = field(default_factory=set)
    handed: set[tuple[str, str]] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    """Declared ``global``."""
    enclosing: set[str] = field(default_factory=set)
    """Declared ``nonlocal``."""

    def owner(self, name: str) -> "_Scope | None":
        """The scope that a name used here belongs to; None for the module."""
        scope: _Scope | None = self
        while scope is not None and scope.kind != "module":
            if name in scope.outer:
                return None
            if name in scope.bound and name not in scope.enclosing and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    def of_module(self, names: set[str]) -> set[str]:
        """Those of the names used here that may be names of the module."""
        if not names or self.kind == "module":
            return names
        # A class body looks in the module for what it has not bound yet.
        start = self.parent if self.kind == "class" and self.parent is not None else self
        return {name for name in names if name in self.outer or start.owner(name) is None}


def names_of(statement: ast.stmt) -> Names:
    """Read the names of a statement that stands at the top of a module."""
    return _Reader().read(statement)


class _Reader:
    """Walks one statement without recursion, for expressions can be nested deeper than the interpreter's stack."""

    def __init__(self) -> None:
        self._module = _Scope(kind="module", parent=None, lazy=False)
        self._scopes = [self._module]
        self._last_eager: set[str] = set()
        self._last_lazy: set[str] = set()
        self._texts: set[str] = set()
        self._pairs: set[tuple[str, str]] = set()
        self._references: set[str] = set()
        self._plain: set[int] = set()
        self._same: set[tuple[str, str]] = set()
        self._held: set[tuple[str, str]] = set()
        self._pending: list[tuple[ast.AST, _Scope]] = []

    def read(self, statement: ast.stmt) -> Names:
        self._pending.append((statement, self._module))
        while self._pending:
            node, scope = self._pending.pop()
            self._visit(node, scope)
        return self._names()

    def _names(self) -> Names:
        needs: set[str] = set()
        eager: set[str] = set()
        calls: set[str] = set()
        changes: set[str] = set()
        passed: set[str] = set()
        received: set[str] = set()
        handed: set[tuple[str, str]] = set()
        binds = set(self._module.bound)
        later_binds: set[str] = set()
        later_changes: set[str] = set()
        for scope in self._scopes:
            loaded = scope.of_module(scope.loaded)
            changed = scope.of_module(scope.changed)
            needs |= loaded
            needs |= scope.outer
            if scope.lazy:
                later_binds |= scope.outer & scope.bound
                later_changes |= changed
            else:
                eager |= loaded
                changes |= changed
                passed |= scope.of_module(scope.passed)
                calls |= scope.of_module(scope.called)
                binds |= scope.outer & scope.bound
                received |= scope.of_module(scope.received)
                if scope.handed:
                    objects = scope.of_module({name for _, name in scope.handed})
                    handed |= {pair for pair in scope.handed if pair[1] in objects}
        return Names(
            binds=_frozen(binds),
            needs=_frozen(needs),
            eager=_frozen(eager),
            calls=_frozen(calls),
            called=_frozen(self._last_eager),
            changes=_frozen(changes),
            passed=_frozen(passed),
            later_binds=_frozen(later_binds),
            later_changes=_frozen(later_changes),
            later_called=_frozen(self._last_lazy),
            texts=_frozen(self._texts),
            pairs=_frozen(self._pairs),
            received=_frozen(received),
            handed=_frozen(handed),
            same=_frozen(self._same),
            held=_frozen(self._held),
            references=_frozen(self._references),
        )

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Name):
            (scope.loaded if isinstance(node.ctx, ast.Load) else scope.bound).add(node.id)
        elif isinstance(node, (*_Function, ast.Lambda)):
            self._function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self._class(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scope)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            scope.bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Global):
            scope.outer.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.enclosing.update(node.names)
        else:
            self._other(node, scope)

    def _other(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Call):
            self._call(node.func, scope)
            self._handles(node, scope)
        elif isinstance(node, ast.NamedExpr):
            if not scope.lazy:
                self._name_again(node.value, [node.target])
            # A comprehension's assignment expression binds in the scope around it.
            while scope.kind == "comprehension" and scope.parent is not None:
                self._pending.append((node.value, scope))
                scope = scope.parent
            scope.bound.add(node.target.id)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            self._plain.add(id(node.value))  # another module's, when it is one of sys.modules
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            scope.changed.update(_first_name(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
            self._statement_call(node.value, scope)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            scope.loaded.add(node.target.id)
        elif isinstance(node, ast.Assign) and scope.kind == "module":
            self._name_again(node.value, node.targets)
        elif isinstance(node, (ast.For, ast.AsyncFor)) and scope.kind == "module":
            self._name_again(node.iter, [node.target])
        elif isinstance(node, ast.withitem) and scope.kind == "module" and node.optional_vars is not None:
            self._name_again(node.context_expr, [node.optional_vars])
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None and scope.kind == "module":
                self._name_again(node.value, [node.target])
            self._quoted(node.annotation, scope)
            if node.value is None:  # binds nothing
                self._push([node.annotation], scope)
                return
        elif type(node).__name__ == "TypeAlias":  # of Python 3.12
            inner = self._inner("function", scope, lazy=True)
            self._parameters_of_type(node, inner)
            self._push([getattr(node, "name", None)], scope)
            self._push([getattr(node, "value", None)], inner)
            return
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            scope.bound.update([node.name] if node.name else ())
        elif isinstance(node, ast.MatchMapping):
            scope.bound.update([node.rest] if node.rest else ())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._string(node.value)
        elif isinstance(node, ast.Attribute) and node.attr == "modules" and isinstance(node.value, ast.Name):
            self._texts.update(["sys.modules"] if node.value.id == "sys" and id(node) not in self._plain else ())
        self._push(ast.iter_child_nodes(node), scope)

    def _push(self, nodes: Sequence[ast.AST | None] | Iterator[ast.AST], scope: _Scope) -> None:
        self._pending.extend((node, scope) for node in nodes if node is not None)

    def _inner(self, kind: str, parent: _Scope, *, lazy: bool) -> _Scope:
        scope = _Scope(kind=kind, parent=parent, lazy=lazy or parent.lazy)
        self._scopes.append(scope)
        return scope

    def _call(self, function: ast.expr, scope: _Scope) -> None:
        scope.called.update(_first_name(function))
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        if last is not None:
            (self._last_lazy if scope.lazy else self._last_eager).add(last)

    def _handles(self, call: ast.Call, scope: _Scope) -> None:
        """What a call may change although its result is used: its object, and what it is given."""
        if scope.lazy:
            return
        function = call.func
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        first = next(_first_name(function), "")
        self._pairs.add((first, last))
        if isinstance(function, ast.Attribute):
            if last in _LOOKING_METHODS:
                return
            scope.received.update([first] if first else ())
        elif last in _LOOKS:
            return
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            scope.handed.update((first, name) for name in _objects(argument))

    def _name_again(self, value: ast.expr, targets: Sequence[ast.expr]) -> None:
        """Note which objects the targets give another name to, or hold."""
        names = [name for target in targets for name in _objects(target)][:_MOST_NAMES]
        parts = list(_objects(value))[:_MOST_NAMES]
        self._same.update((source, name) for source in parts for name in names)
        if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
            self._same.update((name, source) for source in parts for name in names)
        if isinstance(value, ast.Call) and not (isinstance(value.func, ast.Attribute) and value.func.attr == "copy"):
            sources = [name for argument in value.args for name in _objects(argument)]
            sources += [name for keyword in value.keywords for name in _objects(keyword.value)]
            if isinstance(value.func, ast.Attribute):
                sources += _first_name(value.func)
            self._held.update((source, name) for source in sources[:_MOST_NAMES] for name in names)

    def _string(self, text: str) -> None:
        if "__main__" in text:
            self._texts.add(text)
        if "@" in text:
            self._references.update(_REFERENCE.findall(text))
        if "~" in text:
            self._references.update(_APPLIED.findall(text))

    def _statement_call(self, call: ast.expr, scope: _Scope) -> None:
        """A call whose result is not used: made for what it changes, such as ``table.update(x)`` or ``shuffle(x)``."""
        call = call.value if isinstance(call, ast.Await) else call
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute):
                scope.changed.update(_first_name(call.func))
            if not (isinstance(call.func, ast.Name) and call.func.id in PRINTS):
                scope.passed.update(argument.id for argument in call.args if isinstance(argument, ast.Name))

    def _decorators(self, nodes: Sequence[ast.expr], scope: _Scope) -> None:
        for node in nodes:
            scope.changed.update(_first_name(node))
            self._call(node, scope)
        self._push(nodes, scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
        inner = self._inner("function", scope, lazy=True)
        arguments = node.args
        everyone = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        everyone += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
        inner.bound.update(argument.arg for argument in everyone)
        self._push([*arguments.defaults, *arguments.kw_defaults], scope)
        if isinstance(node, ast.Lambda):
            self._push([node.body], inner)
            return
        scope.bound.add(node.name)
        self._decorators(node.decorator_list, scope)
        annotations = [argument.annotation for argument in everyone] + [node.returns]
        for annotation in annotations:
            self._quoted(annotation, scope)
        self._push(annotations, scope)
        self._parameters_of_type(node, inner)
        self._push(node.body, inner)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        scope.bound.add(node.name)
        self._decorators(node.decorator_list, scope)
        # A base or a metaclass may note its subclasses, so making one counts as a change.
        for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
            scope.changed.update(_first_name(base))
        inner = self._inner("class", scope, lazy=False)
        self._parameters_of_type(node, inner)
        self._push([*node.bases, *node.keywords], scope)
        self._push(node.body, inner)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> None:
        inner = self._inner("comprehension", scope, lazy=False)
        first, *others = node.generators
        self._push([first.iter], scope)
        self._push([first.target, *first.ifs, *others], inner)
        self._push([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)

    def _parameters_of_type(self, node: ast.AST, inner: _Scope) -> None:
        """``[T: Bound]`` of Python 3.12."""
        for parameter in getattr(node, "type_params", ()):
            inner.bound.add(parameter.name)
            self._push([getattr(parameter, "bound", None), getattr(parameter, "default_value", None)], inner)

    def _quoted(self, annotation: ast.expr | None, scope: _Scope) -> None:
        """Names in an annotation that is written as a string."""
        if annotation is None:
            return
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                scope.loaded.update(_IDENTIFIER.findall(node.value))


def _frozen(names: set[_Item]) -> frozenset[_Item]:
    return frozenset(names) if names else _NONE


_NONE: frozenset[Any] = frozenset()


def _first_name(node: ast.expr) -> Iterator[str]:
    """The name at the root of ``a.b[0].c()``, if there is one."""
    while True:
        if isinstance(node, ast.Name):
            yield node.id
            return
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return


def _objects(node: ast.expr) -> Iterator[str]:
    """First names of the objects that an expression hands on: itself, or what it is a plain collection of."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (ast.List, ast.Tuple, ast.Set)):
            pending.extend(current.elts)
        elif isinstance(current, ast.Dict):
            pending.extend(current.values)
        elif isinstance(current, ast.Starred):
            pending.append(current.value)
        elif isinstance(current, (ast.Name, ast.Attribute, ast.Subscript)):
            yield from _first_name(current)
