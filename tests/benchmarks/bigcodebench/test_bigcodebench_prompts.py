"""What a model is sent: golden files of one task, and what must be the same for all of them.

The golden files were written by ``shown`` and compared by eye with bigcodebench (``provider/utility.py``).
"""

import dataclasses
import itertools
import json
from pathlib import Path

import pytest

from benchwright.benchmarks.bigcodebench import prompts
from benchwright.benchmarks.bigcodebench.prompts import prompt
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.prompts import Mode, Prompt

GOLDEN = Path(__file__).parent / "golden_prompts"
PROBLEMS = BENCHMARK.load().problems
TASK = PROBLEMS[0]
WAYS = {"chat": (Mode.CHAT, False), "prefill": (Mode.CHAT, True), "base": (Mode.BASE, False)}
COMBINATIONS = [*itertools.product(prompts.VARIANTS, WAYS)]


def made(variant: str, way: str, task: int = 0) -> Prompt:
    """The prompt of a task of the starter benchmark."""
    mode, prefill = WAYS[way]
    return prompt(PROBLEMS[task], variant, mode=mode, prefill=prefill)


def shown(prompt: Prompt) -> str:
    """A prompt with every field, as text that shows each character that counts."""
    fields = dataclasses.asdict(prompt)
    head = [f"{name}: {json.dumps(fields.pop(name))}\n" for name in ("mode", "stop", "template_digest")]
    return "".join([*head, *(f"=== {name}\n{text}" for name, text in fields.items()), "=== end\n"])


@pytest.mark.parametrize(("variant", "way"), COMBINATIONS)
def test_prompts_are_the_golden_ones(variant: str, way: str) -> None:
    """A change of a prompt, in whatever small, is seen: scores before and after it cannot be compared."""
    assert shown(made(variant, way)) == (GOLDEN / f"{variant}-{way}.txt").read_text("utf-8")


def test_there_is_no_golden_file_without_a_prompt() -> None:
    """Every golden file is compared with something."""
    assert {path.stem for path in GOLDEN.iterdir()} == {"-".join(pair) for pair in COMBINATIONS}


def test_digests_tell_combinations_apart() -> None:
    """What goes around a task differs by variant, mode and prefill, and so does its digest; base mode has nothing."""
    digests = {pair: made(*pair).template_digest for pair in COMBINATIONS}
    around = {pair: digest for pair, digest in digests.items() if pair[1] != "base"}
    assert len(set(around.values())) == len(around)
    assert digests["complete", "base"] == digests["instruct", "base"]
    assert digests["complete", "base"] not in around.values()


@pytest.mark.parametrize(("variant", "way"), COMBINATIONS)
def test_all_problems_have_one_digest(variant: str, way: str) -> None:
    """The digest is about what goes around the task, so it is the same for all problems of a run."""
    found = [made(variant, way, task) for task in range(len(PROBLEMS))]
    assert len({one.template_digest for one in found}) == 1
    assert len({one.stop for one in found}) == 1
    assert len({one.text for one in found}) == len(PROBLEMS)


def test_chat_prompts_hold_the_stripped_task() -> None:
    """The instruction stands before the task, whose text is stripped, and fenced when it is code to complete."""
    complete, instruct = made("complete", "chat").text, made("instruct", "chat").text
    assert complete.partition("\n")[2] == f"```\n{TASK.prompts['complete'].strip()}\n```\n"
    assert instruct.partition("\n")[2] == f"{TASK.prompts['instruct'].strip()}\n"
    assert complete.partition("\n")[0] == instruct.partition("\n")[0]
    assert complete.startswith("Please provide a self-contained Python script")


def test_a_prefill_begins_the_answer() -> None:
    """The message is the same as without it; the answer has been begun up to a code block, whose end is its end."""
    plain, begun = made("complete", "chat"), made("complete", "prefill")
    assert begun.text == plain.text
    assert begun.prefill == begun.lead
    assert begun.prefill.endswith(":\n```python\n")
    assert begun.stop == ("\n```\n",)
    assert (plain.prefill, plain.lead, plain.stop) == ("", "", ())


@pytest.mark.parametrize("variant", prompts.VARIANTS)
def test_a_base_model_gets_every_character(variant: str) -> None:
    """Base mode sends the data's text and nothing else, white space at its ends included."""
    assert made(variant, "base").text == TASK.prompts[variant]
    assert made(variant, "base").prefill == ""


def test_a_base_model_is_stopped() -> None:
    """A base model does not end by itself: it is asked to stop where the official tool stops it."""
    stop = made("complete", "base").stop
    assert {"<|endoftext|>", "\nif __name__", "\ndef ", "\nclass ", "\nprint("} <= set(stop)
    assert stop == made("instruct", "base").stop


def test_only_code_to_complete_is_read_with_the_answer() -> None:
    """The answer to a stub goes on from the stub; the answer to an instruction stands for itself."""
    assert made("complete", "base").lead == TASK.prompts["complete"]
    assert made("instruct", "base").lead == ""


@pytest.mark.parametrize("variant", prompts.VARIANTS)
def test_a_base_model_has_no_answer_to_begin(variant: str) -> None:
    """A prefill in base mode is refused, with what to do."""
    with pytest.raises(UsageError, match="leave --prefill out in base mode"):
        prompt(TASK, variant, mode=Mode.BASE, prefill=True)


@pytest.mark.parametrize("mode", Mode)
def test_another_variant_is_refused(mode: Mode) -> None:
    """A variant that the data does not have is named with the near one."""
    with pytest.raises(UnknownNameError, match="did you mean instruct"):
        prompt(TASK, "instructed", mode=mode)


def test_a_task_may_hold_anything() -> None:
    """Backslashes, braces and fences in a task's text reach the model as they are."""
    text = "\\1 {text} %s ``` \\g<0>"
    problem = dataclasses.replace(TASK, prompts={"complete": text, "instruct": text})
    for variant in prompts.VARIANTS:
        assert text in prompt(problem, variant, mode=Mode.CHAT).text


def test_the_source_of_the_words_is_named() -> None:
    """The words around a task are quoted, and their file says from where and under which licence."""
    source = prompts._templates()["source"]
    assert "bigcodebench 0.2.5" in source
    assert "Apache-2.0" in source
