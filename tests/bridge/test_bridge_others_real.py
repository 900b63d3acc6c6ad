"""The real Claude Code, Codex and mini-swe-agent with a scripted model: each edits a file with its own tools.

Only where their programs are on this machine: installed with npm, or kept in the home folder by an earlier run.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.tool import ToolCall
from inspect_ai.util import SandboxEnvironmentSpec
from sandboxing_pieces import Place, place
from scaffold_pieces import USAGE, Call, Worked, playing, work
from scaffold_pieces import turn as plain_turn

pytest.importorskip("inspect_swe", reason="the extra `scaffolds` is not installed")
pytest.importorskip("anthropic", reason="the extra `scaffolds` is not installed")

from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.scaffolds.base import ScaffoldSettings
from benchwright.bridge.scaffolds.mini_program import NAME as MINI
from benchwright.bridge.scaffolds.mini_program import PINNED
from benchwright.bridge.scaffolds.others import CLAUDE_CODE, CODEX, IDENTITY, MINI_SWE_AGENT, OtherScaffold
from benchwright.bridge.scaffolds.programs import installed_program, kept_in, program_source
from benchwright.core.agents import AgentLimits
from benchwright.core.attempts import Ending
from benchwright.core.execution import MIB
from benchwright.environments.home import default_home
from benchwright.sandboxes.base import WorkspaceLimits

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

LIMITS = WorkspaceLimits(memory_bytes=4096 * MIB, processes=512, scratch_bytes=1024 * MIB)
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nzwei\nthree\n"
MAKE = f"printf '{BEFORE}' > /testbed/numbers"
PATCH = """\
*** Begin Patch
*** Update File: numbers
@@
 one
-two
+zwei
 three
*** End Patch"""
IN_CODE = f"""\
text(await tools.apply_patch(`{PATCH}`))
text((await tools.exec_command({{cmd: "cat numbers"}})).output)"""
NETWORKED = {"WebSearch", "WebFetch", "web_search"}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The provider that needs no engine."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        yield found


def there(scaffold: OtherScaffold) -> None:
    """Skip the test without the program: none is fetched for a test."""
    version = PINNED if scaffold.name == MINI else program_source(scaffold.name).pinned
    kept = kept_in(default_home(os.environ), scaffold.name, version).is_dir()
    if not kept and (scaffold.name == MINI or installed_program(program_source(scaffold.name), os.environ) is None):
        pytest.skip(f"{scaffold.name} is neither installed nor kept in the home folder")


def act(known: Place, scaffold: OtherScaffold, script: Any, folder: Path, **options: Any) -> Worked:
    """One sample of a scaffold in a sandbox; with ``identity``, as for that model."""
    there(scaffold)
    identity = options.pop("identity", None)
    settings = ScaffoldSettings(options={IDENTITY: identity} if identity else {})
    shared = scaffold.ready(playing([]), settings).shared
    config = WorkspaceConfig.from_image(known.config.image, LIMITS, shared)
    where = SandboxEnvironmentSpec(known.spec.type, config)
    return work(scaffold, script, folder, where=where, settings=settings, **options)


def answered(worked: Worked) -> list[str]:
    """What the tools said."""
    return [message.text for message in worked.sample.messages if isinstance(message, ChatMessageTool)]


def called(worked: Worked) -> list[str]:
    """The tools that were called, in order."""
    messages = [message for message in worked.sample.messages if isinstance(message, ChatMessageAssistant)]
    return [call.function for message in messages for call in message.tool_calls or ()]


def turn(*calls: Call, **options: Any) -> ModelOutput:
    """A response whose calls have ids of their own, by which the programs tell them apart."""
    output = plain_turn(*calls, **options)
    for call in output.message.tool_calls or ():
        call.id = f"call_{uuid.uuid4().hex[:16]}"
    return output


def in_code(source: str) -> ModelOutput:
    """A turn with a call of Codex's tool that runs code, which is no function."""
    output = turn()
    output.message.tool_calls = [ToolCall(id="code", function="exec", arguments={"input": source}, type="custom")]
    output.choices[0].stop_reason = "tool_calls"
    return output


def shell(scaffold: OtherScaffold, command: str) -> Call:
    """A call of the tool that runs commands."""
    if scaffold is CODEX:
        return "exec_command", {"cmd": command}
    return ("Bash" if scaffold is CLAUDE_CODE else "bash"), {"command": command}


def test_claude_code_edits_a_file(known: Place, tmp_path: Path) -> None:
    """It reads, edits and writes with its own tools, and can ask for its budget."""
    edit = {"file_path": "/testbed/numbers", "old_string": "two", "new_string": "zwei"}
    worked = act(
        known,
        CLAUDE_CODE,
        [
            turn(shell(CLAUDE_CODE, MAKE)),
            turn(("Read", {"file_path": "/testbed/numbers"})),
            turn(("Edit", edit)),
            turn(("Write", {"file_path": "/testbed/more", "content": "four\n"})),
            turn(shell(CLAUDE_CODE, "cat /testbed/numbers /testbed/more; tokens-left")),
            turn(text="Done."),
        ],
        tmp_path,
    )
    assert worked.account.ending is Ending.SUBMITTED
    assert called(worked) == ["Bash", "Read", "Edit", "Write", "Bash"]
    assert answered(worked)[-1].startswith(f"{AFTER}four\nBudget left: 1,999,450 of 2,000,000 uncached tokens")
    assert worked.account.turns == 6
    assert "Claude Code" in worked.account.facts["program_says"]


