"""SWE-bench's data sets, and any file in their row format, as `RepositoryBenchmark` values."""

from dataclasses import dataclass
from pathlib import Path

from benchwright.benchmarks.repositories import PatchFile, RepositoryBenchmark, RepositorySet
from benchwright.benchmarks.swebench import loading, predictions
from benchwright.benchmarks.swebench.pins import read_pins


@dataclass(frozen=True, slots=True, kw_only=True)
class SweBench:
    """One data set in SWE-bench's row format."""

    name: str
    title: str
    subsets: tuple[str, ...] = loading.SUBSETS

    @property
    def licence(self) -> str:
        """SPDX name of the licence that the published data sets are under."""
        return read_pins().licence

    @property
    def versions(self) -> tuple[str, ...]:
        """Published versions of the data, oldest first; none for files of the user's own."""
        return read_pins().versions(self.name)

    def load(self, *, subset: str | None = None, version: str | None = None, path: Path | None = None) -> RepositorySet:
        """See :func:`benchwright.benchmarks.swebench.loading.load`."""
        return loading.load(self.name, subset=subset, version=version, path=path)

    def read_predictions(self, path: Path, problems: RepositorySet, *, ignore_unknown: bool = False) -> PatchFile:
        """See :func:`benchwright.benchmarks.swebench.predictions.read_predictions`."""
        return predictions.read_predictions(path, problems, ignore_unknown=ignore_unknown)


VERIFIED: RepositoryBenchmark = SweBench(name="swebench-verified", title="SWE-bench Verified")
"""500 instances of 12 repositories that people found well specified (OpenAI, August 2024)."""

LITE: RepositoryBenchmark = SweBench(name="swebench-lite", title="SWE-bench Lite")
"""300 instances with small, self-contained changes."""

FULL: RepositoryBenchmark = SweBench(name="swebench-full", title="SWE-bench")
"""All 2,294 instances of the test split."""

MINI: RepositoryBenchmark = SweBench(name="swebench-mini", title="SWE-bench Verified Mini")
"""50 instances of Verified, from django and sphinx, that need little disk (Hobbhahn)."""

REPOSITORIES: RepositoryBenchmark = SweBench(name="repositories", title="Repository problems from a file")
"""Whatever rows a user derived; there is no published data."""
