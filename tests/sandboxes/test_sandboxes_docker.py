"""The docker sandbox with a real engine: the contract, what hostile commands do, what is left behind."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from engine_images import engine_image

from benchwright.core.errors import SandboxFault, UsageError
from benchwright.core.execution import MIB, ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, WorkspaceLimits
from benchwright.sandboxes.containers import execs
from benchwright.sandboxes.containers import workspace as workspace_module
from benchwright.sandboxes.containers.groups import ContainerGroup
from benchwright.sandboxes.containers.workspace import DockerWorkspace
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.testing.sandboxes import check_sandbox, check_survivors

LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """A small root file system as an image; skips where no engine answers."""
    with engine_image(tmp_path_factory.getbasetemp(), "sandbox") as made:
        yield made


@pytest.fixture(scope="module")
def sandbox() -> DockerSandbox:
    """One sandbox, as a scheduler has it."""
    return DockerSandbox()


@pytest.fixture
def workspace(sandbox: DockerSandbox, image: Image) -> Iterator[DockerWorkspace]:
    """A fresh workspace."""
    with sandbox.open(image, LIMITS) as opened:
        yield opened


def shell(workspace: DockerWorkspace, script: str, seconds: float = 60.0) -> RunResult:
    """Run a script."""
    return workspace.run(["sh", "-c", script], limits=RunLimits(wall_seconds=seconds))


def container(workspace: DockerWorkspace) -> str:
    """Its container's name."""
    return workspace._name


def docker(*arguments: str) -> str:
    """What the engine's client says."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True).stdout


def test_it_keeps_the_contract(sandbox: DockerSandbox, image: Image) -> None:
    """Every promise of `benchwright.sandboxes.base` holds."""
    check_sandbox(sandbox, image)


def test_what_was_used_is_counted(workspace: DockerWorkspace) -> None:
    """CPU time of children and the peak of memory come from the container's control group, per command."""
    if workspace._group is None:
        pytest.skip("the engine's processes cannot be seen from here")
    big = workspace.run(["python3", "-c", "x = bytearray(100 << 20)"], limits=RunLimits(wall_seconds=60))
    assert big.memory_peak_bytes > 100 * MIB
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    used = shell(workspace, f"python3 -c '{busy}' & python3 -c '{busy}'; wait")
    assert used.cpu_seconds > 0.9
    assert shell(workspace, "true").cpu_seconds < 0.5


@pytest.mark.parametrize(
    ("command", "cause", "status"),
    [
        (["sh", "-c", "exit 3"], ExitCause.EXITED, 3),
        (["sh", "-c", "kill -TERM $$"], ExitCause.SIGNAL, -15),
        (["sh", "-c", "exit 255"], ExitCause.EXITED, 255),
        (["/no/such/program"], ExitCause.EXITED, 127),
        (["/etc/passwd"], ExitCause.EXITED, 126),
        (["sh", "-c", "echo 'OCI runtime exec failed: exec failed: no space'; exit 126"], ExitCause.EXITED, 126),
        (["sh", "-c", "echo 'Error response from daemon: gone'; exit 125"], ExitCause.EXITED, 125),
    ],
)
def test_what_a_command_says_and_does_is_a_value(
    workspace: DockerWorkspace, command: Sequence[str], cause: ExitCause, status: int
) -> None:
    """A command cannot pass for a broken engine, which would take it out of the score."""
    result = workspace.run(command, limits=RunLimits(wall_seconds=60))
    assert (result.exit_cause, result.exit_status) == (cause, status)


@pytest.mark.parametrize(
    "harm",
    [
        "rm /bin/sh",
        "rm /bin/sh; mkdir /bin/sh",
        "rm /bin/sh; echo garbage > /bin/sh; chmod 755 /bin/sh",
        "rm /bin/sleep; printf '#!/bin/sh\\nexit 1\\n' > /bin/sleep",
        "kill -KILL 1; kill -KILL -1",
        "cd /; rm -rf /testbed",
    ],
)
def test_a_command_that_harms_its_own_container(workspace: DockerWorkspace, harm: str) -> None:
    """Whatever it breaks is its own loss: the next command comes back with a value, files can be read and written."""
    shell(workspace, harm)
    result = shell(workspace, "true")
    assert result.exit_cause in (ExitCause.FINISHED, ExitCause.EXITED)
    workspace.put("/etc/new", b"new")
    assert workspace.get("/etc/new") == b"new"


def test_orphans_are_reaped(workspace: DockerWorkspace) -> None:
    """A process whose parent died does not stay as a zombie, which would count as a process for ever."""
    script = "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1 &); done; sleep 0.6; cat /proc/[0-9]*/status"
    assert shell(workspace, script).output.count(b"zombie") == 0


