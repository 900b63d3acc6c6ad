"""Several models beside each other: every pair, or all against the first, with p-values adjusted for their number."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from benchwright.app.compare import Cluster, Comparison, compare_graded, p_text
from benchwright.app.graded import Graded, graded
from benchwright.app.recording import open_to_read
from benchwright.app.results import ANSWERS
from benchwright.app.samples import answers_in, same_answers
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score
from benchwright.stats.paired import holm
from benchwright.stats.power import SIGNIFICANCE
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore

__all__ = ["Against", "Cluster", "Comparisons", "compare_runs", "p_text"]


class Against(enum.StrEnum):
    """Which pairs of several models are compared."""

    ALL = "all"
    """Every pair."""
    FIRST = "first"
    """The first one with each of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """All comparisons of some runs, in the order in which they were named."""

    against: Against
    names: tuple[str, ...]
    """A label for each run, which no other has."""
    pairs: tuple[tuple[int, int], ...]
    """Positions of the two sides of each comparison."""
    comparisons: tuple[Comparison, ...]

    @property
    def shown(self) -> tuple[int, ...]:
        """Positions of the comparisons that show a difference also after adjustment."""
        return tuple(
            number
            for number, one in enumerate(self.comparisons)
            if one.shown and (one.adjusted_p if one.adjusted_p is not None else one.p_value) < SIGNIFICANCE
        )

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw compare --json``: of two runs the comparison itself, of several a list of them."""
        if len(self.comparisons) == 1:
            return self.comparisons[0].to_plain()
        first = self.comparisons[0]
        return {
            "benchmark": first.benchmark,
            "score": first.score.value,
            "against": self.against.value,
            "models": list(self.names),
            "comparisons": [
                {"a": self.names[a], "b": self.names[b], **one.to_plain()}
                for (a, b), one in zip(self.pairs, self.comparisons, strict=True)
            ],
            "shown": [[self.names[place] for place in self.pairs[number]] for number in self.shown],
            "adjusted_by": "holm",
        }


class _Answers:
    """The answers of runs, read where their files differ: the same ones may have come in different files."""

    def __init__(self, names: Sequence[str], sides: Sequence[Graded], store: ResultStore) -> None:
        self._names = names
        self._sides = sides
        self._store = store
        self._known: dict[int, Mapping[tuple[str, int], str]] = {}

    def alike(self, a: int, b: int) -> bool:
        """Whether two runs, by their positions, have the same answers in files that differ."""
        files = [self._sides[number].manifest.get(ANSWERS) for number in (a, b)]
        return files[0] != files[1] and same_answers(self._of(a), self._of(b))

    def _of(self, number: int) -> Mapping[tuple[str, int], str]:
        if number not in self._known:
            entry = self._sides[number].entry
            folder = ResultsFolder(Path(self._names[number]))
            self._known[number] = answers_in(partial(self._content, entry) if entry else folder.content)
        return self._known[number]

    def _content(self, entry: str, name: str) -> bytes | None:
        try:
            return self._store.read_file(entry, name)
        except UsageError:  # it has no such file, or a damaged one, which shows nothing
            return None


def compare_runs(
    names: Sequence[str],
    workspace: Workspace,
    *,
    score: Score | None = None,
    force: bool = False,
    cluster: Cluster | None = None,
    against: Against = Against.ALL,
    store: Path | None = None,
) -> Comparisons:
    """Compare runs by name: results folders, entries of the store, models.

    Every comparison is over the problems that its two sides have in common.  Raises `UsageError` for fewer than two,
    for a name that means no run or several, and for runs that may not be compared.
    """
    if len(names) < 2:
        raise UsageError(f"A comparison takes at least two runs, and {len(names)} was named.")
    with open_to_read(workspace, store) as opened:
        sides = graded(names, opened)
        pairs = [(0, other) for other in range(1, len(sides))] if against is Against.FIRST else []
        pairs = pairs or list(combinations(range(len(sides)), 2))
        answers = _Answers(names, sides, opened)
        found = [
            compare_graded(sides[a], sides[b], score, force=force, cluster=cluster, answers_alike=answers.alike(a, b))
            for a, b in pairs
        ]
    models = [side.model for side in sides]
    labels = tuple(
        model if models.count(model) == 1 else f"{model} [{side.entry[:8] or side.where}]"
        for model, side in zip(models, sides, strict=True)
    )
    if len(found) > 1:
        adjusted = holm([one.p_value for one in found])
        found = [replace(one, adjusted_p=p_value) for one, p_value in zip(found, adjusted, strict=True)]
    return Comparisons(against=against, names=labels, pairs=tuple(pairs), comparisons=tuple(found))
