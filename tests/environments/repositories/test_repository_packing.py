"""Bundles: what is unpacked elsewhere is what was packed, each file once, and damage or malice is refused."""

import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from made_layers import make_key, make_store, put_files

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.layers import Layer, LayerKind, LayerStore, Made
from benchwright.environments.repositories.packing import INDEX, pack, unpack


def build(folder: Path) -> tuple[LayerStore, tuple[Layer, ...]]:
    """A store with two instances on one environment; both have a large file that compresses badly."""
    store = make_store(folder)
    noise = os.urandom(300_000).hex()
    base = put_files(store, make_key("rockets", kind=LayerKind.ENVIRONMENT, digest="0"), {"opt/env/x": "1"})
    one = put_files(store, make_key("one", digest="1"), {"testbed/pack": noise, "a": "1"}, lower=[base])
    two = put_files(
        store, make_key("two", digest="2"), {"testbed/pack": noise, "a": "2"}, lower=[base], made=Made(commands=("x",))
    )
    return store, (base, one, two)


def rewritten(
    bundle: Path, out: Path, change: Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]]
) -> Path:
    """A bundle whose members went through a function."""
    data = zstandard.ZstdDecompressor().stream_reader(bundle.read_bytes()).read()
    fresh = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=fresh, mode="w") as new:
        for member in old:
            content = old.extractfile(member) if member.isreg() else None
            for changed, text in change(member, content.read() if content is not None else b""):
                changed.size = len(text) if changed.isreg() else 0
                new.addfile(changed, io.BytesIO(text))
    out.write_bytes(zstandard.ZstdCompressor().compress(fresh.getvalue()))
    return out


