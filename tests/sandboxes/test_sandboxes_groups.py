"""Facts about the control groups of a workspace, which here are plain folders."""

from pathlib import Path

from benchwright.sandboxes.groups import WorkspaceGroup


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
