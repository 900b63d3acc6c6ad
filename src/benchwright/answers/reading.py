"""From an attempt to an answer: the code to execute, or the reason why there is none.

Code that somebody has already cut out of a model's reply is taken as it is (``strategy="solution-field"``); code in a
raw reply is found by `benchwright.answers.extraction`.
"""

from typing import assert_never

from benchwright.answers import extraction
from benchwright.core.answers import Answer, CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.verdicts import Reason

#: Largest answer that is graded.  The longest of 2,000 real answers to BigCodeBench has 6.8 kB; more than a
#: thousand times that leaves room for embedded data and keeps a parser's tree within the memory of a job.
MAX_ANSWER_BYTES = 10_000_000


def unreadable_because(reason: Reason, detail: str) -> str:
    """The text for `Attempt.unreadable`: the reason's name, a colon, one plain clause."""
    return f"{reason.value}: {detail}"


def too_large(text: str) -> str | None:
    """The text for `Attempt.unreadable` when an answer is over `MAX_ANSWER_BYTES`, else None."""
    # A character is one to four bytes: most texts are decided without encoding them.
    if len(text) * 4 <= MAX_ANSWER_BYTES:
        return None
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= MAX_ANSWER_BYTES:
        return None
    return unreadable_because(
        Reason.TOO_LARGE, f"the answer has {size:,} bytes; at most {MAX_ANSWER_BYTES:,} are graded"
    )


def answer_of(attempt: Attempt, *, entry_point: str | None = None, as_written: bool = False) -> Answer:
    """What there is to execute in an attempt, or why there is nothing.

    A solution is taken as it stands; without one, the code is extracted from the raw text, for which
    ``entry_point`` must be given.  ``as_written`` asks for the raw text itself, less reasoning and fence lines,
    wherever there is one.  A cut reply is graded only when extraction finds it complete.
    """
    if attempt.unreadable is not None:
        return _unreadable(attempt.unreadable)
    ended = _ended_early(attempt)
    if ended is not None and (attempt.ending is not Ending.TRUNCATED or attempt.raw_text is None):
        return ended
    oversize = too_large(attempt.prefill + attempt.raw_text) if attempt.raw_text is not None else None
    if oversize is not None and (attempt.solution is None or as_written or ended is not None):
        return _unreadable(oversize)
    answer = _answer(attempt, entry_point, as_written=as_written, cut=ended)
    flaw = _not_text(answer.code) if isinstance(answer, CodeAnswer) else None
    return answer if flaw is None else NoAnswer(reason=Reason.NOT_TEXT, detail=flaw)


def _answer(attempt: Attempt, entry_point: str | None, *, as_written: bool, cut: NoAnswer | None) -> Answer:
    raw_text, prefill = attempt.raw_text, attempt.prefill
    wanted = cut is not None or (attempt.solution is None and not as_written)
    found: Answer | None = None
    if raw_text is not None and entry_point is not None and wanted:
        found = extraction.extract(raw_text, entry_point=entry_point, prefill=prefill, cut=cut is not None)
    if cut is not None and not isinstance(found, CodeAnswer):
        return found or cut
    if as_written and raw_text is not None:
        return extraction.as_written(raw_text, prefill=prefill)
    if attempt.solution is not None or raw_text is None:
        return _solution(attempt.solution)
    if found is None:
        raise ValueError(
            "To find the code in a raw text answer_of() needs the entry point: "
            "answer_of(attempt, entry_point=problem.entry_point)"
        )
    return found


def _solution(code: str | None) -> Answer:
    if code is None or not code.strip():
        return NoAnswer(reason=Reason.EMPTY, detail="the answer is empty")
    oversize = too_large(code)
    if oversize is not None:
        return _unreadable(oversize)
    return CodeAnswer(code=code, strategy="solution-field")


def _unreadable(text: str) -> NoAnswer:
    name, _, detail = text.partition(": ")
    if name == Reason.TOO_LARGE.value:
        return NoAnswer(reason=Reason.TOO_LARGE, detail=detail)
    return NoAnswer(reason=Reason.NOT_TEXT, detail=detail if name == Reason.NOT_TEXT.value else text)


def _ended_early(attempt: Attempt) -> NoAnswer | None:
    match attempt.ending:
        case Ending.SUBMITTED | Ending.GAVE_UP | Ending.OUT_OF_BUDGET | Ending.OUT_OF_TIME | Ending.CRASHED:
            return None  # of an agent, what it has left counts however it ended
        case Ending.TRUNCATED:
            return NoAnswer(reason=Reason.TRUNCATED, detail="the reply was cut off before it ended")
        case Ending.REFUSED:
            return NoAnswer(reason=Reason.REFUSED, detail=attempt.ending_detail or "the model refused to answer")
        case Ending.OVERFLOWED:
            detail = attempt.ending_detail or "the prompt did not fit the model's context"
            return NoAnswer(reason=Reason.CONTEXT_OVERFLOW, detail=detail)
        case Ending.FAILED:
            detail = attempt.ending_detail or "the provider gave no reply"
            return NoAnswer(reason=Reason.PROVIDER_ERROR, detail=detail)
        case _:
            assert_never(attempt.ending)


def _not_text(code: str) -> str | None:
    nul = code.find("\0")
    if nul >= 0:
        return f"line {code.count(chr(10), 0, nul) + 1} of the answer has a NUL byte"
    try:
        code.encode("utf-8")
    except UnicodeEncodeError as error:
        line = code.count("\n", 0, error.start) + 1
        return f"line {line} of the answer has a lone surrogate (U+{ord(code[error.start]):04X})"
    return None
