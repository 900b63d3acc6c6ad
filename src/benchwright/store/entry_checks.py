"""What an entry that others made is checked for when it is read, so that no reader of runs has to be."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchwright.core.runs import ResultRow

LONGEST_TEXT = 20_000
"""Characters of a name, an id or a date.  Names of models are whatever people call them."""
LONGEST_LIST = 10_000
"""Flags, files and the like of one run; an agent's run of 500 instances has 500 reports."""
LARGEST_DOCUMENT = 1_000_000
"""Characters of what is kept as a document, such as an evaluation."""
LARGEST_COUNT = 2**31 - 1
"""Of problems, samples and generations: the columns of tables are as wide."""
_LONGEST_PATH, _LONGEST_PART = 1_000, 255
"""Of a file's name: what file systems hold, with room for the folder it is in."""
_DRIVE = re.compile(r"[A-Za-z]:")


def bad_file_name(name: str) -> str:
    """Why a text cannot be the name of a file of a run, in a clause; empty when it can.

    Names are relative paths with slashes, as results folders have them below themselves; whoever lays an entry out in
    a folder writes to them.
    """
    if not name or len(name) > _LONGEST_PATH or any(map(_too_long, name.split("/"))):
        return "is empty or too long"
    if not all(part.strip(" ") and part not in (".", "..") for part in name.split("/")):
        return "leads elsewhere"
    if "\\" in name or _DRIVE.match(name):
        return "leads elsewhere on some systems"
    if any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 or 0xD800 <= ord(one) < 0xE000 for one in name):
        return "has characters that no file's name should have"
    return ""


def _too_long(part: str) -> bool:
    return len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART


Check = Callable[[Any], str]
"""What is wrong with a value, in a clause; empty when nothing is."""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return f"is a {type(value).__name__}"
    return "is too long" if len(value) > LONGEST_TEXT else ""


def _matching(form: str, what: str) -> Check:
    pattern = re.compile(form)
    return lambda value: _text(value) or ("" if pattern.fullmatch(value) else f"is no {what}")


def _optional(check: Check) -> Check:
    return lambda value: "" if value is None else check(value)


def _whole(lowest: int) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"is a {type(value).__name__}"
        return "" if lowest <= value <= LARGEST_COUNT else "is out of range"

    return check


def _number(lowest: float, highest: float) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return f"is a {type(value).__name__}"
        if isinstance(value, float) and not math.isfinite(value):
            return "is not finite"
        return "" if lowest <= value <= highest else "is out of range"

    return check


def _truth(value: Any) -> str:
    return "" if isinstance(value, bool) else f"is a {type(value).__name__}"


def _list_of(check: Check) -> Check:
    def checked(value: Any) -> str:
        if not isinstance(value, list) or len(value) > LONGEST_LIST:
            return "is no list" if not isinstance(value, list) else "is too long"
        return next((f"has a part that {why}" for one in value if (why := check(one))), "")

    return checked


def _scores(value: Any) -> str:
    return _list_of(_text)(value) or ("has one twice" if len(set(value)) != len(value) else "")


def _fields(checks: Mapping[str, Check]) -> Check:
    def checked(value: Any) -> str:
        if not isinstance(value, dict):
            return f"is a {type(value).__name__}"
        if odd := value.keys() ^ checks.keys():
            return f"has fields more or less than it should ({min(odd)!r:.60})"
        return next((f"has a {name} that {why}" for name, check in checks.items() if (why := check(value[name]))), "")

    return checked


def _document(value: Any) -> str:
    if not isinstance(value, dict):
        return f"is a {type(value).__name__}"
    return "is too large" if len(json.dumps(value)) > LARGEST_DOCUMENT else ""


def _files(value: Any) -> str:
    if not isinstance(value, dict) or len(value) > LONGEST_LIST:
        return "is no mapping of names" if not isinstance(value, dict) else "has too many"
    for name, digest in value.items():
        if why := bad_file_name(name) or _text(digest):
            return f"has a name {name!r:.80} that {why}"
    return ""


def _pair(value: Any) -> str:
    return "" if isinstance(value, list) and len(value) == 2 and not any(map(_text, value)) else "is no pair of texts"


