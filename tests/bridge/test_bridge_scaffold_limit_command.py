"""What an agent reads of its budget: whatever keeps it from being written is not the sample's end."""

import asyncio

import pytest
from inspect_ai.util import SandboxUnavailableError
from scaffold_pieces import KEY, HostEnvironment

from benchwright.bridge.accounts import Account
from benchwright.bridge.scaffolds import limit_command
from benchwright.core.agents import AgentLimits


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), SandboxUnavailableError("no /bin/sh")])
def test_an_answer_that_cannot_be_written_is_left(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """As when the agent has filled the disk or removed the shell; any other error is a bug and comes out."""
    errors = [error, ZeroDivisionError("a bug")]

    class Refusing(HostEnvironment):
        async def write_file(self, file: str, contents: str | bytes) -> None:
            assert "Budget left" in str(contents)
            raise errors.pop(0)

    monkeypatch.setattr(limit_command, "sandbox", Refusing)
    account = Account(KEY, AgentLimits(uncached_tokens=10), None)
    asyncio.run(limit_command.tell(account))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(limit_command.tell(account))
    assert not errors
