"""Facts about what of a reply is visible."""

import pytest
from extraction_programs import PLAIN, WRONG, code_of, refusal_of

from benchwright.answers.extraction import as_written
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.verdicts import Reason

FENCED = f"```python\n{PLAIN}```\n"
STYLES = [
    *[
        (f"<{word}>", f"</{word}>")
        for word in ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis")
    ],
    ("<THINK>", "</Think>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>commentary to=x <|constrain|>json<|message|>", "<|channel|>final<|message|>"),
]


@pytest.mark.parametrize(("opening", "closing"), STYLES)
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_section_is_removed_in_any_style(opening: str, closing: str, between: str) -> None:
    """Tags on lines of their own or glued to the text around them: the draft between them is not seen."""
    reply = f"{opening}{between}hm\n```python\n{WRONG}```\nno{between}{closing}{between}{FENCED}"
    assert code_of(reply) == PLAIN.strip()
    assert code_of(reply.replace("\n", "\r\n")) == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>a</think>\nFirst.\n<think>\n{WRONG}</think>\n{FENCED}",
        f"<think>\n<think>\n{WRONG}</think>\n{FENCED}",
        f"<think>\nx\n<think>\ny\n</think>\n{WRONG}\n</think>\n{FENCED}",
        f"<thinking>\na\n<reflection>\n{WRONG}</reflection>\n{WRONG}</thinking>\n{FENCED}",
        f"<think>\n{WRONG}</thinking>\n{FENCED}",
        f"</think>\n{FENCED}",
        f"{FENCED}\n<reflection>\nIs it right? Yes.\n</reflection>\n",
        f"{FENCED}\n<think>\n",
        f"<think>\n```\n{WRONG}\n</think>\n```\n{PLAIN}```\n",
        f"<think>\n   - so that is it.</think>\n{FENCED}",
        f"<think>Don't split at '</think>'. It's done.</think>I'll do it:\n{FENCED}",
        f"<think>\n```python\n# up to the </think> tag\n{WRONG}```\n</think>\n{FENCED}",
        f"<think>\n```html\n</think>\n```\n{WRONG}</think>\n{FENCED}",
    ],
)
def test_sections_may_be_repeated_nested_and_sloppy(reply: str) -> None:
    """Whatever the drafts and tags in the reasoning, the answer outside of it is found."""
    assert code_of(reply) == PLAIN.strip()


SPLITTING = 'def task_func(x):\n    return x.split("</think>")[-1]\n'
COMMENTED = "def task_func(x):\n    # up to </think>\n    return x\n"
SAMPLE = 'SAMPLE = """\n<think>\nhidden\n</think>\nshown"""\n\ndef task_func(x):\n    return SAMPLE\n'
DOCUMENTED = (
    'def task_func(x):\n    """Cut at </think> tags.\n\n    <think>\n    a\n    </think>\n    """\n    return x\n'
)


@pytest.mark.parametrize("program", [SPLITTING, COMMENTED, SAMPLE, DOCUMENTED])
@pytest.mark.parametrize("before", ["", "Here it is:\n\n", "<think>\nHm.\n</think>\n", "Hm.\n</think>\nSo:\n\n"])
@pytest.mark.parametrize("fenced", [True, False])
def test_tags_in_the_answers_code_are_none(program: str, before: str, fenced: bool) -> None:
    """An answer about such tags keeps its strings, comments and docstrings."""
    text = f"```python\n{program}```\nDone.\n" if fenced else f"{program}\nThat is all.\n"
    assert code_of(before + text) == program.strip()


def test_an_opening_tag_in_a_block_of_the_answer_is_no_reasoning() -> None:
    """A sample of such a tag in a fence does not make the rest of the reply reasoning."""
    assert code_of(f"{FENCED}For example\n```\n<think>\nhidden\n```\nis left alone.\n") == PLAIN.strip()


def test_a_tag_in_a_sentence_opens_nothing() -> None:
    """Words about a tag, in backticks or in the middle of a line, are no section."""
    assert code_of(f"It drops `<think>` and <think> tags alike.\n{FENCED}") == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>x</think><answer>{FENCED}</answer>",
        f"<answer>\n{PLAIN}</answer>",
        f"<solution>{PLAIN}</solution>",
        f"```python\n{WRONG}```\n<final_answer>\n{FENCED}</final_answer>\n",
        f"<|begin_of_solution|>\n{FENCED}<|end_of_solution|>",
        f"<|START_RESPONSE|>{FENCED}<|END_RESPONSE|>",
        f"<answer>\n{FENCED}",
        f"{FENCED}\n<answer>\nIt adds one.\n</answer>",
    ],
)
def test_the_wrapper_around_the_answer_is_taken_off(reply: str) -> None:
    """The contents of the last wrapper that names the entry point are read, or the text without its tags."""
    assert code_of(reply) == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        f"{FENCED.rstrip()}<|im_end|>\n",
        f"{FENCED.rstrip()}<|im_end|>\n<|im_start|>user\n```python\n{WRONG}```\n",
        f"{FENCED}<|eot_id|><|eot_id|>\n",
        f"{PLAIN.rstrip()}<|endoftext|>",
        f"{PLAIN.rstrip()}</s>",
        f"{PLAIN}<|endoftext|>\n{WRONG}",
        f"<|channel|>final<|message|>{FENCED.rstrip()}<|return|>",
        f"<|channel|>final<|message|>{FENCED.rstrip()}<|end|><|start|>assistant\n{WRONG}",
        f"<|channel|>final<|message|>{PLAIN.rstrip()}<|end|><|start|>assistant<|channel|>commentary<|message|>{WRONG}",
        f"analysisWe need this.\n{WRONG}assistantfinal{FENCED}",
    ],
)
def test_what_follows_an_end_mark_is_not_the_answer(reply: str) -> None:
    """Special tokens that a decoder left in the text end it, and spoil neither a fence nor the last line."""
    assert code_of(reply) == PLAIN.strip()


