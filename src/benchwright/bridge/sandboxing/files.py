"""Reading and writing files for Inspect: scripts for the sandbox's shell, and what their statuses mean.

Inspect wants to be told why not (a folder, no right, too large), which `LiveWorkspace.get` and ``put`` do not say, and
wants files written as the sandbox's user writes them: through links, with the modes that are there.  Root may read and
write everything; but a file whose owner may not is refused, as Inspect's own provider for Docker does on reading.
"""

import enum
import errno
import signal
from typing import NoReturn

from inspect_ai.util import OutputLimitExceededError, SandboxEnvironmentLimits, SandboxUnavailableError

from benchwright.bridge.sandboxing.results import NOT_FOUND, NOT_STARTED, returncode
from benchwright.sandboxes.base import LiveResult

SECONDS = 600.0
"""For a file to be read or written; as in Inspect's own providers."""


class _Status(enum.IntEnum):
    """Of the scripts; none that a shell, `ls`, `mkdir` or `cat` ends with by itself."""

    FOLDER = 21
    MISSING = 22
    ODD = 23
    DENIED = 24
    LARGE = 25
    TOO_MUCH_WRITTEN = 128 + signal.SIGXFSZ  # where there is a limit for each file


_START = "PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C\nexport PATH LC_ALL\n"
_READ = f"""{_START}
[ ! -d "$1" ] || exit {_Status.FOLDER:d}
[ -e "$1" ] || exit {_Status.MISSING:d}
facts=$(ls -dlnL -- "$1") || exit
case $facts in -r*) ;; -*) exit {_Status.DENIED:d} ;; *) exit {_Status.ODD:d} ;; esac
most=$2
set -- "$1" $facts
[ "$6" -le "$most" ] || exit {_Status.LARGE:d}
exec cat -- "$1"
"""
_WRITE = f"""{_START}
[ ! -d "$1" ] || exit {_Status.FOLDER:d}
if [ -e "$1" ]; then
    facts=$(ls -dlnL -- "$1") || exit
    case $facts in ??w*) ;; *) exit {_Status.DENIED:d} ;; esac
else
    folder=${{1%/*}}
    mkdir -p -- "${{folder:-/}}" || exit
fi
exec cat > "$1"
"""
_REASONS = {
    "no space left": errno.ENOSPC,
    "disk quota exceeded": errno.EDQUOT,
    "file too large": errno.EFBIG,
    "not a directory": errno.ENOTDIR,
    "file exists": errno.ENOTDIR,  # what `mkdir` says of a file in the place of a parent folder
    "file name too long": errno.ENAMETOOLONG,
    "permission denied": errno.EACCES,
}


def reading(path: str) -> list[str]:
    """The command that writes a file to its standard output."""
    return ["/bin/sh", "-c", _READ, "sh", path, str(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)]


def writing(path: str) -> list[str]:
    """The command that writes its standard input to a file, with its parent folders."""
    return ["/bin/sh", "-c", _WRITE, "sh", path]


def content(file: str, done: LiveResult) -> bytes:
    """What was read; raises the errors of Inspect's ``read_file``."""
    check(file, done)
    if done.stdout_total_bytes > SandboxEnvironmentLimits.MAX_READ_FILE_SIZE:
        _too_large()
    return done.stdout


def check(file: str, done: LiveResult) -> None:
    """Raise what Inspect's interface has for a file that was not read or written.

    That is ``OSError`` with the kernel's reason, such as a full disk, where Inspect has nothing of its own.
    """
    if done.timed_out:
        raise TimeoutError(f"{file} could not be read or written in {SECONDS:g} seconds")
    said = done.stderr.decode("utf-8", "replace").strip()
    match returncode(done):
        case 0:
            return
        case _Status.FOLDER:
            raise IsADirectoryError(errno.EISDIR, "Is a directory", file)
        case _Status.MISSING:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", file)
        case _Status.ODD:
            raise OSError(errno.EINVAL, "Not a regular file", file)
        case _Status.DENIED:
            raise PermissionError(errno.EACCES, "Permission denied", file)
        case _Status.LARGE:
            _too_large()
        case _Status.TOO_MUCH_WRITTEN:
            raise OSError(errno.EFBIG, "File too large", file)
        case status if status in (NOT_FOUND, NOT_STARTED):
            raise SandboxUnavailableError(f"The sandbox's shell, `ls` or `cat` cannot be run any more: {said}")
        case _:
            _raise_reason(file, said)


def _raise_reason(file: str, said: str) -> NoReturn:
    if "read-only file system" in said.lower():
        raise PermissionError(errno.EROFS, "Read-only file system", file)
    number = next((number for words, number in _REASONS.items() if words in said.lower()), errno.EIO)
    raise OSError(number, said or "The command that reads or writes files was ended", file)


def _too_large() -> NoReturn:
    raise OutputLimitExceededError(limit_str=SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, truncated_output=None)
