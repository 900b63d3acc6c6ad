"""Live workspaces of the namespace sandbox: users, streams, trees, what was written, limits, faults, nothing left."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sandbox_rootfs
from live_pieces import archive_of, as_root

from benchwright.core.errors import SandboxFault, UsageError
from benchwright.sandboxes import namespace as namespace_module
from benchwright.sandboxes.base import Image, LiveProcess, LiveSandbox, LiveWorkspace, RunLimits
from benchwright.sandboxes.groups import WorkspaceGroup
from benchwright.sandboxes.namespaces.conversation import Exchange
from benchwright.sandboxes.namespaces.live import NamespaceLiveProcess, NamespaceLiveWorkspace
from benchwright.sandboxes.users import user_mapping
from benchwright.testing.calls import in_threads
from benchwright.testing.live_calls import LIMITS, SECONDS, shell, start
from left_behind import groups_of_this_process, mounts, own_seconds, processes_with

pytestmark = pytest.mark.namespaces

SOON_SECONDS = 20.0


def eventually(condition: Any) -> bool:
    """Whether something comes true soon."""
    end = time.monotonic() + SOON_SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def children(pid: int) -> list[int]:
    """Ids of a process's children."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def guests() -> set[int]:
    """Those of this process's children that hold a workspace open."""
    found = set()
    for listing in Path("/proc/self/task").glob("*/children"):
        for pid in map(int, listing.read_text().split()):
            with contextlib.suppress(OSError):
                if b"workspace/__main__.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.add(pid)
    return found


def descriptors() -> set[str]:
    """What this process has open, without the folder that says so."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(f"{entry.name} {entry.readlink()}")
    return {one for one in found if "/proc/" not in one}


def test_the_classes_are_what_the_protocols_ask_for(sandbox: LiveSandbox) -> None:
    """Also for the type checker."""
    workspace: type[LiveWorkspace] = NamespaceLiveWorkspace
    process: type[LiveProcess] = NamespaceLiveProcess
    assert (sandbox.name, workspace.__name__[:9], process.__name__[:9]) == ("namespace", "Namespace", "Namespace")


def test_nothing_is_left_behind(sandbox: LiveSandbox, image: Image, tmp_path: Path) -> None:
    """After closing there is no process, mount, thread, control group or descriptor that was not there before."""
    tmp_path.chmod(0o755)
    mounted, mark = mounts(tmp_path), own_seconds(18642)
    before = (guests(), groups_of_this_process(), descriptors(), threading.active_count())
    workspace = sandbox.open_live(image, LIMITS, shared={"/shared": tmp_path})
    assert len(guests()) == len(before[0]) + 1
    shell(workspace, f"sleep {mark} & setsid sleep {mark} & (sleep {mark}; echo) & exit 0")
    running = start(workspace, f"sleep {mark}")
    workspace.put("/testbed/x", b"x")
    archive_of(workspace).close()
    workspace.written()
    workspace.close()
    with pytest.raises(SandboxFault, match="closed"):
        running.wait()
    assert (guests(), groups_of_this_process(), descriptors(), threading.active_count()) == before
    assert not mounts(tmp_path) - mounted
    assert not processes_with(mark)


@pytest.mark.parametrize("who", ["process 1", "launcher"])
def test_a_killed_guest_is_a_fault_for_whoever_waits_and_whoever_asks(
    sandbox: LiveSandbox, image: Image, who: str
) -> None:
    """Closing clears everything away."""
    before, groups = guests(), groups_of_this_process()
    workspace = sandbox.open_live(image, LIMITS)
    process = start(workspace, f"sleep {own_seconds(17531)}")
    (launcher,) = guests() - before
    (inner,) = children(launcher)
    os.kill(launcher if who == "launcher" else inner, signal.SIGKILL)
    with pytest.raises(SandboxFault, match=r"ended|gone"):
        process.wait()
    for _ in range(2):
        with pytest.raises(SandboxFault, match=r"ended|gone"):
            workspace.get("/etc/hosts")
    with pytest.raises(SandboxFault, match=r"ended|gone"):
        archive_of(workspace)
    process.kill()
    workspace.close()
    assert groups_of_this_process() <= groups
    assert eventually(lambda: not processes_with(own_seconds(17531)))
    assert guests() == before


def test_a_stopped_guest_is_a_fault(sandbox: LiveSandbox, image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not answer is given up; closing kills it and all that is inside."""
    for name in ("_ANSWER_SECONDS", "_END_SECONDS"):
        monkeypatch.setattr(f"benchwright.sandboxes.namespaces.live.{name}", 0.2)
    before = guests()
    workspace = sandbox.open_live(image, LIMITS)
    process = start(workspace, f"sleep {own_seconds(17532)}", seconds=3.0)
    (launcher,) = guests() - before
    (inner,) = children(launcher)
    os.kill(inner, signal.SIGSTOP)
    for call in (process.wait, lambda: workspace.get("/etc/hosts"), lambda: archive_of(workspace), workspace.written):
        with pytest.raises(SandboxFault, match=r"does not (answer|go on)"):
            call()
    workspace.close()
    assert guests() == before
    assert not processes_with(own_seconds(17532))


