"""Read a result bundle that anybody may have made: trust no name, no size and no digest before it was checked."""

import contextlib
import hashlib
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import NoReturn

from benchwright.core.errors import MachineError, UsageError
from benchwright.store.bundle import (
    BUNDLE,
    LARGEST_COUNT,
    LARGEST_LIST,
    LARGEST_TOTAL,
    SIGNATURES,
    SUFFIX,
    BundleHead,
    Listed,
    listed,
)
from benchwright.store.bundle_headers import (
    CENTRAL_HEADER,
    END_RECORD,
    LOCAL_HEADER,
    encoded_name,
    flaws_of_headers,
)
from benchwright.store.bundle_members import blocks_of

_LARGEST_RATIO, _ALWAYS_READ = 200, 8 * 1024**2
"""How many times the archive's size its files may have together, and how many bytes in any case.  Results have about
ten times; what has a thousand times, the most that deflate gives, was made to fill a disk."""
_LARGEST_SIGNATURE = 64 * 1024
_LONGEST_NAME, _LONGEST_PART = 1000, 200
"""Bytes of a path, and of each of its parts: what every file system takes."""
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)
"""What zipfile raises for archives that are not as they should be; ``RuntimeError`` for encrypted members."""


def is_bundle(path: Path) -> bool:
    """Whether a path is meant as a bundle: a file whose name ends as bundles' names do."""
    return path.name.endswith(SUFFIX) and not path.is_dir()


class Bundle:
    """An opened bundle; use as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open a bundle and read its list; nothing else is looked at.

        Raises `UsageError` for what is no bundle, or one that this version does not read.
        """
        self.path = path
        try:
            status = path.stat()
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise UsageError(f"{path} is a pipe, a device or a socket; expected a file.")
            self.size = status.st_size
            self._archive = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise UsageError(f"There is no file {path}.") from None
        except (zipfile.BadZipFile, EOFError, UnicodeDecodeError, NotImplementedError) as error:
            raise UsageError(
                f"{path} is no result bundle, or not the whole of one: it is no zip archive ({error})."
            ) from error
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}); expected a result bundle.") from error
        try:
            self.head_bytes = self._head_bytes()
            self.head = self._head()
        except BaseException:
            self._archive.close()
            raise

    def __enter__(self) -> "Bundle":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archive.close()

    @property
    def signature(self) -> tuple[str, bytes] | None:
        """Name and bytes of the signature; None when there is none.  Raises `UsageError` for more than one."""
        names = [name for name in SIGNATURES if name in self._archive.NameToInfo]
        if len(names) > 1:
            self._refuse("it has two signatures; expected one at most")
        if not names:
            return None
        return names[0], self._small(names[0], _LARGEST_SIGNATURE)

    def flaws(self, into: Path | None = None) -> list[str]:
        """What is wrong with the archive, one plain sentence each: names, what is not listed, sizes, digests.

        Empty means: the bundle holds exactly what its list says, unchanged since that was written.  When names or
        sizes are wrong already, nothing is unpacked.

        Args:
            into: Folder that the files are written to on the way; what is in it is worth nothing if there is a flaw.

        Raises `MachineError` when they cannot be written.
        """
        return list(self._flaws(into))

    def extract(self, folder: Path) -> None:
        """Write the listed files into a folder, checking them; raises `UsageError` at the first flaw."""
        for flaw in self._flaws(folder):
            self._refuse(flaw.rstrip("."))

    def _flaws(self, into: Path | None) -> Iterator[str]:
        outside = self._flaws_outside()
        yield from outside
        if not outside:
            yield from filter(None, (self._flaw_of_content(file, None) for file in self._unlisted()))
            yield from filter(None, (self._flaw_of_content(file, into) for file in self.head.files))

    def _unlisted(self) -> Iterator[Listed]:
        """The list itself and its signature, as they were read."""
        yield listed(BUNDLE, self.head_bytes)
        if self.signature is not None:
            yield listed(*self.signature)

    def _flaws_outside(self) -> list[str]:
        """Flaws that are seen before anything is unpacked."""
        found = [*self._flaws_of_list(), *self._flaws_of_members(), *self._flaws_between()]
        return found or list(flaws_of_headers(self.path, self._archive.infolist()))

    def _refuse(self, what: str) -> NoReturn:
        raise UsageError(f"{self.path} cannot be used: {what}; `bw verify {self.path}` says all.")

    def _head_bytes(self) -> bytes:
        if BUNDLE not in self._archive.NameToInfo:
            raise UsageError(f"{self.path} is no result bundle: there is no {BUNDLE} in it.")
        return self._small(BUNDLE, LARGEST_LIST)

    def _head(self) -> BundleHead:
        try:
            return BundleHead.from_bytes(self.head_bytes)
        except UsageError as error:
            raise UsageError(f"{self.path} cannot be used as a result bundle. {error}") from error

    def _small(self, name: str, largest: int) -> bytes:
        info = self._archive.NameToInfo[name]
        if info.flag_bits & _ENCRYPTED:
            raise UsageError(f"{self.path} is encrypted; bundles are not, so decrypt it first.")
        if info.file_size > largest:
            raise UsageError(f"{self.path} is no result bundle: its {name} has {info.file_size:,} bytes.")
        try:
            with self._archive.open(name) as member:
                return member.read(largest)
        except _BROKEN as error:
            raise UsageError(f"{self.path} is damaged: its {name} cannot be read ({error}).") from error

    def _flaws_of_list(self) -> Iterator[str]:
        files = self.head.files
        if self.head.altered:
            yield f"The digest in {BUNDLE} is not that of its list; one of them was changed."
        elif self.head_bytes != self.head.to_bytes():
            yield f"{BUNDLE} holds more than its list says, or is written otherwise than benchwright does."
        for name, count in Counter(file.name for file in files).items():
            if count > 1:
                yield f"{_shown(name)} is listed {count} times."
        for file in files:
            if why := bad_name(file.name):
                yield f"The name {_shown(file.name)} {why}."
            elif file.name in (BUNDLE, *SIGNATURES):
                yield f"{file.name} is listed, which is the list or its signature."
        names = {file.name for file in files}
        for folder in sorted({str(parent) for name in names for parent in PurePosixPath(name).parents} & names):
            yield f"{_shown(folder)} is listed as a file and as a folder."
        total = sum(file.bytes for file in files)
        if total > LARGEST_TOTAL:
            yield f"The files have {total / 1024**3:.1f} GiB unpacked; at most {LARGEST_TOTAL / 1024**3:.1f} are read."
        elif total > max(_ALWAYS_READ, _LARGEST_RATIO * self.size):
            yield f"The files have {total:,} bytes unpacked, which is {total // self.size:,} times the archive's size."
        if len(files) > LARGEST_COUNT:
            yield f"{len(files)} files are listed; at most {LARGEST_COUNT} are read."

    def _flaws_of_members(self) -> Iterator[str]:
        sizes = {file.name: file.bytes for file in self.head.files}
        members = self._archive.infolist()
        counts = Counter(info.filename for info in members)
        for name, count in counts.items():
            if count > 1:
                yield f"{_shown(name)} is in the archive {count} times."
            if name not in sizes and name not in (BUNDLE, *SIGNATURES):
                yield f"{_shown(name)} is in the archive and not in the list."
        for name in sizes:
            if name not in counts:
                yield f"{_shown(name)} is listed and not in the archive."
        for info in members:
            if why := _bad_member(info):
                yield f"{_shown(info.filename)} {why}."
            elif info.filename in sizes and info.file_size != sizes[info.filename]:
                yield (f"{_shown(info.filename)} has {info.file_size:,} bytes; {sizes[info.filename]:,} are listed.")

    def _flaws_between(self) -> Iterator[str]:
        """Bytes that belong to no file, where programs that read the archive otherwise may see another one."""
        members = sorted(self._archive.infolist(), key=lambda info: info.header_offset)
        expected = 0
        for info in members:
            if info.header_offset != expected:
                break
            # What headers say is looked at in `bundle_headers`; extra fields are refused.
            expected += LOCAL_HEADER + len(encoded_name(info)) + info.compress_size
        else:
            expected += sum(CENTRAL_HEADER + len(encoded_name(info)) for info in members) + END_RECORD
            if expected == self.size and not self._archive.comment:
                return
        yield "The archive holds bytes that belong to no file of it."

    def _flaw_of_content(self, file: Listed, into: Path | None) -> str:
        hasher, size = hashlib.sha256(), 0
        try:
            with _written(into, file.name) as write:
                for block in blocks_of(self.path, self._archive.NameToInfo[file.name], file.bytes):
                    hasher.update(block)
                    size += len(block)
                    write(block)
        except _BROKEN as error:
            return f"{_shown(file.name)} cannot be unpacked ({error})."
        if size != file.bytes or hasher.hexdigest() != file.sha256:
            return f"{_shown(file.name)} is not what is listed: its digest differs."
        return ""


