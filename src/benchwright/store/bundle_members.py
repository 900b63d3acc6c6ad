"""The bytes of a bundle's members, of which none may be left over.

Python's zipfile stops where a deflate stream ends, and looks at nothing that follows inside the member.
"""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from benchwright.store.bundle_headers import LOCAL_HEADER, encoded_name

_BLOCK = 1024 * 1024


def blocks_of(path: Path, info: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
    """The content of a member whose header was found to be right.

    Raises ``BadZipFile`` or ``zlib.error`` when there is more of it than ``most`` bytes, when its stream does not end
    where the member does, or its sum is another one; and ``OSError``.
    """
    crc, left = 0, most
    with path.open("rb") as file:
        file.seek(info.header_offset + LOCAL_HEADER + len(encoded_name(info)))
        for block in _inflated(file, info.compress_size):
            crc, left = zlib.crc32(block, crc), left - len(block)
            if left < 0:
                raise zipfile.BadZipFile(f"more than {most:,} bytes come out of it")
            yield block
    if crc != info.CRC:
        raise zipfile.BadZipFile("its sum is another one")


def _inflated(file: IO[bytes], size: int) -> Iterator[bytes]:
    """What a deflate stream of exactly this size holds."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    while not stream.eof:
        packed = stream.unconsumed_tail
        if not packed:
            packed = file.read(min(_BLOCK, size))
            size -= len(packed)
        block = stream.decompress(packed, _BLOCK)
        if not packed and not block:
            raise zipfile.BadZipFile("its stream has no end")
        yield block
    if size or stream.unused_data:
        raise zipfile.BadZipFile("bytes follow the end of its stream")
