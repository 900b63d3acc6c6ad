"""Rate and rank all models of a benchmark: behind ``bw rank``."""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.app.ranking_sources import Sources, gather
from benchwright.app.recording import open_to_read
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import Origin, StoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.flags import shared_flags
from benchwright.leaderboard.policy import Imports, Policy, arrange
from benchwright.leaderboard.ranking import RankOptions, table_of
from benchwright.leaderboard.reported import reported_tables
from benchwright.leaderboard.tables import (
    LeaderboardRow,
    LeftOut,
    Table,
    left_out_to_plain,
    row_to_plain,
    table_to_plain,
)
from benchwright.leaderboard.titles import told_apart
from benchwright.stats.intervals import SEED
from benchwright.stats.ratings import ROUNDS, Anchor, Ties

__all__ = [
    "Attempted",
    "Imports",
    "LeaderboardRow",
    "RankRequest",
    "Ranking",
    "Table",
    "Ties",
    "rank",
    "rank_sources",
    "shared_flags",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest:
    """What to rank, and how."""

    benchmark: str
    subset: str | None = None
    """Without one the benchmark's first; of named sources, whatever they are of."""
    variant: str | None = None
    """Without one the benchmark's first, such as ``complete``."""
    score: Score | None = None
    """Without one the last of each run: calibrated, or that of patches."""
    runs: tuple[str, ...] = ()
    """Results folders, entries of the store or models."""
    resolved: Path | None = None
    """List of what submissions resolved."""
    attempted: Attempted = Attempted.ALL
    verdicts: tuple[Path, ...] = ()
    """Official verdict files, or folders with them."""
    dataset: Path | None = None
    """File with the benchmark's rows, which says what its problems are."""
    model_facts: Path | None = None
    """File of what the user knows of models, laid over what sources say."""
    store: Path | None = None
    imports: Imports = Imports.WITHOUT
    common: bool | None = None
    """Compare on common problems; None: for named sources yes, for the store no."""
    ties: Ties = Ties.HALF
    rounds: int = ROUNDS
    anchor: str | None = None
    """``MODEL`` or ``MODEL=RATING``."""
    seed: int = SEED
    rating: bool = True
    every_table: bool = True
    """Rate the tables beside the main one, too."""

    @property
    def named(self) -> bool:
        """Whether the user said which results to rank, instead of taking the store's."""
        return bool(self.runs or self.verdicts or self.resolved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The main table, and what is not in it."""

    request: RankRequest
    main: Table
    others: tuple[Table, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...] = field(default=())
    """On the whole of it, one sentence each; every table has notes of its own."""

    def to_plain(self) -> dict[str, Any]:
        """The ranking as the object of ``bw rank --json``."""
        main, request = self.main, self.request
        return {
            "benchmark": main.benchmark,
            "version": ", ".join(main.versions),
            "subset": main.subset,
            "variant": main.variant,
            "score": main.score and main.score.value,
            "metric": main.metric,
            "ties": request.ties.value,
            "anchor": main.anchor,
            "rounds": request.rounds,
            "seed": request.seed,
            "imports": request.imports.value,
            "method": main.method,
            "problems": len(main.problems),
            "rows": [row_to_plain(row) for row in main.rows],
            "other_tables": [table_to_plain(table) for table in self.others],
            "left_out": [left_out_to_plain(one) for one in self.left_out],
            "notes": [*main.every_note, *self.notes],
        }


def rank(request: RankRequest, workspace: Workspace) -> Ranking:
    """Rank what was asked for.

    Raises `UsageError` when there is nothing to rank, or a source cannot be read.
    """
    known = _Known.of(request.benchmark)
    if request.rounds < 1:
        raise UsageError(f"Intervals take at least one round, and {request.rounds} was given; choose --rounds 500.")
    request = replace(request, subset=known.subset(request), variant=known.variant(request))
    with open_to_read(workspace, request.store) as store:
        found = _ranking(request, known, gather(request, store))
    main, *others = told_apart((found.main, *found.others))
    return replace(found, main=main, others=tuple(others))


def rank_sources(request: RankRequest, sources: Sources) -> Ranking:
    """Rank runs that were gathered already, as `rank` does; subset and variant are as the request has them.

    Raises `UsageError` when none of them fits.
    """
    return _ranking(request, _Known.of(request.benchmark), sources)


def _ranking(request: RankRequest, known: "_Known", every: Sources) -> Ranking:
    sources = _wanted(every, request)
    facts = facts_of(request.benchmark)
    policy = Policy(
        imports=request.imports,
        comparable_versions=facts.comparable_versions,
        expected=frozenset(sources.problem_ids) or known.ids(_subset(sources)),
        common=request.named if request.common is None else request.common,
    )
    options = RankOptions(
        ties=request.ties,
        rounds=request.rounds,
        anchor=_anchor(request.anchor, {one.run.model for one in sources.scored}),
        seed=request.seed,
        rating=request.rating,
        title=known.title,
        benchmark=facts,
        sizes=known.sizes(facts),
    )
    notes = list(sources.notes)
    tables: list[Table] = []
    for group in arrange(sources.scored, policy):
        problems = sources.problem_facts(group.runs)
        rated = options.rating and (not tables or request.every_table)
        tables.append(table_of(group, replace(options, rating=rated, problems=problems.facts)))
        notes += problems.notes
    tables += reported_tables(sources.reported, title=known.title, benchmark=facts)
    elsewhere = sum(not _of_part(run, request) for run in (*every.runs, *every.lacking))
    if elsewhere:
        notes.append(f"{elsewhere} results of other subsets or variants are not looked at.")
    return Ranking(
        request=request,
        main=tables[0],
        others=tuple(tables[1:]),
        left_out=sources.left_out(request.score),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the registries say of a benchmark; results of one that is in none can be ranked all the same."""

    title: str
    subsets: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    subset_ids: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> "_Known":
        if name in BENCHMARKS.names():
            functions = BENCHMARKS.get(name)
            ids = {subset: functions.subset_ids(subset) for subset in functions.subsets}
            return cls(title=functions.title, subsets=functions.subsets, variants=functions.variants, subset_ids=ids)
        if name in REPOSITORY_BENCHMARKS.names():
            repositories = REPOSITORY_BENCHMARKS.get(name)
            return cls(title=repositories.title, subsets=repositories.subsets, variants=("patch",))
        raise UnknownNameError("benchmark", name, (*BENCHMARKS.names(), *REPOSITORY_BENCHMARKS.names()))

    def subset(self, request: RankRequest) -> str | None:
        return request.subset or (None if request.named or not self.subsets else self.subsets[0])

    def variant(self, request: RankRequest) -> str | None:
        return request.variant or (None if request.runs or not self.variants else self.variants[0])

    def ids(self, subset: str) -> frozenset[str]:
        return self.subset_ids.get(subset, frozenset())

    def sizes(self, facts: BenchmarkFacts) -> dict[str, int]:
        """How many problems subsets have, as far as that is known without the data."""
        whole = {self.subsets[0]: facts.problems} if self.subsets and facts.problems is not None else {}
        return whole | {subset: len(ids) for subset, ids in self.subset_ids.items() if ids}


def _anchor(text: str | None, models: Collection[str]) -> Anchor:
    """``MODEL`` or ``MODEL=RATING``; a name may hold equals signs itself, the last one counts if a number follows.

    Raises `UsageError` when no finite number follows the name of a model.
    """
    if text is None:
        return Anchor()
    name, _, value = text.rpartition("=")
    if not name or text in models:
        return Anchor(model=text)
    rating = _finite(value)
    if rating is not None:
        return Anchor(model=name, value=rating)
    if name in models:
        raise UsageError(f"The rating of the anchor {name} is no number: {value!r}; give {name}=1000, or {name} alone.")
    return Anchor(model=text)


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _of_part(run: StoredRun, request: RankRequest) -> bool:
    return request.subset in (None, run.subset) and request.variant in (None, run.variant)


def _wanted(sources: Sources, request: RankRequest) -> Sources:
    """The sources without other benchmarks, subsets and variants; raises `UsageError` when nothing is left."""

    def fits(run: StoredRun) -> bool:
        return (
            run.benchmark == request.benchmark
            and _of_part(run, request)
            and not (request.imports is Imports.ONLY and run.origin is Origin.OWN)
        )

    kept = sources.only(fits)
    if not kept.scored and not kept.reported:
        raise UsageError(_without_score(kept, request) if kept.lacking else _nothing(sources, request))
    return kept


def _without_score(sources: Sources, request: RankRequest) -> str:
    there = dict.fromkeys(score.value for run in sources.lacking for score in run.scores)
    count = f"{len(sources.lacking)} {'is' if len(sources.lacking) == 1 else 'are'}"
    return (
        f"There are no results of {request.benchmark} under the score {request.score} in {sources.where}, but {count} "
        f"there under others ({', '.join(there)}); choose one of these with --score, or leave it out."
    )


def _nothing(sources: Sources, request: RankRequest) -> str:
    asked = ", ".join(word for word in (request.subset, request.variant) if word)
    imports = "imported " if request.imports is Imports.ONLY else ""
    runs = [run for run in (*sources.runs, *sources.lacking) if run.benchmark == request.benchmark]
    there = Counter(f"{run.subset}, {run.variant}" for run in runs)
    if not there:
        return (
            f"There are no results of {request.benchmark} in {sources.where}; grade or run something first, or name "
            f"results with --run, --resolved or --verdicts."
        )
    listed = "; ".join(f"{name}: {count}" for name, count in there.most_common())
    return (
        f"There are no {imports}results of {request.benchmark} ({asked}) in {sources.where}, only of these ({listed}); "
        f"choose with --subset, --variant and --imports."
    )


def _subset(sources: Sources) -> str:
    subsets = Counter(one.run.subset for one in sources.scored)
    return subsets.most_common(1)[0][0] if subsets else ""
