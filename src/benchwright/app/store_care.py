"""Looking after the store: what is damaged in it, and what can go."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.recording import open_store, open_to_read
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.store.upkeep import Cleaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a store was found to be."""

    place: str
    runs: int
    """Entries there are, superseded ones and damaged ones too."""
    damage: tuple[str, ...]
    """A sentence for everything that is not what was written."""

    @property
    def sound(self) -> bool:
        """Whether there is no damage."""
        return not self.damage

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw store verify --json``."""
        return {**dataclasses.asdict(self), "damage": list(self.damage), "sound": self.sound}


def verify_store(workspace: Workspace, store: Path | None = None) -> Verification:
    """Check the digests of everything in a store; raises `UsageError` when there is none."""
    with open_to_read(workspace, store) as opened:
        if not opened.layout.exists():
            raise UsageError(f"There is no store of results in {opened.layout.root}.")
        found = tuple(opened.verify())
        return Verification(place=str(opened.layout.root), runs=len(opened.layout.names()), damage=found)


def clean_store(workspace: Workspace, store: Path | None = None, *, superseded: bool, dry_run: bool) -> Cleaning:
    """Clear away what nobody needs.

    Args:
        workspace: Whose store, unless another is named.
        store: The store's folder.
        superseded: Drop entries, too, that another one of the same run replaces.
        dry_run: Only say what would go.
    """
    with open_store(workspace, store) as opened:
        return opened.gc(superseded=superseded, dry_run=dry_run)
