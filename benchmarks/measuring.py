"""What the benchmarks share: a command and its process tree measured, fresh homes, facts of the machine.

Run as a program this file is the *wrapper*: it becomes the child subreaper, runs one command, samples
memory, and writes what it saw as JSON.  A process of its own is needed because ``RUSAGE_CHILDREN`` counts
everything a process ever waited for, and because orphans of the command must come back to somebody who
counts and ends them.

    python benchmarks/measuring.py REPORT.json -- COMMAND ARGUMENT...
"""

import contextlib
import ctypes
import dataclasses
import json
import os
import platform
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchwright.core.errors import BenchwrightError
from benchwright.execution.guest import guest_version
from benchwright.store.records import RecordStore

MIB = 1024 * 1024
GUEST_MARK = "benchwright_guest"
"""Part of the command line of every guest process: mothers, slots, and samples being run."""

_PR_SET_CHILD_SUBREAPER = 36
_NOT_SHARED = ("records.sqlite", "benchmark-")
_TICK_SECONDS = 0.25
_PSS_SECONDS = 2.0
_DYING_SECONDS = 0.5
"""Processes that have been told to end get this long before they count as left over."""
_PSS_DUTY = 100
"""Reading ``smaps_rollup`` walks page tables; it may take at most 1/100 of the time, or it would be the
load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One command, measured."""

    exit_status: int
    wall_seconds: float
    """From the start of the command to the end of its own process."""
    cpu_seconds: float
    """User and system time of the command and everything it left behind (``RUSAGE_CHILDREN``)."""
    leftovers: int
    """Processes of its tree still alive when it had ended; they were then killed and are counted in the CPU
    time."""
    other_cpu_seconds: float
    """CPU time the rest of the machine used meanwhile: near nothing on a quiet machine."""
    load_before: float
    """Load average over the minute before the start."""
    command_rss_peak_bytes: int
    """``VmHWM`` of the command's own process."""
    mothers_rss_peak_bytes: int
    """Largest sum of the resident sizes of guest mothers; nothing shared is taken off."""
    guests_pss_peak_bytes: int
    """Largest sum of the proportional sizes of mothers, slots and samples being run."""
    tree_pss_peak_bytes: int
    """The same over the whole tree, the command's own process included."""
    memory_samples: int
    """How often the proportional sizes were read."""
    unreadable: int
    """Processes whose memory could not be read (of another user), summed over the samples."""

    @classmethod
    def read(cls, path: Path) -> "Measured":
        """Read a report that the wrapper wrote."""
        return cls(**json.loads(path.read_text()))


def measure(command: Sequence[str], *, variables: Mapping[str, str], folder: Path, log: Path) -> Measured:
    """Run a command in ``folder`` and measure it; its output goes to ``log``.

    Raises `SystemExit` with the end of the log when the wrapper itself breaks; a command that fails is
    reported by its exit status.
    """
    with tempfile.TemporaryDirectory(prefix="bw-measure-") as temporary:
        report = Path(temporary) / "report.json"
        own = Path(__file__).resolve()
        with log.open("wb") as output:
            subprocess.run(
                [sys.executable, str(own), str(report), "--", *command],
                cwd=folder,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if not report.exists():
            raise SystemExit(f"The measuring wrapper broke; the end of {log}:\n{tail(log)}")
        return Measured.read(report)


def tail(log: Path, characters: int = 2000) -> str:
    """The end of a log."""
    return log.read_text(errors="replace")[-characters:]


@contextlib.contextmanager
def fresh_home(home: Path, *, controls: bool = True) -> Iterator[Path]:
    """A benchwright home without any finished work, removed at the end.

    Environments and whatever else is built once are those of ``home`` (symbolic links), and with ``controls``
    its control runs are copied.  It lives inside ``home``, for a guest covers /tmp with its own.
    """
    parent = home / "benchmark-homes"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent))
    try:
        for entry in home.iterdir():
            if not entry.name.startswith(_NOT_SHARED):
                (folder / entry.name).symlink_to(entry)
        with RecordStore(folder / "records.sqlite"):
            pass  # makes the tables
        if controls and (home / "records.sqlite").exists():
            _copy_controls(home / "records.sqlite", folder / "records.sqlite")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another benchmark has its home there
            parent.rmdir()


def _copy_controls(source: Path, target: Path) -> None:
    with contextlib.closing(sqlite3.connect(source, timeout=60)) as reading:
        rows = reading.execute("SELECT environment, guest, problem, body FROM controls").fetchall()
    with contextlib.closing(sqlite3.connect(target, timeout=60)) as writing, writing:
        writing.executemany("INSERT INTO controls VALUES (?, ?, ?, ?)", rows)


