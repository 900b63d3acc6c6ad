"""A live workspace of the ``namespace`` sandbox."""

import contextlib
import itertools
import json
import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Self

from benchwright.core.errors import SandboxFault, UsageError
from benchwright.sandboxes.base import TREE_FILE_BYTES, Image, LiveResult, RunLimits, WorkspaceLimits
from benchwright.sandboxes.groups import WorkspaceGroup
from benchwright.sandboxes.namespaces.conversation import Conversation, Exchange
from benchwright.sandboxes.namespaces.guest import Guest, memory_file, output_pipe
from benchwright.sandboxes.namespaces.streams import Stream
from benchwright.sandboxes.namespaces.texts import check_command, checked_path
from benchwright.sandboxes.output import Output

_ANSWER_SECONDS = 300.0  # to write or read files, or for the next piece of a tree
_END_SECONDS = 60.0  # past the moment a command had to end, which the guest sees to
_PIECE_BYTES = 1 << 20
_NO_USER = {
    "unknown": "There is no user {!r} in the workspace; give a name of its /etc/passwd, a number, or none for root.",
    "only root": "A workspace made by a plain user has no other user than root inside, and not {!r}; run as root.",
}


class NamespaceLiveProcess:
    """A command of a live workspace; made by `NamespaceLiveWorkspace.start`."""

    def __init__(self, conversation: Conversation, exchange: Exchange, wall_seconds: float) -> None:
        self._conversation = conversation
        self._exchange = exchange
        self._end = time.monotonic() + wall_seconds + _END_SECONDS
        self._lock = threading.Lock()
        self._result: LiveResult | None = None
        self._fault: SandboxFault | None = None

    def wait(self) -> LiveResult:
        """Wait for the end of the command; see `benchwright.sandboxes.base.LiveProcess.wait`."""
        with self._lock:
            if self._fault is not None:
                raise SandboxFault(str(self._fault)) from self._fault
            if self._result is None:
                try:
                    self._result = self._made(_answer(self._exchange, self._end - time.monotonic()))
                except SandboxFault as fault:
                    self._fault = fault  # nothing else will come
                    raise
            return self._result

    def _made(self, message: dict[str, Any]) -> LiveResult:
        output, *others = [stream.output for stream in self._exchange.streams]
        errors = others[0] if others else Output(0)
        return LiveResult(
            exit_status=None if message["timed_out"] else os.waitstatus_to_exitcode(message["status"]),
            stdout=output.kept,
            stderr=errors.kept,
            stdout_total_bytes=output.total,
            stderr_total_bytes=errors.total,
            timed_out=bool(message["timed_out"]),
            wall_seconds=float(message["wall"]),
        )

    def kill(self) -> None:
        """End the command and its session; does nothing when it has ended."""
        self._conversation.tell({"op": "kill", "id": self._exchange.number})


