"""Logs of unittest at verbosity 2, as Django's ``tests/runtests.py`` writes them."""

import itertools
import re
from collections.abc import Iterator

from benchwright.judging.logs.base import Findings, LogParser, LogStatus, ParsedLog, clean_lines

_DOTS = " ... "
_PASS_ENDS = (" ... ok", " ... OK", " ...  OK")
# Text and id as swebench spells them for two tests whose output cannot be told from the log's own lines.
_VERSION_TEST = "--version is equivalent to version"
_MIGRATION_TEXT = "Applying sites.0002_alter_domain_unique...test_no_migrations"

# Django's notices that stood between a name and its "ok" when the ids were taken down.
_INSTALLED = re.compile(r"^(.*?)\s\.{3}\sTesting against Django installed in ", re.MULTILINE)
_INSTALLED_END = re.compile(r" silenced\)\.\nok$", re.MULTILINE)
_SERVER_ERROR = re.compile(r"^(.*?)\s\.{3}\sInternal Server Error: /", re.MULTILINE)
_CHECKED = re.compile(r"^(.*?)\s\.{3}\sSystem check identified no issues \(0 silenced\)\nok$", re.MULTILINE)


def _official(log: str) -> dict[str, str]:
    statuses: dict[str, str] = {}
    latest: str | None = None
    for line in map(str.strip, log.split("\n")):
        if _VERSION_TEST in line:
            statuses[_VERSION_TEST] = LogStatus.PASSED.value
        if _DOTS in line:
            latest = line.partition(_DOTS)[0]
        statuses.update({name: status.value for name, status in _official_results(line, latest)})
    statuses.update(dict.fromkeys(_behind_notices(log), LogStatus.PASSED.value))
    return statuses


def _official_results(line: str, latest: str | None) -> Iterator[tuple[str, LogStatus]]:
    passed = next((end for end in _PASS_ENDS if line.endswith(end)), None)
    if passed is not None:
        if line.startswith(_MIGRATION_TEXT):
            line = line.partition("...")[2].strip()
        yield line.rpartition(passed)[0] if passed in line else line, LogStatus.PASSED
    if " ... skipped" in line:
        yield line.partition(" ... skipped")[0], LogStatus.SKIPPED
    for word, status in (("FAIL", LogStatus.FAILED), ("ERROR", LogStatus.ERROR)):
        if line.endswith(f" ... {word}"):
            yield line.partition(f" ... {word}")[0], status
        if line.startswith(f"{word}:"):
            yield from ((name, status) for name in line.split()[1:2])
    if line.startswith("ok") and latest is not None:
        yield latest, LogStatus.PASSED


def _behind_notices(log: str) -> Iterator[str]:
    """Names of tests with one of three notices between them and an ``ok`` on a line of its own.

    What swebench has as three patterns; two of them are written out, for they take time that grows with the square
    of the log on logs made for that.
    """
    place = 0
    while (start := _INSTALLED.search(log, place)) and (end := _INSTALLED_END.search(log, start.end())):
        yield start[1]
        place = end.end()
    place = 0
    while start := _SERVER_ERROR.search(log, place):
        line_end = log.find("\n", start.end())
        if line_end < 0:
            break
        if line_end > start.end() and log[line_end - 1] == "/" and log[line_end + 1 : line_end + 4] in ("ok", "ok\n"):
            yield start[1]
            place = line_end + len("\nok")
        else:
            place = log.index("\n", start.start()) + 1
    for found in _CHECKED.finditer(log):
        yield found[1]


_ID = re.compile(r"(?P<id>\w+ \([\w.]+\))")
_SILENT = re.compile(r"(?:\w+ \([\w.]+\) \.{3} )+(?=\w+ \([\w.]+\)(?: \.{3} |$))")
_HEADING = re.compile(r"(?P<word>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>.+)")
_WORDS = {
    "ok": LogStatus.PASSED,
    "FAIL": LogStatus.FAILED,
    "ERROR": LogStatus.ERROR,
    "expected failure": LogStatus.XFAIL,
    "unexpected success": LogStatus.FAILED,
    "skipped": LogStatus.SKIPPED,
}
_PASS, _BAD, _SKIP = r"ok|OK", r"FAIL|ERROR|expected failure|unexpected success", r"skipped(?= ['\"])"
# Behind the dots: a status at once, also with a notice glued to it, or "ok" at the line's end behind other text.
_AT_ONCE = re.compile(rf"(?P<word>{_PASS}|{_BAD}|{_SKIP})(?![a-z0-9_:])")
_AT_END = re.compile(rf"[\s.)\]](?P<word>{_PASS})$")
# On a later line: bad ones alone only, for logging writes lines that begin or end with ERROR.  What is missed by that
# is made good by the headings below.
_LATER = re.compile(rf"(?P<word>(?:{_PASS})(?![a-z0-9_:])|(?:{_BAD})$|{_SKIP})")
_RULE = re.compile(r"[-=]{20,}$")


def _robust(log: str) -> ParsedLog:
    findings = Findings()
    for names, status in _results(clean_lines(log)):
        findings.add(names, status)
    return findings.parsed(_official(log))


def _results(lines: list[str]) -> Iterator[tuple[list[str], LogStatus]]:
    """Every result with its test's spellings: the id, and the docstring's first line where unittest prints that."""
    waiting: list[str] = []
    before = ""
    stripped = [_without_silent_test(line.strip()) for line in lines]
    for line, following in itertools.zip_longest(stripped, stripped[1:], fillvalue=""):
        if (heading := _HEADING.match(line)) and _RULE.match(before):
            yield _spellings(heading["name"], following), _heading_status(heading["word"])
            waiting = []
        elif cut := _cut_at_dots(line):
            names = _spellings(before, cut[0]) if _ID.fullmatch(before) else _spellings(cut[0], "")
            found = _AT_ONCE.match(cut[1]) or _AT_END.search(cut[1])
            if found:
                yield names, _status(found)
            # Text with dots in it between a test's name and its status is no test.
            if not waiting or _ID.match(names[0]):
                waiting = [] if found else names
        elif _ID.fullmatch(line):
            waiting = []
        elif waiting and (found := _LATER.match(line) or _AT_END.search(line)):
            yield waiting, _status(found)
            waiting = []
        before = line


def _without_silent_test(line: str) -> str:
    """A line less the test in front whose subtests failed: up to Python 3.10 it gets no status, and no line's end."""
    found = _SILENT.match(line)
    return line if found is None else line[found.end() :]


def _cut_at_dots(line: str) -> tuple[str, str] | None:
    """Name and rest of a line that announces a test; the name ends at the first dots."""
    name, dots, rest = (line + " ").partition(_DOTS)
    return (name.strip(), rest.strip()) if dots and name.strip() else None


def _status(found: re.Match[str]) -> LogStatus:
    return _WORDS["ok" if found["word"] == "OK" else found["word"]]


def _heading_status(word: str) -> LogStatus:
    return LogStatus.ERROR if word == "ERROR" else LogStatus.FAILED


def _spellings(name: str, docstring: str) -> list[str]:
    """How a test may be called: by its id, without what a subtest adds to it, and by its docstring's first line."""
    found = _ID.match(name)
    names = [found["id"] if found else name]
    if docstring and not _RULE.match(docstring):
        names.append(docstring)
    return names


PARSERS = (LogParser(name="django", official=_official, robust=_robust),)