def same(member: tarfile.TarInfo, text: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Change nothing."""
    return [(member, text)]


def added(name: str, **fields: object) -> Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]]:
    """Put a member behind the index."""

    def change(member: tarfile.TarInfo, text: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        if member.name != INDEX:
            return [(member, text)]
        extra = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(extra, field, value)
        return [(member, text), (extra, b"")]

    return change


def index_with(**fields: object) -> Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]]:
    """Replace values of the index."""

    def change(member: tarfile.TarInfo, text: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        if member.name != INDEX:
            return [(member, text)]
        return [(member, json.dumps({**json.loads(text), **fields}).encode())]

    return change


def leftovers(store: LayerStore) -> list[str]:
    """What lies in the folder of layers."""
    folder = store.root / "layers"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_layers_survive_and_are_found_by_their_keys(tmp_path: Path) -> None:
    """Content, manifests and dependence are the same in the other store, which need not be of the same user."""
    store, layers = build(tmp_path / "origin")
    packed = pack(layers, tmp_path / "bundle", store=store)
    assert packed.instances == ("one", "two")
    assert packed.bytes == (tmp_path / "bundle").stat().st_size
    other = make_store(tmp_path / "other")
    assert unpack(tmp_path / "bundle", store=other).layers == packed.layers
    for layer in layers:
        found = other.find(layer.key)
        assert found is not None
        assert found.manifest.content.digest == layer.manifest.content.digest
        assert (found.manifest.lower, found.manifest.made) == (layer.manifest.lower, layer.manifest.made)
        assert other.verify(found)


def test_a_file_of_several_layers_is_packed_once(tmp_path: Path) -> None:
    """The second instance adds next to nothing, in the bundle and on the disk it is unpacked to."""
    store, (base, one, two) = build(tmp_path / "origin")
    both = pack((base, one, two), tmp_path / "both", store=store).bytes
    single = pack((base, one), tmp_path / "single", store=store).bytes
    assert both - single < 5_000
    other = make_store(tmp_path / "other")
    unpack(tmp_path / "both", store=other)
    assert other.measure() < 1_000_000
    paths = [other.root / "layers" / layer.path.name / "testbed/pack" for layer in (one, two)]
    assert len({path.stat().st_ino for path in paths}) == 1


def test_packing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """Neither the order of asking nor the time counts; what is unpacked packs to the same bundle."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "one", store=store)
    pack(reversed(layers), tmp_path / "two", store=store)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_is_there_stays(tmp_path: Path) -> None:
    """Unpacking into a store with some of the layers adds the others."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "bundle", store=store)
    other = make_store(tmp_path / "other")
    kept = put_files(other, layers[0].key, {"opt/env/x": "1"})
    unpack(tmp_path / "bundle", store=other)
    assert other.find(layers[0].key) == kept
    assert len(other.layers()) == 3


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    """Neither is it left half-written."""
    store, layers = build(tmp_path / "origin")
    (tmp_path / "bundle").write_text("mine")
    with pytest.raises(UsageError, match="there already"):
        pack(layers, tmp_path / "bundle", store=store)
    assert (tmp_path / "bundle").read_text() == "mine"


HOSTILE = {
    "a path upwards": added("../../x"),
    "an absolute path": added("/etc/x"),
    "another layer": added("instance-other-000000000000/x"),
    "a device": added("LAYER/x", type=tarfile.BLKTYPE),
    "a link out of it": added("LAYER/x", type=tarfile.LNKTYPE, linkname="../../../../../../etc/passwd"),
    "an owner outside": added("LAYER/x", uid=2**31 - 1),
    "a file more": added("LAYER/x"),
    "more than it says": index_with(bytes=10),
    "another version": index_with(schema=99),
    "no layers": index_with(layers=None),
    "a layer less": index_with(layers=[]),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bundles_are_refused_whole(
    change: Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]], tmp_path: Path
) -> None:
    """Nothing of such a bundle stays, in the store or elsewhere."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "bundle", store=store)

    def named(member: tarfile.TarInfo, text: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        changed = change(member, text)
        for one, _ in changed:
            one.name = one.name.replace("LAYER", layers[0].path.name)
        return changed

    hostile = rewritten(tmp_path / "bundle", tmp_path / "hostile", named)
    other = make_store(tmp_path / "deep" / "other")
    with pytest.raises(UsageError):
        unpack(hostile, store=other)
    assert leftovers(other) == []
    assert not (tmp_path / "deep" / "x").exists()


def test_an_unchanged_copy_is_taken(tmp_path: Path) -> None:
    """The helper of the hostile tests itself breaks nothing."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "bundle", store=store)
    copy = rewritten(tmp_path / "bundle", tmp_path / "copy", same)
    assert len(unpack(copy, store=make_store(tmp_path / "other")).layers) == 3


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_cut_bundles_are_refused(keep: float, tmp_path: Path) -> None:
    """A download that broke off is no bundle."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "bundle", store=store)
    data = (tmp_path / "bundle").read_bytes()
    (tmp_path / "cut").write_bytes(data[: int(len(data) * keep)])
    other = make_store(tmp_path / "other")
    with pytest.raises(UsageError):
        unpack(tmp_path / "cut", store=other)
    assert leftovers(other) == []


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    """A file that differs in one place is not what the manifest says."""
    store, layers = build(tmp_path / "origin")
    pack(layers, tmp_path / "bundle", store=store)
    flipped = rewritten(
        tmp_path / "bundle",
        tmp_path / "flipped",
        lambda member, text: [(member, b"3" if member.name.endswith("/a") and text == b"2" else text)],
    )
    other = make_store(tmp_path / "other")
    with pytest.raises(UsageError, match="not those"):
        unpack(flipped, store=other)
    assert not any("-two-" in name for name in leftovers(other))


@pytest.mark.parametrize("content", [b"", b"hello", b"\x28\xb5\x2f\xfd garbage"])
def test_other_files_are_no_bundles(content: bytes, tmp_path: Path) -> None:
    """They are refused in a sentence."""
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UsageError, match="bundle"):
        unpack(tmp_path / "file", store=make_store(tmp_path / "other"))


def test_a_missing_bundle_is_named(tmp_path: Path) -> None:
    """The message has the path."""
    with pytest.raises(UsageError, match="nowhere"):
        unpack(tmp_path / "nowhere", store=make_store(tmp_path / "other"))
