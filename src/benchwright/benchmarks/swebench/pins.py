"""Which data is which: published versions, where they are, and the digests that recognise their files."""

import tomllib
from dataclasses import dataclass
from importlib import resources

from benchwright.benchmarks.hub import HubFile
from benchwright.core.errors import UnknownNameError, UsageError

_PACKAGE = "benchwright.benchmarks.swebench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One published version of one data set."""

    benchmark: str
    version: str
    """First digits of the revision."""
    repository: str
    """Name of the data set on the Hugging Face hub."""
    revision: str
    """Commit that is fetched."""
    rows: int
    file: str | None
    """SHA-256 of the Parquet file, or None when it is not known."""
    default: bool
    """Whether it is loaded when no version is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The content of ``pins.toml``."""

    licence: str
    file: str
    """Path of the data file in every repository."""
    known: tuple[Pin, ...]

    def versions(self, benchmark: str) -> tuple[str, ...]:
        """Published versions of a benchmark's data, oldest first; empty for a benchmark without any."""
        return tuple(pin.version for pin in self.known if pin.benchmark == benchmark)

    def of(self, benchmark: str, version: str | None) -> Pin:
        """The pin of a version, or of the default one.

        Raises `UnknownNameError` for a version that is not known, `UsageError` for a benchmark without published data.
        """
        pins = [pin for pin in self.known if pin.benchmark == benchmark]
        if not pins:
            raise UsageError(f"{benchmark} has no published data; give a file of rows in SWE-bench's format.")
        for pin in pins:
            if pin.version == version or (version is None and pin.default):
                return pin
        raise UnknownNameError(f"version of {benchmark}", str(version), self.versions(benchmark))

    def published(self, pin: Pin) -> HubFile:
        """Where a version is."""
        return HubFile(repository=pin.repository, revision=pin.revision, path=self.file)

    def recognise(self, benchmark: str, *, file: str) -> Pin | None:
        """The version that a file is by its bytes, or None."""
        return next((pin for pin in self.known if pin.benchmark == benchmark and pin.file == file), None)


def read_pins() -> Pins:
    """The pins shipped with the package."""
    data = tomllib.loads(resources.files(_PACKAGE).joinpath("pins.toml").read_text("utf-8"))
    return Pins(
        licence=data["licence"],
        file=data["file"],
        known=tuple(
            Pin(
                benchmark=entry["benchmark"],
                version=entry["version"],
                repository=entry["repository"],
                revision=entry["revision"],
                rows=entry["rows"],
                file=entry.get("file"),
                default=entry.get("default", False),
            )
            for entry in data["versions"]
        ),
    )
