"""From a fork of process 1 to a command of a live workspace, beside others that must not look into process 1's memory.

It stays closed to them until it is the command: its memory and descriptors until then are those of process 1.
"""

import json
import os
import resource

from . import command, wire

UNKNOWN_USER, ONLY_ROOT = b"u", b"r"
_STARTING = b"s"
_USERS_BYTES = 16 << 20  # of a file that a command may have replaced by anything
_ROOT_NAMES = ("root", "0")


class _NoUser(Exception):
    """The user that was asked for is not there; the argument is what the host is told."""


def become(link, config, groups):
    """Join the groups, wait for the command on the link, and become it; never returns.

    One byte on the link says that the command begins, or that there is no such user as was asked for.
    """
    status = command.NOT_STARTED
    try:
        _close_all_but([0, 1, 2, link.fileno(), *groups])
        for descriptor in groups:
            os.write(descriptor, b"0")
        os.setsid()
        start, descriptors = wire.receive(link)
        if start is None:
            os._exit(0)
        body, output, errors, source = descriptors
        for number, descriptor in enumerate((source, output, errors)):
            os.dup2(descriptor, number)
        os.lseek(body, 0, os.SEEK_SET)  # another process may have read it, and been killed
        with open(body, "rb") as file:
            request = json.loads(file.read().decode())
        command.reset_signals()
        if request["user"] is not None:
            _change_user(link, request["user"], config["mapped"])
        command.limit(config)
        os.chdir(request["cwd"])
        link.send(_STARTING)
        command.execute(request["command"], request["environ"])
    except FileNotFoundError as error:
        status = command.NOT_FOUND
        command.say(error)
    except BaseException as error:
        command.say(error)
    os._exit(status)


def _close_all_but(kept):
    """Close what process 1 has open, above all the ends of pipes whose other ends wait for that."""
    kept = [*sorted(kept), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]
    for index, descriptor in enumerate(kept[:-1]):
        os.closerange(descriptor + 1, kept[index + 1])


def _change_user(link, name, mapped):
    try:
        user, group = _ids(name, mapped)
        if (user, group) != (0, 0):
            os.setgroups([])
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
    except (_NoUser, OSError) as error:
        link.send(error.args[0] if isinstance(error, _NoUser) else UNKNOWN_USER)
        os._exit(command.NOT_STARTED)


def _ids(name, mapped):
    """User and group of a name or number; a number that is not listed has the group of root, as in containers."""
    found = (0, 0) if name in _ROOT_NAMES else _listed(name)
    if found is None and name.isdecimal() and int(name) < 1 << 16:
        found = int(name), 0
    if found is None:
        raise _NoUser(UNKNOWN_USER)
    if found != (0, 0) and not mapped:
        raise _NoUser(ONLY_ROOT)
    return found


def _listed(name):
    try:
        with open(os.open("/etc/passwd", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            lines = (file.read(_USERS_BYTES) or b"").split(b"\n")
    except OSError:
        return None
    for line in lines:
        words = line.split(b":")
        if len(words) > 3 and os.fsencode(name) in (words[0], words[2]) and words[2].isdigit() and words[3].isdigit():
            return int(words[2]), int(words[3])
    return None