HOST = """
import sys
sys.path[:0] = sys.argv[1].split(":")
from pathlib import Path
import sandbox_rootfs
from benchwright.sandboxes.base import RunLimits, WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox
limits = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)
workspace = NamespaceSandbox().open_live(sandbox_rootfs.image(Path(sys.argv[2])), limits)
script = "trap '' HUP TERM; setsid sleep {0} & sleep {0} & echo; sleep {0}; sleep {0}".format(sys.argv[4])
process = workspace.start(["sh", "-c", script], limits=RunLimits(wall_seconds=600))
print("ready", flush=True)
if sys.argv[3] == "wait": process.wait()
"""


@pytest.mark.parametrize("end", ["killed", "exits"])
def test_nothing_survives_the_host(sandbox: LiveSandbox, image: Image, end: str) -> None:
    """Whoever opened the workspace may be killed at any moment, or end without closing it."""
    sources = f"{Path(namespace_module.__file__).parents[2]}:{Path(sandbox_rootfs.__file__).parent}"
    command = [
        sys.executable,
        "-c",
        HOST,
        sources,
        str(image.layers[0]),
        "wait" if end == "killed" else "",
        own_seconds(19753),
    ]
    host = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert host.stdout is not None
    try:
        assert host.stdout.readline() == b"ready\n"
        assert end == "exits" or eventually(lambda: len(processes_with(own_seconds(19753))) >= 3)
    finally:
        if end == "killed":
            host.kill()
        assert host.wait(SOON_SECONDS) == (-9 if end == "killed" else 0)
        host.stdout.close()
    assert eventually(lambda: not processes_with(own_seconds(19753)))


def test_twenty_workspaces_are_open_at_once(sandbox: LiveSandbox, image: Image) -> None:
    """Each thread has its own, with its own files, and none fails."""
    results: dict[int, tuple[bytes, int]] = {}

    def live(number: int) -> None:
        with sandbox.open_live(image, LIMITS) as workspace:
            start(workspace, "while :; do echo noise; sleep 0.1; done")
            for turn in range(5):
                done = shell(workspace, f"echo {turn} >> x; cat x | wc -l")
                workspace.put(f"/testbed/{turn}", str(number).encode())
            results[number] = (done.stdout.strip(), len(archive_of(workspace).getnames()))

    in_threads(20, live)
    assert results == dict.fromkeys(range(20), (b"5", 6))


