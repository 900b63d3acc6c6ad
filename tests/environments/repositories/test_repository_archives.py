"""Archives of layers: what comes out is what went in, and hostile ones write nowhere else."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.archives import ArchiveReader, ArchiveWriter
from benchwright.environments.repositories.sealing import content_digest, is_opaque, make_opaque, seal, shift_owners
from benchwright.sandboxes.users import user_mapping

OWNER = user_mapping()


def archived(folder: Path, prefix: str = "layer") -> bytes:
    """The bytes of a folder's archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        ArchiveWriter(archive, owner=OWNER).add(folder, prefix)
    return data.getvalue()


def unpacked(data: bytes, folder: Path, *, most_bytes: int | None = None) -> Path:
    """Unpack into a new folder."""
    folder.mkdir()
    reader = ArchiveReader(folder, owner=OWNER, what="the archive", most_bytes=most_bytes)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as archive:
        reader.unpack(archive, iter(archive))
        reader.finish()
    return folder


def hostile(*members: tarfile.TarInfo) -> bytes:
    """An archive of hand-made members; a regular file holds as many zeros as it says."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"\0" * member.size))
    return data.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", **fields: int) -> tarfile.TarInfo:
    """A hand-made member."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def test_a_folder_survives(tmp_path: Path) -> None:
    """Files, modes, links, hard links, empty folders and closed folders come back as they were."""
    folder = tmp_path / "origin"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "a").write_text("text")
    (folder / "deep" / "program").write_text("#!/bin/sh\n")
    (folder / "deep" / "program").chmod(0o755)
    (folder / "link").symlink_to("./deep//a")
    os.link(folder / "deep" / "a", folder / "second")
    shift_owners(folder, OWNER)
    seal(folder, owner=OWNER)
    (folder / "deep").chmod(0o555)
    copy = unpacked(archived(folder), tmp_path / "copy") / "layer"
    assert content_digest(copy, owner=OWNER) == content_digest(folder, owner=OWNER)
    assert copy.stat().st_mode == folder.stat().st_mode
    assert (copy / "second").stat().st_ino == (copy / "deep" / "a").stat().st_ino
    assert archived(copy) == archived(folder)


def test_marks_of_overlayfs_survive(tmp_path: Path) -> None:
    """White-outs and opaque folders are written so that any user can unpack them."""
    folder = tmp_path / "origin"
    (folder / "hiding").mkdir(parents=True)
    try:
        os.mknod(folder / "gone", 0o020000, 0)
        make_opaque(folder / "hiding")
    except OSError:
        pytest.skip("this user or file system can make no marks")
    copy = unpacked(archived(folder), tmp_path / "copy") / "layer"
    assert (copy / "gone").is_char_device()
    assert is_opaque(copy / "hiding")


def test_sockets_are_not_archived(tmp_path: Path) -> None:
    """What no layer may hold is refused when it is written."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe"):
        archived(tmp_path)


HOSTILE: dict[str, tuple[tarfile.TarInfo, ...]] = {
    "absolute": (member("/etc/x"),),
    "upwards": (member("a/../../x"),),
    "through a link": (member("a", tarfile.SYMTYPE, "/"), member("a/x")),
    "through a file": (member("a"), member("a/x")),
    "hard link to outside": (member("a", tarfile.LNKTYPE, "../outside"),),
    "hard link through a link": (member("a", tarfile.SYMTYPE, ".."), member("b", tarfile.LNKTYPE, "a/outside")),
    "device": (member("a", tarfile.BLKTYPE, devmajor=8),),
    "memory": (member("a", tarfile.CHRTYPE, devmajor=1, devminor=1),),
    "pipe": (member("a", tarfile.FIFOTYPE),),
    "folder in place of itself": (member("."),),
    "the host's root": (member("a", uid=-OWNER.uid if OWNER.ranged else -1),),
    "too much": (member("a", size=5000),),
}


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives_are_refused(members: tuple[tarfile.TarInfo, ...], tmp_path: Path) -> None:
    """Whatever a member is called and wherever it points, only the folder is written to."""
    (tmp_path / "outside").write_text("untouched")
    with pytest.raises((UsageError, OSError)):
        unpacked(hostile(*members), tmp_path / "copy", most_bytes=4096)
    assert (tmp_path / "outside").read_text() == "untouched"
    assert {path.name for path in tmp_path.iterdir()} == {"outside", "copy"}


def test_a_later_member_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    """A file that comes after a link of its name is written beside what the link points to."""
    (tmp_path / "outside").write_text("untouched")
    folder = unpacked(hostile(member("a", tarfile.SYMTYPE, "../outside"), member("a", size=3)), tmp_path / "copy")
    assert (folder / "a").read_bytes() == b"\0\0\0"
    assert not (folder / "a").is_symlink()
    assert (tmp_path / "outside").read_text() == "untouched"
