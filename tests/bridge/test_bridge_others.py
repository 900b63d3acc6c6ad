"""Somebody else's program in a sandbox: asked for by Inspect's bridge, watched, and ended when its budget is."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from inspect_ai.agent._bridge.sandbox import service as bridge_service
from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput
from inspect_ai.util import SandboxEnvironmentSpec
from inspect_ai.util._sandbox import service
from sandboxing_pieces import LIMITS, Place, place
from scaffold_pieces import USAGE, Outputs, Worked, playing, turn, work

pytest.importorskip("inspect_swe", reason="the extra `scaffolds` is not installed")
pytest.importorskip("anthropic", reason="the extra `scaffolds` is not installed")

from others_pieces import TOOLS, little_code

from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.scaffolds.base import ScaffoldSettings
from benchwright.bridge.scaffolds.others import CLAUDE_CODE, CODEX, MINI_SWE_AGENT, OtherScaffold
from benchwright.bridge.scaffolds.programs import Program, ProgramSource
from benchwright.bridge.scaffolds.registry import SCAFFOLDS
from benchwright.bridge.transcripts import actions_of
from benchwright.core.agents import AgentLimits
from benchwright.core.attempts import Ending
from benchwright.core.errors import SandboxFault, UsageError

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The provider that needs no engine."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Inspect looks for requests from inside every two seconds; here it does so ten times as often."""

    async def serve(*arguments: Any, polling_interval: float, **options: Any) -> None:
        await service.sandbox_service(*arguments, polling_interval=polling_interval / 10, **options)

    with patch.object(bridge_service, "sandbox_service", serve):
        yield


@pytest.fixture
def scaffold(tmp_path: Path) -> OtherScaffold:
    """Claude Code, with a little program in its place."""
    return little_code(tmp_path / "program")


def act(
    known: Place, scaffold: OtherScaffold, outputs: Outputs, folder: Path, limits: AgentLimits | None = None
) -> Worked:
    """One sample in a sandbox that has the program."""
    shared = scaffold.ready(playing([]), ScaffoldSettings()).shared
    where = SandboxEnvironmentSpec(known.spec.type, WorkspaceConfig.from_image(known.config.image, LIMITS, shared))
    return work(scaffold, outputs, folder, where=where, limits=limits)


def bash(command: str) -> ModelOutput:
    """A turn with a call of the program's tool."""
    return turn(("Bash", {"command": command}))


def outputs_of(messages: list[ChatMessage]) -> list[str]:
    """What tools answered."""
    return [message.text.strip() for message in messages if isinstance(message, ChatMessageTool)]


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What came of a sample with nothing special, and what the model was offered in each of its calls."""

    worked: Worked
    offered: list[list[str]]


SCRIPT = ("echo one > /testbed/a; pwd; tokens-left", "cat /testbed/a; echo $PATH; bash -c tokens-left")


@pytest.fixture(scope="module")
def whole(known: Place, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Two turns with a command, and a last one without."""
    folder = tmp_path_factory.mktemp("whole")
    offered: list[list[str]] = []

    def answer(messages: list[ChatMessage], tools: list[Any], choice: Any, config: Any) -> ModelOutput:
        offered.append([tool.name for tool in tools])
        assert {tool.description for tool in tools} == {"as its maker says"}
        return bash(SCRIPT[len(offered) - 1]) if len(offered) <= len(SCRIPT) else turn(text="ok")

    limits = AgentLimits(uncached_tokens=1000, cached_reads=None)
    worked = act(known, little_code(folder / "program"), answer, folder, limits)
    return Whole(worked=worked, offered=offered)


def test_it_works_until_it_calls_no_tool(whole: Whole) -> None:
    """The transcript is whole, every call counts, and what is recorded names the programs."""
    worked = whole.worked
    assert worked.account.ending is Ending.SUBMITTED
    assert worked.account.turns == 3
    assert [output.split()[0] for output in outputs_of(worked.sample.messages)] == ["/testbed", "one"]
    assert [action.text for action in actions_of(worked.sample.messages)] == list(SCRIPT)
    assert worked.texts[0].endswith("Mend it.")
    assert worked.texts[-1] == "assistant: ok"
    assert worked.account.facts == {"program_says": "7.7.7 (Little Code)"}
    assert worked.account.reported == USAGE + USAGE + USAGE


