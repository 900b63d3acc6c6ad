"""Programs that try to get out of a workspace, to outlive their command, or to use more than they may."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError
from benchwright.core.execution import MIB, ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Sandbox, Workspace, WorkspaceLimits
from benchwright.sandboxes.cgroups import GroupFactory
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.sandboxes.users import user_mapping

pytestmark = pytest.mark.namespaces

LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)
SECONDS = 60.0
as_root = pytest.mark.skipif(not user_mapping().ranged, reason="only root has a range of user ids")

# Calls by number, for what the standard library does not offer; each prints the name of the error, or "done".
CALLS = """
import ctypes, errno, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
machine = platform.machine()
def call(numbers, *arguments):
    ctypes.set_errno(0)
    made = libc.syscall(numbers[0 if machine == "x86_64" else 1], *arguments)
    return "done" if made >= 0 else errno.errorcode[ctypes.get_errno()]
"""


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """The sandbox under test."""
    return NamespaceSandbox()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Image:
    """The small root file system; skips where the kernel refuses the sandbox."""
    made = sandbox_rootfs.image(sandbox_rootfs.built_once(tmp_path_factory.getbasetemp()))
    try:
        sandbox.open(made, LIMITS).close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return made


@pytest.fixture
def workspace(sandbox: Sandbox, image: Image) -> Iterator[Workspace]:
    """A fresh workspace, which must be as good as new after whatever ran in it."""
    with sandbox.open(image, LIMITS) as made:
        yield made
        done = shell(made, "echo well; ls /proc | grep -c '^[0-9]'")
        assert done.exit_cause is ExitCause.FINISHED
        assert done.output.split()[0] == b"well"
        assert int(done.output.split()[1]) <= 4  # process 1, the shell, ls and grep


def shell(workspace: Workspace, script: str, *, seconds: float = SECONDS) -> RunResult:
    """Run a script of the shell."""
    return workspace.run(["sh", "-c", script], limits=RunLimits(wall_seconds=seconds))


def python(workspace: Workspace, program: str, *arguments: str, seconds: float = SECONDS) -> RunResult:
    """Run a program."""
    return workspace.run(["python3", "-c", program, *arguments], limits=RunLimits(wall_seconds=seconds))


def lines(done: RunResult) -> list[str]:
    """What a program printed."""
    return done.output.decode("utf-8", "replace").splitlines()


def test_files_of_the_host_do_not_exist(workspace: Workspace, tmp_path: Path) -> None:
    """Neither by their paths, nor through process 1, nor by climbing."""
    secret = tmp_path / "secret"
    secret.write_text("host")
    secret.chmod(0o644)
    for path in (secret, f"/proc/1/root{secret}", f"/proc/1/cwd{secret}", f"{'../' * 40}{str(secret)[1:]}"):
        done = workspace.run(["cat", str(path)], limits=RunLimits(wall_seconds=SECONDS))
        assert done.exit_status == 1, f"{path}: {done.output!r}"
    for path in ("/etc/shadow", "/etc/gshadow", "/home", "/boot", "/etc/ssh", "/var/log", "/run", "/sys/firmware"):
        assert shell(workspace, f"test -e {path}").exit_status == 1, path


def test_the_root_cannot_be_left(workspace: Workspace, tmp_path: Path) -> None:
    """Changing the root, with a folder kept open from before, ends at the workspace's own root."""
    program = """
import os
os.makedirs("/tmp/jail")
before = os.open("/", os.O_RDONLY)
os.chroot("/tmp/jail")
os.fchdir(before)
for _ in range(100): os.chdir("..")
os.chroot(".")
print(sorted(os.listdir("/")))
"""
    seen = lines(python(workspace, program))[0]
    expected = sorted({Path(name).parts[0] for name in sandbox_rootfs.FOLDERS} | {"bin", "sbin", "lib", "lib64"})
    assert seen == str(expected)


