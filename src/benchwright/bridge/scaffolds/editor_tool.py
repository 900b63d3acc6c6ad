"""The text_editor tool: Inspect's own, in the form of Anthropic's, its output clipped like that of others."""

from typing import Literal

from inspect_ai.tool import ToolDef, ToolError, text_editor

from benchwright.bridge.scaffolds.base import ScaffoldSettings
from benchwright.bridge.scaffolds.tool_texts import clipped_text
from benchwright.core.errors import SandboxFault
from benchwright.core.repositories import WORK

NAME = "text_editor"

_PARAMETERS = {
    "command": "What to do: `view` a file with line numbers, or the files of a folder; `create` a file, or replace all "
    "of it; `str_replace` a text that is in the file exactly once; `insert` lines.",
    "path": "Absolute path of the file, or of a folder to view.",
    "file_text": "For `create`: what the file is to hold.",
    "old_str": "For `str_replace`: the text to replace, with its white space, and enough around it to be there once.",
    "new_str": "For `str_replace`: what takes its place; without it the text is removed.",
    "insert_line": "For `insert`: the number of the line after which the text goes; 0 for the top of the file.",
    "insert_text": "For `insert`: the text.",
    "view_range": "For `view` of a file: the first and the last line to show, from 1; -1 is the last.",
}


class TextEditor:
    """Inspect's editor for one sample."""

    def __init__(self, settings: ScaffoldSettings) -> None:
        self._settings = settings
        self._edit = text_editor(timeout=settings.command_seconds)

    async def begin(self, folder: str = WORK) -> None:
        """Bring the editor's program into the sandbox, while no agent has touched anything there.

        Raises `SandboxFault`: what fails now is our side, and what fails later is the agent's doing.
        """
        try:
            await self._edit(command="view", path=folder)
        except Exception as error:  # whatever it is: the sandbox is as we made it
            raise SandboxFault(f"the text editor cannot be used in this sandbox: {error}") from error

    def tool(self) -> ToolDef:
        """The tool."""

        async def text_editor(
            command: Literal["view", "create", "str_replace", "insert"],
            path: str,
            file_text: str | None = None,
            old_str: str | None = None,
            new_str: str | None = None,
            insert_line: int | None = None,
            insert_text: str | None = None,
            view_range: list[int] | None = None,
        ) -> str:
            try:
                said = await self._edit(
                    command=command,
                    path=path,
                    file_text=file_text,
                    old_str=old_str,
                    new_str=new_str,
                    insert_line=insert_line,
                    insert_text=insert_text,
                    view_range=view_range,
                )
            except (ToolError, TimeoutError, SandboxFault):
                raise
            except Exception as error:
                # Its program, or what that needs, is gone or does not answer: the agent's doing, see begin.
                raise ToolError(clipped_text(str(error), self._settings.output_bytes)) from error
            return clipped_text(str(said), self._settings.output_bytes)

        return ToolDef(
            text_editor,
            name=NAME,
            description="View, create and edit text files.",
            parameters=_PARAMETERS,
            max_output=0,  # clipped here
        )
