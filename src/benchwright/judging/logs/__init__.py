"""Log parsers by the form of log they read; pure."""

from benchwright.core.errors import UnknownNameError
from benchwright.judging.logs import django, pytest, sympy
from benchwright.judging.logs.base import LogParser, LogStatus, ParsedLog

PARSERS = {parser.name: parser for parser in (*pytest.PARSERS, *django.PARSERS, *sympy.PARSERS)}

__all__ = ["PARSERS", "LogParser", "LogStatus", "ParsedLog", "parse", "parse_official", "parser"]


def parser(name: str) -> LogParser:
    """The parser of a form of log; raises `UnknownNameError`, a `UsageError`, for one that there is none for."""
    found = PARSERS.get(name)
    if found is None:
        raise UnknownNameError("log parser", name, PARSERS)
    return found


def parse(name: str, log: str) -> ParsedLog:
    """What a log says of its tests, by our own reading; raises as `parser` does, and nothing for any log."""
    return parser(name).robust(log)


def parse_official(name: str, log: str) -> dict[str, str]:
    """What a log says of its tests by swebench 4.1.0's reading; raises as `parser` does, and nothing for any log."""
    return parser(name).official(log)
