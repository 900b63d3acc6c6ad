"""Our own scaffold in real runs of Inspect: how turns go, what the model is told, and every way a sample can end."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from scaffold_pieces import PRICE, SUBMIT, USAGE, Outputs, Worked, bash, playing, turn, work
from tenacity import RetryError

from benchwright.bridge.native import attaching
from benchwright.bridge.scaffolds.base import FUNCTION, ScaffoldSettings
from benchwright.bridge.scaffolds.loop import BASH_ONLY, LOOP, LoopScaffold
from benchwright.bridge.scaffolds.registry import SCAFFOLDS
from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.attempts import Ending
from benchwright.core.budget import TokenUsage
from benchwright.core.errors import UnknownNameError, UsageError

LEFT = "Budget left: "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The repository."""
    made = tmp_path / "repo"
    made.mkdir()
    return made


def loop(outputs: Outputs, folder: Path, **options: Any) -> Worked:
    """The loop on this machine, without the editor, whose program would be left here."""
    scaffold = LoopScaffold(name="loop", tools=("bash", "apply_patch", "submit"), folder=str(folder))
    return work(scaffold, outputs, folder.parent, **options)


def ending(worked: Worked) -> tuple[Ending | None, str]:
    """How it ended."""
    return worked.account.ending, worked.account.ending_detail


def test_a_model_acts_sees_and_hands_in(folder: Path) -> None:
    """Each call is answered, what is left follows the answer, and the last turn has nothing to be told."""
    outputs = [turn(bash("pwd; x=5")), turn(bash("echo $x > made; cat made")), turn(SUBMIT, text="Done.")]
    worked = loop(outputs, folder, limits=AgentLimits(uncached_tokens=1000, cached_reads=None))
    assert ending(worked) == (Ending.SUBMITTED, "")
    assert worked.texts == [
        "user: Mend it.",
        "assistant: ",
        f"tool: {folder}\n{LEFT}890 of 1,000 uncached tokens.",
        "assistant: ",
        f"tool: 5\n{LEFT}780 of 1,000 uncached tokens.",
        "assistant: Done.",
        "tool: The repository is handed in as it is now.",
    ]
    assert (folder / "made").read_text() == "5\n"
    assert worked.account.turns == 3


def test_the_conversation_only_grows(folder: Path) -> None:
    """Every request begins with the whole of the last one, word for word: what providers' caches need."""
    script = [turn(bash("echo one")), turn(text="Hm."), turn(bash("exit 4"), ("nothing", {})), turn(SUBMIT)]
    requests: list[list[str]] = []

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        requests.append([message.model_dump_json(exclude={"id"}) for message in messages])
        return script[len(requests) - 1]

    loop(answer, folder)
    assert [len(request) for request in requests] == [1, 3, 5, 8]
    assert all(after[: len(before)] == before for before, after in itertools.pairwise(requests))


def test_no_message_of_a_user_follows_a_tools(folder: Path) -> None:
    """Models drop their reasoning at a user's message, so after tool calls what is left stands in the last answer."""
    worked = loop([turn(bash("true"), bash("echo b")), turn(bash("echo c")), turn(SUBMIT)], folder)
    assert [m.role for m in worked.sample.messages] == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip
    assert [LEFT in text for text in worked.texts] == [False, False, False, True, False, True, False, False]


def test_calls_of_one_turn_run_in_order(folder: Path) -> None:
    """Several calls are one turn, one after the other in the same shell; after handing in the others still run."""
    calls = bash("cd /; v=1"), bash("pwd; v=$v$v"), SUBMIT, bash(f"echo $v > {folder}/last")
    worked = loop([turn(*calls)], folder)
    assert ending(worked) == (Ending.SUBMITTED, "")
    assert worked.texts[2:] == [
        "tool: [no output]",
        "tool: /",
        "tool: The repository is handed in as it is now.",
        "tool: [no output]",
    ]
    assert (worked.account.turns, (folder / "last").read_text()) == (1, "11\n")


