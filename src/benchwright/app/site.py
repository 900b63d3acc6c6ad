"""The leaderboard's pages from the store of results (``bw site build``), and a look at them (``bw site serve``)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchwright import __version__
from benchwright.app.model_facts import read_model_facts
from benchwright.app.ranking import Imports, Ranking, RankRequest, Ties, rank_sources
from benchwright.app.ranking_sources import Sources, gather
from benchwright.app.recording import open_to_read
from benchwright.app.site_answers import StoredAnswers, checked_template
from benchwright.app.site_problems import ProblemsOfSite
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import Origin, ScoredRun, StoredRun
from benchwright.leaderboard.site.build import SiteReport, build_site, require_libraries
from benchwright.leaderboard.site.folder import refuse_what_is_no_site
from benchwright.leaderboard.site.model import AnswerChoice, Bundle, SiteData, SiteOptions
from benchwright.leaderboard.tables import LeftOut, Table
from benchwright.stats.ratings import ROUNDS
from benchwright.store.results import ResultStore

__all__ = ["AnswerChoice", "Imports", "SiteOptions", "SiteReport", "SiteRequest", "Ties", "build"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRequest:
    """What to show, and where to write it."""

    out: Path
    title: str = "Leaderboard"
    store: Path | None = None
    benchmarks: tuple[str, ...] = ()
    """Only these; empty for all that the store has results of."""
    data: tuple[tuple[str, Path], ...] = ()
    """Benchmark and file with its rows: then pages of problems have prompts."""
    domains: Path | None = None
    """JSON file of domains by library, or by problem."""
    model_facts: Path | None = None
    """File of what the user knows of models, laid over what sources say."""
    imports: Imports = Imports.WITHOUT
    ties: Ties = Ties.HALF
    rounds: int = ROUNDS
    rating: bool = True
    generated: str = ""
    """What the pages give as their date; empty for that of the newest run."""
    transcripts: str = ""
    """Address under which transcripts of agents can be read, with names in braces."""
    bundles: tuple[Path, ...] = ()
    options: SiteOptions = field(default_factory=SiteOptions)


def build(request: SiteRequest, workspace: Workspace) -> SiteReport:
    """Build the site.

    Raises:
        UsageError: There is nothing to show, something that was named is not there, a bundle is not sound, a library
            is missing, or the folder holds something that is no site.
        MachineError: The folder cannot be written.
    """
    require_libraries()
    refuse_what_is_no_site(request.out)  # before minutes of work
    checked_template(request.transcripts)
    bundles = tuple(_sound(path) for path in request.bundles)
    with ExitStack() as stack:
        store = stack.enter_context(open_to_read(workspace, request.store))
        found = _rankings(request, workspace, store)
        # The page on methods lists the versions that graded, which a ranking does not need of every run.
        shown = _shown(found)
        read = {run.entry: run for run in store.sound([one.run for one in shown], store.with_manifest)}
        scored = tuple(replace(one, run=read.get(one.run.entry, one.run)) for one in shown)
        problems = ProblemsOfSite(store=store, data=request.data, domains=request.domains)
        answers = None
        if request.options.answers is not AnswerChoice.NONE:
            answers = stack.enter_context(StoredAnswers(store, workspace, request.transcripts))
            for run in scored:
                answers.add(run.run, run.score)
        data = SiteData(
            title=request.title,
            tables=_in_order(table for each in found for table in (each.ranking.main, *each.ranking.others)),
            runs=scored,
            problems=problems.of({each.ranking.request.benchmark: each.sources.scored for each in found}),
            answers=answers,
            left_out=tuple(_left_out(found)),
            benchmarks={each.ranking.request.benchmark: facts_of(each.ranking.request.benchmark) for each in found},
            bundles=bundles,
            generated=request.generated or _newest(found),
            version=__version__,
        )
        notes = (*_slips(request, store), *_damage(store), *problems.notes, *(answers.notes if answers else ()))
        return replace(build_site(data, request.out, request.options), notes=notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One ranking and the runs behind it."""

    ranking: Ranking
    sources: Sources