def test_the_model_is_offered_the_tools_of_the_program(whole: Whole) -> None:
    """None of ours takes the place of one, whatever its name."""
    assert whole.offered == [list(TOOLS)] * 3


def test_the_agent_can_ask_what_is_left(whole: Whole) -> None:
    """The command answers with what is left after the very reply that calls it, also in another shell."""
    assert [output.splitlines()[-1] for output in outputs_of(whole.worked.sample.messages)] == [
        "Budget left: 890 of 1,000 uncached tokens.",
        "Budget left: 780 of 1,000 uncached tokens.",
    ]


def test_its_helpers_come_first_on_its_path(known: Place, whole: Whole) -> None:
    """And what the image has on the `PATH` follows."""
    path = known.config.image.environ["PATH"]
    seen = outputs_of(whole.worked.sample.messages)[1].splitlines()[1]
    assert seen == f"/.benchwright/scaffold/claude-code/helpers:{path}"


def test_the_last_turn_within_the_budget_is_carried_out(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """Its tool calls run and are in the transcript; nothing is asked after them, and the program is gone."""
    script = [bash("echo one >> /testbed/a"), bash("sleep 1; echo two >> /testbed/a; cat /testbed/a"), bash("exit")]
    worked = act(known, scaffold, script, tmp_path, AgentLimits(uncached_tokens=150))
    assert worked.account.ending is Ending.OUT_OF_BUDGET
    assert worked.account.ending_detail == "220 uncached tokens were used, over the budget of 150"
    assert len(worked.calls) == 2
    assert outputs_of(worked.sample.messages) == ["", "one\ntwo"]


def test_a_call_beside_the_conversation_does_not_cut_the_last_turn_off(
    known: Place, scaffold: OtherScaffold, tmp_path: Path
) -> None:
    """It is not made, and the turn's own tool call runs to its end."""
    script = [bash("aside sleep 2; echo two > /testbed/a; cat /testbed/a"), bash("exit")]
    worked = act(known, scaffold, script, tmp_path, AgentLimits(uncached_tokens=100))
    assert worked.account.ending is Ending.OUT_OF_BUDGET
    assert len(worked.calls) == 1
    assert outputs_of(worked.sample.messages) == ["two"]


def test_a_call_beside_the_conversation_counts(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """Whatever a program asks for itself is paid for by the sample, and is not taken for the conversation."""

    def answer(messages: list[ChatMessage], *more: Any) -> ModelOutput:
        if messages[-1].text == "a title, please":
            return turn(text="A title")
        return turn(text="ok") if isinstance(messages[-1], ChatMessageTool) else bash("aside sleep 2; echo ran")

    worked = act(known, scaffold, answer, tmp_path)
    assert worked.account.turns == 3
    assert worked.texts[-1] == "assistant: ok"
    assert outputs_of(worked.sample.messages) == ["ran"]


def test_a_provider_that_fails_is_no_crash(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """The error comes out as it was raised, and the program does not get to ask again."""
    asked: list[int] = []

    def answer(messages: list[ChatMessage], *more: Any) -> ModelOutput:
        asked.append(len(messages))
        if len(asked) > 1:
            raise ConnectionRefusedError("the provider is gone")
        return bash("echo one")

    with pytest.raises(ConnectionRefusedError, match="the provider is gone"):
        act(known, scaffold, answer, tmp_path)
    assert len(asked) == 2


def test_a_program_that_fails_has_crashed(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """Its status and its last words are kept, and so is what it did before."""
    worked = act(known, scaffold, [bash("echo one"), bash("crash")], tmp_path)
    assert worked.account.ending is Ending.CRASHED
    assert worked.account.ending_detail == "Error executing claude code agent 3: I cannot go on"
    assert outputs_of(worked.sample.messages) == ["one"]


def test_a_program_that_fails_before_the_first_reply_is_a_fault(
    known: Place, scaffold: OtherScaffold, tmp_path: Path
) -> None:
    """Nobody has acted: there is nothing to be graded."""
    (tmp_path / "program" / "claude").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo 1; exit; }\necho no such option >&2; exit 2\n'
    )
    with pytest.raises(RuntimeError, match="claude code agent 2: no such option"):
        act(known, scaffold, [], tmp_path)


def test_a_program_that_does_not_start_is_a_fault(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """It says what the program said, such as that a C library is too old."""
    (tmp_path / "program" / "claude").write_text("#!/bin/sh\necho version GLIBC_2.99 not found >&2; exit 1\n")
    with pytest.raises(SandboxFault, match=r"claude does not start in the sandbox: version GLIBC_2\.99 not found"):
        act(known, scaffold, [], tmp_path)


def test_the_last_reply_tells_the_ending(known: Place, scaffold: OtherScaffold, tmp_path: Path) -> None:
    """A refusal is not asked for again."""
    worked = act(known, scaffold, [bash("echo one"), turn(text="no", stop="content_filter")], tmp_path)
    assert worked.account.ending is Ending.REFUSED
    assert len(worked.calls) == 2


def test_what_is_recorded_and_mounted(scaffold: OtherScaffold, tmp_path: Path) -> None:
    """The folder of the program, read-only; versions; and that the agent asks for its budget."""
    ready = scaffold.ready(playing([]), ScaffoldSettings())
    assert ready.shared == {"/.benchwright/scaffold/claude-code": tmp_path / "program"}
    assert ready.facts["program"] == "claude-code 7.7.7"
    assert ready.facts["inspect_swe"].startswith("0.")
    assert (ready.limit_command, dict(ready.forms)) == (True, {})


def test_a_program_that_is_not_here_is_told_and_not_mounted(scaffold: OtherScaffold) -> None:
    """Where nothing may be fetched, nothing is done with it either; but for its origin the facts are the same."""
    done: list[Program] = []
    here = scaffold.find(ScaffoldSettings())
    there = dataclasses.replace(here, origin="not here; would be fetched (2 MB, 3 MB on disk)", here=False)
    scaffold = dataclasses.replace(
        scaffold, find=lambda settings: here if settings.fetch else there, before=done.append
    )
    dry = scaffold.ready(playing([]), ScaffoldSettings(fetch=False))
    assert dry.facts["program_origin"] == there.origin
    assert dry.shared == {} and done == []
    ready = scaffold.ready(playing([]), ScaffoldSettings())
    assert ready.facts == {**dry.facts, "program_origin": "given"}
    assert ready.shared and done == [here]


def test_what_was_fetched_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was missing is looked for again, one that was found is not; both settings reach the search."""
    asked: list[bool] = []

    def find(source: ProgramSource, *, fetch: bool, say: Callable[[str], None], **options: Any) -> Program:
        asked.append(fetch)
        say("fetching")
        return Program(folder=tmp_path, entry="claude", version="1", origin="pinned", here=fetch)

    monkeypatch.setattr("benchwright.bridge.scaffolds.others.find_program", find)
    monkeypatch.setattr("benchwright.bridge.scaffolds.others._found", {})
    told: list[str] = []
    for fetch in (False, False, True, True, False):
        CLAUDE_CODE.find(ScaffoldSettings(fetch=fetch, say=told.append))
    assert asked == [False, False, True]
    assert told == ["fetching"] * 3


def test_an_unknown_option_is_refused(scaffold: OtherScaffold) -> None:
    """Before anything is spent."""
    with pytest.raises(UsageError, match="The scaffold claude-code has no option 'effort'"):
        scaffold.ready(playing([]), ScaffoldSettings(options={"effort": "high"}))


def test_without_the_extra_it_says_what_to_install(scaffold: OtherScaffold, monkeypatch: pytest.MonkeyPatch) -> None:
    """And names what is missing."""

    def missing(name: str) -> str:
        from importlib.metadata import PackageNotFoundError

        raise PackageNotFoundError(name)

    monkeypatch.setattr("benchwright.bridge.scaffolds.others.metadata.version", missing)
    with pytest.raises(
        UsageError, match=r"needs inspect_swe, .*in a checkout: python -m pip install -e '\.\[scaffolds\]'"
    ):
        scaffold.ready(playing([]), ScaffoldSettings())


def test_all_three_are_registered() -> None:
    """Under the names that users write."""
    assert [SCAFFOLDS.get(found.name) for found in (CLAUDE_CODE, CODEX, MINI_SWE_AGENT)] == [
        CLAUDE_CODE,
        CODEX,
        MINI_SWE_AGENT,
    ]