CHAT = 'CHAT = """<|im_start|>user\n{}\n<|im_end|>\n"""\n\ndef task_func(x):\n    return CHAT.format(x)\n'


@pytest.mark.parametrize("reply", [f"Hi.\n```python\n{CHAT}```\nBye.", f"Hi:\n\n{CHAT}\nBye.", f"{CHAT}```\nBye."])
def test_end_marks_in_the_answers_code_end_nothing(reply: str) -> None:
    """A program that writes chat templates keeps the special tokens in its strings."""
    assert code_of(reply) == CHAT.strip()


@pytest.mark.parametrize("reply", ["", " \n\t\r\n", "<think>\na\n</think>\n \n", "a</think>", "<|im_end|>"])
def test_a_reply_with_nothing_visible_is_empty(reply: str) -> None:
    """Without anything outside of its reasoning a reply is empty, and truncated when it was cut."""
    assert refusal_of(reply).reason is Reason.EMPTY
    assert refusal_of(reply, cut=True).reason is Reason.TRUNCATED


@pytest.mark.parametrize(
    ("text", "prefill", "code"),
    [
        (f"Sure.\n```python\n{PLAIN}```\nDone.", "", f"Sure.\n{PLAIN}Done."),
        (f"<think>\nhm\n</think>\n{PLAIN}", "", f"\n{PLAIN}"),
        (f"hm\n</think>\n~~~\n{PLAIN}~~~\n", "<think>\n", f"\n{PLAIN}"),
        (f"{PLAIN}```\nBye", "Here:\n```python\n", f"{PLAIN}Bye"),
        (PLAIN, "Here is the code:\n", PLAIN),
        ("    return x + 1\n", "def task_func(x):\n", PLAIN),
        ("x = 1\r\ny = '`` ` ```'\r\n", "", "x = 1\ny = '`` ` ```'\n"),
    ],
)
def test_as_written_takes_reasoning_and_fence_lines_only(text: str, prefill: str, code: str) -> None:
    """The text as written keeps prose and demos; a prefill counts when it is code."""
    answer = as_written(text, prefill=prefill)
    assert isinstance(answer, CodeAnswer)
    assert answer.code == code
    assert answer.strategy == "as-written"


@pytest.mark.parametrize(
    ("text", "reason"), [("<think>\nhm", Reason.TRUNCATED), ("```\n```", Reason.EMPTY), ("", Reason.EMPTY)]
)
def test_as_written_says_why_there_is_nothing(text: str, reason: Reason) -> None:
    """An unclosed section is truncated, and nothing visible is empty, for the text as written too."""
    answer = as_written(text)
    assert isinstance(answer, NoAnswer)
    assert answer.reason is reason


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{PLAIN}```\n\n<answer>The function task_func above is it: task_func(x=1).</answer>\n",
        f"<answer>\n```python\n{PLAIN}```\n</answer>\n\n<answer>task_func</answer>",
        f"<response>\n```python\n{PLAIN}```\n</response>\n<solution>Uses task_func.</solution>",
        f"```python\n{WRONG}```\n<answer>\n```python\n{PLAIN}```\n</answer>\n",
    ],
)
def test_a_wrapper_that_only_speaks_of_the_function_is_no_answer(reply: str) -> None:
    """The content of a wrapper is taken when it defines the entry point, or when nothing else does."""
    assert code_of(reply) == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{PLAIN}```\n</think>\n",
        f"```python\n{PLAIN}```\nDone.\n</think>\n\nThe function is above.",
        f"<think>a</think>\n```python\n{PLAIN}```\n</think>",
        f"<think>{WRONG}</think>\n```python\n{PLAIN}```\n</think>",
    ],
)
def test_a_stray_closing_tag_takes_no_code_away_when_none_follows(reply: str) -> None:
    """What stands before a closing tag without an opening one is reasoning only when code comes behind it."""
    assert code_of(reply) == PLAIN.strip()


def test_a_section_that_was_opened_stays_hidden_when_no_code_follows() -> None:
    """A draft within an opened section is never graded."""
    reply = f"<think>\n```python\n{WRONG}```\n</think>\nI cannot tell."
    assert refusal_of(reply).reason is Reason.NO_CODE
