"""The shell around a command of a live workspace, and finding its words in the command's output.

An engine's client waits for whoever holds the command's output, says nothing of the command's process, and stops
reading seconds after it has ended, which kills what goes on writing.  So the shell says on the error stream that the
command begins, and in which session, and on both streams that it has ended, and how; then it waits, stopped, for its
pipes to be taken over from outside.  It uses builtins only.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchwright.sandboxes.output import Output

_SCRIPT = """\
trap : HUP INT QUIT TERM USR1 USR2
unset BENCHWRIGHT
set --
while eval "[ \\"\\${BENCHWRIGHT_$#+set}\\" ]"; do
    eval "set -- \\"\\$@\\" \\"\\$BENCHWRIGHT_$#\\"; unset BENCHWRIGHT_$#"
done
echo "$1$$" >&2
exec 9>&2 2>&-
(
    if [ "$2" = merged ]; then exec 2>&1 9>&-; else exec 2>&9 9>&-; fi
    cd -- "$4" || exit 127
    shift 4
    exec "$@"
)
set -- "$1$?" "$3"
echo "$1"
echo "$1" >&9
[ "$2" != stop ] || kill -STOP $$
"""
"""The traps keep the shell alive when the command signals its process group; the command has none.  No variables are
set, since the command would inherit them under a name that it uses.  The shell's own errors are closed, for it would
say there that the command died of a signal."""
LEADER_OUTPUTS = ("1", "9")
"""Under which descriptors the shell holds the two streams."""

END_SESSION = """\
all() {
    for path in /proc/[0-9]*/stat; do
        line=
        read -r line < "$path"
        set -- "$1" "$2" ${line##*) }
        [ "$6" = "$2" ] || continue
        case $3 in $1) continue ;; esac
        path=${path#/proc/} found=yes
        kill -"$signal" "${path%/stat}"
    done
}
for round in 1 2 3 4 5 6 7 8 9; do
    signal=STOP
    for pass in 1 2 3 4 5 6 7 8 9; do found=; all '[TtZX]' "$1"; [ "$found" ] || break; done
    signal=KILL
    found=
    all '[ZX]' "$1"
    [ "$found" ] || exit 0
done 2> /dev/null
exit 1
"""
"""Ends all of a session, from inside; see `processes.OwnProcesses` for why they are stopped first."""
END_ALL = "kill -KILL -1"
"""Ends all but the container's own process and the shell that says it, all at one instant."""

_VARIABLE = "BENCHWRIGHT"
_MESSAGE_BYTES = 1 << 16
_STATUS_DIGITS = 10


def new_token() -> str:
    """The beginning of the shell's lines, which no output has by accident."""
    return f"benchwright-{secrets.token_hex(16)}:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """A command with the shell around it."""

    environ: Mapping[str, str]
    """Variables for the shell, to be added to the command's own, which does not see them.

    They hold the command, which as arguments of the shell would show in its command line, so that a search for
    processes by a word of their command (``pkill -f``) would find the shell.
    """
    command: tuple[str, ...]


def wrapped(command: Sequence[str], cwd: str, *, token: str, merged: bool, stop: bool) -> Wrapped:
    """The command with the shell around it.

    Args:
        command: Program and arguments.
        cwd: Its folder.
        token: From `new_token`.
        merged: Whether its errors join its output.
        stop: Whether the shell shall wait, stopped, after the end; else it ends.
    """
    flags = ("merged" if merged else "", "stop" if stop else "")
    words = enumerate([token, *flags, cwd, *command])
    environ = {_VARIABLE: _SCRIPT, **{f"{_VARIABLE}_{number}": word for number, word in words}}
    return Wrapped(environ=environ, command=("/bin/sh", "-c", f'eval "${_VARIABLE}"'))


class MarkedOutput:
    """One stream of a command, without the shell's lines."""

    def __init__(self, token: str, most: int, *, begins: bool) -> None:
        """Args: ``begins`` says whether the shell's first line comes here; what is before it is the engine's."""
        self.output = Output(most)
        self.message = b""
        """What came before the command began."""
        self.leader: int | None = None
        """The command's session by its number inside, once it has begun; always None on the other stream."""
        self.status: int | None = None
        """The command's status, once it has ended; what comes afterwards is others'."""
        self._begins = begins
        self._held = b""
        self._line = re.compile(re.escape(token.encode()) + rb"([0-9]{1,%d})\n" % _STATUS_DIGITS)
        self._hold = len(token) + _STATUS_DIGITS

    def add(self, data: bytes) -> None:
        """Take what came next."""
        self._held += data
        while self.status is None and (found := self._line.search(self._held)):
            self._pass_on(found.start())
            self._held = self._held[found.end() - found.start() :]
            if self._begins and self.leader is None:
                self.leader = int(found[1])
            else:
                self.status = int(found[1])
        self._pass_on(len(self._held) - self._hold)

    def finish(self) -> None:
        """Nothing comes any more."""
        self._pass_on(len(self._held))

    def _pass_on(self, count: int) -> None:
        if count <= 0:
            return
        data, self._held = self._held[:count], self._held[count:]
        if self.status is not None:
            return
        if self._begins and self.leader is None:
            self.message = (self.message + data)[:_MESSAGE_BYTES]
        else:
            self.output.add(data)
