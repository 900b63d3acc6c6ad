"""From runs that may stand together to a table: ratings, estimates, flags, what each row cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.errors import UnknownNameError
from benchwright.core.results import Origin, ProblemFacts, StoredRun
from benchwright.core.runs import Estimate, Score
from benchwright.leaderboard.contenders import Contender, contenders
from benchwright.leaderboard.flags import flags_of
from benchwright.leaderboard.policy import Group
from benchwright.leaderboard.tables import LeaderboardRow, Table
from benchwright.stats.bounds import bounds
from benchwright.stats.estimates import estimate_pass_at_k
from benchwright.stats.intervals import SEED
from benchwright.stats.ratings import ROUNDS, Anchor, Rating, Ratings, Ties, rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    """How to rate, and what is known of the benchmark."""

    ties: Ties = Ties.HALF
    rounds: int = ROUNDS
    anchor: Anchor = field(default_factory=Anchor)
    seed: int = SEED
    rating: bool = True
    title: str = ""
    """The benchmark's name for people; its registered name without one."""
    benchmark: BenchmarkFacts = field(default_factory=BenchmarkFacts)
    problems: Mapping[str, ProblemFacts] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How many problems each of the benchmark's subsets has, where that is known."""


def table_of(group: Group, options: RankOptions) -> Table:
    """The table of runs that may stand together, the best row first.

    Raises `UnknownNameError` when the anchor is none of the main table's models; other tables fall back to the mean.
    """
    all_of = contenders(group.runs, group.problems)
    own_first = sorted(group.runs, key=lambda scored: (scored.run.origin is not Origin.OWN, scored.run.entry))
    first, score = own_first[0].run, own_first[0].score
    anchor, anchor_notes = _anchor(all_of, options.anchor, main=not group.reason)
    ratings = _rate(all_of, group.problems, options, anchor)
    rated = {} if ratings is None else {row.model: row for row in ratings.rows}
    rows = [_row(one, group, score, options, rated.get(one.label)) for one in all_of]
    rows.sort(key=_order)
    title = options.title or first.benchmark
    # Of runs of several subsets that are compared on common problems, these are the smallest one's.
    subset = min((len(scored.tallies), scored.run.subset) for scored in group.runs)[1]
    beyond, beyond_notes = _beyond(group, title, options.sizes.get(subset))
    return Table(
        title=", ".join((title, subset, first.variant, *beyond)),
        benchmark=first.benchmark,
        versions=tuple(sorted({scored.run.version for scored in group.runs})),
        subset=subset,
        variant=first.variant,
        score=score,
        metric=_metric(first, score),
        reason=group.reason,
        problems=group.problems,
        rows=tuple(rows),
        method="" if ratings is None else ratings.method,
        anchor="" if ratings is None else f"{anchor.model or 'mean of the models'} = {anchor.value:g}",
        notes=(
            *beyond_notes,
            *group.notes,
            *anchor_notes,
            *_rating_notes(ratings, rows, options),
        ),
        benchmark_notes=tuple(
            f"{one.text} ({one.source})"
            for one in (options.benchmark.human, options.benchmark.task_errors)
            if one is not None
        ),
    )


