"""Whether a bundle is of the data that it says: of all its problems, and of their rows where those are at hand."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from benchwright.app.evidence import of_repositories
from benchwright.app.verification import Check, Finding, Unpacked
from benchwright.benchmarks.base import LOCAL, Benchmark, ProblemSet
from benchwright.benchmarks.published import PublishedData, published_data
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, RepositorySet
from benchwright.benchmarks.swebench.loading import SUBSETS
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.verdicts import Reason

_GIVE = "give the file of its rows with --dataset"


class _Named(Protocol):
    @property
    def digest(self) -> str: ...


def rows_at_hand(manifest: Mapping[str, Any], dataset: Path | None) -> ProblemSet | RepositorySet | None:
    """The benchmark's rows: those of the file that was given, or those that come with the package; None without.

    Raises `UsageError` for a file that cannot be read, or that holds no such rows.
    """
    name, subset = str(manifest["benchmark"]), str(manifest["subset"])
    if dataset is None:
        published = published_data(name, str(manifest["version"]), subset)
        return None if published is None or of_repositories(manifest) else published.rows
    try:
        if of_repositories(manifest):  # other names of subsets are names of files, and this one comes out of a bundle
            known = subset if subset in SUBSETS else None
            return REPOSITORY_BENCHMARKS.get(name).load(path=dataset, subset=known)
        benchmark: Benchmark = BENCHMARKS.get(name)
        return benchmark.load(path=dataset, subset=subset if subset in benchmark.subsets else None)
    except UnknownNameError as error:
        raise UsageError(f"The data that was given cannot be compared: {error}") from error


def check_data(given: Unpacked, digests: Mapping[str, str]) -> Iterator[Finding]:
    """The problems are those of the data that the manifest names, none left out.

    Args:
        given: The bundle.
        digests: Digest of each problem's row, as the bundle has it.
    """
    manifest = given.manifest
    chosen = manifest.get("ids")
    if chosen is not None:
        given.tally.notes.append(f"{len(digests)} chosen problems were graded, not the whole of the data.")
        if sorted(map(str, chosen)) != sorted(digests):
            yield _problems(f"The manifest names {len(chosen)} chosen problems, which are not the {len(digests)} here.")
    elif digest_of([digests[problem] for problem in sorted(digests)]) != manifest["data_digest"]:
        yield _problems(f"The {len(digests)} problems are not those that the data's digest is over.")
    published = published_data(str(manifest["benchmark"]), str(manifest["version"]), str(manifest["subset"]))
    if published is not None:
        yield from _contradictions(given, published, digests)
    elif manifest.get("data_pinned") is True:
        yield _problems(f"The manifest says that {manifest['version']!s:.60} is published data, and it is not known.")
    _say_what_samples_are_open(given)
    if given.at_hand is not None:
        if given.at_hand.pinned and given.at_hand.version != manifest["version"]:
            text = f"{given.rows_name} is {given.at_hand.version}, the bundle says {manifest['version']!s:.60}."
            yield Finding(check=Check.DATA, text=text)
        yield from _compared(given, given.at_hand.by_id, digests)
    else:
        _say_what_is_open(given, published)


def _problems(text: str) -> Finding:
    return Finding(check=Check.PROBLEMS, text=text)


def _contradictions(given: Unpacked, known: PublishedData, digests: Mapping[str, str]) -> Iterator[Finding]:
    manifest = given.manifest
    what = f"{manifest['benchmark']} {manifest['version']} ({manifest['subset']})"
    if known.digest is not None and manifest["data_digest"] != known.digest:
        yield _problems(
            f"The data is not {what}: its digest is {str(manifest['data_digest'])[:12]}, expected {known.digest[:12]}."
        )
    if manifest.get("ids") is None and known.count is not None and len(digests) != known.count:
        yield _problems(f"{what} has {known.count} problems, the bundle {len(digests)}, and does not say which part.")
    strangers = sorted(digests.keys() - known.ids) if known.ids else []
    if strangers:
        yield _problems(f"{strangers[0]} is no problem of {what}.")


def _compared(given: Unpacked, rows: Mapping[str, _Named], digests: Mapping[str, str]) -> Iterator[Finding]:
    """Each problem is the one that the rows have, and where not a part was asked, all of them were graded."""
    for problem_id, digest in digests.items():
        if problem_id not in rows or rows[problem_id].digest != digest:
            text = f"{problem_id} in {given.rows_name} is not the problem that was graded."
            yield Finding(check=Check.DATA, text=text)
    if given.manifest.get("ids") is not None:
        return
    subset = str(given.manifest["subset"])
    if of_repositories(given.manifest) and subset not in SUBSETS:
        given.tally.open.append(f"which problems the subset {subset[:60]} has: it is a file that is not in the bundle")
        return
    left_out = sorted(rows.keys() - digests.keys())
    if left_out:
        text = f"{len(left_out)} problems of {given.rows_name} were left out, such as {left_out[0]}."
        yield Finding(check=Check.DATA, text=text)


def _say_what_samples_are_open(given: Unpacked) -> None:
    """Where problems have samples in different numbers, some may have been left out because of what they came to."""
    samples: dict[str, set[int]] = defaultdict(set)
    for row in given.rows:
        if row.verdict.reason is not Reason.MISSING:
            samples[row.problem_id].add(row.sample)
    counts = {len(numbers) for numbers in samples.values()}
    if len(counts) > 1 or any(numbers != set(range(len(numbers))) for numbers in samples.values()):
        given.tally.open.append(
            f"that no samples were left out: problems have from {min(counts)} to {max(counts)}, or not all numbers"
        )


def _say_what_is_open(given: Unpacked, published: PublishedData | None) -> None:
    manifest, tally = given.manifest, given.tally
    version = f"{manifest['benchmark']} {manifest['version']}"
    if published is None:
        why = "it is data of somebody's own" if str(manifest["version"]).startswith(LOCAL) else "no such data is known"
        tally.open.append(f"that these are the problems of {version}: {why}; {_GIVE}")
    elif published.digest is None or manifest.get("ids") is not None:
        tally.open.append(f"that these are the problems of {version}: their digests are not known here; {_GIVE}")
    else:
        tally.notes.append(
            f"These are the problems of {version}, by their digest. That the tests are theirs is the bundle's word; "
            f"{_GIVE} to compare them."
        )
