"""How the model is told what is left of its budget, and that it is used up.

After a turn the line stands at the end of the last tool's output, as a part of its own, and not in a message of the
user: at a user's message many models drop what they have reasoned so far (Claude before version 4.5, OpenAI's reasoning
models, the chat templates of Qwen, DeepSeek and others), and with it the provider's cache from that place on.  A turn
without a tool call has no such place; the reminder that answers it is a user's message anyway.
"""

import dataclasses

from inspect_ai.model import ChatMessage, ChatMessageTool, ContentText

from benchwright.bridge.accounts import Account

USED_UP = "The budget is used up: {reason}. The repository is handed in as it is now; nothing more can be done."
"""Last message of a conversation that came to the end of its budget."""


def with_budget(messages: list[ChatMessage], account: Account) -> list[ChatMessage]:
    """The tools' messages of a turn, the last of which tells what is left."""
    last = messages[-1]
    assert isinstance(last, ChatMessageTool), "a turn's calls are answered by tools"
    return [*messages[:-1], _with_line(last, account.line())]


def _with_line(message: ChatMessageTool, line: str) -> ChatMessageTool:
    if message.error is not None:  # providers are sent the error's message in the place of the content
        error = dataclasses.replace(message.error, message=f"{message.error.message}\n\n{line}")
        return message.model_copy(update={"error": error})
    parts = [ContentText(text=message.content)] if isinstance(message.content, str) else message.content
    return message.model_copy(update={"content": [*parts, ContentText(text=line)]})
