"""The host's side of mothers and slots: start them, hand jobs over, collect what comes back."""

import asyncio
import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from benchwright.core.errors import IsolationRefusedError, MachineError, SandboxFault
from benchwright.core.execution import Isolation, Job
from benchwright.environments.spec import Tier
from benchwright.execution.channel import FrameReader
from benchwright.execution.guest import guest_package
from benchwright.execution.records import RawExecution
from benchwright.execution.target import Target
from benchwright.execution.witness import witness_library
from benchwright.sandboxes.cgroups import GroupFactory, SlotGroup
from benchwright_guest import frames

_START_SECONDS = 600.0  # importing TensorFlow without byte code took 24 s; a busy machine may take many times that
_GRACE_SECONDS = 30.0  # past a job's own deadline, before its slot is given up
_SPENT_SHARE = 0.25
"""A job that came this near its memory limit leaves pages behind whose release the kernel takes its time for."""
_END_SECONDS = 5.0  # for a slot to end after we hung up; it kills its job first, which takes milliseconds
_GONE_SECONDS = 1.0
"""A process that is being ended hangs up first, and can be seen to be gone a moment later."""
_DRAIN_SECONDS = 1.0
"""Everything that held the other ends is dead by then; what keeps them open is a descriptor in flight to nobody."""
_KEPT_OUTPUT_BYTES = 64 * 1024
_FIRST_UID = 2_000_000_000  # as root: slots run under ids that own nothing on any machine


