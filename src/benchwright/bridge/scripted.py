"""A model that plays recorded turns: ``--model benchwright/scripted -M script=turns.json``.

For trying scaffolds, budgets and grading without a provider.  The script is a JSON object that maps a problem's id, or
``*`` for all others, to a list of turns: ``{"text": …, "calls": [{"tool": …, "arguments": {…}}], "usage": {…},
"stop": …, "raw": …}``, each part optional.  ``usage`` has the names of `benchwright.core.budget.TokenUsage`; a turn
without it is counted as 100 tokens in and 10 out.  After its last turn the model only says that it is done.
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
from benchwright.bridge.replies import model_usage_of
from benchwright.core.budget import TokenUsage
from benchwright.core.errors import UsageError

_ALL = "*"
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
    whole = isinstance(data, dict) and all(
        isinstance(turns, list) and all(isinstance(turn, dict) for turn in turns) for turns in data.values()
    )
    if not whole:
        raise UsageError(f"The script {script} is not a JSON object of lists of turns.")
    return dict(data)


@modelapi(name="benchwright")
def scripted() -> type[ModelAPI]:
    """The provider, for Inspect's registry."""
    return ScriptedAPI