def test_kernel_settings_cannot_be_written(workspace: Workspace) -> None:
    """No file below the machine-wide places of /proc or /sys can be opened for writing, nor can their modes change."""
    program = """
import os
tried = opened = 0
for place in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/sys"):
    for folder, _, files in os.walk(place):
        for name in [*files, "."]:
            path, tried = os.path.join(folder, name), tried + 1
            for attempt in (lambda: os.close(os.open(path, os.O_WRONLY)), lambda: os.chmod(path, 0o777)):
                try:
                    attempt()
                    print("changed", path)
                except OSError:
                    pass
for path in ("/proc/sysrq-trigger", "/proc/kcore", "/proc/timer_list", "/proc/keys", "/proc/kmsg", "/proc/acpi/x"):
    try:
        data = open(path, "rb").read(10)
        if data: print("read", path, data)
    except OSError:
        pass
    try:
        open(path, "ab").close() if path == "/proc/sysrq-trigger" else None
        print("changed", path) if path == "/proc/sysrq-trigger" else None
    except OSError:
        pass
print(tried > 100)
"""
    assert lines(python(workspace, program)) == ["True"]


def test_nothing_can_be_mounted_and_no_namespace_made(workspace: Workspace) -> None:
    """Each call is refused, old ways and new ones."""
    program = (
        CALLS
        + """
flags = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x4000000}
print({call((272, 97), flag) for flag in flags.values()})
print({call((56, 220), flag | 17, 0, 0, 0, 0) for flag in flags.values()})
print(call((435, 435), 0, 0))
print(call((165, 40), b"tmpfs", b"/tmp", b"tmpfs", 0, None), call((165, 40), b"/", b"/tmp", b"", 4096, None))
print(call((166, 39), b"/proc", 2), call((155, 41), b"/tmp", b"/tmp"))
print(call((430, 430), b"tmpfs", 0), call((428, 428), -100, b"/", 1), call((429, 429), -1, b"", -1, b"", 0))
own = os.open("/proc/self/ns/net", os.O_RDONLY)
print(call((308, 268), own, 0))
"""
    )
    assert lines(python(workspace, program)) == [
        "{'EPERM'}", "{'EPERM'}", "ENOSYS", "EPERM EPERM", "EPERM EPERM", "EPERM EPERM EPERM", "EPERM",
    ]  # fmt: skip


def test_the_surface_of_the_kernel_is_small(workspace: Workspace) -> None:
    """Keys, programs in the kernel, its modules, handles of files, io_uring and the clock are refused."""
    program = (
        CALLS
        + """
print(call((250, 219), 0, -3, 1), call((248, 217), b"user", b"x", b"y", 1, -3))
print(call((321, 280), 0, 0, 0), call((298, 241), 0, 0, -1, -1, 0), call((323, 282), 0), call((425, 425), 1, 0))
print(call((304, 265), -100, 0, 0), call((175, 105), 0, 0, b""), call((246, 104), 0, 0, 0, 0))
print(call((170, 161), b"x", 1), call((169, 142), 0, 0, 0), call((227, 112), 0, 0), call((167, 224), b"/x", 0))
import socket
for family in (40, 38, 17, 21, 29, 44):
    try: socket.socket(family, socket.SOCK_DGRAM); print(family)
    except OSError as error: print(errno.errorcode[error.errno])
"""
    )
    seen = lines(python(workspace, program))
    assert {word for line in seen[:4] for word in line.split()} == {"EPERM"}
    assert seen[4:] == ["EAFNOSUPPORT"] * 6  # the first reaches the host of a virtual machine past all namespaces


def test_process_1_cannot_be_looked_into_or_ended(workspace: Workspace) -> None:
    """Neither traced, nor read, nor signalled; processes of one's own can be traced, as debuggers need it."""
    program = (
        CALLS
        + """
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
def trace(pid): return "done" if libc.ptrace(16, pid, None, None) == 0 else errno.errorcode[ctypes.get_errno()]
print(trace(1))
for name in ("mem", "environ", "maps", "fd", "root", "cwd", "exe", "ns/net", "stack", "auxv"):
    try:
        path = "/proc/1/" + name
        os.listdir(path) if name == "fd" else os.readlink(path) if name in ("exe", "ns/net") else open(path).read(1)
        print(name)
    except OSError as error:
        pass
print(open("/proc/1/cmdline").read().strip("\\0"), open("/proc/1/comm").read().strip())
for number in (9, 15, 2, 1, 3, 6, 11, 17, 19, 20):
    try: os.kill(1, number)
    except OSError: pass
child = os.fork()
if child == 0:
    while True: pass
print(trace(child))
"""
    )
    assert lines(python(workspace, program)) == ["EPERM", " init", "done"]


