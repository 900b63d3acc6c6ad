"""What every sandbox for repositories promises, as checks that anyone can run against theirs."""

import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchwright.core.execution import MIB, ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Sandbox, Workspace, WorkspaceLimits
from benchwright.testing.calls import in_threads, raises_fault

_LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)
_SECONDS = 60.0
"""For what takes milliseconds on a quiet machine."""
_AT_ONCE_SECONDS = 30.0
"""Within which something is over that was cut short, however busy the machine is."""


def check_sandbox(sandbox: Sandbox, image: Image) -> None:
    """Check every promise of the protocols; raises ``AssertionError`` that names the broken one.

    Opens about a dozen workspaces, and takes a few seconds with a sandbox that starts quickly.

    Args:
        sandbox: Any implementation of `benchwright.sandboxes.base.Sandbox`.
        image: An image that it can open, with ``sh``, the usual file commands and ``python3`` in its ``PATH``.
    """
    check_commands(sandbox, image)
    check_environment(sandbox, image)
    check_files(sandbox, image)
    check_links(sandbox, image)
    check_fresh(sandbox, image)
    check_wall_time(sandbox, image)
    check_output(sandbox, image)
    check_memory(sandbox, image)
    check_processes(sandbox, image)
    check_disk(sandbox, image)
    check_survivors(sandbox, image)
    check_isolation(sandbox, image)
    check_shared(sandbox, image)
    check_close(sandbox, image)
    check_threads(sandbox, image)
    if image.layers:
        check_keep(sandbox, image)


def check_commands(sandbox: Sandbox, image: Image) -> None:
    """A command's status, output and time come back; what a program does is a value, even when there is none."""
    assert sandbox.name, "a sandbox has no name"
    with sandbox.open(image, _LIMITS) as workspace:
        done = _shell(workspace, "echo one; echo two >&2; echo three")
        assert done.output == b"one\ntwo\nthree\n", (
            f"output and errors are not in the order of writing: {done.output!r}"
        )
        assert done.output_total_bytes == len(done.output), "the output is counted wrongly"
        assert done.exit_cause is ExitCause.FINISHED and done.exit_status == 0, f"a plain command ended as {done}"
        assert 0 < done.wall_seconds < _SECONDS, f"a plain command took {done.wall_seconds} s"
        done = _shell(workspace, "exit 3")
        assert (done.exit_cause, done.exit_status) == (ExitCause.EXITED, 3), f"exit status 3 came back as {done}"
        done = _shell(workspace, "kill -SEGV $$")
        assert (done.exit_cause, done.exit_status) in ((ExitCause.SIGNAL, -11), (ExitCause.EXITED, 139)), (
            f"a command that died of signal 11 came back as {done}"
        )
        done = _run(workspace, ["benchwright-has-no-such-program"])
        assert done.exit_cause is ExitCause.EXITED, f"a missing program came back as {done}"
        done = _run(workspace, ["printf", "%s|", "a b", "", "'$HOME'"])
        assert done.output == b"a b||'$HOME'|", f"arguments were changed on their way: {done.output!r}"


def check_environment(sandbox: Sandbox, image: Image) -> None:
    """A command has the image's variables and folder, what is added for it, its input, and nothing of the host's."""
    secret = secrets.token_hex(8)
    os.environ["BENCHWRIGHT_CHECK"] = secret
    try:
        with sandbox.open(image, _LIMITS) as workspace:
            variables = _shell(workspace, "env", environ={"ADDED": "x y"}).output.decode().splitlines()
            assert secret not in "".join(variables), "a variable of the host is seen inside"
            assert "ADDED=x y" in variables, "an added variable is missing"
            for name, value in image.environ.items():
                assert f"{name}={value}" in variables, f"the image's variable {name} is missing"
            assert "ADDED" not in _shell(workspace, "env").output.decode(), "a variable stayed for the next command"
            folder = _shell(workspace, "pwd").output.decode().strip()
            assert folder == image.workdir, f"expected to be in {image.workdir}, not in {folder}"
            assert _shell(workspace, "pwd", cwd="/").output == b"/\n", "cwd is not obeyed"
            given = secrets.token_bytes(300_000)
            done = _run(workspace, ["cat"], stdin=given)
            assert done.output == given, "input did not arrive whole, or did not end"
            assert _run(workspace, ["cat"]).output == b"", "a command without input has some"
            assert _shell(workspace, "id -u").output == b"0\n", "the user inside is not root"
    finally:
        del os.environ["BENCHWRIGHT_CHECK"]


