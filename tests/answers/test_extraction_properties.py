"""What holds for every reply: right programs keep their meaning, extraction is idempotent, and no text breaks it."""

import ast

import pytest
from extraction_programs import ENTRY, PROGRAMS, WRONG, Program, code_of, results
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchwright.answers.extraction import as_written, extract
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.verdicts import Reason

programs = st.sampled_from(PROGRAMS)
reasonings = st.sampled_from(
    [
        "",
        f"<think>\nIt is 0?\n```python\n{WRONG}```\n</think>\n\n",
        f"<think>{WRONG}</think>",
        f"so it goes\n```\n{WRONG}\n</think>\n",
        f"<think>a <think> b\n</think>\n{WRONG}\n</think>\n",
        f"[THINK]it's {WRONG}[/THINK]",
        f"◁think▷\n{WRONG}◁/think▷",
        f"<|begin_of_thought|>\n\n{WRONG}\n\n<|end_of_thought|>\n\n",
        f"<reflection>\n{WRONG}</reflection>\n<thinking>\nmore\n</thinking>\n",
        f"<|channel|>analysis<|message|>{WRONG}<|end|><|start|>assistant<|channel|>final<|message|>",
    ]
)
proses = st.sampled_from(
    [
        "",
        "Sure! Here's the code:\n\n",
        "# Solution\n\nThe function `task_func` (see below) does it, doesn't it?\n\n",
        "1. Read x.\n2. Answer.\n\n* note: don't :(\n\n",
        "Use \"quotes\" and 'these'.\n",
    ]
)
installs = st.sampled_from(["", "```bash\npip install numpy\n```\n", "```\n!pip install numpy\n```\n\n"])
demos = st.sampled_from(
    [
        "",
        "\nprint(task_func(3))\n",
        "\n# Example usage\nshown = task_func(3)\nprint(shown)\n",
        "\nif __name__ == '__main__':\n    print(task_func(int(input())))\n",
        (
            "\nimport unittest\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
            "        print(task_func(1))\n\nunittest.main()\n"
        ),
    ]
)
endings = st.sampled_from(
    [
        "",
        "\nThat's it.\n",
        "\n\n- `x`: a number\n- returns (something\n",
        "\nOutput:\n```\n2\n```\n",
        "\nUsage:\n\n```python\nprint(task_func(1))\n```\n\nEnjoy!\n",
    ]
)


@st.composite
def fenced(draw: st.DrawFn) -> tuple[Program, str, str]:
    """A program, the prefill and a reply that holds it in fences."""
    program = draw(programs)
    mark = draw(st.sampled_from(["```", "~~~", "````"]))
    tag = draw(st.sampled_from(["python", "py", "Python3", "python3.10", "", "{.python}", ' python title="x"']))
    body = program.text + draw(demos)
    if program.imports and draw(st.booleans()):
        body = f"{program.imports}\n{mark}\n\nAnd then:\n{mark}{tag}\n{program.code}{draw(demos)}"
    indent = draw(st.sampled_from(["", "", "  ", "    "]))
    block = "".join(f"{indent}{line}\n" if line else "\n" for line in f"{mark}{tag}\n{body}{mark}".split("\n"))
    prefill = draw(st.sampled_from(["", "Sure:\n"]))
    text = draw(proses) + draw(installs) + block + draw(endings)
    if not prefill and draw(st.booleans()):
        text = draw(reasonings) + text
    return program, prefill, text


@st.composite
def prefilled(draw: st.DrawFn) -> tuple[Program, str, str]:
    """A program, and a prefill that opened a fence or began the program; the reply goes on from there."""
    program = draw(programs)
    text = program.text + draw(demos)
    if draw(st.booleans()):
        return program, draw(st.sampled_from(["```python\n", "Here is the code:\n```\n"])), f"{text}```{draw(endings)}"
    start = text.find("def task_func") if "def task_func" in text else 0
    split = draw(st.integers(text.find("\n", start) + 1 if start else 0, len(text)))
    return (
        program,
        text[:split],
        text[split:] + draw(st.sampled_from(["", "\n```\n\nSo it is.\n", "\nclass X:\n    '''"])),
    )


@st.composite
def unfenced(draw: st.DrawFn) -> tuple[Program, str, str]:
    """A program among prose without a fence."""
    program = draw(programs)
    ending = draw(st.sampled_from(["", "\nThat's it.\n", "\n\n- `x`: a number\n- returns (something\n", "```\n"]))
    prose = draw(proses)
    return program, "", prose + program.text + draw(demos) + ending


