"""Where built environments live: one folder per user, chosen by environment variables."""

from collections.abc import Mapping
from pathlib import Path

from benchwright.core.errors import UsageError


def default_home(environ: Mapping[str, str]) -> Path:
    """The folder for everything benchwright keeps on this machine.

    ``$BENCHWRIGHT_HOME``, else ``$XDG_DATA_HOME/benchwright``, else ``~/.local/share/benchwright``.  An empty
    variable counts as not set.  Nothing is created.  Raises `UsageError` when a variable holds a path that is
    not absolute, or when there is no home folder to start from.
    """
    for variable, below in (("BENCHWRIGHT_HOME", ""), ("XDG_DATA_HOME", "benchwright")):
        if environ.get(variable):
            return _absolute(variable, environ[variable]) / below
    if not environ.get("HOME"):
        raise UsageError("No home folder is known: set BENCHWRIGHT_HOME to the folder where environments shall live.")
    return _absolute("HOME", environ["HOME"]) / ".local" / "share" / "benchwright"


def _absolute(variable: str, value: str) -> Path:
    path = Path(value)
    if not path.is_absolute():
        raise UsageError(f"{variable} must be an absolute path, not {value!r}.")
    return path
