"""Process 1 of a workspace that an agent lives in: commands side by side, and what they leave running goes on.

Requests have an ``id``, which the answers to them carry.  With the descriptors they carry, and the answers:

``start`` (body, output, errors[, input])
    Start a command (the body is JSON: ``command``, ``environ``, ``cwd``, ``user``), to be ended after ``wall``
    seconds.  Where a user is ``named``, ``started`` or ``no user`` follows.  ``ended`` follows when its own process
    has ended: wait status, seconds, and whether it was ended for its time; then its session is dead.
``kill``
    End the command of that id and its session; ignored when it has ended meanwhile.
``put`` (content), ``get`` (where to), ``tree`` (where to), ``written`` (where to)
    ``done`` or ``failed`` follows.

Everything is done here, little by little where it may take long, since a process of its own for it could be killed
by a command.  The process that will become the next command can, too; then there is another one.  While a tree or
what was written is read, all other processes are stopped, for one that moves files about could keep it from ending.
"""

import errno
import os
import select
import signal
import socket
import time

from . import archive, children, files, live_command, memory, wire
from .jobs import Job
from .written import Written

_RECHECK_SECONDS = 0.005
_LONGEST_SECONDS = 1e6  # what the kernel can be asked to wait for
_TRIES = 5
_FIRST_TO_DIE = b"1000"
_REFUSALS = {live_command.UNKNOWN_USER: "unknown", live_command.ONLY_ROOT: "only root"}


class _Command:
    def __init__(self, request, descriptors):
        self.number = request["id"]
        self.named = request["named"]
        """Whether the host waits to hear if there is the user."""
        self.descriptors = descriptors
        self.pid = None
        self.link = None
        """Socket on which the process says that it starts; None when it has."""
        self.tries = 0
        self.started = time.monotonic()
        self.deadline = self.started + min(request["wall"], _LONGEST_SECONDS)
        self.timed_out = False
        self.ending = None
        """Passes over its session, once it is to be ended; an empty iterator when nothing of it is left."""
        self.status = None
        self.seconds = 0.0


