"""What our sandboxes can do beyond Inspect's interface.

live(environment)        the sandbox as ours, or None when it is somebody else's
"""

from collections.abc import Mapping, Sequence
from typing import BinaryIO, Protocol, runtime_checkable

from inspect_ai.util import SandboxEnvironment

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.base import LiveResult, LiveWorkspace


@runtime_checkable
class LiveEnvironment(Protocol):
    """A sandbox with a live workspace behind it; used from the event loop that opened it."""

    @property
    def workspace(self) -> LiveWorkspace:
        """The workspace; its methods block, so they are to be called in a thread."""

    @property
    def fault(self) -> SandboxFault | None:
        """The first fault that anything met here; None while all is well.

        Inspect tells the model of a broken sandbox and goes on; whoever judges the sample looks here.
        """

    async def run_merged(
        self,
        command: Sequence[str],
        *,
        cwd: str | None,
        environ: Mapping[str, str],
        wall_seconds: float,
        output_bytes: int,
        stdin: bytes = b"",
    ) -> LiveResult:
        """Run a command whose standard error joins its standard output; see `LiveWorkspace.start`.

        A folder is relative to the working folder.  When the caller is cancelled the command is killed.  Raises
        `SandboxFault`, and `UsageError` for what no command can be given.
        """

    async def tree(self, path: str, into: BinaryIO) -> None:
        """See `LiveWorkspace.tree`; comes back when the writing has ended even if the caller is cancelled."""

    async def written(self) -> tuple[str, ...] | None:
        """See `LiveWorkspace.written`."""


def live(environment: SandboxEnvironment) -> LiveEnvironment | None:
    """The sandbox as one of ours, or None when it has no live workspace; what Inspect wraps around it comes off."""
    inner: object = environment.as_type(SandboxEnvironment)  # type: ignore[type-abstract]
    return inner if isinstance(inner, LiveEnvironment) else None
