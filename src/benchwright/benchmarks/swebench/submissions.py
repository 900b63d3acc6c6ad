"""Lists of what public submissions resolved: ``{instance: [submissions]}``, joined from several splits.

Such a file says who resolved an instance, not who tried.  Where splits overlap it may list a submission more than
once for an instance.  Two things are read from that, and both are guesses that a reader is told of:

1.  The *overlap*: instances that belong to the benchmark and to another split of the file.  A submission that was
    made for both is listed more often there than on the benchmark's other instances, which are the most.
2.  *Apparently partial* submissions, made for another split alone: listed once each, with something resolved outside
    the benchmark, and with nearly all that they resolved inside it in the overlap.  What those resolved belongs to
    the overlap, too.
"""

import enum
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.documents import read_document
from benchwright.benchmarks.foreign import name_of
from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.repositories import named_few
from benchwright.core.errors import UsageError
from benchwright.core.ordering import natural

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_FORM = "an object of lists: for each instance the submissions that resolved it"
_MAX_BYTES = 64 * 1024 * 1024
#: Submissions times instances that are taken: each becomes a value in memory.  The public lists have 50,000.
_MAX_CELLS = 10_000_000
#: Share of what a submission resolved in the benchmark that must be in the overlap for it to look partial.  In the
#: public lists (99 submissions, Verified and Lite) it is 0.93 or more for those made for Lite, at most 0.30 for others.
_NEARLY_ALL = 0.8


class Attempted(enum.StrEnum):
    """Which instances an apparently partial submission is taken to have tried."""

    ALL = "all"
    """All of them: what is not listed counts as not resolved."""
    OVERLAP = "overlap"
    """Those of the overlap; the others were not played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Who resolved which instance of a benchmark."""

    path: Path
    sha256: str
    problem_ids: tuple[str, ...]
    """The benchmark's instances, in natural order."""
    solved: Mapping[str, frozenset[str]]
    """Instances of the benchmark by submission, every submission of the file, sorted by name."""
    ids_from_file: bool
    """Whether the instances are simply all that the file names, since nobody said which are the benchmark's."""
    repeated: int
    """Listings of a submission beyond its first for the same instance; counted once."""
    unnamed: tuple[str, ...]
    """Instances of the benchmark that the file does not name; they count as resolved by nobody."""
    elsewhere: int
    """Instances of the file that are not the benchmark's."""
    overlap: frozenset[str]
    """Instances of the benchmark that apparently belong to another split of the file as well."""
    partial: frozenset[str]
    """Submissions that were apparently made for another split alone."""

    def played(self, submission: str, attempted: Attempted) -> tuple[str, ...]:
        """The instances that a submission is taken to have tried."""
        if attempted is Attempted.ALL or submission not in self.partial:
            return self.problem_ids
        known = self.overlap | self.solved[submission]
        return tuple(problem_id for problem_id in self.problem_ids if problem_id in known)

    def notes(self, attempted: Attempted = Attempted.ALL) -> tuple[str, ...]:
        """What a reader of the numbers must know, one sentence each."""
        return tuple(self._notes(attempted))

    def _notes(self, attempted: Attempted) -> Iterable[str]:
        yield (
            "The source lists what each submission resolved, not what it tried: an instance that is not listed counts "
            "as not resolved."
        )
        if self.repeated:
            yield f"Listings that repeat a submission for the same instance, counted once: {self.repeated:,}."
        if self.unnamed:
            yield (
                f"Instances that are not in {self.path.name} and count as resolved by nobody: {len(self.unnamed)} of "
                f"{len(self.problem_ids)} ({named_few(self.unnamed)})."
            )
        if self.elsewhere:
            yield f"Instances of {self.path.name} that are not the benchmark's and are left out: {self.elsewhere}."
        if self.partial:
            treated = (
                "unlisted instances count as not resolved"
                if attempted is Attempted.ALL
                else f"they are judged on the {len(self.overlap)} instances of that overlap that somebody resolved"
            )
            yield (
                f"Submissions apparently made for another split, for nearly all they resolved here lies where the "
                f"splits overlap (flag partial?): {len(self.partial)} of {len(self.solved)}; {treated}."
            )


