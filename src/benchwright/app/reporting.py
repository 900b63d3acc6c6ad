"""Everything that a set of runs says: behind ``bw report``."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.app.compare import p_text
from benchwright.app.exclusion_sets import exclusion_sets
from benchwright.app.named_runs import every_run
from benchwright.app.recording import open_to_read
from benchwright.app.report_facts import dataset_facts, read_domains, with_domains
from benchwright.app.report_models import ModelReport, ModelRuns, needed_between, numbered, report_model
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.facts import facts_of
from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.ordering import natural
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.breakdowns import IN_THEIR_ORDER
from benchwright.leaderboard.contenders import asked, labels_of
from benchwright.leaderboard.policy import Conditions, Imports, Policy, arrange
from benchwright.stats.breakdown import GroupEstimate
from benchwright.stats.gaps import Gap, gap
from benchwright.stats.intervals import SEED
from benchwright.stats.items import FEWEST_MODELS, RULES, Item, Items, items
from benchwright.stats.repeats import RunsNeeded
from benchwright.stats.sensitivity import Exclusion, sensitivity
from benchwright.store.first_hand import first_hand_first
from benchwright.store.folder import PLANS
from benchwright.store.results import ResultStore

__all__ = [
    "FEWEST_MODELS",
    "IN_THEIR_ORDER",
    "GroupEstimate",
    "Item",
    "ModelReport",
    "Report",
    "ReportRequest",
    "p_text",
    "report",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """On what to report."""

    runs: tuple[str, ...]
    """Results folders, entries of the store, or models."""
    score: Score | None = None
    """The score that counts; None for the last of each run."""
    dataset: Path | None = None
    """File with the benchmark's rows, for results that do not say what their problems are about."""
    domains: Path | None = None
    """JSON file of domains by library, or by problem."""
    store: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What several models say of the problems, and of each other."""

    labels: tuple[str, ...]
    """The models whose runs may be compared, on the problems that all of them have; the best first."""
    problems: tuple[str, ...]
    items: Items | None
    """None for a single model."""
    exclusions: tuple[Exclusion, ...]
    """Scores without the problems of each list; the first one leaves out nothing."""
    gap: Gap | None
    """Best open model beside the best closed one; None unless models of both kinds are known."""
    open_best: str = ""
    closed_best: str = ""
    repeated: tuple[str, ...] = ()
    """The best two models that were run several times; empty where there are no two."""
    needed: RunsNeeded | None = None
    """How many runs of each of these two show a difference between them, on these problems and on others like them."""
    apart: tuple[str, ...] = ()
    """Models that may not be compared with these, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything."""

    benchmark: str
    facts: BenchmarkFacts
    models: tuple[ModelReport, ...]
    together: Together
    notes: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw report --json``."""
        together, found = self.together, self.together.items
        return {
            "benchmark": self.benchmark,
            "human": self.facts.human and dataclasses.asdict(self.facts.human),
            "task_errors": self.facts.task_errors and dataclasses.asdict(self.facts.task_errors),
            "models": [model.to_plain() for model in self.models],
            "compared": list(together.labels),
            "compared_problems": len(together.problems),
            "apart": list(together.apart),
            "exclusions": [dataclasses.asdict(one) for one in together.exclusions],
            "items": None if found is None else {**dataclasses.asdict(found), "rules": RULES},
            "open_closed_gap": None if together.gap is None else self._gap(together.gap),
            "runs_needed": together.needed
            and {"models": list(together.repeated), **dataclasses.asdict(together.needed)},
            "notes": list(self.notes),
        }

    def _gap(self, found: Gap) -> dict[str, Any]:
        return {
            "best_open": self.together.open_best,
            "best_closed": self.together.closed_best,
            "difference": found.paired.difference,
            "low": found.paired.low,
            "high": found.paired.high,
            "p_value": found.paired.p_value,
            "n": found.paired.n,
            "open_ahead": found.a_ahead,
            "mean_difference": found.mean_difference,
        }


def report(request: ReportRequest, workspace: Workspace) -> Report:
    """Report on runs of one benchmark; nothing is executed.

    Raises `UsageError` for a name that means no run, runs of several benchmarks, and runs without verdicts.
    """
    with open_to_read(workspace, request.store) as store:
        named = every_run(request.runs, store)
        runs = [run for run in named if not run.reported_only] or named
        _refuse_unfit(runs)
        scored = store.scored(runs, request.score)
        given = dataset_facts(runs[0].benchmark, request.dataset)
        domains = read_domains(request.domains)
        models = [_read(together, label, store, given, domains) for label, together in _by_model(scored).items()]
        together = _together(models, workspace)
    return Report(
        benchmark=runs[0].benchmark,
        facts=facts_of(runs[0].benchmark),
        models=tuple(report_model(one) for one in models),
        together=together,
        notes=tuple(_notes(models, len(named) - len(runs))),
    )


def _refuse_unfit(runs: Sequence[StoredRun]) -> None:
    if not runs:
        raise UsageError("There is nothing to report on; name results folders, entries of the store, or models.")
    benchmarks = sorted({run.benchmark for run in runs})
    if len(benchmarks) > 1:
        raise UsageError(f"These are results of {' and '.join(benchmarks)}; report on one benchmark at a time.")
    bare = [run for run in runs if run.reported_only]
    if bare:
        raise UsageError(
            f"Of {bare[0].model} ({bare[0].entry[:12]}) only numbers of its source are known, no verdicts; `bw results "
            f"show` prints them, `bw rank` lists them."
        )


