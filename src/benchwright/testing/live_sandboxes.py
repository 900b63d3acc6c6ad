"""What every sandbox that agents live in promises, as checks that anyone can run against theirs."""

import io
import secrets
import socket
import tempfile
import threading
import time
from pathlib import Path

from benchwright.core.errors import UsageError
from benchwright.core.execution import MIB
from benchwright.sandboxes.base import Image, LiveSandbox
from benchwright.testing.calls import in_threads, raises_fault
from benchwright.testing.live_calls import (
    LIMITS,
    SECONDS,
    count_processes,
    run,
    shell,
    start,
    tree,
    wait_for_change,
    wait_for_file,
)
from benchwright.testing.live_files import (
    check_live_files,
    check_live_strange_trees,
    check_live_tree,
    check_live_written,
)

_AT_ONCE_SECONDS = 30.0
"""Within which something is over that was cut short, however busy the machine is."""


def check_live_sandbox(sandbox: LiveSandbox, image: Image) -> None:
    """Check every promise of `LiveWorkspace`; raises ``AssertionError`` that names the broken one.

    Opens about a dozen workspaces, and takes some seconds with a sandbox that starts quickly.

    Args:
        sandbox: Any implementation of `benchwright.sandboxes.base.LiveSandbox`.
        image: An image that it can open, with ``sh``, the usual file commands and ``python3`` in its ``PATH``.
    """
    check_live_commands(sandbox, image)
    check_live_environment(sandbox, image)
    check_live_output(sandbox, image)
    check_live_threads(sandbox, image)
    check_live_time(sandbox, image)
    check_live_kill(sandbox, image)
    check_live_background(sandbox, image)
    check_live_users(sandbox, image)
    check_live_files(sandbox, image)
    check_live_tree(sandbox, image)
    check_live_strange_trees(sandbox, image)
    check_live_written(sandbox, image)
    check_live_limits(sandbox, image)
    check_live_destruction(sandbox, image)
    check_live_isolation(sandbox, image)
    check_live_shared(sandbox, image)
    check_live_close(sandbox, image)


def check_live_commands(sandbox: LiveSandbox, image: Image) -> None:
    """Status, both streams and time come back; what a program does is a value, even when there is none."""
    with sandbox.open_live(image, LIMITS) as workspace:
        done = shell(workspace, "echo one; echo two >&2; echo three")
        assert (done.stdout, done.stderr) == (b"one\nthree\n", b"two\n"), f"the streams came back as {done}"
        assert (done.stdout_total_bytes, done.stderr_total_bytes) == (10, 4), f"output is counted wrongly: {done}"
        assert done.exit_status == 0 and not done.timed_out, f"a plain command ended as {done}"
        assert 0 < done.wall_seconds < SECONDS, f"a plain command took {done.wall_seconds} s"
        script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo error $i >&2; i=$((i+1)); done"
        expected = b"".join(b"out %d\nerror %d\n" % (number, number) for number in range(200))
        done = shell(workspace, script, merged=True)
        assert done.stdout == expected, "merged streams are not in the order of writing"
        assert (done.stderr, done.stderr_total_bytes) == (b"", 0), "merged standard error came back twice"
        assert shell(workspace, "exit 3").exit_status == 3, "exit status 3 did not come back"
        status = shell(workspace, "kill -SEGV $$").exit_status
        assert status in (-11, 139), f"a command that died of signal 11 came back with status {status}"
        done = run(workspace, ["printf", "%s|", "a b", "", "'$HOME'"])
        assert done.stdout == b"a b||'$HOME'|", f"arguments were changed on their way: {done.stdout!r}"
        long = ["x" * 120_000] * 10
        assert run(workspace, ["printf", "%.1s", *long]).stdout == b"x" * 10, "long arguments did not arrive"
        workspace.put("/benchwright/plain", b"echo x\n")
        for command, cwd, expected_status in (
            (["benchwright-has-no-such-program"], None, 127),
            (["./benchwright-has-no-such-program"], None, 127),
            (["true"], "/benchwright-has-no-such-folder", 127),
            (["/benchwright/plain"], None, 126),
        ):
            status = run(workspace, command, cwd=cwd).exit_status
            assert status == expected_status, f"expected status {expected_status} of {command} in {cwd}, got {status}"


