"""Programs in live workspaces that kill, fork, fill, remove and pry: process 1 and the neighbours do not mind."""

import io
from collections.abc import Iterator

import pytest
from live_pieces import python, start_python

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import MIB
from benchwright.sandboxes.base import Image, LiveSandbox, LiveWorkspace, WorkspaceLimits
from benchwright.sandboxes.cgroups import GroupFactory
from benchwright.sandboxes.users import user_mapping
from benchwright.testing.live_calls import LIMITS, shell, tree, wait_for_file

pytestmark = pytest.mark.namespaces


@pytest.fixture
def workspace(workspace: LiveWorkspace) -> Iterator[LiveWorkspace]:
    """A workspace with a file; whatever happened in it, that comes out at the end."""
    workspace.put("/made/file", b"work")
    yield workspace
    assert workspace.get("/made/file") == b"work"
    assert contents(workspace) == {"file": b"work"}


def contents(workspace: LiveWorkspace) -> dict[str, bytes]:
    """Files of a folder by name."""
    return tree(workspace, "/made")[1]


FORKS = "while True:\n    try:\n        {}\n    except OSError: pass"
BOMBS = {
    "forks": FORKS.format("os.fork()"),
    "forks with groups of their own": FORKS.format("os.fork(); os.setpgid(0, 0)"),
    "forks that die at once": FORKS.format("os.fork() or os._exit(0)\n        while os.wait(): pass"),
    "threads": (
        "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(99,)).start()\n"
        "    except RuntimeError: pass"
    ),
    "deaf forks that wake each other": (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        + FORKS.format("os.fork(); os.setpgid(0, 0); os.kill(-1, signal.SIGCONT)")
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_fork_bomb_ends_with_its_command(workspace: LiveWorkspace, name: str) -> None:
    """All that is of its session, whatever groups there are; a process of another command is alive after it.

    Memory that the kernel took for refused forks may end it before time does.
    """
    other = start_python(workspace, "import time; open('/tmp/begun', 'w'); time.sleep(600)")
    wait_for_file(workspace, "/tmp/begun")
    done = python(workspace, "import os\n" + BOMBS[name], seconds=1.0)
    assert done.timed_out or done.exit_status == -9
    done = shell(workspace, "ls /proc | grep -c '^[0-9]'")
    assert int(done.stdout) <= 6  # process 1, the next command, the other one, the shell, ls and grep
    other.kill()
    assert other.wait().exit_status == -9


def test_a_bomb_of_many_sessions_is_the_workspace_s_own(
    sandbox: LiveSandbox, image: Image, workspace: LiveWorkspace
) -> None:
    """Others open and run meanwhile; inside, everything can be killed, and closing ends it, too."""
    bomb = "import os\n" + FORKS.format("os.fork() or os.setsid()")
    for end in ("kill", "close"):
        used = workspace if end == "kill" else sandbox.open_live(image, LIMITS)
        process = start_python(used, bomb + "\n", seconds=600.0)
        program = "import os\nwhile len(os.listdir('/proc')) < 80: pass\nprint('full')"
        assert python(used, program, seconds=600.0).stdout in (b"full\n", b"")
        with sandbox.open_live(image, LIMITS) as other:
            assert shell(other, "echo other").stdout == b"other\n"
        if end == "kill":
            python(used, "import os; os.kill(-1, 9)", seconds=600.0)
            assert process.wait().exit_status == -9
            assert shell(used, "echo x").stdout == b"x\n"
        else:
            used.close()
            with pytest.raises(SandboxFault):
                process.wait()


@pytest.mark.parametrize("number", ["KILL", "STOP", "TERM"])
def test_signals_to_everyone_reach_commands_only(workspace: LiveWorkspace, number: str) -> None:
    """Again and again: commands end by themselves, in time or at their time, and then one can end the other."""
    program = (
        f"import os, signal\nopen('/tmp/begun', 'w')\nwhile True:\n    try: os.kill(-1, signal.SIG{number})\n"
        "    except ProcessLookupError: pass"
    )
    process = start_python(workspace, program)
    wait_for_file(workspace, "/tmp/begun")
    for _ in range(5):
        done = shell(workspace, "echo x", seconds=0.5)
        assert done.timed_out or done.exit_status in (0, -9, -15), done
        assert contents(workspace) == {"file": b"work"}
    process.kill()
    assert process.wait().exit_status == -9
    assert shell(workspace, "echo x").stdout == b"x\n"


def test_process_1_cannot_be_signalled_or_limited(workspace: LiveWorkspace) -> None:
    """Not by any signal, and no limit or priority of it changes."""
    program = """
import os, resource, signal
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
for call in (lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3)), lambda: os.setpriority(0, 1, 19)):
    try: print(call())
    except OSError as error: print(error.strerror)
"""
    assert python(workspace, program).stdout.splitlines() == [b"Operation not permitted"] * 2
    assert shell(workspace, "echo x").stdout == b"x\n"


def test_what_is_of_process_1_cannot_be_looked_into(workspace: LiveWorkspace) -> None:
    """Neither process 1 nor the process that is to be the next command: no memory, descriptor, path or variable."""
    program = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
seen = 0
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    if open(f"/proc/{pid}/comm").read() != "init\\n": continue
    seen += 1
    for name in ("fd", "fdinfo", "map_files", "task"):
        try: print(pid, name, [os.readlink(f"/proc/{pid}/{name}/{one}") for one in os.listdir(f"/proc/{pid}/{name}")])
        except OSError as error: assert name == "task" or error.errno == errno.EACCES, error
    for name in ("mem", "environ", "maps", "auxv", "syscall", "stack", "io"):
        try: print(pid, name, open(f"/proc/{pid}/{name}", "rb").read(100))
        except OSError as error: assert error.errno in (errno.EACCES, errno.EPERM, errno.ENOENT), (name, error)
    for name in ("exe", "cwd", "root", "ns/mnt"):
        try: print(pid, name, os.readlink(f"/proc/{pid}/{name}"))
        except OSError as error: assert error.errno == errno.EACCES, (name, error)
    assert not open(f"/proc/{pid}/cmdline", "rb").read().strip(b"\\0")
    for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
        made = libc.ptrace(request, int(pid), 0, 0)
        assert made < 0 and ctypes.get_errno() == errno.EPERM, ctypes.get_errno()
print("seen", seen)
"""
    done = python(workspace, program)
    assert done.stdout == b"seen 2\n", done.stdout + done.stderr
    if user_mapping().ranged:
        assert python(workspace, program, user="nobody").stdout == b"seen 2\n"


def test_no_command_is_seen_before_it_is_one(workspace: LiveWorkspace) -> None:
    """A program that looks into every new process, as fast as it can, never gets hold of a copy of process 1."""
    program = """
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
open("/tmp/begun", "w")
found, end = set(), time.monotonic() + 3
while time.monotonic() < end:
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        try:
            if open(f"/proc/{pid}/comm").read() == "init\\n":
                found |= set(os.listdir(f"/proc/{pid}/fd")) | {open(f"/proc/{pid}/maps").readline()}
                if open(f"/proc/{pid}/comm").read() == "init\\n": print("inside", pid, found)
        except OSError: pass
print("end")
"""
    process = start_python(workspace, program)
    wait_for_file(workspace, "/tmp/begun")
    for _ in range(50):
        shell(workspace, "true")
    assert process.wait().stdout == b"end\n"


def test_a_full_disk_is_the_workspace_s_own(sandbox: LiveSandbox, image: Image, workspace: LiveWorkspace) -> None:
    """Bytes or names run out inside: commands say so, trees come out, and another workspace has all its room."""
    program = """
import os, sys
made = 0
try:
    while True:
        with open(f"/tmp/{made}", "wb") as file:
            if BYTES: file.write(b"x" * (1 << 20))
        made += 1
except OSError as error: print(error.strerror)
"""
    for fill in ("True", "False"):
        assert python(workspace, f"BYTES = {fill}" + program).stdout == b"No space left on device\n"
        assert shell(workspace, "echo x; echo y > /tmp/y || echo z").stdout.startswith(b"x\n")
        with pytest.raises(SandboxFault, match="No space left on device"):
            workspace.put("/made/more", bytes(MIB))
        assert contents(workspace) == {"file": b"work"}
        assert "/tmp/0" in (workspace.written() or ())
        with sandbox.open_live(image, LIMITS) as other:
            assert shell(other, "echo x > x && cat x").stdout == b"x\n"
        python(workspace, "import os\nfor name in os.listdir('/tmp'): os.unlink('/tmp/' + name)")
    assert shell(workspace, "echo x > /tmp/x && cat /tmp/x").stdout == b"x\n"


def test_a_removed_system_is_the_workspace_s_own(workspace: LiveWorkspace) -> None:
    """Commands end with status 127 then; files go in and out, and what is put can be run."""
    program = (
        "import os, shutil\nfor name in os.listdir('/'):\n    if name not in ('made', 'proc', 'dev', 'sys'):\n"
        "        try: os.unlink('/' + name)\n        except OSError: shutil.rmtree('/' + name, ignore_errors=True)\n"
        "shutil.rmtree('/dev', ignore_errors=True); shutil.rmtree('/proc', ignore_errors=True)\n"
    )
    shell_itself = workspace.get("/usr/bin/sh")
    assert shell_itself is not None
    python(workspace, program)
    for cwd in (None, "/"):
        done = shell(workspace, "echo x", cwd=cwd)
        assert (done.exit_status, done.stdout) == (127, b"")
        assert done.stderr.startswith(b"benchwright: ")
    assert set(workspace.written() or ()) >= {"/usr", "/testbed", "/tmp"}
    workspace.put("/usr/bin/sh", shell_itself, mode=0o755)
    assert shell(workspace, "echo x", cwd="/").exit_status in (0, 127)  # the loader is gone, too


@pytest.mark.skipif(not GroupFactory().available, reason="no control group may be made here")
def test_memory_that_stays_taken_is_no_fault_of_the_machine(sandbox: LiveSandbox, image: Image) -> None:
    """Files of a workspace are in memory, so that they can leave too little for commands; they still come out."""
    limits = WorkspaceLimits(memory_bytes=24 * MIB, processes=64, scratch_bytes=256 * MIB)
    with sandbox.open_live(image, limits) as workspace:
        workspace.put("/made/file", b"work")
        assert shell(workspace, "head -c 100000000 /dev/zero > /testbed/x").exit_status != 0
        for _ in range(3):
            assert python(workspace, "taken = bytearray(30 << 20)").exit_status == -9
        assert contents(workspace) == {"file": b"work"}
        assert workspace.written() == ("/made", "/testbed/x")


def test_links_lead_nowhere_else(workspace: LiveWorkspace) -> None:
    """Neither to descriptors of process 1 nor to the kernel's files, whatever is read or written through them."""
    shell(
        workspace,
        "ln -s /proc/self/fd fd; ln -s /proc/1/fd first; for i in $(seq 0 64); do ln -s /proc/self/fd/$i $i; done",
    )
    for number in range(65):
        for folder in ("", "fd/", "first/"):
            assert workspace.get(f"/testbed/{folder}{number}") in (None, b""), f"{folder}{number}"
    file = io.BytesIO()
    for path in ("/testbed/fd", "/testbed/first", *(f"/testbed/{number}" for number in range(65))):
        workspace.tree(path, file)
    assert not file.getvalue().strip(b"\0")
    workspace.put("/testbed/fd/x", b"x")
    assert workspace.get("/testbed/fd/x") == b"x"
    assert shell(workspace, "test -d fd && test ! -L fd").exit_status == 0
