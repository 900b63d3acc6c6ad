"""What an agent is told: one template for every benchmark of repository problems."""

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.agents import AgentLimits
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.repositories import WORK, RepositoryProblem

_ISSUE = "\0issue\0"  # where the problem's own text goes; no issue has NUL characters

_TEMPLATE = f"""\
The git repository in {WORK} has an issue. Change the repository's files so that the issue is resolved.

<issue>
{_ISSUE}
</issue>

{{tools}}Your work is graded by running the repository's own reference tests on it, which you do not see. Do not \
change existing tests. Keep the public names, signatures and returned structures that tests may rely on, unless the \
issue asks for something else.

There is no network, and nobody answers questions. What the repository needs to run is installed.

{{budget}}

{{hand_in}}
"""

_TOOLS = {
    "bash": "`bash` runs commands. Working folder, variables and functions carry over from call to call; background "
    "processes go on; of long output the middle is left out; a command that takes too long is ended.",
    "text_editor": "`text_editor` views, creates and edits files.",
    "apply_patch": "`apply_patch` changes several files at once, by a patch in the V4A format.",
    "submit": "`submit` hands in.",
}
"""A line for each tool that a scaffold may offer."""
LOOP_TOOLS = tuple(_TOOLS)
"""The tools of the default scaffold."""


def agent_prompt(
    problem: RepositoryProblem, *, tools: Sequence[str], limits: AgentLimits, limit_command: str | None = None
) -> Prompt:
    """What an agent is asked for one problem; of the problem it has the issue's text alone.

    Args:
        problem: The problem.
        tools: Names of the tools that are explained; none for a scaffold that explains its own.
        limits: What the sample may use.
        limit_command: The command in the sandbox that says what is left, for agents that are not told.

    Raises `UsageError` for a tool that there is no line for.
    """
    around = _around(tools, limits, limit_command)
    return Prompt(
        mode=Mode.CHAT,
        text=around.layout.replace(_ISSUE, problem.issue.strip("\n")),
        template_digest=around.digest,
    )


class _Around(NamedTuple):
    """What goes around an issue's text."""

    layout: str
    """Has the mark `_ISSUE` where the issue goes."""
    digest: str


def _around(tools: Sequence[str], limits: AgentLimits, limit_command: str | None) -> _Around:
    layout = _TEMPLATE.format(tools=_tool_list(tools), budget=_budget(limits, limit_command), hand_in=_hand_in(tools))
    return _Around(layout, digest_of(layout))


def _tool_list(tools: Sequence[str]) -> str:
    unknown = [tool for tool in tools if tool not in _TOOLS]
    if unknown:
        raise UsageError(
            f"The prompt has no line for the tool {unknown[0]!r}, only for {', '.join(_TOOLS)}; a scaffold with tools "
            f"of its own explains them itself and names none."
        )
    lines = "".join(f"- {_TOOLS[tool]}\n" for tool in tools)
    return f"You have these tools:\n{lines}\n" if lines else ""


def _budget(limits: AgentLimits, limit_command: str | None) -> str:
    parts = [
        f"{limit:,} {what}"
        for limit, what in (
            (
                limits.uncached_tokens,
                "uncached tokens (input outside the cache, cache writes, and output with reasoning)",
            ),
            (limits.cached_reads, "tokens read from the cache"),
            (limits.turns, "turns (responses with all their tool calls)"),
        )
        if limit is not None
    ]
    if limits.cost is not None:
        parts.append(f"{limits.cost:g} US dollars")
    if limits.wall_seconds is not None:
        parts.append(f"{limits.wall_seconds:g} seconds")
    if not parts:
        return "There is no budget on this task."
    told = f"`{limit_command}` says what is left" if limit_command else "You are told after every turn what is left"
    return f"Your budget is {_listed(parts)}. {told}. When it is exceeded, the repository is handed in as it is then."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _hand_in(tools: Sequence[str]) -> str:
    how = "call `submit`" if "submit" in tools else "end your work with a short summary"
    return f"When you are done, {how}. The repository is then handed in as it is, whether committed or not."
