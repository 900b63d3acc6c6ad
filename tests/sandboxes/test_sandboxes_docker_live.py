"""Live workspaces of the docker sandbox with a real engine: the contract, hostile commands, what is left behind."""

import io
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fake_engines
import pytest
from engine_images import engine_image
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import IsolationRefusedError, SandboxFault, UsageError
from benchwright.core.execution import MIB
from benchwright.sandboxes import docker as docker_module
from benchwright.sandboxes.base import Image, LiveProcess, LiveResult, RunLimits, WorkspaceLimits
from benchwright.sandboxes.containers import copies as copies_module
from benchwright.sandboxes.containers import guard as guard_module
from benchwright.sandboxes.containers.caring import LiveContainer
from benchwright.sandboxes.containers.copies import ContainerFiles
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.containers.live import DockerLiveWorkspace
from benchwright.sandboxes.containers.processes import OwnProcesses
from benchwright.sandboxes.containers.wrapping import MarkedOutput
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.testing import check_live_sandbox, live_sandboxes

LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """A small root file system as an image; skips where no engine answers."""
    with engine_image(tmp_path_factory.getbasetemp(), "live") as made:
        yield made


@pytest.fixture(scope="module")
def sandbox() -> DockerSandbox:
    """One sandbox, as a run has it."""
    return DockerSandbox()


@pytest.fixture
def workspace(sandbox: DockerSandbox, image: Image) -> Iterator[DockerLiveWorkspace]:
    """A fresh live workspace."""
    with sandbox.open_live(image, LIMITS) as opened:
        yield opened


def start(workspace: DockerLiveWorkspace, script: str, seconds: float = 60.0) -> LiveProcess:
    """Start a script."""
    return workspace.start(["sh", "-c", script], limits=RunLimits(wall_seconds=seconds))


def shell(workspace: DockerLiveWorkspace, script: str, seconds: float = 60.0) -> LiveResult:
    """Run a script."""
    return start(workspace, script, seconds).wait()


def container(workspace: DockerLiveWorkspace) -> str:
    """Its container's name."""
    return workspace._container.name


def docker(*arguments: str) -> str:
    """What the engine's client says."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True).stdout


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that takes a second at most on a quiet machine."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def files_of(workspace: DockerLiveWorkspace, path: str) -> dict[str, bytes]:
    """The regular files of a tree, by each of their names."""
    with io.BytesIO() as file:
        workspace.tree(path, file)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            contents = {
                member.name: archive.extractfile(member) for member in archive if member.isreg() or member.islnk()
            }
            return {name: content.read() for name, content in contents.items() if content is not None}


def test_it_keeps_the_contract(sandbox: DockerSandbox, image: Image) -> None:
    """Every promise of `LiveWorkspace` holds."""
    check_live_sandbox(sandbox, image)


def test_an_engine_whose_processes_are_not_ours(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is promised of commands holds, too; sessions are ended through the image's shell then."""
    monkeypatch.setattr(OwnProcesses, "of", classmethod(lambda cls, group, main: None))
    sandbox = DockerSandbox()
    for check in (
        live_sandboxes.check_live_output,
        live_sandboxes.check_live_time,
        live_sandboxes.check_live_kill,
        live_sandboxes.check_live_limits,
        live_sandboxes.check_live_destruction,
        live_sandboxes.check_live_close,
    ):
        check(sandbox, image)
    with sandbox.open_live(image, LIMITS) as workspace:
        # Without a part in the command's output, which the engine stops reading after some seconds.
        count = "while :; do echo x >> /tmp/count; sleep 0.05; done"
        assert shell(workspace, f"({count}) > /dev/null 2>&1 & echo $! > /tmp/pid").exit_status == 0
        before = len(workspace.get("/tmp/count") or b"")
        until(lambda: len(workspace.get("/tmp/count") or b"") > before)
        assert shell(workspace, "kill -9 $(cat /tmp/pid)").exit_status == 0


