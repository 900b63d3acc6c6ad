"""What a log parser is: the text of a test run in, a status for each test id out.

Each form of log is read in two ways.  The *official* one gives for any log what swebench 4.1.0's parser of that form
gives (``swebench/harness/log_parsers/python.py``), because the benchmark's test ids are spelled by it; where that
parser raises, the line at fault is left out.  The *robust* one is for our own rules: it also finds tests behind
colours, behind text that came between a name and its status, and under second spellings, and a failure of a test
cannot be undone by a later pass.
"""

import enum
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


class LogStatus(enum.StrEnum):
    """A test's status as logs of Python test runners spell it."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    ERROR = "ERROR"
    XFAIL = "XFAIL"
    """It failed, as it was expected to."""


# A skip says less than an expected failure does, for nothing was run.
_FROM_GOOD_TO_BAD = (LogStatus.PASSED, LogStatus.XFAIL, LogStatus.SKIPPED, LogStatus.FAILED, LogStatus.ERROR)
_BAD = frozenset({LogStatus.FAILED, LogStatus.ERROR})
STATUS_WORDS = frozenset(status.value for status in LogStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLog:
    """What a log says of its tests."""

    statuses: Mapping[str, LogStatus]
    """By id, in every spelling of it; of several statuses the worst."""
    conflicts: tuple[str, ...]
    """Ids that the log lists with more than one status, sorted; failed and error count as one.

    Not by itself a sign of forgery: a test may pass and its teardown fail, and ids that are cut at a space
    stand for several tests.
    """


class Findings:
    """Collects statuses while a log is read; of several for one id the worst stays."""

    def __init__(self) -> None:
        self._statuses: dict[str, LogStatus] = {}
        self._conflicts: set[str] = set()

    def add(self, names: Iterable[str], status: LogStatus) -> None:
        """Take down one result under all spellings of its test."""
        for name in names:
            known = self._statuses.setdefault(name, status)
            if known is not status:
                self._statuses[name] = max(known, status, key=_FROM_GOOD_TO_BAD.index)
                if not {known, status} <= _BAD:
                    self._conflicts.add(name)

    def parsed(self, official: Mapping[str, str]) -> ParsedLog:
        """Everything taken down, and what the official reading alone has found."""
        statuses = dict(self._statuses)
        for name, word in official.items():
            if word in STATUS_WORDS:
                statuses.setdefault(name, LogStatus(word))
        return ParsedLog(statuses=statuses, conflicts=tuple(sorted(self._conflicts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogParser:
    """One form of log and its two readings."""

    name: str
    official: Callable[[str], dict[str, str]]
    """Status words by id; words that are none occur, as in swebench."""
    robust: Callable[[str], ParsedLog]


# ECMA-48: control sequences, operating system commands, other two-character escapes.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = dict.fromkeys([*range(0x09), *range(0x0B, 0x20), 0x7F])


def clean_lines(log: str) -> list[str]:
    """The lines of a log as a terminal would show them: no colours, no control characters; a return ends a line."""
    text = _ESCAPES.sub("", log).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_CONTROL).split("\n")
