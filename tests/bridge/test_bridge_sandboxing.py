"""The sandbox providers over a scripted workspace: names, configuration, errors in Inspect's terms, cleaning up."""

import functools
import io
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._sandbox.events import SandboxEnvironmentProxy
from inspect_ai.util._sandbox.limits import override_sandbox_output_limit
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment
from pydantic import ValidationError
from sandboxing_pieces import CONFIG, ScriptedProcess, ScriptedWorkspace, ended

from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.sandboxing import opened
from benchwright.bridge.sandboxing.base import live
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.providers import (
    DOCKER,
    NAMESPACE,
    DockerEnvironment,
    NamespaceEnvironment,
    Provider,
)
from benchwright.core.errors import IsolationRefusedError, SandboxFault, UsageError
from benchwright.sandboxes.base import Image, LiveResult, RunLimits, WorkspaceLimits

T = TypeVar("T")


def environment(*answers: LiveResult | Exception) -> tuple[NamespaceEnvironment, ScriptedWorkspace]:
    """A sandbox whose commands end as given, one after the other."""
    workspace = ScriptedWorkspace(deque(answers))
    return NamespaceEnvironment(workspace, CONFIG), workspace


def run(function: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
    """Run a coroutine to its end in a loop of its own."""
    return anyio.run(functools.partial(function, *arguments, **options))


def execute(answer: LiveResult | Exception, command: tuple[str, ...] = ("run",), **options: Any) -> ExecResult[str]:
    """A command that ends so."""
    return run(environment(answer)[0].exec, list(command), **options)


def test_inspect_finds_the_providers_and_keeps_its_own_docker() -> None:
    """A fresh Inspect that has not heard of us finds both by the package's name; `docker` alone is Inspect's."""
    program = (
        "from inspect_ai.util._sandbox.registry import registry_find_sandboxenv as find\n"
        "for name in ('benchwright/namespace', 'benchwright/docker', 'docker'): print(find(name).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["NamespaceEnvironment", "DockerEnvironment", "DockerSandboxEnvironment"]


def test_a_configuration_survives_the_log() -> None:
    """What a log says of a sandbox opens the same workspace again, and equal ones are one to Inspect."""
    image = Image(digest="d", layers=(Path("/a"), Path("/b")), environ={"PATH": "/bin", "A": "1"}, workdir="/w")
    limits = WorkspaceLimits(memory_bytes=1, processes=2, scratch_bytes=3)
    config = WorkspaceConfig.from_image(image, limits, {"/inside": Path("/outside")})
    assert (config.image, config.limits, config.shared_folders) == (image, limits, {"/inside": Path("/outside")})
    spec = SandboxEnvironmentSpec(NAMESPACE, config)
    again = SandboxEnvironmentSpec.model_validate_json(spec.model_dump_json())
    assert again == spec and len({again, spec}) == 1
    assert isinstance(again.config, WorkspaceConfig)
    with pytest.raises(ValidationError, match="networks"):
        NamespaceEnvironment.config_deserialize({**config.model_dump(), "networks": True})


@pytest.mark.parametrize("config", [None, "compose.yaml"])
def test_a_sandbox_needs_to_know_its_image(config: str | None) -> None:
    """Without a configuration of ours, Inspect stops with a sentence."""
    with pytest.raises(PrerequisiteError, match="WorkspaceConfig"):
        run(NamespaceEnvironment.sample_init, "task", config, {})


def test_everything_of_a_command_is_handed_on() -> None:
    """Input, folder, variables, user, time and the size of the output reach the workspace."""
    sandbox, workspace = environment(ended(), ended(), ended())

    async def commands() -> None:
        await sandbox.exec(["a", "b"], input="ü", cwd="sub", env={"X": "1"}, user="somebody", timeout=3)
        with override_sandbox_output_limit(100, "exec"):
            await sandbox.exec(["a"], input=b"\xff", cwd="/absolute", user="root")
        await sandbox.exec(["a"])

    run(commands)
    first, second, third = workspace.asked
    assert first == {
        "command": ["a", "b"],
        "limits": RunLimits(wall_seconds=3.0, output_bytes=10 * 1024**2),
        "environ": {"X": "1"},
        "cwd": "/testbed/sub",
        "stdin": "ü".encode(),
        "user": "somebody",
        "merged": False,
    }
    assert (second["cwd"], second["stdin"], second["user"]) == ("/absolute", b"\xff", None)
    assert second["limits"].output_bytes == 100
    assert (third["cwd"], third["stdin"], third["user"], third["environ"]) == ("/testbed/", b"", None, {})
    assert third["limits"].wall_seconds > 86_400


def test_streams_come_back_as_text() -> None:
    """Output and errors apart, what is no UTF-8 replaced, the end of a signal as a shell shows it."""
    assert execute(ended(3, b"out\r\n\xff", "ü".encode())) == ExecResult(False, 3, "out\r\n�", "ü")
    assert execute(ended(0, b"out")) == ExecResult(True, 0, "out", "")
    assert execute(ended(-15)).returncode == 143


def test_a_command_that_takes_too_long() -> None:
    """``TimeoutError``, with what was written so far where Inspect looks for it; it is not tried again."""
    sandbox, workspace = environment(ended(None, b"out", b"err", timed_out=True))
    with pytest.raises(TimeoutError, match="after 2 seconds") as caught:
        run(sandbox.exec, ["a"], timeout=2)
    assert caught.value.truncated_output == "outerr"  # type: ignore[attr-defined]
    assert len(workspace.asked) == 1


def test_too_much_output() -> None:
    """Output that was cut does not pass for all of it: an error carries head and tail."""
    with pytest.raises(OutputLimitExceededError, match="10 MiB") as caught:
        execute(ended(0, b"head [...] tail", stdout_total_bytes=10 * 1024**2 + 1))
    assert caught.value.truncated_output == "head [...] tail"


@pytest.mark.parametrize(
    "answer",
    [
        ended(126, stderr=b"benchwright: /etc/passwd: Permission denied\n"),
        ended(126, stderr=b"sh: 1: exec: /etc/passwd: Permission denied\n"),
        ended(126, stderr=b'exec failed: unable to start container process: exec: "/etc/passwd": permission denied\n'),
    ],
)
def test_a_program_that_may_not_be_executed(answer: LiveResult) -> None:
    """Whoever says so, the kernel's refusal to execute the program itself is ``PermissionError``."""
    with pytest.raises(PermissionError, match="/etc/passwd"):
        execute(answer, ("/etc/passwd",))


@pytest.mark.parametrize(
    "answer",
    [
        ended(126, stderr=b"bash: line 1: ./script: Permission denied\n"),
        ended(126, b"out", b"benchwright: bash: Permission denied\n"),
        ended(126, stderr=b"more\nbenchwright: bash: Permission denied\n"),
        ended(1, stderr=b"benchwright: bash: Permission denied\n"),
        ended(126, stderr=b"benchwright: bash: Exec format error\n"),
    ],
)
def test_another_programs_complaint_is_its_own_result(answer: LiveResult) -> None:
    """A shell that cannot start a script has run, and the model reads what it says."""
    assert execute(answer, ("bash", "-c", "./script")).returncode == answer.exit_status


@pytest.mark.parametrize(
    ("command", "options", "why"),
    [
        ((), {}, "needs a program"),
        (("a\0b",), {}, "NUL"),
        (("a",), {"env": {"A": "\0"}}, "NUL"),
        (("a",), {"cwd": "\0"}, "NUL"),
        (("a", "\ud800"), {}, "surrogates"),
        (("a",), {"input": "\udfff"}, "surrogates"),
    ],
)
def test_what_no_kernel_takes_is_a_failed_command(command: tuple[str, ...], options: dict[str, Any], why: str) -> None:
    """A model that writes such a command is told; nothing is started."""
    sandbox, workspace = environment()
    done = run(sandbox.exec, list(command), **options)
    assert (done.success, done.returncode, workspace.asked) == (False, 126, [])
    assert why in done.stderr


def test_a_user_that_there_is_not() -> None:
    """Inspect is told that this user cannot be had; the same complaint without a user is somebody's mistake."""
    with pytest.raises(SandboxUserUnsupportedError, match="no user x"):
        execute(UsageError("There is no user x here."), user="x")
    with pytest.raises(UsageError):
        execute(UsageError("Something else."))


def test_a_broken_sandbox_is_no_result() -> None:
    """Inspect's error for the model, our own for the harness, which can also ask afterwards."""
    sandbox, _ = environment(SandboxFault("first"), SandboxFault("second"), SandboxFault("third"))
    assert sandbox.fault is None

    async def commands() -> None:
        with pytest.raises(SandboxUnavailableError, match="first"):
            await sandbox.exec(["a"])
        with pytest.raises(SandboxUnavailableError, match="second"):
            await sandbox.read_file("a")
        with pytest.raises(SandboxFault, match="third"):
            await sandbox.run_merged(["a"], cwd=None, environ={}, wall_seconds=1.0, output_bytes=1)

    run(commands)
    assert str(sandbox.fault) == "first"


def test_a_fault_of_other_questions_is_noted() -> None:
    """What the harness asks for counts as well."""
    sandbox, _ = environment()
    with pytest.raises(SandboxFault, match="gone"):
        run(sandbox.written)
    assert str(sandbox.fault) == "gone"


def test_a_cancelled_command_is_killed() -> None:
    """Also when Inspect ends a sample in the middle of a command that would go on for ever."""
    killed = threading.Event()
    sandbox, workspace = environment(ended())

    class Endless(ScriptedProcess):
        def kill(self) -> None:
            killed.set()

    def start(*_: Any, **__: Any) -> Endless:
        workspace.asked.append({})
        return Endless(lambda: ended(-9) if killed.wait() else ended())

    workspace.start = start  # type: ignore[method-assign]

    async def commands() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(sandbox.exec, ["a"])
            while not workspace.asked:
                await anyio.sleep(0.001)
            group.cancel_scope.cancel()

    run(commands)
    assert killed.is_set()


def test_a_command_with_one_stream() -> None:
    """Our own tools get the workspace's answer as it is, clipped at the size that they ask for."""
    answer = ended(1, b"both", stdout_total_bytes=1000)
    sandbox, workspace = environment(answer)
    options = {"cwd": "sub", "environ": {"A": "1"}, "wall_seconds": 2.0, "output_bytes": 4, "stdin": b"in"}
    assert run(sandbox.run_merged, ["a"], **options) is answer
    (asked,) = workspace.asked
    assert (asked["merged"], asked["cwd"], asked["stdin"]) == (True, "/testbed/sub", b"in")
    assert asked["limits"] == RunLimits(wall_seconds=2.0, output_bytes=4)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (ended(21), IsADirectoryError, "directory: 'name'"),
        (ended(22), FileNotFoundError, "name"),
        (ended(23), OSError, "Not a regular file"),
        (ended(24), PermissionError, "name"),
        (ended(25), OutputLimitExceededError, "100 MiB"),
        (ended(0, b"x", stdout_total_bytes=100 * 1024**2 + 1), OutputLimitExceededError, "100 MiB"),
        (ended(127, stderr=b"no sh"), SandboxUnavailableError, "no sh"),
        (ended(None, timed_out=True), TimeoutError, "name"),
        (ended(-9), OSError, "was ended"),
        (ended(0, b"\xff"), UnicodeDecodeError, "utf-8"),
    ],
)
def test_a_file_that_cannot_be_read(answer: LiveResult, error: type[Exception], words: str) -> None:
    """Every reason that Inspect's interface knows has its own error."""
    with pytest.raises(error, match=words):
        run(environment(answer)[0].read_file, "name")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (ended(21), IsADirectoryError, "directory: 'name'"),
        (ended(24), PermissionError, "name"),
        (ended(2, stderr=b"cannot create /a: Read-only file system"), PermissionError, "Read-only"),
        (ended(2, stderr=b"cannot create /a: Permission denied"), PermissionError, "name"),
        (ended(1, stderr=b"cat: write error: No space left on device"), OSError, "28"),
        (ended(1, stderr=b"mkdir: cannot create directory '/a': File exists"), NotADirectoryError, "name"),
        (ended(-25), OSError, "too large"),
        (ended(1, stderr=b"something new"), OSError, "something new"),
    ],
)
def test_a_file_that_cannot_be_written(answer: LiveResult, error: type[Exception], words: str) -> None:
    """The kernel's reason is told, a full disk among them."""
    with pytest.raises(error, match=words):
        run(environment(answer)[0].write_file, "name", "text")


