"""From a fork of process 1 to a command of the workspace."""

import json
import os
import resource
import signal

from benchwright_guest import kernel

from . import wire

_OPEN_FILES = 16384
_STACK_BYTES = 8 << 20
NOT_FOUND, NOT_STARTED = 127, 126  # as shells have it


def become(link, config, groups):
    """Prepare everything, wait for the command on the link, say so there, and become it; never returns."""
    status = NOT_STARTED
    try:
        for descriptor in groups:
            os.write(descriptor, b"0")
        os.setsid()
        limit(config)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # no command is alive that could look into what is left of process 1
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        start, descriptors = wire.receive(link)
        if start is None:
            os._exit(0)
        os.dup2(descriptors[1], 1)
        os.dup2(descriptors[1], 2)
        os.dup2(descriptors[2] if len(descriptors) > 2 else os.open("/dev/null", os.O_RDONLY), 0)
        with open(descriptors[0], "rb") as body:
            request = json.loads(body.read().decode())
        reset_signals()
        link.send(b"s")
        os.chdir(request["cwd"])
        execute(request["command"], request["environ"])
    except FileNotFoundError as error:
        status = NOT_FOUND
        say(error)
    except BaseException as error:
        say(error)
    os._exit(status)


def execute(command, environ):
    """Become a program; raises OSError where that cannot be."""
    name = command[0]
    if "/" in name:
        os.execve(name, command, environ)
    last = FileNotFoundError(2, "command not found", name)
    for folder in environ.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":"):
        try:
            os.execve(os.path.join(folder or ".", name), command, environ)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            last = error
    raise last


def say(error):
    """Tell in the output why there is no command."""
    words = "%s: %s" % (error.filename, error.strerror) if isinstance(error, OSError) and error.filename else str(error)
    try:
        os.write(2, ("benchwright: %s\n" % words).encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def limit(config):
    """Set what a process may use."""

    def both(kind, value, hard=None):
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            value = min(value, ceiling)
        resource.setrlimit(kind, (value, value if hard is None else ceiling))

    both(resource.RLIMIT_CORE, 0)
    both(resource.RLIMIT_NOFILE, _OPEN_FILES)
    both(resource.RLIMIT_STACK, _STACK_BYTES, hard=True)
    both(resource.RLIMIT_NPROC, config["processes"] + config["process_base"])
    if config["file_bytes"] is not None:
        both(resource.RLIMIT_FSIZE, config["file_bytes"])


def reset_signals():
    """Have every signal do what it does by default."""
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                pass  # a number that this system does not have, or the C library keeps
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
