"""A small process beside ours that removes our containers when we are gone, however we went."""

import os
import threading

from benchwright.core.errors import IsolationRefusedError
from benchwright.sandboxes.containers.groups import own_prefix

_SCRIPT = """\
trap '' HUP INT TERM
read -r line
for pause in 0 1; do
    sleep "$pause"
    left=$("$1" ps -a -q --filter "name=$2")
    [ -z "$left" ] || "$1" rm -f -v $left
done
"""
"""Its input is a pipe that only our process holds, so it ends with us.  A client that we started in our last moment may
still be making a container, hence the second look."""

_lock = threading.Lock()
_guarded: set[tuple[int, str]] = set()


def guard(client: str) -> None:
    """Have all containers of this process removed at its end, also by ``kill -9``; once per engine.

    Whoever kills the guard as well leaves them to the next process that opens a workspace.

    Args:
        client: The engine's command.

    Raises `IsolationRefusedError` when this machine cannot start a shell.
    """
    with _lock:
        if (os.getpid(), client) in _guarded:
            return
        try:
            _start(client)
        except OSError as error:
            raise IsolationRefusedError(
                "The process that removes containers when this one is gone could not be started "
                f"({error}); look at the limits of open files and processes."
            ) from error
        _guarded.add((os.getpid(), client))


def _start(client: str) -> None:
    reading, writing = os.pipe()  # the writing end stays open, and is not inherited by what we start
    try:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            os.posix_spawn(
                "/bin/sh",
                ["/bin/sh", "-c", _SCRIPT, "sh", client, own_prefix()],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0)]
                + [(os.POSIX_SPAWN_DUP2, null, number) for number in (1, 2)],
                setsid=True,
            )
        finally:
            os.close(null)
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
