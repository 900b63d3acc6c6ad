"""Stores of results with hand-made runs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.core.results import ModelFacts, Origin, ProblemFacts, Source, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.results import ResultStore

P, F, M, X = Outcome.PASSED, Outcome.FAILED, Outcome.NO_ANSWER, Outcome.FAULT
REASONS = {P: Reason.ALL_TESTS_PASSED, F: Reason.ASSERTION, M: Reason.MISSING, X: Reason.SANDBOX_LOST}
OFFICIAL = Source(kind="official", title="Official verdicts")


def rows_of(
    outcomes: Mapping[str, Iterable[Outcome]], scores: Sequence[Score] = (Score.CALIBRATED,)
) -> list[ResultRow]:
    """Rows with these outcomes of each problem's samples, the same under every score."""
    return [
        ResultRow(
            problem_id=problem,
            sample=sample,
            score=score,
            verdict=Verdict(
                outcome=outcome,
                reason=REASONS[outcome],
                detail="why",
                planned=1,
                passed=int(outcome is P),
                judge_version=1,
                record_digest=None,
            ),
            job_digest=None,
        )
        for problem, samples in outcomes.items()
        for sample, outcome in enumerate(samples)
        for score in scores
    ]


def outcomes(text: str, first: int = 0) -> dict[str, tuple[Outcome, ...]]:
    """One sample for each of problems p0, p1, …, by a letter: P passes, F fails, M is missing, X is a fault."""
    letters = {"P": P, "F": F, "M": M, "X": X}
    return {f"p{first + number}": (letters[one],) for number, one in enumerate(text)}


def add_run(
    root: Path,
    model: str,
    results: str | Mapping[str, Iterable[Outcome]],
    *,
    scores: Sequence[Score] = (Score.CALIBRATED,),
    facts: Sequence[ProblemFacts] = (),
    facts_of_model: ModelFacts | None = None,
    **fields: Any,
) -> StoredRun:
    """Record a run of the starter benchmark in a store."""
    by_problem = outcomes(results) if isinstance(results, str) else results
    rows = rows_of(by_problem, scores)
    last = [row for row in rows if row.score is scores[-1]]
    values: dict[str, Any] = {
        "entry": "",
        "run_id": f"run of {model}",
        "origin": Origin.OWN,
        "benchmark": "starter",
        "version": "0.1.0",
        "subset": "full",
        "variant": "complete",
        "model": model,
        "scores": tuple(scores),
        "problems": len(by_problem),
        "solved": sum(row.verdict.outcome is P for row in last),
        "faults": sum(row.verdict.outcome is X for row in last),
        "missing": sum(row.verdict.outcome is M for row in last),
        "facts": facts_of_model or ModelFacts(),
        **fields,
    }
    lines = "".join(json.dumps(one.to_plain()) + "\n" for one in facts)
    files = {"problems.jsonl": lines.encode()} if facts else {}
    with ResultStore(root) as store:
        return store.add(StoredRun(**values), rows, files)


def add_import(root: Path, model: str, results: str, **fields: Any) -> StoredRun:
    """Record the same as an import."""
    return add_run(root, model, results, origin=Origin.IMPORTED, source=OFFICIAL, **fields)