class Mother:
    """One warmed guest process of one tier; forks slots."""

    def __init__(self, target: Target, tier: Tier, isolation: Isolation, groups: GroupFactory) -> None:
        self._target = target
        self._tier = tier
        self._isolation = isolation
        self._groups = groups
        self._witness = witness_library()
        self._process: subprocess.Popen[bytes] | None = None
        # Not a pipe: nobody reads while modules are imported, and a full pipe would stop the guest for good.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._control: socket.socket | None = None
        self.ready: dict[str, Any] = {}

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What every record of this guest says about it."""
        method = "cgroup" if self._groups.available else "watched"
        return (("python", str(self.ready.get("python", ""))), ("tier", self._tier.name), ("memory", method))

    @property
    def alive(self) -> bool:
        """Whether the process is still there to fork slots."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start the process and wait until its modules are imported.

        Raises:
            MachineError: It cannot be started, or ends by itself.
            SandboxFault: It was killed meanwhile, as on a machine whose memory is full; another one may start.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        command = [str(self._target.python), "-I", "-B", str(guest_package() / "__main__.py"), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **self._target.variables},
            )
        except OSError as error:
            raise MachineError(
                f"The Python of {self._target.name} cannot be started ({error}); "
                f"try `bw env check {self._target.name}`."
            ) from error
        finally:
            theirs.close()
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(ours, json.dumps(self._configuration()).encode())
            data = await asyncio.wait_for(loop.sock_recv(ours, 1 << 20), _START_SECONDS)
        except (OSError, TimeoutError):  # it ended before it had read its configuration, or it hangs
            data = b""
        if not data:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._process.wait(_GRACE_SECONDS) < 0:
                    raise SandboxFault("a guest was killed while it started")
            self._process.kill()
            self._process.wait()
            self._errors.seek(0)
            errors = self._errors.read().decode("utf-8", "replace")
            raise MachineError(
                f"The guest for {self._target.name} ({self._tier.name}) did not start: "
                f"{errors.strip()[-600:] or 'no message'}; "
                f"try `bw env check {self._target.name}`."
            )
        self.ready = json.loads(data)

    def _counted_alone(self) -> bool:
        """Whether the kernel counts a slot's processes apart from all others of our user."""
        if self._isolation is not Isolation.NAMESPACE:
            return False
        release = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
        return os.getuid() == 0 or release >= (5, 14)  # root gives each slot a user of its own

    def _configuration(self) -> dict[str, Any]:
        return {
            "isolation": self._isolation.value,
            "preload": self._tier.preload,
            "readable": [str(path) for path in self._target.readable],
            "variables": dict(self._target.variables),
            "memory_by_cgroup": self._groups.available,
            "witness": str(self._witness),
            "process_base": 0 if self._counted_alone() else _own_threads(),
        }

    async def slot(self) -> "Slot":
        """A new slot.

        Raises:
            SandboxFault: The guest or the slot has died, or no control group can be made.  If it is the guest, it is
                not `alive` any more.
            IsolationRefusedError: The kernel refuses the isolation level.
        """
        if self._control is None:
            raise SandboxFault("the guest is not running")
        try:
            group = self._groups.make() if self._groups.available else None
        except OSError as error:
            raise SandboxFault(f"no control group could be made: {error}") from error
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        slot = Slot(ours, group, self.facts)
        try:
            event = await self._ask_for_slot(ours, theirs, group)
        except BaseException:
            await slot.close()
            raise
        if event["event"] != "ready":
            await slot.close()
            raise IsolationRefusedError(
                f"This machine refuses isolation level {self._isolation.value!r} ({event['message']}); run "
                f"`bw doctor` for what it allows, or choose a weaker level with --isolation process."
            )
        return slot

    async def _ask_for_slot(
        self, ours: socket.socket, theirs: socket.socket, group: SlotGroup | None
    ) -> dict[str, Any]:
        assert self._control is not None
        uid = None
        if os.getuid() == 0 and self._isolation is Isolation.NAMESPACE:
            uid = _FIRST_UID + (os.getpid() % 100_000) * 1000 + self._groups.number() % 1000
        request = {"uid": uid, "cgroups": group.join_paths() if group else ()}
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
            theirs.close()
            answer = await asyncio.get_running_loop().sock_recv(ours, 65536)
        except OSError as error:
            await self._let_end()
            raise SandboxFault(f"the guest is gone: {error}") from error
        finally:
            theirs.close()
        if not answer:  # a refusal by the kernel is always reported
            await self._let_end()
            raise SandboxFault("a slot, or its guest, ended while the slot was being made")
        event: dict[str, Any] = json.loads(answer)
        return event

    async def _let_end(self) -> None:
        """Wait, for a bounded time, for the process to be gone: whoever asks for a slot next must not ask it again."""
        for _ in range(round(_GONE_SECONDS / 0.01)):
            if not self.alive:
                return
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """End the mother; slots end when their own sockets close."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._errors.close()


class Slot:
    """One place where jobs run, one after the other."""

    def __init__(self, control: socket.socket, group: SlotGroup | None, facts: tuple[tuple[str, str], ...]) -> None:
        self._control = control
        self._group = group
        self._facts = facts
        self._jobs = 0
        self.spent = False
        """Whether the slot must not get another job: its control group may still hold the last one's memory."""

    @property
    def alive(self) -> bool:
        """Whether an idle slot can still be asked; one that has died has hung up."""
        try:
            return bool(self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def run(self, job: Job, watched_modules: frozenset[str]) -> RawExecution:
        """Execute one job; raises `SandboxFault` when the slot itself breaks (it must then be closed)."""
        self._jobs += 1
        key = secrets.token_bytes(frames.KEY_BYTES)
        kills_before, fresh = 0, True
        conversation = _Conversation(key, job.limits.output_bytes, self._ask_to_end)
        try:
            if self._group is not None:
                kills_before = self._group.kills()
                fresh = self._group.start(job.limits.memory_bytes)
            conversation.open(self._control, self._request(job))
        except OSError as error:
            conversation.close()
            raise SandboxFault(f"a job could not be handed over: {error}") from error
        try:
            await conversation.send_payload(_payload(job, key, watched_modules))
            event = await asyncio.wait_for(self._exit_event(), job.limits.wall_seconds + _GRACE_SECONDS)
            await conversation.drained(killed=event.get("cause") != "exit")
        except (OSError, TimeoutError, json.JSONDecodeError) as error:
            raise SandboxFault(f"a slot broke: {type(error).__name__}: {error}") from error
        finally:
            conversation.close()
        if event.get("event") != "exit":
            raise SandboxFault(f"a slot broke: {event.get('message', 'it ended without a word')}")
        peak = (self._group.peak_bytes() if self._group is not None else None) or event["peak"]
        killed = self._group is not None and self._group.kills() > kills_before
        used = self._group is not None and peak > _SPENT_SHARE * job.limits.memory_bytes
        self.spent = killed or used or not fresh
        return RawExecution(
            messages=conversation.reader.messages,
            channel_errors=conversation.reader.errors,
            exit_event=event,
            output=conversation.output,
            output_total_bytes=conversation.output_total,
            out_of_memory=killed,
            memory_peak_bytes=peak,
            facts=self._facts,
        )

    def _request(self, job: Job) -> dict[str, Any]:
        return {"job": self._jobs, "wall": job.limits.wall_seconds, "memory": job.limits.memory_bytes}

    def _ask_to_end(self, cause: str) -> None:
        with contextlib.suppress(OSError):  # the slot is gone, and the job with it
            self._control.send(json.dumps({"kill": self._jobs, "cause": cause}).encode())

    async def _exit_event(self) -> dict[str, Any]:
        data = await asyncio.get_running_loop().sock_recv(self._control, 65536)
        event: dict[str, Any] = json.loads(data) if data else {}
        return event

    async def close(self) -> None:
        """Hang up and wait, for a bounded time, until the slot and everything in it has ended."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                while await asyncio.get_running_loop().sock_recv(self._control, 65536):
                    pass
        self._control.close()
        if self._group is not None:
            # The kernel lets go of a process's group shortly after its descriptors.
            for _ in range(100):
                if self._group.remove():
                    break
                await asyncio.sleep(0.01)


class _Conversation:
    """The descriptors of one running job: the private channel and the output pipe."""

    def __init__(self, key: bytes, output_limit: int, ask_to_end: Callable[[str], None]) -> None:
        self.reader = FrameReader(key)
        self.output = b""
        self.output_total = 0
        self._tail = b""
        self._output_limit = output_limit
        self._ask_to_end = ask_to_end
        self._channel: socket.socket | None = None
        self._pipe = -1
        self._open_ends = 2
        self._drained = asyncio.Event()

    def open(self, control: socket.socket, request: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._pipe, writing = os.pipe2(os.O_CLOEXEC)
        self._channel = ours
        ours.setblocking(False)
        os.set_blocking(self._pipe, False)
        try:
            socket.send_fds(control, [json.dumps(request).encode()], [theirs.fileno(), writing])
        finally:
            theirs.close()
            os.close(writing)
        loop = asyncio.get_running_loop()
        loop.add_reader(ours.fileno(), self._read_channel)
        loop.add_reader(self._pipe, self._read_output)

    async def send_payload(self, payload: bytes) -> None:
        assert self._channel is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the exit event says what happened
            await asyncio.get_running_loop().sock_sendall(self._channel, payload)

    async def drained(self, *, killed: bool) -> None:
        """Wait until both ends are closed by the dead; bounded, for a leaked descriptor must not hang us."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._drained.wait(), _DRAIN_SECONDS)
        self.reader.end(killed=killed)
        self.output += self._tail

    def close(self) -> None:
        loop = asyncio.get_running_loop()
        if self._channel is not None:
            loop.remove_reader(self._channel.fileno())
            self._channel.close()
            self._channel = None
        if self._pipe >= 0:
            loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1

    def _read_channel(self) -> None:
        assert self._channel is not None
        try:
            data = self._channel.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if data:
            if not self.reader.errors:
                self.reader.feed(data)
                if self.reader.errors:  # nothing that follows can be believed, so there is nothing to wait for
                    self._ask_to_end("channel")
        else:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            self._end_reached()

    def _read_output(self) -> None:
        try:
            data = os.read(self._pipe, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            asyncio.get_running_loop().remove_reader(self._pipe)
            self._end_reached()
            return
        if self.output_total <= self._output_limit < self.output_total + len(data):
            self._ask_to_end("output")
        self.output_total += len(data)
        if len(self.output) < _KEPT_OUTPUT_BYTES // 2:
            self.output += data
        else:
            self._tail = (self._tail + data)[-_KEPT_OUTPUT_BYTES // 2 :]

    def _end_reached(self) -> None:
        self._open_ends -= 1
        if not self._open_ends:
            self._drained.set()


def _payload(job: Job, key: bytes, watched_modules: frozenset[str]) -> bytes:
    limits = job.limits
    document = {
        "stub": job.submission.stub,
        "code": job.submission.code,
        "entry_point": job.submission.entry_point,
        "tests": job.plan.source,
        "class_name": job.plan.class_name,
        "planned": [test.id for test in job.plan.tests],
        "decorated": [test.id for test in job.plan.tests if test.decorators],
        "may_skip": [test.id for test in job.plan.tests if test.may_skip],
        "assertions": job.plan.assertions,
        "calls_own_tests": job.plan.calls_own_tests,
        "references": job.plan.references,
        "plain_bases": job.plan.plain_bases,
        "watched_modules": sorted(watched_modules),
        "limits": {
            "cpu_seconds": limits.cpu_seconds,
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "scratch_bytes": limits.scratch_bytes,
            "scratch_files": limits.scratch_files,
        },
    }
    data = json.dumps(document).encode()
    return key + frames.HEADER.pack(len(data)) + data


def _own_threads() -> int:
    """Threads of our user now: where the kernel counts them into a job's limit, they must be added to it."""
    own = os.getuid()
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == own:
                    count += len([*os.scandir(f"/proc/{entry.name}/task")])
    return count + 64  # room for those that start meanwhile
