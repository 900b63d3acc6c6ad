"""Where benchwright keeps things, and how an environment becomes a target to execute in."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.environments.environment import open_environment
from benchwright.environments.home import default_home
from benchwright.execution.target import Target, target_of
from benchwright.store.records import RecordStore, records_in

STORE_VARIABLE = "BENCHWRIGHT_STORE"
"""Environment variable that names the store of results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One benchwright home."""

    home: Path
    store: Path | None = None
    """Where the store of results is; None is the usual place in the home."""

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> "Workspace":
        """The workspace that the user's environment variables name."""
        named = variables.get(STORE_VARIABLE)
        return cls(home=default_home(variables), store=Path(named) if named else None)

    @property
    def results(self) -> Path:
        """The folder of the store of results."""
        return self.store or self.home / "results"

    def records(self) -> RecordStore:
        """Open the record store."""
        return records_in(self.home)

    def free_bytes(self) -> int:
        """Free on the disk where the home is, or will be."""
        place = self.home
        while not place.exists():
            place = place.parent
        return shutil.disk_usage(place).free

    def target(self, name: str) -> Target:
        """A built environment as a place to execute in; raises `UsageError` when it is not built."""
        return target_of(open_environment(name, self.home))


def default_workers() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))
