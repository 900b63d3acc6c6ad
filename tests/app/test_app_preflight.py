"""Which problems are asked first, and what their answers must show for a run to go on."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.app.preflight import PreflightSample, choose, conclude, defines, examine
from benchwright.core.attempts import Attempt, Ending

CODE = "import re\n\n\ndef task_func(x):\n    return x\n"


def examined(text: str | None = None, **changes: Any) -> PreflightSample:
    """The sample of an answer; without a text, an ending has to be given."""
    values: dict[str, Any] = {"problem_id": "p", "sample": 0, "solution": None, "raw_text": text, **changes}
    return examine("p", "the prompt", Attempt(**values), "task_func")


def fenced(code: str) -> str:
    """Code in a fence."""
    return f"So:\n```python\n{code}```\n"


@given(st.integers(0, 300), st.integers(2, 10))
def test_the_chosen_problems_are_spread(count: int, size: int) -> None:
    """They are in order, none twice, the first and the last among them, and their gaps differ by at most one."""
    problems = [f"p{number}" for number in range(count)]
    numbers = [problems.index(problem) for problem in choose(problems, size)]
    assert len(numbers) == min(count, size)
    assert numbers == sorted(set(numbers))
    if count:
        assert (numbers[0], numbers[-1]) == (0, count - 1)
    gaps = [after - before for before, after in itertools.pairwise(numbers)]
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_three_are_chosen() -> None:
    """The first, the middle and the last one."""
    assert choose([str(number) for number in range(1140)]) == ["0", "570", "1139"]


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        (CODE, True),
        ("async def task_func():\n    pass", True),
        ("class task_func:\n    pass", True),
        ("task_func = lambda x: x", True),
        ("task_func: object = print", True),
        ("if True:\n    task_func = 1", True),
        ("try:\n    import re\nexcept ImportError:\n    pass\nelse:\n    def task_func():\n        pass", True),
        ("import os\n", False),
        ("def other():\n    def inner():\n        pass", False),
        ("task_func(1)", False),
        ("def task_func(:\n", False),
        ("x = '\0'", False),
        ("", False),
    ],
)
def test_code_defines_a_name_at_its_top_level(code: str, answer: bool) -> None:
    """A definition or an assignment counts, a use or code that does not parse does not."""
    assert defines(code, "task_func") is answer


def test_a_readable_answer_has_code_with_the_function() -> None:
    """The code that would be graded is shown with the rule that found it."""
    sample = examined(fenced(CODE))
    assert sample.readable
    assert (sample.problem_id, sample.prompt) == ("p", "the prompt")
    assert sample.code is not None
    assert sample.code.strip() == CODE.strip()
    assert sample.strategy.startswith("fenced")


def test_code_without_the_function_is_not_readable() -> None:
    """Code is shown, but another function is no answer."""
    sample = examined(fenced("def another(x):\n    return x\n"))
    assert not sample.readable
    assert sample.code is not None


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (examined("I would rather not."), "no_code"),
        (examined(""), "empty"),
        (examined(None, ending=Ending.FAILED, ending_detail="AuthError: no key"), "provider_error: AuthError: no key"),
        (examined("", ending=Ending.REFUSED, ending_detail="blocked"), "refused: blocked"),
        (examined("", ending=Ending.OVERFLOWED, ending_detail="too long"), "context_overflow: too long"),
        (examined("```python\ndef task_f", ending=Ending.TRUNCATED), "truncated"),
    ],
)
def test_an_unreadable_answer_says_why(sample: PreflightSample, words: str) -> None:
    """There is no code that could be graded, and the reason with its detail stands in its place."""
    assert not sample.readable
    assert words in (sample.strategy + (sample.code or ""))


GOOD = examined(fenced(CODE))
BAD = examined("no code from me")
CUT = examined("```python\nimport", ending=Ending.TRUNCATED)
FULL = examined("", ending=Ending.OVERFLOWED)
FAILED = examined(None, ending=Ending.FAILED, ending_detail="AuthError: no key")


@pytest.mark.parametrize("samples", [[GOOD], [GOOD, BAD, BAD], [FAILED, CUT, GOOD], [GOOD, GOOD]])
def test_one_readable_answer_is_enough(samples: list[PreflightSample]) -> None:
    """A run goes on when any of the answers can be graded; how many can is counted."""
    preflight = conclude(samples)
    assert preflight.objection is None
    assert preflight.readable == samples.count(GOOD)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([BAD, BAD, BAD], "None of the 3 answers holds code that defines the function asked for"),
        ([BAD], "The one answer holds code"),
        ([BAD, CUT, FAILED], "--no-preflight goes on regardless"),
        ([CUT, CUT], "raise --reply-tokens"),
        ([FULL, FULL, FULL], "the prompts do not fit the model's context"),
        ([FAILED, FAILED], "gave no reply to any of the 2 first calls: provider_error: AuthError: no key"),
    ],
)
def test_no_readable_answer_is_an_objection(samples: list[PreflightSample], words: str) -> None:
    """The sentence says what all of them have in common, and what to do."""
    preflight = conclude(samples)
    assert preflight.readable == 0
    assert preflight.objection is not None
    assert words in preflight.objection


def test_nothing_asked_is_no_objection() -> None:
    """A budget that paid for no call is another matter."""
    assert conclude([]).objection is None
