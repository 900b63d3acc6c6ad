"""Inspect's interface to a sandbox, over a live workspace."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, Literal, TypeVar, overload

from inspect_ai.util import (
    ExecResult,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)

from benchwright.bridge.sandboxing import files, threads
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.results import exec_result, refused
from benchwright.core.errors import SandboxFault, UsageError
from benchwright.sandboxes.base import LiveResult, LiveWorkspace, RunLimits

T = TypeVar("T")

_NO_TIMEOUT_SECONDS = 7 * 86_400.0
"""For commands without a time limit: the sample's own ends them.  The kernel's calls take at most 24 days."""
_COMPLAINT_BYTES = 64 * 1024
_ROOT = ("root", "0")


class WorkspaceEnvironment(SandboxEnvironment):
    """A sandbox of ours for Inspect; also a `benchwright.bridge.sandboxing.base.LiveEnvironment`."""

    def __init__(self, workspace: LiveWorkspace, config: WorkspaceConfig) -> None:
        super().__init__()
        self._workspace = workspace
        self._workdir = config.workdir
        self._fault: SandboxFault | None = None

    @property
    def workspace(self) -> LiveWorkspace:
        """The workspace."""
        return self._workspace

    @property
    def fault(self) -> SandboxFault | None:
        """The first fault that anything met here."""
        return self._fault

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command; see `SandboxEnvironment.exec`.

        A command that has timed out is not tried again (as in Inspect's own providers, where only a silent engine is):
        it would do twice what it has done.  ``concurrency`` is ignored, for nothing here queues.
        """
        environ = env or {}
        failed = refused(cmd, [*environ, *environ.values(), cwd or "", user or ""], input)
        if failed is not None:
            return failed
        seconds = None if timeout is None else float(timeout)
        done = await self._run(
            cmd,
            seconds=seconds,
            output_bytes=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE,
            environ=environ,
            cwd=cwd,
            stdin=_bytes(input or b""),
            user=None if user in _ROOT else user,
        )
        return exec_result(cmd, done, seconds)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file as root inside; see `SandboxEnvironment.write_file`.

        Raises ``OSError`` with the kernel's reason, such as a full disk, where Inspect has no error of its own.
        """
        done = await self._file(file, files.writing, _COMPLAINT_BYTES, _bytes(contents))
        files.check(file, done)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file as root inside; see `SandboxEnvironment.read_file`."""
        done = await self._file(file, files.reading, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        content = files.content(file, done)
        return content.decode("utf-8") if text else content

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
        """See `benchwright.bridge.sandboxing.base.LiveEnvironment.run_merged`."""
        limits = RunLimits(wall_seconds=wall_seconds, output_bytes=output_bytes)
        return await self._finish(command, limits, cwd, environ=environ, stdin=stdin, merged=True)

    async def tree(self, path: str, into: BinaryIO) -> None:
        """See `benchwright.bridge.sandboxing.base.LiveEnvironment.tree`."""
        await self._ask(lambda: self._workspace.tree(path, into))

    async def written(self) -> tuple[str, ...] | None:
        """See `benchwright.bridge.sandboxing.base.LiveEnvironment.written`."""
        return await self._ask(self._workspace.written)

    async def _ask(self, question: Callable[[], T]) -> T:
        try:
            return await threads.call(question)
        except SandboxFault as fault:
            self._note(fault)
            raise

    async def _file(
        self, file: str, command: Callable[[str], list[str]], output_bytes: int, stdin: bytes = b""
    ) -> LiveResult:
        if "\0" in file:
            raise FileNotFoundError(f"No file has a NUL character in its name: {file!r}")
        path = posixpath.join(self._workdir, file)
        return await self._run(command(path), seconds=files.SECONDS, output_bytes=output_bytes, stdin=stdin)

    async def _run(
        self,
        command: Sequence[str],
        *,
        seconds: float | None,
        output_bytes: int,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
        user: str | None = None,
    ) -> LiveResult:
        """Run a command; raises Inspect's errors for a user and a sandbox that are not there."""
        wall_seconds = _NO_TIMEOUT_SECONDS if seconds is None else seconds
        limits = RunLimits(wall_seconds=wall_seconds, output_bytes=output_bytes)
        try:
            return await self._finish(command, limits, cwd, environ=environ, stdin=stdin, user=user)
        except UsageError as error:
            if user is None:
                raise
            raise SandboxUserUnsupportedError(str(error)) from error
        except SandboxFault as fault:
            raise SandboxUnavailableError(f"The sandbox is broken and runs nothing any more: {fault}") from fault

    async def _finish(self, command: Sequence[str], limits: RunLimits, cwd: str | None, **options: Any) -> LiveResult:
        """Run a command to its end, with more options of `LiveWorkspace.start`; a fault is noted."""
        folder = posixpath.join(self._workdir, cwd or "")
        try:
            return await threads.finish(lambda: self._workspace.start(command, limits=limits, cwd=folder, **options))
        except SandboxFault as fault:
            self._note(fault)
            raise

    def _note(self, fault: SandboxFault) -> None:
        self._fault = self._fault or fault


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8") if isinstance(text, str) else text
