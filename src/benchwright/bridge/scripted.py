"""A model that plays recorded turns: ``--model benchwright/scripted -M script=turns.json``.

For trying scaffolds, budgets and grading without a provider.  The script is a JSON object that maps a problem's id, or
``*`` for all others, to a list of turns: ``{"text": …, "calls": [{"tool": …, "arguments": {…}}], "usage": {…},
"stop": …}``, each part optional.  ``usage`` has the names of `benchwright.core.budget.TokenUsage`; a turn without it is
counted as 100 tokens in and 10 out.  ``stop`` is one of Inspect's reasons to stop, and a call may have a
``parse_error``, as one that a provider could not read.  After its last turn the model only says that it is done.
The question before a run is answered as it should be, or by the turns of ``ready`` where the script has some.
"""

import json
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from benchwright.bridge.accounts import current_account
from benchwright.bridge.probing import PROBE
from benchwright.bridge.replies import model_usage_of
from benchwright.core.budget import TokenUsage
from benchwright.core.errors import UsageError

_ALL = "*"
_PARTS = ("text", "calls", "usage", "stop")
_PLAIN_USAGE = TokenUsage(input_tokens=100, output_tokens=10)


class ScriptedAPI(ModelAPI):
    """Plays the turns of a script; each sample begins with the first."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        script: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._turns = _read(script)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """The turn after those that the conversation holds already."""
        account = current_account.get(None)
        if [tool.name for tool in tools] == [PROBE]:
            turns = self._turns.get(PROBE, [{"calls": [{"tool": PROBE}]}])
        else:
            turns = self._turns.get(account.key.problem_id if account else _ALL, self._turns.get(_ALL, []))
        number = sum(isinstance(message, ChatMessageAssistant) for message in input)
        turn = turns[number] if number < len(turns) else {"text": "I am done."}
        return _output(self.model_name, turn, number)

    def connection_key(self) -> str:
        """All share one limit of connections."""
        return "scripted"


def _output(model: str, turn: dict[str, Any], number: int) -> ModelOutput:
    calls = [
        ToolCall(
            id=f"call_{number}_{place}",
            function=call["tool"],
            arguments=call.get("arguments", {}),
            parse_error=call.get("parse_error"),
        )
        for place, call in enumerate(turn.get("calls", ()))
    ]
    message = ChatMessageAssistant(content=turn.get("text", ""), tool_calls=calls or None, model=model)
    stop = turn.get("stop", "tool_calls" if calls else "stop")
    usage = TokenUsage.from_plain(turn["usage"]) if "usage" in turn else _PLAIN_USAGE
    return ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=model_usage_of(usage),
    )


def _read(script: str | None) -> dict[str, list[dict[str, Any]]]:
    if script is None:
        raise UsageError("The scripted model needs -M script=FILE, a JSON object of turns by problem id.")
    try:
        data = json.loads(Path(script).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"The script {script} cannot be read ({error}).") from error
    if not isinstance(data, dict) or not all(isinstance(turns, list) for turns in data.values()):
        raise UsageError(f"The script {script} is not a JSON object of lists of turns.")
    for problem, turns in data.items():
        for number, turn in enumerate(turns, start=1):
            _check(turn, f"The script {script}, turn {number} of {problem}")
    return dict(data)


def _check(turn: Any, where: str) -> None:
    if not isinstance(turn, dict):
        raise UsageError(f"{where} is no JSON object.")
    strange = sorted(turn.keys() - _PARTS)
    if strange:
        raise UsageError(f"{where} has {strange[0]!r}; a turn has {', '.join(_PARTS)}.")
    try:
        _output("", turn, 0)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{where} cannot be played ({type(error).__name__}: {reason}).") from error


@modelapi(name="benchwright")
def scripted() -> type[ModelAPI]:
    """The provider, for Inspect's registry."""
    return ScriptedAPI
