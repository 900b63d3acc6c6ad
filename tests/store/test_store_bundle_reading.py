"""Bundles made by somebody who means harm, or broken on the way: each is told in one sentence, nothing gets out."""

import random
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from bundle_pieces import FILES, archive_at, bundle_at, head_of

from benchwright.core.errors import UsageError
from benchwright.store import bundle_reading
from benchwright.store.bundle_reading import Bundle, is_bundle


def flaws(path: Path) -> list[str]:
    """What is wrong with a bundle, after seeing to it that nothing of it can be unpacked then."""
    with Bundle(path) as bundle:
        found = bundle.flaws()
        if found:
            with pytest.raises(UsageError, match="cannot be used"):
                bundle.extract(path.parent / "out")
        return found


def named(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    """A member with a mode."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../outside", "leads out of the bundle"),
        ("a/../../outside", "leads out of the bundle"),
        ("/etc/outside", "is absolute"),
        ("C:/outside", "is absolute"),
        ("a\\..\\outside", "backslash"),
        ("a//b", "not in its plain form"),
        ("./a", "not in its plain form"),
        (".bashrc", "begins with a dot"),
        ("a\nb", "cannot be shown"),
        ("x" * 300, "too long"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str, message: str) -> None:
    """A name must be a plain path inside the bundle, even when list and digests agree on it."""
    files = {**FILES, name: b"harm"}
    found = flaws(archive_at(tmp_path / "a.bw.zip", head_of(files), list(files.items())))
    assert any(message in flaw for flaw in found)
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "out" / name.replace("\\", "_")).exists()


def test_a_link_is_refused(tmp_path: Path) -> None:
    """A member that is a symbolic link is not followed and not made."""
    files = {"rows.jsonl": b"/etc/passwd"}
    link = named("rows.jsonl", stat.S_IFLNK | 0o777)
    (found,) = flaws(archive_at(tmp_path / "a.bw.zip", head_of(files), [(link, files["rows.jsonl"])]))
    assert found == "rows.jsonl is a link or a device; a bundle holds files only."


def test_a_folder_and_a_file_of_one_name_are_refused(tmp_path: Path) -> None:
    """What cannot be unpacked side by side is found out from the names."""
    assert flaws(bundle_at(tmp_path / "a.bw.zip", {"a": b"", "a/b": b""})) == ["a is listed as a file and as a folder."]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Which of two members is meant cannot be known."""
    files = {"rows.jsonl": b"good"}
    path = archive_at(tmp_path / "a.bw.zip", head_of(files), [("rows.jsonl", b"evil"), ("rows.jsonl", b"good")])
    assert flaws(path) == ["rows.jsonl is in the archive 2 times."]


def test_what_is_not_listed_and_what_is_not_there_are_named(tmp_path: Path) -> None:
    """The archive holds exactly what is listed."""
    path = archive_at(tmp_path / "a.bw.zip", head_of({"a": b"1", "b": b"2"}), [("a", b"1"), ("c", b"3")])
    assert flaws(path) == ["c is in the archive and not in the list.", "b is listed and not in the archive."]


def test_a_changed_file_is_named(tmp_path: Path) -> None:
    """Other content of the same length has another digest; other lengths are seen before anything is unpacked."""
    head = head_of({"a": b"1", "b": b"2"})
    assert flaws(archive_at(tmp_path / "a.bw.zip", head, [("a", b"1"), ("b", b"3")])) == [
        "b is not what is listed: its digest differs."
    ]
    assert flaws(archive_at(tmp_path / "b.bw.zip", head, [("a", b"1"), ("b", b"22")])) == [
        "b has 2 bytes; 1 are listed."
    ]


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the total limit is refused by the list; more than is listed, while it is read."""
    files = {"a": bytes(3_000_000)}
    lying = archive_at(tmp_path / "a.bw.zip", head_of({"a": bytes(1)}), list(files.items()))
    data = bytearray(lying.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # directory and header claim one byte, too
        struct.pack_into("<L", data, data.rindex(mark) + offset, 1)
    lying.write_bytes(data)
    (found,) = flaws(lying)
    assert found.startswith(("a cannot be unpacked", "a is not what is listed"))
    monkeypatch.setattr(bundle_reading, "LARGEST_TOTAL", 1_000_000)
    (found,) = flaws(bundle_at(tmp_path / "b.bw.zip", files))
    assert "GiB unpacked; at most" in found
    monkeypatch.undo()
    (found,) = flaws(bundle_at(tmp_path / "c.bw.zip", {"a": bytes(40_000_000)}))
    assert "40,000,000 bytes unpacked, which is 1,0" in found


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    """A flag of encryption is enough; no password is asked for."""
    path = bundle_at(tmp_path / "a.bw.zip", {"a": b"1"})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.rindex(mark) + offset] |= 1
    path.write_bytes(data)
    assert flaws(path) == ["a is encrypted; bundles are not."]
    data = bytearray(bundle_at(path).read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(UsageError, match="is encrypted; bundles are not"):
        Bundle(path)


@pytest.mark.parametrize("where", ["before", "after", "comment"])
def test_hidden_bytes_are_found(tmp_path: Path, where: str) -> None:
    """An archive that is something else at the same time, such as a program, is refused."""
    path = bundle_at(tmp_path / "a.bw.zip")
    if where == "comment":
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"hidden"
    else:
        data = path.read_bytes()
        path.write_bytes(b"#!/bin/sh\n" + data if where == "before" else data + b"x")
    try:
        assert flaws(path) == ["The archive holds bytes that belong to no file of it."]
    except UsageError as error:
        assert where == "after"
        assert "no zip archive" in str(error)


def test_extra_fields_are_found(tmp_path: Path) -> None:
    """Fields that few programs show are refused."""
    info = named("a")
    info.extra = b"\x75\x70\x04\x00abcd"
    found = flaws(archive_at(tmp_path / "a.bw.zip", head_of({"a": b"1"}), [(info, b"1")]))
    assert "a has extra fields in the archive; bundles have none." in found


@pytest.mark.parametrize("cut", [0, 1, 100, -1, -30])
def test_what_is_no_archive_is_no_bundle(tmp_path: Path, cut: int) -> None:
    """An empty file, something else, and a download that ended early are one sentence each."""
    path = bundle_at(tmp_path / "a.bw.zip")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UsageError, match=r"a\.bw\.zip is no result bundle, or not the whole of one"):
        Bundle(path)


def test_an_archive_without_a_list_is_no_bundle(tmp_path: Path) -> None:
    """Other zip archives are told from bundles; so is a list of absurd size."""
    path = tmp_path / "a.bw.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.jsonl", "")
    with pytest.raises(UsageError, match=r"there is no bundle\.json in it"):
        Bundle(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bundle.json", bytes(17 * 1024**2))
    with pytest.raises(UsageError, match=r"its bundle\.json has 17,825,792 bytes"):
        Bundle(path)
    with pytest.raises(UsageError, match="There is no file"):
        Bundle(tmp_path / "nothing.bw.zip")


def test_a_bundle_is_known_by_its_name(tmp_path: Path) -> None:
    """A results folder is none, whatever it is called."""
    (tmp_path / "folder.bw.zip").mkdir()
    assert is_bundle(tmp_path / "a.bw.zip")
    assert not is_bundle(tmp_path / "folder.bw.zip")
    assert not is_bundle(tmp_path / "a.zip")


HEADS: dict[str, Callable[[bytes], bytes]] = {
    "another key": lambda data: data.replace(b"{\n", b'{\n "author": "somebody",\n', 1),
    "other spaces": lambda data: data.replace(b"\n", b"\n\n", 1),
    "other numbers": lambda data: data.replace(b'"schema": 1', b'"schema": 1.0'),
}


@pytest.mark.parametrize("what", HEADS)
def test_a_list_is_what_the_program_writes(tmp_path: Path, what: str) -> None:
    """More than the digest is over, or the same in another form, is not taken for the list."""
    path, data = tmp_path / "a.bw.zip", head_of(FILES).to_bytes()
    changed = HEADS[what](data)
    assert changed != data
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"bundle.json": changed, **FILES}.items():
            archive.writestr(name, content)
    (found,) = flaws(path)
    assert found.startswith("bundle.json holds more than its list says, or is written otherwise")


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "9" * 5000, "[" * 2000 + "]" * 2000, '1, "x": 2'])
def test_a_list_with_what_readers_differ_on_is_no_list(tmp_path: Path, value: str) -> None:
    """Numbers that are none, keys that are there twice and endless nesting are refused in one sentence."""
    data = head_of(FILES).to_bytes().replace(b'"run": {', f'"run": {{"x": {value},'.encode())
    with zipfile.ZipFile(tmp_path / "a.bw.zip", "w") as archive:
        archive.writestr("bundle.json", data)
    with pytest.raises(UsageError, match=r"cannot be used as a result bundle\. .*Its bundle\.json"):
        Bundle(tmp_path / "a.bw.zip")


@pytest.mark.parametrize(
    ("offset", "form", "value"),
    [(4, "<H", 63), (6, "<H", 8), (8, "<H", 0), (10, "<H", 1), (14, "<L", 7), (22, "<L", 7)],
)
def test_a_header_that_contradicts_the_directory_is_found(tmp_path: Path, offset: int, form: str, value: int) -> None:
    """Programs that read an archive from its front must see the same archive."""
    path = bundle_at(tmp_path / "a.bw.zip")
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.rindex(b"PK\x03\x04") + offset, value)
    path.write_bytes(data)
    assert flaws(path) == ["rows.jsonl has a header that contradicts the archive's directory."]


def test_a_name_in_a_header_is_compared(tmp_path: Path) -> None:
    """The name that other programs would give the file is the one that is listed."""
    path = bundle_at(tmp_path / "a.bw.zip")
    path.write_bytes(path.read_bytes().replace(b"rows.jsonl", b"Rows.jsonl", 1))
    with Bundle(path) as bundle:
        assert any("rows.jsonl" in flaw for flaw in bundle.flaws())


@pytest.mark.parametrize(
    ("header", "entry", "form", "value"),
    [
        (4, 6, "<H", 45),
        (6, 8, "<H", 0x2),
        (6, 8, "<H", 0x8),
        (6, 8, "<H", 0x800),
        (6, 8, "<H", 0x2000),
        (10, 12, "<H", 1),
        (12, 14, "<H", 0),
        (12, 14, "<H", 34),
        (None, 4, "<H", 20),
        (None, 34, "<H", 7),
        (None, 36, "<H", 1),
        (None, 38, "<L", (stat.S_IFREG | 0o4777) << 16),
        (None, 38, "<L", 0),
    ],
)
def test_a_member_is_described_as_the_program_does(
    tmp_path: Path, header: int | None, entry: int, form: str, value: int
) -> None:
    """No version, flag, time, system, disk, kind or attribute but a bundle's: some programs heed them."""
    path = bundle_at(tmp_path / "a.bw.zip")
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", header), (b"PK\x01\x02", entry)):
        if offset is not None:
            struct.pack_into(form, data, data.rindex(mark) + offset, value)
    path.write_bytes(data)
    assert flaws(path) == ["rows.jsonl is described in the archive's directory otherwise than benchwright does."]


def test_the_end_of_an_archive_is_as_the_program_writes_it(tmp_path: Path) -> None:
    """The number of a disk there is nought, too."""
    path = bundle_at(tmp_path / "a.bw.zip")
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, data.rindex(b"PK\x05\x06") + 4, 1)
    path.write_bytes(data)
    try:
        assert flaws(path) == ["The archive ends otherwise than benchwright writes it."]
    except UsageError as error:  # newer versions of Python refuse it themselves
        assert "no zip archive" in str(error)


