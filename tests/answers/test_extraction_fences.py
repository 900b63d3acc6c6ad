"""Facts about fences of every kind."""

import pytest
from extraction_programs import ENTRY, PLAIN, WRONG, code_of, refusal_of

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer
from benchwright.core.verdicts import Reason

TAGS = [
    *("", "python", "py", "Python", "PYTHON", "python3", "Python3.10", "py3", "ipython", "{.python}", "{python}"),
    *("python title='x.py'", " python", "python:solution.py", "python {.line-numbers}", "text", "code"),
]


def indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("mark", ["```", "~~~", "````", "~~~~~"])
@pytest.mark.parametrize("end", ["\nBye.\n", ""])
def test_fences_of_any_kind_and_tag_are_read(tag: str, mark: str, end: str) -> None:
    """Backticks and tildes of any length with any spelling of the language hold the answer."""
    assert code_of(f"Hi.\n\n{mark}{tag}\n{PLAIN}{mark}{end}") == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        f"Hi:\n```python\n{PLAIN}",
        f"Hi:\n```python\n{PLAIN.rstrip()}```",
        f"Hi:\n```python\n{PLAIN.rstrip()} ```\nBye",
        f"Here is the code:```python\n{PLAIN}```",
        "```def task_func(x):\n    return x + 1\n```",
        "```python def task_func(x):\n    return x + 1\n```",
        f"```python\n{PLAIN}```\n```python\nprint(task_func(1))\n```",
        f"```python\n{PLAIN}```\n\n```\n```\n",
        f"```python\n\n```\n```python\n{PLAIN}```",
        f"```\n```python\n{PLAIN}```",
        f"```python\n{PLAIN}\n```python\nprint(task_func(1))\n```",
        f"````markdown\nHere:\n```python\n{PLAIN}```\n````\n",
        f"```markdown\nHere:\n```python\n{PLAIN}```\n```\n",
        f"~~~\n```\n{PLAIN}```\n~~~",
        indented(f"```python\n{PLAIN}```\n", "> "),
        "* ```python\n" + indented(f"{PLAIN}```\n", "  "),
        "1. First:\n\n" + indented(f"```python\n{PLAIN}```\n", "   ") + "2. Then.\n",
        "-\t```python\n" + indented(f"{PLAIN}```\n", "\t"),
        f"```python\n{indented(PLAIN, '    ')}```",
        f"\ufeff```python\r\n{PLAIN}```".replace("\n", "\r\n"),
        f"```python\r{PLAIN}```".replace("\n", "\r"),
        f"\u200b```python\n{PLAIN}\u200b```\n",
        f"```python\n\u200b{PLAIN}```",
        f"\xa0```python\n\ufeff{PLAIN}\xa0```\n",
    ],
)
def test_sloppy_fences_are_read(reply: str) -> None:
    """Missing, glued, doubled, nested, quoted and indented fences cost no answer and no character of it."""
    assert code_of(reply) == PLAIN.strip()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Use ```def task_func(x): return x + 1``` here.", "def task_func(x): return x + 1"),
        ("Use `def task_func(x): return x + 1` here.", "def task_func(x): return x + 1"),
        ("Use `task_func = lambda x: x + 1`.", "task_func = lambda x: x + 1"),
        ("The code is: def task_func(x): return x + 1", "def task_func(x): return x + 1"),
        ("Here you go: import os\ndef task_func(x):\n    return os\n", "import os\ndef task_func(x):\n    return os"),
    ],
)
def test_code_within_a_line_of_prose_is_found(reply: str, code: str) -> None:
    """Code in backticks or behind a colon is taken when there is no other."""
    assert code_of(reply) == code


EXAMPLE = 'def task_func(x):\n    """Count.\n\n    MARK\n    task_func(1)\n    ```\n    """\n    return x + 1\n'
GLUED = 'PAGE = """MARK\nshown```"""\n\ndef task_func(x):\n    return PAGE  # ```\n    # ```\n'
TEMPLATE = 'PAGE = """\nMARK\nshown\n```\n"""\n\ndef task_func(x):\n    return PAGE\n'


