"""Control groups: the files of both hierarchies, and real groups where this process may make any."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.sandboxes import cgroups
from benchwright.sandboxes.cgroups import GroupFactory, SlotGroup

MIB = 1 << 20


def v1_folder(path: Path, *, limit: int, swap: bool = True) -> SlotGroup:
    """A folder with the files of a version 1 memory group."""
    (path / "memory.limit_in_bytes").write_text(str(limit))
    if swap:
        (path / "memory.memsw.limit_in_bytes").write_text(str(limit))
    (path / "memory.max_usage_in_bytes").write_text("12345")
    (path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    return SlotGroup(memory=path, version=1, folders=(path,))


def v2_folder(path: Path) -> SlotGroup:
    """A folder with the files of a version 2 group."""
    (path / "memory.max").write_text("max")
    (path / "memory.peak").write_text("4096")
    (path / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n")
    return SlotGroup(memory=path, version=2, folders=(path,))


@pytest.mark.parametrize(("before", "after"), [(100, 50), (50, 100)])
@pytest.mark.parametrize("swap", [True, False])
def test_version_1_limits_memory_with_and_without_swap(tmp_path: Path, before: int, after: int, swap: bool) -> None:
    """Both limits are set, in the order the kernel demands, and the peak is reset."""
    group = v1_folder(tmp_path, limit=before, swap=swap)
    group.start(after)
    assert (tmp_path / "memory.limit_in_bytes").read_text() == str(after)
    if swap:
        assert (tmp_path / "memory.memsw.limit_in_bytes").read_text() == str(after)
    assert (tmp_path / "memory.memsw.limit_in_bytes").exists() == swap
    assert group.peak_bytes() == 0
    assert group.kills() == 3


def test_version_2_limits_memory(tmp_path: Path) -> None:
    """The limit is set and kills are counted from the events."""
    group = v2_folder(tmp_path)
    assert group.peak_bytes() == 4096
    group.start(777)
    assert (tmp_path / "memory.max").read_text() == "777"
    assert group.kills() == 2
    assert group.join_paths() == (str(tmp_path / "cgroup.procs"),)


def test_a_folder_that_is_gone_counts_as_removed(tmp_path: Path) -> None:
    """Removing twice is harmless; a folder that cannot be removed yet is told apart."""
    folder = tmp_path / "group"
    folder.mkdir()
    group = SlotGroup(memory=folder, version=2, folders=(folder,))
    (folder / "busy").write_text("")
    assert not group.remove()
    (folder / "busy").unlink()
    assert group.remove()
    assert group.remove()


def test_without_control_groups_none_is_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is mounted the factory says so, instead of failing."""
    monkeypatch.setattr(cgroups, "_MOUNT", tmp_path)
    assert not GroupFactory().available


def test_version_2_is_used_where_memory_is_delegated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group below our own is made only when the memory controller is enabled for it."""
    monkeypatch.setattr(cgroups, "_MOUNT", tmp_path)
    monkeypatch.setattr(cgroups, "_own_paths", lambda: {"": "/mine"})
    (tmp_path / "mine").mkdir()
    control = tmp_path / "mine" / "cgroup.subtree_control"
    control.write_text("cpu pids")
    assert not GroupFactory().available
    control.write_text("cpu memory pids")
    factory = GroupFactory()
    assert factory.available
    first, second = factory.make(), factory.make()
    assert first.version == 2
    assert first.memory != second.memory
    assert first.memory.parent == tmp_path / "mine"


def test_groups_of_killed_hosts_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty groups whose host is gone are cleared away; those in use, and anything else, are left alone."""
    monkeypatch.setattr(cgroups, "_MOUNT", tmp_path)
    monkeypatch.setattr(cgroups, "_own_paths", lambda: {"": "/"})
    (tmp_path / "cgroup.subtree_control").write_text("memory")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folders = {
        "empty": tmp_path / f"benchwright-{gone.pid}-1",
        "busy": tmp_path / f"benchwright-{gone.pid}-2",
        "ours": tmp_path / f"benchwright-{os.getpid()}-1",
        "other": tmp_path / "benchwright-of-somebody",
    }
    for folder in folders.values():
        folder.mkdir()
    (folders["busy"] / "process").write_text("")
    assert GroupFactory().available
    assert {name for name, folder in folders.items() if folder.exists()} == {"busy", "ours", "other"}


@pytest.mark.skipif(not GroupFactory().available, reason="no control group may be made here")
def test_a_real_group_counts_the_memory_of_its_processes() -> None:
    """A process that joins is seen in the group's peak; the empty group can be removed."""
    group = GroupFactory().make()
    try:
        group.start(256 * MIB)
        program = "import sys\nfor path in sys.argv[1:]: open(path, 'w').write('0')\nassert b'x' * (32 << 20)"
        subprocess.run([sys.executable, "-c", program, *group.join_paths()], check=True)
        assert group.peak_bytes() >= 32 * MIB
        assert group.kills() == 0
    finally:
        assert group.remove()