@pytest.mark.parametrize("harm", ["kill -9 $PPID; sleep 0.1", "kill -9 -1", "kill -9 0"])
def test_a_command_that_kills_the_shell_around_it(workspace: DockerLiveWorkspace, harm: str) -> None:
    """It was killed, says the result; the next command runs."""
    done = shell(workspace, f"echo begun; {harm}")
    assert (done.exit_status, done.stdout, done.timed_out) == (-9, b"begun\n", False)
    assert b"ended together with the shell around it" in done.stderr
    assert shell(workspace, "echo x").stdout == b"x\n"


def test_a_command_that_signals_its_group(workspace: DockerLiveWorkspace) -> None:
    """The shell around it survives and tells how the command died, without words of its own."""
    done = shell(workspace, "kill 0; sleep 600")
    assert (done.exit_status, done.stderr) == (-15, b"")


def test_the_shell_around_a_command_is_not_found_by_its_words(workspace: DockerLiveWorkspace) -> None:
    """Whoever kills all processes with a word in their command line does not kill the shell around the killer."""
    done = shell(workspace, "cat /proc/$PPID/cmdline; env | grep BENCHWRIGHT")
    assert b"PPID" not in done.stdout and b"BENCHWRIGHT_" not in done.stdout
    assert done.exit_status == 1


def test_nothing_of_a_finished_command_is_left(workspace: DockerLiveWorkspace) -> None:
    """Neither the shell around it nor the client."""
    for _ in range(3):
        shell(workspace, "true")
    assert shell(workspace, "cat /proc/[0-9]*/stat | grep -c ' T '").stdout == b"0\n"


def test_a_process_that_keeps_the_output_of_a_killed_command(workspace: DockerLiveWorkspace) -> None:
    """One of another session goes on after the command's time is over, and may write what it likes."""
    script = "setsid sh -c 'while :; do echo noise; echo x >> /tmp/alive; sleep 0.01; done' & sleep 600"
    assert shell(workspace, script, seconds=1.0).timed_out
    before = len(workspace.get("/tmp/alive") or b"")
    until(lambda: len(workspace.get("/tmp/alive") or b"") > before + 100)


def test_no_room_for_a_process(workspace: DockerLiveWorkspace) -> None:
    """A command that cannot be started because an earlier one forks without end has failed, and is no fault."""
    bomb = "import os, time\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        time.sleep(0.01)"
    workspace.put("/tmp/bomb.py", bomb.encode())
    process = start(workspace, "python3 /tmp/bomb.py", seconds=600.0)
    until(lambda: shell(workspace, "true").exit_status not in (0, None))
    assert files_of(workspace, "/tmp") == {"bomb.py": bomb.encode()}
    process.kill()
    assert process.wait().exit_status == -9
    assert shell(workspace, "echo x").stdout == b"x\n"


def test_an_argument_that_no_system_takes(workspace: DockerLiveWorkspace) -> None:
    """The command could not be started; no fault."""
    for words in (["x" * 200_000], ["x" * 100_000] * 40):
        done = workspace.start(["true", *words], limits=RunLimits(wall_seconds=60)).wait()
        assert done.exit_status == 126 and b"longer than the kernel allows" in done.stderr
    with pytest.raises(UsageError, match="NUL"):
        start(workspace, "\0")


