"""Result files of the official harness, read whole: verdicts with their reasons, and what their names say.

The form is that of bigcodebench 0.2.5 (``evaluate.py``): ``<samples>_eval_results.json`` has by task a list of
samples with ``status`` and ``details`` (tracebacks by test, or one message under ``ALL`` when nothing could run), and
``<samples>_pass_at_k.json`` beside it says model, split, subset and whether the stub was put in front (``calibrated``).
Sample files are called ``<model>--<revision>--bigcodebench[-hard]-<split>--<backend>-<temperature>-<n>`` and then
``-sanitized_calibrated`` (earlier versions: ``-sanitized-calibrated``, or ``-sanitized`` where no stub was added).
"""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.base import SampleKey
from benchwright.benchmarks.bigcodebench.official import RATES_ENDING, VERDICTS_ENDING
from benchwright.benchmarks.documents import Document, read_document
from benchwright.benchmarks.foreign import name_of, table_of, truth_of
from benchwright.benchmarks.jsonl import type_name
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score
from benchwright.core.verdicts import Reason

#: Ten samples for each of the 1,140 tasks, with tracebacks and answers, are about 120 MB.
_MAX_BYTES = 512 * 1024 * 1024
_MAX_RATES_BYTES = 8 * 1024 * 1024
_MAX_SAMPLES = 1000
"""Samples of one task; the paper has at most 200."""
_BENCHMARK_IN_NAME = re.compile(r"--bigcodebench(-hard)?-(complete|instruct)--")
_PLAIN_NAME = re.compile(r"(?:^|[-_.])(full|hard)-(complete|instruct)(?=[-_.]|$)")
# The exception at the end of a traceback: a name at the beginning of a line, alone or with its message.
_EXCEPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)(?::|$)")
_ALL = "ALL"


class Status(enum.StrEnum):
    """The harness's three words."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"


class OfficialVerdict(NamedTuple):
    """What the harness says of one sample."""

    status: Status
    reason: Reason
    """Read from the traceback of the first test that is named; `Reason.NOT_STATED` where there is none to read."""
    detail: str
    """The words for it: test and last line of its traceback, or the message for the whole; empty without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What a result file's name, and the file of rates beside it, say; None where they do not."""

    model: str | None = None
    subset: str | None = None
    variant: str | None = None
    score: Score | None = None
    score_from: str = ""
    """Where the score is known from, as a clause."""
    files: tuple[tuple[Path, str], ...] = ()
    """Files beside the result file that were read, with their SHA-256."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialVerdicts:
    """A result file."""

    verdicts: Mapping[SampleKey, OfficialVerdict]
    date: str
    """When the harness wrote it, ISO 8601, such as ``2024-12-25T10:11:00``; empty where the file does not say."""
    sha256: str


def looks_like_verdicts(document: Any) -> bool:
    """Whether a JSON value has the form of a result file."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict)


def read_verdicts(path: Path) -> OfficialVerdicts:
    """Read a result file, gzip or not; raises `UsageError` naming the task for anything else."""
    document = read_document(path, most=_MAX_BYTES)
    if not looks_like_verdicts(document.value):
        raise UsageError(f"{path} is no official result file; expected an object with the field 'eval'.")
    verdicts: dict[SampleKey, OfficialVerdict] = {}
    for name, samples in document.value["eval"].items():
        task_id = name_of(name, str(path), "a task's id")
        if not isinstance(samples, list) or not 0 < len(samples) <= _MAX_SAMPLES:
            found = f"a list of {len(samples):,}" if isinstance(samples, list) else type_name(samples)
            raise UsageError(f"{path}: {task_id} has {found}; expected a list of 1 to {_MAX_SAMPLES:,} samples.")
        for number, sample in enumerate(samples):
            verdicts[SampleKey(task_id, number)] = _verdict(sample, f"{path}: sample {number} of {task_id}")
    if not verdicts:
        raise UsageError(f"{path} holds no verdict.")
    return OfficialVerdicts(verdicts=verdicts, date=_moment(document.value.get("date")), sha256=document.sha256)


def _moment(value: object) -> str:
    try:
        return datetime.fromisoformat(value).isoformat() if isinstance(value, str) else ""
    except ValueError:  # the harness has no use for it either: a date in another form is none
        return ""


