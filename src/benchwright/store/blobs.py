"""Contents by digest: ``blobs/ab/<sha256>.zst``, each once, whichever runs name it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOBS = "blobs"
"""Folder of the contents, below the store's."""
MAX_CONTENT_BYTES = 4 * 1024**3
"""Of one file.  The largest sample file of a public run has 0.1 GiB; a few hostile bytes unpack to any size."""
MAX_FOREIGN_BYTES = 512 * 1024**2
"""Of one file that somebody else packed."""
_FOREIGN_FLOOR, _FOREIGN_RATIO = 32 * 1024**2, 200
"""Such a file may unpack to the floor, or to so many times its size: verdicts of a benchmark shrink to a fiftieth."""
_CHUNK = 1 << 20


def blob_name(digest: str) -> str:
    """Where a content is, below the store's folder."""
    return f"{BLOBS}/{digest[:2]}/{digest}.zst"


def is_digest(text: object) -> bool:
    """Whether a text is a SHA-256 as it stands in names: 64 lower-case hexadecimal digits."""
    return isinstance(text, str) and len(text) == 64 and not set(text) - set("0123456789abcdef")


def write_blob(path: Path, content: bytes) -> None:
    """Write a content, compressed, to a new file."""
    import pyarrow as pa  # not needed to list runs, and takes time to load

    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(content)


def read_blob(file: Any) -> bytes:
    """The content of a blob's file, a path or an open binary file.

    Raises ``OSError`` when it is not whole or larger than any file we keep.
    """
    return b"".join(_chunks(file))


def digest_of_blob(file: Any, *, most: int = MAX_CONTENT_BYTES) -> str:
    """SHA-256 of the content of a blob's file, which is never held as a whole.

    Raises ``OSError`` as `read_blob` does, and for more bytes than ``most``.
    """
    hasher = hashlib.sha256()
    for chunk in _chunks(file, most):
        hasher.update(chunk)
    return hasher.hexdigest()


def most_of_foreign(packed: int) -> int:
    """How many bytes a file of so many bytes, packed by somebody else, may unpack to."""
    return min(MAX_FOREIGN_BYTES, max(_FOREIGN_FLOOR, _FOREIGN_RATIO * packed))


def _chunks(file: Any, most: int = MAX_CONTENT_BYTES) -> Iterator[bytes]:
    import pyarrow as pa

    size = 0
    source = str(file) if isinstance(file, Path) else file
    with pa.CompressedInputStream(pa.OSFile(source) if isinstance(source, str) else source, "zstd") as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise OSError(f"it unpacks to more than {most:,} bytes")
            yield chunk


def sound_blob(path: Path, digest: str) -> bool:
    """Whether a blob's file is there and holds the content that its name says."""
    try:
        return digest_of_blob(path) == digest
    except OSError:
        return False
