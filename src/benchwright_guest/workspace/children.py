"""The other processes of a workspace, as process 1 has to do with them: woken by their ends, ending them."""

import os
import signal

from . import memory

_PLAIN_PASSES = 3
_STOP_PASSES = 100
_STOPPED, _DEAD = ("T", "t"), ("", "Z", "X")  # states in /proc; the empty one of a process that is gone


def wake_up():
    """A descriptor that can be read from after a child has ended; signals are handled from now on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # for process 1, the default is to be immune
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def drain(wake):
    """Forget what woke us up."""
    try:
        while os.read(wake, 4096):
            pass
    except BlockingIOError:
        pass


def kill(pid):
    """Kill a process."""
    _signal(os.kill, pid, signal.SIGKILL)


def end_session(session):
    """Kill all processes of a session: a generator that makes a pass each time, until none is left.

    A signal reaches all of a process group at once, so that forking within one is no way out.  Where a session keeps
    making new groups, its processes are stopped until none can fork any more, and then killed.
    """
    passes = 0
    while True:
        groups, running = _groups(session)
        if not groups:
            return
        stopping = _PLAIN_PASSES <= passes < _STOP_PASSES and running
        for group in groups:
            _signal(os.killpg, group, signal.SIGSTOP if stopping else signal.SIGKILL)
        passes += 1
        yield


def stop_all(already):
    """Stop every other process: a generator that makes a pass each time, until none runs or patience ends.

    Those that were stopped before are added to a set, to be left so by `continue_all`.  Not by one signal to all,
    which would also stop processes whose making is under way, and could not be taken back from them alone.
    """
    already.update(pid for pid in memory.others() if _stat(pid)[0] in _STOPPED)
    for _ in range(_STOP_PASSES):
        running = [pid for pid in memory.others() if _stat(pid)[0] not in (*_STOPPED, *_DEAD)]
        if not running:
            return
        for pid in running:
            _signal(os.kill, int(pid), signal.SIGSTOP)
        yield


def continue_all(but):
    """Let every other process go on, but some."""
    for pid in memory.others():
        if pid not in but:
            _signal(os.kill, int(pid), signal.SIGCONT)


def is_alive(pid):
    """Whether there is such a process, and not only what its parent has not yet asked for."""
    return _stat(pid)[0] not in _DEAD


def _groups(session):
    """Process groups that a session has, and whether any of its processes is not stopped."""
    groups, running = set(), False
    for pid in memory.others():
        state, group, of = _stat(pid)
        if of == session and state not in _DEAD:
            groups.add(group)
            running = running or state not in _STOPPED
    return groups, running


def _stat(pid):
    """State, process group and session of a process; an empty state when there is none."""
    try:
        with open("/proc/%s/stat" % pid, "rb") as file:
            words = file.read().rpartition(b")")[2].split()
        return words[0].decode(), int(words[2]), int(words[3])
    except (OSError, ValueError, IndexError):
        return "", 0, 0


def _signal(send, whom, number):
    try:
        send(whom, number)
    except (ProcessLookupError, PermissionError):
        pass  # gone meanwhile
