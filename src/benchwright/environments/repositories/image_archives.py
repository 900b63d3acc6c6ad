"""Layers as a container engine wants them: tar archives, and the archive that ``docker load`` takes.

The form is that of the image specification (github.com/opencontainers/image-spec, ``layer.md``: white-outs) and of
Docker's image archives (github.com/moby/moby, ``image/spec``): ``manifest.json``, a configuration, one tar per layer.
The same layer gives the same bytes each time, hence the same digests, so that an engine keeps each layer once.
"""

import hashlib
import io
import json
import os
import posixpath
import stat
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.sealing import Entry, entries, is_opaque
from benchwright.sandboxes.users import UserMapping

WHITEOUT = ".wh."
"""Before a name: that what lies below is gone."""
OPAQUE = ".wh..wh..opq"
"""In a folder: that everything of that folder below is gone."""
LAYERS_LABEL = "benchwright.layers"
"""Label of an image: the digests of its layers, the lowest first, with spaces between."""

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The kernel's and the image specification's names of architectures."""


def write_layer(folder: Path, stream: IO[bytes], *, owner: UserMapping) -> str:
    """Write a layer's folder as a tar archive and return its digest (``sha256:…``, the layer's "diff id").

    Owners are written as seen inside: ``owner`` says who is root there.  White-outs and opaque folders of overlayfs
    become those of images.  Raises `UsageError` for what no layer may hold, and ``OSError``.
    """
    digested = _Digested(stream)
    with tarfile.open(fileobj=digested, mode="w", format=tarfile.PAX_FORMAT) as archive:
        writer = _LayerWriter(archive, owner)
        writer.add(Entry(folder, ".", folder.lstat()))
        for entry in entries(folder):
            writer.add(entry)
    return f"sha256:{digested.sha256.hexdigest()}"


class _Digested(io.RawIOBase):
    """Passes on what is written, and digests it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()
        self._written = 0

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._stream.write(data)
        self.sha256.update(data)
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written


class _LayerWriter:
    """Adds entries to a layer's archive."""

    def __init__(self, archive: tarfile.TarFile, owner: UserMapping) -> None:
        self._archive = archive
        self._owner = owner
        self._stored: dict[tuple[int, int], str] = {}

    def add(self, entry: Entry) -> None:
        mode = entry.status.st_mode
        if entry.whiteout:
            parent, name = posixpath.split(entry.name)
            self._mark(posixpath.join(parent, WHITEOUT + name))
        elif stat.S_ISDIR(mode):
            self._archive.addfile(self._member(entry, tarfile.DIRTYPE))
            if is_opaque(entry.path):
                self._mark(posixpath.join(entry.name, OPAQUE))
        elif stat.S_ISLNK(mode):
            member = self._member(entry, tarfile.SYMTYPE)
            member.linkname = os.readlink(entry.path)  # noqa: PTH115  Path would drop "./" and doubled slashes
            self._archive.addfile(member)
        elif stat.S_ISREG(mode):
            self._add_file(entry)
        else:
            raise UsageError(f"{entry.path} is a device, socket or pipe, which no layer may hold.")

    def _add_file(self, entry: Entry) -> None:
        inode = (entry.status.st_dev, entry.status.st_ino)
        if entry.status.st_nlink > 1 and inode in self._stored:
            member = self._member(entry, tarfile.LNKTYPE)
            member.linkname = self._stored[inode]
            self._archive.addfile(member)
            return
        self._stored[inode] = entry.name
        member = self._member(entry, tarfile.REGTYPE)
        member.size = entry.status.st_size
        with entry.path.open("rb") as file:
            self._archive.addfile(member, file)

    def _mark(self, name: str) -> None:
        member = tarfile.TarInfo(name)
        member.mode = 0
        self._archive.addfile(member)

    def _member(self, entry: Entry, kind: bytes) -> tarfile.TarInfo:
        name = entry.name
        if posixpath.basename(name).startswith(WHITEOUT):
            raise UsageError(f"{entry.path} has a name that means a white-out in images; no layer of one may hold it.")
        member = tarfile.TarInfo(name)
        member.type = kind
        member.mode = stat.S_IMODE(entry.status.st_mode)
        member.mtime = int(entry.status.st_mtime)
        member.uid, member.gid = self._inside(entry, "uid"), self._inside(entry, "gid")
        return member

    def _inside(self, entry: Entry, kind: str) -> int:
        first = int(getattr(self._owner, kind))
        found = int(getattr(entry.status, f"st_{kind}"))
        if not first <= found < first + self._owner.count:
            raise UsageError(
                f"{entry.path} belongs to {kind} {found} of this machine, nobody inside a sandbox (root there is "
                f"{first}); build the layer again."
            )
        return found - first


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A layer's archive."""

    diff_id: str
    path: Path | None
    """Where it is; None when the engine has the layer already."""


def image_config(
    diff_ids: Sequence[str],
    digests: Sequence[str],
    *,
    environ: Mapping[str, str],
    workdir: str,
    labels: Mapping[str, str],
    machine: str,
) -> bytes:
    """The configuration of an image, whose SHA-256 is the image's id; nothing in it depends on when it is made."""
    epoch = "1970-01-01T00:00:00Z"
    config = {
        "architecture": _MACHINES.get(machine, machine),
        "os": "linux",
        "created": epoch,
        "config": {
            "Env": [f"{name}={value}" for name, value in sorted(environ.items())],
            "WorkingDir": workdir,
            "Cmd": ["/bin/sh"],
            "Labels": dict(labels),
        },
        "rootfs": {"type": "layers", "diff_ids": list(diff_ids)},
        "history": [{"created": epoch, "created_by": f"benchwright layer {digest}"} for digest in digests],
    }
    return json.dumps(config, sort_keys=True, separators=(",", ":")).encode()


def write_image(stream: IO[bytes], config: bytes, blobs: Sequence[Blob], *, tag: str) -> None:
    """Write the archive that ``docker load`` takes; layers that the engine has are named in it only."""
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    names = [f"{blob.diff_id.removeprefix('sha256:')}/layer.tar" for blob in blobs]
    manifest = [{"Config": config_name, "RepoTags": [tag], "Layers": names}]
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        stored = set()
        for name, blob in zip(names, blobs, strict=True):
            if blob.path is not None and name not in stored:
                stored.add(name)
                member = tarfile.TarInfo(name)
                member.size = blob.path.stat().st_size
                with blob.path.open("rb") as file:
                    archive.addfile(member, file)
        for name, data in ((config_name, config), ("manifest.json", json.dumps(manifest).encode())):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
