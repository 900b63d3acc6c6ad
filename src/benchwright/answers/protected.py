"""Which of a candidate's edits are not kept: those that decide how tests are found, run and reported.

A candidate changes the repository's source.  The graded tests are ours, and so is what runs them.  The rules, in
order; the first that fits an edit decides:

1. What the reference patch edits too is kept, whatever it is.
2. Graded test files are not: neither edits and deletions, nor files or folders in their place, nor what Python would
   import instead of them (a package or compiled module of the same name beside them).
3. Compiled Python files are not, anywhere: ``*.pyc``, ``__pycache__``.
4. New files that run when an interpreter starts are not, anywhere: ``sitecustomize.py``, ``usercustomize.py``,
   ``*.pth``, ``*.egg-link``, and metadata of installed projects (``*.egg-info``, ``*.dist-info``), by which plug-ins
   announce themselves.
5. New runner configuration is not where it would take effect on graded tests: ``conftest.py``, ``pytest.ini``,
   ``tox.ini``, ``setup.cfg``, ``pyproject.toml``, ``.coveragerc`` and the like in a folder above or beside them.
   Removing existing ones from there, or moving them away, is not kept either.  Editing existing ones is, since right
   patches do that, except for a ``conftest.py`` inside the test folders of graded tests.
6. Runner scripts are not, new or existing: ``runtests.py`` and the like in test folders of graded tests, ``bin/test``,
   ``sympy/testing/``.
7. New modules that would be imported in place of the runner, of what it imports, or of a standard module it rests on
   are not, at any place from which modules are imported: the repository's root, ``src``, ``lib``, the graded tests'
   folders.  A project's own modules are its own.

Everything else is kept, though it may well change what tests say (helpers beside the tests, the project's plug-ins,
existing configuration); what that does is seen in the evidence: witness, log and the sabotaged twin of the run.
"""

import posixpath
import re
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from benchwright.answers.patch_sections import EditKind, PatchedFile
from benchwright.answers.patches import PatchAnswer
from benchwright.core.repositories import Edit

_CONFTEST = "conftest.py"
# What pytest reads (its documentation, "Initialization: determining rootdir and configfile"), and coverage, which loads
# plug-ins that its file names.
_CONFIGURATION = frozenset(
    {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
     ".coveragerc", _CONFTEST}
)  # fmt: skip
_START_FILES = frozenset({"sitecustomize.py", "usercustomize.py"})
_START_ENDINGS = (".pth", ".egg-link")
_METADATA_ENDINGS = (".egg-info", ".dist-info")
_COMPILED_ENDINGS = (".pyc", ".pyo")
# Runners of Django (tests/runtests.py), sympy (bin/test, sympy/testing) and their like.
_RUNNER_NAMES = frozenset({"runtests.py", "run_tests.py", "runtests.sh", "run_tests.sh"})
_RUNNER_SCRIPTS = frozenset({"bin/test", "bin/doctest", "bin/py.test", "bin/test_isolated", "runtests.py"})
_RUNNER_FOLDERS = ("sympy/testing/",)
_TEST_FOLDER = re.compile(r"^(tests?|testing)$|_tests?$")
_SOURCE_ROOTS = frozenset({"", "src", "lib"})
# Runners and what they import: requirements of pytest 3 to 9, tox, coverage, and common plug-ins.
_RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "attr", "attrs", "tomli", "toml",
     "exceptiongroup", "more_itertools", "wcwidth", "atomicwrites", "colorama", "six", "pathlib2",
     "importlib_metadata", "zipp", "pygments", "funcsigs", "unittest", "unittest2", "doctest", "nose", "xdist",
     "execnet", "tox", "coverage", "hypothesis", "mock", "sitecustomize", "usercustomize"}
)  # fmt: skip
_RUNNER_PLUGIN = re.compile(r"^_?pytest_")
# Standard modules that runners and witnesses cannot do without; a new one at the root would be imported first.
_STANDARD_MODULES = frozenset(
    {"argparse", "ast", "atexit", "bdb", "code", "codecs", "collections", "contextlib", "copy", "dataclasses",
     "dis", "enum", "fnmatch", "functools", "glob", "importlib", "inspect", "io", "itertools", "json",
     "linecache", "logging", "operator", "os", "pathlib", "pdb", "pickle", "platform", "pprint", "re", "runpy",
     "shlex", "shutil", "signal", "site", "socket", "string", "struct", "subprocess", "sysconfig", "tempfile",
     "textwrap", "threading", "time", "tokenize", "traceback", "types", "typing", "unittest", "uuid",
     "warnings", "weakref"}
)  # fmt: skip
_MODULE_ENDING = re.compile(r"\.py$|(\.[\w-]+)?\.(so|pyd)$")


