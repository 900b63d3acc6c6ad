"""A container as a live workspace: commands side by side, each with a shell around it, and what they leave goes on."""

import errno
import tarfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Self

from benchwright.core.errors import IsolationRefusedError, SandboxFault, UsageError
from benchwright.sandboxes.base import LiveProcess, LiveResult, RunLimits
from benchwright.sandboxes.containers.caring import LiveContainer
from benchwright.sandboxes.containers.commands import LiveCommand
from benchwright.sandboxes.containers.copies import BrokenOffError, ContainerFiles, NotHandedOutError
from benchwright.sandboxes.containers.files import absolute
from benchwright.sandboxes.containers.workspace import variables
from benchwright.sandboxes.containers.wrapping import new_token, wrapped

_TREE_TRIES = 3
_NO_FOLDER = ("could not find the file", "could not be found", "no such file", "not a directory", "does not exist")


class DockerLiveWorkspace:
    """A container; made by `DockerSandbox.open_live`.  See `benchwright.sandboxes.base.LiveWorkspace`.

    Places that are mounts of their own (``/dev/shm``, ``/proc``, ``/sys``) cannot be read or written as files.  Where
    the engine's processes are not ours, what a command leaves running loses the output that it shares with the command
    some seconds after the command's end, and sessions are ended by the image's shell, as long as it has one.
    """

    def __init__(self, container: LiveContainer, *, workdir: str, mounted: Collection[str]) -> None:
        """A container that runs.

        Args:
            container: The container, closed by the workspace.
            workdir: Folder of commands for which none is named.
            mounted: Where folders of the host are; making these places was not a command's doing.
        """
        self._container = container
        self._workdir = workdir
        self._mounted = tuple(mounted)
        self._files = ContainerFiles(container.engine, container.name)

    @property
    def container(self) -> str:
        """What the engine calls the container."""
        return self._container.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        """Start a command; see `benchwright.sandboxes.base.LiveWorkspace.start`.

        Comes back when the engine has started it.  A status from 129 to 192 counts as the signal that it stands for in
        a shell.
        """
        self._container.require_open()
        if user == "":
            raise UsageError("Expected the name or number of a user, got an empty text.")
        token = new_token()
        stop = self._container.processes is not None
        whole = wrapped(command, cwd or self._workdir, token=token, merged=merged, stop=stop)
        arguments = ["exec", "-w", "/", *(("-i",) if stdin else ()), *(() if user is None else ("-u", user))]
        arguments += [*variables({**(environ or {}), **whole.environ}), self._container.name, *whole.command]
        if not command or any("\0" in text for text in arguments):
            raise UsageError("A command needs a program, and no NUL character in it, its variables or its folder.")
        try:
            client = self._container.engine.start(arguments, stdin=stdin)
        except IsolationRefusedError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.E2BIG:
                return _TooLong(merged=merged)  # for the client, as it would be inside
            raise
        started = LiveCommand(client, token, limits, merged=merged, care=self._container)
        started.wait_until_begun()
        return started

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file; see `benchwright.sandboxes.base.Workspace.put`.

        Links among the parent folders are followed, inside.
        """
        self._container.require_open()
        self._files.write({absolute(path): (data, mode)})

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """The bytes of a regular file; see `benchwright.sandboxes.base.Workspace.get`."""
        self._container.require_open()
        try:
            return self._files.read(path, max_bytes)
        except NotHandedOutError:
            self._container.is_alive()  # raises when the engine knows the container no more
            return None

    def tree(self, path: str, into: BinaryIO) -> None:
        """Write a folder as an archive; see `benchwright.sandboxes.base.LiveWorkspace.tree`.

        A file that can be rewound is written anew when a process in the workspace has made the archive break off.
        """
        self._container.require_open()
        start = into.tell() if into.seekable() else None
        for left in reversed(range(_TREE_TRIES)):
            try:
                self._files.tree(path, into)
                return
            except NotHandedOutError as error:
                self._container.is_alive()
                if not any(words in str(error).lower() for words in _NO_FOLDER):
                    raise SandboxFault(f"the container engine did not hand out {path}: {error}") from error
                tarfile.open(fileobj=into, mode="w|").close()
                return
            except BrokenOffError:
                if start is None or not left:
                    raise
                into.seek(start)
                into.truncate()

    def written(self) -> tuple[str, ...]:
        """What was written, changed or removed; see `benchwright.sandboxes.base.LiveWorkspace.written`."""
        self._container.require_open()
        answer = self._container.engine.call("diff", self._container.name)
        if answer.status != 0:
            raise SandboxFault(f"the container engine does not tell what was written: {answer.complaint}")
        rows = [line.partition(" ") for line in answer.output.decode(errors="surrogateescape").splitlines()]
        parents = {path.rpartition("/")[0] for _, _, path in rows}
        # A folder in which something has changed is named as changed, too.
        return tuple(
            path for kind, _, path in rows if not (kind == "C" and path in parents) and not self._is_mounted(path)
        )

    def close(self) -> None:
        """End every process and remove what was written; calling it again does nothing.

        Raises `SandboxFault`, with the command that would do it, when the engine does not.
        """
        self._container.close()

    def _is_mounted(self, path: str) -> bool:
        return any(place == path or place.startswith(f"{path}/") for place in self._mounted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TooLong:
    """A command that no kernel starts."""

    merged: bool

    def wait(self) -> LiveResult:
        note = b"benchwright: the arguments and variables are longer than the kernel allows (128 KiB each)\n"
        stdout, stderr = (note, b"") if self.merged else (b"", note)
        return LiveResult(
            exit_status=126,
            stdout=stdout,
            stderr=stderr,
            stdout_total_bytes=len(stdout),
            stderr_total_bytes=len(stderr),
            timed_out=False,
            wall_seconds=0.0,
        )

    def kill(self) -> None:
        """It has ended."""