class Server:
    """Serves one host over one socket."""

    def __init__(self, control, config, groups, order, upper):
        self._control = control
        self._config = config
        self._groups = groups
        self._order = order
        self._usual_order = os.read(order, 16).strip()
        self._nothing = os.open("/dev/null", os.O_RDONLY)
        self._written = Written(upper)
        self._wake = children.wake_up()
        self._spare = None
        self._link = None
        self._commands = {}
        self._jobs = []
        self._stopping = None
        """Passes over all processes, until those are stopped as long as there are jobs."""
        self._stopped = set()
        """Processes that were stopped before."""
        watcher = memory.Watcher(config["memory"], children.kill, children.is_alive)
        self._watcher = watcher if config["watch"] else None

    def prepare(self):
        """Fork the process that will become the next command; joining a control group can take the kernel 15 ms."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # When memory of the machine runs out, commands shall go first.  A process without rights inside may not say
        # so of itself before it has become another program, but inherits it.
        os.pwrite(self._order, _FIRST_TO_DIE, 0)
        try:
            pid = os.fork()
        finally:
            if os.getpid() == 1:
                os.pwrite(self._order, self._usual_order, 0)
        if pid == 0:
            live_command.become(theirs, self._config, self._groups)
        theirs.close()
        self._spare, self._link = pid, ours

    def serve(self):
        """Serve until the host hangs up; the kernel ends everything else with process 1."""
        while self._step():
            pass

    def _step(self):
        """Wait for what happens next, and deal with it; False when the host has hung up."""
        ready = self._wait()
        if self._wake in ready:
            children.drain(self._wake)
        self._reap()
        for command in list(self._commands.values()):
            if command.link is not None and command.link.fileno() in ready:
                self._hear(command)
        if self._control.fileno() in ready and not self._serve_one():
            return False
        now = time.monotonic()
        for command in list(self._commands.values()):
            self._further(command, now)
        self._work()
        if self._watcher is not None and now >= self._watcher.next:
            self._watcher.work()
        return True

    def _wait(self):
        """Descriptors that are ready, or none when it is time for something."""
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        for command in self._commands.values():
            if command.link is not None:
                poller.register(command.link.fileno(), select.POLLIN)
        for job in self._jobs:
            if job.blocked:
                poller.register(job.target, select.POLLOUT)
        return dict(poller.poll(self._pause()))

    def _pause(self):
        """Milliseconds that may pass until something has to be done; None when nothing has."""
        if self._stopping is not None:
            return 1
        if any(not job.blocked for job in self._jobs):
            return 0
        moments = [command.deadline for command in self._commands.values() if command.ending is None]
        now = time.monotonic()
        if any(command.ending is not None for command in self._commands.values()):
            moments.append(now + _RECHECK_SECONDS)
        if self._watcher is not None:
            moments.append(self._watcher.next)
        return 1 + int(1000 * max(0.0, min(moments) - now)) if moments else None

    def _serve_one(self):
        request, descriptors = wire.receive(self._control)
        if request is None:
            return False
        if request["op"] == "start":
            self._start(request, descriptors)
        elif request["op"] == "kill":
            self._end(self._commands.get(request["id"]))
        elif request["op"] == "tree":
            self._begin(request, archive.archive(request["path"], request["most"]), descriptors[0])
        elif request["op"] == "written":
            self._begin(request, self._written.paths(), descriptors[0])
        else:
            self._answer(request["id"], files.answer(request, descriptors))
            _close(descriptors)
        return True

    def _answer(self, number, answer):
        answer["id"] = number
        try:
            wire.send(self._control, answer)
        except OSError:
            pass  # the host has hung up, as the next request will say

    def _start(self, request, descriptors):
        if len(descriptors) < 4:
            descriptors.append(os.dup(self._nothing))
        command = _Command(request, descriptors)
        self._commands[command.number] = command
        self._hand_over(command)

    def _hand_over(self, command):
        """Give a command to the process that is to become it; if that was killed, to another one."""
        command.tries += 1
        command.status = None
        try:
            if self._link is None:
                self.prepare()
            os.kill(self._spare, signal.SIGCONT)  # a command may have stopped it
            wire.send(self._link, {}, command.descriptors)
        except OSError as error:
            self._forget_spare()
            if command.tries < _TRIES:
                self._hand_over(command)
            else:
                self._give_up(command, error)
            return
        command.pid, command.link = self._spare, self._link
        self._spare = self._link = None
        try:
            self.prepare()
        except OSError:
            pass  # tried again when there is a next command, which is then told

    def _give_up(self, command, error):
        """End a command that has not begun: as killed, if processes for it are killed again and again."""
        _close(command.descriptors)
        if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.ESRCH):
            command.status, command.link = signal.SIGKILL, None
            self._say_started(command, None)
        else:
            del self._commands[command.number]
            message = "a command could not be started: %s" % os.strerror(error.errno)
            self._answer(command.number, {"event": "failed", "message": message})

    def _forget_spare(self):
        if self._link is not None:
            self._link.close()
        self._spare = self._link = None

    def _hear(self, command):
        """Take what the process of a command says before it becomes that."""
        try:
            said = command.link.recv(1)
        except ConnectionResetError:
            said = b""
        if not said and command.status is None:
            return  # it is just being killed
        if not said and os.WIFSIGNALED(command.status) and command.tries < _TRIES and command.ending is None:
            command.link.close()
            self._hand_over(command)  # killed by another command, before it had begun
            return
        command.link.close()
        command.link = None
        _close(command.descriptors)
        self._say_started(command, _REFUSALS.get(said))

    def _say_started(self, command, refusal):
        if command.named:
            answer = {"event": "started"} if refusal is None else {"event": "no user", "why": refusal}
            self._answer(command.number, answer)

    def _reap(self):
        by_pid = {command.pid: command for command in self._commands.values()}
        while True:
            try:
                pid, status, _ = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in by_pid:
                command = by_pid[pid]
                command.status, command.seconds = status, time.monotonic() - command.started
            elif pid == self._spare:
                self._forget_spare()

    def _further(self, command, now):
        """Bring a command one step further towards its end, if it is to end."""
        if command.status is None and command.ending is None and now >= command.deadline:
            command.timed_out = True
            self._end(command)
        if command.ending is not None:
            if next(command.ending, self) is not self:
                return
            command.ending = iter(())
        if command.status is not None and command.link is not None:
            self._hear(command)
        if command.status is not None:
            del self._commands[command.number]
            answer = {"event": "ended", "status": command.status, "wall": command.seconds}
            self._answer(command.number, {**answer, "timed_out": command.timed_out})

    def _end(self, command):
        if command is not None and command.ending is None and command.status is None:
            children.kill(command.pid)  # which may not have made its session yet
            command.ending = children.end_session(command.pid)

    def _begin(self, request, chunks, target):
        if not self._jobs:
            self._stopped = set()
            self._stopping = children.stop_all(self._stopped)
        self._jobs.append(Job(request["id"], chunks, target))

    def _work(self):
        if self._stopping is not None and next(self._stopping, self) is not self:
            return
        self._stopping = None
        for job in list(self._jobs):
            answer = job.work()
            if answer is not None:
                self._jobs.remove(job)
                self._answer(job.number, answer)
                if not self._jobs:
                    children.continue_all(self._stopped)


def _close(descriptors):
    for descriptor in descriptors:
        os.close(descriptor)