def test_names_of_files() -> None:
    """Relative ones are below the working folder, whatever they look like, and text is written as UTF-8."""
    sandbox, workspace = environment(ended(), ended(), ended(0, b"a\r\nb"))

    async def calls() -> str:
        await sandbox.write_file("-a b/$c", "ü\r\n")
        await sandbox.write_file("/absolute", b"\xff")
        return await sandbox.read_file("x")

    assert run(calls) == "a\r\nb"
    assert [asked["command"][4] for asked in workspace.asked] == ["/testbed/-a b/$c", "/absolute", "/testbed/x"]
    assert [asked["stdin"] for asked in workspace.asked] == ["ü\r\n".encode(), b"\xff", b""]
    with pytest.raises(FileNotFoundError, match="NUL"):
        run(sandbox.read_file, "a\0b")


class ScriptedSandbox:
    """Opens scripted workspaces."""

    name = "scripted"

    def __init__(self, unclosable: int = 0) -> None:
        self.made: list[ScriptedWorkspace] = []
        self._unclosable = unclosable

    def open_live(self, image: Image, limits: WorkspaceLimits, *, shared: dict[str, Path]) -> ScriptedWorkspace:
        """One more."""
        self.made.append(ScriptedWorkspace(unclosable=self._unclosable))
        return self.made[-1]


