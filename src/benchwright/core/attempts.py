"""What came back: one sample of one model for one problem, before anything was read out of it."""

import enum
from dataclasses import dataclass


class Ending(enum.StrEnum):
    """How an attempt ended, as far as its producer says."""

    SUBMITTED = "submitted"
    TRUNCATED = "truncated"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One answer as it was recorded."""

    problem_id: str
    sample: int
    """Number of the sample for its problem, from 0 in file order."""
    solution: str | None
    """Code as extracted by whoever wrote the file; None when the record has no usable text."""
    raw_text: str | None = None
    """What the model wrote, when the file keeps it."""
    model: str = ""
    ending: Ending = Ending.SUBMITTED
    unreadable: str | None = None
    """Why the text cannot be used at all (not text, over the size limit), or None."""
