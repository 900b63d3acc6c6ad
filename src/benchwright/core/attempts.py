"""What came back: one sample of one model for one problem, before anything was read out of it."""

import enum
from dataclasses import dataclass


class Ending(enum.StrEnum):
    """How an attempt ended, as far as its producer says."""

    SUBMITTED = "submitted"
    TRUNCATED = "truncated"
    """Cut off at the limit of tokens."""
    REFUSED = "refused"
    """Declined by the model or by its provider's filter."""
    OVERFLOWED = "overflowed"
    """The prompt did not fit the model's context: the model's own limit, not a fault."""
    GAVE_UP = "gave_up"
    """An agent that stopped acting without handing in; what it left is graded."""
    OUT_OF_BUDGET = "out_of_budget"
    """An agent that was over its budget of tokens, money or turns; what it left is graded."""
    OUT_OF_TIME = "out_of_time"
    """An agent that was over its time; what it left is graded."""
    CRASHED = "crashed"
    """A scaffold's own program that ended with an error, whose work is graded; or an agent whose workspace broke in
    every try while one that nobody works in does not, which counts as nothing handed in."""
    FAILED = "failed"
    """The provider gave no reply after all retries, or our side broke: a fault, nobody's answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One answer as it was recorded."""

    problem_id: str
    sample: int
    """Number of the sample for its problem, from 0 in file order."""
    solution: str | None
    """Code as extracted by whoever wrote the file.  None when it is to be found in ``raw_text``, or when there is
    no usable text at all."""
    raw_text: str | None = None
    """What the model wrote, when that was kept."""
    prefill: str = ""
    """What had been written on the model's behalf before its text, which goes on from there: the beginning of a
    chat answer, or the stub that a base model completes."""
    model: str = ""
    ending: Ending = Ending.SUBMITTED
    ending_detail: str = ""
    """What was said about the ending, such as the provider's error."""
    unreadable: str | None = None
    """Why the text cannot be used at all (not text, over the size limit), or None."""