def test_a_patch_is_applied(folder: Path) -> None:
    """The patch tool works on the repository that the shell is in."""
    (folder / "a.py").write_text("one\ntwo\n")
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+three\n*** End Patch\n"
    worked = loop([turn(("apply_patch", {"patch": patch}), bash("cat a.py")), turn(SUBMIT)], folder)
    assert worked.texts[2:4] == [
        "tool: Done:\nupdated a.py",
        f"tool: one\nthree\n{worked.texts[3].rpartition(chr(10))[2]}",
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("no_such_tool", {"x": 1}), "Tool no_such_tool not found"),
        (("bash", {}), "'command' is a required property"),
        (("bash", {"command": "true", "timeout": 3}), "'timeout' was unexpected"),
        (("bash", {"command": ["true"]}), "is not of type 'string'"),
        (bash("true", timeout_seconds=0), "timeout_seconds is at least 1"),
        (bash("a\0b"), "NUL character"),
        (bash("x" * 1_000_001), "may have 1,000,000 bytes"),
        (("apply_patch", {"patch": "diff --git a b"}), "Begin Patch"),
    ],
)
def test_a_wrong_call_is_answered_with_an_error(folder: Path, call: Any, words: str) -> None:
    """The model is told what was wrong and what is left, the turn counts, and the work goes on."""
    worked = loop([turn(call), turn(SUBMIT)], folder)
    error = worked.sample.messages[2].error  # type: ignore[union-attr]
    assert error is not None
    assert words in error.message
    assert error.message.rpartition("\n\n")[2].startswith(LEFT)
    assert (ending(worked)[0], worked.account.turns) == (Ending.SUBMITTED, 2)


def test_broken_json_is_answered_with_an_error(folder: Path) -> None:
    """A call that the provider's client could not read is not run."""
    broken = turn(SUBMIT)
    assert broken.message.tool_calls
    broken.message.tool_calls[0].parse_error = "Error parsing the following tool call arguments: {"
    worked = loop([broken, turn(SUBMIT)], folder)
    assert worked.texts[2].startswith("tool: Error parsing the following tool call arguments: {\n\nBudget left: ")
    assert (ending(worked)[0], worked.account.turns) == (Ending.SUBMITTED, 2)


def test_who_does_not_call_is_reminded_and_then_gives_up(folder: Path) -> None:
    """Two reminders; the third response in a row without a call ends it.  A call between starts the count anew."""
    outputs = [turn(text=text) for text in "ab"] + [turn(bash("true"))] + [turn(text=text) for text in "cde"]
    worked = loop(outputs, folder)
    assert ending(worked) == (Ending.GAVE_UP, "3 responses in a row had no tool call")
    reminders = [text for text in worked.texts if text.startswith("user: Your response has no tool call")]
    assert len(reminders) == 4
    assert all(LEFT in text for text in reminders)
    assert worked.texts[-1] == "assistant: e"


def test_a_response_that_is_cut_off_is_told_so(folder: Path) -> None:
    """The last call may have lost its end, so it is not run; without a call it counts like any other."""
    cut = turn(bash("touch first"), bash("touch sec"), stop="max_tokens")
    worked = loop([cut, turn(text="I was", stop="max_tokens"), turn(SUBMIT)], folder)
    assert sorted(path.name for path in folder.iterdir()) == ["first"]
    assert worked.texts[3].startswith("tool: The response was cut off")
    assert worked.texts[5].startswith(
        "user: Your response was cut off at the limit of its length. Your response has no"
    )
    assert ending(worked)[0] is Ending.SUBMITTED