def check_live_environment(sandbox: LiveSandbox, image: Image) -> None:
    """A command has the image's variables and folder, what is added for it, and its input; nothing stays."""
    with sandbox.open_live(image, LIMITS) as workspace:
        variables = shell(workspace, "env", environ={"ADDED": "x y"}).stdout.decode().splitlines()
        assert "ADDED=x y" in variables, "an added variable is missing"
        for name, value in image.environ.items():
            assert f"{name}={value}" in variables, f"the image's variable {name} is missing"
        assert "ADDED" not in shell(workspace, "env").stdout.decode(), "a variable stayed for the next command"
        folder = shell(workspace, "pwd").stdout.decode().strip()
        assert folder == image.workdir, f"expected to be in {image.workdir}, not in {folder}"
        assert shell(workspace, "pwd", cwd="/").stdout == b"/\n", "cwd is not obeyed"
        given = secrets.token_bytes(5_000_000)
        assert run(workspace, ["cat"], stdin=given).stdout == given, "input did not arrive whole, or did not end"
        assert run(workspace, ["cat"]).stdout == b"", "a command without input has some"
        assert run(workspace, ["true"], stdin=given).exit_status == 0, "input that is not read is in the way"
        workspace.put("/benchwright/bin/benchwright-program", b"#!/bin/sh\necho found\n", mode=0o755)
        path = {"PATH": f"/benchwright/bin:{image.environ.get('PATH', '/usr/bin:/bin')}"}
        done = run(workspace, ["benchwright-program"], environ=path)
        assert done.stdout == b"found\n", "a program is not looked up in the PATH that it was given"


def check_live_output(sandbox: LiveSandbox, image: Image) -> None:
    """Output beyond the limit ends no command; head and tail of each stream are kept, whatever is in it."""
    with sandbox.open_live(image, LIMITS) as workspace:
        script = (
            "echo begun; head -c 30000000 /dev/zero | tr '\\0' x; echo ended; echo error >&2; "
            "head -c 9000000 /dev/urandom >&2; echo last >&2; exit 7"
        )
        done = shell(workspace, script, output_bytes=MIB)
        assert done.exit_status == 7, f"a command with much output ended as {done.exit_status}"
        assert done.stdout_total_bytes == 30_000_012, f"output is counted wrongly: {done.stdout_total_bytes}"
        assert done.stderr_total_bytes == 9_000_011, f"errors are counted wrongly: {done.stderr_total_bytes}"
        for stream, head, tail in ((done.stdout, b"begun\nxx", b"xxended\n"), (done.stderr, b"error\n", b"last\n")):
            assert stream.startswith(head), f"the head of the output is not kept: {stream[:40]!r}"
            assert stream.endswith(tail), f"the tail of the output is not kept: {stream[-40:]!r}"
            assert MIB // 2 < len(stream) < 2 * MIB, f"{len(stream)} bytes of output were kept of {MIB} asked for"
        done = shell(workspace, "head -c 1048576 /dev/zero", output_bytes=MIB)
        assert done.stdout == bytes(MIB), "output that is no larger than the limit was clipped"


def check_live_threads(sandbox: LiveSandbox, image: Image) -> None:
    """Commands run side by side, and any thread may start them and wait for them."""
    with sandbox.open_live(image, LIMITS) as workspace:
        # Each waits for the other's file, so that one after the other they would never end.
        scripts = [f"touch {one}; while [ ! -e {two} ]; do sleep 0.05; done; echo {one}" for one, two in ("ab", "ba")]
        processes = [start(workspace, script, cwd="/tmp") for script in scripts]
        assert [process.wait().stdout for process in processes] == [b"a\n", b"b\n"], "commands do not run side by side"
        assert processes[0].wait().stdout == b"a\n", "waiting once more gives something else"
        results: dict[int, bytes] = {}

        def work(number: int) -> None:
            workspace.put(f"/benchwright/{number}", str(number).encode())
            results[number] = shell(workspace, f"cat /benchwright/{number}").stdout

        in_threads(8, work)
        assert results == {number: str(number).encode() for number in range(8)}, f"threads got mixed up: {results}"


