"""What comes out of a live workspace of the namespace sandbox: trees of any shape, and what was written."""

import io
import os
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import live_pieces
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_pieces import archive_of, as_root

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import MIB
from benchwright.sandboxes.base import (
    TREE_FILE_BYTES,
    Image,
    LiveResult,
    LiveSandbox,
    LiveWorkspace,
    RunLimits,
    WorkspaceLimits,
)
from benchwright.testing.live_calls import shell
from benchwright_guest.workspace import archive

pytestmark = pytest.mark.namespaces


def python(workspace: LiveWorkspace, program: str) -> LiveResult:
    """Run a program, which must succeed."""
    done = live_pieces.python(workspace, program)
    assert done.exit_status == 0, done.stderr
    return done


def content(opened: tarfile.TarFile, name: str) -> bytes:
    """What is in a file of an archive."""
    found = opened.extractfile(name)
    assert found is not None
    return found.read()


NAMES = st.binary(min_size=1, max_size=200).filter(lambda name: not set(name) & {0, 47} and name not in (b".", b".."))
CONTENTS = st.one_of(st.binary(max_size=2000), st.integers(0, 3_000_000).map(lambda size: bytes(size) + b"x"))


@given(files=st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), CONTENTS, max_size=6))
@settings(max_examples=100, deadline=None)
def test_whatever_is_in_a_folder_is_in_its_archive(files: dict[tuple[bytes, ...], bytes]) -> None:
    """Names of any bytes, contents with and without holes; read by Python's own reader."""
    with tempfile.TemporaryDirectory() as name:
        expected = {}
        for parts, data in files.items():
            path = os.path.join(os.fsencode(name), *parts)  # noqa: PTH118
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
                with open(path, "xb") as file:  # noqa: PTH123
                    file.seek(len(data) - 1 if len(data) > 2000 else 0)
                    file.write(data[-1:] if len(data) > 2000 else data)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue  # one name is part of another
            expected[os.fsdecode(b"/".join(parts))] = data
        made = b"".join(archive.archive(name, TREE_FILE_BYTES, left_out=None))
        with tarfile.open(fileobj=io.BytesIO(made), mode="r:") as opened:
            found = {one.name: content(opened, one.name) for one in opened if one.isreg()}
        assert found == expected
        assert len(made) % 512 == 0


def test_large_files_come_without_their_content(workspace: LiveWorkspace) -> None:
    """They may be larger than any disk; what has holes and is not as large has its content."""
    python(
        workspace,
        "import os\nwith open('huge', 'wb') as file:\n    file.truncate(100 << 40)\n"
        "    for place in (0, 9 << 30, 50 << 40): os.pwrite(file.fileno(), b'data' * 10000, place)\n"
        "with open('full', 'wb') as file: file.write(b'x' * ((16 << 20) + 1))\n"
        "with open('holes', 'wb') as file: os.pwrite(file.fileno(), b'end', (16 << 20) - 3)\n",
    )
    file = io.BytesIO()
    workspace.tree("/testbed", file)
    assert file.tell() < MIB
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r:") as opened:
        sizes = {member.name: member.size for member in opened}
        assert sizes == {"huge": 100 << 40, "full": TREE_FILE_BYTES + 1, "holes": TREE_FILE_BYTES}
        holes = opened.extractfile("holes")
        assert holes is not None
        assert holes.read() == bytes(TREE_FILE_BYTES - 3) + b"end"


def test_a_file_of_many_names_is_in_an_archive_once(workspace: LiveWorkspace) -> None:
    """The other names are links to it; small files with few names are repeated."""
    workspace.put("/testbed/large", os.urandom(MIB))
    workspace.put("/testbed/small", b"small")
    shell(workspace, "mkdir sub; for i in 1 2 3 4 5 6 7 8 9; do ln large sub/large$i; ln small small$i; done")
    file = io.BytesIO()
    workspace.tree("/testbed", file)
    assert file.tell() < 2 * MIB
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r:") as opened:
        contents = {one.name: content(opened, one.name) for one in opened if not one.isdir()}
        kinds = [one.type for one in opened if "large" in one.name]
    assert len(contents) == 20
    assert {data for name, data in contents.items() if "small" in name} == {b"small"}
    assert {data for name, data in contents.items() if "large" in name} == {workspace.get("/testbed/large")}
    assert sorted(kinds) == [tarfile.REGTYPE] + [tarfile.LNKTYPE] * 9


