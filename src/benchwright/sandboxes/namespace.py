"""The ``namespace`` sandbox: layers under an overlay, in Linux namespaces of their own, without a container engine."""

import contextlib
import functools
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchwright.core.errors import SandboxFault, UsageError
from benchwright.core.execution import ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, WorkspaceLimits
from benchwright.sandboxes.groups import WorkspaceGroup
from benchwright.sandboxes.namespaces.groups import WorkspaceGroups
from benchwright.sandboxes.namespaces.guest import Ended, Guest, memory_file, output_pipe
from benchwright.sandboxes.namespaces.live import NamespaceLiveWorkspace
from benchwright.sandboxes.namespaces.texts import check_command, checked_path
from benchwright.sandboxes.users import UserMapping, user_mapping

_WORK_SUFFIX = ".overlay-work"


class NamespaceSandbox:
    """Makes workspaces of Linux namespaces; may be shared by threads.

    What is written goes to memory (a tmpfs of ``scratch_bytes``) unless it is to be kept.  Layers must belong to the
    ids of `user_mapping`.  A shared folder must be readable for others, and a socket in it writable for others, since
    root inside is nobody outside.  Memory and processes are limited by control groups where this process may make any,
    otherwise by watching and resource limits.
    """

    def __init__(self) -> None:
        self._groups = WorkspaceGroups()

    @property
    def name(self) -> str:
        """``namespace``."""
        return "namespace"

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> "NamespaceWorkspace":
        """A fresh workspace; see `benchwright.sandboxes.base.Sandbox.open`.

        With ``keep`` the written files are on the disk of that folder, which must be empty or absent, and
        ``scratch_bytes`` limits only ``/dev/shm``.  After closing, the folder is a layer of overlayfs: a removed file
        is a character device 0/0, a replaced folder has the attribute ``trusted.overlay.opaque`` (made by root) or
        ``user.overlay.opaque``.
        """
        mapping = user_mapping()
        shared = _checked(image, shared, mapping)
        group, upper = _places(self._groups.make, keep, mapping)
        workspace = NamespaceWorkspace(image, limits, group, upper)
        try:
            workspace.start(_config(image, limits, shared, network, mapping, group, upper))
        except BaseException:
            workspace.close()
            raise
        return workspace

    def open_live(
        self, image: Image, limits: WorkspaceLimits, *, shared: Mapping[str, Path] | None = None
    ) -> NamespaceLiveWorkspace:
        """A fresh live workspace; see `benchwright.sandboxes.base.LiveSandbox.open_live`."""
        mapping = user_mapping()
        shared = _checked(image, shared, mapping)
        group, upper = _places(functools.partial(self._groups.make, fair=True), None, mapping)
        workspace = NamespaceLiveWorkspace(image, limits, group, upper.close)
        try:
            workspace.open({**_config(image, limits, shared, False, mapping, group, upper), "live": True})
        except BaseException:
            workspace.close()
            raise
        return workspace


