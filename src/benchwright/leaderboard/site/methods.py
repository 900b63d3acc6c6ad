"""What the page on methods says of where numbers come from: versions of everything that decides them, sources."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.core.results import Source, StoredRun
from benchwright.leaderboard.site.model import SiteData
from benchwright.leaderboard.site.naming import told_sources


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceGroup:
    """Sources of which the same is said."""

    title: str
    url: str
    note: str
    files: tuple[tuple[str, str, str], ...]
    """Name, SHA-256, and of which source of the title, where there are several."""


def sources_of(data: SiteData) -> list[SourceGroup]:
    """Sources of all imported rows, by title; those of one title and note together."""
    told = told_sources(data.tables)
    groups: dict[tuple[str, str, str], list[Source]] = {}
    for source in sorted(told, key=lambda source: (source.title, source.url, source.note, told[source], source.files)):
        groups.setdefault((source.title, source.url, source.note), []).append(source)
    return [
        SourceGroup(
            title=title,
            url=url,
            note=note,
            files=tuple((name, digest, told[source]) for source in sources for name, digest in source.files),
        )
        for (title, url, note), sources in groups.items()
    ]


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