@as_root
def test_another_user_has_its_own_rights_and_no_more(workspace: LiveWorkspace) -> None:
    """No capability, no group besides its own; it may write to its output by name, and HOME stays."""
    script = (
        "id -u; id -g; id -G; grep CapEff /proc/self/status; echo $HOME; echo named > /dev/stdout; exec 2> /dev/stderr"
    )
    done = shell(workspace, script, user="nobody")
    assert done.stdout.split() == [b"65534", b"65534", b"65534", b"CapEff:", b"0" * 16, b"/root", b"named"]
    assert done.exit_status == 0
    assert shell(workspace, "id -u; id -g", user="1234").stdout.split() == [b"1234", b"0"]
    assert shell(workspace, "echo x > /usr/x; kill -9 1", user="nobody").exit_status != 0
    workspace.put("/private/x", b"", mode=0o600)
    shell(workspace, "chmod 700 /private")
    assert shell(workspace, "true", user="nobody", cwd="/private").exit_status == 126
    hog = shell(workspace, "sleep 60 & sleep 60", user="1234", seconds=0.5)
    assert hog.timed_out
    assert b"sleep" not in shell(workspace, "cat /proc/[0-9]*/cmdline").stdout.replace(b"cat", b"")


@pytest.mark.parametrize(
    "passwd",
    [
        "rm /etc/passwd",
        "ln -sf /dev/zero /etc/passwd",
        "rm /etc/passwd; mkfifo /etc/passwd",
        "ln -sf /proc /etc/passwd",
    ],
)
def test_a_spoiled_list_of_users_is_no_fault(workspace: LiveWorkspace, passwd: str) -> None:
    """Names are unknown then, and root is still root."""
    assert shell(workspace, passwd).exit_status == 0
    with pytest.raises(UsageError, match="no user 'nobody'"):
        start(workspace, "true", user="nobody")
    assert shell(workspace, "id -u", user="root").stdout == b"0\n"


@pytest.mark.skipif(user_mapping().ranged, reason="root has other users inside")
def test_a_plain_user_has_no_other_users(workspace: LiveWorkspace) -> None:
    """Which is said as the caller's mistake."""
    for user in ("nobody", "65534", "1000"):
        with pytest.raises(UsageError, match="made by a plain user"):
            start(workspace, "true", user=user)
    assert shell(workspace, "id -u", user="0").stdout == b"0\n"


@pytest.mark.parametrize("user", ["", "no such", "70000", "-1", "1000:1000", "nobody\0"])
def test_users_that_there_are_not_are_refused(workspace: LiveWorkspace, user: str) -> None:
    """And nothing is left of the command."""
    before = descriptors()
    with pytest.raises(UsageError, match=r"There is no user|A command needs"):
        start(workspace, "true", user=user)
    assert shell(workspace, "echo x").stdout == b"x\n"
    assert eventually(lambda: descriptors() == before)


def test_commands_that_no_kernel_takes(workspace: LiveWorkspace) -> None:
    """Such are the caller's mistake, or end with status 126."""
    for command in ([], ["a\0b"], ["\ud800"]):
        with pytest.raises(UsageError, match="A command needs a program"):
            workspace.start(command, limits=RunLimits(wall_seconds=SECONDS))
    for path in ("relative", "/", "/a/../b"):
        with pytest.raises(UsageError, match="plain absolute path"):
            workspace.tree(path, io.BytesIO())
    limits = RunLimits(wall_seconds=SECONDS)
    assert workspace.start(["true", "x" * 131_071], limits=limits).wait().exit_status == 0
    done = workspace.start(["true", "x" * 131_072], limits=limits).wait()
    assert (done.exit_status, b"Argument list too long" in done.stderr) == (126, True)
    assert workspace.start(["true", *["x" * 100_000] * 20], limits=limits).wait().exit_status == 0
    assert workspace.start(["true", *["x" * 100_000] * 22], limits=limits).wait().exit_status == 126
    assert workspace.start(["printf", "%s", "\udcff"], limits=limits).wait().stdout == b"\xff"


def test_much_output_takes_little_memory(workspace: LiveWorkspace) -> None:
    """200 MB that are not text, on both streams at once."""
    script = "head -c 100000000 /dev/zero & head -c 100000000 /dev/zero >&2; wait"
    done = shell(workspace, script, output_bytes=1000)
    assert (done.stdout_total_bytes, done.stderr_total_bytes) == (100_000_000, 100_000_000)
    note = b"\n[benchwright: 99999000 bytes left out]\n"
    assert done.stdout == done.stderr == bytes(500) + note + bytes(500)


