"""Built environments as one compressed file, to be unpacked on machines that build nothing.

The file is a tar archive under Zstandard: ``bundle.json`` with the manifests of all layers, then the layers.  A file
that several of them share, such as a stored history, is in it once.  What is unpacked counts only when its digest is
the one of the manifest.
"""

import io
import json
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import zstandard

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import MIB
from benchwright.environments.repositories.archives import ArchiveReader, ArchiveWriter
from benchwright.environments.repositories.files import told_plainly
from benchwright.environments.repositories.layers import Layer, LayerKind, LayerStore, Manifest
from benchwright.environments.repositories.sealing import FIXED_TIME, entries

SCHEMA = 1
"""Version of the bundle's form."""

INDEX = "bundle.json"
MOST_INDEX_BYTES = 256 * MIB
"""Five hundred manifests with all their packages take 10 MiB."""

LEVEL = 12
"""Measured on the layers of eight instances (1,221 MiB): level 9 gives 421 MiB in 24 s of CPU time, 12 gives 413 in 47,
15 gives 409 in 176."""

WINDOW_LOG = 27
"""Repetitions are found 128 MiB back, across the trees of several instances; reading takes that much memory too.  1 GiB
(30) gives 3 % less."""

KIND_ORDER = tuple(LayerKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What was packed or unpacked."""

    layers: tuple[str, ...]
    """Names of their folders."""
    instances: tuple[str, ...]
    """Ids of the problems whose own layers are among them."""
    bytes: int
    """Of the file."""


def pack(layers: Iterable[Layer], out: Path, *, store: LayerStore) -> Packed:
    """Write layers of a store, each once, into a new file; two packings of the same layers are the same bytes.

    Raises `UsageError` when the file is there already, and `MachineError` when it cannot be written.
    """
    chosen = {layer.path.name: layer for layer in layers}
    ordered = sorted(chosen.values(), key=lambda layer: (KIND_ORDER.index(layer.key.kind), layer.path.name))
    if out.exists():
        raise UsageError(f"{out} is there already; give another name, or remove it.")
    partial = out.with_name(f".{out.name}.partial")
    with told_plainly(f"write {out}"), store.in_use():
        try:
            with partial.open("wb") as file:
                _write(ordered, file, store)
            partial.replace(out)
        finally:
            partial.unlink(missing_ok=True)
        return _packed(tuple(layer.manifest for layer in ordered), out)


def unpack(file: Path, *, store: LayerStore) -> Packed:
    """Put the layers of a bundle into a store; those that are there stay, and what fails leaves nothing behind.

    Raises `UsageError` when it is no bundle, damaged, of another version, or holds paths that lead elsewhere, and
    `MachineError` when the disk is full.
    """
    with told_plainly(f"unpack {file}"):
        try:
            with file.open("rb") as raw, store.workspace("unpacking") as folder:
                manifests = _unpack(raw, folder, file, store)
                for manifest in manifests:
                    store.adopt(folder / manifest.key.folder_name, manifest)
        except (tarfile.TarError, zstandard.ZstdError) as error:
            raise UsageError(f"{file} is no whole bundle of environments ({error}).") from error
        except FileNotFoundError as error:
            raise UsageError(f"There is no file {error.filename}.") from error
        return _packed(manifests, file)


def _write(layers: list[Layer], file: IO[bytes], store: LayerStore) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL, window_log=WINDOW_LOG, enable_ldm=True, threads=-1, write_checksum=True
    )
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    manifests = [json.loads(layer.manifest.to_json()) for layer in layers]
    index = {"schema": SCHEMA, "bytes": _unpacked_bytes(layers), "layers": manifests}
    text = json.dumps(index, sort_keys=True, ensure_ascii=False).encode()
    with (
        compressor.stream_writer(file, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        member = tarfile.TarInfo(INDEX)
        member.size, member.mtime = len(text), FIXED_TIME
        archive.addfile(member, io.BytesIO(text))
        writer = ArchiveWriter(archive, owner=store.owner)
        for layer in layers:
            writer.add(layer.path, layer.path.name)


def _unpack(raw: IO[bytes], folder: Path, file: Path, store: LayerStore) -> tuple[Manifest, ...]:
    reader = zstandard.ZstdDecompressor(max_window_size=2**WINDOW_LOG).stream_reader(raw)
    with reader, tarfile.open(fileobj=reader, mode="r|") as archive:
        members = iter(archive)
        manifests, expected = _index(archive, next(members, None), file)
        names = {manifest.key.folder_name for manifest in manifests}
        _require_space(expected, folder)
        unpacking = ArchiveReader(folder, owner=store.owner, what=str(file), most_bytes=expected)
        unpacking.unpack(archive, _below(members, names, file))
        unpacking.finish()
    missing = sorted(name for name in names if not (folder / name).is_dir())
    if missing:
        raise UsageError(f"{file} lacks the layer {missing[0]} that it lists.")
    return manifests


def _unpacked_bytes(layers: list[Layer]) -> int:
    """What the files of all layers hold together, each counted once."""
    found = (entry.status for layer in layers for entry in entries(layer.path))
    return sum({(status.st_dev, status.st_ino): status.st_size for status in found}.values())


def _index(archive: tarfile.TarFile, member: tarfile.TarInfo | None, file: Path) -> tuple[tuple[Manifest, ...], int]:
    if member is None or member.name != INDEX or not member.isreg() or member.size > MOST_INDEX_BYTES:
        raise UsageError(f"{file} is no bundle of environments: it does not begin with {INDEX}.")
    content = archive.extractfile(member)
    assert content is not None  # it is a regular file
    try:
        index = json.loads(content.read())
        if index["schema"] != SCHEMA:
            raise UsageError(f"{file} is a bundle of version {index['schema']}; this program reads {SCHEMA}.")
        return tuple(Manifest.from_json(json.dumps(manifest)) for manifest in index["layers"]), int(index["bytes"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no bundle of environments: its {INDEX} is not as it should be.") from error


def _below(members: Iterator[tarfile.TarInfo], names: set[str], file: Path) -> Iterator[tarfile.TarInfo]:
    for member in members:
        if member.name.partition("/")[0] not in names:
            raise UsageError(f"{file} holds {member.name!r}, which is in none of the layers that it lists.")
        yield member


def _require_space(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise MachineError(
            f"The environments take up to {needed // MIB} MiB, but only {free // MIB} MiB are free in {folder.parent}; "
            "free some space, or set BENCHWRIGHT_HOME to a larger disk."
        )


def _packed(manifests: tuple[Manifest, ...], file: Path) -> Packed:
    return Packed(
        layers=tuple(manifest.key.folder_name for manifest in manifests),
        instances=tuple(manifest.key.name for manifest in manifests if manifest.key.kind is LayerKind.INSTANCE),
        bytes=file.stat().st_size,
    )
