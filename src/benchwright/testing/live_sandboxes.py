"""What every sandbox that agents live in promises, as checks that anyone can run against theirs."""

import io
import posixpath
import secrets
import socket
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.core.errors import BenchwrightError, SandboxFault, UsageError
from benchwright.core.execution import MIB
from benchwright.sandboxes.base import (
    Image,
    LiveProcess,
    LiveResult,
    LiveSandbox,
    LiveWorkspace,
    RunLimits,
    WorkspaceLimits,
)

_LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)
_SECONDS = 60.0
"""For what takes milliseconds on a quiet machine."""
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
    with sandbox.open_live(image, _LIMITS) as workspace:
        done = _shell(workspace, "echo one; echo two >&2; echo three")
        assert (done.stdout, done.stderr) == (b"one\nthree\n", b"two\n"), f"the streams came back as {done}"
        assert (done.stdout_total_bytes, done.stderr_total_bytes) == (10, 4), f"output is counted wrongly: {done}"
        assert done.exit_status == 0 and not done.timed_out, f"a plain command ended as {done}"
        assert 0 < done.wall_seconds < _SECONDS, f"a plain command took {done.wall_seconds} s"
        script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo error $i >&2; i=$((i+1)); done"
        expected = b"".join(b"out %d\nerror %d\n" % (number, number) for number in range(200))
        done = _shell(workspace, script, merged=True)
        assert done.stdout == expected, "merged streams are not in the order of writing"
        assert (done.stderr, done.stderr_total_bytes) == (b"", 0), "merged standard error came back twice"
        assert _shell(workspace, "exit 3").exit_status == 3, "exit status 3 did not come back"
        status = _shell(workspace, "kill -SEGV $$").exit_status
        assert status in (-11, 139), f"a command that died of signal 11 came back with status {status}"
        done = _run(workspace, ["printf", "%s|", "a b", "", "'$HOME'"])
        assert done.stdout == b"a b||'$HOME'|", f"arguments were changed on their way: {done.stdout!r}"
        long = ["x" * 120_000] * 10
        assert _run(workspace, ["printf", "%.1s", *long]).stdout == b"x" * 10, "long arguments did not arrive"
        workspace.put("/benchwright/plain", b"echo x\n")
        for command, cwd, expected_status in (
            (["benchwright-has-no-such-program"], None, 127),
            (["./benchwright-has-no-such-program"], None, 127),
            (["true"], "/benchwright-has-no-such-folder", 127),
            (["/benchwright/plain"], None, 126),
        ):
            status = _run(workspace, command, cwd=cwd).exit_status
            assert status == expected_status, f"expected status {expected_status} of {command} in {cwd}, got {status}"


