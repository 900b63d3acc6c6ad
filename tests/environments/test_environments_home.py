"""Where built environments live."""

from pathlib import Path

import pytest

from benchwright.core.errors import UsageError
from benchwright.environments import default_home


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"BENCHWRIGHT_HOME": "/b", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/b"),
        ({"BENCHWRIGHT_HOME": "", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/benchwright"),
        ({"HOME": "/h"}, "/h/.local/share/benchwright"),
    ],
)
def test_the_most_specific_variable_decides(environ: dict[str, str], expected: str) -> None:
    """BENCHWRIGHT_HOME goes before XDG_DATA_HOME, and that before the home folder; empty means not set."""
    assert default_home(environ) == Path(expected)


def test_a_relative_path_is_refused() -> None:
    """A relative home would mean another folder in each working directory."""
    with pytest.raises(UsageError, match="BENCHWRIGHT_HOME must be an absolute path, not 'here'"):
        default_home({"BENCHWRIGHT_HOME": "here"})


def test_without_any_variable_the_message_says_what_to_set() -> None:
    """A process without HOME is told to set BENCHWRIGHT_HOME."""
    with pytest.raises(UsageError, match="set BENCHWRIGHT_HOME"):
        default_home({})
