"""From a plain process of the host to process 1 of new namespaces, with the workspace's files and few rights.

Two processes: the launcher stays outside as the parent, so that the host can wait for it and then knows that every
process inside is gone; its child is process 1.  As the host's root the file system is mounted with root's rights
first, and the user namespace entered afterwards: no process inside then owns the mounts.  As a plain user the user
namespace has to come first.
"""

import ctypes
import fcntl  # noqa: F401 - a function imports it later on, when the host's files are out of reach
import os
import signal
import socket

from benchwright_guest import kernel

from . import live, privileges, serve, tree, wire
from .refusal import Refused, part

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_HIDDEN = kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def main(descriptor):
    """Make the workspace and serve the host until it hangs up; never returns."""
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    config, _ = wire.receive(control)
    os.umask(0o022)
    try:
        # Before a control group namespace of our own, from which they could not be reached.
        groups = [os.open(path, os.O_WRONLY) for path in config["groups"]]
        part("user and process namespaces", kernel.unshare, _first_namespaces(config))
        if not config["mapped"]:
            _map_self(config["uid"], config["gid"])
    except BaseException as error:
        _report(control, error)
        os._exit(1)
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _init(control, config, groups, theirs)
    theirs.close()
    wire.send(control, {"event": "launched", "pid": pid})
    control.close()
    ours.send(b"l")
    if config["mapped"] and ours.recv(1):
        _map_child(pid, config)
        ours.send(b"m")
    ours.close()
    os.waitpid(pid, 0)
    os._exit(0)


def _first_namespaces(config):
    return kernel.CLONE_NEWPID | (0 if config["mapped"] else kernel.CLONE_NEWUSER)


def _init(control, config, groups, launcher):
    try:
        launcher.recv(1)  # so that the launcher's message is the first
        order = os.open("/proc/self/oom_score_adj", os.O_RDWR)  # closed to whoever has given up rights
        upper = _set_up(config, launcher)
        if config["live"]:
            server = live.Server(control, config, groups, order, upper)
        else:
            os.close(order)
            os.close(upper)
            server = serve.Server(control, config, groups)
        server.prepare()
        wire.send(control, {"event": "ready"})
        server.serve()
    except BaseException as error:
        _report(control, error)
        os._exit(1)
    os._exit(0)


def _set_up(config, launcher):
    own = kernel.CLONE_NEWNS | kernel.CLONE_NEWCGROUP
    hidden = _HIDDEN | (0 if config["network"] else kernel.CLONE_NEWNET)
    os.setsid()
    if config["mapped"]:
        part("a mount namespace", kernel.unshare, own)
    else:
        part("mount and network namespaces", kernel.unshare, own | hidden)
    upper = tree.build(config)
    if config["mapped"]:
        part("a user namespace", kernel.unshare, kernel.CLONE_NEWUSER | hidden)
        launcher.send(b"u")
        if not launcher.recv(1):
            raise Refused("the mapping of user ids into the user namespace")
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    launcher.close()
    kernel.sethostname("sandbox")
    if not config["network"]:
        kernel.bring_loopback_up()
    privileges.give_up()
    _hide_command_line()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return upper


def _hide_command_line():
    """Every process inside may read it, and it tells paths of the host."""
    with open("/proc/self/stat") as file:
        first, last = [int(word) for word in file.read().rpartition(")")[2].split()[45:47]]
    ctypes.memset(first, 0, last - first)
    name = ctypes.create_string_buffer(b"init")
    kernel.prctl(_PR_SET_NAME, ctypes.addressof(name))


def _map_self(uid, gid):
    for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid)):
        with open("/proc/self/" + name, "w") as file:
            part("the mapping of its own user id", file.write, text)


def _map_child(pid, config):
    for name in ("uid_map", "gid_map"):
        with open("/proc/%d/%s" % (pid, name), "w") as file:
            file.write("0 %d %d" % (config["uid"], config["count"]))


def _report(control, error):
    kind = "refused" if isinstance(error, Refused) else "broken"
    words = str(error) if kind == "refused" else "%s: %s" % (type(error).__name__, error)
    try:
        wire.send(control, {"event": kind, "message": words})
    except OSError:
        pass