def read_naming(path: Path) -> Naming:
    """What is known of a result file from its name and from the file of rates beside it, which wins."""
    name = path.name.removesuffix(".gz")
    official, plain = _BENCHMARK_IN_NAME.search(name), _PLAIN_NAME.search(name)
    rates = _rates(path)
    said: Mapping[str, Any] = rates.value if rates else {}
    by_name = _score_in_name(name)
    calibrated = truth_of(said.get("calibrated"), str(_rates_path(path)), "'calibrated'")
    score = by_name if calibrated is None else Score.CALIBRATED if calibrated else Score.EXTRACTED
    return Naming(
        model=_text(said, "model") or (name[: official.start()] if official else None) or None,
        subset=_text(said, "subset")
        or (("hard" if official[1] else "full") if official else plain[1] if plain else None),
        variant=_text(said, "split") or (official[2] if official else plain[2] if plain else None),
        score=score,
        score_from="" if score is None else "the file's name" if calibrated is None else "the file of rates beside it",
        files=((_rates_path(path), rates.sha256),) if rates else (),
    )


def samples_beside(path: Path) -> Path | None:
    """The sample file that a result file is about, where it lies beside it under its official name."""
    stem = path.name.removesuffix(".gz")
    if not stem.endswith(VERDICTS_ENDING):
        return None
    stem = stem.removesuffix(VERDICTS_ENDING)
    candidates = (path.with_name(f"{stem}.jsonl"), path.with_name(f"{stem}.jsonl.gz"))
    return next((one for one in candidates if one.is_file()), None)


def _score_in_name(name: str) -> Score | None:
    if re.search(r"sanitized[-_]calibrated", name):
        return Score.CALIBRATED
    return Score.EXTRACTED if re.search(r"-sanitized(?=[_.]|$)", name) else None


def _rates_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".gz").removesuffix(VERDICTS_ENDING) + RATES_ENDING)


def _rates(path: Path) -> Document | None:
    beside = _rates_path(path)
    if not path.name.removesuffix(".gz").endswith(VERDICTS_ENDING) or not beside.is_file():
        return None
    document = read_document(beside, most=_MAX_RATES_BYTES)
    table_of(document.value, str(beside), "the whole")
    return document


def _text(said: Mapping[str, Any], field: str) -> str | None:
    value = said.get(field)
    return value if isinstance(value, str) and value else None


def _verdict(sample: Any, where: str) -> OfficialVerdict:
    said = sample if isinstance(sample, dict) else {}
    try:
        status = Status(str(said.get("status")))
    except ValueError:
        raise UsageError(
            f"{where} has the status {said.get('status')!r:.60}; expected pass, fail or timeout."
        ) from None
    details = said.get("details")
    if not isinstance(details, dict | list | None):
        raise UsageError(f"{where} has details of {type_name(details)}; expected tracebacks by test.")
    match status:
        case Status.PASS:
            return OfficialVerdict(status, Reason.ALL_TESTS_PASSED, "")
        case Status.TIMEOUT:
            return OfficialVerdict(status, Reason.WALL_TIME, "")
        case Status.FAIL:
            return _failure(details if isinstance(details, dict) else {}, where)


def _failure(details: Mapping[str, Any], where: str) -> OfficialVerdict:
    test, message = next(iter(details.items()), ("", ""))
    if not isinstance(message, str):
        raise UsageError(f"{where}: what {test!r:.60} failed of is {type_name(message)}; expected a text.")
    if test == _ALL:  # what was raised while the answer was loaded, without its type
        return OfficialVerdict(Status.FAIL, Reason.EXCEPTION, message.strip())
    found = exception_of(message)
    match found.name:
        case "":
            reason = Reason.NOT_STATED
        case "AssertionError":
            reason = Reason.ASSERTION
        case "SystemExit" | "KeyboardInterrupt":
            reason = Reason.TESTS_NOT_RUN
        case _:
            reason = Reason.EXCEPTION
    return OfficialVerdict(Status.FAIL, reason, ": ".join(part for part in (test, found.line) if part))


class Raised(NamedTuple):
    """The exception at the end of a traceback."""

    name: str
    """Without its module, such as ``AssertionError``; empty where none is found."""
    line: str
    """The line that names it; where none is found, the last one."""


def exception_of(traceback: str) -> Raised:
    """The exception that a traceback ends in: the first line at the margin after its last frame."""
    lines = traceback.rstrip().splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    after = lines[frames[-1] + 1 :] if frames else lines
    for line in after:
        found = _EXCEPTION.match(line)
        if found and found[1] != "Traceback":
            return Raised(found[1].rpartition(".")[2], line)
    return Raised("", lines[-1] if lines else "")
