"""Facts about turning attempts into answers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.answers import reading
from benchwright.answers.reading import MAX_ANSWER_BYTES, answer_of, too_large, unreadable_because
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.verdicts import Reason

CODE = "def f(x):\n    return x\n"


def raw(text: str, *, ending: Ending = Ending.SUBMITTED, solution: str | None = None, prefill: str = "") -> Attempt:
    return Attempt(problem_id="X/1", sample=0, solution=solution, raw_text=text, prefill=prefill, ending=ending)


def attempt(solution: str | None, *, ending: Ending = Ending.SUBMITTED, unreadable: str | None = None) -> Attempt:
    return Attempt(problem_id="X/1", sample=0, solution=solution, ending=ending, unreadable=unreadable)


def reason(given_attempt: Attempt) -> Reason:
    answer = answer_of(given_attempt)
    assert isinstance(answer, NoAnswer)
    assert answer.detail
    return answer.reason


@pytest.mark.parametrize("solution", [None, "", " \n\t\r\n"])
def test_nothing_but_whitespace_is_empty(solution: str | None) -> None:
    """An absent or blank solution is no answer, because it is empty."""
    assert reason(attempt(solution)) is Reason.EMPTY


def test_code_is_handed_on_unchanged() -> None:
    """Code keeps every character, also odd line ends, and says which rule found it."""
    code = "  \r\nx = 'é\u2028'\n"
    assert answer_of(attempt(code)) == CodeAnswer(code=code, strategy="solution-field")


@pytest.mark.parametrize(
    ("ending", "expected"), [(Ending.TRUNCATED, Reason.TRUNCATED), (Ending.REFUSED, Reason.REFUSED)]
)
def test_an_attempt_that_did_not_end_properly_is_no_answer(ending: Ending, expected: Reason) -> None:
    """What a truncated or refused attempt left behind is not executed."""
    assert reason(attempt("def f(): pass", ending=ending)) is expected


@pytest.mark.parametrize(
    ("code", "place"), [("a = 1\nb = '\0'", "line 2 .* NUL"), ("'\ud800'", r"line 1 .* \(U\+D800\)")]
)
def test_characters_that_no_source_file_holds_are_not_text(code: str, place: str) -> None:
    """NUL bytes and lone surrogates make an answer unusable, and the line is named."""
    answer = answer_of(attempt(code))
    assert isinstance(answer, NoAnswer)
    assert answer.reason is Reason.NOT_TEXT
    assert re.search(place, answer.detail)


@pytest.mark.parametrize("letter", ["a", "é", "😀"])
def test_the_size_limit_counts_bytes_and_is_inclusive(letter: str) -> None:
    """An answer of exactly the limit is graded, one character more is too large, whatever its encoding."""
    width = len(letter.encode())
    fits = letter * (MAX_ANSWER_BYTES // width)
    assert isinstance(answer_of(attempt(fits)), CodeAnswer)
    assert reason(attempt(fits + letter * 2)) is Reason.TOO_LARGE


@pytest.mark.parametrize("told", [Reason.NOT_TEXT, Reason.TOO_LARGE])
def test_what_a_reader_said_of_an_unreadable_attempt_is_kept(told: Reason) -> None:
    """The reason and the words that a file's reader recorded come back as they went in."""
    answer = answer_of(attempt(None, unreadable=unreadable_because(told, "because: so")))
    assert answer == NoAnswer(reason=told, detail="because: so")


def test_an_unreadable_attempt_of_another_source_is_not_text() -> None:
    """Words that name no reason are passed on under the general one."""
    assert answer_of(attempt(None, unreadable="odd: bytes")) == NoAnswer(reason=Reason.NOT_TEXT, detail="odd: bytes")


@given(st.text(max_size=50))
def test_too_large_agrees_with_the_encoded_size(text: str) -> None:
    """The shortcut by characters never contradicts the number of bytes."""
    limit = reading.MAX_ANSWER_BYTES
    try:
        reading.MAX_ANSWER_BYTES = 40
        assert (too_large(text) is not None) == (len(text.encode("utf-8", "surrogatepass")) > 40)
    finally:
        reading.MAX_ANSWER_BYTES = limit