def check_files(sandbox: Sandbox, image: Image) -> None:
    """Files are put with their folders and mode, read and removed; what is in a file's place gives way."""
    with sandbox.open(image, _LIMITS) as workspace:
        data = secrets.token_bytes(5 * MIB)
        workspace.put("/benchwright/check/new folder/file", data, mode=0o750)
        assert workspace.get("/benchwright/check/new folder/file") == data, "a file came back changed"
        done = _shell(workspace, "ls -ln '/benchwright/check/new folder/file'")
        words = done.output.decode().split()
        assert words[0].startswith("-rwxr-x---"), f"expected mode 0750, got {words[0]}"
        assert words[2:4] == ["0", "0"], "a file that was put does not belong to root"
        _shell(
            workspace, "cd /benchwright; mkdir -p folder/inner; touch folder/x file; ln -s nowhere loose; mkfifo fifo"
        )
        for name in ("folder", "file", "loose", "fifo", "file/below/this", "loose/below"):
            workspace.put(f"/benchwright/{name}", b"new")
            assert workspace.get(f"/benchwright/{name}") == b"new", f"{name} was not replaced"
        for name in ("folder", "folder", "nowhere", "nowhere/at/all"):
            workspace.remove(f"/benchwright/{name}")
            assert workspace.get(f"/benchwright/{name}") is None, f"{name} is still there"
        assert workspace.get("/benchwright") is None, "a folder was read as a file"
        assert workspace.get("/dev/null") is None, "a device was read as a file"
        workspace.put("/benchwright/empty", b"")
        assert workspace.get("/benchwright/empty") == b"", "an empty file came back otherwise"
        raises_fault(lambda: workspace.get("/benchwright/check/new folder/file", max_bytes=MIB), "a file too large")
        assert _shell(workspace, "true").exit_status == 0, "a workspace does not outlive a refused file"


def check_links(sandbox: Sandbox, image: Image) -> None:
    """A link inside, absolute or climbing, never leads to a file of the host."""
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name).resolve()
        (outside / "secret").write_text("host")
        climb = "../" * 40
        with sandbox.open(image, _LIMITS) as workspace:
            workspace.put("/benchwright/here", b"")
            _shell(workspace, f"ln -s {outside} absolute; ln -s {climb}{outside} climbing", cwd="/benchwright")
            for link in ("absolute", "climbing"):
                assert workspace.get(f"/benchwright/{link}/secret") is None, f"an {link} link leads to the host"
                workspace.put(f"/benchwright/{link}/made", b"x")
                workspace.remove(f"/benchwright/{link}/secret")
        assert [path.name for path in outside.iterdir()] == ["secret"], "a link changed files of the host"


def check_fresh(sandbox: Sandbox, image: Image) -> None:
    """What is written in one workspace is seen by its next command, and by no other workspace."""
    with sandbox.open(image, _LIMITS) as first, sandbox.open(image, _LIMITS) as second:
        _shell(first, "mkdir -p /benchwright; echo x > /benchwright/mark; rm -rf /usr/bin/env /bin/env")
        assert _shell(first, "cat /benchwright/mark").output == b"x\n", "a file does not stay for the next command"
        for other in (second, sandbox.open(image, _LIMITS)):
            with other:
                done = _shell(other, "test -e /benchwright/mark || env > /dev/null")
                assert done.exit_status == 0, "the image was changed by a workspace"
                assert other.get("/benchwright/mark") is None, "a workspace sees files of another"


