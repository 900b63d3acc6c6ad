"""What is graded: an answer read out of an attempt, or the reason why there is none."""

from dataclasses import dataclass

from benchwright.core.verdicts import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """Source text to execute."""

    code: str
    strategy: str
    """Which rule found it, such as ``solution-field``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing to execute, and why."""

    reason: Reason
    detail: str


Answer = CodeAnswer | NoAnswer