def check_live_time(sandbox: LiveSandbox, image: Image) -> None:
    """A command past its time is killed with all of its session; others and what they left behind go on."""
    with sandbox.open_live(image, LIMITS) as workspace:
        other = start(workspace, "while [ ! -e /tmp/go ]; do sleep 0.05; done; echo other")
        for script in (
            "echo begun; sleep 48642",
            "echo begun; sleep 48642 & trap '' TERM HUP INT; sleep 48642",
            "(trap '' TERM; echo begun; sleep 48642 | sleep 48642 | sleep 48642)",
        ):
            started = time.monotonic()
            done = shell(workspace, script, seconds=1.5)
            assert done.timed_out and done.exit_status is None, f"a command past its time came back as {done}"
            assert done.stdout == b"begun\n", f"output before the time was over is missing: {done.stdout!r}"
            assert done.wall_seconds > 1.4, "a command was ended before its time"
            assert time.monotonic() - started < _AT_ONCE_SECONDS, "a command ran on past its time"
            left = count_processes(workspace, "48642")
            assert left == 0, f"{left} processes of a command are alive after its time"
        assert shell(workspace, "touch /tmp/go").exit_status == 0, "a workspace does not outlive a time-out"
        done = other.wait()
        assert (done.stdout, done.timed_out) == (b"other\n", False), "a time-out ended another command, too"


def check_live_kill(sandbox: LiveSandbox, image: Image) -> None:
    """A command can be killed from another thread; killing what has ended does nothing."""
    with sandbox.open_live(image, LIMITS) as workspace:
        process = start(workspace, "echo begun; touch /tmp/begun; sleep 47531 & sleep 47531")
        wait_for_file(workspace, "/tmp/begun")
        threading.Timer(0.1, process.kill).start()
        done = process.wait()
        assert done.exit_status in (-9, 137) and not done.timed_out, f"a killed command came back as {done}"
        assert done.stdout == b"begun\n", f"output of a killed command is missing: {done.stdout!r}"
        assert count_processes(workspace, "47531") == 0, "processes of a killed command are alive"
        process.kill()
        process = start(workspace, "exit 5")
        assert process.wait().exit_status == 5, "a plain command failed after another was killed"
        process.kill()
        assert process.wait().exit_status == 5, "killing a command that has ended changes its result"


def check_live_background(sandbox: LiveSandbox, image: Image) -> None:
    """What a command leaves running is not waited for, goes on, is seen by later commands and can be killed."""
    program = "i=0; while :; do i=$((i+1)); echo $i > /tmp/count; echo noise $i; echo noise >&2; sleep 0.05; done"
    with sandbox.open_live(image, LIMITS) as workspace:
        for background in (f"({program}) & echo $! > /tmp/pid", f"setsid sh -c '{program}' & echo $! > /tmp/pid"):
            started = time.monotonic()
            done = shell(workspace, f"{background}; while [ ! -s /tmp/count ]; do sleep 0.05; done; echo done")
            assert done.exit_status == 0 and b"done\n" in done.stdout, f"a command with a background ended as {done}"
            assert time.monotonic() - started < _AT_ONCE_SECONDS, "a process in the background is waited for"
            wait_for_change(workspace, "/tmp/count", "a process in the background does not go on")
            assert shell(workspace, "kill -0 $(cat /tmp/pid)").exit_status == 0, "a background process is not seen"
            assert shell(workspace, "kill -9 $(cat /tmp/pid); rm /tmp/count").exit_status == 0, "it cannot be killed"
        server = (
            "import socket\nserver = socket.create_server(('127.0.0.1', 8765))\nopen('/tmp/up', 'w')\n"
            "while True:\n    client, _ = server.accept()\n    client.sendall(b'hello')\n    client.close()\n"
        )
        workspace.put("/benchwright/server.py", server.encode())
        shell(workspace, "python3 /benchwright/server.py > /tmp/log 2>&1 &")
        wait_for_file(workspace, "/tmp/up")
        client = "import socket; print(socket.create_connection(('127.0.0.1', 8765), 30).recv(9).decode())"
        done = run(workspace, ["python3", "-c", client])
        assert done.stdout == b"hello\n", f"a server in the background cannot be reached: {done.stderr!r}"