class NamespaceWorkspace:
    """One workspace; made by `NamespaceSandbox.open`.  Its methods may be called from any thread, one at a time."""

    def __init__(self, image: Image, limits: WorkspaceLimits, group: WorkspaceGroup, upper: "_Upper") -> None:
        self._image = image
        self._limits = limits
        self._group = group
        self._upper = upper
        self._guest: Guest | None = None
        self._lock = threading.Lock()

    def start(self, config: dict[str, Any]) -> None:
        """Start the guest; called once, by the sandbox."""
        self._guest = Guest(config)
        self._guest.start()
        try:
            self._group.limit_processes(self._limits.processes)
        except OSError as error:
            raise SandboxFault(f"a control group does not take a limit: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command to its end; see `benchwright.sandboxes.base.Workspace.run`.

        A program that is not there ends with status 127, one that cannot be started with 126, as in a shell.
        """
        request: dict[str, Any] = {
            "command": list(command),
            "environ": {**self._image.environ, **(environ or {})},
            "cwd": cwd or self._image.workdir,
        }
        check_command(request["command"], request["environ"], request["cwd"])
        with self._guarded() as guest:
            try:
                kills = self._start_counting()
                cpu = self._group.cpu_seconds()
                with contextlib.ExitStack() as opened:
                    reading, writing = output_pipe()
                    descriptors = [memory_file(json.dumps(request).encode()), writing]
                    if stdin:
                        descriptors.append(memory_file(stdin))
                    for descriptor in (reading, *descriptors):
                        opened.callback(os.close, descriptor)
                    ended = guest.run(descriptors, reading, wall_seconds=limits.wall_seconds, most=limits.output_bytes)
                return self._result(ended, kills, cpu)
            except OSError as error:
                raise SandboxFault(f"a workspace broke: {error}") from error

    def _start_counting(self) -> int:
        memory = self._group.memory
        if memory is None:
            return 0
        memory.start(self._limits.memory_bytes)
        return memory.kills()

    def _result(self, ended: Ended, kills_before: int, cpu_before: float | None) -> RunResult:
        memory = self._group.memory
        killed = memory is not None and memory.kills() > kills_before
        cpu = self._group.cpu_seconds()
        return RunResult(
            exit_cause=_exit_cause(ended, killed),
            exit_status=ended.status,
            output=ended.output.kept,
            output_total_bytes=ended.output.total,
            wall_seconds=ended.wall_seconds,
            cpu_seconds=ended.cpu_seconds if cpu is None or cpu_before is None else cpu - cpu_before,
            memory_peak_bytes=(memory.peak_bytes() if memory is not None else None) or ended.memory_peak_bytes,
        )

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file; see `benchwright.sandboxes.base.Workspace.put`.

        Links among the parent folders are followed, inside; a file or dangling link in place of one gives way.
        """
        content = memory_file(data)
        try:
            self._ask({"op": "put", "path": checked_path(path), "mode": mode}, content)
        finally:
            os.close(content)

    def remove(self, path: str) -> None:
        """Remove a file or link if it is there; a folder stays."""
        self._ask({"op": "remove", "path": checked_path(path)})

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """The bytes of a regular file; see `benchwright.sandboxes.base.Workspace.get`."""
        target = memory_file(b"")
        try:
            size = self._ask({"op": "get", "path": checked_path(path), "most": max_bytes}, target).get("size")
            if size is None:
                return None
            if size > max_bytes:
                raise SandboxFault(f"{path} has {size} bytes, more than the {max_bytes} that were allowed")
            with open(target, "rb", closefd=False) as file:
                file.seek(0)
                return file.read()
        finally:
            os.close(target)

    def stamp(self, path: str) -> str | None:
        """Whether a file was touched; see `benchwright.sandboxes.base.Workspace.stamp`."""
        found = self._ask({"op": "stamp", "path": checked_path(path)})["stamp"]
        return None if found is None else str(found)

    def _ask(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        with self._guarded() as guest:
            answer = guest.ask(request, descriptors)
            if answer["event"] == "broken":
                raise SandboxFault(f"a workspace broke: {answer['message']}")
        if answer["event"] == "failed":
            raise SandboxFault(f"a file of a workspace could not be handled: {answer['message']}")
        return answer

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[Guest]:
        """The guest for one request; after a fault, the workspace is closed."""
        with self._lock:
            if self._guest is None:
                raise SandboxFault("the workspace is closed")
            try:
                yield self._guest
            except BaseException:
                self._close()
                raise

    def close(self) -> None:
        """End every process and remove what was written; calling it again does nothing.

        For a thread that waits for a command here, this is a `SandboxFault`.
        """
        guest = self._guest
        if guest is not None:
            guest.hang_up()  # before the lock, which is held as long as a command runs
        with self._lock:
            self._close()

    def _close(self) -> None:
        # A control group that the kernel does not let go of in time is removed by the next process that makes some.
        if self._guest is not None:
            self._guest.close()
            self._guest = None
        self._upper.close()
        self._group.remove()


class _Upper:
    """Where on disk a workspace writes: the folder that is kept, or none of its own with work in memory."""

    def __init__(self, keep: Path | None, mapping: UserMapping) -> None:
        self._temporary: Path | None = None
        self.upper: Path | None = None
        self.work: Path | None = None
        if keep is not None:
            self.upper, self.work = keep, keep.with_name(keep.name + _WORK_SUFFIX)
            if keep.exists() and any(keep.iterdir()):
                raise UsageError(f"The folder to keep a layer in, {keep}, has files in it; give an empty one.")
        elif not mapping.ranged and not _tmpfs_has_user_attributes():
            self._temporary = Path(tempfile.mkdtemp(prefix="benchwright-"))
            self.upper, self.work = self._temporary / "upper", self._temporary / "work"
        for folder in (self.upper, self.work):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o755)
                os.chown(folder, mapping.uid, mapping.gid)

    def close(self) -> None:
        """Remove what is not to be kept."""
        for folder in (self.work, self._temporary):
            if folder is not None and folder.exists():
                shutil.rmtree(folder, onerror=_retry_with_rights)


def _places(
    make_group: Callable[[], WorkspaceGroup], keep: Path | None, mapping: UserMapping
) -> tuple[WorkspaceGroup, _Upper]:
    """New control groups, and where a workspace writes."""
    upper = _Upper(keep, mapping)
    try:
        return make_group(), upper
    except OSError as error:
        upper.close()
        raise SandboxFault(f"no control group could be made: {error}") from error


def _retry_with_rights(call: Any, path: str, _: Any) -> None:
    # The kernel makes a folder of mode 0 in the work folder, which a plain user must open up first.
    os.chmod(path, 0o700)  # noqa: PTH101
    if os.path.isdir(path):  # noqa: PTH112
        shutil.rmtree(path)
    else:
        call(path)


def _tmpfs_has_user_attributes() -> bool:
    """Since Linux 6.6; a plain user's overlay stores what it must remember in them."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 6)


def _config(
    image: Image,
    limits: WorkspaceLimits,
    shared: Mapping[str, Path],
    network: bool,
    mapping: UserMapping,
    group: WorkspaceGroup,
    upper: _Upper,
) -> dict[str, Any]:
    on_disk = upper.upper is not None
    return {
        "mapped": mapping.ranged,
        "uid": mapping.uid,
        "gid": mapping.gid,
        "count": mapping.count,
        "layers": [str(layer.resolve()) for layer in image.layers],
        "upper": str(upper.upper) if on_disk else None,
        "work": str(upper.work) if on_disk else None,
        "shared": {inside: str(path.resolve()) for inside, path in shared.items()},
        "network": network,
        "live": False,
        "scratch_bytes": limits.scratch_bytes,
        "file_bytes": limits.scratch_bytes if on_disk else None,
        "groups": list(group.join_paths()),
        "processes": limits.processes,
        # Of the same user in the same user namespace: process 1, and its parent where that entered it too.
        "process_base": 1 if mapping.ranged else 2,
        "memory": limits.memory_bytes,
        "watch": group.memory is None,
    }


def _exit_cause(ended: Ended, out_of_memory: bool) -> ExitCause:
    if ended.output.total > ended.output.most:
        return ExitCause.OUTPUT
    if ended.decision == "asked":
        return ExitCause.WALL_TIME
    if ended.decision == "memory" or (out_of_memory and ended.status != 0):
        return ExitCause.MEMORY
    if ended.status is None or ended.status < 0:
        return ExitCause.SIGNAL
    return ExitCause.FINISHED if ended.status == 0 else ExitCause.EXITED


def _checked(image: Image, shared: Mapping[str, Path] | None, mapping: UserMapping) -> dict[str, Path]:
    """The shared folders, once everything that a workspace is to be made of is there."""
    _check_layers(image, mapping)
    folders = dict(shared or {})
    _check_shared(folders, mapping)
    return folders


def _check_layers(image: Image, mapping: UserMapping) -> None:
    if not image.layers:
        raise UsageError("The namespace sandbox opens layers of files, and the image has none; use the docker sandbox.")
    for layer in image.layers:
        if not layer.is_dir():
            raise UsageError(f"The layer {layer} is not a folder on this machine; build the environment again.")
        owner = layer.stat().st_uid
        if not mapping.uid <= owner < mapping.uid + mapping.count:
            raise UsageError(
                f"The layer {layer} belongs to user {owner}, not to user {mapping.uid}, who is root inside; build the "
                "environment again as the user who runs this."
            )


def _check_shared(shared: Mapping[str, Path], mapping: UserMapping) -> None:
    for inside, path in shared.items():
        checked_path(inside)
        if not path.is_dir():
            raise UsageError(f"The folder {path} is to be shared with a sandbox, and is not there.")
        if mapping.ranged and path.stat().st_mode & 0o005 != 0o005:
            raise UsageError(
                f"The folder {path} is to be shared with a sandbox, where root is another user than here; let others "
                f"read it: chmod o+rx {path}"
            )