def _rankings(request: SiteRequest, workspace: Workspace, store: ResultStore) -> list[_Found]:
    there = dict.fromkeys(run.benchmark for run in store.runs())
    unknown = [name for name in request.benchmarks if name not in there]
    if unknown:
        raise UnknownNameError("benchmark with results in the store", unknown[0], there)
    found = []
    for name in request.benchmarks or sorted(there):
        wanted = RankRequest(
            benchmark=name,
            store=request.store,
            model_facts=request.model_facts,
            imports=request.imports,
            ties=request.ties,
            rounds=request.rounds,
            rating=request.rating,
        )
        sources = gather(wanted, store)
        for subset, variant in _parts(name, sources.runs):
            part = replace(wanted, subset=subset, variant=variant)
            found.append(_Found(ranking=rank_sources(part, sources), sources=sources))
    if not found:
        raise UsageError(
            f"There are no results in {request.store or workspace.results}; grade or run something first, or import "
            f"results with bw store import."
        )
    return found


def _parts(benchmark: str, runs: Sequence[StoredRun]) -> list[tuple[str, str]]:
    """Subsets and variants that have runs, in the benchmark's own order."""
    order: dict[str, int] = {}
    if benchmark in BENCHMARKS.names():
        known = BENCHMARKS.get(benchmark)
        order = {name: place for place, name in enumerate((*known.subsets, *known.variants))}
    parts = {(run.subset, run.variant) for run in runs}
    return sorted(parts, key=lambda part: [(order.get(name, len(order)), name) for name in part])


def _in_order(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Own results first, then imports with verdicts, then numbers without; of these the longest tables first."""

    def kind(table: Table) -> tuple[int, bool, int]:
        own = any(row.origin is Origin.OWN for row in table.rows)
        apart = bool(table.reason) and own
        return (0 if own else 1 if table.score else 2), apart, -len(table.rows)

    return tuple(sorted(tables, key=kind))


def _shown(found: Sequence[_Found]) -> tuple[ScoredRun, ...]:
    """The verdicts behind all tables."""
    wanted = {
        (entry, table.score)
        for each in found
        for table in (each.ranking.main, *each.ranking.others)
        for row in table.rows
        for entry in (row.entries or (row.entry,))
    }
    runs = {(one.run.entry, one.score): one for each in found for one in each.sources.scored}
    return tuple(run for key, run in runs.items() if key in wanted)


def _left_out(found: Sequence[_Found]) -> Iterator[LeftOut]:
    """Each run once, though several rankings were made of the same sources."""
    yield from dict.fromkeys(one for each in found for one in each.ranking.left_out)


def _newest(found: Sequence[_Found]) -> str:
    """When the newest run ended; where none says so, when the newest was recorded."""
    runs = [run for each in found for run in each.sources.runs]
    return max((run.finished for run in runs), default="") or max((run.recorded for run in runs), default="")


def _slips(request: SiteRequest, store: ResultStore) -> tuple[str, ...]:
    """A note on models in the user's file that no run of the whole store has."""
    if request.model_facts is None:
        return ()
    return read_model_facts(request.model_facts).slips(run.model for run in store.runs(superseded=True))


def _damage(store: ResultStore) -> list[str]:
    return [f"Not shown: {reason}" for _, reason in sorted(store.damaged.items())]


def _sound(path: Path) -> Bundle:
    """A bundle with what its checking found; raises `UsageError` when it is none, or is not sound."""
    if not path.is_file():
        raise UsageError(f"There is no bundle {path}; make one with bw store export.")
    report = verify(path)
    if not report.sound:
        more = len(report.findings) - 1
        others = f" (and {more} more finding{'' if more == 1 else 's'})" if more else ""
        raise UsageError(
            f"The bundle {path} is not sound and cannot be offered: {report.findings[0].text.rstrip('.')}{others}; see "
            f"bw verify {path}."
        )
    run = report.run
    return Bundle(
        path=path,
        model=str(run.get("model", "")),
        benchmark=", ".join(str(run[name]) for name in ("benchmark", "subset", "variant") if run.get(name)),
        signed=report.signed + ("; not everything that could change the score is shown" if report.open else ""),
    )