def check_live_users(sandbox: LiveSandbox, image: Image) -> None:
    """Commands run as root or as a user of the image; an unknown one is the caller's mistake.

    A sandbox that has no other user than root says so with `UsageError`, and is not asked further.
    """
    with sandbox.open_live(image, LIMITS) as workspace:
        for name in (None, "root", "0"):
            assert shell(workspace, "id -u", user=name).stdout == b"0\n", f"user {name} is not root"
        for name in ("benchwright-nobody", ""):
            try:
                start(workspace, "true", user=name).wait()
            except UsageError:
                continue
            raise AssertionError(f"a user {name!r} that does not exist was not refused")
        listed = (workspace.get("/etc/passwd") or b"").decode("utf-8", "replace").splitlines()
        rows = [line.split(":") for line in listed if line.count(":") >= 6 and line.split(":")[2] not in ("", "0")]
        if not rows:
            return
        name, _, number, group = rows[-1][:4]
        for user in (name, number):
            try:
                done = shell(workspace, "id -u; id -g; echo $HOME; id -G; touch /benchwright-file", user=user)
            except UsageError:
                return
            seen = done.stdout.decode().splitlines()
            assert seen[:2] == [number, group], f"user {user} is {seen[:2]} inside, not {[number, group]}"
            assert seen[2] == image.environ.get("HOME", seen[2]), "HOME is another one for another user"
            assert done.exit_status != 0, f"user {user} can write where only root may"
        assert shell(workspace, "id -u").stdout == b"0\n", "a command after one of another user is not root's"


def check_live_limits(sandbox: LiveSandbox, image: Image) -> None:
    """Memory, processes and disk run out inside; what takes the most memory is killed, other commands go on."""
    hog = "x = [bytearray(1 << 20) for _ in range(1000)]"
    fork = (
        "import os, time\nmade = 0\nwhile made < 1000:\n    try:\n        if os.fork() == 0: time.sleep(600)\n"
        "    except OSError: break\n    made += 1\nprint(made, flush=True)\nos.killpg(0, 9)"
    )
    fill = "head -c 200000000 /dev/zero > /tmp/fill; ls -ln /tmp/fill; rm /tmp/fill"
    with sandbox.open_live(image, LIMITS) as workspace:
        other = start(workspace, "while [ ! -e /tmp/go ]; do sleep 0.05; done; echo other")
        done = run(workspace, ["python3", "-c", hog])
        assert done.exit_status != 0, "a command past the memory limit ended well"
        assert not done.timed_out, "a command past the memory limit ran on"
        made = int(run(workspace, ["python3", "-c", fork]).stdout or b"0")
        assert 16 < made <= LIMITS.processes, f"{made} processes were made, of at most {LIMITS.processes}"
        written = int(shell(workspace, fill).stdout.decode().splitlines()[-1].split()[4])
        assert written <= LIMITS.scratch_bytes, f"{written} bytes were written of at most {LIMITS.scratch_bytes}"
        workspace.put("/tmp/go", b"")
        assert other.wait().stdout == b"other\n", "another command did not outlive the end of memory"


