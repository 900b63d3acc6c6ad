"""Result bundles: everything behind one result in one zip archive, and the list that says what must be in it.

bundle.json            schema version, whose result it is, every other file with its size and SHA-256, and the digest
                       over that list
bundle.json.sig        signature over the bytes of bundle.json, by an SSH key (or .minisig, by minisign)
manifest.json, …       the files of the results folder, under their names there
records.jsonl          every execution record that a row names, one a line
controls.jsonl         the control runs of the graded problems, one a line

The same files give the same archive: names are sorted, times fixed, nothing of the machine is in it.
"""

import hashlib
import json
import stat
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import MachineError, UsageError
from benchwright.store.bundle_json import strict_json
from benchwright.store.durable import replacing

BUNDLE_SCHEMA = 1
BUNDLE = "bundle.json"
KIND = "benchwright result bundle"
SUFFIX = ".bw.zip"
SIGNATURES = (f"{BUNDLE}.sig", f"{BUNDLE}.minisig")
"""What a signature over `BUNDLE` is called: by an SSH key, and by minisign."""

LARGEST_LIST = 16 * 1024**2
"""Bytes of `BUNDLE`; a hundred thousand files are listed in less."""
LARGEST_TOTAL = 4 * 1024**3 - 64 * 1024**2
"""Bytes of all files together, unpacked: what a zip archive holds without extensions that not every program reads.
The records of 500 graded patches have a tenth of it."""
LARGEST_COUNT = 65_000
"""Number of files; for the same reason."""

# The first moment that a zip archive can name: a time of our own would make equal contents differ.
_MOMENT = (1980, 1, 1, 0, 0, 0)
ATTRIBUTES = (stat.S_IFREG | 0o644) << 16
"""Of every member, as zip archives have them: a file that everybody may read."""
_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One file as the bundle lists it."""

    name: str
    """Path inside the bundle, with slashes."""
    sha256: str
    bytes: int
    """Size, unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleHead:
    """What ``bundle.json`` says."""

    run: Mapping[str, Any]
    """Identity: ``run_id``, ``benchmark``, ``version``, ``subset``, ``variant``, ``model``, ``scores`` …"""
    versions: Mapping[str, Any]
    """Of what graded: ``benchwright``, ``judge``, ``guest`` or ``harness``; and ``bundle``, what wrote the bundle."""
    files: tuple[Listed, ...]
    stated: str = field(default="", compare=False)
    """The digest that a list which was read says it has; empty for one in the making."""

    @property
    def altered(self) -> bool:
        """Whether the digest in a list that was read is not that of the list: somebody changed one of them."""
        return self.stated not in ("", self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 over all that the bundle says and holds, signatures left out: its name."""
        return digest_of(self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "schema": BUNDLE_SCHEMA,
            "kind": KIND,
            "run": dict(self.run),
            "versions": dict(self.versions),
            "files": [[file.name, file.sha256, file.bytes] for file in self.files],
        }

    def to_bytes(self) -> bytes:
        """The bytes of ``bundle.json``, which a signature is over."""
        content = self._content()
        # One line for each file: people look into it.
        files = ",\n".join(f"  {json.dumps(entry)}" for entry in content.pop("files"))
        head = json.dumps({**content, "digest": self.digest}, indent=1)
        return f'{head[:-2]},\n "files": [\n{files}\n ]\n}}\n'.encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "BundleHead":
        """Read ``bundle.json``.

        A digest in it that is not that of the list makes it `altered`.  Raises `UsageError` where it is none, or of a
        schema version that is not known.
        """
        try:
            document = strict_json(data)
        except ValueError as error:
            raise UsageError(f"Its {BUNDLE} is no JSON document ({_brief(error)}).") from error
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise UsageError(f"Its {BUNDLE} does not say that it is a result bundle.")
        schema = document.get("schema")
        if schema != BUNDLE_SCHEMA or isinstance(schema, bool):
            raise UsageError(
                f"It has schema {schema!r:.40}, this version of benchwright reads {BUNDLE_SCHEMA}; use the version "
                f"that wrote it, or a newer one."
            )
        return _head(document)


def _head(document: Mapping[str, Any]) -> BundleHead:
    try:
        files = tuple(
            Listed(name=_text(name), sha256=_text(sha256), bytes=_count(size))
            for name, sha256, size in document["files"]
        )
        run, versions = dict(document["run"]), dict(document["versions"])
        stated = _text(document["digest"]) or "none"
        head = BundleHead(run=run, versions=versions, files=files, stated=stated)
        head.to_bytes()
        return head
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"Its {BUNDLE} lacks what one has, or has it in another form ({_brief(error)}).") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise TypeError(f"{str(value)[:40]} is no size")
    return value


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:80]}"


def listed(name: str, source: Path | bytes) -> Listed:
    """A file as it is listed; raises ``OSError`` when it cannot be read."""
    hasher, size = hashlib.sha256(), 0
    if isinstance(source, bytes):
        hasher.update(source)
        size = len(source)
    else:
        with source.open("rb") as file:
            while block := file.read(_BLOCK):
                hasher.update(block)
                size += len(block)
    return Listed(name=name, sha256=hasher.hexdigest(), bytes=size)


def write_archive(
    path: Path, head: BundleHead, files: Mapping[str, Path | bytes], signature: tuple[str, bytes] | None = None
) -> int:
    """Write a bundle, all or nothing, over a file of that name.

    Args:
        path: Where to.
        head: Lists exactly ``files``.
        files: Content, or a file that holds it, by name in the bundle.
        signature: Name and bytes of a signature over ``head.to_bytes()``.

    Returns its size in bytes.  Raises `UsageError` for more than a bundle can hold, `MachineError` when it cannot be
    written.
    """
    total = sum(file.bytes for file in head.files)
    if total > LARGEST_TOTAL or len(head.files) > LARGEST_COUNT:
        raise UsageError(
            f"{len(head.files)} files of {total / 1024**3:.1f} GiB are more than a bundle holds "
            f"({LARGEST_COUNT} of {LARGEST_TOTAL / 1024**3:.1f} GiB); leave the transcripts out."
        )
    members: list[tuple[str, Path | bytes]] = [(BUNDLE, head.to_bytes())]
    members += [signature] if signature is not None else []
    members += sorted(files.items())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            _write_members(file, members)
        return path.stat().st_size
    except OSError as error:
        raise MachineError(f"The bundle {path} could not be written ({error.strerror}); is there room?") from error


def _write_members(file: IO[bytes], members: Iterable[tuple[str, Path | bytes]]) -> None:
    with zipfile.ZipFile(file, "w", allowZip64=False) as archive:
        for name, source in members:
            with archive.open(member(name), "w") as target:
                if isinstance(source, bytes):
                    target.write(source)
                    continue
                with source.open("rb") as content:
                    while block := content.read(_BLOCK):
                        target.write(block)


def member(name: str) -> zipfile.ZipInfo:
    """What the archive says of a file, besides sizes and sums: the same for each; see `bundle_headers`."""
    info = zipfile.ZipInfo(name, date_time=_MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, on whatever machine
    info.external_attr = ATTRIBUTES
    return info
