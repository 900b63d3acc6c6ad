"""What is graded: an answer read out of an attempt, or the reason why there is none."""

from dataclasses import dataclass

from benchwright.core.verdicts import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """Source text to execute."""

    code: str
    strategy: str
    """Which rule found it, such as ``solution-field``."""
    notes: tuple[str, ...] = ()
    """What a reader of the result should know of how it was found; one plain clause each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing to execute, and why."""

    reason: Reason
    detail: str


Answer = CodeAnswer | NoAnswer
