"""One side of a comparison: what was graded, and its rows, out of a results folder or the store."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.stored_results import choose, is_folder
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import Evaluation
from benchwright.core.results import ProblemFacts, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.store.first_hand import is_first_hand
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore

_INSTANCE = re.compile(r"(.+?)__(.+)-\d+")
"""How SWE-bench names instances: owner and name of the repository, then the number of the pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRows:
    """The rows of one side under one score."""

    problems: Mapping[str, None]
    """All of them, in file order."""
    shares: Mapping[str, float]
    """Share of passing samples among the scored ones, by problem; problems with faults only are not in it."""
    samples: Mapping[str, int]
    """Scored samples by problem."""
    faults: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One graded run, as far as comparisons need it."""

    where: str
    """What messages call it: a folder's path, or an entry."""
    entry: str
    """Its name in the store; empty for a folder."""
    manifest: Mapping[str, Any]
    """Of an import, what the store knows in its place."""
    scores: tuple[Score, ...]
    rows: Callable[[], Iterable[ResultRow]]
    facts: Callable[[], Mapping[str, ProblemFacts]]
    source: str = ""
    """Where it was imported from; empty for own results."""
    first_hand: bool = True
    """Whether it was graded here, as far as can be told; see `is_first_hand`."""

    @classmethod
    def of_folder(cls, path: Path) -> "Graded":
        """A finished grading in a folder; raises `UsageError` for any other."""
        folder = ResultsFolder(path)
        manifest = folder.finished_manifest()
        return cls(
            where=str(path),
            entry="",
            manifest=manifest,
            scores=tuple(Score(name) for name in manifest["scores"]),
            rows=folder.rows,
            facts=folder.problem_facts,
        )

    @classmethod
    def of_run(cls, run: StoredRun, store: ResultStore) -> "Graded":
        """A run of a store, which must stay open; raises `UsageError` for one without verdicts."""
        if run.reported_only:
            raise UsageError(
                f"Of {run.model} ({run.entry[:12]}) only numbers of its source are known, no verdicts; it cannot be "
                f"compared problem by problem."
            )
        known = {
            "benchmark": run.benchmark,
            "version": run.version,
            "data_digest": run.data_digest,
            "subset": run.subset,
            "variant": run.variant,
            "model": run.model,
            "flags": list(run.flags),
            "evaluation": run.evaluation,
        }
        return cls(
            where=f"{run.model} ({run.entry[:12]})",
            entry=run.entry,
            manifest={**run.manifest, **known},
            scores=run.scores,
            rows=lambda: store.rows(run.entry),
            facts=lambda: store.problem_facts(run.entry),
            source="" if run.source is None else run.source.title,
            first_hand=is_first_hand(run),
        )

    @property
    def model(self) -> str:
        """Whose answers they are."""
        return str(self.manifest.get("model") or "unnamed")

    @property
    def evaluation(self) -> Evaluation | None:
        """How an agent's result came about; None for others.  Raises `UsageError` when it cannot be read."""
        data = self.manifest.get("evaluation")
        try:
            return None if data is None else Evaluation.from_plain(data)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"What {self.where} says of its evaluation cannot be read ({error}); compare it with the version of "
                f"benchwright that made it."
            ) from error

    def under(self, score: Score) -> GradedRows:
        """The rows of a score."""
        rows = [row for row in self.rows() if row.score is score]
        scored: dict[str, list[bool]] = {}
        for row in rows:
            if row.verdict.scored:
                scored.setdefault(row.problem_id, []).append(row.verdict.outcome is Outcome.PASSED)
        return GradedRows(
            problems=dict.fromkeys(row.problem_id for row in rows),
            shares={problem: sum(passes) / len(passes) for problem, passes in scored.items()},
            samples={problem: len(passes) for problem, passes in scored.items()},
            faults=tuple(
                f"{row.problem_id}#{row.sample}: {row.verdict.detail}" for row in rows if not row.verdict.scored
            ),
            missing=tuple(row.problem_id for row in rows if row.verdict.reason is Reason.MISSING),
        )


def graded(names: Sequence[str], store: ResultStore) -> list[Graded]:
    """The sides that names mean: results folders, entries of the store, models.

    Raises `UsageError` for a name that means nothing or several runs, and a folder that holds no finished grading.
    """
    return [
        Graded.of_folder(Path(name)) if is_folder(name) else Graded.of_run(choose([name], store)[0], store)
        for name in names
    ]


def repositories_of(problems: Sequence[str], sides: Sequence[Graded]) -> list[str]:
    """The repository of each problem, as a side knows it (own results first) or as SWE-bench's ids name it.

    Raises `UsageError` when one has none, or all have the same: then there is nothing to resample.
    """
    facts: dict[str, ProblemFacts] = {}
    for side in sorted(sides, key=lambda side: side.first_hand):  # the last one is believed
        facts |= side.facts()
    labels = []
    for problem in problems:
        named = _INSTANCE.fullmatch(problem)
        label = (facts[problem].repository if problem in facts else "") or (named.expand(r"\1/\2") if named else "")
        if not label:
            raise UsageError(f"No repository is known of {problem}; leave --cluster out.")
        labels.append(label)
    if len(set(labels)) == 1:
        raise UsageError(f"All {len(labels)} problems are of the repository {labels[0]}; leave --cluster out.")
    return labels