def provider(monkeypatch: pytest.MonkeyPatch, sandbox: ScriptedSandbox) -> type[Provider]:
    """A provider that opens them."""
    monkeypatch.setattr(NamespaceEnvironment, "sandbox", classmethod(lambda cls: sandbox))
    return NamespaceEnvironment


def test_a_sample_closes_its_workspace_even_when_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled sample closes to the end, and the end of the run finds nothing more to do."""
    sandbox = ScriptedSandbox()
    made = provider(monkeypatch, sandbox)

    async def sample() -> None:
        environments = await made.sample_init("task", CONFIG, {})
        with anyio.CancelScope() as scope:
            scope.cancel()
            await made.sample_cleanup("task", CONFIG, environments, True)
        await made.task_cleanup("task", CONFIG, True)

    run(sample)
    assert [workspace.closings for workspace in sandbox.made] == [1]


def test_the_end_of_a_run_closes_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this run, not of another; the end of the program closes the rest."""
    sandbox = ScriptedSandbox()
    made = provider(monkeypatch, sandbox)

    async def sample() -> None:
        await made.sample_init("task", CONFIG, {})

    async def whole() -> None:
        await sample()
        await made.task_cleanup("task", CONFIG, False)

    run(sample)
    run(whole)
    assert [workspace.closings for workspace in sandbox.made] == [0, 1]
    opened.close_all()
    assert [workspace.closings for workspace in sandbox.made] == [1, 1]


