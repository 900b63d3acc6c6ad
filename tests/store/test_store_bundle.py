"""The form of a result bundle: what is listed, and that equal contents are equal bytes."""

import json
import os
import zipfile
from pathlib import Path

import pytest
from bundle_pieces import FILES, RUN, bundle_at, head_of
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.digest import digest_of_bytes
from benchwright.core.errors import MachineError, UsageError
from benchwright.store import bundle
from benchwright.store.bundle import BundleHead, write_archive
from benchwright.store.bundle_reading import Bundle


def test_the_same_files_are_the_same_bytes(tmp_path: Path) -> None:
    """Neither the order in which files are given nor the time at which they were written matters."""
    turned = dict(reversed(FILES.items()))
    source = tmp_path / "rows"
    source.write_bytes(FILES["rows.jsonl"])
    os.utime(source, (1, 1))
    bundle_at(tmp_path / "a.bw.zip")
    write_archive(tmp_path / "b.bw.zip", head_of(FILES), {**turned, "rows.jsonl": source})
    assert (tmp_path / "a.bw.zip").read_bytes() == (tmp_path / "b.bw.zip").read_bytes()


def test_the_list_names_every_file_with_size_and_digest(tmp_path: Path) -> None:
    """bundle.json comes first and is plain JSON; the digest over it changes with any content."""
    with zipfile.ZipFile(bundle_at(tmp_path / "a.bw.zip")) as archive:
        assert archive.namelist() == ["bundle.json", *sorted(FILES)]
        document = json.loads(archive.read("bundle.json"))
    assert document["schema"] == 1
    assert document["run"] == RUN
    assert document["files"] == [[name, digest_of_bytes(data), len(data)] for name, data in sorted(FILES.items())]
    assert document["digest"] == head_of(FILES).digest != head_of({**FILES, "rows.jsonl": b"\n"}).digest


def test_a_bundle_is_unpacked_as_it_was_packed(tmp_path: Path) -> None:
    """Files come out again under their names, without a flaw."""
    with Bundle(bundle_at(tmp_path / "a.bw.zip")) as opened:
        assert opened.flaws() == []
        opened.extract(tmp_path / "out")
    found = {path.relative_to(tmp_path / "out").as_posix(): path for path in (tmp_path / "out").rglob("*.json*")}
    assert {name: path.read_bytes() for name, path in found.items()} == FILES


@given(
    files=st.dictionaries(
        st.text("abc-Ωé ", min_size=1, max_size=12).filter(lambda name: name == name.strip()),
        st.binary(max_size=60),
        max_size=5,
    )
)
def test_any_plain_names_and_contents_go_in_and_out(
    files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What goes in comes out, whatever the bytes."""
    folder = tmp_path_factory.mktemp("bundle")
    with Bundle(bundle_at(folder / "a.bw.zip", files)) as opened:
        assert opened.flaws() == []
        opened.extract(folder / "out")
        assert opened.head == head_of(files)
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*")} == files


def test_a_bundle_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A source that is not there is the machine's trouble; no half of a bundle is left behind."""
    files: dict[str, Path | bytes] = {**FILES, "rows.jsonl": tmp_path / "nothing"}
    with pytest.raises(MachineError, match="could not be written"):
        write_archive(tmp_path / "a.bw.zip", head_of(FILES), files)
    assert list(tmp_path.iterdir()) == []


def test_more_than_a_bundle_holds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits that readers keep are kept by the writer too."""
    monkeypatch.setattr(bundle, "LARGEST_TOTAL", 10)
    with pytest.raises(UsageError, match="more than a bundle holds"):
        bundle_at(tmp_path / "a.bw.zip")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "has schema 2, this version of benchwright reads 1"),
        ({"schema": True}, "has schema True"),
        ({"kind": "shopping list"}, "does not say that it is a result bundle"),
        ({"files": [["a", "b"]]}, "has it in another form"),
        ({"files": [["a", "b", -1]]}, "is no size"),
        ({"files": [["a", "b", 10**4000]]}, "is no size"),
        ({"files": [[1, "b", 1]]}, "is no text"),
        ({"run": 3}, "has it in another form"),
        ({"digest": 3}, "is no text"),
    ],
)
def test_a_list_that_is_none_is_refused(change: dict[str, object], message: str) -> None:
    """Unknown schema versions and missing parts are told apart."""
    document = {**json.loads(head_of(FILES).to_bytes()), **change}
    with pytest.raises(UsageError, match=message):
        BundleHead.from_bytes(json.dumps(document).encode())


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"digest": ""}, {"run": {"model": "another"}}])
def test_a_list_that_was_changed_is_read_and_known_to_be(change: dict[str, object], tmp_path: Path) -> None:
    """Its digest is another than it says: a flaw of the bundle, not something that is no bundle."""
    head = head_of(FILES)
    assert not head.altered
    assert not BundleHead.from_bytes(head.to_bytes()).altered
    changed = json.dumps({**json.loads(head.to_bytes()), **change}).encode()
    assert BundleHead.from_bytes(changed).altered
    path = bundle_at(tmp_path / "a.bw.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "b.bw.zip", "w") as other:
        for info in archive.infolist():
            other.writestr(info, changed if info.filename == "bundle.json" else archive.read(info))
    with Bundle(tmp_path / "b.bw.zip") as opened:
        assert opened.flaws() == ["The digest in bundle.json is not that of its list; one of them was changed."]
        with pytest.raises(UsageError, match="one of them was changed; `bw verify"):
            opened.extract(tmp_path / "out")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}"])
def test_a_list_that_is_no_json_is_refused(data: bytes) -> None:
    """Neither broken nor deep nor huge JSON gets further than one sentence."""
    with pytest.raises(UsageError, match=r"^Its bundle\.json"):
        BundleHead.from_bytes(data)