def machine_facts() -> dict[str, Any]:
    """What a reader must know of the machine and the code to place a figure."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    commit = subprocess.run(
        ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": platform.release(),
        "host_python": platform.python_version(),
        "root": os.getuid() == 0,
        "load": os.getloadavg()[0],
        "commit": commit or "unknown",
        "guest_version": guest_version(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNow:
    """Memory of a process tree at one moment, in bytes."""

    mothers_rss: int
    guests_pss: int
    tree_pss: int
    unreadable: int


def memory_of_tree(root: int, *, host: int) -> MemoryNow:
    """Memory of everything below ``root``.

    Mothers are the guest processes that ``host`` started and that share its pid namespace.  Slots leave their mother
    for a namespace of their own and become orphans: give the process that adopts them as ``root``.
    """
    mothers_rss = guests_pss = tree_pss = unreadable = 0
    parents = _parents()
    for process in descendants(root, parents):
        sizes = _sizes(process)
        if sizes is None:
            unreadable += 1
            continue
        rss, pss = sizes
        tree_pss += pss
        if GUEST_MARK in _command_line(process):
            guests_pss += pss
            if parents.get(process) == host and _pid_namespace(process) == _pid_namespace(host):
                mothers_rss += rss
    return MemoryNow(mothers_rss=mothers_rss, guests_pss=guests_pss, tree_pss=tree_pss, unreadable=unreadable)


def _pid_namespace(process: int) -> str:
    try:
        return str(Path(f"/proc/{process}/ns/pid").readlink())
    except OSError:
        return ""


def resident_bytes(process: int, field: str = "VmRSS") -> int:
    """Resident memory (``VmRSS``) or its highest so far (``VmHWM``); 0 when the process has ended."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def descendants(root: int, parents: Mapping[int, int] | None = None) -> list[int]:
    """All processes below ``root``, zombies left out."""
    children: dict[int, list[int]] = {}
    for process, parent in (_parents() if parents is None else parents).items():
        children.setdefault(parent, []).append(process)
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _parents() -> dict[int, int]:
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{entry.name}/stat").read_text().rpartition(")")[2].split()
                if fields[0] not in "ZX":
                    parents[int(entry.name)] = int(fields[1])
    return parents


def _sizes(process: int) -> tuple[int, int] | None:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except ProcessLookupError:
        return 0, 0
    except OSError:
        return None
    values = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith(" kB")}
    return values.get("Rss", 0), values.get("Pss", 0)


def _program(process: int) -> int:
    """The process itself, or the one that runs in its place when it is ``unshare --fork``."""
    with contextlib.suppress(OSError):
        if Path(f"/proc/{process}/comm").read_text().strip() == "unshare":
            below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            return int(below[0]) if below else process
    return process


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def busy_seconds() -> float:
    """CPU seconds all processors of the machine have been busy since it started."""
    fields = [int(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    user, nice, system, _idle, _iowait, interrupts, soft_interrupts, steal = fields
    return (user + nice + system + interrupts + soft_interrupts + steal) / os.sysconf("SC_CLK_TCK")


class _Sampler(threading.Thread):
    """Watches the memory of the command's tree until told to stop."""

    def __init__(self, command: int) -> None:
        super().__init__(daemon=True)
        self._command = command
        self._ended = threading.Event()
        self.command_rss = 0
        self.peak = MemoryNow(mothers_rss=0, guests_pss=0, tree_pss=0, unreadable=0)
        self.samples = 0

    def run(self) -> None:
        due = time.monotonic() + _PSS_SECONDS / 2
        while not self._ended.wait(_TICK_SECONDS):
            self.command_rss = max(self.command_rss, resident_bytes(_program(self._command), "VmHWM"))
            started = time.monotonic()
            if started >= due:
                self._sample()
                cost = time.monotonic() - started
                due = started + max(_PSS_SECONDS, _PSS_DUTY * cost)

    def _sample(self) -> None:
        now = memory_of_tree(os.getpid(), host=self._command)
        self.samples += 1
        self.peak = MemoryNow(
            mothers_rss=max(self.peak.mothers_rss, now.mothers_rss),
            guests_pss=max(self.peak.guests_pss, now.guests_pss),
            tree_pss=max(self.peak.tree_pss, now.tree_pss),
            unreadable=self.peak.unreadable + now.unreadable,
        )

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _wrapper(report: Path, command: Sequence[str]) -> None:
    adopt_orphans()
    load, busy, started = os.getloadavg()[0], busy_seconds(), time.monotonic()
    process = subprocess.Popen(command)
    sampler = _Sampler(process.pid)
    sampler.start()
    status = 0
    leftovers = 0
    try:
        pid = 0
        while pid != process.pid:
            pid, status = os.wait()  # orphans that end meanwhile are taken in too
        wall = time.monotonic() - started
        sampler.stop()
    finally:
        leftovers = _end_descendants()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    result = Measured(
        exit_status=os.waitstatus_to_exitcode(status),
        wall_seconds=wall,
        cpu_seconds=cpu,
        leftovers=leftovers,
        other_cpu_seconds=max(0.0, busy_seconds() - busy - cpu - own.ru_utime - own.ru_stime),
        load_before=load,
        command_rss_peak_bytes=sampler.command_rss,
        mothers_rss_peak_bytes=sampler.peak.mothers_rss,
        guests_pss_peak_bytes=sampler.peak.guests_pss,
        tree_pss_peak_bytes=sampler.peak.tree_pss,
        memory_samples=sampler.samples,
        unreadable=sampler.peak.unreadable,
    )
    report.write_text(json.dumps(dataclasses.asdict(result)))


def _end_descendants() -> int:
    """Kill what the command left of itself and take it in; returns how many there were."""
    take_in_orphans()
    time.sleep(_DYING_SECONDS)
    seen: set[int] = set()
    while alive := descendants(os.getpid()):
        for process in alive:
            seen.add(process)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        take_in_orphans()
        time.sleep(0.02)
    take_in_orphans()
    return len(seen)


def adopt_orphans() -> None:
    """Make this process the parent of its orphaned descendants, so that their CPU time comes back to it."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def take_in_orphans() -> None:
    """Wait for every child that has ended; only then does its time show in ``RUSAGE_CHILDREN``."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def run_program(main: Callable[[], int]) -> NoReturn:
    """Run a benchmark's ``main`` and exit with its status; what benchwright refuses is said in one sentence."""
    try:
        sys.exit(main())
    except BenchwrightError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


if __name__ == "__main__":
    separator = sys.argv.index("--")
    _wrapper(Path(sys.argv[separator - 1]), sys.argv[separator + 1 :])