def repacked(path: Path, changed: str, change: Callable[[bytes], bytes]) -> Path:
    """A bundle at a path, in which the compressed bytes of one member are others, sizes and places made to fit."""
    content, directory = b"", b""
    names = ["bundle.json", *sorted(FILES)]
    for name in names:
        data = {**FILES, "bundle.json": head_of(FILES).to_bytes()}[name]
        stream = zlib.compressobj(wbits=-15)
        packed = stream.compress(data) + stream.flush()
        packed = change(packed) if name == changed else packed
        common = (20, 0, 8, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
        directory += struct.pack("<4sH5H3L5H2L", b"PK\1\2", 0x314, *common, 0, 0, 0, 0o100644 << 16, len(content))
        directory += name.encode()
        content += struct.pack("<4s5H3L2H", b"PK\3\4", *common) + name.encode() + packed
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(names), len(names), len(directory), len(content), 0)
    path.write_bytes(content + directory + end)
    return path


@pytest.mark.parametrize("name", ["bundle.json", "rows.jsonl", "logs/a/report.json"])
def test_a_stream_ends_where_its_member_does(tmp_path: Path, name: str) -> None:
    """Bytes behind the end of a compressed stream are seen by no program that unpacks it, and are refused."""
    assert flaws(repacked(tmp_path / "a.bw.zip", name, bytes)) == []
    assert flaws(repacked(tmp_path / "a.bw.zip", name, lambda packed: packed + b"hidden")) == [
        f"{name} cannot be unpacked (bytes follow the end of its stream)."
    ]


def test_a_stream_has_an_end(tmp_path: Path) -> None:
    """One that is cut is not taken for a whole one, though all of the content may come out of it."""
    stream = zlib.compressobj(wbits=-15)
    cut = stream.compress(FILES["manifest.json"]) + stream.flush(zlib.Z_SYNC_FLUSH)
    assert flaws(repacked(tmp_path / "a.bw.zip", "manifest.json", lambda packed: cut)) == [
        "manifest.json cannot be unpacked (its stream has no end)."
    ]


def test_large_members_come_out_whole(tmp_path: Path) -> None:
    """What is larger than the blocks it is read in, and what hardly gets smaller."""
    files = {"a": bytes(3_000_000), "b": random.Random(1).randbytes(3_000_000)}
    path = bundle_at(tmp_path / "a.bw.zip", files)
    with Bundle(path) as bundle:
        assert bundle.flaws(tmp_path / "out") == []
    assert {name: (tmp_path / "out" / name).read_bytes() for name in files} == files
