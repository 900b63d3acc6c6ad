"""Facts about the control groups of a workspace, which here are plain folders."""

from pathlib import Path

import pytest

from benchwright.sandboxes.cgroups import SlotGroup
from benchwright.sandboxes.groups import WorkspaceGroup
from benchwright.sandboxes.namespaces.groups import WorkspaceGroups


def test_the_groups_of_version_2_are_one_folder(tmp_path: Path) -> None:
    """Processes are limited and CPU time is read there, too."""
    (tmp_path / "pids.max").write_text("max")
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1500000\nsystem_usec 1000000\n")
    group = WorkspaceGroup(processes=tmp_path, cpu=tmp_path / "cpu.stat")
    group.limit_processes(7)
    assert (tmp_path / "pids.max").read_text() == "7"
    assert group.cpu_seconds() == 2.5


def test_cpu_time_of_version_1_is_in_nanoseconds(tmp_path: Path) -> None:
    """And where there is no such file, nobody knows."""
    (tmp_path / "cpuacct.usage").write_text("1500000000\n")
    assert WorkspaceGroup(cpu=tmp_path / "cpuacct.usage").cpu_seconds() == 1.5
    assert WorkspaceGroup().cpu_seconds() is None


class MemoryGroups:
    """In the place of `GroupFactory`, in plain folders."""

    available = True

    def __init__(self, root: Path) -> None:
        self._root = root

    def number(self) -> int:
        """Always the same."""
        return 1

    def make(self) -> SlotGroup:
        """A folder."""
        folder = self._root / "group"
        folder.mkdir(parents=True)
        return SlotGroup(memory=folder, version=1, folders=(folder,))


def test_groups_of_which_one_cannot_be_made_are_removed(tmp_path: Path) -> None:
    """Those that were made before it."""
    groups = WorkspaceGroups()
    groups._memory = MemoryGroups(tmp_path / "memory")  # type: ignore[assignment]
    groups._roots = {"pids": tmp_path / "pids", "cpuacct": tmp_path / "gone"}
    groups._roots["pids"].mkdir()
    with pytest.raises(FileNotFoundError):
        groups.make()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["memory", "pids"]
