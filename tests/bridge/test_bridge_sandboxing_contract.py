"""The providers with real workspaces: Inspect's own checks of a provider, and what those do not look at."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import anyio
import pytest
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox import self_check
from sandboxing_pieces import Place, place

from benchwright.bridge.sandboxing.environment import WorkspaceEnvironment
from benchwright.core.execution import MIB

pytestmark = pytest.mark.namespaces

KNOWN_FAILURES: dict[str, str] = {}
"""Checks of Inspect's that our sandboxes do not pass, each with its reason."""
AT_ONCE = 4


@pytest.fixture(scope="module", params=["namespace", "docker"])
def known(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Each provider."""
    with place(request.param, tmp_path_factory.getbasetemp()) as found:
        yield found


@contextlib.asynccontextmanager
async def opened(where: Place) -> AsyncIterator[WorkspaceEnvironment]:
    """A sandbox, as Inspect opens and closes it."""
    environments = await where.provider.sample_init("task", where.config, {})
    try:
        yield environments["default"].as_type(where.provider)
    finally:
        await where.provider.sample_cleanup("task", where.config, environments, False)


@pytest.mark.slow
def test_inspects_own_checks(known: Place) -> None:
    """All 44 of them, each in a sandbox of its own; what is known to fail does, and nothing else."""
    failures: dict[str, str] = {}

    async def check(name: str, turns: anyio.CapacityLimiter) -> None:
        async with turns, opened(known) as sandbox:
            try:
                await getattr(self_check, name)(sandbox)
            except Exception as error:  # noqa: BLE001 - whatever it raises, the check has failed
                failures[name] = f"{type(error).__name__}: {error}"

    async def check_all() -> None:
        turns = anyio.CapacityLimiter(AT_ONCE)
        async with anyio.create_task_group() as group:
            for name in self_check.__all__:
                group.start_soon(check, name, turns)

    anyio.run(check_all)
    assert len(self_check.__all__) >= 44
    assert failures.keys() == KNOWN_FAILURES.keys(), failures


def test_files_as_inspect_wants_them(known: Place) -> None:
    """Modes of files stay, links are followed inside, and what is no file is an error that names it."""

    async def calls(sandbox: SandboxEnvironment) -> None:
        script = "echo old > run; chmod 755 run; ln -s run link; mkfifo pipe; ln -s nowhere dangling; echo > file"
        assert (await sandbox.exec(["sh", "-c", script])).success
        await sandbox.write_file("link", "new\r\n")
        assert await sandbox.read_file("run") == "new\r\n"
        assert (await sandbox.exec(["sh", "-c", "test -x run && test -L link"])).success
        for name in ("pipe", "/dev/null"):
            with pytest.raises(OSError, match=name):
                await sandbox.read_file(name)
        with pytest.raises(FileNotFoundError):
            await sandbox.read_file("dangling")
        with pytest.raises(NotADirectoryError):
            await sandbox.write_file("file/below", "x")
        await sandbox.write_file("/new/folder/file", "x")
        assert await sandbox.read_file("/proc/sys/kernel/ostype") == "Linux\n"

    anyio.run(_with, known, calls)


def test_a_disk_that_is_full(known: Place) -> None:
    """The kernel's reason comes through, and the sandbox goes on."""

    async def calls(sandbox: SandboxEnvironment) -> None:
        with pytest.raises(OSError, match=r"space|large"):
            await sandbox.write_file("big", b"x" * (known.config.scratch_bytes + MIB))
        assert (await sandbox.exec(["sh", "-c", "rm big; echo x > small; cat small"])).stdout == "x\n"

    anyio.run(_with, known, calls)


def test_what_a_command_leaves_running_goes_on(known: Place) -> None:
    """A server that one command starts answers the next one, which does not wait for it."""
    server = (
        "import socket\nlistener = socket.create_server(('127.0.0.1', 8000))\n"
        "while True:\n    connection, _ = listener.accept()\n    connection.sendall(b'hello')\n    connection.close()\n"
    )
    client = (
        "import socket, time\nfor _ in range(600):\n    try:\n"
        "        print(socket.create_connection(('localhost', 8000)).recv(10))\n        break\n"
        "    except OSError: time.sleep(0.05)\n"
    )

    async def calls(sandbox: SandboxEnvironment) -> None:
        await sandbox.write_file("server.py", server)
        started = await sandbox.exec(["sh", "-c", "python3 server.py & echo started"], timeout=60)
        assert started.stdout == "started\n"
        assert (await sandbox.exec(["python3", "-c", client], timeout=60)).stdout == "b'hello'\n"
        assert (await sandbox.exec(["ps", "-eo", "args"])).stdout.count("server.py") == 1

    anyio.run(_with, known, calls)


def test_a_cancelled_command_is_gone(known: Place) -> None:
    """With what it has started; what other commands have started goes on."""

    async def calls(sandbox: SandboxEnvironment) -> None:
        await sandbox.exec(["sh", "-c", "sleep 1111 & :"])
        async with anyio.create_task_group() as group:
            group.start_soon(sandbox.exec, ["sh", "-c", "sleep 2222 & sleep 3333; :"])
            while "3333" not in await processes(sandbox):
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        while "3333" in (seen := await processes(sandbox)) or "2222" in seen:
            await anyio.sleep(0.02)
        assert "sleep 1111" in seen

    async def processes(sandbox: SandboxEnvironment) -> str:
        return (await sandbox.exec(["ps", "-eo", "args"])).stdout

    anyio.run(_with, known, calls)


def test_twenty_commands_at_once(known: Place) -> None:
    """They run side by side in one sandbox: each waits for the next one's file."""
    wait = "until [ -e $1 ]; do sleep 0.05; done; touch $0"

    async def calls(sandbox: SandboxEnvironment) -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(sandbox.exec, ["sh", "-c", wait, str(number), str(number + 1)])
            await sandbox.write_file("20", "")
        assert (await sandbox.exec(["test", "-e", "0"])).success

    anyio.run(_with, known, calls)


async def _with(where: Place, calls: object) -> None:
    assert callable(calls)
    with anyio.fail_after(300):
        async with opened(where) as sandbox:
            await calls(sandbox)


RUN = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox
from benchwright.bridge.sandboxing.config import WorkspaceConfig

@solver
def sleeping():
    async def solve(state, generate):
        await sandbox().exec(["sh", "-c", "setsid sleep $0 & sleep $0", sys.argv[3]])
        return state
    return solve

spec = SandboxEnvironmentSpec(sys.argv[1], WorkspaceConfig.model_validate_json(sys.argv[2]))
task = Task(dataset=[Sample(input="x", sandbox=spec) for _ in range(3)], solver=sleeping())
eval(task, model="mockllm/model", display="plain", log_dir=sys.argv[4])
"""


@pytest.mark.parametrize(
    ("known", "signals"),
    [
        ("namespace", (signal.SIGINT,)),
        ("namespace", (signal.SIGINT, signal.SIGINT)),
        ("namespace", (signal.SIGKILL,)),
        ("docker", (signal.SIGINT, signal.SIGINT)),
    ],
    indirect=["known"],
)
def test_nothing_outlives_an_interrupted_run(known: Place, tmp_path: Path, signals: Sequence[int]) -> None:
    """Ctrl-C once, again while things are being ended, and ``kill -9``: no process and no container is left.

    What both providers do is tried with one; containers after ``kill -9`` are the docker sandbox's own tests' matter.
    """
    seconds = str(100_000_000 + os.getpid() * 100 + len(signals) * 10 + signals[0])
    command = [sys.executable, "-c", RUN, known.spec.type, known.config.model_dump_json(), seconds, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_until(lambda: sleeping(seconds) == 6)
        try:
            for number in signals:
                running.send_signal(number)
                time.sleep(0.05)
            end(running)
        finally:
            running.kill()
    wait_until(lambda: sleeping(seconds) == 0 and not containers(known.config.reference))


def end(running: subprocess.Popen[bytes]) -> None:
    """Wait for a program that was interrupted, and interrupt it again as a person would who has waited for long.

    An interrupt that comes while the event loop hands a result over loses it (asyncio raises where it happens to be),
    and then something is waited for that never comes.  The next one ends that.
    """
    for _ in range(3):
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
        else:
            return
    running.wait(30)


def containers(image: str) -> str:
    """The containers of an image, running or not."""
    if not image:
        return ""
    command = ["docker", "ps", "--all", "--quiet", "--filter", f"ancestor={image}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def sleeping(seconds: str) -> int:
    """How many processes of this machine sleep so long."""
    found = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += entry.name.isdigit() and (entry / "cmdline").read_bytes() == f"sleep\0{seconds}\0".encode()
    return found


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for a condition that must come."""
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
