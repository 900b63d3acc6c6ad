"""From a request (subset, version, file) to a problem set whose version is what its digest says."""

from collections.abc import Sequence
from pathlib import Path

from benchwright.benchmarks.base import ProblemSet, local_version
from benchwright.benchmarks.bigcodebench.pins import Pin, Pins, hard_ids, read_pins
from benchwright.benchmarks.bigcodebench.rows import RowFile, digest_of_problems, read_problems
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.problems import FunctionProblem

BENCHMARK_NAME = "bigcodebench"
SUBSETS = ("full", "hard")


def load(*, subset: str | None = None, version: str | None = None, path: Path | None = None) -> ProblemSet:
    """Load the problems of a subset, from a local file or from the hub.

    A local file is recognised by its digest; a version given with it is a claim, and a file known not to
    be that version is refused with `UsageError`.  A file that nothing is known of gets the version claimed,
    or ``local-`` and its digest, and is not ``pinned``.
    """
    subset = subset or SUBSETS[0]
    if subset not in SUBSETS:
        raise UnknownNameError("subset of bigcodebench", subset, SUBSETS)
    pins = read_pins()
    if version is not None:
        pins.check_version(version)
    if path is not None:
        return identify(read_problems(path), source=str(path), claimed=version, subset=subset, pins=pins)
    return _published(version or pins.default, subset=subset, pins=pins)


def _published(version: str, *, subset: str, pins: Pins) -> ProblemSet:
    published = pins.published(version, subset)
    source = published.source
    file = read_problems(published.fetch())
    pin = pins.of(version, subset)
    if pin is not None and pin.file is not None and pin.file != file.file_sha256:
        raise UsageError(f"{source} has SHA-256 {file.file_sha256}; expected {pin.file}.")
    expected = pins.repositories[subset].tasks
    if len(file.problems) != expected:
        raise UsageError(f"{source} holds {len(file.problems)} tasks; expected {expected}.")
    return identify(file, source=source, claimed=version, subset=subset, pins=pins)


def identify(file: RowFile, *, source: str, claimed: str | None, subset: str, pins: Pins) -> ProblemSet:
    """The problem set of a data file, after checking what is claimed of it against what is known."""
    digest = digest_of_problems(file.problems)
    pin = pins.recognise(rows=digest, file=file.file_sha256)
    if claimed is not None:
        _check_claim(claimed, pin=pin, digest=digest, file=file, source=source, pins=pins)
    if pin is not None and (pin.subset, subset) == ("hard", "full"):
        raise UsageError(
            f"{source} holds the {len(file.problems)} tasks of the hard subset of {pin.version}; "
            "say --subset hard, or give the full data file."
        )
    problems = _hard(file.problems, source) if subset == "hard" else file.problems
    return ProblemSet(
        benchmark=BENCHMARK_NAME,
        version=pin.version if pin else claimed or local_version(digest),
        subset=subset,
        digest=digest_of_problems(problems),
        source=source,
        pinned=pin is not None,
        problems=tuple(problems),
    )


def _check_claim(claimed: str, *, pin: Pin | None, digest: str, file: RowFile, source: str, pins: Pins) -> None:
    if pin is not None and pin.version != claimed:
        raise UsageError(f"{source} is version {pin.version} by its digest, not {claimed}.")
    if pin is not None:
        return
    rows = [known.rows for known in pins.known if known.version == claimed and known.rows]
    if rows:
        raise UsageError(
            f"{source} is not version {claimed}: the digest of its {len(file.problems)} rows is {digest}, "
            f"expected {' or '.join(rows)}; leave the version out to use it as local data."
        )


def _hard(problems: Sequence[FunctionProblem], source: str) -> tuple[FunctionProblem, ...]:
    wanted = frozenset(hard_ids())
    chosen = tuple(problem for problem in problems if problem.id in wanted)
    absent = sorted(wanted - {problem.id for problem in chosen})
    if absent:
        named = ", ".join(absent[:5])
        raise UsageError(
            f"{source} lacks {len(absent)} of the {len(wanted)} tasks of the hard subset ({named}"
            f"{', …' if len(absent) > 5 else ''})."
        )
    return chosen