@pytest.mark.parametrize(
    ("stop", "text", "expected"),
    [
        ("model_length", "", (Ending.OVERFLOWED, "the context is full")),
        ("model_length", "prompt is too long", (Ending.OVERFLOWED, "prompt is too long")),
        ("content_filter", "I cannot help.", (Ending.REFUSED, "I cannot help.")),
        ("content_filter", "", (Ending.REFUSED, "the provider withheld the answer")),
    ],
)
def test_a_refusal_and_a_full_context_end_it(folder: Path, stop: Any, text: str, expected: Any) -> None:
    """What was done before stands; calls in such a response are not run."""
    worked = loop([turn(bash("touch made")), turn(bash("touch late"), text=text, stop=stop)], folder)
    assert ending(worked) == expected
    assert [path.name for path in folder.iterdir()] == ["made"]


def test_a_prompt_that_does_not_fit_ends_it(folder: Path) -> None:
    """An error of the provider that says so is an end, not a failure."""

    class TooLong(Exception):
        status_code = 400

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        if len(messages) > 1:
            raise TooLong("prompt is too long: 200001 tokens")
        return turn(bash("true"))

    worked = loop(answer, folder)
    assert ending(worked) == (Ending.OVERFLOWED, "prompt is too long: 200001 tokens")
    assert worked.account.turns == 1
    assert worked.texts[-1] == "assistant: "


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (AgentLimits(uncached_tokens=219), "220 uncached tokens were used, over the budget of 219"),
        (AgentLimits(cached_reads=13), "14 tokens read from the cache were used, over the budget of 13"),
        (AgentLimits(turns=2), "all of the 2 turns were used"),
        (AgentLimits(cost=0.0003), "0.000414 USD were spent, over the budget of 0.0003 USD"),
    ],
)
def test_over_budget_the_turns_work_stands_and_nothing_more_is_asked(
    folder: Path, limits: AgentLimits, reason: str
) -> None:
    """The second turn goes over: its calls still run, and the third response is never asked for."""
    usage = TokenUsage(
        input_tokens=90, cache_read_tokens=7, cache_write_tokens=10, output_tokens=10, reasoning_tokens=4
    )
    price = PRICE if limits.cost is not None else None
    outputs = [turn(bash("touch a"), usage=usage), turn(bash("touch b"), usage=usage), turn(SUBMIT)]
    worked = loop(outputs, folder, limits=limits, price=price)
    assert ending(worked) == (Ending.OUT_OF_BUDGET, reason)
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]
    assert worked.account.turns == 2
    assert worked.texts[-2:] == [
        "tool: [no output]",
        f"user: The budget is used up: {reason}. The repository is handed in as it is now; nothing more can be done.",
    ]


def test_a_budget_that_comes_out_even_is_not_exceeded(folder: Path) -> None:
    """Tokens may come to their limit exactly."""
    worked = loop([turn(bash("true")), turn(SUBMIT)], folder, limits=AgentLimits(uncached_tokens=110))
    assert ending(worked)[0] is Ending.SUBMITTED


def test_handing_in_counts_before_the_budget(folder: Path) -> None:
    """A turn that hands in and goes over has handed in."""
    worked = loop([turn(SUBMIT)], folder, limits=AgentLimits(turns=1))
    assert ending(worked) == (Ending.SUBMITTED, "")


def test_the_budget_that_a_turn_without_a_call_exceeds(folder: Path) -> None:
    """It is not answered by a reminder then."""
    worked = loop([turn(text="Hm.")], folder, limits=AgentLimits(turns=1))
    assert ending(worked)[0] is Ending.OUT_OF_BUDGET
    assert worked.texts[-2] == "assistant: Hm."


def test_calls_that_failed_may_exceed_the_budget(folder: Path) -> None:
    """Tries that broke off are charged by estimate; when they go over, Inspect's next try is not made."""
    sent = 0

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        nonlocal sent
        sent += 1
        if sent > 1:
            raise ConnectionError("gone")
        return turn(bash("touch made"))

    worked = loop(answer, folder, limits=AgentLimits(uncached_tokens=111), retries=3)
    assert ending(worked)[0] is Ending.OUT_OF_BUDGET
    assert "over the budget of 111" in ending(worked)[1]
    assert worked.texts[-1].startswith("user: The budget is used up: ")
    assert (sent, worked.account.turns, [path.name for path in folder.iterdir()]) == (2, 1, ["made"])


