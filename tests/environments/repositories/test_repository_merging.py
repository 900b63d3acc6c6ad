"""Merging what a workspace wrote onto what it was written over, and taking one folder off another."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.environments.repositories.merging import merge, prune, subtract
from benchwright.environments.repositories.sealing import entries, is_opaque, make_opaque


def fill(folder: Path, *names: str) -> Path:
    """A folder with files of these names; each holds the folder's name."""
    folder.mkdir(exist_ok=True)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(folder.name)
    return folder


def contents(folder: Path) -> dict[str, str]:
    """Texts by path, white-outs as ``gone``, folders without entries as ``empty``."""
    found = {}
    for entry in entries(folder):
        if entry.whiteout:
            found[entry.name] = "gone"
        elif entry.path.is_file():
            found[entry.name] = entry.path.read_text()
        elif entry.path.is_dir() and not any(entry.path.iterdir()):
            found[entry.name] = "empty"
    return found


def whiteout(path: Path) -> None:
    """Mark a path as removed; skips where that is not allowed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.mknod(path, 0o020000, 0)
    except PermissionError:
        pytest.skip("the kernel lets this user make no white-outs")


def opaque(path: Path) -> Path:
    """Mark a folder as hiding; skips where the file system takes no marks."""
    try:
        make_opaque(path)
    except OSError:
        pytest.skip("the file system takes no extended attributes")
    return path


def test_new_and_changed_files_win(tmp_path: Path) -> None:
    """Files of the upper folder replace and join those below; nothing of it is left."""
    onto, upper = fill(tmp_path / "onto", "a/x", "a/y"), fill(tmp_path / "upper", "a/y", "b")
    merge(upper, onto, below=[])
    assert contents(onto) == {"a/x": "onto", "a/y": "upper", "b": "upper"}
    assert list(upper.iterdir()) == []


def test_a_removed_file_is_gone(tmp_path: Path) -> None:
    """A white-out removes the file and stays only where a layer further below has the path too."""
    below = fill(tmp_path / "below", "a/x")
    onto = fill(tmp_path / "onto", "a/x", "a/y")
    upper = fill(tmp_path / "upper")
    whiteout(upper / "a/x")
    whiteout(upper / "a/y")
    merge(upper, onto, below=[below])
    assert contents(onto) == {"a/x": "gone"}


def test_a_removed_folder_is_gone(tmp_path: Path) -> None:
    """A white-out in place of a folder removes all of it."""
    onto, upper = fill(tmp_path / "onto", "a/deep/x", "b"), fill(tmp_path / "upper")
    whiteout(upper / "a")
    merge(upper, onto, below=[])
    assert contents(onto) == {"b": "onto"}


@pytest.mark.parametrize("further", [True, False])
def test_a_replaced_folder_hides_the_old_one(further: bool, tmp_path: Path) -> None:
    """An opaque folder replaces; it stays opaque only where there is more to hide."""
    below = fill(tmp_path / "below", *(["a/z"] if further else []))
    onto, upper = fill(tmp_path / "onto", "a/x"), fill(tmp_path / "upper", "a/y")
    opaque(upper / "a")
    merge(upper, onto, below=[below])
    assert contents(onto) == {"a/y": "upper"}
    assert is_opaque(onto / "a") == further


def test_kinds_may_change(tmp_path: Path) -> None:
    """A file gives way to a folder and a folder to a file or link."""
    onto, upper = fill(tmp_path / "onto", "file", "folder/x", "other/x"), fill(tmp_path / "upper", "file/y", "folder")
    (upper / "other").symlink_to("nowhere")
    merge(upper, onto, below=[])
    assert contents(onto) == {"file/y": "upper", "folder": "upper"}
    assert os.readlink(onto / "other") == "nowhere"  # noqa: PTH115


def test_a_link_is_never_gone_through(tmp_path: Path) -> None:
    """A link in the lower folder is replaced, and what it points to is left alone."""
    outside = fill(tmp_path / "outside", "x")
    onto, upper = fill(tmp_path / "onto"), fill(tmp_path / "upper", "a/x")
    (onto / "a").symlink_to(outside)
    merge(upper, onto, below=[])
    assert contents(outside) == {"x": "outside"}
    assert contents(onto) == {"a/x": "upper"}


def test_a_folder_gets_the_later_permissions(tmp_path: Path) -> None:
    """What was done to a folder's mode in the workspace holds."""
    onto, upper = fill(tmp_path / "onto", "a/x"), fill(tmp_path / "upper", "a/y")
    (upper / "a").chmod(0o700)
    merge(upper, onto, below=[])
    assert (onto / "a").stat().st_mode & 0o777 == 0o700


