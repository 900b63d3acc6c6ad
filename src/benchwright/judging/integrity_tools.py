"""What a tool call of an agent amounts to: runs of programs, pages asked for, files looked at.

Tools go by many names.  Ours, Inspect's, those of Claude Code and Codex, and of their like are known by parts of
their names; what a tool was given may be the bare command, its arguments as a JSON object, or their values one below
the other.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.core.agents import Action
from benchwright.judging.integrity_network import is_elsewhere
from benchwright.judging.integrity_runs import Run, Scripts, runs_of_python, runs_of_shell, runs_of_words

_SHELLS = re.compile(r"bash|shell|exec|terminal|command|stdin|^run$", re.IGNORECASE)
_PYTHONS = re.compile(r"python|jupyter|code_interpreter", re.IGNORECASE)
_SEARCHES = re.compile(r"web_?search|search_web", re.IGNORECASE)
_BROWSERS = re.compile(r"web|fetch|browse|url", re.IGNORECASE)
_EDITORS = re.compile(r"edit|write|read|view|patch|notebook|glob|grep|^ls$", re.IGNORECASE)
_ANY_URL = re.compile(r"https?://[^\s\"'<>)\]]+")

_SCRIPT_NAMES = ("command", "cmd", "commands", "script", "chars", "input", "code")
_PATH_NAMES = ("path", "file_path", "notebook_path", "filename")
_CONTENT_NAMES = ("file_text", "content")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What one tool call amounts to."""

    runs: tuple[Run, ...] = ()
    asked: str = ""
    """A page or a search on another machine that the tool itself was asked for."""
    looked_at: str = ""
    """The file that a tool for files was given."""
    is_command: bool = False


def deed_of(action: Action, scripts: Scripts) -> Deed:
    """Read a tool call; files that it writes are noted in ``scripts``."""
    arguments = _arguments(action.text)
    tool = action.tool.rpartition("__")[2] or action.tool  # of tools that come through another program
    if _SEARCHES.search(tool):
        return Deed(asked=action.text)
    if _EDITORS.search(tool) and not _SHELLS.search(tool):
        return _file_deed(action.text, arguments, scripts)
    if _PYTHONS.search(tool):
        return Deed(runs=runs_of_python(_script(action.text, arguments), scripts), is_command=True)
    if _SHELLS.search(tool):
        return Deed(runs=_shell_runs(action.text, arguments, scripts), is_command=True)
    if _BROWSERS.search(tool):
        return Deed(asked=next(filter(is_elsewhere, _ANY_URL.findall(action.text)), ""))
    return Deed()


def _arguments(text: str) -> Any:
    """The JSON value that a text begins with; None when it begins with none."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _given(arguments: Any, names: Sequence[str]) -> Any:
    """The first argument of one of some names that has a value, or that of the ``action`` among the arguments."""
    while isinstance(arguments, dict):
        if found := next((arguments[name] for name in names if arguments.get(name)), None):
            return found
        arguments = arguments.get("action")
    return None


def _script(text: str, arguments: Any) -> str:
    given = _given(arguments, _SCRIPT_NAMES)
    return given if isinstance(given, str) else text


def _shell_runs(text: str, arguments: Any, scripts: Scripts) -> tuple[Run, ...]:
    given = arguments if isinstance(arguments, list) else _given(arguments, _SCRIPT_NAMES)
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given) or not given:
        return runs_of_shell([_script(text, arguments)], scripts)
    # One program with its arguments, or several commands: a program's name has no blanks.
    if " " in given[0] or len(given) == 1:
        return runs_of_shell(given, scripts)
    return runs_of_words(given, scripts)


def _file_deed(text: str, arguments: Any, scripts: Scripts) -> Deed:
    path, content = _given(arguments, _PATH_NAMES), _given(arguments, _CONTENT_NAMES)
    if not isinstance(path, str):
        path, content = _path_and_content(text)
    if isinstance(content, str) and content:
        scripts.note(path, content)
    return Deed(looked_at=path)


def _path_and_content(text: str) -> tuple[str, str]:
    """The path among the first lines of a text, and what is written to it as a whole; empty without any."""
    first, second, *rest = [*text.split("\n", 2), "", ""]
    if "/" in first:
        return first.split()[-1], "\n".join([second, *rest])
    path = second.strip() if "/" in second else ""
    return path, rest[0] if first == "create" else ""