_LARGEST_FIGURE = 2**62
"""Of bytes and seconds; a NaN is not below it either."""
_MOST_DOLLARS = 1e9
_MOST_PARAMETERS = 1e9
"""In billions."""
_SOURCE = _fields({"kind": _text, "title": _text, "url": _text, "files": _list_of(_pair), "note": _text})
_FACTS = _fields(
    {
        **dict.fromkeys(("link", "released", "cutoff", "open_data"), _text),
        **dict.fromkeys(("parameters", "active_parameters"), _optional(_number(0, _MOST_PARAMETERS))),
        **dict.fromkeys(("open_weights", "instruction_tuned"), _optional(_truth)),
    }
)
_REPORTED = _fields({"metric": _text, "value": _number(0, 1), "n": _optional(_whole(0))})
_RUN = _fields(
    {
        **dict.fromkeys(
            (
                "entry", "run_id", "origin", "benchmark", "version", "data_digest", "subset", "variant", "model",
                "scaffold", "finished",
            ),
            _text,
        ),
        **dict.fromkeys(("problems", "solved", "faults", "missing"), _whole(0)),
        "samples": _whole(1),
        "source": _optional(_SOURCE),
        "scores": _scores,
        "reported": _list_of(_REPORTED),
        "cost": _optional(_number(0, _MOST_DOLLARS)),
        "flags": _list_of(_text),
        "facts": _FACTS,
        "evaluation": _optional(_document),
        "recorded": _matching(r"[0-9T:.+Z-]{0,40}", "time"),
        "supersedes": _optional(_matching(r"[0-9a-f]{64}", "entry's id")),
        "files": _files,
    }
)  # fmt: skip


def check_run(data: Mapping[str, Any]) -> None:
    """Raise ``ValueError``, with a clause, unless plain data has every field of a run, in its form and range."""
    if why := _RUN(dict(data)):
        raise ValueError(f"it {why}")


_PROBLEM = _fields(
    {
        **dict.fromkeys(("id", "digest", "repository", "difficulty", "created"), _text),
        **dict.fromkeys(("domains", "libraries"), _list_of(_text)),
    }
)


def check_problem(data: Any) -> None:
    """Raise ``ValueError``, with a clause, unless plain data has every fact of a problem, in its form."""
    if why := _PROBLEM(data):
        raise ValueError(f"it {why}")


_GRADING = {
    **dict.fromkeys(("run_id", "benchmark", "version", "model"), _matching(r"(?s).*\S.*", "name")),
    "benchwright_version": _matching(r"[0-9][0-9A-Za-z.+!_-]{0,60}", "version"),
    "judge_version": _whole(0),
    "finished": _matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,20}(Z|[+-][0-9]{2}:[0-9]{2})", "time"),
    "wall_seconds": _number(0, _LARGEST_FIGURE),
    **dict.fromkeys(("executed", "reused"), _whole(0)),
    "data_pinned": _truth,
    "samples_digest": _matching(r"[0-9a-f]{64}", "digest"),
    **dict.fromkeys(("data_source", "samples_name"), _text),
}
"""Fields of every manifest of which nothing else follows, and with which nothing else is compared."""
_GRADING_OF_FUNCTIONS = {
    **_GRADING,
    "kind": _matching("functions", "kind of grading"),
    **dict.fromkeys(("duplicates", "uncontrolled_problems"), _whole(0)),
}


def flaws_of_fields(manifest: Mapping[str, Any], *, functions: bool) -> Iterator[str]:
    """Clauses for fields of a finished grading's manifest that are absent, or not in their form and range."""
    for name, check in (_GRADING_OF_FUNCTIONS if functions else _GRADING).items():
        if name not in manifest:
            yield f"has no {name}"
        elif why := check(manifest[name]):
            yield f"has a {name} that {why}"


def is_count(value: Any) -> bool:
    """Whether a value is a whole number that can be one of problems, samples or rows."""
    return not _whole(0)(value)


def check_row(row: ResultRow) -> None:
    """Raise ``TypeError`` for a row whose columns are of other kinds: files hold whatever a writer puts in them."""
    verdict = row.verdict
    numbers = (row.sample, verdict.planned, verdict.passed, verdict.judge_version)
    figures = (row.wall_seconds, row.cpu_seconds, row.memory_peak_bytes)
    texts = (row.problem_id, verdict.detail, row.strategy, *row.notes, *row.missing_names)
    digests = [text for text in (row.job_digest, verdict.record_digest) if text is not None]
    if (
        not all(type(number) is int and 0 <= number <= LARGEST_COUNT for number in numbers)
        or not all(type(one) in (int, float) and 0 <= one < _LARGEST_FIGURE for one in figures)
        or not all(isinstance(text, str) for text in (*texts, *digests))
    ):
        raise TypeError("a row has something of another kind")


def check_generation(value: Any) -> int:
    """The generation that an entry says; raises ``ValueError`` for what can be none."""
    if why := _whole(1)(value):
        raise ValueError(f"its generation {why}")
    assert isinstance(value, int)
    return value
