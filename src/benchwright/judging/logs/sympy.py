"""Logs of sympy's own runner (``bin/test -C --verbose``): a line for each test, a block for each failure."""

import re
from collections.abc import Iterator

from benchwright.judging.logs.base import Findings, LogParser, LogStatus, ParsedLog, clean_lines

_OFFICIAL_ENDS = {" E": LogStatus.ERROR, " F": LogStatus.FAILED, " ok": LogStatus.PASSED}
# What sympy/testing/runtests.py (class PyTestReporter) writes behind a name; an unexpected pass is none of ours.
_MARKS = {
    "ok": LogStatus.PASSED,
    "F": LogStatus.FAILED,
    "E": LogStatus.ERROR,
    "T": LogStatus.ERROR,
    "K": LogStatus.ERROR,
    "f": LogStatus.XFAIL,
    "s": LogStatus.SKIPPED,
    "w": LogStatus.SKIPPED,
}
_FILE = re.compile(r"(?P<path>\S+\.py)\[(?P<count>\d+|\?)\]")
_FILE_ENDS = ("[OK]", "[FAIL]")


def _failure_heading(line: str) -> tuple[str, str] | None:
    """Path without ending and name out of a line such as ``____ sympy/core/tests/test_x.py:test_y ____``.

    Any line with a space, later ``.py:``, later another space counts, and of several such places the last: as in
    swebench, whose pattern this is written out, for on long lines that takes time that grows with their cube.
    """
    start, end = line.find(" "), line.rfind(" ")
    colon = line.rfind(".py:", start + 1, end) if start >= 0 else -1
    return None if colon < 0 else (line[start + 1 : colon], line[colon + len(".py:") : end])


def _official(log: str) -> dict[str, str]:
    lines = log.split("\n")
    headings = [heading for line in lines if (heading := _failure_heading(line)) is not None]
    statuses = {f"{path}.py:{name}": LogStatus.FAILED.value for path, name in headings}
    for line in map(str.strip, lines):
        if line.startswith("test_"):
            for end, status in _OFFICIAL_ENDS.items():
                if line.endswith(end):
                    statuses[line.split()[0]] = status.value
    return statuses


def _robust(log: str) -> ParsedLog:
    findings = Findings()
    lines = clean_lines(log)
    for path, name, status in _results(lines):
        findings.add([name, *([f"{path}::{name}"] if path else [])], status)
    for line in lines:
        heading = _failure_heading(line) if line.startswith("_") else None
        if heading is not None and heading[1].startswith("test_"):
            path, name = heading
            findings.add([f"{path}.py:{name}", f"{path}.py::{name}", name], LogStatus.FAILED)
    return findings.parsed(_official(log))


def _results(lines: list[str]) -> Iterator[tuple[str, str, LogStatus]]:
    path = waiting = ""
    for line in lines:
        if found := _FILE.match(line):
            path, waiting = found["path"], ""
            continue
        words = line.split()
        if words and words[-1] in _FILE_ENDS:
            words.pop()
        if words and words[0].startswith("test_"):
            waiting = words.pop(0)
        elif len(words) > 1:
            continue  # on a later line than the name, a mark stands alone
        if waiting and words and words[-1] in _MARKS:
            yield path, waiting, _MARKS[words[-1]]
            waiting = ""


PARSERS = (LogParser(name="sympy", official=_official, robust=_robust),)