def test_what_cannot_be_closed_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A finished sample does not fail for it; the warning has the command that removes what is left."""
    sandbox = ScriptedSandbox(unclosable=1)
    made = provider(monkeypatch, sandbox)

    async def sample() -> None:
        environments = await made.sample_init("task", CONFIG, {})
        await made.sample_cleanup("task", CONFIG, environments, False)
        assert "rm it" in caplog.text
        await made.task_cleanup("task", CONFIG, True)

    with caplog.at_level(logging.WARNING):
        run(sample)
    assert [workspace.closings for workspace in sandbox.made] == [2]


def test_an_engine_that_is_gone_fails_no_sample(caplog: pytest.LogCaptureFixture) -> None:
    """Nor is it anybody's business but the log's."""

    class Unreachable(ScriptedWorkspace):
        def close(self) -> None:
            raise IsolationRefusedError("there is no docker")

    with caplog.at_level(logging.WARNING):
        opened.close(Unreachable())
    assert "there is no docker" in caplog.text


class InContainer(ScriptedWorkspace):
    """A workspace that has a container."""

    container = "its-name"


def test_the_way_into_a_container() -> None:
    """Inspect shows the command that opens a shell in it; where there is no container, there is none."""
    sandbox = DockerEnvironment(InContainer(), CONFIG)
    found = run(sandbox.connection)
    assert (found.type, found.container) == (DOCKER, "its-name")
    assert found.command == "docker exec -it its-name bash -l"
    assert "--user 'a b' its-name" in run(sandbox.connection, user="a b").command
    for other in (environment()[0], DockerEnvironment(ScriptedWorkspace(), CONFIG)):
        with pytest.raises(NotImplementedError):
            run(other.connection)


def test_one_left_container_is_not_removed_by_its_id() -> None:
    """The sentence has the command that does."""
    with pytest.raises(PrerequisiteError, match="docker rm -f abc"):
        run(DockerEnvironment.cli_cleanup, "abc")


def test_ours_is_told_from_others() -> None:
    """Our sandbox is known behind what Inspect puts around it; another's is not taken for ours."""
    sandbox, workspace = environment()
    found = live(SandboxEnvironmentProxy(sandbox))
    assert found is sandbox and live(sandbox) is sandbox and found.workspace is workspace
    other: SandboxEnvironment = LocalSandboxEnvironment()
    try:
        assert live(other) is None and live(SandboxEnvironmentProxy(other)) is None
    finally:
        other.directory.cleanup()  # type: ignore[attr-defined]


def test_a_tree_is_written_to_a_file() -> None:
    """As the workspace writes it."""
    into = io.BytesIO()
    run(environment()[0].tree, "/testbed", into)
    assert into.getvalue() == b"/testbed"