def test_no_right_comes_back(workspace: Workspace) -> None:
    """The capabilities are a container's, for good: a setuid program gains nothing, no device can be made."""
    status = lines(shell(workspace, "grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status"))
    values = {line.split(":")[0]: line.split()[1] for line in status}
    assert {int(values[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")} == {0x405FB}
    assert (int(values["CapInh"], 16), int(values["CapAmb"], 16)) == (0, 0)
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")
    assert shell(workspace, "mknod /tmp/disk b 254 0 || mknod /tmp/null c 1 3 || hostname other").exit_status != 0
    assert shell(workspace, "ls /tmp").output == b""
    assert shell(workspace, "hostname").output == b"sandbox\n"


@as_root
def test_a_setuid_program_gains_nothing(workspace: Workspace) -> None:
    """A user inside who starts a program of root stays who it is."""
    shell(workspace, "cp /usr/bin/id /tmp/id; chmod 6755 /tmp/id")
    program = "import os; os.setgroups([]); os.setgid(1000); os.setuid(1000); os.execv('/tmp/id', ['id', '-u'])"
    assert lines(python(workspace, program)) == ["1000"]


@as_root
def test_devices_of_a_layer_cannot_be_opened(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """Even if one got into a layer."""
    os.mknod(tmp_path / "disk", 0o666 | 0o020000, os.makedev(1, 3))
    for path in (tmp_path, tmp_path / "disk"):
        os.chown(path, user_mapping().uid, user_mapping().gid)
    with sandbox.open(sandbox_rootfs.image(*image.layers, tmp_path), LIMITS) as workspace:
        assert lines(shell(workspace, "test -c /disk && echo there; cat /disk")) == [
            "there", "cat: /disk: Permission denied",
        ]  # fmt: skip


def test_only_the_own_network_is_there(workspace: Workspace) -> None:
    """Listeners of the host on its loopback and in its abstract namespace, and everything outside, are out of reach."""
    name = f"\0benchwright-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(name)
        abstract.listen()
        program = """
import errno, socket, sys
for address in (("127.0.0.1", int(sys.argv[1])), ("1.1.1.1", 53), ("192.0.2.1", 80), ("10.0.0.1", 80)):
    try: socket.create_connection(address, 5); print("connected", address)
    except OSError as error: print(errno.errorcode[error.errno])
try: socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[2]); print("connected")
except OSError as error: print(errno.errorcode[error.errno])
try: socket.getaddrinfo("example.org", 80); print("resolved")
except OSError: print("unknown")
"""
        done = python(workspace, program, str(server.getsockname()[1]), name[1:])
    assert lines(done)[:1] == ["ECONNREFUSED"]
    assert set(lines(done)[1:4]) == {"ENETUNREACH"}
    assert lines(done)[4:6] == ["ECONNREFUSED", "unknown"]


def test_the_shared_folder_cannot_be_changed(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """Not by root inside, whatever the modes of its files say."""
    tmp_path.chmod(0o777)
    (tmp_path / "file").write_text("text")
    (tmp_path / "file").chmod(0o666)
    before = (tmp_path / "file").stat().st_mtime_ns
    program = """
import errno, os
os.chdir("/shared")
for attempt in (
    lambda: os.open("file", os.O_WRONLY), lambda: os.open("file", os.O_RDWR | os.O_TRUNC), lambda: os.unlink("file"),
    lambda: os.open("new", os.O_CREAT | os.O_WRONLY), lambda: os.chmod("file", 0), lambda: os.chown("file", 0, 0),
    lambda: os.utime("file"), lambda: os.mkdir("folder"), lambda: os.link("file", "other"),
    lambda: os.truncate("file", 0), lambda: os.setxattr("file", "user.x", b""),
    lambda: os.open("/proc/self/cwd/file", os.O_WRONLY),
):
    try: attempt(); print("changed")
    except OSError as error: print(errno.errorcode[error.errno])
"""
    with sandbox.open(image, LIMITS, shared={"/shared": tmp_path}) as workspace:
        assert set(lines(python(workspace, program))) == {"EROFS"}
        assert shell(workspace, "mount -o remount,rw /shared || umount /shared").exit_status != 0
        assert workspace.get("/shared/file") == b"text"
    assert (tmp_path / "file").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


BOMBS = {
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "forks with sessions of their own": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass"
    ),
    "threads": (
        "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(99,)).start()\n"
        "    except RuntimeError: pass"
    ),
    "forks of many users": (
        "import os\nfor user in range(1000, 1030):\n    try:\n        if os.fork() == 0:\n            os.setuid(user)\n"
        "            while True:\n                try: os.fork()\n                except OSError: pass\n"
        "    except OSError: pass\nimport time; time.sleep(99)"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_fork_bomb_ends_with_its_command(workspace: Workspace, name: str) -> None:
    """However many there are, and whoever they say they are.

    Time ends it, or memory: what the kernel took for a fork that it then refused counts until it comes round to giving
    it back, which on a busy machine may be some thousands of forks later.
    """
    if name == "forks of many users" and not user_mapping().ranged:
        pytest.skip("there are no other users inside")
    done = python(workspace, BOMBS[name], seconds=1.5)
    assert done.exit_cause in (ExitCause.WALL_TIME, ExitCause.MEMORY)


def test_a_memory_hog_is_ended(workspace: Workspace) -> None:
    """One large process; and many small ones that ask the kernel to spare them rather than process 1."""
    done = python(workspace, "taken = [bytearray(1 << 20) for _ in range(4000)]")
    assert done.exit_cause is ExitCause.MEMORY
    assert done.exit_status == -9
    program = """
import os
try: open("/proc/self/oom_score_adj", "w").write("-1000")
except OSError: open("/proc/self/oom_score_adj", "w").write("0")
taking, all_have_taken = os.pipe(), os.pipe()
for _ in range(55):
    if os.fork() == 0:
        os.close(all_have_taken[1])
        taken = bytearray(7 << 20)
        os.close(taking[1])
        os.read(all_have_taken[0], 1)
        os._exit(0)
os.close(taking[1])
os.read(taking[0], 1)  # ends when no process is left that has yet to take its share
os.close(all_have_taken[1])
while True:
    try: os.wait()
    except ChildProcessError: break
"""
    python(workspace, program, seconds=10)
    assert shell(workspace, "echo x").output == b"x\n"


@pytest.mark.skipif(not GroupFactory().available, reason="no control group may be made here")
def test_files_in_memory_count_as_memory(workspace: Workspace) -> None:
    """Also those that have no name and are no part of any process."""
    program = """
import os
made = [os.memfd_create(str(number)) for number in range(100)]
for descriptor in made: os.write(descriptor, b"x" * (8 << 20))
"""
    assert python(workspace, program).exit_cause is ExitCause.MEMORY


@pytest.mark.skipif(not GroupFactory().available, reason="no control group may be made here")
def test_memory_that_stays_taken_is_no_fault_of_the_machine(sandbox: Sandbox, image: Image) -> None:
    """Files of a workspace are in memory, so one command can leave too little for the next to start."""
    limits = WorkspaceLimits(memory_bytes=24 * MIB, processes=64, scratch_bytes=256 * MIB)
    with sandbox.open(image, limits) as workspace:
        assert shell(workspace, "head -c 100000000 /dev/zero > /testbed/x").exit_status != 0
        for _ in range(3):
            done = python(workspace, "taken = bytearray(30 << 20)")
            assert done.exit_cause in (ExitCause.MEMORY, ExitCause.SIGNAL)
        workspace.remove("/testbed/x")
        assert shell(workspace, "echo x").output == b"x\n"


def test_no_time_at_all_is_a_wall_limit(workspace: Workspace) -> None:
    """Even for a command that has not begun."""
    for seconds in (0.0, 0.001):
        assert shell(workspace, "sleep 5", seconds=seconds).exit_cause is ExitCause.WALL_TIME


def test_a_flood_of_output_is_ended(workspace: Workspace) -> None:
    """By many writers at once, too."""
    limits = RunLimits(wall_seconds=SECONDS, output_bytes=MIB)
    for script in ("yes", "for i in 1 2 3 4 5 6; do yes $i & done; sleep 60", "yes & exit 0"):
        done = workspace.run(["sh", "-c", script], limits=limits)
        if done.exit_cause is not ExitCause.FINISHED:  # the last may end before there is too much
            assert done.exit_cause is ExitCause.OUTPUT
            assert done.output_total_bytes > MIB
        assert len(done.output) < 2 * MIB


def test_a_full_disk_is_the_workspace_s_own(sandbox: Sandbox, image: Image, workspace: Workspace) -> None:
    """Bytes and files run out inside; other workspaces, and removing files, go on."""
    program = """
import errno, os, sys
made = 0
def fill(folder):
    global made
    try:
        while True:
            with open(f"{folder}/{made}", "wb") as file:
                if sys.argv[1] == "bytes": file.write(b"x" * (1 << 20))
            made += 1
    except OSError as error: print(errno.errorcode[error.errno])
for folder in ("/tmp", "/dev/shm"): fill(folder)
print(made)
"""
    for kind, most in (("bytes", 64), ("files", 40_000)):
        seen = lines(python(workspace, program, kind))
        assert seen[:2] == ["ENOSPC", "ENOSPC"]
        assert 0 < int(seen[2]) <= most
        with sandbox.open(image, LIMITS) as other:
            assert shell(other, "echo x > /testbed/x").exit_status == 0
        assert shell(workspace, "rm -rf /tmp/* /dev/shm/* && head -c 9000000 /dev/zero > /tmp/x").exit_status == 0


SURVIVORS = {
    "background": "sleep 600 &",
    "deaf": "(trap '' HUP INT TERM; sleep 600) & sleep 0.2",
    "session": "setsid sleep 600 & sleep 0.2",
    "stopped": "sleep 600 & kill -STOP $!",
    "daemon": (
        "python3 -c \"import os, signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        "if os.fork(): time.sleep(0.3); os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
        "while True: time.sleep(1)\""
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SURVIVORS)
def test_nothing_survives_its_command(workspace: Workspace, name: str) -> None:
    """Whatever it ignores and wherever it hides: the next command is alone, as the fixture checks after it."""
    assert shell(workspace, SURVIVORS[name]).exit_cause is ExitCause.FINISHED


def test_a_held_pipe_does_not_delay_the_end(workspace: Workspace) -> None:
    """Children that keep the output open hold up neither a command that ended nor its wall limit."""
    done = shell(workspace, "sleep 600 & echo first; exit 4")
    assert (done.exit_cause, done.exit_status, done.output) == (ExitCause.EXITED, 4, b"first\n")
    assert done.wall_seconds < 30
    done = shell(workspace, "sleep 600 & sleep 600 & echo first; wait", seconds=1.0)
    assert (done.exit_cause, done.output) == (ExitCause.WALL_TIME, b"first\n")
    assert done.wall_seconds < 30


def test_open_files_run_out_for_the_command_alone(workspace: Workspace) -> None:
    """At a number that is far from what the machine has."""
    program = """
import errno, os
made = []
try:
    while True: made.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error: print(errno.errorcode[error.errno], 1000 < len(made) < 20000)
"""
    assert lines(python(workspace, program)) == ["EMFILE True"]


C_LIBRARY_SIGNALS = 1 << 31 | 1 << 32
"""Bits of the signals 32 and 33, which glibc keeps for itself: as they came from whoever started the tests."""


def test_a_command_cannot_spoil_the_next(workspace: Workspace) -> None:
    """Times, priorities, limits, masks and closed descriptors are its own."""
    program = """
import os, resource, signal
os.nice(10); os.umask(0o777)
resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
os.closerange(0, 100)
"""
    assert python(workspace, program).exit_status == 0
    script = "umask; ulimit -n; nice 2> /dev/null || echo 0; grep -E '^Sig(Blk|Ign)' /proc/self/status"
    seen = lines(shell(workspace, script))
    assert (seen[0], seen[1], seen[2]) == ("0022", "16384", "0")
    masks = [int(line.split()[1], 16) for line in seen[3:]]
    assert len(masks) == 2
    assert not any(mask & ~C_LIBRARY_SIGNALS for mask in masks)
