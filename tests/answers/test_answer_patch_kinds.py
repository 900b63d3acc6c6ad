"""What kinds of files a patch changes, told by their names."""

import pytest

from benchwright.answers.patch_kinds import runner_files
from benchwright.answers.patch_kinds import test_files as files_with_tests
from benchwright.answers.patches import PatchAnswer, read_patch
from benchwright.answers.protected import protected_edits


def edit(path: str) -> str:
    """A patch that changes a line of a file."""
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n"


def new(path: str) -> str:
    """A patch that adds a file."""
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+new\n"


def gone(path: str) -> str:
    """A patch that deletes a file."""
    return f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"


def moved(old: str, path: str) -> str:
    """A patch that moves a file."""
    return f"diff --git a/{old} b/{path}\nsimilarity index 100%\nrename from {old}\nrename to {path}\n"


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_app.py", "tests/data/input.json", "test_requests.py", "testing/test_config.py",
        "testing/logging/test_fixture.py", "sklearn/utils/tests/test_estimator.py", "django/contrib/gis/tests.py",
        "tests/model_fields/tests.py", "src/thing_test.py", "test/units/thing.py", "lib/app_tests/data.py", "tests.py",
    ],
)  # fmt: skip
def test_files_with_tests_are_known_by_their_names(path: str) -> None:
    """Whether they are edited, added or deleted; they are no runner configuration."""
    for patch in (edit(path), new(path), gone(path)):
        assert files_with_tests(patch) == (path,)
        assert runner_files(patch) == ()


@pytest.mark.parametrize(
    "path",
    [
        "src/flask/app.py", "django/test/client.py", "sphinx/testing/util.py", "lib/matplotlib/testing/compare.py",
        "pylint/testutils/lint_module_test_case.py", "src/contest.py", "docs/tests.rst", "src/latest.py",
        "sklearn/utils/_testing.py", "setup.py", "requirements.txt", "src/_pytest/runner.py",
    ],
)  # fmt: skip
def test_other_files_are_neither(path: str) -> None:
    """Source, documentation, and public modules that help others with tests."""
    assert (files_with_tests(edit(path)), runner_files(edit(path))) == ((), ())


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "tests/unit/conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml",
        ".coveragerc", "tests/pytest.toml", "bin/test", "sympy/testing/runtests.py", "runtests.py",
    ],
)  # fmt: skip
def test_runner_configuration_is_known_by_its_name(path: str) -> None:
    """Existing or new, wherever it lies; a hook file among tests is configuration, not a test."""
    for patch in (edit(path), new(path), gone(path)):
        assert runner_files(patch) == (path,)
        assert files_with_tests(patch) == ()


@pytest.mark.parametrize(
    "path",
    ["sitecustomize.py", "src/evil.pth", "a/x.dist-info/entry_points.txt", "pytest.py", "src/json.py", "a/b.pyc"],
)
def test_new_files_in_the_runners_way_are_found(path: str) -> None:
    """What runs when an interpreter starts, what announces plug-ins, and what is imported in another's place."""
    assert runner_files(new(path)) == (path,)


def test_a_projects_own_modules_are_its_own() -> None:
    """A new module in a package that the patch shows to be there takes nobody's place."""
    assert runner_files(edit("src/_pytest/runner.py") + new("src/_pytest/extra.py")) == ()
    assert runner_files(edit("src/attr/_make.py") + new("src/attr/_extra.py")) == ()
    assert runner_files(new("src/attr/__init__.py")) == ("src/attr/__init__.py",)


def test_both_paths_of_a_move_count() -> None:
    """Moving a test away changes it, and so does moving configuration."""
    assert files_with_tests(moved("tests/test_a.py", "old/a.py")) == ("tests/test_a.py",)
    assert runner_files(moved("conftest.py", "old.py")) == ("conftest.py",)


def test_paths_come_once_and_in_order() -> None:
    """As the patch has them."""
    patch = edit("tests/test_b.py") + edit("src/x.py") + edit("tests/test_a.py") + edit("tests/test_b.py")
    assert files_with_tests(patch) == ("tests/test_b.py", "tests/test_a.py")


def test_graded_files_are_tests_whatever_their_names() -> None:
    """What the benchmark says holds tests does, and is no runner configuration then."""
    patch = edit("checks/all.py") + edit("src/x.py")
    assert files_with_tests(patch, graded={"checks/all.py"}) == ("checks/all.py",)
    assert runner_files(edit("tests/t.py"), graded={"tests/t.py"}) == ()
    assert runner_files(new("tests/t/__init__.py"), graded={"tests/t.py"}) == ()


def test_what_the_reference_changes_too_is_left_out() -> None:
    """A right patch may have to edit tests' helpers or configuration."""
    patch = edit("setup.cfg") + edit("tox.ini") + edit("tests/test_a.py") + edit("tests/helper.py")
    reference = edit("setup.cfg") + edit("tests/helper.py")
    assert runner_files(patch, reference=reference) == ("tox.ini",)
    assert files_with_tests(patch, reference=reference) == ("tests/test_a.py",)


@pytest.mark.parametrize("patch", ["", "   \n", "no patch", "a\udcffb"])
def test_what_is_no_patch_changes_nothing(patch: str) -> None:
    """An empty submission, and text that is none."""
    assert (files_with_tests(patch), runner_files(patch)) == ((), ())


def test_names_that_are_no_text_are_kept() -> None:
    """git quotes bytes of names; surrogates in the contents do no harm."""
    patch = edit("src/x.py").replace("+new", "+n\udcffw") + new("tests/test_a.py")
    assert files_with_tests(patch) == ("tests/test_a.py",)


def test_the_rules_of_grading_are_covered() -> None:
    """New configuration that grading does not keep is always found here."""
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
                 ".coveragerc", "conftest.py"):  # fmt: skip
        answer = read_patch(new(name))
        assert isinstance(answer, PatchAnswer)
        objected = protected_edits(
            answer, graded=frozenset({"tests/test_a.py"}), base_files=(), reference_paths=frozenset(),
            project_modules=frozenset(),
        )  # fmt: skip
        assert [found.path for found in objected] == [name]
        assert runner_files(new(name)) == (name,)
