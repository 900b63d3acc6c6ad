"""A slot: a process in namespaces of its own that runs one job after the other, each in a fresh child.

The slot is process 1 of its pid namespace.  Before every fork it enters that namespace again and asks for a new
one for its next child, so that each child is process 1 of its own and everything it started dies with it.
"""

import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time

from . import child, kernel, rootfs

WATCH_SECONDS = 0.05


def start(control, config, prepared):
    """Turn a fork of the mother into a slot and serve until the host hangs up; never returns.

    Args:
        control: Sequenced-packet socket to the host; it gets one JSON object per job with two descriptors.
        config: ``isolation``, ``uid`` (to drop to, or None), ``readable`` folders.
        prepared: What the mother made for children.
    """
    try:
        if config["isolation"] == "namespace":
            _enter_namespaces(config)
        else:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # orphans of a job come to us to be ended
    except BaseException as error:
        _send(control, {"event": "refused", "message": "%s: %s" % (type(error).__name__, error)})
        os._exit(1)
    try:
        _send(control, {"event": "ready", "pid": os.getpid()})
        _serve(control, config, prepared)
    except BaseException as error:
        try:
            _send(control, {"event": "broken", "message": "%s: %s" % (type(error).__name__, error)})
        except OSError:
            pass
        os._exit(1)
    os._exit(0)


def _enter_namespaces(config):
    others = kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID
    uid, gid = os.getuid(), os.getgid()
    if config["uid"] is not None:
        # As root: build the root with root's rights, then become nobody in particular, and go on as a plain user.
        kernel.unshare(kernel.CLONE_NEWNS)
        rootfs.build(config["readable"])
        os.setgroups([])
        uid = gid = config["uid"]
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | others)
        _map_user(uid, gid)
    else:
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | others)
        _map_user(uid, gid)
        rootfs.build(config["readable"])
    kernel.sethostname("sandbox")
    if os.fork():
        os._exit(0)  # the child is process 1 of the new pid namespace and serves
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    kernel.drop_bounding_set()


def _map_user(uid, gid):
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", "%d %d 1" % (rootfs.UID, uid)),
        ("gid_map", "%d %d 1" % (rootfs.UID, gid)),
    ):
        with open("/proc/self/" + name, "w") as file:
            file.write(text)


def _send(control, message):
    control.send(json.dumps(message).encode())


def _receive(control):
    data, descriptors, _, _ = socket.recv_fds(control, 65536, 4) if hasattr(socket, "recv_fds") else _recv_fds(control)
    return (json.loads(data.decode()) if data else None), descriptors


def _recv_fds(control):
    import array

    descriptors = array.array("i")
    data, ancillary, flags, address = control.recvmsg(65536, socket.CMSG_SPACE(4 * descriptors.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    return data, list(descriptors), flags, address


def _serve(control, config, prepared):
    isolated = config["isolation"] == "namespace"
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if isolated else -1
    while True:
        request, descriptors = _receive(control)
        if request is None:
            return
        channel, output = descriptors
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # what an answer starts with os.system must not hold them
        if isolated:
            kernel.setns(own_pids, kernel.CLONE_NEWPID)
            kernel.unshare(kernel.CLONE_NEWPID)
        # Without a mount namespace there is no private /tmp; the folder is ours to remove.
        work = child.WORK if isolated else tempfile.mkdtemp(prefix="benchwright-work-")
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            control.close()
            if isolated:
                os.close(own_pids)
            child.main(channel, output, prepared, work)
        os.close(channel)
        os.close(output)
        cause, peak = _watch(control, pid, request, started, prepared)
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - started
        if not isolated:
            _end_orphans()
            shutil.rmtree(work, ignore_errors=True)
        if cause == "hang_up":
            return
        _send(
            control,
            {
                "event": "exit",
                "job": request["job"],
                "cause": cause,
                "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status),
                "wall": wall,
                "cpu": usage.ru_utime + usage.ru_stime,
                "peak": max(peak, 0),
            },
        )


def _watch(control, pid, request, started, prepared):
    """Wait for the child's end, its deadline, its memory limit, or the host; return the cause and the peak."""
    isolated = prepared["isolation"] == "namespace"
    deadline = started + request["wall"]
    ended = kernel.pidfd_open(pid)
    poller = select.poll()
    poller.register(ended, select.POLLIN)
    poller.register(control.fileno(), select.POLLIN)
    watching = not prepared["memory_by_cgroup"]
    peak, pause = 0, 0.004
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return _kill(pid, isolated, "wall_time"), peak
            events = dict(poller.poll(max(1, int(1000 * (min(left, pause) if watching else left)) + 1)))
            if ended in events:
                return "exit", peak
            if control.fileno() in events:
                message, _ = _receive(control)
                if message is None:
                    return _kill(pid, isolated, "hang_up"), peak
                if message.get("kill") == request["job"]:
                    return _kill(pid, isolated, message["cause"]), peak
            if watching:
                peak = max(peak, _resident(prepared["resident"]))
                pause = min(pause * 2, WATCH_SECONDS)
                if peak > request["memory"]:
                    return _kill(pid, isolated, "memory"), peak
    finally:
        os.close(ended)


def _kill(pid, isolated, cause):
    try:
        if not isolated:
            os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    os.kill(pid, signal.SIGKILL)
    return cause


def _resident(base):
    """Bytes resident in all processes below this slot, without the pages they share with it."""
    page = os.sysconf("SC_PAGE_SIZE")
    own = os.getpid()
    total = 0
    for name in _descendants(own):
        try:
            with open("/proc/%s/statm" % name) as file:
                resident = int(file.read().split()[1]) * page
        except (OSError, ValueError, IndexError):
            continue
        total += resident - base if resident > base else resident
    return total


def _descendants(own):
    if own == 1:  # process 1 of its namespace: everything else there belongs to the job
        return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
    found, stack = [], [str(own)]
    while stack:
        pid = stack.pop()
        try:
            with open("/proc/%s/task/%s/children" % (pid, pid)) as file:
                children = file.read().split()
        except OSError:
            continue
        found += children
        stack += children
    return found


def _end_orphans():
    """Kill and reap whatever a job left behind in a slot without a pid namespace."""
    for _ in range(200):
        for name in _descendants(os.getpid()):
            try:
                os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except OSError:
            return  # no child is left
        time.sleep(0.005)