def _beyond(group: Group, title: str, size: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What title and notes say of problems that cannot all be the benchmark's; nothing where they can."""
    if size is None or len(group.problems) <= size:
        return (), ()
    count = f"{len(group.problems):,}"
    sources = {scored.run.source.title for scored in group.runs if scored.run.source is not None}
    place = f" of {sources.pop()}" if len(sources) == 1 else ""
    note = (
        f"These are {count} problems, of which at most {size:,} are those of {title}: no number here is one of "
        f"{title}. Say which they are with --dataset FILE, its rows or a list of ids, where the list is read (bw rank "
        f"--resolved, bw store import)."
    )
    return (f"all {count} problems{place}, though the benchmark has {size:,}",), (note,)


def _metric(run: StoredRun, score: Score) -> str:
    """The name of the number.  A source that names its own number is heard; there is one score of patches."""
    if run.source is not None and run.reported:
        return run.reported[0].metric
    return f"pass@1[{score.value}]"


def _anchor(all_of: Sequence[Contender], wanted: Anchor, *, main: bool) -> tuple[Anchor, tuple[str, ...]]:
    """The anchor by the label it has in this table."""
    if wanted.model is None:
        return wanted, ()
    labels = [one.label for one in all_of]
    by_model = [one.label for one in all_of if one.last.model == wanted.model]
    if wanted.model in labels or len(by_model) == 1:
        return Anchor(model=wanted.model if wanted.model in labels else by_model[0], value=wanted.value), ()
    if main:
        raise UnknownNameError("model to anchor the ratings to", wanted.model, labels)
    note = f"The anchor {wanted.model} is not in this table; the mean of its models is at {wanted.value:g}."
    return Anchor(value=wanted.value), (note,)


def _rate(all_of: Sequence[Contender], problems: Sequence[str], options: RankOptions, anchor: Anchor) -> Ratings | None:
    """Ratings of the contenders that have any scored problem; None below two of them."""
    if not options.rating:
        return None
    shares = np.array(
        [[np.nan if (share := one.tallies[problem].share) is None else share for problem in problems] for one in all_of]
    )
    played = ~np.isnan(shares).all(axis=1)
    if played.sum() < 2:
        return None
    return rate(
        [one.label for one, plays in zip(all_of, played, strict=True) if plays],
        shares[played],
        rng=np.random.default_rng(options.seed),
        ties=options.ties,
        rounds=options.rounds,
        anchor=anchor,
    )


def _row(one: Contender, group: Group, score: Score, options: RankOptions, rated: Rating | None) -> LeaderboardRow:
    last, faults = one.last, sum(tally.faults for tally in one.tallies.values())
    missing = sum(tally.missing for tally in one.tallies.values())
    costs = [run.cost for run in one.runs]
    bracket = bounds(one.tallies.values()) if faults else None
    return LeaderboardRow(
        entry=last.entry,
        entries=tuple(run.entry for run in one.runs),
        model=last.model,
        label=one.label,
        scaffold=last.scaffold,
        origin=last.origin,
        source=last.source,
        version=last.version,
        variant=last.variant,
        estimate=_estimate(one, score, options),
        reported=last.reported,
        rated=rated,
        solved=sum(tally.passed > 0 for tally in one.tallies.values()),
        problems=len(one.tallies),
        faults=faults,
        missing=missing,
        worst=None if bracket is None else bracket.worst,
        best=None if bracket is None else bracket.best,
        runs=len(one.runs),
        spread=one.spread,
        cost=None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None),
        finished=last.finished,
        flags=flags_of(
            one.runs,
            problems=group.problems,
            facts=options.problems,
            benchmark=options.benchmark,
            faults=faults,
            missing=missing,
        ),
        facts=last.facts,
    )


def _estimate(one: Contender, score: Score, options: RankOptions) -> Estimate | None:
    counts = [(tally.scored, tally.passed) for tally in one.tallies.values() if tally.scored]
    if not counts:
        return None
    estimate = estimate_pass_at_k(counts, score=score, rng=np.random.default_rng(options.seed), ks=[1])[0]
    return replace(estimate, metric=_metric(one.last, score))


def _order(row: LeaderboardRow) -> tuple[float, float, str]:
    return (
        row.rated.rank if row.rated else np.inf,  # equal ratings differ in their last digits
        -row.estimate.value if row.estimate else np.inf,
        row.label,
    )


def _rating_notes(ratings: Ratings | None, rows: Sequence[LeaderboardRow], options: RankOptions) -> tuple[str, ...]:
    if not options.rating:
        return ()
    if ratings is None:
        return ("There is nothing to rate: a rating takes two models with scored problems.",)
    notes = []
    if len(ratings.groups) > 1:
        notes.append(
            f"The models fall into {len(ratings.groups)} groups without a scored problem in common; ratings of "
            f"different groups cannot be compared."
        )
    rated = [row.rated for row in rows if row.rated]
    held = sum(one.held for one in rated)
    if all(one.rank == 1 for one in rated) and len(ratings.groups) == 1:
        notes.append("All models come out the same: the ratings tell nothing apart.")
    elif held == len(rated):
        notes.append("No two models beat each other, even by way of others; distances are bounded by convention.")
    elif held:
        notes.append(f"Models that win or lose every match against the others: {held}; their distances are convention.")
    return tuple(notes)
