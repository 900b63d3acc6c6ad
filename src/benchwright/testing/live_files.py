"""What every sandbox that agents live in promises about files, as checks; see `check_live_sandbox`."""

import secrets
import tempfile
from pathlib import Path

from benchwright.core.execution import MIB
from benchwright.sandboxes.base import Image, LiveSandbox
from benchwright.testing.calls import raises_fault
from benchwright.testing.live_calls import LIMITS, run, shell, tree


def check_live_files(sandbox: LiveSandbox, image: Image) -> None:
    """Files are put with their folders and mode, and read; no link leads to the host."""
    with tempfile.TemporaryDirectory() as name, sandbox.open_live(image, LIMITS) as workspace:
        outside = Path(name).resolve()
        (outside / "secret").write_text("host")
        data = secrets.token_bytes(5 * MIB)
        workspace.put("/benchwright/new folder/file", data, mode=0o750)
        assert workspace.get("/benchwright/new folder/file") == data, "a file came back changed"
        words = shell(workspace, "ls -ln '/benchwright/new folder/file'").stdout.decode().split()
        assert words[0].startswith("-rwxr-x---"), f"expected mode 0750, got {words[0]}"
        assert words[2:4] == ["0", "0"], "a file that was put does not belong to root"
        workspace.put("/benchwright/empty", b"")
        assert workspace.get("/benchwright/empty") == b"", "an empty file came back otherwise"
        for path in ("/benchwright", "/dev/null", "/benchwright/nothing"):
            assert workspace.get(path) is None, f"{path} was read as a file"
        raises_fault(lambda: workspace.get("/benchwright/new folder/file", max_bytes=MIB), "a file too large")
        climb = "../" * 40
        shell(workspace, f"ln -s {outside} absolute; ln -s {climb}{outside} climbing", cwd="/benchwright")
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
    with sandbox.open_live(image, LIMITS) as workspace:
        workspace.put("/benchwright/tree/big", bytes(range(256)) * 20_000)
        done = shell(workspace, script, cwd="/benchwright/tree")
        assert done.exit_status == 0, f"the files for a tree could not be made: {done.stderr!r}"
        members, contents = tree(workspace, "/benchwright/tree")
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
            assert tree(workspace, path) == ({}, {}), f"{path} is no folder and gave a tree that is not empty"


def check_live_strange_trees(sandbox: LiveSandbox, image: Image) -> None:
    """Long, odd and deep names come out as they are, and programs of the image do not matter for it."""
    long, odd = "long/" + "/".join(["n" * 200] * 5), "odd \udcff\u00e4\n'\"\\ name"
    program = (
        "import os\nfor name in (" + ascii(long) + ", " + ascii(odd) + "):\n    os.makedirs(name)\n"
        "    open(name + '/file', 'w').write('x')\n    os.symlink('t' * 300, name + '/link')\n"
        "os.mkdir('deep')\nos.chdir('deep')\nfor _ in range(30):\n    os.mkdir('d' * 100)\n    os.chdir('d' * 100)\n"
        "open('bottom', 'w').write('deep')\n"
    )
    with sandbox.open_live(image, LIMITS) as workspace:
        workspace.put("/benchwright/tree/mark", b"")
        done = run(workspace, ["python3", "-c", program], cwd="/benchwright/tree")
        assert done.exit_status == 0, f"the files for a tree could not be made: {done.stderr!r}"
        shell(workspace, "rm -rf /usr/bin/* /bin/* /usr/lib/* /lib/* 2> /dev/null")
        members, contents = tree(workspace, "/benchwright/tree")
        deep = "deep/" + "/".join(["d" * 100] * 30) + "/bottom"
        for name, data in ((f"{long}/file", b"x"), (f"{odd}/file", b"x"), (deep, b"deep")):
            assert contents.get(name) == data, f"a file with a strange name is missing or another: {name[:60]!r}"
        assert members[f"{long}/link"].linkname == "t" * 300, "a long link came back changed"


def check_live_written(sandbox: LiveSandbox, image: Image) -> None:
    """What was written, changed or removed is named; a sandbox that cannot tell says so with None."""
    with sandbox.open_live(image, LIMITS) as workspace:
        if workspace.written() is None:
            return
        assert workspace.written() == (), f"a fresh workspace has {workspace.written()} written"
        shell(workspace, "mkdir -p /tmp/one/two; echo x > /tmp/one/two/three; echo y >> /etc/passwd; rm /etc/group")
        written = workspace.written() or ()
        assert any(path == "/tmp/one" or path.startswith("/tmp/one/") for path in written), f"not all is in {written}"
        assert {"/etc/passwd", "/etc/group"} <= set(written), f"changed and removed files are missing in {written}"
        others = [path for path in written if not path.startswith("/tmp/one")]
        assert sorted(others) == ["/etc/group", "/etc/passwd"], f"more was named than written: {others}"
