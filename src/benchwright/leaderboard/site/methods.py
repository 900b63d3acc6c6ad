"""What the page on methods says of where numbers come from: versions of everything that decides them, sources."""

from collections.abc import Iterable

from benchwright.core.results import Source, StoredRun
from benchwright.leaderboard.site.model import SiteData


def sources_of(data: SiteData) -> list[Source]:
    """Sources of all imported rows, by title."""
    found = {row.source for table in data.tables for row in table.rows if row.source is not None}
    return sorted(found, key=lambda source: (source.title, source.url, source.kind))


_MANIFEST = (
    ("harness_version", "harness"),
    ("judge_version", "judge"),
    ("guest_version", "guest"),
    ("environment", "environment"),
    ("benchwright_version", "benchwright"),
)
"""Names in a grading's manifest, and what readers are told they are."""


def versions_of(data: SiteData) -> list[str]:
    """One line for each thing that decides scores: which versions of it are behind the runs shown."""
    runs = [scored.run for scored in data.runs]
    lines = [_line(f"data of {name}", versions) for name, versions in _data_versions(data).items()]
    lines.append(_line("evaluation of agents", (str((run.evaluation or {}).get("version", "")) for run in runs)))
    lines += [_line(label, _named(runs, name)) for name, label in _MANIFEST]
    return [line for line in lines if line]


def _data_versions(data: SiteData) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for table in data.tables:
        found.setdefault(table.benchmark, set()).update(table.versions)
    return found


def _named(runs: Iterable[StoredRun], name: str) -> Iterable[str]:
    return (str(run.manifest[name]) for run in runs if run.manifest.get(name) not in (None, ""))


def _line(label: str, versions: Iterable[str]) -> str:
    known = sorted({version for version in versions if version})
    return f"{label}: {', '.join(known)}" if known else ""