def protected_edits(
    answer: PatchAnswer,
    *,
    graded: frozenset[str],
    base_files: Container[str],
    reference_paths: frozenset[str],
    project_modules: frozenset[str],
) -> tuple[Edit, ...]:
    """The candidate's edits that are left out before the hidden tests are put in, with the reasons.

    Args:
        answer: The candidate's patch.
        graded: Files of the test patch and files that hold required tests.
        base_files: Which paths exist at the base commit.
        reference_paths: What the reference patch edits.
        project_modules: Top-level modules of the project itself, such as ``_pytest`` for pytest.

    `benchwright.answers.patches.without` takes the paths of the result; each path is there once.
    """
    ground = _Ground(
        graded=graded,
        base_files=base_files,
        project_modules=project_modules,
        above=frozenset(folder for path in graded for folder in _folders_above(path)),
        test_folders=frozenset(filter(None, map(_test_folder, graded))),
    )
    edits: dict[str, str] = {}
    for file in answer.files:
        for path in file.touched:
            why = "" if path in reference_paths else _objection(file, path, ground)
            if why:
                edits.setdefault(path, why)
    return tuple(Edit(path=path, why=why) for path, why in edits.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What the rules need to know of a problem."""

    graded: frozenset[str]
    base_files: Container[str]
    project_modules: frozenset[str]
    above: frozenset[str]
    """Folders of graded files and all folders above them, the root (an empty name) included."""
    test_folders: frozenset[str]

    def is_new(self, path: str) -> bool:
        return path not in self.base_files

    def has_module(self, path: str) -> bool:
        """Whether there is a module at the base commit, given its path without an ending."""
        return f"{path}.py" in self.base_files or f"{path}/__init__.py" in self.base_files

    @property
    def import_roots(self) -> frozenset[str]:
        """Folders that are on the import path while the tests run: no package's, for pytest adds only such ones."""
        folders = (folder for folder in self.above if f"{folder}/__init__.py" not in self.base_files)
        return _SOURCE_ROOTS.union(folders)

    def takes_effect(self, path: str) -> bool:
        """Whether configuration at a path is read when the graded tests are run.

        pytest reads it in the folders above them, and a conftest.py also in folders ``test*`` right below one of
        those, when that one is given to it.
        """
        folder, name = posixpath.split(path)
        if folder in self.above:
            return True
        parent, last = posixpath.split(folder)
        return name == _CONFTEST and parent in self.above and last.startswith("test")

    def in_test_folder(self, path: str) -> bool:
        return any(path.startswith(folder + "/") for folder in self.test_folders)


def _objection(file: PatchedFile, path: str, ground: _Ground) -> str:
    """Why the edit of a path is not kept; empty when it is."""
    return next(_objections(file, path, ground), "")


def _objections(file: PatchedFile, path: str, ground: _Ground) -> Iterator[str]:
    name = posixpath.basename(path)
    if _stands_for_graded(path, ground.graded):
        yield "a graded test file; the hidden tests' version is used"
    if path.endswith(_COMPILED_ENDINGS) or "__pycache__" in path.split("/"):
        yield "a compiled Python file, which would be run in place of the source"
    if ground.is_new(path):
        if name in _START_FILES or name.endswith(_START_ENDINGS):
            yield "a new file that runs when an interpreter starts"
        if any(part.endswith(_METADATA_ENDINGS) for part in path.split("/")):
            yield "new metadata of an installed project, which can announce plug-ins"
    if name in _CONFIGURATION and ground.takes_effect(path):
        yield from _configuration_objections(file, path, ground)
    if path in _RUNNER_SCRIPTS or path.startswith(_RUNNER_FOLDERS):
        yield "a script or module that runs the graded tests"
    if name in _RUNNER_NAMES and ground.in_test_folder(path):
        yield "a script that runs the graded tests"
    shadowed = _shadowed_module(path, ground) if ground.is_new(path) else ""
    if shadowed:
        yield f"a new module that would be imported in place of {shadowed}"


def _configuration_objections(file: PatchedFile, path: str, ground: _Ground) -> Iterator[str]:
    if ground.is_new(path):
        yield "new configuration of the test runner"
    leaves = file.kind is EditKind.DELETED or (file.kind is EditKind.RENAMED and path == file.old_path)
    if leaves:
        yield "it removes configuration of the test runner"
    if posixpath.basename(path) == _CONFTEST and ground.in_test_folder(path):
        yield "a hook file of the test runner in the folder of graded tests"


def _stands_for_graded(path: str, graded: Collection[str]) -> bool:
    return path in graded or any(_replaces(path, test) for test in graded)


def _replaces(path: str, test: str) -> bool:
    """Whether a file at a path would be in a test file's way, or be imported in its place."""
    if test.startswith(path + "/") or path.startswith(test + "/"):
        return True
    stem, ending = posixpath.splitext(test)
    if ending != ".py" or not path.startswith(stem):
        return False
    rest = path[len(stem) :]
    return rest.startswith("/__init__.") or (rest.startswith(".") and _MODULE_ENDING.search(rest) is not None)


def _shadowed_module(path: str, ground: _Ground) -> str:
    """The runner's or the standard library's module that a new file takes the place of; empty when it takes none's."""
    for root in sorted(ground.import_roots):
        folder = root + "/" if root else ""
        if not path.startswith(folder):
            continue
        first, slash, _ = path.removeprefix(folder).partition("/")
        module = first if slash else _MODULE_ENDING.sub("", first)
        if (not slash and module == first) or not _is_shadow(module, root):
            continue
        if module not in ground.project_modules and not ground.has_module(posixpath.join(root, module)):
            return module
    return ""


def _is_shadow(module: str, root: str) -> bool:
    if module in _RUNNER_MODULES or _RUNNER_PLUGIN.match(module):
        return True
    return root in _SOURCE_ROOTS and module in _STANDARD_MODULES


def _folders_above(path: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _test_folder(path: str) -> str:
    """The outermost folder of a graded file that is named as one of tests, or its own folder; empty for the root."""
    parts = path.split("/")[:-1]
    for place, part in enumerate(parts):
        if _TEST_FOLDER.search(part):
            return "/".join(parts[: place + 1])
    return "/".join(parts)
