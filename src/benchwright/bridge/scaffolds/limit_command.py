"""A command in the sandbox by which an agent asks how much of its budget is left.

The harness writes the answer after every reply of the model; the command only shows it.
"""

from inspect_ai.util import SandboxUnavailableError, sandbox

from benchwright.bridge.accounts import Account

TOKENS_LEFT = "tokens-left"
"""The command's name."""
_ANSWER = "/var/tmp/benchwright/budget"
_COMMAND_FILE = "/var/tmp/benchwright/tokens-left"

INSTALL = f"chmod 755 {_COMMAND_FILE} && ln -sfn {_COMMAND_FILE} "
"""Shell text that puts the command into a folder, whose name is to follow; `prepare` comes before it."""


async def prepare(account: Account) -> None:
    """Write the command and its first answer into Inspect's current sandbox."""
    await sandbox().write_file(_COMMAND_FILE, f"#!/bin/sh\nexec cat {_ANSWER}\n")
    await tell(account)


async def tell(account: Account) -> None:
    """Have the command answer with what is left of an account, if that can be written."""
    try:
        await sandbox().write_file(_ANSWER, account.line() + "\n")
    except (OSError, SandboxUnavailableError):
        # The agent has filled the disk, put something else in the file's place or removed the shell: it reads an older
        # answer, or none.  Whether the sandbox itself is broken is asked when the agent has ended.
        return
