"""The namespace sandbox: layers, what is kept, limits, faults, and that nothing is left behind."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError, SandboxFault, UsageError
from benchwright.core.execution import MIB, ExitCause
from benchwright.sandboxes import namespace as namespace_module
from benchwright.sandboxes import users
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Sandbox, Workspace, WorkspaceLimits
from benchwright.sandboxes.groups import WorkspaceGroup
from benchwright.sandboxes.namespace import NamespaceSandbox, NamespaceWorkspace
from benchwright.sandboxes.namespaces.groups import WorkspaceGroups
from benchwright.sandboxes.users import BASE_UID, ID_COUNT, UserMapping, user_mapping
from left_behind import groups_of_this_process, mounts, own_seconds, processes_with

pytestmark = pytest.mark.namespaces

LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)
RUN = RunLimits(wall_seconds=60.0)
SOON_SECONDS = 20.0
as_root = pytest.mark.skipif(not user_mapping().ranged, reason="only root has a range of user ids")


@pytest.fixture(scope="module")
def rootfs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system as the lowest layer."""
    return sandbox_rootfs.built_once(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def sandbox(rootfs: Path) -> Sandbox:
    """The sandbox under test; skips where the kernel refuses it."""
    made = NamespaceSandbox()
    try:
        made.open(sandbox_rootfs.image(rootfs), LIMITS).close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return made


@pytest.fixture(scope="module")
def image(rootfs: Path) -> Image:
    """The root file system alone."""
    return sandbox_rootfs.image(rootfs)


@pytest.fixture
def workspace(sandbox: Sandbox, image: Image) -> Iterator[Workspace]:
    """A fresh workspace."""
    with sandbox.open(image, LIMITS) as made:
        yield made


def shell(workspace: Workspace, script: str, **options: Any) -> RunResult:
    """Run a script of the shell."""
    return workspace.run(["sh", "-c", script], limits=RUN, **options)


def layer(folder: Path, files: dict[str, str]) -> Path:
    """A layer with some files."""
    mapping = user_mapping()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, mapping.uid, mapping.gid)
    return folder


def children(pid: int) -> list[int]:
    """Ids of a process's children."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def launchers() -> set[int]:
    """The processes outside of workspaces that this process has now."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == os.getpid() and b"workspace/__main__.py" in command:
                found.add(int(entry.name))
    return found


def eventually(condition: Any) -> bool:
    """Whether something comes true soon."""
    end = time.monotonic() + SOON_SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def descriptors() -> set[str]:
    """What this process has open, without the folder that says so."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(f"{entry.name} {entry.readlink()}")
    return {one for one in found if "/proc/" not in one}


def test_upper_layers_hide_lower_ones(sandbox: Sandbox, rootfs: Path, tmp_path: Path) -> None:
    """Layers are given the lowest first; a workspace's own writing hides them all and changes none."""
    low = layer(tmp_path / "low", {"opt/a": "low", "opt/b": "low"})
    high = layer(tmp_path / "high", {"opt/b": "high"})
    image = sandbox_rootfs.image(rootfs, low, high)
    with sandbox.open(image, LIMITS) as workspace:
        assert (workspace.get("/opt/a"), workspace.get("/opt/b")) == (b"low", b"high")
        shell(workspace, "echo own > /opt/a; rm /opt/b")
        assert (workspace.get("/opt/a"), workspace.get("/opt/b")) == (b"own\n", None)
    assert ((low / "opt/a").read_text(), (high / "opt/b").read_text()) == ("low", "high")


def test_any_number_of_layers_with_any_names(sandbox: Sandbox, rootfs: Path, tmp_path: Path) -> None:
    """Neither the length of mount options nor the signs that have a meaning in them matter."""
    names = [f"layer: {number},\\ {'x' * 150}" for number in range(150)]
    layers = [layer(tmp_path / name, {f"opt/{number}": name}) for number, name in enumerate(names)]
    with sandbox.open(sandbox_rootfs.image(rootfs, *layers), LIMITS) as workspace:
        assert shell(workspace, "ls /opt | wc -l").output.split() == [b"151"]  # with the Python
        assert workspace.get("/opt/149") == names[149].encode()


