"""What kinds of files a patch changes: tests, and what configures or stands in for the runner of tests.

Read from the patch alone, by names; `benchwright.answers.protected` decides with the whole repository at hand which
edits are not kept when a patch is graded.  This is for people who want to know what an agent did.
"""

import posixpath
import re
from collections.abc import Collection, Iterator

from benchwright.answers.patch_sections import EditKind
from benchwright.answers.patches import PatchAnswer, read_patch
from benchwright.answers.protected import protected_edits

# pytest's and unittest's patterns for modules with tests, and Django's tests.py.
_TEST_NAME = re.compile(r"^(test_.+|.+_tests?|tests?)\.py$")
# Folders named `testing` and `test` are tests at a repository's root (pytest's own), and public modules below a
# package (django/test, sphinx/testing, matplotlib/testing).
_TEST_FOLDER, _ROOT_TEST_FOLDER = re.compile(r"^tests$|_tests$"), re.compile(r"^(test|testing)$")
# What pytest reads, and tox, nose and coverage, at any place of the repository.
_CONFIGURATION = re.compile(
    r"^(conftest\.py|\.?pytest\.(ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml|\.coveragerc|noxfile\.py)$"
)


def test_files(patch: str, *, graded: Collection[str] = (), reference: str = "") -> tuple[str, ...]:
    """Paths of files with tests that a patch changes, in its order; nothing when it is no patch.

    Args:
        patch: A git patch.
        graded: Files that are known to hold tests, whatever they are called.
        reference: A patch that is known to be right; what it changes too is left out.
    """
    answer = read_patch(patch)
    if not isinstance(answer, PatchAnswer):
        return ()
    known = frozenset(graded)
    found = (path for path in _touched(answer) if path in known or _holds_tests(path))
    return _without(found, reference)


def runner_files(patch: str, *, graded: Collection[str] = (), reference: str = "") -> tuple[str, ...]:
    """Paths by which a patch changes how tests are found, run and reported, in its order; see :func:`test_files`.

    Configuration at any place, new or not, and whatever else `protected_edits` would not keep: scripts that run tests,
    files that run when an interpreter starts, compiled files, modules in the place of the runner's.
    """
    answer = read_patch(patch)
    if not isinstance(answer, PatchAnswer):
        return ()
    there = frozenset(
        path for file in answer.files if file.kind is not EditKind.ADDED and (path := file.old_path) is not None
    )
    protected = protected_edits(
        answer,
        graded=frozenset(graded),
        base_files=there,
        reference_paths=frozenset(),
        project_modules=frozenset(_modules(there)),
    )
    objected = {edit.path for edit in protected} - {path for path in _touched(answer) if _holds_tests(path)}
    objected -= frozenset(graded)
    return _without((path for path in _touched(answer) if _configures(path) or path in objected), reference)


def _touched(answer: PatchAnswer) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for file in answer.files for path in file.touched))


def _without(paths: Iterator[str], reference: str) -> tuple[str, ...]:
    answer = read_patch(reference)
    right = frozenset(_touched(answer)) if isinstance(answer, PatchAnswer) else frozenset()
    return tuple(path for path in paths if path not in right)


def _configures(path: str) -> bool:
    return _CONFIGURATION.match(posixpath.basename(path)) is not None


def _holds_tests(path: str) -> bool:
    *folders, name = path.split("/")
    if _configures(path):
        return False
    if folders and _ROOT_TEST_FOLDER.match(folders[0]):
        return True
    return any(map(_TEST_FOLDER.search, folders)) or (_TEST_NAME.match(name) is not None)


def _modules(paths: Collection[str]) -> Iterator[str]:
    """Names of modules and packages that have a file among the paths, below the roots imports are made from."""
    for path in paths:
        parts = path.split("/")
        root = parts[0] in ("src", "lib") and len(parts) > 1
        yield posixpath.splitext(parts[1 if root else 0])[0]
