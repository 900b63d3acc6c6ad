"""Control runs: what the reference and the empty stub of a problem did on this machine."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from benchwright.core.execution import Isolation


def place_of(environment: str, isolation: Isolation) -> str:
    """Where control runs belong to: an environment's digest, and the isolation level when it is not the default.

    At a weaker level the network may be there, so runs of one level say nothing about the other.
    """
    return environment if isolation is Isolation.NAMESPACE else f"{environment}:{isolation.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlOutcome:
    """One execution of a reference or a stub."""

    outcome: str
    reason: str
    detail: str
    wall_seconds: float
    cpu_seconds: float
    memory_peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRun:
    """The control runs of one problem in one environment."""

    problem_id: str
    problem_digest: str
    environment: str
    """See :func:`place_of`."""
    guest_version: str
    references: tuple[ControlOutcome, ...]
    """One entry per repeat."""
    stubs: tuple[ControlOutcome, ...]
    needs_network: bool
    """Whether the reference failed and its messages speak of a network that is not there."""

    @property
    def reference_passes(self) -> bool:
        """Whether the reference passed every time."""
        return all(run.outcome == "passed" for run in self.references)

    @property
    def stub_passes(self) -> bool:
        """Whether the empty stub ever passed: the tests then decide nothing."""
        return any(run.outcome == "passed" for run in self.stubs)

    @property
    def available(self) -> bool:
        """Whether the problem can be decided in this environment at all."""
        return all(run.outcome != "fault" for run in self.references)

    @property
    def flaky(self) -> bool:
        """Whether repeats of the same code came to different outcomes."""
        return any(len({run.outcome for run in runs}) > 1 for runs in (self.references, self.stubs))

    @property
    def wall_seconds(self) -> float:
        """Longest elapsed time of the reference."""
        return max(run.wall_seconds for run in self.references)

    @property
    def cpu_seconds(self) -> float:
        """Largest CPU time of the reference."""
        return max(run.cpu_seconds for run in self.references)

    @property
    def memory_peak_bytes(self) -> int:
        """Largest memory peak of the reference."""
        return max(run.memory_peak_bytes for run in self.references)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> "ControlRun":
        """Rebuild from :meth:`to_plain` data."""
        values = dict(data)
        for name in ("references", "stubs"):
            values[name] = tuple(ControlOutcome(**run) for run in values[name])
        return cls(**values)
