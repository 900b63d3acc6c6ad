"""The store of layers: folders of files that are stacked to make a sandbox's root, each named by what made it.

    <home>/repositories/layers/<kind>-<name>-<digest>/       the files
    <home>/repositories/layers/<kind>-<name>-<digest>.json   the manifest, written last
    <home>/repositories/pool/<kind>/                         one link to every file that layers may share
    <home>/repositories/locks/                               who builds what, who uses the store

A folder without a manifest does not count, so a build may die at any point; the next one removes what it left.
Nothing is changed in a layer once it has its manifest.
"""

import contextlib
import dataclasses
import datetime
import enum
import errno
import fcntl
import json
import os
import re
import resource
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import commands
from benchwright.environments.repositories.sealing import Content, content_digest, entries, seal
from benchwright.sandboxes.users import UserMapping

SCHEMA = 1
"""Version of the manifest's form; a layer with another one counts as not built."""

DIGEST_DIGITS = 12
"""Digits of a layer's digest in its folder's name."""


class LayerKind(enum.StrEnum):
    """What a layer holds, the lowest first."""

    ROOTFS = "rootfs"
    SYSTEM = "system"
    """Packages of the distribution that some specification asks for."""
    PYTHON = "python"
    ENVIRONMENT = "environment"
    """Packages that all instances of one repository and version have."""
    TREE = "tree"
    """Files of an older commit that instances of a repository with very many folders stand on."""
    INSTANCE = "instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerKey:
    """The identity of a layer: two layers with one key were made from the same inputs by the same steps."""

    kind: LayerKind
    name: str
    """For people; the digest decides."""
    digest: str
    """SHA-256 over everything that goes into it: specification, lower layers, commit, versions of tools."""

    @property
    def folder_name(self) -> str:
        """Such as ``python-3.9.18-0123456789ab``."""
        plain = re.sub(r"[^A-Za-z0-9._+]+", "-", self.name)
        return f"{self.kind}-{plain}-{self.digest[:DIGEST_DIGITS]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What the maker of a layer tells about it."""

    commands: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    """Name and version of everything installed in it."""
    deviations: tuple[str, ...] = ()
    """What differs from the official environments, a sentence each."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Other plain data, such as the proof of a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is known of a finished layer."""

    key: LayerKey
    lower: tuple[str, ...]
    """Digests of the keys of the layers that it was made over, the lowest first."""
    content: Content
    made: Made
    wall_seconds: float
    cpu_seconds: float
    """Of this process and the commands it waited for; other threads' work at the same time is in it too."""
    built: str
    """Date and time in UTC."""

    def to_json(self) -> str:
        """The text of the manifest file."""
        return json.dumps({"schema": SCHEMA, **dataclasses.asdict(self)}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Read `to_json` text; raises ``ValueError``, ``KeyError`` or ``TypeError`` when it is none."""
        data = json.loads(text)
        if data.pop("schema") != SCHEMA:
            raise ValueError("a manifest of another version")
        made, key = data["made"], data["key"]
        if not re.fullmatch(r"[0-9a-f]{64}", key["digest"]):
            raise ValueError("the digest of its key is none")  # it becomes part of a path
        return cls(
            key=LayerKey(kind=LayerKind(key["kind"]), name=key["name"], digest=key["digest"]),
            lower=tuple(data["lower"]),
            content=Content(**data["content"]),
            made=Made(
                commands=tuple(made["commands"]),
                versions=tuple((name, version) for name, version in made["versions"]),
                deviations=tuple(made["deviations"]),
                facts=made["facts"],
            ),
            wall_seconds=data["wall_seconds"],
            cpu_seconds=data["cpu_seconds"],
            built=data["built"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A finished layer."""

    path: Path
    manifest: Manifest

    @property
    def key(self) -> LayerKey:
        """Its identity."""
        return self.manifest.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Where a layer is made."""

    folder: Path
    """Becomes the layer; empty at first."""
    scratch: Path
    """Removed afterwards; on the same file system."""
    lower: list[Layer] = field(default_factory=list)
    """Further layers that it comes to stand on, found while it is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a collection removed and left."""

    removed: tuple[LayerKey, ...]
    freed_bytes: int
    bytes: int
    """What the store takes now."""


class LayerStore:
    """The layers below one folder.  Safe to be used by several processes at once."""

    def __init__(self, root: Path, *, owner: UserMapping) -> None:
        """Args: ``root`` is made when something is first put there; ``owner`` is who root inside is outside."""
        self._root = root
        self._layers = root / "layers"
        self._locks = root / "locks"
        self.owner = owner

    @property
    def root(self) -> Path:
        """The folder of the store."""
        return self._root

    def find(self, key: LayerKey) -> Layer | None:
        """The finished layer of a key, or None."""
        return self._open(self._layers / key.folder_name, key)

    def find_by_digest(self, kind: LayerKind, digest: str) -> Layer | None:
        """The finished layer of a kind whose key has a digest, or None."""
        for path in self._layers.glob(f"{kind}-*-{digest[:DIGEST_DIGITS]}.json"):
            layer = self._open(path.with_suffix(""), None)
            if layer is not None and layer.key.digest == digest:
                return layer
        return None

    def layers(self, kind: LayerKind | None = None) -> tuple[Layer, ...]:
        """Every finished layer of a kind, or of all kinds, by name."""
        if not self._layers.is_dir():
            return ()
        names = "[!.]*.json" if kind is None else f"{kind}-*.json"
        found = (self._open(path.with_suffix(""), None) for path in sorted(self._layers.glob(names)))
        return tuple(layer for layer in found if layer is not None)

    def put(self, key: LayerKey, make: Callable[[Draft], Made], *, lower: Iterable[Layer] = ()) -> Layer:
        """The layer of a key: the finished one, or one that ``make`` fills now.

        Two processes that want the same layer wait for each other.  Whatever ``make`` raises is passed on, and
        nothing of the layer stays.  Raises `MachineError` when the store cannot be written or the disk is full.
        """
        found = self.find(key)
        if found is not None:
            return found
        try:
            with self.in_use(), self._lock(key.folder_name, fcntl.LOCK_EX):
                return self.find(key) or self._make(key, make, tuple(layer.key.digest for layer in lower))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise MachineError(commands.no_space_left(f"build {key.kind} {key.name}")) from error
            raise MachineError(f"Could not build the layer {key.folder_name}: {error}.") from error

    def adopt(self, folder: Path, manifest: Manifest) -> Layer:
        """Take a folder that another store's layer was copied to, on the same file system; it is moved.

        A layer of the same key and content stays, and the folder is removed.  Raises `UsageError` when the files are
        not what the manifest says, or when there is a layer of the same key with other content.
        """
        with self.in_use(), self._lock(manifest.key.folder_name, fcntl.LOCK_EX):
            found = self.find(manifest.key)
            if found is not None and found.manifest.content.digest != manifest.content.digest:
                raise UsageError(
                    f"There is another build of {manifest.key.folder_name} already; remove it first, or keep it."
                )
            content = seal(folder, owner=self.owner, pool=self._root / "pool" / manifest.key.kind)
            if content.digest != manifest.content.digest:
                raise UsageError(f"The files of {manifest.key.folder_name} are not those that its manifest tells of.")
            if found is not None:
                remove_tree(folder)
                return found
            self._remove_leftovers(manifest.key.folder_name)
            return self._finish(folder, dataclasses.replace(manifest, content=content))

    @contextlib.contextmanager
    def workspace(self, name: str) -> Iterator[Path]:
        """An empty folder on the store's file system, removed at the end."""
        folder = self._layers / f".{name}-{os.getpid()}"
        self._make_layers_folder()
        remove_tree(folder)
        folder.mkdir()
        try:
            yield folder
        finally:
            remove_tree(folder)

    def verify(self, layer: Layer) -> bool:
        """Whether a layer's files are still what they were when it was finished; reads all of them."""
        return content_digest(layer.path, owner=self.owner) == layer.manifest.content.digest

    def touch(self, layer: Layer) -> None:
        """Remember that a layer was used now, so that a collection takes others first."""
        with contextlib.suppress(OSError):  # a store that is only readable is never collected either
            os.utime(self._manifest_path(layer.path))

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep others from removing layers; hold it while workspaces over them are open."""
        with self._lock("store", fcntl.LOCK_SH):
            yield

    def remove(self, layer: Layer) -> int:
        """Delete a layer; returns the bytes that became free.

        Raises `MachineError` when another process uses the store or something cannot be deleted.
        """
        with self.alone():
            freed = self._delete(layer)
            return freed + self._prune_pool()

    def collect(self, cap: int, *, keep: Iterable[LayerKey] = ()) -> Collected:
        """Remove leftovers and then the layers used longest ago until the store takes ``cap`` bytes at most.

        A layer that another remaining one is made over stays, and so do those of ``keep``.  Raises `MachineError`
        when another process uses the store.
        """
        with self.alone():
            self._remove_all_leftovers()
            before = self.measure()
            freed = self._prune_pool()
            removed = []
            kept = {key.digest for key in keep}
            while before - freed > cap and (layer := self._oldest_free(kept)) is not None:
                freed += self._delete(layer)
                freed += self._prune_pool()
                removed.append(layer.key)
            return Collected(removed=tuple(removed), freed_bytes=freed, bytes=before - freed)

    def measure(self, part: str = "") -> int:
        """Bytes on disk of everything below the store's folder, or below one in it, each file counted once."""
        seen: dict[tuple[int, int], int] = {}
        folder = self._root / part
        for entry in entries(folder) if folder.is_dir() else ():
            seen[entry.status.st_dev, entry.status.st_ino] = entry.status.st_blocks * 512
        return sum(seen.values())

    def _make_layers_folder(self) -> None:
        if not self._layers.is_dir():
            self._layers.mkdir(parents=True)
            # A plain user's layers have programs that run as their owner, which nobody else shall start.
            self._layers.chmod(0o755 if self.owner.ranged else 0o700)

    def _open(self, path: Path, key: LayerKey | None) -> Layer | None:
        try:
            manifest = Manifest.from_json(self._manifest_path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not built, not finished, or of another version: each is mended by building
        if not path.is_dir() or manifest.key.folder_name != path.name:
            return None
        return Layer(path=path, manifest=manifest) if key in (None, manifest.key) else None

    def _make(self, key: LayerKey, make: Callable[[Draft], Made], lower: tuple[str, ...]) -> Layer:
        self._make_layers_folder()
        self._remove_leftovers(key.folder_name)
        work = self._layers / f".building-{key.folder_name}"
        draft = Draft(folder=work / "layer", scratch=work / "scratch")
        for folder in (work, draft.folder, draft.scratch):
            folder.mkdir(mode=0o755)
        own_root(draft.folder, self.owner)
        try:
            started, used = time.monotonic(), _cpu_seconds()
            made = make(draft)
            content = seal(draft.folder, owner=self.owner, pool=self._root / "pool" / key.kind)
            manifest = Manifest(
                key=key,
                lower=(*lower, *(layer.key.digest for layer in draft.lower)),
                content=content,
                made=made,
                wall_seconds=round(time.monotonic() - started, 2),
                cpu_seconds=round(_cpu_seconds() - used, 2),
                built=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            )
            return self._finish(draft.folder, manifest)
        finally:
            remove_tree(work)

    def _finish(self, folder: Path, manifest: Manifest) -> Layer:
        path = self._layers / manifest.key.folder_name
        folder.rename(path)
        partial = self._layers / f".{path.name}.json"
        partial.write_text(manifest.to_json(), encoding="utf-8")
        partial.replace(self._manifest_path(path))
        return Layer(path=path, manifest=manifest)

    def _remove_leftovers(self, name: str) -> None:
        """Remove what an interrupted build or removal of that folder name left."""
        path = self._layers / name
        for left in (path.with_name(f".building-{name}"), path.with_name(f".removing-{name}")):
            remove_tree(left)
        if not self._manifest_path(path).exists():
            remove_tree(path)

    def _remove_all_leftovers(self) -> None:
        for path in list(self._layers.iterdir()) if self._layers.is_dir() else ():
            hidden = path.name.startswith(".")
            if hidden or (path.is_dir() and not self._manifest_path(path).exists()):
                remove_tree(path)

    def _oldest_free(self, kept: set[str]) -> Layer | None:
        layers = self.layers()
        needed = {digest for layer in layers for digest in layer.manifest.lower} | kept
        free = [layer for layer in layers if layer.key.digest not in needed]
        return min(free, key=lambda layer: self._manifest_path(layer.path).stat().st_mtime_ns, default=None)

    def _delete(self, layer: Layer) -> int:
        manifest = self._manifest_path(layer.path)
        found = [layer.path.lstat(), manifest.lstat(), *(entry.status for entry in entries(layer.path))]
        freed = sum(status.st_blocks * 512 for status in found if stat.S_ISDIR(status.st_mode) or status.st_nlink == 1)
        manifest.unlink()
        doomed = self._layers / f".removing-{layer.path.name}"
        layer.path.rename(doomed)
        remove_tree(doomed)
        return freed

    def _prune_pool(self) -> int:
        """Remove pooled files that no layer has any more; returns the bytes that became free."""
        freed = 0
        pool = self._root / "pool"
        for entry in list(entries(pool)) if pool.is_dir() else ():
            if stat.S_ISREG(entry.status.st_mode) and entry.status.st_nlink == 1:
                freed += entry.status.st_blocks * 512
                entry.path.unlink()
        return freed

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the store against everybody else; raises `MachineError` when another process uses it."""
        try:
            with self._lock("store", fcntl.LOCK_EX | fcntl.LOCK_NB):
                yield
        except BlockingIOError as error:
            raise MachineError(
                f"Another process uses the environments in {self._root} just now; try again when it is done."
            ) from error
        except OSError as error:
            raise MachineError(f"Could not remove something in {self._root}: {error}.") from error

    @contextlib.contextmanager
    def _lock(self, name: str, how: int) -> Iterator[None]:
        self._locks.mkdir(parents=True, exist_ok=True)
        with (self._locks / name).open("a") as file:
            fcntl.flock(file, how)
            yield

    @staticmethod
    def _manifest_path(path: Path) -> Path:
        return path.with_name(f"{path.name}.json")


def own_root(folder: Path, owner: UserMapping) -> None:
    """Make a new, empty folder root's inside."""
    if owner.ranged:
        os.chown(folder, owner.uid, owner.gid)


def remove_tree(path: Path) -> None:
    """Delete a folder or file if it is there, folders without write permission too.  Raises ``OSError``."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    if os.geteuid() != 0:
        path.chmod(0o700)
        for folder, names, _ in os.walk(path):
            for inner in (Path(folder, name) for name in names):
                if not inner.is_symlink():
                    inner.chmod(0o700)
    shutil.rmtree(path)


def _cpu_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
