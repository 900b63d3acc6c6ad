"""Facts about replies that were ended by the limit of tokens."""

import pytest
from extraction_programs import PLAIN, code_of, refusal_of

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer
from benchwright.core.verdicts import Reason

BASE = "def task_func(x):\n"
BODY = "    return x + 1\n"


@pytest.mark.parametrize(
    ("text", "prefill"),
    [
        (f"```python\n{PLAIN}```\nThis func", ""),
        (f"```python\n{PLAIN}```", ""),
        (f"{PLAIN}```\nThis func", "```python\n"),
        (f"{PLAIN}\nprint(task", ""),
        (f"{PLAIN}\n\ndef other(x):\n    ret", ""),
        (f"```python\n{PLAIN}\nprint(task", ""),
        (f"Sure:\n\n{PLAIN}\nThis func", ""),
        (f"{BODY}\n\ndef oth", BASE),
        (f"{BODY}\n\nclass TestIt(unittest.TestCase):\n    def test(self):\n        x = [1, (", BASE),
        (f"{BODY}```\n\nThis", BASE),
        (f"```python\n{PLAIN}```\nBetter:\n```python\ndef task_func(x):\n    ret", ""),
        (f"<think>\nhm\n</think>\n```python\n{PLAIN}```\nTh", ""),
    ],
)
def test_an_answer_complete_before_the_cut_is_graded(text: str, prefill: str) -> None:
    """A closed block, or a definition that more text follows, was complete."""
    assert code_of(text, prefill=prefill, cut=True) == PLAIN.strip()


@pytest.mark.parametrize(
    ("text", "prefill"),
    [
        (PLAIN, ""),
        (f"```python\n{PLAIN}", ""),
        (BODY, f"```python\n{BASE}"),
        ("    return (y", BASE),
        ("<think>\nhm", BASE),
        ("def task_func(x):\n    if x:\n        return 1\n    retu", ""),
        ('def task_func(x):\n    """Doc.\n\n    ```\n    task_func(1)\n', ""),
        ('def task_func(x):\n    """Doc.\n\n    ```\n    a\n    ```\n    """\n    y = "', ""),
        (f"<think>\n{PLAIN}\nprint(task_func(1))\n", ""),
        ("def task_func(x):\n    return helper(x)\n\ndef helper(x):\n    if x:\n        return 1\n", ""),
        ("def task_func(x):\n    return helper(x)\n\ndef hel", ""),
        ("def task_func(x):\n    return LIMIT\n\nLIMIT = 1", ""),
        ("```python\nimport os\n", ""),
        ("", ""),
        ("Let me think about", ""),
        ("```python\ndef task_func(x:\n    return x\n", ""),
    ],
)
def test_an_answer_that_the_cut_may_have_shortened_is_not_graded(text: str, prefill: str) -> None:
    """When the definition or something it needs may go on, the reply is truncated."""
    assert refusal_of(text, prefill=prefill, cut=True).reason is Reason.TRUNCATED


@pytest.mark.parametrize("around", ["```python\n{}\n```\n", "```python\n{}", "{}", "Sure:\n\n{}"])
@pytest.mark.parametrize("end", ["    return (y", "    for z in y:", "    text = '''abc", "    y = [1,\n        2,"])
def test_a_definition_that_breaks_off_is_not_mended(around: str, end: str) -> None:
    """Nothing is cut from the end of a definition to make it parse: what the model left wrong stays wrong."""
    program = f"def task_func(x):\n    y = x\n{end}"
    assert code_of(around.format(program)).endswith(program)


def test_a_comment_in_the_first_column_ends_a_definition_too() -> None:
    """A comment below the function shows that it was complete; an indented one may belong to it."""
    assert code_of(f"{PLAIN}\n# Exam", cut=True) == f"{PLAIN}\n# Exam"
    assert refusal_of(f"{PLAIN}    # Now", cut=True).reason is Reason.TRUNCATED


def test_a_partial_last_statement_is_not_executed() -> None:
    """Of a cut reply a last line that may be half a word is left out."""
    assert code_of(f"{PLAIN}\nimport unit", cut=True) == PLAIN.strip()


@pytest.mark.parametrize(
    ("text", "graded"),
    [
        (BODY, BODY),
        (f"{BODY}    # and then\n    # and th", f"{BODY}    # and then\n"),
        ("    y = x + 1\n    return y +", "    y = x + 1\n"),
    ],
)
def test_a_cut_continuation_is_graded_as_far_as_it_goes(text: str, graded: str) -> None:
    """A base model's reply has no end of its own: its whole lines are graded, and the note says so."""
    answer = extract(text, entry_point="task_func", prefill=BASE, cut=True)
    assert isinstance(answer, CodeAnswer)
    assert answer.code == (BASE + graded).strip()
    assert "cut off by the limit of tokens; graded as far as it goes" in answer.notes
