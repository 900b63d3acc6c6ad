"""Git objects written by hand: a repository of trees whose names and modes nobody checks, made without starting git."""

import hashlib
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.environments.repositories.git import make_empty_repository

_TREE = "40000"


@dataclass(frozen=True, slots=True)
class ObjectFolder:
    """The objects of a repository of our own."""

    folder: Path

    @classmethod
    def make(cls, git_dir: Path) -> "ObjectFolder":
        """Those of a new, empty repository.  Raises ``OSError``."""
        make_empty_repository(git_dir)
        return cls(git_dir / "objects")

    def add_blob(self, content: bytes) -> str:
        """Write a file's content; returns its id.  Raises ``OSError``."""
        return self._add("blob", content)

    def add_tree(self, files: Mapping[str, tuple[str, str]]) -> str:
        """Write the trees that hold these files, each a mode and a blob's id by path; returns the topmost one's id.

        No path may be a folder of another.  Raises ``OSError``.
        """
        folders: dict[str, list[tuple[bytes, str, str]]] = {"": []}
        for path, (mode, object_id) in files.items():
            parent, _, name = path.rpartition("/")
            folders.setdefault(parent, []).append((os.fsencode(name), mode, object_id))
            while parent:
                parent = parent.rpartition("/")[0]
                folders.setdefault(parent, [])
        for path in sorted(folders, key=lambda folder: folder.count("/") + bool(folder), reverse=True):
            object_id = self._add("tree", _tree_body(folders[path]))
            if path:
                parent, _, name = path.rpartition("/")
                folders[parent].append((os.fsencode(name), _TREE, object_id))
        return object_id

    def _add(self, kind: str, body: bytes) -> str:
        whole = f"{kind} {len(body)}\0".encode() + body
        object_id = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = self.folder / object_id[:2] / object_id[2:]
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(whole, 1))
        return object_id


def _tree_body(entries: list[tuple[bytes, str, str]]) -> bytes:
    # git orders folders as if their names ended with a slash
    entries.sort(key=lambda entry: entry[0] + b"/" * (entry[1] == _TREE))
    return b"".join(b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(one)) for name, mode, one in entries)
