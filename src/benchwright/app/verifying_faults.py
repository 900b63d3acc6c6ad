"""Faults are left out of the score: whether anything shows that they are any, and what it is if they are none."""

from collections import defaultdict
from collections.abc import Iterator

from benchwright.app.verification import Finding, Unpacked
from benchwright.core.results import Tally
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.stats.bounds import Bounds, bounds


def check_faults(given: Unpacked) -> Iterator[Finding]:
    """Count the faults, and bracket the score by those of which nothing shows that they are any.  Finds nothing wrong.

    A lost sandbox leaves no record; a record that says so shows no more than the row does.
    """
    tally = given.tally
    unproven = [row for row in given.rows if _unproven(row, given)]
    tally.unproven = len(unproven)
    if tally.faults:
        tally.notes.append(f"{tally.faults} of {tally.rows} rows are faults, which are left out of the score.")
    if unproven:
        last = Score(given.manifest["scores"][-1])
        tally.bounds = _bounds(given, last)
        tally.open.append(f"that {len(unproven)} rows are faults and not failures{_bracket(tally.bounds, last)}")
    yield from ()


def _unproven(row: ResultRow, given: Unpacked) -> bool:
    if row.verdict.outcome is not Outcome.FAULT:
        return False
    if row.job_digest is None or row.verdict.reason is Reason.SANDBOX_LOST:
        return True
    return given.store.get(row.job_digest) is None and given.store.get_repository(row.job_digest) is None


def _bounds(given: Unpacked, score: Score) -> Bounds | None:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"scored": 0, "passed": 0, "faults": 0})
    for row in given.rows:
        if row.score is score:
            count = counts[row.problem_id]
            count["scored"] += row.verdict.scored
            count["passed"] += row.verdict.outcome is Outcome.PASSED
            count["faults"] += _unproven(row, given)
    tallies = [Tally(**count) for count in counts.values() if count["scored"] + count["faults"]]
    return bounds(tallies) if any(one.faults for one in tallies) else None


def _bracket(found: Bounds | None, score: Score) -> str:
    if found is None:
        return ""
    value = "has no value" if found.value is None else f"is {100 * found.value:.1f} %"
    return (
        f": pass@1[{score.value}] {value}, {100 * found.worst:.1f} % if they had failed, "
        f"{100 * found.best:.1f} % if they had passed"
    )
