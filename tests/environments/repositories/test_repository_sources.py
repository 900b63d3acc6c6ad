"""Sources: local repositories of every shape, and addresses."""

import os
from pathlib import Path

import pytest
from made_histories import Rich, make_rich, run_git

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.checkout import check_out
from benchwright.environments.repositories.history import HistoryStore
from benchwright.environments.repositories.proof import prove

REPO = "owner/name"
NOWHERE = "ab" * 20


@pytest.fixture
def rich(tmp_path: Path) -> Rich:
    """A source that the test may change."""
    return make_rich(tmp_path / "source")


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    """An empty store."""
    return HistoryStore(folder=tmp_path / "store")


def make_place(rich: Rich, folder: Path, shape: str) -> Path:
    """The same repository in another shape."""
    folder.mkdir()
    if shape == "worktree":
        run_git(rich.path, "worktree", "add", "--quiet", "--detach", str(folder / "place"), rich.before)
    elif shape == "mirror without configuration":
        run_git(folder, "clone", "--quiet", "--mirror", str(rich.path), "place")
        (folder / "place/config").unlink()
    elif shape == "borrowing":
        run_git(folder, "clone", "--quiet", "--shared", str(rich.path), "place")
    elif shape == "awkward path":
        run_git(folder, "clone", "--quiet", str(rich.path), 'a:b "c" d\\e/place')
        return folder / 'a:b "c" d\\e/place'
    else:
        run_git(folder, "clone", "--quiet", "--bare", str(rich.path), "place")
    return folder / "place"


@pytest.mark.parametrize("shape", ["bare", "worktree", "mirror without configuration", "borrowing", "awkward path"])
def test_every_shape_of_repository_serves(rich: Rich, store: HistoryStore, tmp_path: Path, shape: str) -> None:
    """With or without a work tree or configuration, itself borrowing objects, under any path."""
    place = make_place(rich, tmp_path / "shapes", shape)
    check_out(store.add(REPO, place, [rich.base])[rich.base], tmp_path / "instance")
    assert prove(tmp_path / "instance", rich.base, absent=[rich.fix]).tags == 3


def test_a_relative_path_serves(rich: Rich, store: HistoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken from the current folder."""
    monkeypatch.chdir(rich.path.parent)
    assert store.add(REPO, "source", [rich.base])[rich.base].base == rich.base


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_source_of_another_user_serves(rich: Rich, store: HistoryStore) -> None:
    """git refuses to search in such a repository; reading its objects is harmless."""
    for path in (rich.path, *rich.path.rglob("*")):
        os.chown(path, 54321, 54321, follow_symlinks=False)
    assert store.add(REPO, rich.path, [rich.base])[rich.base].base == rich.base


def test_a_lacking_commit_is_named_with_the_way_to_get_it(rich: Rich, store: HistoryStore) -> None:
    """Repository, commit, source and command."""
    with pytest.raises(UsageError) as caught:
        store.add(REPO, rich.path, [rich.base, NOWHERE])
    message = str(caught.value)
    assert f"{rich.path} lacks the commit {NOWHERE} of owner/name" in message
    assert f"git fetch https://github.com/owner/name {NOWHERE}" in message


@pytest.mark.parametrize("kind", ["blob", "tag"])
def test_a_base_must_be_a_commit(rich: Rich, store: HistoryStore, kind: str) -> None:
    """Other objects are no bases, not even a tag of one."""
    other = rich.loose if kind == "blob" else rich.merged_tags["v1"]
    with pytest.raises(UsageError, match=f"lacks the commit {other}"):
        store.add(REPO, rich.path, [other])


@pytest.mark.parametrize("base", ["main", "abc123", "", "-all", "AB" * 20])
def test_a_base_is_given_in_full(rich: Rich, store: HistoryStore, base: str) -> None:
    """Names move, and abbreviations become ambiguous."""
    with pytest.raises(UsageError, match="must be given by its 40 hexadecimal digits"):
        store.add(REPO, rich.path, [base])


@pytest.mark.parametrize("repo", ["name", "../x", "a/b/c", "", "owner/..", "owner/na me"])
def test_repository_names_are_checked(rich: Rich, store: HistoryStore, repo: str) -> None:
    """They become folder names."""
    with pytest.raises(UsageError, match="A repository is named owner/name"):
        store.add(repo, rich.path, [rich.base])


def test_what_is_no_repository_is_refused(rich: Rich, store: HistoryStore, tmp_path: Path) -> None:
    """Also a plain folder inside another repository, whose history would be the wrong one."""
    (rich.path / "folder/plain").mkdir()
    for place in (tmp_path / "absent", rich.path / "folder", rich.path / "folder/plain", rich.path / "a.txt"):
        with pytest.raises(UsageError, match="is no git repository; give the folder of a clone of owner/name"):
            store.add(REPO, place, [rich.base])


def test_a_shallow_clone_is_refused(rich: Rich, store: HistoryStore, tmp_path: Path) -> None:
    """Its history is not the full ancestry."""
    run_git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=later", rich.path.as_uri(), "shallow")
    with pytest.raises(UsageError, match=r"is a shallow clone .*git fetch --unshallow"):
        store.add(REPO, tmp_path / "shallow", [rich.base])


def test_an_address_is_cloned_once_and_fetched_when_a_commit_lacks(
    rich: Rich, store: HistoryStore, tmp_path: Path
) -> None:
    """The clone keeps no address; a later commit makes it fetch again."""
    address = rich.path.as_uri()
    check_out(store.add(REPO, address, [rich.base])[rich.base], tmp_path / "instance")
    assert prove(tmp_path / "instance", rich.base, absent=[rich.fix]).tags == 3
    clone = store.folder / "clones/owner__name.git"
    assert "file:" not in (clone / "config").read_text()
    inode = clone.stat().st_ino
    run_git(rich.path, "commit", "--quiet", "--allow-empty", "--message=new")
    new = run_git(rich.path, "rev-parse", "HEAD")
    assert store.add(REPO, address, [new])[new].base == new
    assert clone.stat().st_ino == inode
    rich.path.rename(tmp_path / "gone")
    assert store.add(REPO, address, [new])[new].base == new


def test_a_commit_on_no_branch_is_asked_for_by_its_id(rich: Rich, store: HistoryStore) -> None:
    """Hosting services give those out; where they do not, the message says so."""
    run_git(rich.path, "commit", "--quiet", "--allow-empty", "--message=abandoned")
    abandoned = run_git(rich.path, "rev-parse", "HEAD")
    run_git(rich.path, "reset", "--quiet", "--hard", "HEAD~1")
    with pytest.raises(UsageError, match=f"no commit {NOWHERE} of owner/name on its branches and tags"):
        store.add(REPO, rich.path.as_uri(), [rich.base, NOWHERE])
    assert store.add(REPO, rich.path.as_uri(), [abandoned])[abandoned].base == abandoned


def test_an_address_that_fails_is_told_without_its_password(store: HistoryStore) -> None:
    """And a half-made clone is not kept."""
    with pytest.raises(MachineError) as caught:
        store.add(REPO, "https://user:secret@127.0.0.1:9/o/r", [NOWHERE])
    assert "Could not fetch https://127.0.0.1:9/o/r" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert [path.name for path in (store.folder / "clones").iterdir()] == [".owner__name.git.lock"]
