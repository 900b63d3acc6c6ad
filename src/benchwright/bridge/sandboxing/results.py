"""How the end of a command in a live workspace reads in Inspect's terms."""

import posixpath
import re
from collections.abc import Iterable, Sequence

from inspect_ai.util import ExecResult, OutputLimitExceededError, SandboxEnvironmentLimits

from benchwright.sandboxes.base import LiveResult

NOT_FOUND, NOT_STARTED = 127, 126
"""Statuses of a program that is not there or cannot be started, as shells have them."""


def exec_result(command: Sequence[str], done: LiveResult, seconds: float | None) -> ExecResult[str]:
    """What Inspect's ``exec`` returns for it; bytes that are not UTF-8 are replaced.

    Raises what ``exec`` promises: ``TimeoutError``, with ``truncated_output`` as Inspect's own providers have it;
    ``PermissionError`` when the program may not be executed; ``OutputLimitExceededError`` when a stream had more bytes
    than Inspect allows, with head and tail of both.
    """
    stdout, stderr = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    if done.timed_out:
        late = TimeoutError("Command timed out" if seconds is None else f"Command timed out after {seconds:g} seconds")
        late.truncated_output = stdout + stderr  # type: ignore[attr-defined]
        raise late
    if max(done.stdout_total_bytes, done.stderr_total_bytes) > SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE:
        raise OutputLimitExceededError(
            limit_str=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, truncated_output=stdout + stderr
        )
    status = returncode(done)
    if status == NOT_STARTED and not stdout and _may_not_execute(command[0], stderr):
        raise PermissionError(f"Permission denied executing {command[0]}: {stderr.strip()}")
    return ExecResult(success=status == 0, returncode=status, stdout=stdout, stderr=stderr)


def returncode(done: LiveResult) -> int:
    """The exit status, with 128 and the signal's number for a signal, as in a shell."""
    status = done.exit_status
    if status is None:
        return 128 + 9
    return status if status >= 0 else 128 - status


def refused(command: Sequence[str], others: Iterable[str], stdin: str | bytes | None) -> ExecResult[str] | None:
    """A failed result for what no kernel takes as a command, such as a NUL character; None when there is nothing.

    Models write such commands, and a result is what they can read.
    """
    if not command:
        return _not_started("a command needs a program")
    if any("\0" in text for text in (*command, *others)):
        return _not_started("a command, its variables and its folder have no NUL character")
    texts = [*command, *others, *([stdin] if isinstance(stdin, str) else [])]
    if any(re.search("[\ud800-\udfff]", text) for text in texts):
        return _not_started("a command and its input have no lone surrogates")
    return None


def _not_started(why: str) -> ExecResult[str]:
    return ExecResult(success=False, returncode=NOT_STARTED, stdout="", stderr=f"benchwright: {why}\n")


def _may_not_execute(program: str, stderr: str) -> bool:
    """Whether the only line says so of this very program; another program's complaint is its own result."""
    lines = stderr.splitlines()
    if len(lines) != 1:
        return False
    names = "|".join(re.escape(name) for name in {program, posixpath.basename(program)})
    return re.search(rf"""(?:^|[\s/"'`])(?:{names})["'`]?: permission denied""", lines[0], re.IGNORECASE) is not None
