"""Runs and rows to be stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from benchwright.core.results import Origin, ReportedScore, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "Größe-模型-🙂",
    "lab/model/../../etc/passwd",
    "two\nlines\tand \x1b[31mred",
    "nul\0inside",
    "lone \ud800 surrogate",
    "x" * 10_000,
    "'; DROP TABLE entries; --",
)


def row(problem: str = "p/0", outcome: Outcome = Outcome.PASSED, **changes: Any) -> ResultRow:
    """A row."""
    verdict = Verdict(
        outcome=outcome,
        reason={Outcome.PASSED: Reason.ALL_TESTS_PASSED, Outcome.FAULT: Reason.SANDBOX_LOST}.get(
            outcome, Reason.ASSERTION
        ),
        detail=changes.pop("detail", "said"),
        planned=2,
        passed=2 if outcome is Outcome.PASSED else 1,
        judge_version=1,
        record_digest="r",
    )
    values: dict[str, Any] = {"sample": 0, "score": Score.CALIBRATED, "job_digest": "j", **changes}
    return ResultRow(problem_id=problem, verdict=verdict, **values)


def rows_of(outcomes: Sequence[Outcome]) -> list[ResultRow]:
    """A row for each outcome, of one problem each."""
    return [row(f"p/{number}", outcome) for number, outcome in enumerate(outcomes)]


TWO = rows_of([Outcome.PASSED, Outcome.FAILED])


def run(run_id: str = "r", model: str = "m", rows: Sequence[ResultRow] = TWO, **changes: Any) -> StoredRun:
    """A run of these rows."""
    values: dict[str, Any] = {
        "entry": "",
        "origin": Origin.OWN,
        "benchmark": "b",
        "version": "1",
        "subset": "full",
        "variant": "complete",
        "scores": tuple(dict.fromkeys(one.score for one in rows)),
        "problems": len({one.problem_id for one in rows}),
        "solved": sum(one.verdict.outcome is Outcome.PASSED for one in rows),
        "manifest": {"run_id": run_id, "status": "complete"},
        **changes,
    }
    return StoredRun(run_id=run_id, model=model, **values)


def reported(model: str = "m", value: float = 0.611) -> StoredRun:
    """A run whose source states a score alone."""
    return run(
        f"reported-{model}",
        model,
        (),
        origin=Origin.IMPORTED,
        reported=(ReportedScore(metric="pass@1", value=value),),
        manifest={},
    )


FILES: Mapping[str, bytes] = {"plans.json": b"{}", "empty.jsonl": b""}


ANY_ROW = st.builds(
    ResultRow,
    problem_id=st.text(),
    sample=st.integers(0, 9),
    score=st.sampled_from(Score),
    verdict=st.builds(
        Verdict,
        outcome=st.sampled_from(Outcome),
        reason=st.sampled_from(Reason),
        detail=st.text(st.characters(codec=None)),  # lone surrogates too: messages of answers hold anything
        planned=st.integers(0, 9),
        passed=st.integers(0, 9),
        judge_version=st.integers(1, 3),
        record_digest=st.none() | st.text(),
    ),
    job_digest=st.none() | st.text(),
    wall_seconds=st.floats(0, 1e9),
    cpu_seconds=st.floats(0, 1e9),
    memory_peak_bytes=st.integers(0, 1 << 50),
    notes=st.lists(st.text()).map(tuple),
    missing_names=st.lists(st.text()).map(tuple),
)
"""Rows of every kind, whether or not a judge would give them."""
