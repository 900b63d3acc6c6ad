"""Sealed folders: digests, times, files shared between layers and never within one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.core.errors import MachineError
from benchwright.environments.repositories.sealing import (
    FIXED_TIME,
    content_digest,
    entries,
    is_opaque,
    make_opaque,
    seal,
    set_times,
    share,
    shift_owners,
)
from benchwright.sandboxes.users import user_mapping

OWNER = user_mapping()


def fill(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these texts by path."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def inode(path: Path) -> int:
    """Which file a path names."""
    return path.lstat().st_ino


def can_mark(folder: Path) -> bool:
    """Whether the file system takes overlayfs's marks."""
    try:
        make_opaque(folder)
    except OSError:
        return False
    return True


def test_equal_folders_have_one_digest(tmp_path: Path) -> None:
    """Neither the order of writing nor times nor the place count."""
    one = fill(tmp_path / "one", {"a/x": "1", "b": "2"})
    two = fill(tmp_path / "two", {"b": "2", "a/x": "1"})
    os.utime(two / "b", (1, 1))
    assert content_digest(one, owner=OWNER) == content_digest(two, owner=OWNER)


def make_link(path: Path) -> None:
    """Put a link in place of a file."""
    path.unlink()
    path.symlink_to("2")


CHANGES: dict[str, Callable[[Path], object]] = {
    "bytes": lambda folder: (folder / "b").write_text("3"),
    "permissions": lambda folder: (folder / "b").chmod(0o755),
    "name": lambda folder: (folder / "b").rename(folder / "c"),
    "more": lambda folder: (folder / "empty").mkdir(),
    "kind": lambda folder: make_link(folder / "b"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_changes_the_digest(change: Callable[[Path], object], tmp_path: Path) -> None:
    """Bytes, permissions, names, kinds and additional folders all count."""
    folder = fill(tmp_path / "one", {"a/x": "1", "b": "2"})
    before = content_digest(folder, owner=OWNER)
    change(folder)
    assert content_digest(folder, owner=OWNER) != before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A link counts by where it points, even to nowhere, and what it points to is not read."""
    folder = fill(tmp_path / "one", {"a": "1"})
    (folder / "link").symlink_to("/nonexistent/place")
    before = content_digest(folder, owner=OWNER)
    (folder / "link").unlink()
    (folder / "link").symlink_to("/nonexistent/other")
    assert content_digest(folder, owner=OWNER) != before


def test_sealing_sets_one_time_and_keeps_gits_index_newer(tmp_path: Path) -> None:
    """All entries have the fixed time but an index, which git must find newer than the files."""
    folder = fill(tmp_path / "one", {"testbed/.git/index": "i", "testbed/a": "1", "index": "no index of git"})
    (folder / "link").symlink_to("a")
    seal(folder, owner=OWNER)
    times = {entry.name: entry.path.lstat().st_mtime for entry in entries(folder)}
    assert times.pop("testbed/.git/index") == FIXED_TIME + 1
    assert set(times.values()) == {FIXED_TIME}
    assert folder.stat().st_mtime == FIXED_TIME


def test_setting_times_alone_does_the_same(tmp_path: Path) -> None:
    """`set_times` gives the times that sealing gives, so that a build over the folder copies nothing."""
    folder = fill(tmp_path / "one", {"testbed/.git/index": "i", "testbed/a": "1"})
    set_times(folder)
    before = {entry.name: entry.path.lstat().st_mtime for entry in entries(folder)}
    seal(folder, owner=OWNER)
    assert before == {entry.name: entry.path.lstat().st_mtime for entry in entries(folder)}


def test_equal_files_of_two_layers_are_one_file(tmp_path: Path) -> None:
    """The second layer's equal files cost nothing, whatever they are called; different ones stay."""
    one = fill(tmp_path / "one", {"a": "x" * 10_000, "b": "1"})
    two = fill(tmp_path / "two", {"deep/c": "x" * 10_000, "b": "2"})
    first = seal(one, owner=OWNER, pool=tmp_path / "pool")
    second = seal(two, owner=OWNER, pool=tmp_path / "pool")
    assert inode(one / "a") == inode(two / "deep/c")
    assert inode(one / "b") != inode(two / "b")
    assert first.new_bytes == first.bytes
    assert second.bytes - second.new_bytes == (one / "a").stat().st_blocks * 512


def test_files_with_other_permissions_are_not_shared(tmp_path: Path) -> None:
    """A link has one mode: a file that may be run is not made one with an equal one that may not."""
    one, two = fill(tmp_path / "one", {"a": "x"}), fill(tmp_path / "two", {"a": "x"})
    (two / "a").chmod(0o755)
    for folder in (one, two):
        seal(folder, owner=OWNER, pool=tmp_path / "pool")
    assert inode(one / "a") != inode(two / "a")


def test_equal_files_of_one_layer_stay_apart(tmp_path: Path) -> None:
    """Two paths of one layer never become one file; the second is shared with another layer's second."""
    files = {"a": "same", "b": "same", "c": "same"}
    layers = [fill(tmp_path / name, files) for name in ("one", "two", "three")]
    for folder in layers:
        seal(folder, owner=OWNER, pool=tmp_path / "pool")
    for folder in layers:
        assert len({inode(folder / name) for name in files}) == len(files)
    for name in files:
        assert len({inode(folder / name) for folder in layers}) == 1


def test_two_names_of_one_file_stay_so(tmp_path: Path) -> None:
    """Hard links within a layer survive when the file is replaced by a shared one."""
    one = fill(tmp_path / "one", {"a": "same"})
    seal(one, owner=OWNER, pool=tmp_path / "pool")
    two = fill(tmp_path / "two", {"x": "same"})
    os.link(two / "x", two / "y")
    seal(two, owner=OWNER, pool=tmp_path / "pool")
    assert inode(two / "x") == inode(two / "y") == inode(one / "a")


def test_a_file_linked_from_elsewhere_is_not_new(tmp_path: Path) -> None:
    """A pack that a stored history has already costs the layer nothing."""
    folder = fill(tmp_path / "one", {"a": "1"})
    pack = fill(tmp_path / "history", {"pack": "p" * 10_000}) / "pack"
    os.link(pack, folder / "pack")
    content = seal(folder, owner=OWNER, pool=tmp_path / "pool")
    assert content.bytes - content.new_bytes == pack.stat().st_blocks * 512
    assert inode(pack) == inode(folder / "pack")


def test_a_file_that_is_pooled_already_is_left_alone(tmp_path: Path) -> None:
    """A stored pack that two layers link to is in the pool after the first; nothing is left beside it."""
    pack = fill(tmp_path / "history", {"pack": "p"}) / "pack"
    for name in ("one", "two"):
        folder = fill(tmp_path / name, {"a": name})
        os.link(pack, folder / "pack")
        seal(folder, owner=OWNER, pool=tmp_path / "pool")
        assert inode(folder / "pack") == inode(pack)
    assert len([path for path in (tmp_path / "pool").rglob("*") if path.is_file()]) == 3


def test_a_file_with_too_many_links_gets_a_successor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the file system allows no more links to one file, another one takes its place in the pool."""
    pooled = fill(tmp_path, {"pooled": "x"}) / "pooled"
    path = fill(tmp_path, {"mine": "x"}) / "mine"
    link = os.link
    refused: list[Path] = []

    def once(source: Path, target: Path) -> None:
        if not refused:
            refused.append(source)
            raise OSError(31, "Too many links")
        link(source, target)

    monkeypatch.setattr(os, "link", once)
    assert not share(path, pooled)
    assert refused == [pooled]
    assert inode(pooled) == inode(path)


def test_an_opaque_folder_counts(tmp_path: Path) -> None:
    """A folder that hides what is below it differs from one that does not."""
    folder = fill(tmp_path / "one", {"a/x": "1"})
    before = content_digest(folder, owner=OWNER)
    if not can_mark(folder / "a"):
        pytest.skip("the file system takes no extended attributes")
    assert is_opaque(folder / "a")
    assert content_digest(folder, owner=OWNER) != before


def test_overlayfs_private_marks_are_dropped(tmp_path: Path) -> None:
    """What overlayfs notes for itself says nothing about the layer's content."""
    folder = fill(tmp_path / "one", {"a/x": "1"})
    before = content_digest(folder, owner=OWNER)
    try:
        os.setxattr(folder / "a", "user.overlay.impure", b"y")
    except OSError:
        pytest.skip("the file system takes no extended attributes")
    assert seal(folder, owner=OWNER).digest == before
    assert os.listxattr(folder / "a") == []


def test_a_layer_that_does_not_move_is_refused(tmp_path: Path) -> None:
    """A renamed folder that overlayfs only points to is no content."""
    folder = fill(tmp_path / "one", {"a/x": "1"})
    try:
        os.setxattr(folder / "a", "user.overlay.redirect", b"/other")
    except OSError:
        pytest.skip("the file system takes no extended attributes")
    with pytest.raises(MachineError, match="redirect"):
        seal(folder, owner=OWNER)


@pytest.mark.skipif(not OWNER.ranged, reason="needs root, who has a range of ids")
def test_owners_are_shifted_once(tmp_path: Path) -> None:
    """Root's files become those of root inside, other ids follow, and a second call changes nothing."""
    folder = fill(tmp_path / "one", {"a": "1", "b": "2"})
    os.chown(folder / "b", 42, 43)
    (folder / "a").chmod(0o4755)
    for _ in range(2):
        shift_owners(folder, OWNER)
        assert (folder / "a").stat().st_uid == OWNER.uid
        assert ((folder / "b").stat().st_uid, (folder / "b").stat().st_gid) == (OWNER.uid + 42, OWNER.gid + 43)
    assert (folder / "a").stat().st_mode & 0o7777 == 0o4755


NAMES = st.text(alphabet="ab", min_size=1, max_size=2)
TREES = st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.sampled_from(["", "x", "y" * 5000]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees=st.lists(TREES, min_size=1, max_size=3))
def test_sharing_never_changes_a_layer(trees: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever is sealed into a pool has the digest it had before and keeps its paths apart."""
    base = tmp_path_factory.mktemp("trees")
    for number, tree in enumerate(trees):
        files = {name: text for name, text in tree.items() if not any(one.startswith(f"{name}/") for one in tree)}
        folder = fill(base / str(number), files)
        folder.mkdir(exist_ok=True)
        before = content_digest(folder, owner=OWNER)
        assert seal(folder, owner=OWNER, pool=base / "pool").digest == before
        assert content_digest(folder, owner=OWNER) == before
        regular = [entry.path for entry in entries(folder) if entry.path.is_file()]
        assert len({inode(path) for path in regular}) == len(regular)
