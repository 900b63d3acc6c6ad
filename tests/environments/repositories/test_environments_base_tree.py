"""The start tree from layers and from archives, and the reading of archives that are odd or broken."""

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from made_histories import run_git
from made_trees import archived_tree, packed, tree, write

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.environments.repositories.base_tree import (
    FILE,
    LINK,
    PROGRAM,
    ArchivedFile,
    BaseTree,
    blob_id,
    read_archive,
)
from benchwright.environments.repositories.sealing import make_opaque

FILES = {
    **tree(a="1", d__x="2", d__y="3"),
    "run": (PROGRAM, b"#!/bin/sh\n"),
    "link": (LINK, b"./d//x"),
    "ü/\udcff": (FILE, b"\xff"),
}
SET_UP = tree(build__lib="4", d__made="5")


def instance(folder: Path) -> tuple[list[Path], str]:
    """Layers as those of a built instance: the checkout in the topmost, with what set-up made; and the commit."""
    layers = [folder / "system", folder / "instance"]
    (layers[0] / "usr").mkdir(parents=True)
    work = layers[1] / "testbed"
    work.mkdir(parents=True)
    write(FILES, work)
    run_git(work, "init", "--quiet")
    run_git(work, "add", "--all")
    run_git(work, "commit", "--quiet", "--message=base")
    write(SET_UP, work)
    (work / "a").write_text("edited")
    return layers, run_git(work, "rev-parse", "HEAD")


def test_the_tree_of_a_built_instance(tmp_path: Path) -> None:
    """What the commit has is told from what set-up made, and an edited file has the edited content."""
    layers, commit = instance(tmp_path)
    base = BaseTree.from_layers(layers, commit=commit)
    assert base.tracked == base.files.keys() == FILES.keys()
    assert {path: file.mode for path, file in base.files.items()} == {path: mode for path, (mode, _) in FILES.items()}
    assert base.set_up.keys() == SET_UP.keys()
    assert base.read("a") == b"edited"
    assert base.read("link") == b"./d//x"
    assert base.files["ü/\udcff"].blob == run_git(layers[1] / "testbed", "rev-parse", "HEAD:ü/\udcff")


def test_layers_and_an_archive_of_the_same_files_are_one_tree(tmp_path: Path) -> None:
    """Whichever sandbox an agent works in, it is handed the same."""
    layers, commit = instance(tmp_path)
    layered = BaseTree.from_layers(layers, commit=commit)
    for path in (layers[1] / "testbed").rglob("*"):
        os.utime(path, (7, 7), follow_symlinks=False)
    archive = tmp_path / "start.tar"
    archive.write_bytes(packed({**FILES, "a": (FILE, b"edited"), **SET_UP}, seconds=7).getvalue())
    archived = archived_tree(archive, tracked=FILES.keys())
    layered = BaseTree.from_layers(layers, commit=commit)
    assert (archived.files, archived.set_up, archived.tracked) == (layered.files, layered.set_up, layered.tracked)
    assert {path: archived.read(path) for path in FILES} == {path: layered.read(path) for path in FILES}


def test_upper_layers_win(tmp_path: Path) -> None:
    """Files replace and join those below; a file replaces a folder, and a folder a file."""
    layers, commit = instance(tmp_path)
    below = tmp_path / "below"
    write({"a/deep": (FILE, b""), "d/x/deep": (FILE, b""), "old": (FILE, b"old")}, below / "testbed")
    write({"d": (FILE, b"no folder"), "run/deep": (FILE, b"")}, tmp_path / "above" / "testbed")
    base = BaseTree.from_layers([below, *layers, tmp_path / "above"], commit=commit)
    assert base.files.keys() == {"a", "link", "ü/\udcff"}
    assert base.set_up.keys() == {"old", "d", "run/deep", "build/lib"}


def test_white_outs_and_opaque_folders_hide(tmp_path: Path) -> None:
    """Overlayfs's ways of saying that something below is gone."""
    layers, commit = instance(tmp_path)
    above = tmp_path / "above" / "testbed"
    write({"d/new": (FILE, b""), "build/x": (FILE, b"")}, above)
    try:
        os.mknod(above / "a", 0o020000, 0)
        make_opaque(above / "d")
    except OSError:
        pytest.skip("the kernel lets this user make no white-outs, or the file system takes no marks")
    base = BaseTree.from_layers([*layers, tmp_path / "above"], commit=commit)
    assert base.tracked == FILES.keys()
    assert base.files.keys() == FILES.keys() - {"a", "d/x", "d/y"}
    assert base.set_up.keys() == {"d/new", "build/lib", "build/x"}