def check_wall_time(sandbox: Sandbox, image: Image) -> None:
    """A command is ended at its wall limit, with what it had written, even if children hold its output."""
    with sandbox.open(image, _LIMITS) as workspace:
        for script in ("echo begun; sleep 600", "echo begun; sleep 600 & trap '' TERM HUP INT; sleep 600"):
            started = time.monotonic()
            done = _shell(workspace, script, seconds=4.0)
            assert done.exit_cause is ExitCause.WALL_TIME, f"a command past its wall limit came back as {done}"
            assert done.output == b"begun\n", f"output before the wall limit is missing: {done.output!r}"
            assert done.wall_seconds > 3.9, "a command was ended before its wall limit"
            assert time.monotonic() - started < _AT_ONCE_SECONDS, "a command ran on past its wall limit"
        assert _shell(workspace, "true").exit_status == 0, "a workspace does not outlive a wall limit"


def check_output(sandbox: Sandbox, image: Image) -> None:
    """A command that writes without end is ended; head and tail of what it wrote are kept."""
    with sandbox.open(image, _LIMITS) as workspace:
        done = _shell(workspace, "echo begun; yes", output_bytes=MIB)
        assert done.exit_cause is ExitCause.OUTPUT, f"a command past its output limit came back as {done}"
        assert done.output_total_bytes > MIB, "the output beyond the limit is not counted"
        assert done.output.startswith(b"begun\ny\ny\n"), "the head of the output is not kept"
        assert done.output.endswith((b"\ny", b"y\n")), "the tail of the output is not kept"
        assert len(done.output) < 2 * MIB, f"{len(done.output)} bytes of output were kept of at most {MIB}"
        done = _shell(workspace, "head -c 1048576 /dev/zero", output_bytes=MIB)
        assert done.exit_cause is ExitCause.FINISHED and len(done.output) == MIB, "the output limit comes too early"


def check_memory(sandbox: Sandbox, image: Image) -> None:
    """A command that takes more memory than there may be is ended for it, and the next one runs."""
    with sandbox.open(image, _LIMITS) as workspace:
        done = _run(workspace, ["python3", "-c", "x = [bytearray(1 << 20) for _ in range(1000)]"])
        assert done.exit_cause is ExitCause.MEMORY, f"a command past its memory limit came back as {done}"
        assert done.exit_status != 0, "a command past its memory limit ended well"
        assert _shell(workspace, "echo x").output == b"x\n", "a workspace does not outlive a memory limit"


def check_processes(sandbox: Sandbox, image: Image) -> None:
    """No more processes are alive at once than may be, and the next command runs."""
    program = (
        "import os, time\nmade = 0\nwhile made < 1000:\n    try:\n        if os.fork() == 0: time.sleep(600)\n"
        "    except OSError: break\n    made += 1\nprint(made)"
    )
    with sandbox.open(image, _LIMITS) as workspace:
        done = _run(workspace, ["python3", "-c", program])
        made = int(done.output)
        assert made <= _LIMITS.processes, f"{made} processes were made, of at most {_LIMITS.processes}"
        assert made > _LIMITS.processes // 2, f"only {made} processes could be made, of {_LIMITS.processes}"
        bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
        done = _run(workspace, ["python3", "-c", bomb], seconds=2.0)
        # Memory that the kernel took for refused forks may end it before time does.
        ends = (ExitCause.WALL_TIME, ExitCause.MEMORY)
        assert done.exit_cause in ends, f"a fork bomb came back as {done}"
        assert _shell(workspace, "echo x").output == b"x\n", "a workspace does not outlive a fork bomb"