def test_a_providers_error_passes_through(folder: Path) -> None:
    """What stays after Inspect's retries is for the solver to judge; what was done and counted is there."""
    sent = 0

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        nonlocal sent
        sent += 1
        if len(messages) > 1:
            raise ConnectionError("gone")
        return turn(bash("touch made"))

    with pytest.raises(RetryError) as raised:
        loop(answer, folder, retries=2)
    assert isinstance(raised.value.__cause__, ConnectionError)
    assert (sent, [path.name for path in folder.iterdir()]) == (4, ["made"])


def test_the_tools_are_described(folder: Path) -> None:
    """Names, parameters and limits are those of the settings."""
    seen: list[Any] = []

    def answer(messages: list[Any], tools: Any, *rest: Any) -> ModelOutput:
        seen.extend(tools)
        return turn(SUBMIT)

    loop(answer, folder, settings=ScaffoldSettings(command_seconds=7, longest_command_seconds=70, output_bytes=2048))
    parameters = {tool.name: tool.parameters for tool in seen}
    assert {name: (sorted(p.properties), p.required) for name, p in parameters.items()} == {
        "bash": (["command", "timeout_seconds"], ["command"]),
        "apply_patch": (["patch"], ["patch"]),
        "submit": (["note"], []),
    }
    words = json.dumps([tool.model_dump() for tool in seen])
    assert "up to 2,048 bytes" in words
    assert "7 if it is not given, 70 at most" in words


def test_the_answers_of_tools_are_not_clipped_twice(folder: Path) -> None:
    """Inspect would wrap what is over its own limit in words of its own."""
    settings = ScaffoldSettings(output_bytes=40_000)
    worked = loop([turn(bash("head -c 30000 /dev/zero | tr '\\0' a")), turn(SUBMIT)], folder, settings=settings)
    assert worked.texts[2].startswith("tool: " + "a" * 30_000 + "\n" + LEFT)


def test_bash_only_has_no_more(folder: Path) -> None:
    """The second scaffold is the same loop with a shell alone."""
    assert BASH_ONLY.tools == ("bash", "submit")
    scaffold = LoopScaffold(name=BASH_ONLY.name, tools=BASH_ONLY.tools, folder=str(folder))
    worked = work(scaffold, [turn(("apply_patch", {"patch": "x"})), turn(SUBMIT)], folder.parent)
    assert worked.texts[2].startswith("tool: Tool apply_patch not found")


def test_scaffolds_by_name() -> None:
    """Ours are there without anything else being imported; others are named."""
    assert (SCAFFOLDS.get("loop"), SCAFFOLDS.get("bash-only")) == (LOOP, BASH_ONLY)
    assert {"claude-code", "codex", "mini-swe-agent"} <= set(SCAFFOLDS.names())
    with pytest.raises(UnknownNameError, match="did you mean loop"):
        SCAFFOLDS.get("lop")


def test_the_forms_of_the_tools_are_recorded(folder: Path) -> None:
    """A model without tools of its own gets functions; where its own are demanded, that is refused beforehand."""
    worked = loop([turn(SUBMIT)], folder)
    assert worked.account.facts == {}
    ready = LOOP.ready(playing([]), ScaffoldSettings())
    assert ready.forms == dict.fromkeys(LOOP.tools, FUNCTION)
    assert (ready.shared, ready.limit_command) == ({}, False)
    with pytest.raises(UsageError, match="--native-tools auto"):
        LOOP.ready(playing([]), ScaffoldSettings(native_tools=NativeTools.ON))
    assert attaching.FUNCTION == FUNCTION


def test_the_ledger_is_charged_with_every_turn(folder: Path) -> None:
    """What the account, the run and Inspect's log have counted is the same."""
    worked = loop([turn(bash("true")), turn(SUBMIT)], folder)
    assert worked.account.reported == worked.meter.ledger.spent == USAGE + USAGE
    assert [call.try_number for call in worked.calls] == [1, 1]
