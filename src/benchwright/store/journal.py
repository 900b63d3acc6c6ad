"""A journal: a file of JSON lines that is only ever appended to, each line written as soon as something has ended.

A line that was acknowledged is there after ``kill -9``; what a full disk took half of is taken back.
"""

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from benchwright.core.errors import MachineError, UsageError


class Journal(ABC):
    """Reads the lines that are there and appends to them, from any thread; use as a context manager.

    A kind of journal says what its lines mean, and sets up its own fields before it lets this class read them.
    """

    line_is: ClassVar[str]
    """What a line is, for messages, such as ``a record of a model call``."""
    kept: ClassVar[str]
    """What is kept when the disk is full, for messages, such as ``replies``."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Read what is there.

        An unfinished last line, as a crash leaves it, does not count; it is cut off unless ``read_only``.  Raises
        `UsageError` when the file holds lines of another kind, `MachineError` when it cannot be read or written.
        """
        self.path = path
        self._lock = threading.Lock()
        try:
            # Unbuffered: what a full disk did not take must not wait in memory for another try.
            flags = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise MachineError(f"{path} cannot be written ({error.strerror}); choose another folder.") from error
        try:
            complete = path.read_bytes().rpartition(b"\n")
            for number, line in enumerate(complete[0].split(b"\n"), 1) if complete[1] else ():
                self._read(line, number)
            if not read_only:
                os.ftruncate(self._descriptor, len(complete[0]) + len(complete[1]))
        except BaseException:
            os.close(self._descriptor)
            raise

    @abstractmethod
    def _take(self, data: Mapping[str, Any]) -> None:
        """Note what a line says; ``AttributeError``, ``KeyError``, ``TypeError`` or ``ValueError`` if it is foreign."""

    def _read(self, line: bytes, number: int) -> None:
        try:
            self._take(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path}, line {number} is not {self.line_is} ({error}); move the folder away and run again."
            ) from error

    def _write(self, data: Mapping[str, Any]) -> None:
        """Append a line; raises `MachineError` when the disk does not take it, and the file is as before."""
        line = json.dumps(data).encode("ascii") + b"\n"
        with self._lock:
            place = os.fstat(self._descriptor).st_size
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                os.ftruncate(self._descriptor, place)
                raise MachineError(
                    f"{self.path} could not be written ({error.strerror}); {self.kept} so far are kept, give the same "
                    f"command again once there is room."
                ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def check_schema(data: Mapping[str, Any], version: int) -> None:
    """Raise ``ValueError`` when a line is of another version."""
    if data["schema"] != version:
        raise ValueError(f"schema {data['schema']!r}, this version reads {version}")


def check_types(data: Mapping[str, Any], **types: type | tuple[type, ...]) -> None:
    """Raise ``ValueError`` for a field of another type; a number is no flag."""
    for name, kind in types.items():
        value = data[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{name} is {value!r:.40}")
