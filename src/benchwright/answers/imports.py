"""Which libraries a piece of code asks for, read without running it."""

import ast

from benchwright.answers.parsing import ParseFailure, parse

_IMPORTERS = frozenset({"import_module", "__import__"})


def top_level_imports(code: str) -> frozenset[str]:
    """Top-level names of all modules the code imports, anywhere in it.

    Calls of ``import_module`` and ``__import__`` count when the name is a constant.  Relative imports name no
    library and are left out.  Code that does not parse imports nothing.
    """
    try:
        tree = parse(code)
    except ParseFailure:
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                names.add(node.module)
        elif isinstance(node, ast.Call):
            names.update(_constant_import(node))
    return frozenset(top for name in names if (top := name.partition(".")[0]))


def _constant_import(call: ast.Call) -> list[str]:
    """The module named by ``importlib.import_module("x")``, ``import_module("x")`` or ``__import__("x")``."""
    function = call.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called not in _IMPORTERS:
        return []
    arguments = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name")]
    return [
        argument.value
        for argument in arguments
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