def test_what_is_no_file_and_what_is_elsewhere_is_left_out(workspace: LiveWorkspace) -> None:
    """Pipes, sockets, the kernel's folders; a link in the place of the folder leads inside."""
    program = (
        "import os, socket\nos.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')\n"
        "for mode in (0, 0o4755): open(oct(mode), 'w').write('x'); os.chmod(oct(mode), mode)\n"
        "os.mkdir('closed'); open('closed/x', 'w'); os.chmod('closed', 0)\n"
    )
    python(workspace, program)
    with archive_of(workspace) as opened:
        modes = {member.name: member.mode for member in opened}
    assert modes == {"0o0": 0, "0o4755": 0o4755, "closed": 0, "closed/x": 0o644}
    for path in ("/proc", "/sys", "/proc/self/fd", "/dev/null", "/etc/passwd", "/no/such", "/testbed/pipe"):
        assert archive_of(workspace, path).getnames() == [], path
    shell(workspace, "mv /testbed /elsewhere; ln -s elsewhere /testbed; ln -s loop /loop; ln -s /proc/1/root /up")
    assert set(archive_of(workspace).getnames()) == set(modes)
    assert archive_of(workspace, "/loop").getnames() == []
    assert archive_of(workspace, "/up/elsewhere").getnames() == archive_of(workspace).getnames()


def test_only_what_has_too_long_a_path_is_left_out(workspace: LiveWorkspace) -> None:
    """However deep it is: nothing else can be done with such files, either."""
    program = (
        "import os\nfor _ in range(3000):\n    os.mkdir('deep'); open('file', 'w').close(); os.symlink('deep', 'link')"
        "; os.chdir('deep')\n"
    )
    python(workspace, program)
    names = archive_of(workspace).getnames()
    assert max(map(len, names)) in range(4090, 4096)
    assert len(names) == 3 * 819


def test_many_files_come_out(sandbox: LiveSandbox, image: Image) -> None:
    """In one folder and in many."""
    limits = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=256 * MIB)
    with sandbox.open_live(image, limits) as workspace:
        program = (
            "import os\nfor number in range(10_000): open(str(number), 'w').close()\n"
            "for number in range(5_000): os.makedirs(f'folders/{number}/x')\n"
        )
        python(workspace, program)
        assert len(archive_of(workspace).getnames()) == 20_001
        assert len(workspace.written() or ()) == 10_001


def test_a_tree_is_of_one_moment(workspace: LiveWorkspace) -> None:
    """Nothing changes while it is read, whatever would all the time; afterwards everything goes on as before."""
    program = (
        "import os, itertools\nfor number in range(400): open(f'f{number}', 'w').close()\n"
        "open('/tmp/begun', 'w')\nfor number in itertools.count():\n"
        "    os.rename(f'f{number % 400}', f'g{number % 400}'); os.rename(f'g{number % 400}', f'f{number % 400}')\n"
        "    os.mkdir(f'd{number + 1}')\n    if number: os.rename(f'd{number}', f'd{number + 1}/d')\n"
    )
    limits = RunLimits(wall_seconds=60)
    process = workspace.start(["python3", "-c", program], limits=limits)
    stopped = workspace.start(["sh", "-c", "kill -STOP $$; echo continued"], limits=limits)
    while workspace.get("/tmp/begun") is None:
        time.sleep(0.01)
    seen = list[set[str]]()
    while len(seen) < 3 or seen[0] == seen[-1]:  # until it has gone on, or its time is over
        names = archive_of(workspace).getnames()
        assert len([name for name in names if name[0] in "fg"]) == 400
        seen.append({name for name in names if "/" not in name and name[0] == "d"})
        time.sleep(0.05)
        assert len(seen) < 200, "nothing went on after a tree"
    process.kill()
    assert process.wait().exit_status == -9
    assert b"T" in python(workspace, STATES).stdout
    stopped.kill()
    assert stopped.wait().stdout == b""


