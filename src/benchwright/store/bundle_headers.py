"""Whether a zip archive says of its members what benchwright writes, twice, and nothing else.

Every member has a header before its bytes, and an entry in the directory at the archive's end.  Programs that read from
the front believe the one, others the other: an archive in which they differ is two archives.  And what a field may hold
beside that (a flag, the number of a disk, an attribute) some programs heed and others do not, so each has one value.
"""

import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchwright.store.bundle import ATTRIBUTES

# The archive's fixed parts, without the name that follows (PKWARE's application note, 4.3.7, 4.3.12, 4.3.16).
_HEADER, _ENTRY, _END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")
LOCAL_HEADER, CENTRAL_HEADER, END_RECORD = _HEADER.size, _ENTRY.size, _END.size
_VERSION, _UNIX = 20, 3 << 8
"""Of the format that is needed to unpack (2.0: deflate), and the system of whose kind attributes are."""
_UTF8 = 1 << 11
"""The only flag: the name is UTF-8.  It is set where the name is not ASCII."""
_MIDNIGHT, _FIRST_DAY = 0, 1 << 5 | 1
"""1 January 1980, as archives have it."""


def encoded_name(info: zipfile.ZipInfo) -> bytes:
    """A member's name as the archive has it."""
    try:
        return info.orig_filename.encode("ascii")
    except UnicodeEncodeError:
        return info.orig_filename.encode("utf-8", "surrogatepass")


def flaws_of_headers(path: Path, members: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    """A sentence for each member that the archive describes otherwise than benchwright does; raises ``OSError``.

    Args:
        path: The archive, in which no byte lies between the members, the directory and its end.
        members: In the order of the directory.
    """
    names = [encoded_name(info) for info in members]
    directory = sum(LOCAL_HEADER + len(name) + info.compress_size for name, info in zip(names, members, strict=True))
    with path.open("rb") as file:
        file.seek(directory)
        entries = [file.read(CENTRAL_HEADER + len(name)) for name in names]
        end = file.read(END_RECORD)
        for info, name, entry in zip(members, names, entries, strict=True):
            shown = "".join(one if one.isprintable() else "?" for one in info.filename)[:80]
            file.seek(info.header_offset)
            if entry != _entry(info, name):
                yield f"{shown} is described in the archive's directory otherwise than benchwright does."
            elif file.read(LOCAL_HEADER + len(name)) != _header(info, name):
                yield f"{shown} has a header that contradicts the archive's directory."
    if end != _end(len(members), directory, sum(map(len, entries))):
        yield "The archive ends otherwise than benchwright writes it."


def _fields(info: zipfile.ZipInfo, name: bytes) -> tuple[int, ...]:
    """What header and entry have in common: version, flags, method, time, date, sum, sizes, lengths."""
    flags = 0 if name.isascii() else _UTF8
    sizes = (info.CRC, info.compress_size, info.file_size, len(name), 0)
    return (_VERSION, flags, zipfile.ZIP_DEFLATED, _MIDNIGHT, _FIRST_DAY, *sizes)


def _header(info: zipfile.ZipInfo, name: bytes) -> bytes:
    return _HEADER.pack(b"PK\x03\x04", *_fields(info, name)) + name


def _entry(info: zipfile.ZipInfo, name: bytes) -> bytes:
    comment, disk, kind = 0, 0, 0
    place = (comment, disk, kind, ATTRIBUTES, info.header_offset)
    return _ENTRY.pack(b"PK\x01\x02", _UNIX | _VERSION, *_fields(info, name), *place) + name


def _end(count: int, directory: int, size: int) -> bytes:
    return _END.pack(b"PK\x05\x06", 0, 0, count, count, size, directory, 0)