def test_too_many_bytes_in_many_files(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no quota the sum of what was written is watched, and all that runs killed; files stay."""
    monkeypatch.setattr(docker_module, "CHECK_SECONDS", 0.3)
    with DockerSandbox().open_live(image, LIMITS) as workspace:
        done = shell(workspace, "for i in 1 2 3 4; do head -c 30000000 /dev/zero > /tmp/$i; done; sleep 600")
        assert done.exit_status == -9 and b"over 67108864 bytes were written" in done.stderr
        until(lambda: b"x\n" in shell(workspace, "rm -f /tmp/*; echo x").stdout)


def test_a_container_that_the_kernel_ends(workspace: DockerLiveWorkspace) -> None:
    """A command has done that: no fault, no later command runs, and what was written can be read."""
    grow = "python3 -c 'x = [bytearray(1 << 20) for _ in range(1000)]'"
    script = f"mkdir -p /tmp/a; echo x > /tmp/a/b; echo 1000 > /proc/1/oom_score_adj; {grow} & {grow} & {grow} & wait"
    done = shell(workspace, script)
    assert done.exit_status == -9 and b"nothing runs in it any more" in done.stderr
    assert shell(workspace, "true").exit_status == -9
    assert files_of(workspace, "/tmp/a") == {"b": b"x\n"}


def test_a_container_that_somebody_else_removes(workspace: DockerLiveWorkspace) -> None:
    """That is a fault of the sandbox, for what runs and for what comes; closing is harmless."""
    process = start(workspace, "echo x > /tmp/x; sleep 600")
    docker("rm", "-f", container(workspace))
    for call in (process.wait, lambda: start(workspace, "true"), lambda: workspace.get("/etc/passwd")):
        with pytest.raises(SandboxFault):
            call()
    with pytest.raises(SandboxFault):
        workspace.tree("/etc", io.BytesIO())


def test_hard_links_of_a_tree(workspace: DockerLiveWorkspace) -> None:
    """One whose other name is left out is a file of its own; one whose other name is in the archive says so."""
    script = "mkdir -p /tmp/a/.git /tmp/a/b; cd /tmp/a; echo x > .git/x; ln .git/x b/x; echo y > y; ln y z"
    assert shell(workspace, script).exit_status == 0
    assert files_of(workspace, "/tmp/a") == {"b/x": b"x\n", "y": b"y\n", "z": b"y\n"}


def test_a_large_file_of_a_tree_comes_without_its_content(workspace: DockerLiveWorkspace) -> None:
    """With its size, so that what is left out can be named."""
    script = (
        "mkdir -p /tmp/a; dd if=/dev/null of=/tmp/a/sparse bs=1 seek=17825792;"
        " head -c 17000000 /dev/zero | tr '\\0' x > /tmp/a/full"
    )
    assert shell(workspace, script).exit_status == 0
    with io.BytesIO() as file:
        workspace.tree("/tmp/a", file)
        assert file.tell() < MIB
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            assert {one.name: (one.size, one.issparse()) for one in archive} == {
                "sparse": (17 * MIB, True), "full": (17_000_000, True),
            }  # fmt: skip


def archive_of_a_file() -> str:
    """What an engine hands out for a file of 600 bytes."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as written:
        member = tarfile.TarInfo("./file")
        member.size = 600
        written.addfile(member, io.BytesIO(b"x" * 600))
    return archive.getvalue().decode()


@pytest.mark.parametrize(("cut", "status"), [(None, 1), (700, 0), (700, 1)])
def test_an_archive_that_breaks_off(tmp_path: Path, cut: int | None, status: int) -> None:
    """It is not taken for a tree with fewer files."""
    client = fake_engines.fake_client(tmp_path, {"cp": (status, archive_of_a_file()[:cut], "unexpected EOF")})
    with pytest.raises(SandboxFault, match="broke off"):
        ContainerFiles(Engine(str(client.path)), "container").tree("/testbed", io.BytesIO())


def test_a_file_that_breaks_off_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is whole, or it has broken off too often; never is a part of it taken for the file."""
    pauses = list[float]()
    monkeypatch.setattr(copies_module, "_pause", pauses.append)
    client = fake_engines.fake_client(tmp_path, {"cp": (0, archive_of_a_file()[:700], "")})
    files = ContainerFiles(Engine(str(client.path)), "container")
    with pytest.raises(SandboxFault, match="broke off in the middle of container:/tmp/file"):
        files.read("/tmp/file", 1000)
    assert len(client.asked) == len(pauses) + 1 > 5

    def mend(seconds: float) -> None:
        fake_engines.fake_client(tmp_path, {"cp": (0, archive_of_a_file(), "")})

    monkeypatch.setattr(copies_module, "_pause", mend)
    assert files.read("/tmp/file", 1000) == b"x" * 600


def test_files_that_get_shorter_while_they_are_read(workspace: DockerLiveWorkspace) -> None:
    """A reader gets one of the contents there were, however fast another process writes."""
    writer = "while :; do head -c 300000 /dev/zero > /tmp/a/file; done"
    assert shell(workspace, f"mkdir /tmp/a; : > /tmp/a/file; ({writer}) &").exit_status == 0
    contents = [workspace.get("/tmp/a/file") for _ in range(40)]
    assert all(one is not None and one.count(0) == len(one) <= 300_000 for one in contents)


def test_a_command_whose_shell_is_killed_before_its_first_word(tmp_path: Path) -> None:
    """It was killed, for the client tells no more than that; a client that fails without a word is a fault."""
    client = fake_engines.fake_client(tmp_path, {"inspect": (0, "true false", "")})
    container = LiveContainer(Engine(str(client.path)), "its-name", None, most_bytes=1, check_seconds=None)
    assert container.not_started("", 137) == 137
    for message, status in (("", 1), ("", -9), ("cannot connect", 137)):
        with pytest.raises(SandboxFault, match="did not run a command"):
            container.not_started(message, status)


def test_a_container_that_cannot_be_removed_is_tried_again(tmp_path: Path) -> None:
    """Closing says so with the command that would do it, and does nothing only when the container is gone."""
    client = fake_engines.fake_client(tmp_path, {"rm": (1, "", "device is busy")})
    container = LiveContainer(Engine(str(client.path)), "its-name", None, most_bytes=1, check_seconds=None)
    for _ in range(2):
        with pytest.raises(SandboxFault, match=r"device is busy.*rm -f its-name"):
            container.close()
    fake_engines.fake_client(tmp_path, {"rm": (0, "", "")})
    container.close()
    container.close()
    assert client.asked == [["rm", "-f", "-v", "its-name"]] * 3


def test_a_guard_that_cannot_be_started_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine cannot do it, says the error; the next workspace tries again."""

    def refuse(*arguments: object, **options: object) -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "posix_spawn", refuse)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    for _ in range(2):
        with pytest.raises(IsolationRefusedError, match="no more processes"):
            guard_module.guard("benchwright-no-such-engine")
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(1, 40), max_size=20))
def test_the_lines_of_the_shell_are_taken_out(before: bytes, output: bytes, sizes: list[int]) -> None:
    """However the stream is cut, what is before the first line is the engine's, up to the second the command's."""
    token = "benchwright-token:"
    stream = before + b"benchwright-token:17\n" + output + b"benchwright-token:3\n" + b"benchwright-token:4\nmore"
    marked = MarkedOutput(token, 1000, begins=True)
    for size in sizes:
        marked.add(stream[:size])
        stream = stream[size:]
    marked.add(stream)
    marked.finish()
    assert (marked.message, marked.leader, marked.output.kept, marked.status) == (before, 17, output, 3)


PROGRAM = """
    import signal, sys, threading, time
    from benchwright.sandboxes.base import Image, RunLimits, WorkspaceLimits
    from benchwright.sandboxes.docker import DockerSandbox
    image = Image(digest="", reference={reference!r}, environ={environ!r})
    limits = WorkspaceLimits(memory_bytes={memory}, processes=20, scratch_bytes={memory})
    with DockerSandbox().open_live(image, limits) as workspace:
        process = workspace.start(["sleep", "600"], limits=RunLimits(wall_seconds=600))
        print(workspace._container.name, flush=True)
        process.wait()
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_process_that_ends(image: Image, ending: signal.Signals) -> None:
    """Neither after ``kill -9`` nor after Ctrl-C, while a command runs and with no other process of ours to tidy up."""
    program = PROGRAM.format(reference=image.reference, environ=dict(image.environ), memory=64 * MIB)
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert name and name in docker("ps", "--format", "{{.Names}}")
        process.send_signal(ending)
    until(lambda: name not in docker("ps", "-a", "--format", "{{.Names}}"))