def check_live_environment(sandbox: LiveSandbox, image: Image) -> None:
    """A command has the image's variables and folder, what is added for it, and its input; nothing stays."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        variables = _shell(workspace, "env", environ={"ADDED": "x y"}).stdout.decode().splitlines()
        assert "ADDED=x y" in variables, "an added variable is missing"
        for name, value in image.environ.items():
            assert f"{name}={value}" in variables, f"the image's variable {name} is missing"
        assert "ADDED" not in _shell(workspace, "env").stdout.decode(), "a variable stayed for the next command"
        folder = _shell(workspace, "pwd").stdout.decode().strip()
        assert folder == image.workdir, f"expected to be in {image.workdir}, not in {folder}"
        assert _shell(workspace, "pwd", cwd="/").stdout == b"/\n", "cwd is not obeyed"
        given = secrets.token_bytes(5_000_000)
        assert _run(workspace, ["cat"], stdin=given).stdout == given, "input did not arrive whole, or did not end"
        assert _run(workspace, ["cat"]).stdout == b"", "a command without input has some"
        assert _run(workspace, ["true"], stdin=given).exit_status == 0, "input that is not read is in the way"
        workspace.put("/benchwright/bin/benchwright-program", b"#!/bin/sh\necho found\n", mode=0o755)
        path = {"PATH": f"/benchwright/bin:{image.environ.get('PATH', '/usr/bin:/bin')}"}
        done = _run(workspace, ["benchwright-program"], environ=path)
        assert done.stdout == b"found\n", "a program is not looked up in the PATH that it was given"


def check_live_output(sandbox: LiveSandbox, image: Image) -> None:
    """Output beyond the limit ends no command; head and tail of each stream are kept, whatever is in it."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        script = (
            "echo begun; head -c 30000000 /dev/zero | tr '\\0' x; echo ended; echo error >&2; "
            "head -c 9000000 /dev/urandom >&2; echo last >&2; exit 7"
        )
        done = _shell(workspace, script, output_bytes=MIB)
        assert done.exit_status == 7, f"a command with much output ended as {done.exit_status}"
        assert done.stdout_total_bytes == 30_000_012, f"output is counted wrongly: {done.stdout_total_bytes}"
        assert done.stderr_total_bytes == 9_000_011, f"errors are counted wrongly: {done.stderr_total_bytes}"
        for stream, head, tail in ((done.stdout, b"begun\nxx", b"xxended\n"), (done.stderr, b"error\n", b"last\n")):
            assert stream.startswith(head), f"the head of the output is not kept: {stream[:40]!r}"
            assert stream.endswith(tail), f"the tail of the output is not kept: {stream[-40:]!r}"
            assert MIB // 2 < len(stream) < 2 * MIB, f"{len(stream)} bytes of output were kept of {MIB} asked for"
        done = _shell(workspace, "head -c 1048576 /dev/zero", output_bytes=MIB)
        assert done.stdout == bytes(MIB), "output that is no larger than the limit was clipped"


def check_live_threads(sandbox: LiveSandbox, image: Image) -> None:
    """Commands run side by side, and any thread may start them and wait for them."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        # Each waits for the other's file, so that one after the other they would never end.
        scripts = [f"touch {one}; while [ ! -e {two} ]; do sleep 0.05; done; echo {one}" for one, two in ("ab", "ba")]
        processes = [_start(workspace, script, cwd="/tmp") for script in scripts]
        assert [process.wait().stdout for process in processes] == [b"a\n", b"b\n"], "commands do not run side by side"
        assert processes[0].wait().stdout == b"a\n", "waiting once more gives something else"
        results: dict[int, bytes] = {}

        def work(number: int) -> None:
            workspace.put(f"/benchwright/{number}", str(number).encode())
            results[number] = _shell(workspace, f"cat /benchwright/{number}").stdout

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == {number: str(number).encode() for number in range(8)}, f"threads got mixed up: {results}"


def check_live_time(sandbox: LiveSandbox, image: Image) -> None:
    """A command past its time is killed with all of its session; others and what they left behind go on."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        other = _start(workspace, "while [ ! -e /tmp/go ]; do sleep 0.05; done; echo other")
        for script in (
            "echo begun; sleep 8642",
            "echo begun; sleep 8642 & trap '' TERM HUP INT; sleep 8642",
            "(trap '' TERM; echo begun; sleep 8642 | sleep 8642 | sleep 8642)",
        ):
            started = time.monotonic()
            done = _shell(workspace, script, seconds=1.5)
            assert done.timed_out and done.exit_status is None, f"a command past its time came back as {done}"
            assert done.stdout == b"begun\n", f"output before the time was over is missing: {done.stdout!r}"
            assert done.wall_seconds > 1.4, "a command was ended before its time"
            assert time.monotonic() - started < _AT_ONCE_SECONDS, "a command ran on past its time"
            left = _processes(workspace, "8642")
            assert left == 0, f"{left} processes of a command are alive after its time"
        assert _shell(workspace, "touch /tmp/go").exit_status == 0, "a workspace does not outlive a time-out"
        done = other.wait()
        assert (done.stdout, done.timed_out) == (b"other\n", False), "a time-out ended another command, too"