def test_what_is_kept_is_a_layer(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """The folder holds what was written, with owners as inside, and nothing lies beside it."""
    mapping = user_mapping()
    with sandbox.open(image, LIMITS, keep=tmp_path / "kept") as workspace:
        workspace.put("/opt/new/file", b"x", mode=0o640)
        shell(workspace, "rm /usr/bin/yes; chown 7:8 /opt/new" if mapping.ranged else "rm /usr/bin/yes")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    made = (tmp_path / "kept/opt/new/file").stat()
    assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (mapping.uid, mapping.gid, 0o640)
    if mapping.ranged:
        assert (tmp_path / "kept/opt/new").stat().st_uid == mapping.uid + 7
    removed = (tmp_path / "kept/usr/bin/yes").stat()
    assert stat.S_ISCHR(removed.st_mode) and removed.st_rdev == 0
    with sandbox.open(sandbox_rootfs.image(*image.layers, tmp_path / "kept"), LIMITS) as workspace:
        assert workspace.get("/opt/new/file") == b"x"
        assert workspace.get("/usr/bin/yes") is None


def test_a_folder_with_files_is_not_written_to(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """What is to be kept would mix with what is there."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="give an empty one"):
        sandbox.open(image, LIMITS, keep=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("layers", "words"),
    [((), "the image has none"), ((Path("/nonexistent-layer"),), "is not a folder")],
)
def test_other_images_are_refused(sandbox: Sandbox, layers: tuple[Path, ...], words: str) -> None:
    """An image of a container engine has no layers; a layer may be gone."""
    with pytest.raises(UsageError, match=words):
        sandbox.open(Image(digest="x", layers=layers, reference="debian:12"), LIMITS)


@as_root
def test_layers_of_another_user_are_refused(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """Nobody inside could write to them."""
    with pytest.raises(UsageError, match="belongs to user 0"):
        sandbox.open(sandbox_rootfs.image(*image.layers, tmp_path), LIMITS)


@as_root
def test_an_unreadable_shared_folder_is_refused(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """Root inside is another user than here, and could not look into it."""
    tmp_path.chmod(0o700)
    with pytest.raises(UsageError, match="chmod o\\+rx"):
        sandbox.open(image, LIMITS, shared={"/shared": tmp_path})
    with pytest.raises(UsageError, match="not there"):
        sandbox.open(image, LIMITS, shared={"/shared": tmp_path / "missing"})


@pytest.mark.parametrize("path", ["relative", "/", "/a/../b", "/a//b", "/folder/", "/nul\0"])
def test_strange_paths_are_refused(workspace: Workspace, path: str) -> None:
    """A file is named by a plain absolute path; the workspace lives on."""
    with pytest.raises(UsageError, match="plain absolute path"):
        workspace.put(path, b"")
    with pytest.raises(UsageError, match="plain absolute path"):
        workspace.get(path)
    with pytest.raises(UsageError, match="plain absolute path"):
        workspace.remove(path)
    with pytest.raises(UsageError, match="NUL"):
        workspace.run(["echo", "\0"], limits=RUN)
    assert shell(workspace, "true").exit_cause is ExitCause.FINISHED


def test_links_to_other_file_systems_give_way(workspace: Workspace) -> None:
    """A link that a command left among the parents of a file cannot make putting, reading or removing it fail."""
    shell(workspace, "ln -s /proc/self a; ln -s /sys b; ln -s /dev c; ln -s d d; ln -s /proc/self/mem mem; mkdir e")
    shell(workspace, "ln -s /testbed/e inner; ln -s /proc/kmsg kmsg; ln -s /etc/hosts file")
    for name in ("a/x", "b/x/y", "c/null", "d/x"):
        workspace.remove(f"/testbed/{name}")
        workspace.put(f"/testbed/{name}", b"new")
        assert workspace.get(f"/testbed/{name}") == b"new"
    assert [workspace.get(f"/testbed/{name}") for name in ("mem", "kmsg")] == [None, None]
    workspace.put("/testbed/inner/x", b"through")
    assert workspace.get("/testbed/e/x") == b"through"
    assert shell(workspace, "test -c /dev/null && test -L inner").exit_status == 0


def test_a_deep_tree_in_the_place_of_a_file_gives_way(workspace: Workspace) -> None:
    """Deeper than any path may be long, with links in it that lead elsewhere."""
    program = (
        "import os\nos.mkdir('/testbed/kept'); os.mkdir('/testbed/deep'); os.chdir('/testbed/deep')\n"
        "for _ in range(300):\n    os.symlink('/testbed/kept', 'link'); name = 'x' * 200\n"
        "    os.mkdir(name); os.mkdir('other'); os.chdir(name)"
    )
    assert workspace.run(["python3", "-c", program], limits=RUN).exit_status == 0
    workspace.put("/testbed/deep", b"file")
    assert workspace.get("/testbed/deep") == b"file"
    assert shell(workspace, "test -d /testbed/kept; ls -a").output == b".\n..\ndeep\nkept\n"


def test_large_files_pass(workspace: Workspace) -> None:
    """Files near the size of a workspace, in both directions."""
    data = os.urandom(MIB) * 40
    workspace.put("/testbed/large", data)
    assert workspace.get("/testbed/large") == data


def test_a_command_finds_a_plain_machine(workspace: Workspace) -> None:
    """Hostname, hosts, resolver, devices, terminals, shared memory, user and folders are as programs expect them."""
    script = "hostname; cat /etc/hostname; cat /etc/resolv.conf; grep -c localhost /etc/hosts; id -u; id -g; pwd"
    assert shell(workspace, script).output.split() == [b"sandbox", b"sandbox", b"2", b"0", b"0", b"/testbed"]
    script = "echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c; echo x > /dev/full"
    assert shell(workspace, script).output.split()[:2] == [b"3", b"3"]
    program = (
        "import os, pty, socket, tempfile, multiprocessing\nprint(len(pty.openpty()))\n"
        "print(multiprocessing.Lock() is not None)\nprint(socket.gethostbyname(socket.gethostname()))\n"
        "print(tempfile.gettempdir(), os.umask(0), os.cpu_count() > 0)\nopen('/dev/shm/x', 'w').write('x')"
    )
    done = workspace.run(["python3", "-c", program], limits=RUN)
    assert done.output == b"2\nTrue\n127.0.0.1\n/tmp 18 True\n"


def test_a_command_has_nothing_of_the_host(workspace: Workspace) -> None:
    """Three descriptors, no terminal, and the image's variables are all there is."""
    program = (
        "import os\nprint(sorted(os.listdir('/proc/self/fd'))[:4])\n"
        "print(sorted(os.environ), os.getpgid(0) == os.getpid())\n"
        "try:\n    os.open('/dev/tty', os.O_RDWR)\nexcept OSError as error:\n    print(error.strerror)"
    )
    done = workspace.run(["python3", "-c", program], limits=RUN)
    lines = done.output.decode().splitlines()
    assert lines[0] == "['0', '1', '2', '3']"  # the last is the folder itself, open for reading
    assert lines[1] == "['HOME', 'LANG', 'PATH'] True"
    assert lines[2] == "No such device or address"


def test_the_network_is_the_host_s_only_on_request(sandbox: Sandbox, image: Image) -> None:
    """By default a workspace has a network namespace of its own."""
    program = ["python3", "-c", "import os; print(os.readlink('/proc/self/ns/net'))"]
    seen = []
    for network in (False, True):
        with sandbox.open(image, LIMITS, network=network) as workspace:
            seen.append(workspace.run(program, limits=RUN).output.decode().strip())
            resolver = workspace.get("/etc/resolv.conf")
            assert resolver == (Path("/etc/resolv.conf").read_bytes() if network else b"")
    own = str(Path("/proc/self/ns/net").readlink())
    assert seen[0] != own
    assert seen[1] == own


@as_root
def test_users_inside_are_nobody_outside(workspace: Workspace, tmp_path: Path) -> None:
    """Root inside is the first id of a range of 65,536, and may become any of them."""
    assert shell(workspace, "cat /proc/self/uid_map").output.split() == [b"0", str(BASE_UID).encode(), b"65536"]
    program = "import os; os.setgid(8); os.setuid(7); open('/tmp/x', 'w'); print(os.stat('/tmp/x').st_uid)"
    assert workspace.run(["python3", "-c", program], limits=RUN).output == b"7\n"
    assert UserMapping(uid=BASE_UID, gid=BASE_UID, count=ID_COUNT) == user_mapping()


def test_limits_are_measured(workspace: Workspace) -> None:
    """CPU time, also of children whose parents do not wait for them, and the highest memory."""
    program = """
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        end = time.process_time() + 0.4
        while time.process_time() < end: pass
        os.write(writing, b"x")
    os._exit(0)
taken = bytearray(60 << 20)
os.read(reading, 1)
"""
    done = workspace.run(["python3", "-c", program], limits=RUN)
    assert done.exit_cause is ExitCause.FINISHED, done.output
    assert done.cpu_seconds > 0.35
    assert done.memory_peak_bytes > 60 * MIB


def test_limits_are_kept_without_control_groups(
    sandbox: Sandbox, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is watched, and processes are limited by a resource limit."""
    monkeypatch.setattr(sandbox, "_groups", NoGroups())
    with sandbox.open(image, LIMITS) as workspace:
        done = workspace.run(["python3", "-c", "x = [bytearray(1 << 20) for _ in range(4000)]"], limits=RUN)
        assert (done.exit_cause, done.exit_status) == (ExitCause.MEMORY, -9)
        assert done.memory_peak_bytes > LIMITS.memory_bytes
        fork = (
            "import os, time\nmade = 0\ntry:\n    while os.fork(): made += 1\n"
            "except OSError:\n    print(made, flush=True)\n    os._exit(0)\ntime.sleep(600)"
        )
        done = workspace.run(["python3", "-c", fork], limits=RUN)
        assert 32 < int(done.output) <= 64
        done = workspace.run(["python3", "-c", "sum(range(5_000_000))"], limits=RUN)
        assert done.cpu_seconds > 0.01


class NoGroups:
    """In the place of `WorkspaceGroups` where this process may make none."""

    def make(self) -> WorkspaceGroup:
        """No group at all."""
        return WorkspaceGroup()


def test_a_control_group_that_cannot_be_made_is_a_fault(
    sandbox: Sandbox, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the machine's fault, and nothing is left."""

    class FullGroups:
        def make(self) -> WorkspaceGroup:
            raise OSError("no space left in the hierarchy")

    monkeypatch.setattr(sandbox, "_groups", FullGroups())
    before = launchers()
    with pytest.raises(SandboxFault, match="no space left"):
        sandbox.open(image, LIMITS)
    assert launchers() == before


def test_a_refusal_of_the_kernel_names_what_is_missing(
    sandbox: Sandbox, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a kind of mount; nothing is left."""
    before = launchers()
    real = namespace_module._config

    def without_layers(*arguments: Any) -> dict[str, Any]:
        return {**real(*arguments), "layers": []}

    monkeypatch.setattr(namespace_module, "_config", without_layers)
    with pytest.raises(IsolationRefusedError, match="a mount of overlay"):
        sandbox.open(image, LIMITS)
    assert launchers() == before


def test_nothing_is_left_behind(sandbox: Sandbox, image: Image, tmp_path: Path) -> None:
    """After closing there is no process, mount, control group or descriptor that was not there before."""
    tmp_path.chmod(0o755)
    mounted, mark = mounts(tmp_path), own_seconds(8642)
    before = (launchers(), groups_of_this_process(), descriptors())
    for options in ({}, {"shared": {"/shared": tmp_path}}, {"keep": tmp_path / "kept"}, {"network": True}):
        workspace = sandbox.open(image, LIMITS, **options)
        assert len(launchers()) == len(before[0]) + 1
        workspace.run(["sh", "-c", f"sleep {mark} & setsid sleep {mark} & exit 0"], limits=RUN)
        workspace.put("/testbed/x", b"x")
        assert workspace.get("/testbed/x") == b"x"
        workspace.close()
    assert (launchers(), groups_of_this_process(), descriptors()) == before
    assert not mounts(tmp_path) - mounted
    assert not processes_with(mark)


def test_closing_ends_a_running_command(sandbox: Sandbox, image: Image) -> None:
    """It is not waited for, and is a fault for the thread that waits for it."""
    workspace = sandbox.open(image, LIMITS)
    mark = own_seconds(7532)
    failures = list[BaseException]()

    def work() -> None:
        try:
            workspace.run(["sleep", mark], limits=RunLimits(wall_seconds=600))
        except SandboxFault as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert eventually(lambda: processes_with(mark))
    workspace.close()
    thread.join(SOON_SECONDS)
    assert len(failures) == 1 and not processes_with(mark) and not thread.is_alive()
    workspace.close()


def test_a_killed_guest_ends_a_running_command(sandbox: Sandbox, image: Image) -> None:
    """What ran is dead, and the workspace closed."""
    workspace = sandbox.open(image, LIMITS)
    (inner,) = [child for parent in launchers() for child in children(parent)]
    threading.Timer(0.3, lambda: os.kill(inner, signal.SIGKILL)).start()
    with pytest.raises(SandboxFault, match=r"ended|gone"):
        workspace.run(["sleep", own_seconds(7531)], limits=RUN)
    assert not processes_with(own_seconds(7531))
    with pytest.raises(SandboxFault, match="closed"):
        shell(workspace, "true")
    assert not launchers()
    workspace.close()


@pytest.mark.parametrize("who", ["process 1", "launcher"])
def test_a_killed_guest_is_a_fault(sandbox: Sandbox, image: Image, who: str) -> None:
    """The next request says so, whichever of the two processes was killed, and everything is cleared away."""
    before = groups_of_this_process()
    workspace = sandbox.open(image, LIMITS)
    (launcher,) = launchers()
    (inner,) = children(launcher)
    os.kill(launcher if who == "launcher" else inner, signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{inner}").exists())
    with pytest.raises(SandboxFault, match=r"ended|gone"):
        workspace.get("/etc/hosts")
    assert groups_of_this_process() <= before
    with pytest.raises(SandboxFault, match="closed"):
        workspace.put("/x", b"")


def test_a_stopped_guest_is_a_fault(sandbox: Sandbox, image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not answer is given up, and killed."""
    monkeypatch.setattr("benchwright.sandboxes.namespaces.guest._ANSWER_SECONDS", 0.2)
    monkeypatch.setattr("benchwright.sandboxes.namespaces.guest._END_SECONDS", 0.2)
    workspace = sandbox.open(image, LIMITS)
    (launcher,) = launchers()
    (inner,) = children(launcher)
    os.kill(inner, signal.SIGSTOP)
    with pytest.raises(SandboxFault, match="does not answer"):
        workspace.get("/etc/hosts")
    assert eventually(lambda: not Path(f"/proc/{inner}").exists())
    assert not launchers()


HOST = """
import sys
sys.path[:0] = sys.argv[1].split(":")
from pathlib import Path
import sandbox_rootfs
from benchwright.sandboxes.base import RunLimits, WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox
limits = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)
workspace = NamespaceSandbox().open(sandbox_rootfs.image(Path(sys.argv[2])), limits)
workspace.put("/ready", b"")
print("ready", flush=True)
script = "trap '' HUP TERM; setsid sleep {0} & sleep {0}; sleep {0}".format(sys.argv[3])
workspace.run(["sh", "-c", script], limits=RunLimits(wall_seconds=600))
"""


def test_nothing_survives_a_killed_host(sandbox: Sandbox, rootfs: Path) -> None:
    """Whoever opened the workspace may be killed at any moment."""
    sources = f"{Path(namespace_module.__file__).parents[2]}:{Path(sandbox_rootfs.__file__).parent}"
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, sources, str(rootfs), own_seconds(9753)], stdout=subprocess.PIPE
    )
    assert host.stdout is not None
    try:
        assert host.stdout.readline() == b"ready\n"
        assert eventually(lambda: len(processes_with(own_seconds(9753))) >= 2)
        (launcher,) = children(host.pid)
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
    assert eventually(lambda: not processes_with(own_seconds(9753)))
    assert eventually(lambda: not Path(f"/proc/{launcher}").exists())


def test_a_fork_of_the_host_does_not_keep_a_workspace_alive(sandbox: Sandbox, image: Image) -> None:
    """A process that was forked meanwhile holds a copy of the socket; closing ends the workspace all the same."""
    workspace = sandbox.open(image, LIMITS)
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    try:
        started = time.monotonic()
        workspace.close()
        assert time.monotonic() - started < SOON_SECONDS
        assert not launchers()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_sockets_of_the_host_are_reached_through_a_shared_folder_only(
    sandbox: Sandbox, image: Image, tmp_path: Path
) -> None:
    """A listener in a shared folder hears from inside; the folder's name on the host is unknown there."""
    tmp_path.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        (tmp_path / "socket").chmod(0o666)
        listener.listen()
        with sandbox.open(image, LIMITS, shared={"/deep/inside/place": tmp_path}) as workspace:
            program = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
            for path, status in (("/deep/inside/place/socket", 0), (str(tmp_path / "socket"), 1)):
                assert workspace.run(["python3", "-c", program, path], limits=RUN).exit_status == status


def test_missing_programs_end_as_in_a_shell(workspace: Workspace) -> None:
    """With status 127 or 126 and a sentence in the output."""
    workspace.put("/testbed/plain", b"echo x\n")
    for command, cwd, status in (
        (["nonesuch"], None, 127), (["./nonesuch"], None, 127), (["true"], "/nonesuch", 127), (["./plain"], None, 126),
    ):  # fmt: skip
        done = workspace.run(command, limits=RUN, cwd=cwd)
        assert (done.exit_cause, done.exit_status) == (ExitCause.EXITED, status)
        assert done.output.startswith(b"benchwright: ")


def test_long_commands_and_odd_bytes_pass(workspace: Workspace) -> None:
    """Arguments of megabytes, and such that are no UTF-8."""
    long = ["x" * 100_000] * 12
    assert shell(workspace, 'printf %s "$V" | wc -c', environ={"V": "y" * 90_000}).output.split() == [b"90000"]
    assert workspace.run(["printf", "%.1s", *long], limits=RUN).output == b"x" * 12
    assert workspace.run(["printf", "%s", "\udcff\n"], limits=RUN).output == b"\xff\n"


def test_the_members_of_a_workspace_are_protocols() -> None:
    """The classes are what the protocols ask for, also for the type checker."""
    sandbox: Sandbox = NamespaceSandbox()
    kind: type[Workspace] = NamespaceWorkspace
    assert (sandbox.name, kind.__name__) == ("namespace", "NamespaceWorkspace")


def test_groups_limit_processes_where_the_kernel_has_them() -> None:
    """Real groups: made, limited, measured and removed."""
    group = WorkspaceGroups().make()
    if not group.join_paths():
        pytest.skip("no control group may be made here")
    try:
        group.limit_processes(5)
        if group.processes is not None:
            assert (group.processes / "pids.max").read_text().strip() == "5"
        used = group.cpu_seconds()
        assert used is None or used >= 0
    finally:
        assert group.remove()


def test_root_without_the_range_of_ids_is_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a user namespace of its own."""
    monkeypatch.setattr("benchwright.sandboxes.users._has_ids", lambda id_map: False)
    assert user_mapping() == UserMapping(uid=os.geteuid(), gid=os.getegid(), count=1)
    monkeypatch.undo()
    whole, part, other = "         0          0 4294967295\n", "0 0 1\n1879048192 0 65536\n", "0 100000 65536\n"
    for text, there in ((whole, True), (part, True), (other, False)):
        (tmp_path / "uid_map").write_text(text)
        assert users._has_ids(tmp_path / "uid_map") == there


@pytest.mark.skipif(user_mapping().ranged, reason="root's overlays need no user attributes")
def test_older_kernels_write_to_the_disk(
    sandbox: Sandbox, image: Image, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A plain user's overlay cannot have its upper layer in memory there; the folder is removed afterwards."""
    monkeypatch.setattr(namespace_module, "_tmpfs_has_user_attributes", lambda: False)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with sandbox.open(image, LIMITS) as workspace:
        assert (
            shell(workspace, "rm -r /opt; mkdir /opt; echo x > /opt/x; rm /usr/bin/yes; chmod 0 /opt").exit_status == 0
        )
        assert workspace.get("/opt/x") == b"x\n"
        assert len(list(folder.iterdir())) == 1
    assert not list(folder.iterdir())


def test_commands_that_no_kernel_takes_are_refused(workspace: Workspace) -> None:
    """They are the caller's mistake; the workspace lives on."""
    for command in ([], ["a\0b"], ["\ud800"]):
        with pytest.raises(UsageError, match="A command needs a program"):
            workspace.run(command, limits=RUN)
    done = workspace.run(["true"], limits=RUN, environ={"a=b": "c"})
    assert done.exit_status == 126
    done = workspace.run(["true", "x" * 200_000], limits=RUN)
    assert (done.exit_status, b"Argument list too long" in done.output) == (126, True)
