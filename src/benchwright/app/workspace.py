"""Where benchwright keeps things, and how an environment becomes a target to execute in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.environments.environment import Environment, open_environment
from benchwright.environments.home import default_home
from benchwright.execution.target import Target
from benchwright.store.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One benchwright home."""

    home: Path

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> "Workspace":
        """The workspace that the user's environment variables name."""
        return cls(home=default_home(variables))

    def records(self) -> RecordStore:
        """Open the record store."""
        return RecordStore(self.home / "records.sqlite")

    def target(self, name: str) -> Target:
        """A built environment as a place to execute in; raises `UsageError` when it is not built."""
        return target_of(open_environment(name, self.home))


def target_of(environment: Environment) -> Target:
    """An environment as the engine sees it."""
    return Target(
        name=environment.name,
        digest=environment.digest,
        python=environment.python,
        readable=environment.readable_paths,
        variables={
            "PATH": f"{environment.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            **_LOCALE,
            **environment.variables,
        },
        tiers=environment.tiers,
        unavailable_modules=frozenset(environment.unavailable_modules),
    )


# One thread per numeric library in every job, as under the official harness, which sets OMP_NUM_THREADS; the others
# follow, or a job's threads would outnumber the cores it is scheduled on.
_LOCALE = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def default_workers() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))