def _by_model(scored: Sequence[ScoredRun]) -> dict[str, list[ScoredRun]]:
    """Runs of one model under equal conditions together, as repeats; a label for each that no other has."""
    apart: dict[tuple[str, Conditions, str], list[ScoredRun]] = {}
    for one in scored:
        apart.setdefault((one.run.model, Conditions.of(one), asked(one.run)), []).append(one)
    together = list(apart.values())
    return dict(zip(labels_of([[one.run for one in runs] for runs in together], counted=False), together, strict=True))


def _read(
    scored: Sequence[ScoredRun],
    label: str,
    store: ResultStore,
    given: Mapping[str, ProblemFacts],
    domains: Mapping[str, tuple[str, ...]],
) -> ModelRuns:
    runs = first_hand_first(one.run for one in scored)
    facts = next((found for run in runs if (found := store.problem_facts(run.entry))), {})
    names = [_given_names(one.run, store) for one in scored]
    return ModelRuns(
        label=label,
        scored=tuple(scored),
        rows=numbered([list(store.rows(one.run.entry)) for one in scored]),
        facts=with_domains({**facts, **given}, domains, scored[-1].tallies),
        given_names=next((one for one in names if one), None),
    )


def _given_names(run: StoredRun, store: ResultStore) -> dict[str, frozenset[str]] | None:
    """The names that each problem's stub gives, as the grading wrote them down; None when it did not."""
    if PLANS not in run.files and run.files:
        return None
    try:
        plans = json.loads(store.read_file(run.entry, PLANS))
    except UnknownNameError:  # a folder that was lent to the store lists no files; what it lacks is not damage
        return None
    if not all("given" in entry for entry in plans.values()):
        return None
    return {problem: frozenset(entry["given"]) for problem, entry in plans.items()}


def _together(models: Sequence[ModelRuns], workspace: Workspace) -> Together:
    """What follows from all models that may be compared, each pooled over its runs."""
    pooled = {one.scored[-1].run.entry: one for one in models}
    main, *others = arrange([one.scored[-1] for one in models], Policy(imports=Imports.WITH, common=True))
    compared = [pooled[one.run.entry] for one in main.runs]
    everywhere = (one for one in main.problems if all(one in run.tallies for each in compared for run in each.scored))
    problems = sorted(everywhere, key=natural)
    shares = np.array([[_share(one, problem) for problem in problems] for one in compared], dtype=np.float64)
    shares = shares.reshape(len(compared), len(problems))
    best_first = sorted(range(len(compared)), key=lambda one: (-np.nansum(shares[one]), compared[one].label))
    compared, shares = [compared[one] for one in best_first], shares[best_first]
    lists = exclusion_sets([run.run for one in models for run in one.scored], problems, workspace)
    found = _open_closed(compared, shares)
    repeated = [one for one in compared if len(one.scored) > 1][:2]
    needed = needed_between(repeated[0].scored, repeated[1].scored, problems) if len(repeated) == 2 else None
    return Together(
        labels=tuple(one.label for one in compared),
        problems=tuple(problems),
        items=items(shares, problems) if len(compared) > 1 and problems else None,
        exclusions=tuple(sensitivity(shares, problems, lists)) if lists else (),
        gap=found and found[0],
        open_best=found[1] if found else "",
        closed_best=found[2] if found else "",
        repeated=tuple(one.label for one in repeated) if needed else (),
        needed=needed,
        apart=tuple(f"{pooled[one.run.entry].label}: {group.reason}" for group in others for one in group.runs),
    )


def _share(one: ModelRuns, problem: str) -> float:
    tallies = [run.tallies[problem] for run in one.scored]
    scored = sum(tally.scored for tally in tallies)
    return sum(tally.passed for tally in tallies) / scored if scored else np.nan


def _open_closed(models: Sequence[ModelRuns], shares: npt.NDArray[np.float64]) -> tuple[Gap, str, str] | None:
    """The gap between models of open and closed weights, and who is the best of each; None without both kinds."""
    opened, closed = (
        [index for index, one in enumerate(models) if one.last.facts.open_weights is kind] for kind in (True, False)
    )
    common = ~np.isnan(shares[opened + closed]).any(axis=0)
    if not opened or not closed or not common.any():
        return None
    found = gap(shares[opened], shares[closed], rng=np.random.default_rng(SEED))
    return found, models[opened[found.best_a]].label, models[closed[found.best_b]].label


def _notes(models: Sequence[ModelRuns], without_verdicts: int) -> list[str]:
    notes = []
    if without_verdicts:
        notes.append(f"{without_verdicts} entries state numbers of their source only and are left out; see `bw rank`.")
    unknown = [one.label for one in models if len(one.scored) > 1 and not one.last.manifest.get("template_digest")]
    if unknown:
        notes.append(
            f"The runs of {', '.join(unknown)} are taken as repeats because they were named together; how the model "
            f"was asked is not recorded."
        )
    bare = [one.label for one in models if not one.facts]
    if bare:
        notes.append(
            f"Nothing is known of the problems behind {len(bare)} of {len(models)} models, so there is no breakdown; "
            f"give the benchmark's rows with --dataset."
        )
    return notes
