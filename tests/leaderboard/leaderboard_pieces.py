"""Runs made by hand: who, on which problems, with what outcomes."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.digest import digest_of
from benchwright.core.evaluation import Evaluation
from benchwright.core.results import Origin, ScoredRun, Source, StoredRun, Tally
from benchwright.core.runs import Score

OFFICIAL = Source(kind="official-verdicts", title="Official verdicts")


def stored(model: str, **fields: Any) -> StoredRun:
    """A run of a benchmark of functions, all of whose fields can be said."""
    values: dict[str, Any] = {
        "origin": Origin.OWN,
        "benchmark": "bigcodebench",
        "version": "v0.1.4",
        "subset": "hard",
        "variant": "complete",
        "model": model,
        "scores": (Score.CALIBRATED,),
        **fields,
    }
    plain = {name: str(value) for name, value in values.items()}
    return StoredRun(**{"entry": digest_of(plain), "run_id": digest_of(plain)[:16], **values})


def scored(
    model: str, passes: Sequence[int | None] | Mapping[str, Tally], score: Score = Score.CALIBRATED, **fields: Any
) -> ScoredRun:
    """A run with one sample for each of problems p0, p1, …: 1 passes, 0 does not, None is a fault."""
    if not isinstance(passes, Mapping):
        passes = {
            f"p{number}": Tally(scored=0, passed=0, faults=1) if one is None else Tally(scored=1, passed=one)
            for number, one in enumerate(passes)
        }
    run = stored(model, **{"problems": len(passes), "scores": (score,), **fields})
    return ScoredRun(run=run, score=score, tallies=passes)


def imported(model: str, passes: Sequence[int | None], **fields: Any) -> ScoredRun:
    """The same, graded by somebody else."""
    return scored(model, passes, **{"origin": Origin.IMPORTED, "source": OFFICIAL, **fields})


def evaluation(**changes: Any) -> dict[str, Any]:
    """How an agent's result came about, with the default budget."""
    values: dict[str, Any] = {
        "scaffold": "loop", "provider": "openai", "limits": AgentLimits(), "native_tools": NativeTools.AUTO,
        "samples": 1, **changes,
    }  # fmt: skip
    return Evaluation(**values).to_plain()


def agent(model: str, passes: Sequence[int | None], **changes: Any) -> ScoredRun:
    """An agent's run; what is given changes its evaluation."""
    found = evaluation(**changes)
    return scored(
        model,
        passes,
        Score.PATCH,
        benchmark="swebench-verified",
        subset="all",
        variant="patch",
        scaffold=found["scaffold"],
        evaluation=found,
    )
