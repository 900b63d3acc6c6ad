"""Files that benchmarks write: each whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchwright.core.errors import MachineError


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file; as `write_pieces`."""
    write_pieces(path, (text,))


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a UTF-8 file through one beside it, so that a reader never sees half and a full disk leaves the old one.

    Raises `MachineError` when it cannot be written.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = file.name
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        raise MachineError(f"{path} cannot be written: {error.strerror or error}.") from error