def check_live_kill(sandbox: LiveSandbox, image: Image) -> None:
    """A command can be killed from another thread; killing what has ended does nothing."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        process = _start(workspace, "echo begun; touch /tmp/begun; sleep 7531 & sleep 7531")
        _wait_for_file(workspace, "/tmp/begun")
        threading.Timer(0.1, process.kill).start()
        done = process.wait()
        assert done.exit_status in (-9, 137) and not done.timed_out, f"a killed command came back as {done}"
        assert done.stdout == b"begun\n", f"output of a killed command is missing: {done.stdout!r}"
        assert _processes(workspace, "7531") == 0, "processes of a killed command are alive"
        process.kill()
        process = _start(workspace, "exit 5")
        assert process.wait().exit_status == 5, "a plain command failed after another was killed"
        process.kill()
        assert process.wait().exit_status == 5, "killing a command that has ended changes its result"


def check_live_background(sandbox: LiveSandbox, image: Image) -> None:
    """What a command leaves running is not waited for, goes on, is seen by later commands and can be killed."""
    program = "i=0; while :; do i=$((i+1)); echo $i > /tmp/count; echo noise $i; echo noise >&2; sleep 0.05; done"
    with sandbox.open_live(image, _LIMITS) as workspace:
        for background in (f"({program}) & echo $! > /tmp/pid", f"setsid sh -c '{program}' & echo $! > /tmp/pid"):
            started = time.monotonic()
            done = _shell(workspace, f"{background}; while [ ! -s /tmp/count ]; do sleep 0.05; done; echo done")
            assert done.exit_status == 0 and b"done\n" in done.stdout, f"a command with a background ended as {done}"
            assert time.monotonic() - started < _AT_ONCE_SECONDS, "a process in the background is waited for"
            _wait_for_change(workspace, "/tmp/count", "a process in the background does not go on")
            assert _shell(workspace, "kill -0 $(cat /tmp/pid)").exit_status == 0, "a background process is not seen"
            assert _shell(workspace, "kill -9 $(cat /tmp/pid); rm /tmp/count").exit_status == 0, "it cannot be killed"
        server = (
            "import socket\nserver = socket.create_server(('127.0.0.1', 8765))\nopen('/tmp/up', 'w')\n"
            "while True:\n    client, _ = server.accept()\n    client.sendall(b'hello')\n    client.close()\n"
        )
        workspace.put("/benchwright/server.py", server.encode())
        _shell(workspace, "python3 /benchwright/server.py > /tmp/log 2>&1 &")
        _wait_for_file(workspace, "/tmp/up")
        client = "import socket; print(socket.create_connection(('127.0.0.1', 8765), 30).recv(9).decode())"
        done = _run(workspace, ["python3", "-c", client])
        assert done.stdout == b"hello\n", f"a server in the background cannot be reached: {done.stderr!r}"


def check_live_users(sandbox: LiveSandbox, image: Image) -> None:
    """Commands run as root or as a user of the image; an unknown one is the caller's mistake.

    A sandbox that has no other user than root says so with `UsageError`, and is not asked further.
    """
    with sandbox.open_live(image, _LIMITS) as workspace:
        for name in (None, "root", "0"):
            assert _shell(workspace, "id -u", user=name).stdout == b"0\n", f"user {name} is not root"
        for name in ("benchwright-nobody", ""):
            try:
                _start(workspace, "true", user=name).wait()
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
                done = _shell(workspace, "id -u; id -g; echo $HOME; id -G; touch /benchwright-file", user=user)
            except UsageError:
                return
            seen = done.stdout.decode().splitlines()
            assert seen[:2] == [number, group], f"user {user} is {seen[:2]} inside, not {[number, group]}"
            assert seen[2] == image.environ.get("HOME", seen[2]), "HOME is another one for another user"
            assert done.exit_status != 0, f"user {user} can write where only root may"
        assert _shell(workspace, "id -u").stdout == b"0\n", "a command after one of another user is not root's"


def check_live_files(sandbox: LiveSandbox, image: Image) -> None:
    """Files are put with their folders and mode, and read; no link leads to the host."""
    with tempfile.TemporaryDirectory() as name, sandbox.open_live(image, _LIMITS) as workspace:
        outside = Path(name).resolve()
        (outside / "secret").write_text("host")
        data = secrets.token_bytes(5 * MIB)
        workspace.put("/benchwright/new folder/file", data, mode=0o750)
        assert workspace.get("/benchwright/new folder/file") == data, "a file came back changed"
        words = _shell(workspace, "ls -ln '/benchwright/new folder/file'").stdout.decode().split()
        assert words[0].startswith("-rwxr-x---"), f"expected mode 0750, got {words[0]}"
        assert words[2:4] == ["0", "0"], "a file that was put does not belong to root"
        workspace.put("/benchwright/empty", b"")
        assert workspace.get("/benchwright/empty") == b"", "an empty file came back otherwise"
        for path in ("/benchwright", "/dev/null", "/benchwright/nothing"):
            assert workspace.get(path) is None, f"{path} was read as a file"
        _raises_fault(lambda: workspace.get("/benchwright/new folder/file", max_bytes=MIB), "a file too large")
        climb = "../" * 40
        _shell(workspace, f"ln -s {outside} absolute; ln -s {climb}{outside} climbing", cwd="/benchwright")
        for link in ("absolute", "climbing"):
            assert workspace.get(f"/benchwright/{link}/secret") is None, f"an {link} link leads to the host"
            workspace.put(f"/benchwright/{link}/made", b"x")
        assert [path.name for path in outside.iterdir()] == ["secret"], "a link changed files of the host"


def check_live_tree(sandbox: LiveSandbox, image: Image) -> None:
    """A folder comes out as a tar archive with names, contents, modes, links and times; ``.git`` does not."""
    script = (
        "mkdir -p .git/objects sub/.git 'sub/a b' empty; echo x > .git/config; echo kept > sub/.git/config; "
        "printf 'a\\r\\n\\0b' > 'sub/a b/file'; chmod 755 'sub/a b/file'; echo new > plain; chmod 640 plain; "
        "ln -s ../plain sub/link; ln -s /etc/hosts absolute; ln -s nowhere loose; mkfifo fifo; touch -d @1234567890 old"
    )
    with sandbox.open_live(image, _LIMITS) as workspace:
        workspace.put("/benchwright/tree/big", bytes(range(256)) * 20_000)
        done = _shell(workspace, script, cwd="/benchwright/tree")
        assert done.exit_status == 0, f"the files for a tree could not be made: {done.stderr!r}"
        members, contents = _tree(workspace, "/benchwright/tree")
        expected = {"absolute", "big", "empty", "loose", "old", "plain", "sub", "sub/.git", "sub/.git/config"}
        expected |= {"sub/a b", "sub/a b/file", "sub/link"}
        assert set(members) == expected, f"a tree has {sorted(members)} instead of {sorted(expected)}"
        assert contents["sub/a b/file"] == b"a\r\n\0b", f"a file came back as {contents['sub/a b/file']!r}"
        assert contents["big"] == bytes(range(256)) * 20_000, "a large file came back changed"
        modes = {name: members[name].mode & 0o777 for name in ("sub/a b/file", "plain")}
        assert modes == {"sub/a b/file": 0o755, "plain": 0o640}, f"modes came back as {modes}"
        links = {name: members[name].linkname for name in ("sub/link", "absolute", "loose")}
        assert links == {"sub/link": "../plain", "absolute": "/etc/hosts", "loose": "nowhere"}, f"links: {links}"
        assert all(members[name].issym() for name in links), "a symbolic link came back as something else"
        assert members["empty"].isdir() and members["sub"].isdir(), "a folder came back as something else"
        assert int(members["old"].mtime) == 1234567890, "the time of a file came back changed"
        assert members["plain"].uid == 0, "a file of root came back as another's"
        for path in ("/benchwright/nothing", "/benchwright/tree/plain"):
            assert _tree(workspace, path) == ({}, {}), f"{path} is no folder and gave a tree that is not empty"


def check_live_strange_trees(sandbox: LiveSandbox, image: Image) -> None:
    """Long, odd and deep names come out as they are, and programs of the image do not matter for it."""
    long, odd = "long/" + "/".join(["n" * 200] * 5), "odd \udcff\u00e4\n'\"\\ name"
    program = (
        "import os\nfor name in (" + ascii(long) + ", " + ascii(odd) + "):\n    os.makedirs(name)\n"
        "    open(name + '/file', 'w').write('x')\n    os.symlink('t' * 300, name + '/link')\n"
        "os.mkdir('deep')\nos.chdir('deep')\nfor _ in range(30):\n    os.mkdir('d' * 100)\n    os.chdir('d' * 100)\n"
        "open('bottom', 'w').write('deep')\n"
    )
    with sandbox.open_live(image, _LIMITS) as workspace:
        workspace.put("/benchwright/tree/mark", b"")
        done = _run(workspace, ["python3", "-c", program], cwd="/benchwright/tree")
        assert done.exit_status == 0, f"the files for a tree could not be made: {done.stderr!r}"
        _shell(workspace, "rm -rf /usr/bin/* /bin/* /usr/lib/* /lib/* 2> /dev/null")
        members, contents = _tree(workspace, "/benchwright/tree")
        deep = "deep/" + "/".join(["d" * 100] * 30) + "/bottom"
        for name, data in ((f"{long}/file", b"x"), (f"{odd}/file", b"x"), (deep, b"deep")):
            assert contents.get(name) == data, f"a file with a strange name is missing or another: {name[:60]!r}"
        assert members[f"{long}/link"].linkname == "t" * 300, "a long link came back changed"


def check_live_written(sandbox: LiveSandbox, image: Image) -> None:
    """What was written, changed or removed is named; a sandbox that cannot tell says so with None."""
    with sandbox.open_live(image, _LIMITS) as workspace:
        if workspace.written() is None:
            return
        assert workspace.written() == (), f"a fresh workspace has {workspace.written()} written"
        _shell(workspace, "mkdir -p /tmp/one/two; echo x > /tmp/one/two/three; echo y >> /etc/passwd; rm /etc/group")
        written = workspace.written() or ()
        assert any(path == "/tmp/one" or path.startswith("/tmp/one/") for path in written), f"not all is in {written}"
        assert {"/etc/passwd", "/etc/group"} <= set(written), f"changed and removed files are missing in {written}"
        others = [path for path in written if not path.startswith("/tmp/one")]
        assert sorted(others) == ["/etc/group", "/etc/passwd"], f"more was named than written: {others}"


def check_live_limits(sandbox: LiveSandbox, image: Image) -> None:
    """Memory, processes and disk run out inside; what takes the most memory is killed, other commands go on."""
    hog = "x = [bytearray(1 << 20) for _ in range(1000)]"
    fork = (
        "import os, time\nmade = 0\nwhile made < 1000:\n    try:\n        if os.fork() == 0: time.sleep(600)\n"
        "    except OSError: break\n    made += 1\nprint(made, flush=True)\nos.killpg(0, 9)"
    )
    fill = "head -c 200000000 /dev/zero > /tmp/fill; ls -ln /tmp/fill; rm /tmp/fill"
    with sandbox.open_live(image, _LIMITS) as workspace:
        other = _start(workspace, "while [ ! -e /tmp/go ]; do sleep 0.05; done; echo other")
        done = _run(workspace, ["python3", "-c", hog])
        assert done.exit_status != 0, "a command past the memory limit ended well"
        assert not done.timed_out, "a command past the memory limit ran on"
        made = int(_run(workspace, ["python3", "-c", fork]).stdout or b"0")
        assert 16 < made <= _LIMITS.processes, f"{made} processes were made, of at most {_LIMITS.processes}"
        written = int(_shell(workspace, fill).stdout.decode().splitlines()[-1].split()[4])
        assert written <= _LIMITS.scratch_bytes, f"{written} bytes were written of at most {_LIMITS.scratch_bytes}"
        workspace.put("/tmp/go", b"")
        assert other.wait().stdout == b"other\n", "another command did not outlive the end of memory"


def check_live_destruction(sandbox: LiveSandbox, image: Image) -> None:
    """Whatever root inside kills or removes: later commands end by themselves, and files and trees come out."""
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    with sandbox.open_live(image, _LIMITS) as workspace:
        workspace.put("/benchwright/tree/file", b"x")
        assert _run(workspace, ["python3", "-c", bomb], seconds=2.0).timed_out, "a fork bomb ended by itself"
        assert _shell(workspace, "echo x").stdout == b"x\n", "a workspace does not outlive a fork bomb"
        for _ in range(3):
            _shell(workspace, "kill -9 -1; kill -9 1; kill -9 $$")
            assert _shell(workspace, "echo x").stdout == b"x\n", "a workspace does not outlive kill -9 -1"
        _shell(workspace, f"rm -rf {image.workdir} /tmp /etc /usr /bin /lib 2> /dev/null")
        assert _run(workspace, ["python3", "-c", "0"]).exit_status == 127, "a program that was removed is still there"
        assert _run(workspace, ["python3", "-c", "0"], cwd="/").exit_status == 127, "a removed program is still there"
        assert _tree(workspace, "/benchwright/tree")[1] == {"file": b"x"}, "there is no tree without the system's files"
        assert workspace.get("/benchwright/tree/file") == b"x", "there are no files without the system's files"
        workspace.put("/benchwright/tree/file", b"y")
        assert workspace.get("/benchwright/tree/file") == b"y", "no file can be put without the system's files"


def check_live_isolation(sandbox: LiveSandbox, image: Image) -> None:
    """No file or network of the host, and no other workspace's files, can be reached."""
    connect = "import socket, sys\nsocket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"
    with (
        tempfile.NamedTemporaryFile() as secret,
        socket.create_server(("127.0.0.1", 0)) as server,
        sandbox.open_live(image, _LIMITS) as workspace,
        sandbox.open_live(image, _LIMITS) as second,
    ):
        for path in (secret.name, f"/proc/1/root{secret.name}"):
            assert _run(workspace, ["test", "-e", path]).exit_status == 1, f"a file of the host is seen at {path}"
        port = str(server.getsockname()[1])
        for address in ("127.0.0.1", "192.0.2.1"):
            done = _run(workspace, ["python3", "-c", connect, address, port])
            assert done.exit_status != 0, f"{address} can be reached from inside"
        workspace.put("/benchwright/mark", b"x")
        _shell(workspace, "rm -f /etc/passwd")
        assert second.get("/benchwright/mark") is None, "a workspace sees files of another"
        assert second.get("/etc/passwd") is not None, "the image was changed by a workspace"