def test_a_work_folder_that_hides_all_of_it_below(tmp_path: Path) -> None:
    """Also the repository's own folder may be opaque, or no folder at all."""
    layers, commit = instance(tmp_path)
    below = tmp_path / "below"
    write(tree(hidden=""), below / "testbed")
    try:
        make_opaque(layers[1] / "testbed")
    except OSError:
        pytest.skip("the file system takes no marks")
    base = BaseTree.from_layers([below, *layers], commit=commit)
    assert base.set_up.keys() == SET_UP.keys()
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "testbed").write_text("")
    assert not BaseTree.from_layers([*layers, tmp_path / "file"], commit=commit).files


def test_layers_without_a_repository(tmp_path: Path) -> None:
    """That is said in words."""
    with pytest.raises(MachineError, match=r"None of the 1 layers has a repository at /testbed"):
        BaseTree.from_layers([tmp_path], commit="0" * 40)


def test_every_name_of_a_file_is_a_file(tmp_path: Path) -> None:
    """Hard links are an archive's business; one to nothing is no file."""
    linked, lost = tarfile.TarInfo("copy"), tarfile.TarInfo("lost")
    linked.type = lost.type = tarfile.LNKTYPE
    linked.linkname, lost.linkname = "./d/x", "nowhere"
    archive = packed(tree(d__x="2"), others=[linked, lost])
    found = read_archive(archive, wanted=())
    assert found.files["copy"].content(archive) == b"2"
    assert found.others == ("lost",)


def test_files_with_holes(tmp_path: Path) -> None:
    """They may be stored without them; their content is whole."""
    if shutil.which("tar") is None:
        pytest.skip("tar is not installed")
    content = b"start" + bytes(2**20) + b"end"
    with (tmp_path / "holes").open("wb") as file:
        file.write(b"start")
        file.seek(5 + 2**20)
        file.write(b"end")
    command = ["tar", "--create", "--sparse", "--format=posix", "--file=-", "holes"]
    archive = io.BytesIO(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)
    (file_found,) = read_archive(archive, wanted=()).files.values()
    assert file_found.content(archive) == content
    assert file_found.blob(archive) == blob_id(content)
    assert file_found.stamp.size == len(content)


def test_names_that_need_more_than_a_header(tmp_path: Path) -> None:
    """Long ones and those that are no UTF-8 come as they are."""
    names = ["d/" * 200 + "x", "\udcff" * 120, "ü" * 100]
    archive = packed({name: (FILE, name.encode("utf-8", "surrogateescape")) for name in names})
    found = read_archive(archive, wanted=())
    assert {name: os.fsdecode(file.content(archive)) for name, file in found.files.items()} == {n: n for n in names}


def test_too_many_files_are_counted(tmp_path: Path) -> None:
    """Those that are wanted are read nevertheless."""
    found = read_archive(packed(tree(**{f"n{number}": "" for number in range(9)})), wanted={"n7"}, most=3)
    assert (set(found.files), found.unread) == ({"n0", "n1", "n2", "n7"}, 5)


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "d/../../up"])
def test_an_archive_that_names_something_outside(name: str) -> None:
    """No sandbox of ours writes that."""
    with pytest.raises(SandboxFault, match="outside of its folder"):
        read_archive(packed({name: (FILE, b"")}), wanted=())


def test_what_is_no_archive() -> None:
    """Neither nothing nor anything else."""
    for content in (b"", b"x" * 2000):
        with pytest.raises(SandboxFault, match="did not come as an archive"):
            read_archive(io.BytesIO(content), wanted=())


def test_a_folder_that_is_not_there_has_no_files() -> None:
    """Its archive has an end, and nothing in front."""
    assert not read_archive(packed({}), wanted=()).files


def test_content_that_is_cut_off() -> None:
    """A file cannot be read from another archive than its own."""
    archive = packed(tree(a="x" * 2000))
    file = read_archive(archive, wanted=()).files["a"]
    archive.truncate(1000)
    with pytest.raises(SandboxFault, match="ends in the middle"):
        file.content(archive)
    assert isinstance(file, ArchivedFile)