class NamespaceLiveWorkspace:
    """One live workspace; made by `NamespaceSandbox.open_live`.

    While `tree` and `written` are read, everything inside is stopped, so that what they tell is of one moment.
    Output of a process that outlives its command is read for nothing, so that it can go on; beyond some dozens of
    such pipes the oldest are closed.
    """

    def __init__(
        self, image: Image, limits: WorkspaceLimits, group: WorkspaceGroup, clean_up: Callable[[], None]
    ) -> None:
        self._image = image
        self._limits = limits
        self._group = group
        self._clean_up = clean_up
        self._talk: Conversation | None = None
        self._closing = threading.Lock()
        self._removed = False

    def open(self, config: dict[str, Any]) -> None:
        """Start the guest; called once, by the sandbox."""
        guest = Guest(config)
        try:
            guest.start()
            if self._group.memory is not None:
                self._group.memory.start(self._limits.memory_bytes)
            self._group.limit_processes(self._limits.processes)
        except BaseException as error:
            guest.close()
            if isinstance(error, OSError):
                raise SandboxFault(f"a control group does not take a limit: {error}") from error
            raise
        self._talk = Conversation(guest)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _conversation(self) -> Conversation:
        assert self._talk is not None, "the sandbox opens a workspace before it gives it away"
        return self._talk

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
    ) -> NamespaceLiveProcess:
        """Start a command; see `benchwright.sandboxes.base.LiveWorkspace.start`."""
        environ, cwd = {**self._image.environ, **(environ or {})}, cwd or self._image.workdir
        check_command(command, environ, cwd, user or "")
        body = {"command": list(command), "environ": environ, "cwd": cwd, "user": user}
        request = {"op": "start", "wall": limits.wall_seconds, "named": user is not None}
        with contextlib.ExitStack() as opened, _faults():
            descriptors = [opened.enter_context(_memory(json.dumps(body).encode()))]
            source = [opened.enter_context(_memory(stdin))] if stdin else []
            streams, writing = _pipes(1 if merged else 2, limits.output_bytes)
            for descriptor in writing:
                opened.callback(os.close, descriptor)
            descriptors += [writing[0], writing[-1], *source]
            exchange = self._conversation.begin(request, descriptors, streams)
        if user is not None:
            message = _answer(exchange, _ANSWER_SECONDS)
            if message["event"] == "no user":
                raise UsageError(_NO_USER[message["why"]].format(user))
        return NamespaceLiveProcess(self._conversation, exchange, limits.wall_seconds)

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file; see `benchwright.sandboxes.base.Workspace.put`."""
        with _memory(data) as content:
            self._ask({"op": "put", "path": checked_path(path), "mode": mode}, content)

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """The bytes of a regular file; see `benchwright.sandboxes.base.Workspace.get`."""
        with _memory(b"") as target:
            size = self._ask({"op": "get", "path": checked_path(path), "most": max_bytes}, target)["size"]
            if size is None:
                return None
            if size > max_bytes:
                raise SandboxFault(f"{path} has {size} bytes, more than the {max_bytes} that were allowed")
            return _content(target)

    def tree(self, path: str, into: BinaryIO) -> None:
        """Write a folder as a tar archive; see `benchwright.sandboxes.base.LiveWorkspace.tree`.

        Other names of a file are hard links in the archive if it is larger than 4 KiB; a file with holes is in it
        without them, in GNU's form, so that its size may be larger than the archive.  Paths of more than 4,095 bytes
        are left out, as are other file systems.
        """
        with _faults():
            reading, writing = output_pipe()
        try:
            try:
                exchange = self._conversation.begin(
                    {"op": "tree", "path": checked_path(path), "most": TREE_FILE_BYTES}, [writing]
                )
            finally:
                os.close(writing)
            _copy(reading, into)
            _answer(exchange, _ANSWER_SECONDS)
        finally:
            os.close(reading)

    def written(self) -> tuple[str, ...]:
        """What was written; see `benchwright.sandboxes.base.LiveWorkspace.written`.

        Not told: times, modes and owners of folders that were there before.
        """
        with _memory(b"") as target:
            self._ask({"op": "written"}, target)
            return tuple(sorted(os.fsdecode(path) for path in _content(target).split(b"\0")[:-1]))

    def _ask(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        return _answer(self._conversation.begin(request, descriptors), _ANSWER_SECONDS)

    def close(self) -> None:
        """End every process and remove what was written; does nothing when that is done.

        Raises `SandboxFault` when files of the workspace are left over; calling it again tries again.
        """
        with self._closing:
            if self._removed:
                return
            if self._talk is not None:
                self._talk.close()
            # What the kernel does not let go of in time is removed by the next process that makes control groups.
            self._group.remove()
            try:
                self._clean_up()
            except OSError as error:
                raise SandboxFault(f"files of a workspace are left over: {error}") from error
            self._removed = True


def _answer(exchange: Exchange, seconds: float) -> dict[str, Any]:
    answer = exchange.next(seconds)
    if answer["event"] == "failed":
        raise SandboxFault(f"a workspace could not do what it was asked for: {answer['message']}")
    return answer


@contextlib.contextmanager
def _faults() -> Iterator[None]:
    """Where an error of the operating system is a fault of the sandbox."""
    try:
        yield
    except OSError as error:
        raise SandboxFault(f"a workspace broke: {error}") from error


@contextlib.contextmanager
def _memory(data: bytes) -> Iterator[int]:
    """A descriptor to read data from, or to have it written to."""
    with _faults():
        descriptor = memory_file(data)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _content(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return file.read()


def _pipes(count: int, most: int) -> tuple[list[Stream], list[int]]:
    """Streams, and the other ends of their pipes."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(count):
            made.append(output_pipe())
    except OSError:
        for descriptor in itertools.chain(*made):
            os.close(descriptor)
        raise
    return [Stream(reading, most) for reading, _ in made], [writing for _, writing in made]


def _copy(reading: int, into: BinaryIO) -> None:
    """Write to a file what comes through a pipe, until its other end is closed."""
    poller = select.poll()
    poller.register(reading, select.POLLIN)
    while poller.poll(1000 * _ANSWER_SECONDS):
        piece = os.read(reading, _PIECE_BYTES)
        if not piece:
            return
        into.write(piece)
    raise SandboxFault("the process in charge of a workspace does not go on with a tree")