def check_disk(sandbox: Sandbox, image: Image) -> None:
    """No more bytes can be written than may be."""
    with sandbox.open(image, _LIMITS) as workspace:
        done = _shell(workspace, "head -c 200000000 /dev/zero > /benchwright-fill; ls -ln /benchwright-fill")
        written = int(done.output.decode().splitlines()[-1].split()[4])
        assert written <= _LIMITS.scratch_bytes, f"{written} bytes were written of at most {_LIMITS.scratch_bytes}"
        assert _shell(workspace, "echo x").output == b"x\n", "a workspace does not outlive a full disk"


def check_survivors(sandbox: Sandbox, image: Image) -> None:
    """What a command leaves running is dead when it comes back, however it hides."""
    daemon = (
        "import os, signal, sys, time\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\n"
        "name = '/benchwright-alive'\nif os.fork():\n"
        "    while not os.path.exists(name) or not os.path.getsize(name): time.sleep(0.01)\n    sys.exit()\n"
        "os.setsid()\nif os.fork(): os._exit(0)\n"
        "while True:\n    open(name, 'a').write('x')\n    time.sleep(0.01)"
    )
    with sandbox.open(image, _LIMITS) as workspace:
        done = _run(workspace, ["python3", "-c", daemon])
        assert done.exit_cause is ExitCause.FINISHED, f"a command with a daemon came back as {done}"
        before = workspace.get("/benchwright-alive")
        assert before, "the daemon did not run at all"
        time.sleep(0.3)
        assert workspace.get("/benchwright-alive") == before, "a daemon outlives its command"


def check_isolation(sandbox: Sandbox, image: Image) -> None:
    """No file, network, process or kernel setting of the host can be reached; the own loopback works."""
    with tempfile.NamedTemporaryFile() as secret, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with sandbox.open(image, _LIMITS) as workspace:
            for path in (secret.name, f"/proc/1/root{secret.name}"):
                assert _run(workspace, ["test", "-e", path]).exit_status == 1, f"a file of the host is seen at {path}"
            connect = "import socket, sys\nsocket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"
            for host, number in (("127.0.0.1", port), ("192.0.2.1", 80), ("1.1.1.1", 53)):
                done = _run(workspace, ["python3", "-c", connect, host, str(number)])
                assert done.exit_status == 1, f"{host}:{number} can be reached from inside"
            own = (
                "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
                "socket.create_connection(('localhost', server.getsockname()[1]), 5)"
            )
            done = _run(workspace, ["python3", "-c", own])
            assert done.exit_status == 0, f"the own loopback does not work: {done.output.decode('utf-8', 'replace')}"
            setting = "/proc/sys/kernel/core_pattern"
            done = _shell(workspace, f'old=$(cat {setting}); echo "$old" > {setting}')
            assert done.exit_status != 0, "a kernel setting can be written"
            numbers = _shell(workspace, "cd /proc; echo [0-9]*").output.split()
            assert len(numbers) < 10, f"{len(numbers)} processes are seen, more than a workspace has"
            done = _shell(workspace, "kill -9 1; kill -9 -1; true")
            assert _shell(workspace, "echo x").output == b"x\n", f"a workspace can be ended from inside: {done}"


