"""Who stands in a row: one run, or several runs of one model that were asked the same way, pooled."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.results import HANDED_OVER, Origin, ScoredRun, StoredRun, Tally
from benchwright.leaderboard.titles import numbered
from benchwright.store.index import TAKEN_IN

_ASKED = (
    "model",
    "model_args",
    "mode",
    "prefill",
    "template_digest",
    "generation",
    "temperature",
    "reply_tokens",
    "tools",
    "scaffold",
    "scaffold_options",
    "environment",
)
"""What a manifest says of how a model was asked.  A grading of a file of answers says none of it."""


_OTHERS = HANDED_OVER | {TAKEN_IN}
"""Flags of runs that somebody else may have graded: they are nobody's repeats."""
_DIGITS = 8
"""Of an entry's id in a label; more where these do not tell rows apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """What one row of a table is made of."""

    label: str
    """A name that no other contender has."""
    runs: tuple[StoredRun, ...]
    tallies: Mapping[str, Tally]
    """By problem of the table, over all runs."""
    scores: tuple[float, ...]
    """Pass@1 of each run on the table's problems; of a run all of whose samples are faults there is none."""

    @property
    def last(self) -> StoredRun:
        """The run that names the row."""
        return self.runs[-1]

    @property
    def spread(self) -> float | None:
        """Standard deviation between the runs' scores; None below two."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else None


def contenders(runs: Sequence[ScoredRun], problems: Sequence[str]) -> list[Contender]:
    """One contender for each run, or for all runs of a model that are known to have been asked in the same way.

    Only own runs with a manifest that says how the model was asked are pooled: sample by sample, as if one run had
    asked more often.  Whatever else shares a name stays apart, told from the others by its entry.
    """
    pooled: dict[str, list[ScoredRun]] = {}
    for scored in sorted(runs, key=lambda one: (one.run.recorded, one.run.entry)):
        pooled.setdefault(asked(scored.run) or scored.run.entry, []).append(scored)
    labels = labels_of([[scored.run for scored in together] for together in pooled.values()])
    return [_contender(together, problems, label) for together, label in zip(pooled.values(), labels, strict=True)]


def labels_of(rows: Sequence[Sequence[StoredRun]], *, counted: bool = True) -> list[str]:
    """A different name for each row: the model's, with digits of the entry where others have it too.

    A model may be called what another one's label would be; then more digits are taken.

    Args:
        rows: The runs behind each row, the last one last.
        counted: Whether the name of several runs says how many they are.
    """
    names = Counter(runs[0].model for runs in rows)
    for digits in range(_DIGITS, 64 + _DIGITS, _DIGITS):
        labels = [_label(runs, names, digits, counted=counted) for runs in rows]
        counts = Counter(labels)
        if len(counts) == len(labels):
            return labels
        names.update(runs[-1].model for runs, label in zip(rows, labels, strict=True) if counts[label] > 1)
    return numbered(labels)


def _label(runs: Sequence[StoredRun], names: Mapping[str, int], digits: int, *, counted: bool) -> str:
    label = runs[-1].model
    if names[label] > 1:
        label += f" [{runs[-1].entry[:digits]}]"
    return f"{label} ({len(runs)} runs)" if counted and len(runs) > 1 else label


def _contender(together: Sequence[ScoredRun], problems: Sequence[str], label: str) -> Contender:
    runs = tuple(scored.run for scored in together)
    means = [mean for scored in together if (mean := _mean(scored.tallies, problems)) is not None]
    return Contender(
        label=label,
        runs=runs,
        tallies=_pooled([scored.tallies for scored in together], problems),
        scores=tuple(means),
    )


def _pooled(tallies: Sequence[Mapping[str, Tally]], problems: Sequence[str]) -> dict[str, Tally]:
    if len(tallies) == 1:
        return {problem: tallies[0][problem] for problem in problems}
    return {problem: _sum([one[problem] for one in tallies]) for problem in problems}


def _sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(
        scored=sum(one.scored for one in tallies),
        passed=sum(one.passed for one in tallies),
        faults=sum(one.faults for one in tallies),
        missing=sum(one.missing for one in tallies),
    )


def _mean(tallies: Mapping[str, Tally], problems: Sequence[str]) -> float | None:
    shares = [share for problem in problems if (share := tallies[problem].share) is not None]
    return statistics.fmean(shares) if shares else None


def asked(run: StoredRun) -> str:
    """A digest of how the model was asked; empty when that is not known, or somebody else says it."""
    known: dict[str, Any] = {name: run.manifest[name] for name in _ASKED if name in run.manifest}
    if run.origin is not Origin.OWN or _OTHERS.intersection(run.flags) or "template_digest" not in known:
        return ""
    return digest_of(known)