def same_meaning(program: Program, code: str) -> None:
    ast.parse(code)
    assert results(code) == results(program.text)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(fenced(), prefilled(), unfenced()), st.sampled_from(["\n", "\r\n"]))
def test_a_right_program_keeps_its_meaning(case: tuple[Program, str, str], newline: str) -> None:
    """Whatever is around a self-contained program, what is extracted answers as the program does, and shows nothing."""
    program, prefill, text = case
    code = code_of(text.replace("\n", newline), prefill=prefill.replace("\n", newline))
    same_meaning(program, code)
    assert code_of(code) == code


def can_be_cut(case: tuple[Program, str, str]) -> bool:
    """Whether a reader can tell what is missing: not a tail, a section's other section, or an unseen opening tag."""
    program, _, text = case
    return not program.tail and not text.startswith(("<think>a <think>", "so it goes"))


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(fenced(), prefilled(), unfenced()).filter(can_be_cut), st.floats(0, 1), st.booleans())
def test_a_cut_reply_is_complete_or_truncated(case: tuple[Program, str, str], at: float, crlf: bool) -> None:
    """Of the beginning of a reply either the whole answer is graded or nothing."""
    program, prefill, text = case
    text = text.replace("\n", "\r\n") if crlf else text
    answer = extract(text[: int(at * len(text))], entry_point=ENTRY, prefill=prefill, cut=True)
    if isinstance(answer, NoAnswer):
        assert answer.reason is Reason.TRUNCATED
    elif not (prefill and answer.notes and answer.notes[-1].startswith("cut off by the limit")):
        # A base model's continuation is graded as far as it goes.
        same_meaning(program, answer.code)


PIECES = [
    *("```", "```python\n", "~~~", "\n", "\n\n", "\r\n", " ", "    ", "\t", "`", "'", '"', "'''", '"""', "\\", "\\\n"),
    *("<think>", "</think>", "[THINK]", "[/THINK]", "<answer>", "</answer>", "<|channel|>final<|message|>"),
    *("<|channel|>analysis<|message|>", "<|im_end|>", "◁think▷", "◁/think▷", "<reflection>\n", "</reflection>\n"),
    *(
        "def task_func(x):\n",
        "    return x\n",
        "def task_func(x): return x\n",
        "task_func = 1\n",
        "class A:\n",
        "@task_func\n",
    ),
    *(
        "import os\n",
        "from __future__ import annotations\n",
        "x = 1\n",
        "x = task_func(x)\n",
        "print(x)\n",
        "x.y = 2\n",
    ),
    *(
        "if x:\n",
        "else:\n",
        "try:\n",
        "except:\n",
        "lambda: ",
        "global x\n",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ":",
        ";",
        "#",
    ),
    *(">>> ", "... ", "> ", "- ", "1. ", "Alternatively:\n", "Final code:\n", "pip install x\n", "task_func", "prose "),
    *("\0", "\ud800", "\ufeff", "é", "\u2028", "\x0c", "\x85"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(deadline=None, max_examples=1500, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.one_of(texts, st.text(max_size=80)),
    st.sampled_from(["", "```python\n", "def task_func(x):\n", "<think>"]),
    st.booleans(),
)
@example("(" * 3000, "", False)
@example("task_func = " + "-" * 3000 + "1", "", False)
@example("def task_func(): return " + "+".join("a" * 3000), "", False)
@example("task_func = " + "(" * 90 + "lambda: 0" + ")" * 90, "", True)
def test_no_text_breaks_extraction(text: str, prefill: str, cut: bool) -> None:
    """Any text gives code or a reason, and code that defines the entry point is given again for itself."""
    as_written(text, prefill=prefill)
    answer = extract(text, entry_point=ENTRY, prefill=prefill, cut=cut)
    if isinstance(answer, NoAnswer):
        assert answer.detail
        assert answer.reason in {Reason.EMPTY, Reason.TRUNCATED, Reason.NO_CODE}
        return
    assert answer.code.strip()
    again = extract(answer.code, entry_point=ENTRY)
    if answer.strategy not in {"unparsed", "no-entry-point"}:
        ast.parse(answer.code)
        assert isinstance(again, CodeAnswer)
        assert again.code == answer.code


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_alone_is_given_unchanged(program: Program) -> None:
    """A reply that is a program, all of which is needed, comes out as it is but for blank lines around it."""
    answer = extract(f"\n\n{program.text}\n\n", entry_point=ENTRY)
    assert answer == CodeAnswer(code=program.text.strip("\n"), strategy="program")
