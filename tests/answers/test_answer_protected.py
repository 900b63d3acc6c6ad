"""Which edits of a candidate are not kept: graded tests, hooks of the runner, what would be imported in its place."""

import pytest

from benchwright.answers.patches import PatchAnswer, read_patch, without
from benchwright.answers.protected import protected_edits

GRADED = frozenset({"tests/test_price.py", "tests/till/test_open.py", "shop/tests/test_unit.py"})
BASE = frozenset(
    {
        "setup.cfg", "pyproject.toml", "tox.ini", "conftest.py", "setup.py", "shop/__init__.py", "shop/price.py",
        "shop/conftest.py", "shop/tests/__init__.py", "shop/tests/test_unit.py", "shop/tests/conftest.py",
        "tests/conftest.py", "tests/runtests.py", "tests/helpers.py", "tests/test_price.py", "docs/conftest.py",
        "bin/test", "src/typing/__init__.py", "old/setup.cfg", "sympy/testing/runtests.py",
        "sympy/utilities/runtests.py",
    }
)  # fmt: skip


def edit(path: str) -> str:
    """A section that adds a file, or changes it where it is at the base commit."""
    if path in BASE:
        return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+b\n"


def removal(path: str) -> str:
    """A section that deletes a file."""
    return f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"


def move(old: str, new: str, verb: str = "rename") -> str:
    """A section that renames or copies a file."""
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\n{verb} from {old}\n{verb} to {new}\n"


def dropped(
    text: str,
    *,
    graded: frozenset[str] = GRADED,
    reference: frozenset[str] = frozenset(),
    modules: frozenset[str] = frozenset({"shop"}),
) -> dict[str, str]:
    """Paths that are not kept, with the reasons."""
    answer = read_patch(text)
    assert isinstance(answer, PatchAnswer)
    edits = protected_edits(answer, graded=graded, base_files=BASE, reference_paths=reference, project_modules=modules)
    return {edit.path: edit.why for edit in edits}


DROPPED = [
    # Graded tests, and what stands in their place.
    (edit("tests/test_price.py"), "graded"),
    (removal("tests/test_price.py"), "graded"),
    (edit("tests/till/test_open.py"), "graded"),
    (edit("tests/test_price.py/x.py"), "graded"),
    (edit("tests/till"), "graded"),
    (edit("tests/test_price/__init__.py"), "graded"),
    (edit("tests/test_price.cpython-39-x86_64-linux-gnu.so"), "graded"),
    (edit("tests/test_price.so"), "graded"),
    # Compiled files.
    (edit("shop/__pycache__/price.cpython-39.pyc"), "compiled"),
    (edit("anywhere/x.pyc"), "compiled"),
    # What runs when an interpreter starts.
    (edit("sitecustomize.py"), "interpreter"),
    (edit("src/usercustomize.py"), "interpreter"),
    (edit("deep/down/evil.pth"), "interpreter"),
    (edit("evil.egg-link"), "interpreter"),
    (edit("evil.egg-info/entry_points.txt"), "metadata"),
    (edit("src/evil-1.0.dist-info/METADATA"), "metadata"),
    # Configuration.
    (edit("tests/till/conftest.py"), "new configuration"),
    (edit("tests/test_more/conftest.py"), "new configuration"),
    (edit("pytest.ini"), "new configuration"),
    (edit(".pytest.ini"), "new configuration"),
    (edit("tests/pytest.ini"), "new configuration"),
    (edit("tests/tox.ini"), "new configuration"),
    (edit("shop/setup.cfg"), "new configuration"),
    (edit("tests/till/pyproject.toml"), "new configuration"),
    (edit(".coveragerc"), "new configuration"),
    (removal("setup.cfg"), "removes"),
    (removal("conftest.py"), "removes"),
    (edit("tests/conftest.py"), "hook file"),
    (edit("shop/tests/conftest.py"), "hook file"),
    # Runner scripts.
    (edit("tests/runtests.py"), "runs the graded tests"),
    (edit("tests/run_tests.py"), "runs the graded tests"),
    (edit("bin/test"), "runs the graded tests"),
    (edit("sympy/testing/runtests.py"), "runs the graded tests"),
    (edit("sympy/testing/pytest.py"), "runs the graded tests"),
    # Shadows.
    (edit("pytest.py"), "in place of pytest"),
    (edit("pytest/__init__.py"), "in place of pytest"),
    (edit("_pytest/runner.py"), "in place of _pytest"),
    (edit("src/pluggy/__init__.py"), "in place of pluggy"),
    (edit("lib/py.py"), "in place of py"),
    (edit("tests/unittest/__init__.py"), "in place of unittest"),
    (edit("tests/till/xdist.py"), "in place of xdist"),
    (edit("pytest_evil.py"), "in place of pytest_evil"),
    (edit("coverage.cpython-39-x86_64-linux-gnu.so"), "in place of coverage"),
    (edit("traceback.py"), "in place of traceback"),
    (edit("src/json/__init__.py"), "in place of json"),
]
KEPT = [
    edit("shop/price.py"),
    removal("shop/price.py"),
    edit("shop/new.py"),
    edit("tests/helpers.py"),
    edit("tests/test_mine.py"),
    edit("tests/test_price_more.py"),
    edit("tests/test_price.txt"),
    edit("tests/test_price/data.txt"),
    edit("more/test_price.py"),
    # Existing configuration is edited by right patches, outside the graded tests' folders.
    edit("conftest.py"),
    edit("shop/conftest.py"),
    edit("docs/conftest.py"),
    edit("setup.cfg"),
    edit("pyproject.toml"),
    edit("tox.ini"),
    edit("setup.py"),
    # New configuration that nothing reads while the graded tests run.
    edit("docs/new/conftest.py"),
    edit("templates/pytest.ini"),
    edit("examples/tests/conftest.py"),
    edit("noxfile.py"),
    removal("old/setup.cfg"),
    # Names that are no shadows where they stand.
    edit("shop/pytest.py"),
    edit("shop/json.py"),
    edit("tests/json.py"),
    edit("docs/unittest.py"),
    edit("pytest.md"),
    edit("src/typing/more.py"),
    edit("shop/runtests.py"),
    edit("sympy/utilities/runtests.py"),
]