def test_a_child_that_holds_the_output(workspace: DockerWorkspace) -> None:
    """The command is over although a child keeps its output open, and the child is dead then."""
    result = shell(workspace, "sleep 600 & echo begun")
    assert (result.exit_cause, result.output) == (ExitCause.FINISHED, b"begun\n")
    assert b"sleep 600" not in shell(workspace, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").output


def test_survivors_that_may_not_be_killed_from_outside(
    sandbox: DockerSandbox, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the right to signal them the container is restarted; files stay."""

    def refuse(pid: int) -> None:
        raise PermissionError

    monkeypatch.setattr(workspace_module, "kill", refuse)
    check_survivors(sandbox, image)


def test_an_engine_whose_processes_cannot_be_seen(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """Survivors are found by the engine's own list; what was used is unknown, and said to be zero."""
    monkeypatch.setattr(ContainerGroup, "find", classmethod(lambda cls, container_id, pid: None))
    sandbox = DockerSandbox()
    check_survivors(sandbox, image)
    with sandbox.open(image, LIMITS) as workspace:
        result = shell(workspace, "echo x")
        assert (result.output, result.cpu_seconds, result.memory_peak_bytes) == (b"x\n", 0.0, 0)


def test_too_many_bytes_in_many_files(workspace: DockerWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no quota the sum of what was written is watched, and the command killed."""
    monkeypatch.setattr(execs, "CHECK_SECONDS", 0.2)
    script = "for i in 1 2 3 4; do head -c 30000000 /dev/zero > /tmp/$i; done; sleep 60"
    result = shell(workspace, script)
    assert (result.exit_cause, result.exit_status) == (ExitCause.SIGNAL, -9)
    assert b"over 67108864 bytes were written" in result.output


def test_a_container_that_somebody_else_removes(sandbox: DockerSandbox, image: Image) -> None:
    """That is a fault of the sandbox, not of the command; closing is harmless."""
    with sandbox.open(image, LIMITS) as workspace:
        docker("rm", "-f", container(workspace))
        with pytest.raises(SandboxFault):
            shell(workspace, "true")
        with pytest.raises(SandboxFault):
            workspace.get("/etc/passwd")


def test_a_command_that_has_the_kernel_end_its_container(workspace: DockerWorkspace) -> None:
    """It ran out of memory, which is its own doing: no fault, and no later command runs."""
    grow = "python3 -c 'x = [bytearray(1 << 20) for _ in range(1000)]'"
    result = shell(workspace, f"echo 1000 > /proc/1/oom_score_adj; {grow} & {grow} & {grow} & wait")
    assert (result.exit_cause, result.exit_status) == (ExitCause.MEMORY, -9)
    later = shell(workspace, "true")
    assert later.exit_cause is ExitCause.SIGNAL and b"nothing runs in it any more" in later.output
    assert workspace.get("/etc/passwd") is not None


def test_files_and_commands_keep_their_order(workspace: DockerWorkspace) -> None:
    """What is put and removed is there, or not, for the next command and reading, the last word holding."""
    workspace.put("/testbed/a", b"1")
    workspace.put("/testbed/a", b"2", mode=0o700)
    workspace.put("/testbed/b", b"1")
    workspace.remove("/testbed/b")
    workspace.remove("/testbed/c")
    workspace.put("/testbed/c", b"3")
    result = shell(workspace, "ls -l; cat a c")
    assert result.output.endswith(b"23") and b"-rwx------" in result.output and b" b\n" not in result.output
    with pytest.raises(UsageError, match="absolute path"):
        workspace.put("/testbed/../etc/x", b"")


def test_nothing_is_left_behind(sandbox: DockerSandbox, image: Image) -> None:
    """A closed workspace has no container any more, also when an error ended it."""
    with pytest.raises(ZeroDivisionError), sandbox.open(image, LIMITS) as workspace:
        name = container(workspace)
        assert name in docker("ps", "--format", "{{.Names}}")
        raise ZeroDivisionError
    assert name not in docker("ps", "-a", "--format", "{{.Names}}")


def test_containers_of_killed_hosts_are_removed(image: Image) -> None:
    """The next sandbox removes what a killed process left, and nothing of processes that live."""
    program = f"""
        import sys
        from benchwright.sandboxes.base import Image, WorkspaceLimits
        from benchwright.sandboxes.docker import DockerSandbox
        image = Image(digest="", reference={image.reference!r}, environ={dict(image.environ)!r})
        limits = WorkspaceLimits(memory_bytes={64 * MIB}, processes=20, scratch_bytes={MIB})
        print(DockerSandbox().open(image, limits)._name, flush=True)
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        orphan = host.stdout.readline().strip()
        assert orphan and orphan in docker("ps", "--format", "{{.Names}}")
        host.kill()
    first = DockerSandbox()
    with first.open(image, LIMITS) as workspace:
        # Another process that tidies up at the same moment may still be at it.
        end = time.monotonic() + 60
        while orphan in docker("ps", "-a", "--format", "{{.Names}}"):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert container(workspace) in docker("ps", "-a", "--format", "{{.Names}}")
        assert container(workspace) not in DockerSandbox().remove_orphans()
        assert shell(workspace, "true").exit_status == 0


@pytest.mark.parametrize("calls", [1, 3])
def test_a_command_that_starts_after_everything_was_ended_is_ended(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may take longer to start it than its time is."""
    monkeypatch.setattr(execs, "_END_AGAIN_SECONDS", 0.05)
    client = subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = list[float]()

    def end_all() -> None:
        made.append(time.monotonic())
        if len(made) == calls:
            client.kill()

    attended = execs.attend(client, RunLimits(wall_seconds=0.1), end_all=end_all, too_much_written=lambda: False)
    assert (attended.limit, attended.status, len(made)) == ("wall_time", -9, calls)


def test_a_command_that_nothing_ends_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client is killed."""
    monkeypatch.setattr(execs, "_END_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(execs, "_END_SECONDS", 0.2)
    client = subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pytest.raises(SandboxFault, match="could not be ended"):
        execs.attend(client, RunLimits(wall_seconds=0.1), end_all=lambda: None, too_much_written=lambda: False)
    assert client.wait() == -9


def interfaces() -> set[str]:
    """The network interfaces of this machine."""
    return {line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]}


def test_the_network_for_building(sandbox: DockerSandbox, image: Image) -> None:
    """Asked for, it is the host's own: the host's interfaces are seen inside."""
    with sandbox.open(image, LIMITS, network=True) as workspace:
        before = interfaces()
        inside = shell(workspace, "cat /proc/net/dev").output.decode()
    ours = before & interfaces()
    if ours == {"lo"}:
        pytest.skip("this machine has no network")
    assert all(name in inside for name in ours if not name.startswith("veth"))