def test_code_is_extracted_from_a_raw_text() -> None:
    """Without a solution the code is found in what the model wrote, going on from what was written for it."""
    answer = answer_of(raw(f"Hi.\n```python\n{CODE}```\n"), entry_point="f")
    assert answer == CodeAnswer(code=CODE.strip(), strategy="fenced")
    answer = answer_of(raw("    return x\n\nprint(f(1))\n", prefill="def f(x):\n"), entry_point="f")
    assert isinstance(answer, CodeAnswer)
    assert (answer.code, answer.strategy) == (CODE.strip(), "program")


def test_a_raw_text_needs_the_entry_point() -> None:
    """A caller that forgets the entry point is told how to call."""
    with pytest.raises(ValueError, match=r"entry_point=problem\.entry_point"):
        answer_of(raw("text"))


def test_a_solution_is_not_extracted_again() -> None:
    """Where somebody gave a solution it is graded as it stands, whatever the raw text holds."""
    answer = answer_of(raw(f"```python\n{CODE}```", solution="x = 1"), entry_point="f")
    assert answer == CodeAnswer(code="x = 1", strategy="solution-field")


@pytest.mark.parametrize("solution", [None, "x = 1"])
def test_the_text_as_written_is_preferred_when_asked_for(solution: str | None) -> None:
    """As written, the raw text counts where there is one, and the solution as it stands where there is none."""
    answer = answer_of(raw(f"Hi.\n```python\n{CODE}```\n", solution=solution), as_written=True)
    assert answer == CodeAnswer(code=f"Hi.\n{CODE}", strategy="as-written")
    assert answer_of(attempt("x = 1"), as_written=True) == CodeAnswer(code="x = 1", strategy="solution-field")
    assert reason(attempt(None)) is Reason.EMPTY


@pytest.mark.parametrize(("solution", "as_written"), [(None, False), ("x = 1", False), (None, True), ("x = 1", True)])
def test_a_truncated_reply_is_graded_when_it_was_complete(solution: str | None, as_written: bool) -> None:
    """Extraction decides whether a truncated reply holds a complete answer, for all ways to read it."""
    complete = raw(f"```python\n{CODE}```\nAnd th", ending=Ending.TRUNCATED, solution=solution)
    assert isinstance(answer_of(complete, entry_point="f", as_written=as_written), CodeAnswer)
    broken = raw("```python\ndef f(x):\n    ret", ending=Ending.TRUNCATED, solution=solution)
    for entry_point in ("f", None):
        answer = answer_of(broken, entry_point=entry_point, as_written=as_written)
        assert isinstance(answer, NoAnswer)
        assert answer.reason is Reason.TRUNCATED


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.REFUSED, Reason.REFUSED),
        (Ending.OVERFLOWED, Reason.CONTEXT_OVERFLOW),
        (Ending.FAILED, Reason.PROVIDER_ERROR),
    ],
)
def test_other_early_endings_stay_no_answer(ending: Ending, expected: Reason) -> None:
    """What a refused, overflowed or failed attempt wrote is not looked at."""
    answer = answer_of(raw(CODE, ending=ending), entry_point="f")
    assert isinstance(answer, NoAnswer)
    assert answer.reason is expected


def test_only_the_extracted_code_must_be_text() -> None:
    """NUL bytes and lone surrogates in prose do no harm, in the code they do."""
    assert isinstance(answer_of(raw(f"\0\ud800\n```python\n{CODE}```"), entry_point="f"), CodeAnswer)
    for flaw in ("\0", "\ud800"):
        answer = answer_of(raw(f"```python\ndef f(x):\n    return '{flaw}'\n```"), entry_point="f")
        assert isinstance(answer, NoAnswer)
        assert answer.reason is Reason.NOT_TEXT


def test_a_raw_text_over_the_limit_is_too_large() -> None:
    """The size limit holds for raw texts too, unless a solution is graded in their place."""
    text = "a" * (MAX_ANSWER_BYTES + 1)
    answer = answer_of(raw(text), entry_point="f")
    assert isinstance(answer, NoAnswer)
    assert answer.reason is Reason.TOO_LARGE
    assert isinstance(answer_of(raw(text, solution="x = 1"), entry_point="f"), CodeAnswer)
