"""What checking a bundle looks at, counts and finds, and how rows and numbers are compared."""

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import benchwright
from benchwright.app.job_facts import JobFacts, TestFacts
from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.repositories import RepositorySet
from benchwright.core.execution import TestPlan
from benchwright.core.runs import ResultRow
from benchwright.core.verdicts import Outcome, Verdict
from benchwright.stats.bounds import Bounds
from benchwright.store.folder import ResultsFolder
from benchwright.store.records import RecordStore

_TOLERANCE = 1e-6
"""Other versions of numpy and scipy may differ in the last digits of an interval."""
_NOT_RUN = frozenset({Outcome.NO_ANSWER, Outcome.UNUSABLE, Outcome.FAULT})
"""Outcomes that a row can have without an execution."""


class Check(enum.StrEnum):
    """What is checked, in this order."""

    ARCHIVE = "archive"
    """The archive holds what its list says, unchanged, and nothing else."""
    SIGNATURE = "signature"
    """It is that of the key it was expected of."""
    CONTENT = "content"
    """Files have the form that a grading writes."""
    SETTINGS = "settings"
    """Variant, environment and limits are what they can be."""
    PROBLEMS = "problems"
    """Rows are of all problems that were asked, once each."""
    DATA = "data"
    """The tests that decide are those of the benchmark's rows, where those were given."""
    RECORDS = "records"
    """Every row that was executed has its record, and there is no other record."""
    VERDICTS = "verdicts"
    """Each row is what this version's judge makes of its record."""
    ANSWERS = "answers"
    """Each record is that of the answer in the bundle."""
    SUMMARY = "summary"
    """The numbers in the manifest are those of the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong with a bundle."""

    check: Check
    text: str
    """One plain sentence."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was counted on the way."""

    rows: int = 0
    judged: int = 0
    """Rows whose verdict was made again from a record, or from the answer where there was nothing to run."""
    faults: int = 0
    """Rows that are left out of the score as our side's fault."""
    unproven: int = 0
    """Faults of which nothing in the bundle shows that they are any."""
    jobs: int = 0
    """Rows that name a job."""
    traced: int = 0
    """Those of them whose job is, by its digest, that of the answer in the bundle."""
    bounds: Bounds | None = None
    """What the score would be if those faults were failures, or passes; None when there are none."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know, one plain sentence each."""
    open: list[str] = field(default_factory=list)
    """What could change the score and is not shown by anything here, each as a clause that begins with ``that`` or
    ``which``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """What the checks of a grading look at."""

    folder: ResultsFolder
    manifest: dict[str, Any]
    rows: tuple[ResultRow, ...]
    store: RecordStore
    """The bundle's own records."""
    recorded: Sequence[str]
    """Digest of the job of each of these records, in the bundle's order."""
    tally: Tally
    plans: Mapping[str, TestPlan]
    """Of functions: planned tests by problem."""
    given_names: Mapping[str, frozenset[str]] | None
    """Of functions: what each problem's stub gives."""
    jobs: Mapping[str, JobFacts]
    """Of functions: what the jobs of each problem have in common."""
    tests: Mapping[str, TestFacts]
    """Of patches: the tests that decide, by problem."""
    at_hand: ProblemSet | RepositorySet | None = None
    """The benchmark's rows, where they were given or come with the package."""
    dataset: Path | None = None
    """File with the benchmark's rows, if it was given."""

    @property
    def rows_name(self) -> str:
        """What the rows at hand are called in findings."""
        return "the benchmark's built-in rows" if self.dataset is None else str(self.dataset)

    def untraced(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Rows that are not of the answers in the bundle: wrong, or open where another version may read them otherwise.

        With the benchmark's rows at hand, what a job is made of is known, and nothing is open.
        """
        version = self.manifest["benchwright_version"]
        if version == benchwright.__version__ or self.at_hand is not None:
            yield from findings
        elif findings:
            self.tally.open.append(
                f"which answers the records of {len(findings)} rows are of: benchwright {version!s:.40} graded them, "
                f"this is {benchwright.__version__}, which may read answers otherwise"
            )


def compared(row: ResultRow, expected: ResultRow) -> Iterator[Finding]:
    """What differs between a row and what the judge makes of its evidence."""
    if row.verdict != expected.verdict:
        if row.verdict.judge_version != expected.verdict.judge_version:
            judged = f" by version {expected.verdict.judge_version} of the judge, the row is by another"
        else:
            judged = ""
        yield Finding(
            check=Check.VERDICTS,
            text=f"{named(row)}: the verdict does not follow from its evidence{judged}; it says {_said(row)}, the "
            f"evidence {_said(expected)}.",
        )
        return
    names = [item.name for item in dataclasses.fields(row) if getattr(row, item.name) != getattr(expected, item.name)]
    if names:
        yield Finding(check=Check.VERDICTS, text=f"{named(row)}: {', '.join(names)} is not what the evidence says.")


def without_run(row: ResultRow) -> Iterator[Finding]:
    """What is wrong with a row that names no job: only some outcomes can be had without an execution."""
    if row.job_digest is None and row.verdict.outcome not in _NOT_RUN:
        yield Finding(
            check=Check.VERDICTS, text=f"{named(row)} is {row.verdict.outcome.value} although nothing was run."
        )


def not_run(row: ResultRow, verdict: Verdict, notes: tuple[str, ...] = ()) -> ResultRow:
    """The row of an answer that had nothing to run."""
    return ResultRow(
        problem_id=row.problem_id,
        sample=row.sample,
        score=row.score,
        verdict=verdict,
        job_digest=None,
        notes=notes,
    )


def _said(row: ResultRow) -> str:
    verdict = row.verdict
    record = f", record {verdict.record_digest[:8]}" if verdict.record_digest else ""
    return f"{verdict.outcome.value} ({verdict.reason.value}, {verdict.passed} of {verdict.planned} tests{record})"


def named(row: ResultRow) -> str:
    """What a row is called in findings."""
    return f"{row.problem_id}#{row.sample} {row.score.value}"


def compared_numbers(
    manifest: Mapping[str, Any], expected: Mapping[str, Any], *, without: Iterable[str] = ()
) -> Iterator[Finding]:
    """Which fields of the manifest are not what the rows come to."""
    skipped = set(without)
    for name, value in expected.items():
        if name not in skipped and not _same(manifest.get(name), value):
            yield Finding(
                check=Check.SUMMARY,
                text=f"The manifest says {name} {short(manifest.get(name))}, the rows come to {short(value)}.",
            )


def _same(a: Any, b: Any) -> bool:
    """Whether plain data are the same, numbers up to their last digits, tuples as lists."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        numbers = all(isinstance(value, int | float) for value in (a, b))
        return bool(numbers and (a == b or abs(a - b) <= _TOLERANCE * max(1.0, abs(b))))
    return bool(a == b)


def short(value: object) -> str:
    """A value as findings quote it."""
    text = "".join(character if character.isprintable() else " " for character in str(value))
    return text if len(text) <= 100 else text[:99] + "…"
