"""What is known of published data without having it: how many problems it has, which, and their digest."""

from dataclasses import dataclass
from functools import cache

from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.bigcodebench import loading as bigcodebench
from benchwright.benchmarks.bigcodebench import pins as bigcodebench_pins
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.swebench import pins as swebench_pins
from benchwright.benchmarks.swebench import subsets as swebench_subsets
from benchwright.core.results import UNSTATED

_STARTER = "starter"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedData:
    """One subset of one version."""

    count: int | None
    """Number of problems; None where a subset's is not known."""
    ids: frozenset[str]
    """Their ids; empty where they are not known."""
    digest: str | None
    """Over the digests of their rows; None where that was never seen."""
    rows: ProblemSet | None = None
    """The problems themselves, where they come with the package."""


def published_data(benchmark: str, version: str, subset: str) -> PublishedData | None:
    """What is known of a version's subset; None where nothing is, as of data of one's own."""
    if benchmark == _STARTER:
        return _starter(version, subset)
    if benchmark == bigcodebench.BENCHMARK_NAME:
        return _bigcodebench(version, subset)
    return _swebench(benchmark, version, subset)


@cache
def size_of(benchmark: str, version: str, subset: str) -> int | None:
    """How many problems a subset has; None where that is not known, as of data of one's own.

    A source that does not say which version it used has used a published one, and these have equally many.
    """
    if version in ("", UNSTATED):
        if benchmark == bigcodebench.BENCHMARK_NAME and subset in bigcodebench.SUBSETS:
            return bigcodebench_pins.read_pins().repositories[subset].tasks
        return facts_of(benchmark).problems if subset == swebench_subsets.ALL else None
    known = published_data(benchmark, version, subset)
    return None if known is None else known.count


def _starter(version: str, subset: str) -> PublishedData | None:
    starter = BENCHMARKS.get(_STARTER)
    if version not in starter.versions or subset not in starter.subsets:
        return None
    rows = starter.load()
    return PublishedData(count=len(rows.problems), ids=frozenset(rows.by_id), digest=rows.digest, rows=rows)


def _bigcodebench(version: str, subset: str) -> PublishedData | None:
    pins = bigcodebench_pins.read_pins()
    if version not in pins.versions or subset not in bigcodebench.SUBSETS:
        return None
    pin = pins.of(version, subset)
    ids = frozenset(bigcodebench_pins.hard_ids()) if subset == "hard" else frozenset()
    return PublishedData(count=pins.repositories[subset].tasks, ids=ids, digest=pin.rows if pin else None)


def _swebench(benchmark: str, version: str, subset: str) -> PublishedData | None:
    for pin in swebench_pins.read_pins().known:
        if (pin.benchmark, pin.version) == (benchmark, version):
            whole = subset == swebench_subsets.ALL
            return PublishedData(count=pin.rows if whole else None, ids=frozenset(), digest=None)
    return None