@contextlib.contextmanager
def _written(folder: Path | None, name: str) -> Iterator[Callable[[bytes], object]]:
    """What writes a new file below a folder; without a folder nothing is written."""
    if folder is None:
        yield lambda block: None
        return
    target = folder / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            yield file.write
    except OSError as error:
        raise MachineError(f"{target} could not be written ({error.strerror}); is there room?") from error


def _bad_member(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.is_dir():
        return "is a folder; a bundle holds files only"
    if kind not in (0, stat.S_IFREG):  # 0: the program that packed it said nothing
        return "is a link or a device; a bundle holds files only"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted; bundles are not"
    if info.compress_type != zipfile.ZIP_DEFLATED:
        return f"is compressed by method {info.compress_type}; bundles are by deflate"
    if info.extra or info.comment:
        return "has extra fields in the archive; bundles have none"
    if why := bad_name(info.orig_filename):
        return why
    return ""


def bad_name(name: str) -> str:
    """Why a name cannot be a file's in a bundle; empty when it can."""
    if not name or len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        return "is empty or too long"
    if "\\" in name or any(not character.isprintable() for character in name):
        return "has a backslash, or characters that cannot be shown"
    if name.startswith("/") or name[1:2] == ":":
        return "leads out of the bundle: it is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the bundle"
    if "" in parts or "." in parts or PurePosixPath(name).as_posix() != name:
        return "is not in its plain form"
    if any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "is too long"
    if any(part.startswith(".") for part in parts):
        return "begins with a dot; such files are not looked at by most people"
    return ""


def _shown(name: str) -> str:
    text = "".join(character if character.isprintable() else "?" for character in name)
    return text if len(text) <= 80 else text[:79] + "…"
