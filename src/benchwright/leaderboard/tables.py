"""What a leaderboard is made of: tables whose rows may be compared, each row a model with its numbers and flags."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.core.results import ModelFacts, Origin, ReportedScore, Source
from benchwright.core.runs import Estimate, Score
from benchwright.stats.ratings import Rating


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Something that a reader of a row must know."""

    name: str
    """Short and stable, such as ``import``, ``faults``, ``integrity``, ``base_model_on_instruct``."""
    text: str
    """One plain sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One model in one table."""

    entry: str
    """The store's name of the run; of several pooled runs: that of the last one."""
    entries: tuple[str, ...]
    """All runs behind the row, the last one last."""
    model: str
    """The whole name, as its source writes it; not escaped."""
    label: str
    """The name that no other row of the table has: the model's, with its runs or the entry where that is needed."""
    scaffold: str = ""
    origin: Origin
    source: Source | None = None
    """None for own runs."""
    version: str = ""
    """Of the benchmark's data."""
    variant: str
    estimate: Estimate | None = None
    """The table's score; None when a source states numbers only."""
    reported: tuple[ReportedScore, ...] = ()
    """What the source states, under its own names."""
    rated: Rating | None = None
    """None where nothing was rated: a single row, ``--no-rating``, numbers without verdicts."""
    solved: int = 0
    """Problems with a passing sample."""
    problems: int = 0
    """Problems of the table, those left unscored by faults among them; of numbers alone as many as the source says."""
    faults: int = 0
    """Samples that are our side's fault and are left out."""
    missing: int = 0
    """Problems without any answer; they count as not solved."""
    worst: float | None = None
    """The score if every fault had been a failure; None without faults."""
    best: float | None = None
    """The score if every fault had been a pass; None without faults."""
    runs: int = 1
    spread: float | None = None
    """Standard deviation of the pooled runs' scores; None for a single run."""
    cost: float | None = None
    """USD, of all runs behind the row; None when that is not known."""
    finished: str = ""
    """When the (last) run ended, ISO 8601."""
    flags: tuple[Flag, ...] = ()
    facts: ModelFacts = field(default_factory=ModelFacts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A run that is in no table, and why."""

    entry: str
    model: str
    reason: str
    """One plain sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows that may be compared with each other."""

    title: str
    """Such as ``BigCodeBench, hard, complete``."""
    benchmark: str
    versions: tuple[str, ...]
    """Versions of the data that count as one here, in the order of their names."""
    subset: str
    variant: str
    score: Score | None = None
    """None when a source states numbers only."""
    metric: str = ""
    """Such as ``pass@1[calibrated]``; of an import that states numbers only, in its source's words."""
    reason: str = ""
    """Why these rows are in a table of their own, in one sentence; empty for the main table."""
    problems: tuple[str, ...] = ()
    """Ids of the problems behind the numbers, sorted; all rows that are not partial were asked all of these."""
    rows: tuple[LeaderboardRow, ...]
    """The best first."""
    method: str = ""
    """One sentence: how ratings and intervals were made; empty where nothing was rated."""
    anchor: str = ""
    """Which model (or the mean) the rating scale is tied to, and to which value."""
    notes: tuple[str, ...] = ()
    """On these rows, one plain sentence each."""
    benchmark_notes: tuple[str, ...] = ()
    """What is known of the benchmark besides results, to stand beside every score; one plain sentence each."""

    @property
    def every_note(self) -> tuple[str, ...]:
        """Both kinds of notes."""
        return (*self.notes, *self.benchmark_notes)

    def number_of(self, row: LeaderboardRow) -> float | None:
        """The number that the table is about; None where a row has none."""
        if row.estimate is not None:
            return row.estimate.value
        stated = stated_as(self.metric, row.reported)
        return None if stated is None else stated.value


def stated_as(metric: str, reported: Iterable[ReportedScore]) -> ReportedScore | None:
    """What a source states under this name."""
    return next((one for one in reported if one.metric == metric), None)


def row_to_plain(row: LeaderboardRow) -> dict[str, Any]:
    """A row as the JSON of ``bw rank``: stable names, None where nothing is known."""
    rated, estimate = row.rated, row.estimate
    return {
        "rank": rated and rated.rank,
        "rank_low": rated and rated.rank_low,
        "rank_high": rated and rated.rank_high,
        "model": row.model,
        "label": row.label,
        "scaffold": row.scaffold,
        "rating": rated and rated.rating,
        "median": rated and rated.median,
        "low": rated and rated.low,
        "high": rated and rated.high,
        "held": rated and rated.held,
        "metric": estimate.metric if estimate else None,
        "pass@1": estimate.value if estimate else None,
        "pass@1_low": estimate.low if estimate else None,
        "pass@1_high": estimate.high if estimate else None,
        "method": estimate.method if estimate else None,
        "reported": {one.metric: one.value for one in row.reported},
        "solved": row.solved,
        "n": estimate.n if estimate else row.problems,
        "samples": estimate.samples if estimate else None,
        "problems": row.problems,
        "faults": row.faults,
        "worst": row.worst,
        "best": row.best,
        "missing": row.missing,
        "runs": row.runs,
        "spread": row.spread,
        "cost": row.cost,
        "flags": [flag.name for flag in row.flags],
        "flag_texts": [flag.text for flag in row.flags],
        "entry": row.entry,
        "entries": list(row.entries),
        "origin": row.origin.value,
        "source": None if row.source is None else row.source.to_plain(),
        "version": row.version,
        "variant": row.variant,
        "finished": row.finished,
        "facts": row.facts.to_plain(),
    }


def table_to_plain(table: Table) -> dict[str, Any]:
    """A table as the JSON of ``bw rank``."""
    return {
        "title": table.title,
        "benchmark": table.benchmark,
        "versions": list(table.versions),
        "subset": table.subset,
        "variant": table.variant,
        "score": table.score and table.score.value,
        "metric": table.metric,
        "reason": table.reason,
        "problems": len(table.problems),
        "rows": [row_to_plain(row) for row in table.rows],
        "method": table.method,
        "anchor": table.anchor,
        "notes": list(table.every_note),
    }


def left_out_to_plain(left_out: LeftOut) -> Mapping[str, str]:
    """A run that is in no table, as the JSON of ``bw rank``."""
    return {"entry": left_out.entry, "model": left_out.model, "reason": left_out.reason}
