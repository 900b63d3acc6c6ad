"""What rows come to as a whole: the counts that a run states, made of its rows and never taken from what it says."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason

TAMPERED = "tampered"
"""Flag of a run with an answer that interfered with the tests or the evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFacts:
    """The counts of `StoredRun` that follow from rows."""

    problems: int
    samples: int
    solved: int
    faults: int
    missing: int
    tampered: bool
    """Whether a verdict says that an answer interfered with the tests or the evidence."""


def facts_of_rows(rows: Sequence[ResultRow], last: Score | None) -> RowFacts:
    """Count rows.

    Args:
        rows: All of a run.
        last: Its last score, which samples, solved problems, faults and missing ones are counted under.
    """
    counted = [row for row in rows if row.score is last]
    return RowFacts(
        problems=len({row.problem_id for row in rows}),
        samples=max(Counter(row.problem_id for row in counted).values(), default=1),
        solved=len({row.problem_id for row in counted if row.verdict.outcome is Outcome.PASSED}),
        faults=sum(row.verdict.outcome is Outcome.FAULT for row in counted),
        missing=sum(row.verdict.reason is Reason.MISSING for row in counted),
        tampered=any(row.verdict.reason is Reason.TAMPERED for row in rows),
    )