@pytest.mark.parametrize("identity", [None, "gpt-6.2-sol"])
def test_codex_edits_a_file(known: Place, tmp_path: Path, identity: str | None) -> None:
    """With its patches in a shell, or in the code that it has newer models write."""
    heredoc = turn(shell(CODEX, f"cd /testbed && apply_patch <<'EOF'\n{PATCH}\nEOF"))
    show = turn(shell(CODEX, "cat /testbed/numbers"))
    edits = [in_code(IN_CODE)] if identity else [heredoc, show]
    script = [turn(shell(CODEX, MAKE)), *edits, turn(shell(CODEX, "tokens-left")), turn(text="Done.")]
    worked = act(known, CODEX, script, tmp_path, identity=identity)
    assert worked.account.ending is Ending.SUBMITTED
    assert AFTER in answered(worked)[-2]
    left = 2_000_000 - len(script[:-1]) * (USAGE.input_tokens + USAGE.output_tokens)
    assert f"Budget left: {left:,} of 2,000,000 uncached tokens" in answered(worked)[-1]
    assert worked.account.turns == len(script)


def test_mini_swe_agent_edits_a_file(known: Place, tmp_path: Path) -> None:
    """It has a shell only, and hands in with a command; its own Python is not the one that commands find."""
    edit = f"{MAKE}; printf '{AFTER}' > numbers; cat numbers; command -v python3; tokens-left"
    script = [
        turn(shell(MINI_SWE_AGENT, edit)),
        turn(shell(MINI_SWE_AGENT, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")),
    ]
    worked = act(known, MINI_SWE_AGENT, script, tmp_path)
    assert worked.account.ending is Ending.SUBMITTED
    (said,) = answered(worked)
    assert "zwei" in said
    assert "/opt/python/bin/python3" in said
    assert "Budget left: 1,999,890 of" in said


@pytest.mark.parametrize("scaffold", [CLAUDE_CODE, CODEX, MINI_SWE_AGENT], ids=lambda scaffold: scaffold.name)
def test_the_budget_ends_each_of_them(known: Place, tmp_path: Path, scaffold: OtherScaffold) -> None:
    """The last turn's command runs to its end, and its output is in the transcript."""
    script = [turn(shell(scaffold, "echo first")), turn(shell(scaffold, "sleep 1; echo second")), turn(text="never")]
    worked = act(known, scaffold, script, tmp_path, limits=AgentLimits(uncached_tokens=150))
    assert worked.account.ending is Ending.OUT_OF_BUDGET
    assert len(worked.calls) == 2
    assert ["first" in answered(worked)[0], "second" in answered(worked)[1]] == [True, True]


@pytest.mark.parametrize("scaffold", [CLAUDE_CODE, CODEX], ids=lambda scaffold: scaffold.name)
def test_their_own_tools_are_offered_but_none_that_needs_a_network(
    known: Place, tmp_path: Path, scaffold: OtherScaffold
) -> None:
    """Ours are not among them: no name of ours with a description of ours."""
    offered: dict[str, str] = {}

    def answer(messages: list[ChatMessage], tools: list[Any], *more: Any) -> ModelOutput:
        offered.update({tool.name: tool.description for tool in tools})
        return turn(text="Done.")

    act(known, scaffold, answer, tmp_path)
    assert {"Bash", "Edit", "Read", "Write"} <= set(offered) if scaffold is CLAUDE_CODE else "exec_command" in offered
    assert not NETWORKED & set(offered)
    assert not {"bash", "text_editor", "submit"} & set(offered)


@pytest.mark.parametrize("scaffold", [CLAUDE_CODE, CODEX], ids=lambda scaffold: scaffold.name)
def test_a_refusal_is_asked_for_once(known: Place, tmp_path: Path, scaffold: OtherScaffold) -> None:
    """Neither the program nor the bridge asks again."""
    worked = act(known, scaffold, [turn(text="No.", stop="content_filter"), turn(text="never")], tmp_path)
    assert worked.account.ending is Ending.REFUSED
    assert len(worked.calls) == 1


def test_nothing_of_them_is_left_in_the_repository(known: Place, tmp_path: Path) -> None:
    """Their settings and sessions are in the home folder inside."""
    for scaffold in (CLAUDE_CODE, CODEX):
        script = [turn(shell(scaffold, "ls -A /testbed; echo end")), turn(text="Done.")]
        worked = act(known, scaffold, script, tmp_path / scaffold.name)
        assert answered(worked)[0].rpartition("Output:\n")[2].split() == ["end"]
        shutil.rmtree(tmp_path / scaffold.name)