def test_copied_up_folders_without_content_are_pruned(tmp_path: Path) -> None:
    """An empty folder stays when it is new, or hides; it goes when a lower one says the same."""
    below = fill(tmp_path / "below", "a/b/x", "hidden/x")
    folder = fill(tmp_path / "folder", "kept/x")
    for name in ("a/b", "new/empty", "hidden"):
        (folder / name).mkdir(parents=True)
    opaque(folder / "hidden")
    prune(folder, below=[below])
    assert contents(folder) == {"kept/x": "folder", "new/empty": "empty", "hidden": "empty"}


NAMES = st.sampled_from("abc")
ENTRIES = st.sampled_from(["one", "two", "-> one", "program"])
TREES = st.recursive(
    st.dictionaries(NAMES, ENTRIES, max_size=3),
    lambda below: st.dictionaries(NAMES, st.one_of(ENTRIES, below), max_size=3),
    max_leaves=12,
)


def lay_out(folder: Path, tree: dict[str, object]) -> Path:
    """A folder of a made-up tree: texts, links, programs, folders."""
    folder.mkdir()
    for name, entry in tree.items():
        path = folder / name
        if isinstance(entry, dict):
            lay_out(path, entry)
        elif isinstance(entry, str) and entry.startswith("-> "):
            path.symlink_to(entry)
        else:
            path.write_text(str(entry))
            path.chmod(0o755 if entry == "program" else 0o644)
    return folder


def shown(upper: Path, lower: Path | None) -> dict[str, object]:
    """What an overlay of the upper folder over the lower one shows, told entry by entry."""
    below = {path.name: path for path in lower.iterdir()} if lower is not None else {}
    above = {path.name: path for path in upper.iterdir()}
    found: dict[str, object] = {}
    for name in sorted({*below, *above}):
        top, bottom = above.get(name), below.get(name)
        if top is not None and top.is_char_device() and not top.is_symlink():
            continue
        path = bottom if top is None else top
        assert path is not None
        if path.is_symlink():
            found[name] = os.readlink(path)  # noqa: PTH115
        elif path.is_dir():
            merges = top is not None and bottom is not None and bottom.is_dir() and not bottom.is_symlink()
            found[name] = shown(path, bottom if merges else None)
        else:
            found[name] = (path.read_text(), path.stat().st_mode)
    return found


@settings(max_examples=200, deadline=None)
@given(mine=TREES, base=TREES)
def test_what_is_left_over_a_base_shows_the_same(
    mine: dict[str, object], base: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the two trees are, an overlay of the difference over the base shows the first."""
    folder = tmp_path_factory.mktemp("subtract")
    one, other = lay_out(folder / "mine", mine), lay_out(folder / "base", base)
    before, untouched = shown(one, None), shown(other, None)
    try:
        subtract(one, other)
    except PermissionError:
        pytest.skip("the kernel lets this user make no white-outs")
    assert shown(one, other) == before
    assert shown(other, None) == untouched


def test_nothing_is_left_of_equal_folders(tmp_path: Path) -> None:
    """Equal files, links and folders go; a folder with other permissions stays, empty."""
    tree: dict[str, object] = {"a": {"b": "one", "c": {"a": "-> x"}}, "b": {"c": "two"}}
    one, other = lay_out(tmp_path / "mine", tree), lay_out(tmp_path / "base", tree)
    (one / "b").chmod(0o700)
    subtract(one, other)
    assert contents(one) == {"b": "empty"}
