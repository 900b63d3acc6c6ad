"""One job in one child process: private mounts, limits, rights given up, then the driver.

The child is forked by a slot with all preloaded modules in memory.  Everything up to `driver.run` is our own
code; a failure there is a fault of the sandbox and reported as such, never as a wrong answer.
"""

import io
import json
import os
import random
import resource
import signal
import sys
import time
import traceback

from . import driver, frames, guard, kernel, rootfs, seccomp

SETUP_FAILED = 97
WORK = "/tmp/work"


class NoInput(io.TextIOBase):
    """Standard input of a job: reading fails at once, as under the official harness."""

    def readable(self):
        """Say that nothing can be read."""
        return False

    def read(self, *args):
        """Refuse."""
        raise OSError("standard input is closed")

    readline = readlines = __next__ = read

    def fileno(self):
        """Descriptor 0, which is /dev/null."""
        return 0


def receive_payload(channel):
    """The job, sent by the host as one length-prefixed JSON document."""
    header = _receive_exactly(channel, frames.HEADER.size)
    return json.loads(_receive_exactly(channel, frames.HEADER.unpack(header)[0]).decode("utf-8", "surrogatepass"))


def _receive_exactly(channel, count):
    parts = []
    while count:
        part = os.read(channel, min(count, 1 << 20))
        if not part:
            raise OSError("the host closed the channel before the job was complete")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def main(channel, output, prepared, work):
    """Run one job and leave the process; never returns."""
    try:
        guard.arm(prepared["witness"], channel, prepared["codes"], prepared["folders"])
        job = receive_payload(channel)
        _set_up(job, output, prepared, work)
    except BaseException as error:
        driver.report("setup_failed", {"message": ("%s: %s" % (type(error).__name__, error))[:500]})
        os._exit(SETUP_FAILED)
    missing = []
    status = 0
    try:
        watched = frozenset(job["watched_modules"])
        if watched:
            sys.meta_path.append(_MissingModules(watched, missing))
        _forget_guest()
        driver.run(job, prepared, missing, prepared["witness"])
    except BaseException:
        # The driver itself failed: no closing frame, so this can never pass.  The traceback goes to the output.
        status = 1
        try:
            traceback.print_exc()
        except BaseException:
            pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(status)


class _MissingModules:
    """Last in ``sys.meta_path``: remembers which absent modules were asked for."""

    def __init__(self, watched, missing):
        self._watched = watched
        self._missing = missing

    def find_spec(self, name, path=None, target=None):
        """Find nothing, and note it."""
        top = name.partition(".")[0]
        if top in self._watched and top not in self._missing:
            self._missing.append(top)


def _set_up(job, output, prepared, work):
    limits = job["limits"]
    isolated = prepared["isolation"] == "namespace"
    if isolated:
        _mount_private(limits, prepared["covered"])
    else:
        os.setsid()
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    _redirect(output)
    _environment(prepared, isolated, work)
    _limit(limits, prepared)
    if isolated:
        kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if isolated:
        # The process's own memory, environment and the like under /proc then belong to nobody it can become.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    if isolated and prepared["seccomp"]:
        seccomp.install(prepared["seccomp"])
    _reseed()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _mount_private(limits, covered):
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET)
    kept = [(path, os.open(path, os.O_PATH)) for path in covered]
    kernel.bring_loopback_up()
    quiet = kernel.MS_NOSUID | kernel.MS_NODEV
    # One file system for all that a job may write, so that its size and number of files are limited together.
    size = "size=%d,nr_inodes=%d" % (limits["scratch_bytes"], limits["scratch_files"])
    kernel.mount("tmpfs", rootfs.SCRATCH, "tmpfs", quiet, "mode=755," + size)
    for place, mode in rootfs.WRITABLE:
        folder = rootfs.SCRATCH + "/" + place.strip("/").replace("/", "-")
        os.mkdir(folder)
        os.chmod(folder, mode)
        kernel.mount(folder, place, "", kernel.MS_BIND)
    for path, descriptor in kept:  # an environment below /tmp or the like stays where its paths say
        os.makedirs(path, exist_ok=True)
        kernel.mount("/proc/self/fd/%d" % descriptor, path, "", kernel.MS_BIND)
        os.close(descriptor)
    kernel.mount("proc", "/proc", "proc", quiet | kernel.MS_NOEXEC)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    kernel.mount("none", "/proc", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | quiet | kernel.MS_NOEXEC)


def _redirect(output):
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in (null, output):
        if descriptor > 2:
            os.close(descriptor)
    sys.stdin = NoInput()
    sys.stdout = sys.__stdout__ = _text_stream(1, False)
    sys.stderr = sys.__stderr__ = _text_stream(2, True)


def _text_stream(descriptor, line_buffering):
    raw = io.FileIO(descriptor, "w", closefd=False)
    buffer = io.BufferedWriter(raw, 8192)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=line_buffering)


def _environment(prepared, isolated, work):
    variables = dict(prepared["variables"])
    variables["HOME"] = rootfs.HOME if isolated else work
    variables["TMPDIR"] = "/tmp"
    variables["USER"] = variables["LOGNAME"] = rootfs.USER
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    sys.argv[:] = [""]
    os.umask(0o022)


def _limit(limits, prepared):
    def soft(kind, value, hard=None):
        _, ceiling = resource.getrlimit(kind)
        hard = value if hard is None else hard
        if ceiling != resource.RLIM_INFINITY:
            value, hard = min(value, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (value, hard))

    cpu = max(1, int(limits["cpu_seconds"] + 0.999))
    soft(resource.RLIMIT_CPU, cpu, cpu + 2)
    soft(resource.RLIMIT_CORE, 0)
    soft(resource.RLIMIT_FSIZE, limits["scratch_bytes"])
    soft(resource.RLIMIT_NOFILE, 4096)
    soft(resource.RLIMIT_MEMLOCK, 64 << 20)
    soft(resource.RLIMIT_MSGQUEUE, 1 << 20)
    soft(resource.RLIMIT_NPROC, limits["processes"] + prepared["process_base"] + 1)
    if not prepared["memory_by_cgroup"]:
        soft(resource.RLIMIT_DATA, limits["memory_bytes"] + prepared["data_base"])


def _reseed():
    # random reseeds itself after a fork; numpy's global generator does not, and all children would share it.
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(int.from_bytes(os.urandom(4), "little"))
    faker = sys.modules.get("faker.generator")  # keeps a generator of its own, shared by all that it makes
    if faker is not None:
        faker.random.seed()


def _forget_guest():
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchwright_guest"]:
        del sys.modules[name]
    main_module = sys.modules.get("__main__")
    if main_module is not None:
        for name in list(vars(main_module)):
            if not name.startswith("__"):
                delattr(main_module, name)
