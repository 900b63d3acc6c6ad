"""Whether the two places where a zip archive describes a member say the same.

Every member has a header before its bytes, and an entry in the directory at the archive's end.  Programs that read from
the front believe the one, others the other: an archive in which they differ is two archives.
"""

import struct
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

LOCAL_HEADER = 30
"""Bytes of a member's header without its name (PKWARE's application note, 4.3.7)."""
_FORM = struct.Struct("<4s5H3L2H")
_MARK = b"PK\x03\x04"


def encoded_name(info: zipfile.ZipInfo) -> bytes:
    """A member's name as the archive has it."""
    try:
        return info.orig_filename.encode("ascii")
    except UnicodeEncodeError:
        return info.orig_filename.encode("utf-8", "surrogatepass")


def flaws_of_headers(path: Path, members: Iterable[zipfile.ZipInfo]) -> Iterator[str]:
    """A sentence for each member whose header is not what the directory says; raises ``OSError``."""
    with path.open("rb") as file:
        for info in members:
            file.seek(info.header_offset)
            name = encoded_name(info)
            header = file.read(LOCAL_HEADER + len(name))
            if header[:LOCAL_HEADER] != _expected(info, name) or header[LOCAL_HEADER:] != name:
                shown = "".join(one if one.isprintable() else "?" for one in info.filename)
                yield f"{shown:.80} has a header that contradicts the archive's directory."


def _expected(info: zipfile.ZipInfo, name: bytes) -> bytes:
    year, month, day, hour, minute, second = info.date_time
    return _FORM.pack(
        _MARK,
        info.extract_version,
        info.flag_bits,
        info.compress_type,
        hour << 11 | minute << 5 | second // 2,
        (year - 1980) << 9 | month << 5 | day,
        info.CRC,
        info.compress_size,
        info.file_size,
        len(name),
        0,
    )
