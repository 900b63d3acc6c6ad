"""The bash tool: commands in a shell that goes on from call to call, over any of Inspect's sandboxes.

In our own sandboxes the output comes as one clipped stream; in others it goes to a file inside, from which head and
tail are read, so that however much a command writes, little of it travels.
"""

import secrets
from collections.abc import Mapping

from inspect_ai.tool import ToolDef, ToolError
from inspect_ai.util import SandboxEnvironment

from benchwright.bridge.sandboxing.base import LiveEnvironment, live
from benchwright.bridge.scaffolds.base import ScaffoldSettings
from benchwright.bridge.scaffolds.foreign_shell import Done, run_foreign
from benchwright.bridge.scaffolds.shell_state import ARGUMENTS, LONGEST_COMMAND, variables_of
from benchwright.bridge.scaffolds.tool_texts import clipped
from benchwright.core.repositories import WORK

NAME = "bash"
STATE = "/tmp/.benchwright-shell-"
"""What the names of the files begin with that hold a shell's state; each shell adds something of its own."""

_DESCRIPTION = (
    "Run a command in bash. Every call is a new process that goes on where the last one ended: working folder, "
    "variables, functions, aliases, options and umask carry over; traps, jobs and positional parameters do not. "
    "Background processes go on; redirect their output to a file. There is no terminal, and standard input is empty. "
    "Standard output and error are shown together, up to {bytes:,} bytes; of longer output the middle is left out. "
    "A command that takes too long is ended, and the shell is then as it was before it."
)


def bash_tool(environment: SandboxEnvironment, settings: ScaffoldSettings, *, start: str = WORK) -> ToolDef:
    """The tool for one sample.

    Args:
        environment: The sample's sandbox.
        settings: Limits of time and output.
        start: The folder of the first call.
    """
    shell = Shell(environment, start, output_bytes=settings.output_bytes)
    longest = settings.longest_command_seconds

    async def bash(command: str, timeout_seconds: int | None = None) -> str:
        seconds = settings.command_seconds if timeout_seconds is None else timeout_seconds
        if seconds < 1:
            raise ToolError(f"timeout_seconds is at least 1, but {seconds} was given.")
        _check(command)
        return await shell.run(command, seconds=min(seconds, longest))

    return ToolDef(
        bash,
        name=NAME,
        description=_DESCRIPTION.format(bytes=settings.output_bytes),
        parameters={
            "command": "What to run: one command or a whole script.",
            "timeout_seconds": f"After how many seconds the command is ended; {settings.command_seconds} if it is not "
            f"given, {longest:,} at most.",
        },
        max_output=0,  # the output is clipped here
    )


def _check(command: str) -> None:
    """Raise what the model is told of a command that no process can be given."""
    if "\0" in command:
        raise ToolError("A command cannot have a NUL character; nothing was run.")
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        raise ToolError("The command has a lone surrogate, which is no character; nothing was run.") from None
    if size > LONGEST_COMMAND:
        raise ToolError(
            f"A command may have {LONGEST_COMMAND:,} bytes and this one has {size:,}; nothing was run. Write long "
            f"files in several parts."
        )


class Shell:
    """A shell that goes on from call to call."""

    def __init__(self, environment: SandboxEnvironment, start: str, *, output_bytes: int) -> None:
        """Begin in a folder.

        Args:
            environment: The sandbox.
            start: The folder.
            output_bytes: Of one command that are shown.
        """
        self._environment = environment
        self._start = start
        self._output_bytes = output_bytes
        self._state = STATE + secrets.token_hex(4)
        self._calls = 0

    async def run(self, command: str, *, seconds: int) -> str:
        """Run a command; gives its output as a model is shown it.  Raises `SandboxFault`."""
        variables = variables_of(command, state=self._state, start=self._start, first=self._calls == 0)
        ours = live(self._environment)
        self._calls += 1
        if ours is not None:
            done = await self._run_live(ours, variables, seconds)
        else:
            file = f"{self._state}.out{self._calls}"
            done = await run_foreign(self._environment, variables, seconds, file=file, output_bytes=self._output_bytes)
        return self._shown(done, seconds)

    async def _run_live(self, ours: LiveEnvironment, variables: Mapping[str, str], seconds: int) -> Done:
        result = await ours.run_merged(
            ARGUMENTS,
            cwd="/",
            environ=variables,
            wall_seconds=seconds,
            output_bytes=2 * self._output_bytes,  # what is left out by the sandbox is then in what is left out here
        )
        status = None if result.timed_out else result.exit_status
        return Done(status, result.stdout, result.stdout_total_bytes)

    def _shown(self, done: Done, seconds: int) -> str:
        parts = [clipped(done.output, self._output_bytes, done.total_bytes).rstrip("\n")] if done.output else []
        if done.status is None:
            parts.append(f"[the command was ended after {seconds} s]")
        elif done.status != 0:
            # As shells have it: 128 and the signal's number.
            parts.append(f"[exit code {done.status if done.status > 0 else 128 - done.status}]")
        return "\n".join(parts) or "[no output]"
