"""What a sandbox for repositories is: a workspace made from an image, and commands that run in it."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from benchwright.core.execution import ExitCause


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What a workspace starts from: layers of files for ``namespace``, an image reference for ``docker``."""

    digest: str
    """SHA-256 over everything below the workspace: which layers or which image, by content."""
    layers: tuple[Path, ...] = ()
    """Folders, the lowest first; empty for an image of a container engine."""
    reference: str = ""
    """What a container engine calls the image; empty for layers."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of every command (``PATH``, ``HOME``, …); nothing of the host's is added."""
    workdir: str = "/testbed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceLimits:
    """What everything in a workspace may use together."""

    memory_bytes: int
    processes: int
    scratch_bytes: int
    """Bytes that may be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What one command may use."""

    wall_seconds: float
    output_bytes: int = 64 * 1024**2
    """Of standard output and error together; a command that writes more is ended with cause ``output``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What one command did.  What a program does is a value; only a broken sandbox raises."""

    exit_cause: ExitCause
    """``finished`` with status 0, ``exited`` with another, ``signal``, ``wall_time``, ``memory`` or ``output``."""
    exit_status: int | None
    """Exit status, or minus the signal number."""
    output: bytes
    """Standard output and error in one stream, in the order of writing; head and tail if there was too much."""
    output_total_bytes: int
    wall_seconds: float
    cpu_seconds: float
    """User and system time of the command and all it started; 0.0 where the sandbox cannot tell."""
    memory_peak_bytes: int
    """0 where the sandbox cannot tell."""


class Workspace(contextlib.AbstractContextManager["Workspace"], Protocol):
    """A writable copy of an image that nobody else sees; closing it ends every process and removes what was written."""

    def run(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command to its end; whatever it started is dead afterwards.

        Args:
            command: Program and arguments; looked up in the image's ``PATH``.
            limits: Time and output.
            environ: Variables added to the image's own.
            cwd: Folder inside the sandbox; the image's working folder when None.
            stdin: What it may read; then end of file.

        Raises `SandboxFault` when the sandbox, not the command, fails.
        """

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file at an absolute path inside, with its parent folders; a link or folder there is replaced.

        No link inside the workspace is followed outside of it.  Raises `SandboxFault`.
        """

    def remove(self, path: str) -> None:
        """Remove a file or link if it is there."""

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """The bytes of a regular file, or None when there is none; raises `SandboxFault` when it is larger."""

    def stamp(self, path: str) -> str | None:
        """A text that is another one after the file was written to, replaced, moved or had its times set.

        None when there is no such file, or when the sandbox cannot tell.  No link is followed at the path's end.
        """

    def close(self) -> None:
        """End every process and remove what was written; calling it again does nothing."""


class Sandbox(Protocol):
    """Makes workspaces."""

    @property
    def name(self) -> str:
        """Name in the registry, such as ``namespace``."""

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> Workspace:
        """A fresh workspace.

        Args:
            image: What it starts from.
            limits: What everything in it may use together.
            shared: Host folders by absolute path inside, mounted read-only; sockets in them can be connected to.
            network: Whether it has the host's network: for building environments only.
            keep: Folder that shall hold what was written, as one more layer, after closing; for building only.

        Raises:
            IsolationRefusedError: The machine cannot make such a sandbox; the message says what is missing.
            SandboxFault: It should, but did not.
            UsageError: The image is of a kind that this sandbox cannot open.
        """


TREE_FILE_BYTES = 16 * 1024**2
"""Of larger files nobody wants the content, and a workspace may hold more of them than the host has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveResult:
    """What one command in a live workspace did."""

    exit_status: int | None
    """Exit status, or minus the signal number; None when it was ended for its time."""
    stdout: bytes
    """Standard output; head and tail around a note when there was more than was asked for.  With ``merged``, standard
    error is in it, in the order of writing."""
    stderr: bytes
    stdout_total_bytes: int
    stderr_total_bytes: int
    timed_out: bool
    wall_seconds: float


class LiveProcess(Protocol):
    """A command that was started in a live workspace."""

    def wait(self) -> LiveResult:
        """Wait for its end, from any thread; raises `SandboxFault` when the workspace breaks or is closed meanwhile."""

    def kill(self) -> None:
        """End the command and all it has started that did not make itself independent; `wait` returns then."""


class LiveWorkspace(contextlib.AbstractContextManager["LiveWorkspace"], Protocol):
    """A workspace that an agent lives in: commands run side by side, and what they leave running goes on.

    Every method may be called from any thread at any time.  What is not the command's doing raises `SandboxFault`.
    """

    def start(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
        user: str | None = None,
        merged: bool = False,
    ) -> LiveProcess:
        """Start a command; it ends when its own process ends, whatever it leaves running.

        Output of processes that outlive the command is not waited for.  Output beyond ``limits.output_bytes`` (of each
        stream) does not end the command: the head and the tail are kept.  At ``limits.wall_seconds`` the command is
        killed with everything it has started that is still of its session; other commands go on.  A program that is
        not there ends with status 127, one that cannot be started with 126; a folder that is not there with 127 too.

        Args:
            command: Program and arguments; looked up in the ``PATH`` it will have.
            limits: Time, and bytes of each stream to keep.
            environ: Variables added to the image's own.
            cwd: Folder inside the sandbox; the image's working folder when None.
            stdin: What it may read; then end of file.
            user: Name or number of the user to run as; root when None.
            merged: Whether standard error joins standard output.

        Raises `UsageError` for a user that the workspace does not have, `SandboxFault` when the sandbox is broken.
        """

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """As `Workspace.put`."""

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """As `Workspace.get`."""

    def tree(self, path: str, into: BinaryIO) -> None:
        """Write a folder as an uncompressed tar archive to a file of the host, with names relative to the folder.

        Made by the sandbox itself and not by programs of the image, so that nothing a command has done to those
        matters.  Left out: ``.git`` at the top, and what is neither a regular file, a folder nor a symbolic link.
        A file of more than `TREE_FILE_BYTES` comes without its content, as one hole of its size.  A folder that is not
        there gives an empty archive.  Raises `SandboxFault`.
        """

    def written(self) -> tuple[str, ...] | None:
        """Absolute paths of what was written, changed or removed since the opening; None where that cannot be told.

        A new folder with all below it may be named alone.
        """

    def close(self) -> None:
        """End every process and remove what was written; calling it again does nothing."""


class LiveSandbox(Sandbox, Protocol):
    """A sandbox in which agents can live too."""

    def open_live(
        self, image: Image, limits: WorkspaceLimits, *, shared: Mapping[str, Path] | None = None
    ) -> LiveWorkspace:
        """A fresh live workspace without a network; arguments and errors as for `Sandbox.open`."""
