"""The tool by which a model says that it is done."""

from inspect_ai.tool import ToolDef

NAME = "submit"


def submit_tool() -> ToolDef:
    """Hands in; the harness looks at the repository itself, so nothing has to be given."""

    async def submit(note: str | None = None) -> str:
        return "The repository is handed in as it is now."

    return ToolDef(
        submit,
        name=NAME,
        description="Hand in the repository as it is now. Call it when the work is done: nothing can be done after it.",
        parameters={"note": "What was done, in one line; nobody's judgement depends on it."},
    )
