"""The official evaluation script."""

import subprocess

import pytest

from benchwright.core.repositories import END_OF_TESTS, START_OF_TESTS
from benchwright.environments.repositories.official import official_script

BASE = "ab" * 20


def script(test_patch: str = "diff\n", **changes: object) -> str:
    """A script with changes."""
    values: dict[str, object] = {
        "base_commit": BASE,
        "test_patch": test_patch,
        "reset": ["tests/test_a.py"],
        "install": "python -m pip install -e .",
        "tests": "pytest -rA tests/test_a.py",
    }
    return official_script(**{**values, **changes})  # type: ignore[arg-type]


def test_the_order_is_the_official_one() -> None:
    """Install, reset the test files, apply the test patch, run between the markers, reset again."""
    text = script()
    places = [
        text.index(words)
        for words in (
            "set -uxo pipefail",
            "cd /testbed",
            "git status",
            f"diff {BASE}",
            "python -m pip install -e .",
            f"git checkout {BASE} tests/test_a.py",
            "git apply -v -",
            START_OF_TESTS,
            "pytest -rA tests/test_a.py",
            END_OF_TESTS,
        )
    ]
    assert places == sorted(places)
    assert text.rindex(f"git checkout {BASE} tests/test_a.py") > places[-1]


def test_nothing_is_installed_when_nothing_shall_be() -> None:
    """An empty command leaves no empty line, which would be no difference, and no other command."""
    text = script(install="")
    lines = text.splitlines()
    assert lines[lines.index(f"git -c core.fileMode=false diff {BASE}") + 1] == f"git checkout {BASE} tests/test_a.py"


def test_commands_before_it() -> None:
    """Those of a specification come before anything else in the repository."""
    text = script(setup=["export LANG=en_US.UTF-8"])
    assert text.index("export LANG") < text.index("git status")


@pytest.mark.parametrize(
    "patch",
    [
        "+ a $HOME `date` \\ 'quoted' \"double\"\n",
        "END_OF_TEST_PATCH\n",
        "END_OF_TEST_PATCH\nEND_OF_TEST_PATCH_\nx\n",
        "+END_OF_TEST_PATCH\n",
        "ends without a line end",
        "",
    ],
)
def test_the_shell_reads_the_patch_as_it_is(patch: str) -> None:
    """Nothing in it is expanded, and no line of it ends the here-document."""
    text = script(patch)
    command = text[text.index("git apply") : text.index(f": '{START_OF_TESTS}'")].replace("git apply -v -", "cat", 1)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == patch + "\n"
    assert done.stderr == ""


def test_names_that_need_quotes() -> None:
    """Files of the test patch are named to git as they are."""
    text = script(reset=["tests/a b.py", "tests/$x.py"])
    assert "git checkout " + BASE + " 'tests/a b.py' 'tests/$x.py'" in text


def test_bash_understands_it() -> None:
    """The whole script parses."""
    subprocess.run(["bash", "-n", "-c", script("it's\n", reset=[])], check=True)
