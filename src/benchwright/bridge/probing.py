"""Whether a model calls tools at all: asked before a run, with one harmless tool."""

import asyncio

from inspect_ai.model import ChatMessageUser, GenerateConfig
from inspect_ai.tool import ToolInfo, ToolParams

from benchwright.bridge.agent_metering import AgentMeter
from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.metering import NotAsked
from benchwright.bridge.models import OpenModel, plain_message
from benchwright.bridge.replies import clip
from benchwright.bridge.running import CallSettings
from benchwright.core.errors import UsageError

PROBE = "ready"
"""Name of the tool."""
_TOOL = ToolInfo(name=PROBE, description="Say that you are ready to work.", parameters=ToolParams())
_QUESTION = "This is a check of the connection. Call the tool `ready` once, without arguments."
_TRIES = 2
_REPLY_TOKENS = 2048
"""Enough for a reasoning model; a small one that does not find an end would go on until its context is full."""


def probe_tools(
    opened: OpenModel, calls: CallSettings, meter: AgentMeter, *, reply_tokens: int | None = None
) -> str | None:
    """Why a model cannot be used with tools, in one sentence; None when it called one, or the run's cap forbids to ask.

    The model's instance is closed afterwards.  Raises `UsageError` when it cannot be asked at all.
    """
    meter.attach(opened.model)
    config = GenerateConfig(
        max_connections=calls.max_connections,
        max_retries=calls.max_retries,
        max_tokens=min(reply_tokens or _REPLY_TOKENS, _REPLY_TOKENS),
    )

    async def ask() -> str | None:
        said = ""
        async with opened.model:
            for _ in range(_TRIES):
                try:
                    output = await opened.model.generate([ChatMessageUser(content=_QUESTION)], [_TOOL], config=config)
                except NotAsked:
                    return None
                except PrerequisiteError as error:
                    raise UsageError(f"The model cannot be asked: {plain_message(error)}") from error
                except Exception as error:  # noqa: BLE001 - whatever a provider raises is its answer to the question
                    cause = error.__cause__ or error
                    return (
                        f"The provider gave no reply to a question with a tool: {clip(str(cause)).rstrip('.')}.  "
                        f"--no-preflight goes on regardless."
                    )
                if output.choices and output.message.tool_calls:
                    return None
                said = clip(output.completion) if output.choices else ""
        return (
            f"{opened.name} was asked {_TRIES} times to call a tool and did not (it said {said[:80]!r}); an agent "
            f"needs a model that calls tools.  --no-preflight goes on regardless."
        )

    return asyncio.run(ask())
