"""What may be said to the inside of a workspace: commands, variables and paths that the kernel takes."""

import os
import posixpath
from collections.abc import Mapping, Sequence

from benchwright.core.errors import UsageError


def check_command(command: Sequence[str], environ: Mapping[str, str], *others: str) -> None:
    """Raise `UsageError` for a command that no kernel takes."""
    texts = (*command, *environ, *environ.values(), *others)
    if not command or not all(_is_passable(text) for text in texts):
        raise UsageError("A command needs a program, and no NUL character in it, its variables or its folder.")


def checked_path(path: str) -> str:
    """A path if it is plain and absolute; raises `UsageError` otherwise."""
    if posixpath.normpath(path) != path or not path.startswith("/") or path == "/" or not _is_passable(path):
        raise UsageError(f"Expected a plain absolute path in the sandbox, such as /testbed/setup.py, got {path!r}.")
    return path


def _is_passable(text: str) -> bool:
    """Whether the kernel can be given it."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