def test_whoever_outlives_a_command_may_go_on_writing(workspace: LiveWorkspace) -> None:
    """More than a pipe holds; only where there are very many such processes, the first ones are cut off."""
    program = "head -c 5000000 /dev/zero; touch /tmp/written"
    assert shell(workspace, f"(sleep 0.2; {program}) & echo first").stdout == b"first\n"
    assert eventually(lambda: workspace.get("/tmp/written") is not None)
    flood = shell(workspace, "yes & echo $! > /tmp/flood; sleep 2")
    assert flood.stdout_total_bytes > 0
    assert shell(workspace, "kill -0 $(cat /tmp/flood) && kill -9 $(cat /tmp/flood)").exit_status == 0
    before = len(descriptors())
    for _ in range(40):
        shell(workspace, "sleep 60 &")
        shell(workspace, "kill -9 -1")
    for _ in range(50):
        shell(workspace, "sleep 60 &")
    assert len(descriptors()) <= before + 70


def test_no_time_at_all_is_a_time_out(workspace: LiveWorkspace) -> None:
    """Even for a command that has not begun."""
    for seconds in (0.0, 0.001):
        done = shell(workspace, "sleep 5", seconds=seconds)
        assert (done.timed_out, done.exit_status) == (True, None)


def test_a_session_of_its_own_outlives_a_time_out(workspace: LiveWorkspace) -> None:
    """Unlike everything else of the command."""
    done = shell(workspace, "setsid sleep 555 & sleep 556 & (sleep 557 &) & sleep 558", seconds=1.0)
    assert done.timed_out
    commands = shell(workspace, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    assert [b"55%d" % number in commands for number in (5, 6, 7, 8)] == [True, False, False, False]


def test_a_command_that_could_not_be_run_is_so_for_whoever_asks_again() -> None:
    """The guest says it once."""
    exchange = Exchange(1, ())
    exchange.answers.put({"event": "failed", "message": "no room"})
    process = NamespaceLiveProcess(None, exchange, SECONDS)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(SandboxFault, match="no room"):
            process.wait()


def test_files_that_cannot_be_removed_are_tried_again() -> None:
    """Closing says so, and does nothing only when all is gone."""
    outcomes: list[OSError | None] = [PermissionError("not now"), None]

    def clean_up() -> None:
        if (error := outcomes.pop(0)) is not None:
            raise error

    workspace = NamespaceLiveWorkspace(sandbox_rootfs.image(), LIMITS, WorkspaceGroup(), clean_up)
    with pytest.raises(SandboxFault, match="left over: not now"):
        workspace.close()
    workspace.close()
    workspace.close()
    assert not outcomes


class NoGroups:
    """In the place of `WorkspaceGroups` where this process may make none."""

    def make(self, *, fair: bool) -> WorkspaceGroup:
        """No group at all."""
        assert fair
        return WorkspaceGroup()


@pytest.mark.parametrize("groups", [True, False])
def test_the_largest_are_killed_when_memory_runs_out(
    sandbox: LiveSandbox, image: Image, monkeypatch: pytest.MonkeyPatch, groups: bool
) -> None:
    """By the kernel or by process 1; all others go on."""
    if not groups:
        monkeypatch.setattr(sandbox, "_groups", NoGroups())
    hog = 'python3 -c "x = [bytearray(1 << 20) for _ in range(4000)]"'
    with sandbox.open_live(image, LIMITS) as workspace:
        small = start(workspace, "while [ ! -e /tmp/go ]; do sleep 0.05; done; echo small")
        done = shell(workspace, f"{hog} & {hog} & wait; echo alive")
        assert done.stdout == b"alive\n"
        assert shell(workspace, f"exec {hog}").exit_status == -9
        workspace.put("/tmp/go", b"")
        assert small.wait().stdout == b"small\n"
