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
