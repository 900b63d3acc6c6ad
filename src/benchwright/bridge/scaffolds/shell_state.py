"""A shell whose calls are processes of their own, each of which goes on where the last one ended.

Nothing lives between two calls but files in the sandbox, so that nothing an agent kills ends the session.  A call is
`ARGUMENTS` with `variables_of` the command: in an argument it would be seen by ``ps``, and ``pkill -f`` would find it
and end the shell.  The script, ``shell.sh``, needs no program but bash, because an agent may unset ``PATH`` or remove
the programs.

A call's state is its working folder, variables, functions, aliases, ``set`` and ``shopt`` options and umask; not its
traps, jobs, positional parameters, limits or open files.  It is written when the command has ended, or by a trap when
the shell is ended by ``exit`` or a signal that can be caught (unless the agent has put a trap of its own there).  Two
files take turns, of entries that end with a NUL byte, the last of which says that the file is complete; the one with
the higher number counts.  What a call that is killed does to its state is thus lost, and the state before it is there.
"""

from collections.abc import Mapping
from importlib import resources

ARGUMENTS = (
    "bash",
    "-c",
    'eval "$BENCHWRIGHT_SHELL"; builtin eval "$__bw_text"; builtin eval "$__bw_command"; { __bw_save $?; } &>/dev/null',
)
"""The command of every call."""

_CHUNK = 25_000
"""Characters of a command in one variable; Linux takes no more than 128 KiB in one."""
LONGEST_COMMAND = 1_000_000
"""Bytes of a command; Linux takes 2 MiB of variables and arguments together with the usual limit of the stack."""
SCRIPT = resources.files(__package__).joinpath("shell.sh").read_text("utf-8")
"""What every call does."""


def variables_of(command: str, *, state: str, start: str, first: bool) -> Mapping[str, str]:
    """The variables of a call.

    Args:
        command: What is to be run: no NUL, no lone surrogates, at most `LONGEST_COMMAND` bytes.
        state: Path in the sandbox from which the names of its files are made.
        start: Folder of the first call.
        first: Whether this is the first call: then there is no state, and nothing is said of that.
    """
    parts = [command[place : place + _CHUNK] for place in range(0, len(command), _CHUNK)]
    return {
        "BENCHWRIGHT_SHELL": SCRIPT,
        "BENCHWRIGHT_STATE": state,
        "BENCHWRIGHT_START": start,
        "BENCHWRIGHT_FIRST": "1" if first else "",
        "BENCHWRIGHT_PARTS": str(len(parts)),
        **{f"BENCHWRIGHT_COMMAND_{number}": part for number, part in enumerate(parts)},
    }
