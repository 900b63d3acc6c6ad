"""Running the commands that build environments (uv, Python): one place that words their failures."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.core.errors import MachineError

LAST_LINES = 12
"""Lines of a failed command's output that go into the message: uv explains a conflict in about ten."""

WORLD_READABLE_UMASK = 0o022
"""What is built must be readable for the unprivileged user a sandbox runs as, whatever the caller's umask."""

_NO_SPACE = "no space left on the disk"
SPACE_MESSAGES = ("No space left on device", "Disk quota exceeded")


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    environ: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """Run a command to its end and return its standard output.

    Args:
        command: The program and its arguments.
        what: The purpose, as an infinitive for messages, such as ``install the packages``.
        environ: The whole environment of the process; this process's own when None.
        timeout: Seconds after which it is killed, or None.

    Raises `MachineError` with the command and its last lines when it cannot be started, fails, takes too
    long, or says that the disk is full.
    """
    words = [os.fspath(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env=None if environ is None else dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            umask=WORLD_READABLE_UMASK,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"Could not {what}: {_spell(words)} took more than {timeout:.0f} s.") from error
    except OSError as error:
        raise MachineError(f"Could not {what}: {words[0]} does not start ({error.strerror}).") from error
    if done.returncode != 0:
        raise MachineError(_failure(words, done.returncode, done.stderr or done.stdout, what))
    return done.stdout


def no_space_left(what: str) -> str:
    """The sentence for a full disk."""
    return f"Could not {what}: {_NO_SPACE}; free some, or set BENCHWRIGHT_HOME to a larger one."


def is_about_space(message: str) -> bool:
    """Whether a message is the sentence for a full disk."""
    return _NO_SPACE in message


def _failure(words: Sequence[str], status: int, output: str, what: str) -> str:
    if any(message in output for message in SPACE_MESSAGES):
        return no_space_left(what)
    last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-LAST_LINES:])
    return f"Could not {what}: this command failed with status {status}:\n  {_spell(words)}\n{last}"


def _spell(words: Sequence[str]) -> str:
    """The command on one line; an inline program is shortened to its first line."""
    return " ".join(word if "\n" not in word else word.strip().splitlines()[0] + " …" for word in words)
