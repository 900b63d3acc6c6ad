"""Tables of numbers that a source states without the verdicts behind them, under the source's own names."""

from collections.abc import Sequence

from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.leaderboard.contenders import labels_of
from benchwright.leaderboard.flags import flags_of
from benchwright.leaderboard.tables import LeaderboardRow, Table, stated_as


def reported_tables(runs: Sequence[StoredRun], *, title: str, benchmark: BenchmarkFacts) -> tuple[Table, ...]:
    """One table for every source, version, subset and variant; the highest number first.

    Raises `UsageError` for a run that has verdicts, or states no number.
    """
    apart: dict[tuple[str, ...], list[StoredRun]] = {}
    for run in runs:
        if run.source is None or not run.reported_only or not run.reported:
            raise UsageError(f"{run.model} ({run.entry[:12]}) states no number of its source; it cannot be listed.")
        key = (run.source.title, run.source.kind, run.version, run.subset, run.variant)
        apart.setdefault(key, []).append(run)
    return tuple(_table(apart[key], title, benchmark) for key in sorted(apart))


def _table(runs: Sequence[StoredRun], title: str, benchmark: BenchmarkFacts) -> Table:
    first = runs[0]
    assert first.source is not None
    metrics = dict.fromkeys(score.metric for run in runs for score in run.reported)
    metric = next(iter(metrics))

    def value(run: StoredRun) -> float:
        return stated.value if (stated := stated_as(metric, run.reported)) else float("-inf")

    ranked = sorted(runs, key=lambda run: (-value(run), run.model, run.entry))
    rows = [
        LeaderboardRow(
            entry=run.entry,
            entries=(run.entry,),
            model=run.model,
            label=label,
            scaffold=run.scaffold,
            origin=run.origin,
            source=run.source,
            version=run.version,
            variant=run.variant,
            reported=run.reported,
            problems=(stated.n or 0) if (stated := stated_as(metric, run.reported)) else 0,
            cost=run.cost,
            finished=run.finished,
            flags=flags_of([run], problems=(), facts={}, benchmark=benchmark, faults=0, missing=0),
            facts=run.facts,
        )
        for run, label in zip(ranked, labels_of([[run] for run in ranked]), strict=True)
    ]
    return Table(
        title=f"{title}, {first.subset}, {first.variant}, as {first.source.title} has it",
        benchmark=first.benchmark,
        versions=(first.version,) if first.version else (),
        subset=first.subset,
        variant=first.variant,
        metric=metric,
        reason=f"Numbers that {first.source.title} states, without the verdicts behind them.",
        rows=tuple(rows),
        notes=(first.source.note,) if first.source.note else (),
    )
