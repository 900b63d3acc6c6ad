"""Answers and what became of them, from the store, for the pages of problems."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.execution import TestOutcome
from benchwright.core.results import StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.leaderboard.site.model import SiteAnswer, SiteTest
from benchwright.store.folder import ATTEMPTS, PATCHES, SAMPLES, is_predictions
from benchwright.store.records import RecordStore
from benchwright.store.results import ResultStore

PLACEHOLDERS = ("entry", "run", "model", "problem", "sample", "log", "log_sample")
"""What may stand in braces in the address of a transcript."""

_BRACES = re.compile(r"\{(\w+)\}", re.ASCII)
_Key = tuple[str, int]
"""Problem and sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What a run kept of one answer."""

    text: str
    log: str = ""
    log_sample: str = ""


class StoredAnswers:
    """Answers by entry, score and problem; use as a context manager.

    They are put in order by a database in a temporary file, since the pages ask problem by problem while the store
    keeps run by run, and all answers of a large store do not fit into memory.
    """

    def __init__(self, store: ResultStore, workspace: Workspace, transcripts: str = "") -> None:
        self._store = store
        self._records = workspace.records() if workspace.home.is_dir() else None
        self._transcripts = checked_template(transcripts)
        self._known: set[tuple[str, Score]] = set()
        self.notes: list[str] = []
        """Whose answers cannot be read, and why, a sentence for each."""
        self._answers = sqlite3.connect("")  # a private file, gone when it is closed
        self._answers.execute(
            "CREATE TABLE answers (entry TEXT, score TEXT, problem TEXT, sample INTEGER, body TEXT, "
            "PRIMARY KEY (entry, score, problem, sample)) WITHOUT ROWID"
        )

    def __enter__(self) -> "StoredAnswers":
        return self

    def __exit__(self, *error: object) -> None:
        self._answers.close()
        if self._records is not None:
            self._records.__exit__(*error)

    def add(self, run: StoredRun, score: Score) -> None:
        """Take in the answers of a run, if it keeps any; those that cannot be read are left out, and `notes` say so."""
        if (run.entry, score) in self._known:
            return
        try:
            kept = dict(_kept(self._store, run))
            if kept:
                self._put(run, score, kept)
                self._known.add((run.entry, score))
        except UsageError as error:
            self.notes.append(f"Answers of {run.model} ({run.entry[:12]}) are left out: {error}")

    def _put(self, run: StoredRun, score: Score, kept: Mapping[_Key, _Kept]) -> None:
        """All or none."""
        rows = (
            (run.entry, score.value, row.problem_id, row.sample, json.dumps(self._plain(run, row, kept)))
            for row in self._store.rows(run.entry)
            if row.score is score
        )
        with self._answers:
            self._answers.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", rows)

    def __call__(self, entry: str, score: Score, problem: str) -> tuple[SiteAnswer, ...]:
        """The answers of one run to one problem, by sample."""
        if (entry, score) not in self._known:
            return ()
        query = "SELECT body FROM answers WHERE entry = ? AND score = ? AND problem = ? ORDER BY sample"
        with closing(self._answers.execute(query, (entry, score.value, problem))) as found:
            return tuple(_answer(json.loads(body)) for (body,) in found)

    def _plain(self, run: StoredRun, row: ResultRow, kept: Mapping[_Key, _Kept]) -> dict[str, Any]:
        own = kept.get((row.problem_id, row.sample), _Kept(text=""))
        return {
            "text": own.text,
            "outcome": row.verdict.outcome.value,
            "reason": row.verdict.reason.value,
            "detail": row.verdict.detail,
            "planned": row.verdict.planned,
            "passed": row.verdict.passed,
            "tests": list(_tests(self._records, row)),
            "transcript": self._transcript(run, row, own),
        }

    def _transcript(self, run: StoredRun, row: ResultRow, own: _Kept) -> str:
        if not self._transcripts or not own.log:
            return ""
        values = {
            "entry": run.entry,
            "run": run.run_id,
            "model": run.model,
            "problem": row.problem_id,
            "sample": str(row.sample),
            "log": own.log,
            "log_sample": own.log_sample,
        }
        return _BRACES.sub(
            lambda found: quote(values[found.group(1)], safe="/", errors="backslashreplace"), self._transcripts
        )


def checked_template(template: str) -> str:
    """The address of transcripts; raises `UsageError` when it is none, or has braces that mean nothing here."""
    if not template:
        return ""
    if not template.startswith(("https://", "http://")):
        raise UsageError(f"The address of transcripts begins with https:// or http://, and {template!r} was given.")
    rest = _BRACES.sub(lambda found: "" if found.group(1) in PLACEHOLDERS else found.group(), template)
    if "{" in rest or "}" in rest:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise UsageError(f"The address of transcripts {template!r} may hold {known}, and no other braces.")
    return template


def _answer(body: dict[str, Any]) -> SiteAnswer:
    tests = tuple(SiteTest(name=name, passed=passed, message=message) for name, passed, message in body["tests"])
    return SiteAnswer(**{**body, "tests": tests})


def _tests(records: RecordStore | None, row: ResultRow) -> Iterator[tuple[str, bool, str]]:
    """Outcomes of single tests, where this machine keeps the record of the execution."""
    record = records.get(row.job_digest) if records and row.job_digest and row.score is not Score.PATCH else None
    for test in record.tests if record else ():
        yield test.id, test.outcome is TestOutcome.PASSED, test.message


def _kept(store: ResultStore, run: StoredRun) -> Iterator[tuple[_Key, _Kept]]:
    """What a run kept, by problem and sample; an agent's attempts say the most, so they come last and win."""
    for name in sorted(run.files):
        if name == SAMPLES:
            for line in _lines(store, run, name):
                text = line.get("solution") if isinstance(line.get("solution"), str) else line.get("raw_solution")
                yield (str(line.get("task_id")), _number(line)), _Kept(text=str(text or ""))
        elif name == PATCHES or is_predictions(name):
            for line in _lines(store, run, name):
                yield (str(line.get("instance_id")), _number(line)), _Kept(text=str(line.get("model_patch") or ""))
    if ATTEMPTS in run.files:
        for line in _lines(store, run, ATTEMPTS):
            patch = str((line.get("submission") or {}).get("patch") or "")
            kept = _Kept(text=patch, log=str(line.get("log") or ""), log_sample=str(line.get("log_sample") or ""))
            yield (str(line.get("problem_id")), _number(line)), kept


def _number(line: Mapping[str, Any]) -> int:
    value = line.get("sample", 0)
    return value if isinstance(value, int) else 0


def _lines(store: ResultStore, run: StoredRun, name: str) -> Iterator[dict[str, Any]]:
    text = store.read_file(run.entry, name).decode("utf-8", errors="replace")
    try:
        if name.endswith(".json"):
            whole = json.loads(text)
            lines = list(whole.values()) if isinstance(whole, dict) else whole
        else:
            lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise UsageError(f"The run's file {name} in the store is not JSON ({error}).") from error
    yield from (line for line in lines if isinstance(line, dict))
