"""Executed at each start of Python: watches the imports for a test runner and loads the witness of that runner."""

import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module costs more to import than all of this file
    from typing import Any

WITNESSES = {
    "_pytest.config": "for_pytest",
    "unittest": "for_unittest",
    "sympy.testing.runtests": "for_sympy",
    "sympy.utilities.runtests": "for_sympy",
}
"""Module whose import is waited for, and the witness that is told of it."""


class Process:
    """What the witnesses of one process share."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        """Where these files lie."""
        self.socket = os.path.join(os.path.dirname(folder), "report.sock")
        self.pytest_running = False
        """Whether a pytest session runs: then it is pytest that speaks of unittest's test cases."""
        self._loaded = {}  # type: dict[str, Any]

    def load(self, name: str) -> "Any":
        """The module in one of the files beside this one, executed once."""
        if name not in self._loaded:
            path = os.path.join(self.folder, name + ".py")
            module = types.ModuleType("benchwright_witness_" + name)
            module.__file__ = path
            with open(path, "rb") as file:
                code = compile(file.read(), path, "exec")
            exec(code, module.__dict__)
            self._loaded[name] = module
        return self._loaded[name]

    def arm(self, module: "Any") -> None:
        """Tell the witness in charge that a runner's module is there.  A witness that fails is silent."""
        try:
            self.load(WITNESSES[module.__name__]).arm(module, self)
        except Exception:
            pass

    def channel(self, runner: str, version: str, root: str) -> "Any":
        """A new connection to the host, with a session announced on it."""
        return self.load("channel").Channel(self.socket, runner, version, root)


class Finder:
    """Lets the finders behind it find a module, and arms its witness when it has been executed."""

    def __init__(self, process: Process) -> None:
        self.process = process

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name not in WITNESSES:
            return None
        for finder in list(sys.meta_path):
            find_spec = getattr(finder, "find_spec", None)
            if finder is self or find_spec is None:
                continue
            spec = find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self.process)
                return spec
        return None


class Loader:
    """Stands in for a module's loader while the module is executed, not longer."""

    def __init__(self, loader: "Any", process: Process) -> None:
        self.loader = loader
        self.process = process

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.loader, name)

    def create_module(self, spec: "Any") -> "Any":
        return self.loader.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.process.arm(sys.modules.get(module.__name__, module))


def begin(folder: str) -> None:
    """Watch for the runners' modules, those included that are there already.

    Only once: in a virtual environment Python executes the lines of ``site-packages`` twice.
    """
    if any(type(finder).__module__ == __name__ for finder in sys.meta_path):
        return
    process = Process(folder)
    sys.meta_path.insert(0, Finder(process))
    for name in WITNESSES:
        if name in sys.modules:
            process.arm(sys.modules[name])


if __name__ == "benchwright_witness":
    begin(os.path.dirname(os.path.abspath(__file__)))
