"""One registry for everything that has a name: built-ins as lazy ``module:attribute``, the rest by entry point."""

import importlib
import importlib.metadata
from collections.abc import Mapping
from typing import Generic, TypeVar, cast

from benchwright.core.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things; nothing is imported before it is asked for by name."""

    def __init__(self, kind: str, builtin: Mapping[str, str], *, group: str) -> None:
        """Make a registry.

        Args:
            kind: What a member is called in messages, such as ``benchmark``.
            builtin: Built-in members, name to ``module:attribute``.
            group: Entry-point group of other packages' members, such as ``benchwright.benchmarks``.
        """
        self._kind = kind
        self._builtin = dict(builtin)
        self._group = group

    def names(self) -> tuple[str, ...]:
        """All names, built-in and installed, sorted."""
        return tuple(sorted({*self._builtin, *self._installed()}))

    def get(self, name: str) -> T:
        """The member of that name; raises `UnknownNameError` with near misses when there is none."""
        target = self._builtin.get(name)
        if target is not None:
            module, _, attribute = target.partition(":")
            return cast(T, getattr(importlib.import_module(module), attribute))
        installed = self._installed()
        if name in installed:
            return cast(T, installed[name].load())
        raise UnknownNameError(self._kind, name, self.names())

    def _installed(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {entry.name: entry for entry in importlib.metadata.entry_points(group=self._group)}