@pytest.mark.parametrize("mark", ["```", "```python", "```pycon"])
@pytest.mark.parametrize("program", [EXAMPLE, TEMPLATE, GLUED])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```python\n", "```\nBye.\n"),
        ("Hi.\n\n```\n", "```\nAnd\n```\noutput\n```\n"),
        ("Hi:\n\n", "\nBye.\n"),
        ("", "```\nBye.\n"),
        ("````python\n", "````\n"),
        ("~~~python\n", ""),
    ],
)
def test_a_fence_within_a_string_does_not_end_the_block(mark: str, program: str, before: str, after: str) -> None:
    """A docstring or a template with fences in it stays in one piece."""
    program = program.replace("MARK", mark)
    assert code_of(before + program + after) == program.strip()


@pytest.mark.parametrize("quotes", ["'''", '"""'])
def test_an_unfinished_string_does_not_swallow_the_next_block(quotes: str) -> None:
    """Quotes that open in one block and close in another belong to two pieces, and the good one is found."""
    reply = f"```python\ntext = {quotes}\n```\nThen\n```python\n{PLAIN}```\nor\n```python\nother = {quotes} x\n```\n"
    assert code_of(reply) == PLAIN.strip()


@pytest.mark.parametrize("tag", ["java", "js", "c++", "C#"])
def test_python_in_a_block_of_another_language_is_the_last_resort(tag: str) -> None:
    """A block of another tag is taken when it is valid Python and there is no better one, and a note says so."""
    answer = extract(f"```{tag}\n{PLAIN}```", entry_point=ENTRY)
    assert answer == CodeAnswer(
        code=PLAIN.strip(), strategy="foreign-fence", notes=("the block is marked as another language",)
    )
    assert code_of(f"```python\n{PLAIN}```\n```{tag}\n{WRONG}```") == PLAIN.strip()


@pytest.mark.parametrize(
    "reply",
    [
        "```java\nint taskFunc(int x) { return x; }\n```",
        "I cannot help with that.",
        "Note: `task_func` is missing.",
        "- one\n- two\n",
        "```\n42\n```\nIt prints that.",
        "```bash\npip install task_func\n```",
        "```",
        "``````",
    ],
)
def test_a_reply_without_python_holds_no_code(reply: str) -> None:
    """Other languages, output, shell lines and prose are not code."""
    assert refusal_of(reply).reason is Reason.NO_CODE


@pytest.mark.parametrize(
    ("reply", "strategy", "code"),
    [
        ("```python\ndef task_func(x:\n    return x\n```", "unparsed", "def task_func(x:\n    return x"),
        (
            "def task_func(x):\n  if x\n    return x\n\nBye",
            "unparsed",
            "def task_func(x):\n  if x\n    return x\n\nBye",
        ),
        ("```python\nprint 'old'\n```", "unparsed", "print 'old'"),
        ("```python\ndef other(x):\n    return x\n```", "no-entry-point", "def other(x):\n    return x"),
        (
            "Sure:\n\nimport os\n\ndef other(x):\n    return x\n",
            "no-entry-point",
            "import os\n\ndef other(x):\n    return x",
        ),
        ("```\nx = 1\n```\n```python\ny = 22\n```", "no-entry-point", "y = 22"),
        (
            "```python\nclass Solution:\n    def task_func(self, x):\n        return x\n```",
            "no-entry-point",
            "class Solution:\n    def task_func(self, x):\n        return x",
        ),
        ("```python\ndef task_func(x):\n    pass\n```", "fenced", "def task_func(x):\n    pass"),
    ],
)
def test_the_nearest_thing_to_an_answer_is_handed_on(reply: str, strategy: str, code: str) -> None:
    """Code that does not parse or lacks the entry point is executed all the same, for the verdict says more."""
    answer = extract(reply, entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert (answer.strategy, answer.code) == (strategy, code)
    assert strategy == "fenced" or any("does not" in note for note in answer.notes)


def test_lines_within_brackets_and_strings_are_none_for_a_shell() -> None:
    """What looks like an installation or a notebook's command stays where a statement goes on."""
    code = "def task_func(x):\n    return ('%s'\n        % x), '''\npip install foo\n!bang\n'''"
    assert code_of(f"```python\n!pip install numpy\n{code}\n%matplotlib inline\n```\n") == code


def test_code_that_does_not_parse_keeps_its_first_line() -> None:
    """Code that is handed on as it stands is not searched for what of it parses by itself."""
    code = "\u2028def task_func(x):\n    return x"
    answer = extract(f"```python\n{code}\n```\n", entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert (answer.strategy, answer.code) == ("unparsed", code)