def check_live_destruction(sandbox: LiveSandbox, image: Image) -> None:
    """Whatever root inside kills or removes: later commands end by themselves, and files and trees come out."""
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    with sandbox.open_live(image, LIMITS) as workspace:
        workspace.put("/benchwright/tree/file", b"x")
        done = run(workspace, ["python3", "-c", bomb], seconds=2.0)
        # Memory that the kernel took for refused forks may end it before time does.
        assert done.timed_out or done.exit_status in (-9, 137), f"a fork bomb came back as {done}"
        assert shell(workspace, "echo x").stdout == b"x\n", "a workspace does not outlive a fork bomb"
        for _ in range(3):
            shell(workspace, "kill -9 -1; kill -9 1; kill -9 $$")
            assert shell(workspace, "echo x").stdout == b"x\n", "a workspace does not outlive kill -9 -1"
        shell(workspace, f"rm -rf {image.workdir} /tmp /etc /usr /bin /lib 2> /dev/null")
        assert run(workspace, ["python3", "-c", "0"]).exit_status == 127, "a program that was removed is still there"
        assert run(workspace, ["python3", "-c", "0"], cwd="/").exit_status == 127, "a removed program is still there"
        assert tree(workspace, "/benchwright/tree")[1] == {"file": b"x"}, "there is no tree without the system's files"
        assert workspace.get("/benchwright/tree/file") == b"x", "there are no files without the system's files"
        workspace.put("/benchwright/tree/file", b"y")
        assert workspace.get("/benchwright/tree/file") == b"y", "no file can be put without the system's files"


def check_live_isolation(sandbox: LiveSandbox, image: Image) -> None:
    """No file or network of the host, and no other workspace's files, can be reached."""
    connect = "import socket, sys\nsocket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"
    with (
        tempfile.NamedTemporaryFile() as secret,
        socket.create_server(("127.0.0.1", 0)) as server,
        sandbox.open_live(image, LIMITS) as workspace,
        sandbox.open_live(image, LIMITS) as second,
    ):
        for path in (secret.name, f"/proc/1/root{secret.name}"):
            assert run(workspace, ["test", "-e", path]).exit_status == 1, f"a file of the host is seen at {path}"
        port = str(server.getsockname()[1])
        for address in ("127.0.0.1", "192.0.2.1"):
            done = run(workspace, ["python3", "-c", connect, address, port])
            assert done.exit_status != 0, f"{address} can be reached from inside"
        workspace.put("/benchwright/mark", b"x")
        shell(workspace, "rm -f /etc/passwd")
        assert second.get("/benchwright/mark") is None, "a workspace sees files of another"
        assert second.get("/etc/passwd") is not None, "the image was changed by a workspace"


def check_live_shared(sandbox: LiveSandbox, image: Image) -> None:
    """A shared folder can be read, not written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "file").write_text("shared")
        with sandbox.open_live(image, LIMITS, shared={"/benchwright/shared": folder}) as workspace:
            assert shell(workspace, "cat /benchwright/shared/file").stdout == b"shared", "a shared file is not seen"
            for script in ("echo x >> file", "rm file", "touch new"):
                done = shell(workspace, script, cwd="/benchwright/shared")
                assert done.exit_status != 0, f"a shared folder can be written: {script}"
        assert (folder / "file").read_text() == "shared", "a shared file was changed"


def check_live_close(sandbox: LiveSandbox, image: Image) -> None:
    """Closing ends running commands, whose waiting is told so; a closed workspace refuses everything."""
    workspace = sandbox.open_live(image, LIMITS)
    shell(workspace, "(trap '' TERM HUP; while :; do sleep 49753; done) & setsid sleep 49753 &")
    process = start(workspace, "touch /tmp/begun; sleep 49753", seconds=_AT_ONCE_SECONDS)
    wait_for_file(workspace, "/tmp/begun")
    threading.Timer(0.3, workspace.close).start()
    started = time.monotonic()
    raises_fault(process.wait, "waiting for a command of a workspace that was closed")
    workspace.close()
    assert time.monotonic() - started < _AT_ONCE_SECONDS, "closing takes too long"
    workspace.close()
    process.kill()
    raises_fault(lambda: start(workspace, "true"), "a command in a closed workspace")
    raises_fault(lambda: workspace.put("/x", b""), "a file for a closed workspace")
    raises_fault(lambda: workspace.get("/x"), "a file of a closed workspace")
    raises_fault(lambda: workspace.tree("/tmp", io.BytesIO()), "a tree of a closed workspace")
    raises_fault(workspace.written, "the question what was written in a closed workspace")