@pytest.mark.parametrize(("text", "why"), DROPPED)
def test_edits_that_decide_how_tests_run_are_not_kept(text: str, why: str) -> None:
    """Each is named once with its reason, and dropping it leaves the rest of the patch."""
    source = edit("shop/price.py")
    found = dropped(text + source)
    assert len(found) == 1
    assert why in next(iter(found.values()))
    answer = read_patch(text + source)
    assert isinstance(answer, PatchAnswer)
    assert without(answer, found).text == source


@pytest.mark.parametrize("text", KEPT)
def test_other_edits_are_kept(text: str) -> None:
    """Source, helpers, existing configuration, and names that are harmless where they stand."""
    assert dropped(text) == {}


@pytest.mark.parametrize("text", [text for text, _ in DROPPED])
def test_what_the_reference_edits_is_kept(text: str) -> None:
    """Whatever it is: the right solution may need it."""
    answer = read_patch(text)
    assert isinstance(answer, PatchAnswer)
    assert dropped(text, reference=frozenset(answer.files[0].names)) == {}


def test_a_projects_own_modules_shadow_nothing() -> None:
    """pytest's own source is edited by patches for pytest."""
    text = edit("src/_pytest/new.py") + edit("src/pytest/new.py")
    assert set(dropped(text)) == {"src/_pytest/new.py", "src/pytest/new.py"}
    assert dropped(text, modules=frozenset({"pytest", "_pytest"})) == {}


def test_renames_count_on_both_sides() -> None:
    """Moving a graded file away, or something onto configuration; the source of a copy is left alone."""
    assert set(dropped(move("tests/test_price.py", "tests/test_cost.py"))) == {"tests/test_price.py"}
    assert set(dropped(move("shop/price.py", "tests/till/conftest.py"))) == {"tests/till/conftest.py"}
    assert set(dropped(move("setup.cfg", "setup.txt"))) == {"setup.cfg"}
    assert set(dropped(move("docs/conftest.py", "pytest.ini"))) == {"pytest.ini"}
    assert dropped(move("tests/test_price.py", "tests/test_cost.py", "copy")) == {}


def test_a_file_that_is_added_and_then_changed_is_new() -> None:
    """What exists is a question to the base commit, not to the patch."""
    path = "tests/till/conftest.py"
    again = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-b\n+c\n"
    assert set(dropped(edit(path) + again)) == {path}
    assert set(dropped(f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n+c\n")) == {path}


def test_tests_at_the_root_have_no_folder_of_their_own() -> None:
    """An existing conftest.py beside them is configuration like any other; a new one is not kept."""
    graded = frozenset({"test_requests.py"})
    assert dropped(edit("conftest.py"), graded=graded) == {}
    assert set(dropped(edit("pytest.ini") + edit("pytest.py"), graded=graded)) == {"pytest.ini", "pytest.py"}
    assert dropped(edit("tests/till/conftest.py"), graded=graded) == {}


def test_tests_beside_the_source_share_its_folder() -> None:
    """Where no folder is named after tests, the graded file's own one counts."""
    assert "hook file" in dropped(edit("shop/conftest.py"), graded=frozenset({"shop/test_unit.py"}))["shop/conftest.py"]
