"""Working trees as git has them, with fixed times, whole or not at all."""

import os
import shutil
from pathlib import Path

import pytest
from made_histories import AWKWARD_NAME, Rich, make_rich, run_git

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories import checkout as checkout_module
from benchwright.environments.repositories.checkout import FILE_TIME, check_out
from benchwright.environments.repositories.history import History, HistoryStore


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    """One source for all tests here."""
    return make_rich(tmp_path_factory.mktemp("rich") / "source")


@pytest.fixture(scope="module")
def history(rich: Rich, tmp_path_factory: pytest.TempPathFactory) -> History:
    """Its stored history."""
    return HistoryStore(folder=tmp_path_factory.mktemp("store")).add("o/n", rich.path, [rich.base])[rich.base]


def test_files_are_as_git_has_them(history: History, tmp_path: Path) -> None:
    """Contents, line ends, modes, links, names; a submodule is an empty folder."""
    work = tmp_path / "work"
    check_out(history, work)
    assert (work / "a.txt").read_text() == "second\n"
    assert (work / "dos.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (work / AWKWARD_NAME).read_text() == "text\n"
    assert str((work / "link").readlink()) == "folder/run.sh"
    assert (work / "folder/run.sh").stat().st_mode & 0o777 == 0o755
    assert (work / "a.txt").stat().st_mode & 0o777 == 0o644
    assert list((work / "vendored").iterdir()) == []
    assert work.stat().st_mode & 0o777 == 0o755


def test_times_are_fixed_and_status_stays_empty_in_a_copy(history: History, tmp_path: Path) -> None:
    """Equal files of two instances have equal times; a copy with other inodes still counts as unchanged."""
    work, copy = tmp_path / "work", tmp_path / "copy"
    check_out(history, work)
    paths = [path for path in work.rglob("*") if ".git" not in path.parts]
    assert {path.lstat().st_mtime for path in paths} == {FILE_TIME}
    assert run_git(work, "status", "--porcelain") == ""
    shutil.copytree(work, copy, symlinks=True)
    assert run_git(copy, "status", "--porcelain") == ""
    assert run_git(copy, "diff-files") == ""  # which trusts the noted times and does not look into files


def test_git_works_in_it(history: History, tmp_path: Path) -> None:
    """Versions are found from tags, commits can be made, and a change of a file is seen."""
    check_out(history, tmp_path / "work")
    assert run_git(tmp_path / "work", "describe").startswith("v1-")
    (tmp_path / "work/a.txt").write_text("edited\n")
    assert run_git(tmp_path / "work", "status", "--porcelain") == "M a.txt"
    run_git(tmp_path / "work", "commit", "--quiet", "--all", "--message=mine")
    assert run_git(tmp_path / "work", "rev-parse", "HEAD~1") == history.base


def test_an_empty_folder_is_taken_and_a_full_one_refused(history: History, tmp_path: Path) -> None:
    """Nothing of the user's is overwritten."""
    (tmp_path / "empty").mkdir()
    check_out(history, tmp_path / "empty")
    assert (tmp_path / "empty/.git").is_dir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("empty", "file", "dangling"):
        with pytest.raises(UsageError, match=f"{name} is not empty"):
            check_out(history, tmp_path / name)


def test_a_failed_checkout_leaves_nothing(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The destination is there whole or not at all; a full disk is told as such."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkout_module, "link_or_copy", full)
    with pytest.raises(MachineError, match="no space left on the disk"):
        check_out(history, tmp_path / "new/work")
    assert list((tmp_path / "new").iterdir()) == []


def test_the_users_configuration_changes_nothing(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line-end conversion, hooks, templates and variables of the caller stay outside."""
    marks = tmp_path / "hook-ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marks}\n")
        (hooks / name).chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = true\n\thooksPath = {hooks}\n[init]\n\ttemplateDir = {hooks}\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    old_mask = os.umask(0o077)
    try:
        check_out(history, tmp_path / "work")
    finally:
        os.umask(old_mask)
    assert (tmp_path / "work/a.txt").read_bytes() == b"second\n"
    assert (tmp_path / "work/a.txt").stat().st_mode & 0o777 == 0o644
    assert not marks.exists()
    assert not (tmp_path / "index").exists()
