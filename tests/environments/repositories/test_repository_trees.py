"""Older trees that large checkouts stand on: which commit it is, and what is in the layer."""

from pathlib import Path

import pytest
from made_histories import run_git
from made_layers import make_store

from benchwright.environments.repositories.layers import LayerKind
from benchwright.environments.repositories.trees import count_folders, older_commit, tree_layer


def commit(clone: Path, date: str, text: str) -> str:
    """A commit on a day, whose file and folder have the text."""
    (clone / "file").write_text(text)
    when = {"GIT_COMMITTER_DATE": f"{date}T12:00:00Z", "GIT_AUTHOR_DATE": "2001-01-01T12:00:00Z"}
    run_git(clone, "add", ".")
    run_git(clone, "commit", "--quiet", "-m", text, environ=when)
    return run_git(clone, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "clone"
    folder.mkdir()
    run_git(folder, "init", "--quiet")
    return folder


def test_it_is_the_last_commit_of_an_earlier_quarter(clone: Path) -> None:
    """All commits of a quarter stand on one tree; the first quarter's on none."""
    dates = ("2020-01-01", "2020-03-31", "2020-04-01", "2020-06-30", "2021-02-01")
    one, two, three, four, five = (commit(clone, date, date) for date in dates)
    found = [older_commit(clone / ".git", base) for base in (one, two, three, four, five)]
    assert found == [None, None, two, two, four]


def test_only_the_first_parents_count(clone: Path) -> None:
    """A merged branch's older commits are passed by: its tree may lack most of what the base has."""
    one = commit(clone, "2020-01-01", "one")
    run_git(clone, "checkout", "--quiet", "-b", "side")
    commit(clone, "2020-03-30", "side")
    run_git(clone, "checkout", "--quiet", "-")
    when = {"GIT_COMMITTER_DATE": "2020-05-01T12:00:00Z"}
    run_git(clone, "merge", "--quiet", "--no-ff", "-m", "merge", "side", environ=when)
    assert older_commit(clone / ".git", run_git(clone, "rev-parse", "HEAD")) == one


def test_the_layer_has_the_files_and_no_repository(clone: Path, tmp_path: Path) -> None:
    """Files, programs and links as the commit has them; the repository it comes from is left as it was."""
    (clone / "deep").mkdir()
    (clone / "deep/program").write_text("#!/bin/sh\n")
    (clone / "deep/program").chmod(0o755)
    (clone / "link").symlink_to("deep/program")
    one = commit(clone, "2020-01-01", "one")
    commit(clone, "2020-02-01", "two")
    store = make_store(tmp_path / "home")
    layer = tree_layer(store, "acme/rockets", clone / ".git", one)
    assert layer.key.kind is LayerKind.TREE
    assert {path.name for path in (layer.path / "testbed").iterdir()} == {"file", "deep", "link"}
    assert (layer.path / "testbed/file").read_text() == "one"
    assert (layer.path / "testbed/deep/program").stat().st_mode & 0o777 == 0o755
    assert (layer.path / "testbed/link").is_symlink()
    assert run_git(clone, "status", "--porcelain") == ""
    assert tree_layer(store, "acme/rockets", clone / ".git", one) == layer


def test_folders_are_counted_without_gits_own(clone: Path) -> None:
    """Links to folders are no folders."""
    (clone / "a/b/c").mkdir(parents=True)
    (clone / "link").symlink_to("a")
    assert count_folders(clone) == 3