def test_no_process_stays_stopped_after_a_tree(workspace: LiveWorkspace) -> None:
    """Not even one that was just being made, which the kernel gives the signal only later."""
    failures = []

    def work() -> None:
        for _ in range(40):
            done = shell(workspace, "(true; true) & true | true | true; echo done")
            if done.stdout != b"done\n":
                failures.append(done)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        archive_of(workspace)
        workspace.written()
    assert not failures


STATES = """
import glob
print([open(path).read().rpartition(')')[2].split()[0] for path in glob.glob('/proc/[0-9]*/stat')])
"""


def test_a_file_that_cannot_take_the_tree_leaves_the_workspace_well(workspace: LiveWorkspace) -> None:
    """Its error is the caller's own; nothing inside stays stopped."""

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError("no room for it")

    workspace.put("/testbed/x", bytes(10 * MIB))
    with pytest.raises(OSError, match="no room for it"):
        workspace.tree("/testbed", Full())
    assert shell(workspace, "echo x").stdout == b"x\n"
    assert content(archive_of(workspace), "x") == bytes(10 * MIB)


def test_commands_run_while_a_tree_is_written(workspace: LiveWorkspace) -> None:
    """A tree that nobody takes for a while holds up neither commands nor files."""
    seen = []

    class Slow(io.BytesIO):
        def write(self, data: object) -> int:
            if not seen:
                seen.append(shell(workspace, "echo x").stdout)
                workspace.put("/tmp/y", b"y")
                seen.append(workspace.get("/tmp/y") or b"")
            return super().write(data)  # type: ignore[arg-type]

    for name in ("x", "y"):
        workspace.put(f"/testbed/{name}", bytes(12 * MIB))
    with Slow() as file:
        workspace.tree("/testbed", file)
        assert file.tell() > 20 * MIB
    assert seen == [b"x\n", b"y"]


def test_written_files_are_named(workspace: LiveWorkspace) -> None:
    """Changed, moved, removed; a new or replaced folder alone; not what was only read or is as before."""
    assert workspace.written() == ()
    shell(workspace, "cat /etc/passwd; ls -R /usr/lib > /dev/null; touch /dev/shm/shared; echo x > /dev/null")
    shell(workspace, "echo x >> /etc/passwd; mv /etc/group /etc/moved; mkdir -p /var/new/deep; touch /var/new/deep/x")
    shell(workspace, "rm -r /opt/python/lib; mkdir /opt/python/lib; touch /opt/python/lib/x; ln -s x /tmp/link")
    shell(workspace, "chmod 700 /usr/bin/yes; touch /testbed/gone; rm /testbed/gone; rm -r /root")
    workspace.put("/testbed/a/b", b"")
    expected = ["/etc/passwd", "/etc/group", "/etc/moved", "/var/new", "/opt/python/lib", "/tmp/link", "/usr/bin/yes"]
    assert workspace.written() == tuple(sorted([*expected, "/testbed/a", "/root", "/dev/shm/shared"]))


def test_written_names_may_be_odd(workspace: LiveWorkspace) -> None:
    """Line ends and bytes that are no text among them."""
    python(workspace, "open('a\\nb', 'w'); open('c\\udcffd', 'w')")
    assert workspace.written() == ("/testbed/a\nb", "/testbed/c\udcffd")


def test_a_file_that_is_too_large_is_not_read(workspace: LiveWorkspace) -> None:
    """Also one that takes no room; the workspace lives on."""
    python(workspace, "open('huge', 'wb').truncate(1 << 40)")
    with pytest.raises(SandboxFault, match="more than the"):
        workspace.get("/testbed/huge")
    workspace.put("/testbed/small", b"x")
    assert workspace.get("/testbed/small") == b"x"


@as_root
def test_owners_come_out_as_they_are_inside(workspace: LiveWorkspace, tmp_path: Path) -> None:
    """And what belongs to others can be read."""
    shell(workspace, "echo x > mine; echo y > yours; chmod 600 mine yours; chown 65534:65534 yours")
    with (tmp_path / "tree.tar").open("wb") as file:
        workspace.tree("/testbed", file)
    with tarfile.open(tmp_path / "tree.tar") as opened:
        owners = {one.name: (one.uid, one.gid, content(opened, one.name)) for one in opened}
    assert owners == {"mine": (0, 0, b"x\n"), "yours": (65534, 65534, b"y\n")}
