"""The model that plays recorded turns, and what its scripts are refused for."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig, ModelOutput

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.models import ModelSettings, open_model
from benchwright.bridge.replies import usage_of
from benchwright.bridge.scripted import ScriptedAPI
from benchwright.core.agents import AgentLimits
from benchwright.core.budget import TokenUsage
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode
from benchwright.testing.agents import SUBMIT, call


def script(folder: Path, turns: Any) -> Path:
    """A file with turns."""
    path = folder / "turns.json"
    path.write_text(turns if isinstance(turns, str) else json.dumps(turns), encoding="utf-8")
    return path


def played(path: Path, said: int = 0, problem: str | None = None) -> ModelOutput:
    """The turn that follows a number of turns, in a sample of a problem or in none."""
    api = ScriptedAPI("scripted", script=str(path))
    messages: list[ChatMessage] = [ChatMessageUser(content="Mend it.")]
    for _ in range(said):
        messages += [ChatMessageAssistant(content="…"), ChatMessageUser(content="Go on.")]

    async def ask() -> ModelOutput:
        if problem is not None:
            current_account.set(Account(SampleKey(problem, 0), AgentLimits(), None))
        return await api.generate(messages, [], "auto", GenerateConfig())

    return asyncio.run(ask())


def usage(output: ModelOutput) -> TokenUsage:
    """What a turn reports."""
    assert output.usage is not None
    return usage_of(output.usage, "benchwright", None)


def test_turns_are_played_by_their_number(tmp_path: Path) -> None:
    """A conversation says itself how far it is, so samples may be worked on side by side."""
    path = script(tmp_path, {"*": [call("bash", command="ls"), {"text": "Hm."}, SUBMIT]})
    first = played(path)
    assert [(one.function, one.arguments) for one in first.message.tool_calls or ()] == [("bash", {"command": "ls"})]
    assert first.stop_reason == "tool_calls" and usage(first) == TokenUsage(input_tokens=100, output_tokens=10)
    second = played(path, 1)
    assert (second.completion, second.stop_reason, second.message.tool_calls) == ("Hm.", "stop", None)
    assert [one.function for one in played(path, 2).message.tool_calls or ()] == ["submit"]
    assert [played(path, number).completion for number in (3, 4)] == ["I am done."] * 2


def test_each_problem_has_its_own_turns(tmp_path: Path) -> None:
    """Others have those of all, if there are any; a call that belongs to no sample has them too."""
    path = script(tmp_path, {"a": [{"text": "of a"}], "*": [{"text": "of all"}]})
    assert [played(path, problem=name).completion for name in ("a", "b", None)] == ["of a", "of all", "of all"]
    path = script(tmp_path, {"a": [{"text": "of a"}]})
    assert [played(path, problem=name).completion for name in ("a", "b", None)] == ["of a", "I am done.", "I am done."]


def test_a_turn_says_what_it_used_and_why_it_stopped(tmp_path: Path) -> None:
    """Several calls in one turn have ids of their own."""
    counts = {"input_tokens": 1, "cache_read_tokens": 2, "cache_write_tokens": 3, "output_tokens": 4}
    calls = [{"tool": "bash", "arguments": {"command": "a"}}, {"tool": "bash", "parse_error": "no JSON"}]
    path = script(tmp_path, {"*": [{"usage": counts, "stop": "max_tokens", "calls": calls, "text": "Cut"}]})
    output = played(path)
    assert usage(output) == TokenUsage(**counts)
    assert output.stop_reason == "max_tokens" and output.completion == "Cut"
    made = output.message.tool_calls or []
    assert len({one.id for one in made}) == 2
    assert (made[1].parse_error, made[1].arguments) == ("no JSON", {})


def test_the_model_is_opened_by_its_name(tmp_path: Path) -> None:
    """As any other; it is a chat model that needs no key."""
    path = script(tmp_path, {"*": []})
    opened = open_model(ModelSettings(name="benchwright/scripted", args={"script": str(path)}))
    assert isinstance(opened.model.api, ScriptedAPI)
    assert (opened.mode, opened.served_by) == (Mode.CHAT, "benchwright")


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ("{", "cannot be read"),
        ([], "is not a JSON object of lists of turns"),
        ({"*": {}}, "is not a JSON object of lists of turns"),
        ({"*": ["submit"]}, r"turn 1 of \* is no JSON object"),
        ({"a": [{}, {"call": []}]}, "turn 2 of a has 'call'; a turn has text, calls, usage, stop"),
        ({"a": [{"calls": [{"name": "bash"}]}]}, r"turn 1 of a cannot be played \(KeyError: 'tool'\)"),
        ({"a": [{"calls": ["bash"]}]}, "turn 1 of a cannot be played"),
        ({"a": [{"calls": [{"tool": "bash", "arguments": "ls"}]}]}, "turn 1 of a cannot be played"),
        ({"a": [{"usage": {"tokens": 1}}]}, "expected counts of tokens, got tokens"),
        ({"a": [{"usage": 7}]}, "turn 1 of a cannot be played"),
        ({"a": [{"stop": "tired"}]}, "turn 1 of a cannot be played"),
        ({"a": [{"text": 7}]}, "turn 1 of a cannot be played"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused_at_once(tmp_path: Path, turns: Any, words: str) -> None:
    """Before anything is asked, with the place that is wrong."""
    path = script(tmp_path, turns)
    with pytest.raises(UsageError, match=words) as refused:
        open_model(ModelSettings(name="benchwright/scripted", args={"script": str(path)}))
    assert "\n" not in str(refused.value)


def test_a_model_without_a_script_is_refused(tmp_path: Path) -> None:
    """With the option that is missing, or the file that is not there."""
    with pytest.raises(UsageError, match="needs -M script=FILE"):
        open_model(ModelSettings(name="benchwright/scripted"))
    with pytest.raises(UsageError, match="cannot be read"):
        open_model(ModelSettings(name="benchwright/scripted", args={"script": str(tmp_path / "none.json")}))
