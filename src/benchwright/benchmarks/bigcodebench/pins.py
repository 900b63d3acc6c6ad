"""Which data is which: published versions, where they are, and the digests that recognise them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from benchwright.benchmarks.hub import HubFile
from benchwright.core.errors import UnknownNameError

_PACKAGE = "benchwright.benchmarks.bigcodebench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What is known of one subset of one version; at least one digest."""

    version: str
    subset: str
    rows: str | None
    """Digest of the canonical rows, or None when they were never seen where the pin was made."""
    file: str | None
    """SHA-256 of the published Parquet file, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A data set on the Hugging Face hub."""

    name: str
    revision: str
    """Commit that is fetched."""
    tasks: int
    """Number of rows of every version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The content of ``pins.toml``."""

    licence: str
    default: str
    """Version that is loaded when none is asked for."""
    versions: tuple[str, ...]
    """Oldest first."""
    file_pattern: str
    """Path of a version's file in a repository, with ``{version}`` in it."""
    repositories: Mapping[str, Repository]
    """By subset."""
    known: tuple[Pin, ...]

    def check_version(self, version: str) -> None:
        """Raise `UnknownNameError` unless the version was published."""
        if version not in self.versions:
            raise UnknownNameError("version of bigcodebench", version, self.versions)

    def published(self, version: str, subset: str) -> HubFile:
        """Where a version's subset is."""
        repository = self.repositories[subset]
        path = self.file_pattern.format(version=version)
        return HubFile(repository=repository.name, revision=repository.revision, path=path)

    def of(self, version: str, subset: str) -> Pin | None:
        """The pin of a version's subset."""
        return next((pin for pin in self.known if (pin.version, pin.subset) == (version, subset)), None)

    def recognise(self, *, rows: str, file: str) -> Pin | None:
        """The pin that a data file fits, by its rows in any format or by its bytes."""
        return next((pin for pin in self.known if rows == pin.rows or file == pin.file), None)


def read_pins() -> Pins:
    """The pins shipped with the package."""
    data = tomllib.loads(resources.files(_PACKAGE).joinpath("pins.toml").read_text("utf-8"))
    return Pins(
        licence=data["licence"],
        default=data["default"],
        versions=tuple(data["versions"]),
        file_pattern=data["file_pattern"],
        repositories={
            subset: Repository(name=entry["name"], revision=entry["revision"], tasks=entry["tasks"])
            for subset, entry in data["repositories"].items()
        },
        known=tuple(
            Pin(
                version=entry["version"],
                subset=entry["subset"],
                rows=entry.get("rows"),
                file=entry.get("file"),
            )
            for entry in data["pins"]
        ),
    )


def hard_ids() -> tuple[str, ...]:
    """Ids of the 148 tasks of BigCodeBench-Hard."""
    text = resources.files(_PACKAGE).joinpath("hard_ids.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))
