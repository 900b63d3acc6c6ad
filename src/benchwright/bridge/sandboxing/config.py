"""What a provider is told about a workspace; written to Inspect's log as it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from benchwright.sandboxes.base import Image, WorkspaceLimits


class WorkspaceConfig(BaseModel):
    """An image and the limits of everything in a workspace of it; hashable, as Inspect wants."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    """`Image.digest`."""
    layers: tuple[str, ...] = ()
    """Folders of this machine, the lowest first; for ``benchwright/namespace``."""
    reference: str = ""
    """What a container engine calls the image; for ``benchwright/docker``."""
    environ: tuple[tuple[str, str], ...] = ()
    """Names and values of environment variables of every command."""
    workdir: str = "/testbed"
    """What relative paths are relative to."""
    memory_bytes: int
    processes: int
    scratch_bytes: int
    shared: tuple[tuple[str, str], ...] = ()
    """Absolute paths inside, and the folders of this machine that are mounted there read-only."""

    @classmethod
    def from_image(cls, image: Image, limits: WorkspaceLimits, shared: Mapping[str, Path] | None = None) -> Self:
        """The configuration for workspaces of an image."""
        return cls(
            digest=image.digest,
            layers=tuple(str(layer) for layer in image.layers),
            reference=image.reference,
            environ=tuple(sorted(image.environ.items())),
            workdir=image.workdir,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            scratch_bytes=limits.scratch_bytes,
            shared=tuple(sorted((inside, str(folder)) for inside, folder in (shared or {}).items())),
        )

    @property
    def image(self) -> Image:
        """The image."""
        return Image(
            digest=self.digest,
            layers=tuple(Path(layer) for layer in self.layers),
            reference=self.reference,
            environ=dict(self.environ),
            workdir=self.workdir,
        )

    @property
    def limits(self) -> WorkspaceLimits:
        """What everything in the workspace may use together."""
        return WorkspaceLimits(
            memory_bytes=self.memory_bytes, processes=self.processes, scratch_bytes=self.scratch_bytes
        )

    @property
    def shared_folders(self) -> dict[str, Path]:
        """Host folders by absolute path inside."""
        return {inside: Path(folder) for inside, folder in self.shared}