def check_shared(sandbox: Sandbox, image: Image) -> None:
    """A shared folder can be read, not written, and a socket in it connected to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "file").write_text("shared")
        (folder / "file").chmod(0o666)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with listener, sandbox.open(image, _LIMITS, shared={"/benchwright/shared": folder}) as workspace:
            # Bound after opening: the folder itself is shared, not a copy of it.
            listener.bind(str(folder / "socket"))
            (folder / "socket").chmod(0o666)
            listener.listen()
            assert _shell(workspace, "cat /benchwright/shared/file").output == b"shared", "a shared file is not seen"
            for script in ("echo x >> file", "rm file", "touch new", "chmod 777 file", "mv file moved"):
                done = _shell(workspace, script, cwd="/benchwright/shared")
                assert done.exit_status != 0, f"a shared folder can be written: {script}"
            report = (
                "import socket\nclient = socket.socket(socket.AF_UNIX)\n"
                "client.connect('/benchwright/shared/socket')\nclient.sendall(b'hello')"
            )
            done = _run(workspace, ["python3", "-c", report])
            assert done.exit_status == 0, f"a shared socket cannot be used: {done.output.decode('utf-8', 'replace')}"
            connection, _ = listener.accept()
            with connection:
                assert connection.recv(100) == b"hello", "a shared socket gives something else"
        assert (folder / "file").read_text() == "shared", "a shared file was changed"


def check_close(sandbox: Sandbox, image: Image) -> None:
    """Closing twice is harmless; a closed workspace refuses everything."""
    workspace = sandbox.open(image, _LIMITS)
    _shell(workspace, "echo x > /benchwright-mark")
    workspace.close()
    workspace.close()
    raises_fault(lambda: _shell(workspace, "true"), "a command in a closed workspace")
    raises_fault(lambda: workspace.put("/x", b""), "a file for a closed workspace")
    raises_fault(lambda: workspace.get("/x"), "a file of a closed workspace")
    raises_fault(lambda: workspace.remove("/x"), "a removal in a closed workspace")


def check_threads(sandbox: Sandbox, image: Image) -> None:
    """Workspaces of several threads run at the same time, each with its own results."""
    results: dict[int, bytes] = {}
    meeting = threading.Barrier(3, timeout=_SECONDS)

    def work(number: int) -> None:
        with sandbox.open(image, _LIMITS) as workspace:
            workspace.put("/benchwright-number", str(number).encode())
            meeting.wait()
            results[number] = _shell(workspace, "sleep 0.2; cat /benchwright-number").output

    in_threads(3, work)
    assert results == {number: str(number).encode() for number in range(3)}, f"threads got mixed up: {results}"


def check_keep(sandbox: Sandbox, image: Image) -> None:
    """What is written can be kept as one more layer: with it on top, a workspace starts where the other ended."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        kept = Path(name, "kept")
        with sandbox.open(image, _LIMITS, keep=kept) as workspace:
            script = "mkdir -p a/b c; echo old > a/b/file; echo old > c/file; echo gone > gone; ln -s a link; chown 0 c"
            workspace.put("/benchwright/mark", b"x")
            assert _shell(workspace, script, cwd="/benchwright").exit_status == 0
        first = Image(digest=f"{image.digest}+1", layers=(*image.layers, kept), environ=image.environ, workdir="/")
        above = Path(name, "above")
        with sandbox.open(first, _LIMITS, keep=above) as workspace:
            assert workspace.get("/benchwright/link/b/file") == b"old\n", "a kept layer lacks a file"
            _shell(workspace, "rm gone; rm -r c; mkdir c; echo new > a/b/file", cwd="/benchwright")
        second = Image(digest=f"{image.digest}+2", layers=(*first.layers, above), environ=image.environ, workdir="/")
        with sandbox.open(second, _LIMITS) as workspace:
            assert workspace.get("/benchwright/gone") is None, "a removed file comes back in the next layer"
            assert workspace.get("/benchwright/c/file") is None, "a replaced folder comes back in the next layer"
            assert workspace.get("/benchwright/a/b/file") == b"new\n", "a changed file comes back in the next layer"
        with sandbox.open(first, _LIMITS) as workspace:
            assert workspace.get("/benchwright/gone") == b"gone\n", "a layer was changed by the one above"


def _shell(
    workspace: Workspace,
    script: str,
    *,
    seconds: float = _SECONDS,
    output_bytes: int = 64 * MIB,
    environ: dict[str, str] | None = None,
    cwd: str | None = None,
) -> RunResult:
    limits = RunLimits(wall_seconds=seconds, output_bytes=output_bytes)
    return workspace.run(["sh", "-c", script], limits=limits, environ=environ, cwd=cwd)


def _run(workspace: Workspace, command: Sequence[str], *, seconds: float = _SECONDS, stdin: bytes = b"") -> RunResult:
    return workspace.run(command, limits=RunLimits(wall_seconds=seconds), stdin=stdin)
