"""The index of a store, kept right: made anew when it cannot be used, and brought up to date with what is there."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from benchwright.core.errors import MachineError
from benchwright.store.index import Index, IndexUnusableError
from benchwright.store.layout import Layout, translated

T = TypeVar("T")


class Catalogue:
    """The index of one store, for one object that reads or writes it, and the store's lock."""

    def __init__(self, layout: Layout, *, read_only: bool) -> None:
        """Open the index, or make it.

        Args:
            layout: The store's.
            read_only: Write nothing; what cannot be used, or is behind, is made in memory.

        Raises:
            MachineError: It cannot be made.
        """
        self._layout = layout
        self._read_only = read_only
        self._holding = False
        self.unreadable: dict[str, str] = {}
        """Why entries cannot be read, a sentence for each, by entry."""
        self._index = self._open()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the store's lock, which this object may hold already."""
        if self._holding:
            yield
            return
        with self._layout.locked():
            self._holding = True
            try:
                yield
            finally:
                self._holding = False

    def _open(self) -> Index:
        path = self._layout.index
        if self._read_only:
            try:
                return Index(path if path.exists() else None, read_only=path.exists())
            except IndexUnusableError:
                return Index(None)
        try:
            return Index(path)
        except IndexUnusableError:
            with self.held():
                return self._new()

    def _new(self) -> Index:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self._layout.index.with_name(self._layout.index.name + suffix).unlink()
        try:
            return Index(self._layout.index)
        except IndexUnusableError as error:
            raise MachineError(f"The index {self._layout.index} cannot be made ({error}); check its folder.") from error

    def renew(self) -> None:
        """Make an empty index in place of the one that is there; the lock must be held."""
        self._index.close()
        self._index = self._new()

    def use(self, what: Callable[[Index], T]) -> T:
        """Use the index; when it turns out to be corrupt, make it anew first."""
        try:
            return what(self._index)
        except IndexUnusableError:
            if self._read_only:
                self._index = Index(None)
                self.catch_up_locked()
            else:
                with self.held():
                    self.renew()
                    self.catch_up_locked()
            return what(self._index)

    def catch_up(self) -> None:
        """Take in what others have recorded since, or could not note in the index before they were killed."""
        names, known = self._layout.names(), self.use(lambda index: index.names())
        if names - self.unreadable.keys() == known:
            return
        if self._read_only:
            self._index.close()
            self._index = Index(None)
            self.catch_up_locked()
            return
        with translated("Bringing the index up to date"), self.held():
            self.catch_up_locked()

    def catch_up_locked(self) -> None:
        """As `catch_up`, where the lock is held, or nothing is written."""
        names, known = self._layout.names(), self._index.names()
        entries, self.unreadable = self._layout.read_entries(names - known)
        if entries:
            self._index.add(entries)
        if known - names:
            self._index.remove(known - names)
