"""Commands that fail are explained."""

from pathlib import Path

import pytest
from made_environments import script

from benchwright.core.errors import MachineError
from benchwright.environments import commands


def test_a_failed_command_is_shown_with_its_last_lines(tmp_path: Path) -> None:
    """The message has the purpose, the command, its status and the end of what it printed."""
    program = script(tmp_path / "program", "for n in $(seq 100); do echo line $n >&2; done; exit 3")
    with pytest.raises(MachineError) as caught:
        commands.run([program, "--flag"], what="do it")
    message = str(caught.value)
    assert "Could not do it" in message
    assert "status 3" in message
    assert f"{program} --flag" in message
    assert "line 100" in message
    assert "line 88\n" not in message


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    """What the command prints about space becomes advice."""
    program = script(tmp_path / "program", "echo 'error: No space left on device (os error 28)' >&2; exit 2")
    with pytest.raises(MachineError, match="no space left on the disk; free some, or set BENCHWRIGHT_HOME"):
        commands.run([program], what="do it")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """A program that does not exist is a fault of the machine."""
    with pytest.raises(MachineError, match="absent does not start"):
        commands.run([tmp_path / "absent"], what="do it")


def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    """After its time the command is killed and the message says how long it had."""
    program = script(tmp_path / "program", "exec sleep 60")
    with pytest.raises(MachineError, match="took more than 0 s"):
        commands.run([program], what="do it", timeout=0.05)