def check_live_shared(sandbox: LiveSandbox, image: Image) -> None:
    """A shared folder can be read, not written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "file").write_text("shared")
        with sandbox.open_live(image, _LIMITS, shared={"/benchwright/shared": folder}) as workspace:
            assert _shell(workspace, "cat /benchwright/shared/file").stdout == b"shared", "a shared file is not seen"
            for script in ("echo x >> file", "rm file", "touch new"):
                done = _shell(workspace, script, cwd="/benchwright/shared")
                assert done.exit_status != 0, f"a shared folder can be written: {script}"
        assert (folder / "file").read_text() == "shared", "a shared file was changed"


def check_live_close(sandbox: LiveSandbox, image: Image) -> None:
    """Closing ends running commands, whose waiting is told so; a closed workspace refuses everything."""
    workspace = sandbox.open_live(image, _LIMITS)
    _shell(workspace, "(trap '' TERM HUP; while :; do sleep 9753; done) & setsid sleep 9753 &")
    process = _start(workspace, "touch /tmp/begun; sleep 9753")
    _wait_for_file(workspace, "/tmp/begun")
    threading.Timer(0.3, workspace.close).start()
    started = time.monotonic()
    _raises_fault(process.wait, "waiting for a command of a workspace that was closed")
    workspace.close()
    assert time.monotonic() - started < _AT_ONCE_SECONDS, "closing takes too long"
    workspace.close()
    process.kill()
    _raises_fault(lambda: _start(workspace, "true"), "a command in a closed workspace")
    _raises_fault(lambda: workspace.put("/x", b""), "a file for a closed workspace")
    _raises_fault(lambda: workspace.get("/x"), "a file of a closed workspace")
    _raises_fault(lambda: workspace.tree("/tmp", io.BytesIO()), "a tree of a closed workspace")
    _raises_fault(workspace.written, "the question what was written in a closed workspace")


def _start(
    workspace: LiveWorkspace,
    script: str,
    *,
    seconds: float = _SECONDS,
    output_bytes: int = 64 * MIB,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
    user: str | None = None,
    merged: bool = False,
) -> LiveProcess:
    limits = RunLimits(wall_seconds=seconds, output_bytes=output_bytes)
    return workspace.start(["sh", "-c", script], limits=limits, environ=environ, cwd=cwd, user=user, merged=merged)


def _shell(workspace: LiveWorkspace, script: str, **options: Any) -> LiveResult:
    return _start(workspace, script, **options).wait()


def _run(workspace: LiveWorkspace, command: Sequence[str], *, seconds: float = _SECONDS, **options: Any) -> LiveResult:
    return workspace.start(command, limits=RunLimits(wall_seconds=seconds), **options).wait()


def _tree(workspace: LiveWorkspace, path: str) -> tuple[dict[str, tarfile.TarInfo], dict[str, bytes]]:
    """Members by name, and contents of the regular files."""
    with tempfile.TemporaryFile() as file:
        workspace.tree(path, file)
        file.seek(0)
        members, contents = {}, {}
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if name == ".":
                    continue
                assert name not in members, f"a tree has {name} twice"
                assert not name.startswith(("/", "../")), f"a name in a tree is not relative to its folder: {name}"
                members[name] = member
                data = archive.extractfile(member) if member.isreg() else None
                if data is not None:
                    contents[name] = data.read()
    return members, contents


def _processes(workspace: LiveWorkspace, word: str) -> int:
    """How many processes inside, besides zombies, have a word in their command line."""
    program = (
        "import glob, os, sys\ncount = 0\nfor path in glob.glob('/proc/[0-9]*/cmdline'):\n    try:\n"
        "        count += sys.argv[1].encode() in open(path, 'rb').read() and int(path.split('/')[2]) != os.getpid()\n"
        "    except OSError: pass\nprint(count)"
    )
    return int(_run(workspace, ["python3", "-c", program, word]).stdout)


def _wait_for_file(workspace: LiveWorkspace, path: str) -> None:
    _until(lambda: workspace.get(path) is not None, f"{path} was not written")


def _wait_for_change(workspace: LiveWorkspace, path: str, what: str) -> None:
    before = workspace.get(path)
    _until(lambda: workspace.get(path) not in (before, b"", None), what)


def _until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def _raises_fault(call: Callable[[], object], what: str) -> None:
    try:
        call()
    except SandboxFault:
        return
    except BenchwrightError as error:
        raise AssertionError(f"{what} raised {type(error).__name__} instead of SandboxFault: {error}") from error
    raise AssertionError(f"{what} was not refused")
