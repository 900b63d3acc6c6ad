"""Contents by digest: ``blobs/ab/<sha256>.zst``, each once, whichever runs name it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_CONTENT_BYTES = 4 * 1024**3
"""Of one file.  The largest sample file of a public run has 0.1 GiB; a few hostile bytes unpack to any size."""
_CHUNK = 1 << 20


def blob_name(digest: str) -> str:
    """Where a content is, below the store's folder."""
    return f"blobs/{digest[:2]}/{digest}.zst"


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


def digest_of_blob(file: Any) -> str:
    """SHA-256 of the content of a blob's file; raises ``OSError`` as `read_blob` does."""
    hasher = hashlib.sha256()
    for chunk in _chunks(file):
        hasher.update(chunk)
    return hasher.hexdigest()


def _chunks(file: Any) -> Iterator[bytes]:
    import pyarrow as pa

    size = 0
    source = str(file) if isinstance(file, Path) else file
    with pa.CompressedInputStream(pa.OSFile(source) if isinstance(source, str) else source, "zstd") as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > MAX_CONTENT_BYTES:
                raise OSError(f"it unpacks to more than {MAX_CONTENT_BYTES} bytes")
            yield chunk


def sound_blob(path: Path, digest: str) -> bool:
    """Whether a blob's file is there and holds the content that its name says."""
    try:
        return digest_of_blob(path) == digest
    except OSError:
        return False
