"""Logs of pytest: the short summary (``-rA``), the lines of ``-v``, and the forms that swebench tells apart."""

import functools
import re
from collections.abc import Callable, Iterator

from benchwright.judging.logs.base import STATUS_WORDS, Findings, LogParser, LogStatus, ParsedLog, clean_lines

_WORDS = tuple(status.value for status in LogStatus)
_ANY_WORD = "|".join((*_WORDS, "XPASS"))
_PERCENT = r"(?:\s*\[\s*\d{1,3}%\])"

_SUMMARY = re.compile(rf"(?P<word>{_ANY_WORD})\s+(?P<id>\S+)")
_WORKER = re.compile(rf"\[gw\d+\]{_PERCENT}?\s+(?P<word>{_ANY_WORD})\s+(?P<id>\S+)")
_NODE = re.compile(r"(?P<id>\S+::\S+)(?P<rest>.*)")
# Behind an id: the status at once, also with a notice glued to it, or at the line's end behind other text.
_AT_ONCE = re.compile(rf"\s+(?P<word>{_ANY_WORD})(?![a-z0-9_])")
_AT_END = re.compile(rf"(?P<word>{_ANY_WORD})(?:\s+\([^()]*\))?{_PERCENT}?\s*$")
# On a later line than the id: alone, or with a notice glued to it, or in front of the percentage.
_ALONE = re.compile(rf"\s*(?P<word>{_ANY_WORD})(?:{_PERCENT}?\s*$|(?=[A-Z][a-z]))")
_BEFORE_PERCENT = re.compile(rf"(?P<word>{_ANY_WORD}){_PERCENT}\s*$")
_COLOUR = re.compile(r"\[\d+m")
_CONTROL = dict.fromkeys(range(1, 32))


def _as_is(text: str) -> str:
    return text


def _short_option(name: str) -> str:
    """An id whose parameter is an absolute path with that path cut down to its last part."""
    start, end = name.find("["), name.rfind("]")
    if start < 0 or end < start:
        return name
    option = name[start + 1 : end]
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        option = "/" + option.rpartition("/")[2]
    return f"{name[:start]}[{option}]"


def _plain_buttons(line: str) -> str:
    """Matplotlib's enumeration members as the numbers they were when the ids were taken down."""
    return line.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")


def _summary_words(line: str) -> list[str]:
    """The words of a summary line; of a failed test's line without the dash in front of the reason."""
    return (line.replace(" - ", " ") if line.startswith(LogStatus.FAILED) else line).split()


def _official(
    log: str, *, line_of: Callable[[str], str] = _as_is, name_of: Callable[[str], str] = _as_is
) -> dict[str, str]:
    statuses: dict[str, str] = {}
    for line in map(line_of, log.split("\n")):
        if line.startswith(_WORDS):
            words = _summary_words(line)
            if len(words) > 1:
                statuses[name_of(words[1])] = words[0]
    return statuses


def _official_v2(log: str) -> dict[str, str]:
    statuses: dict[str, str] = {}
    for line in (_COLOUR.sub("", line).translate(_CONTROL) for line in log.split("\n")):
        at_start = line.startswith(_WORDS)
        if not at_start and not line.endswith(_WORDS):
            continue
        words = _summary_words(line)
        if len(words) > 1:
            name, word = (words[1], words[0]) if at_start else (words[0], words[1])
            statuses[name] = word
    return statuses


def _official_seaborn(log: str) -> dict[str, str]:
    statuses: dict[str, str] = {}
    for line in log.split("\n"):
        words = line.split()
        if line.startswith(LogStatus.FAILED):
            name, status = words[1:2], LogStatus.FAILED
        elif f" {LogStatus.PASSED} " in line:
            name, status = words[:1] if words[1:2] == [LogStatus.PASSED] else [], LogStatus.PASSED
        elif line.startswith(LogStatus.PASSED):
            name, status = words[1:2], LogStatus.PASSED
        else:
            continue
        statuses.update(dict.fromkeys(name, status.value))
    return statuses


def _robust(
    log: str,
    *,
    official: Callable[[str], dict[str, str]],
    line_of: Callable[[str], str] = _as_is,
    name_of: Callable[[str], str] = _as_is,
) -> ParsedLog:
    findings = Findings()
    for name, word in _results(map(line_of, clean_lines(log))):
        if word in STATUS_WORDS:
            findings.add([name_of(name)], LogStatus(word))
    return findings.parsed(official(log))


def _results(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Ids, cut at a space, and the words that belong to them; a word may stand on a later line than its id."""
    waiting = ""
    for line in lines:
        if found := _SUMMARY.match(line):
            # A summary of skips counts places: "SKIPPED [2] tests/test_x.py:3: why".
            if not found["id"].startswith("["):
                yield found["id"], found["word"]
            waiting = ""
        elif found := _WORKER.match(line):
            yield found["id"], found["word"]
        elif found := _NODE.match(line):
            status = _AT_ONCE.match(found["rest"]) or _AT_END.search(found["rest"])
            waiting = "" if status else found["id"]
            if status:
                yield found["id"], status["word"]
        elif line.startswith("==="):
            waiting = ""
        elif waiting and (status := _ALONE.match(line) or _BEFORE_PERCENT.search(line)):
            yield waiting, status["word"]
            waiting = ""


def _parser(
    name: str,
    official: Callable[[str], dict[str, str]],
    *,
    line_of: Callable[[str], str] = _as_is,
    name_of: Callable[[str], str] = _as_is,
) -> LogParser:
    robust = functools.partial(_robust, official=official, line_of=line_of, name_of=name_of)
    return LogParser(name=name, official=official, robust=robust)


PARSERS = (
    _parser("pytest", _official),
    _parser("pytest-options", functools.partial(_official, name_of=_short_option), name_of=_short_option),
    _parser("pytest-v2", _official_v2),
    _parser("seaborn", _official_seaborn),
    _parser("matplotlib", functools.partial(_official, line_of=_plain_buttons), line_of=_plain_buttons),
)
"""Forms by the projects they were made for: most; requests, pylint and pydicom; sphinx, astropy and scikit-learn."""