def read_resolved(path: Path, problem_ids: Sequence[str] | None = None) -> Resolved:
    """Read a list of what submissions resolved, for the instances of a benchmark.

    Args:
        path: JSON, gzip or not: an object of lists of submissions by instance.
        problem_ids: The benchmark's instances; without them, all that the file names.

    Raises:
        UsageError: The file has another form, or it names none of the benchmark's instances.
    """
    document = read_document(path, most=_MAX_BYTES)
    listed = _listed(document.value, path)
    wanted = listed.keys() if problem_ids is None else set(problem_ids)
    ids = tuple(sorted(wanted, key=natural))
    if not wanted & listed.keys():
        raise UsageError(
            f"{path} names none of the benchmark's {len(ids)} instances ({named_few(ids)}), but {len(listed)} others "
            f"({named_few(sorted(listed, key=natural))}); give the data that the list is about."
        )
    submissions = _by_submission(listed, wanted)
    if len(submissions) * len(ids) > _MAX_CELLS:
        raise UsageError(
            f"{path} has {len(submissions):,} submissions for {len(ids):,} instances; at most {_MAX_CELLS:,} results "
            "are read at once."
        )
    guessed = _guess(submissions)
    return Resolved(
        path=path,
        sha256=document.sha256,
        problem_ids=ids,
        solved={name: frozenset(listings.inside) for name, listings in submissions.items()},
        ids_from_file=problem_ids is None,
        repeated=sum(times - 1 for counts in listed.values() for times in counts.values()),
        unnamed=tuple(problem_id for problem_id in ids if problem_id not in listed),
        elsewhere=len(listed.keys() - wanted),
        overlap=guessed.overlap,
        partial=guessed.partial,
    )


class _Listings(NamedTuple):
    """How often one submission is listed, by instance."""

    inside: Mapping[str, int]
    """Instances of the benchmark."""
    outside: int
    """Number of other instances that it resolved."""


class _Guessed(NamedTuple):
    overlap: frozenset[str]
    partial: frozenset[str]


def _guess(submissions: Mapping[str, _Listings]) -> _Guessed:
    """See the module's docstring."""
    overlap: set[str] = set()
    for inside, outside in submissions.values():
        most = max(inside.values(), default=0)
        often = {problem_id for problem_id, times in inside.items() if times == most}
        if outside and 2 * len(often) <= len(inside):
            overlap |= often
    partial = {
        name
        for name, (inside, outside) in submissions.items()
        if outside
        and max(inside.values(), default=1) == 1
        and len(inside.keys() & overlap) >= _NEARLY_ALL * len(inside)
    }
    for name in partial:
        overlap.update(submissions[name].inside)
    return _Guessed(frozenset(overlap), frozenset(partial))


def _by_submission(listed: Mapping[str, Counter[str]], wanted: Iterable[str]) -> dict[str, _Listings]:
    wanted = frozenset(wanted)
    inside: dict[str, dict[str, int]] = {}
    outside: Counter[str] = Counter()
    for problem_id, counts in listed.items():
        if problem_id in wanted:
            for name, times in counts.items():
                inside.setdefault(name, {})[problem_id] = times
        else:
            outside.update(counts.keys())
    names = sorted({*inside, *outside})
    return {name: _Listings(inside.get(name, {}), outside[name]) for name in names}


def _listed(document: Any, path: Path) -> dict[str, Counter[str]]:
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds {type_name(document)}; expected {_FORM}.")
    if not document:
        raise UsageError(f"{path} names no instance; expected {_FORM}.")
    listed: dict[str, Counter[str]] = {}
    known: set[str] = set()
    for problem_id, names in document.items():
        if not _ID.fullmatch(problem_id):
            raise UsageError(f"{path}: {problem_id!r:.80} is no instance id; expected {_FORM}.")
        if not isinstance(names, list):
            raise UsageError(f"{path}: {problem_id} has {type_name(names)}; expected {_FORM}.")
        for name in names:
            if not isinstance(name, str) or name not in known:
                known.add(name_of(name, f"{path}, {problem_id}", "a submission"))
        listed[problem_id] = Counter(names)
    return listed
