"""The benchmark's prompts: the texts of the data, and what the official tool puts around them."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, assert_never

from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.problems import FunctionProblem
from benchwright.core.prompts import Mode, Prompt

VARIANTS = ("complete", "instruct")
_INSTRUCTION_TUNED = frozenset({"instruct"})


def render(problem: FunctionProblem, variant: str) -> str:
    """The prompt of a variant exactly as the data gives it; raises `UnknownNameError` for another variant."""
    try:
        return problem.prompts[variant]
    except KeyError:
        raise UnknownNameError("prompt variant", variant, problem.prompts) from None


def for_instruction_tuned(variant: str) -> bool:
    """Whether a variant is meant for instruction-tuned models only (arXiv:2406.15877, section 2)."""
    return variant in _INSTRUCTION_TUNED


def prompt(problem: FunctionProblem, variant: str, *, mode: Mode, prefill: bool = False) -> Prompt:
    """What a model is sent, as bigcodebench 0.2.5 sends it.

    In chat mode an instruction stands before the task, whose text is fenced when it is code to complete; with
    ``prefill`` the answer has been begun up to an opened code block.  In base mode the text is the data's own,
    and the answer ends at the benchmark's stop texts.  Raises `UsageError` for a prefill in base mode, where
    there is no answer to begin.
    """
    around = _around(variant, mode, prefill)
    task = render(problem, variant)
    completes = mode is Mode.BASE and variant == "complete"
    return Prompt(
        mode=mode,
        # The official tool strips the task's text inside a message; a base model gets every character.
        text=around.layout.replace(_TASK, task if mode is Mode.BASE else task.strip()),
        prefill=around.prefill,
        lead=task if completes else around.prefill,
        stop=around.stop,
        template_digest=around.digest,
    )


class _Around(NamedTuple):
    """What goes around a task's text."""

    layout: str
    """Has the mark `_TASK` where the task's text goes."""
    prefill: str
    stop: tuple[str, ...]
    digest: str


_TASK = "\0task\0"  # no data row can hold it: NUL bytes are no Python


@cache
def _around(variant: str, mode: Mode, prefill: bool) -> _Around:
    texts = _templates()[mode.value]
    match mode:
        case Mode.BASE:
            if prefill:
                raise UsageError("A base model continues the prompt itself; leave --prefill out in base mode.")
            layout, begun, stop = _TASK, "", texts["stop"]
        case Mode.CHAT:
            body = f"```\n{_TASK}\n```" if variant == "complete" else _TASK
            layout = f"{texts['instruction']}\n{body}\n"
            begun = f"{texts['response']}\n```python\n" if prefill else ""
            stop = texts["prefill_stop"] if prefill else []
        case _:
            assert_never(mode)
    return _Around(layout, begun, tuple(stop), digest_of([mode.value, layout, begun, stop]))


@cache
def _templates() -> Mapping[str, Any]:
    text = resources.files("benchwright.benchmarks.bigcodebench").joinpath("templates.toml").read_text("utf-8")
    return tomllib.loads(text)
