"""What a bundle's manifest and rows must look like before they are believed: of the right kinds, and not too many."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.app.evidence import of_repositories
from benchwright.core.errors import UsageError
from benchwright.core.runs import ResultRow, Score
from benchwright.store.entry_checks import flaws_of_fields, is_count
from benchwright.store.folder import ROWS, ResultsFolder
from benchwright.store.taking import MOST_ROWS

_ANSWERS = ("as given", "extracted")


def flaws_of_manifest(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Clauses for fields that every grading writes, and that are absent or hold something of another kind."""
    yield from flaws_of_fields(manifest, functions=not of_repositories(manifest))
    if not of_repositories(manifest) and manifest.get("answers") not in _ANSWERS:
        yield f"says neither that answers were {' nor that they were '.join(_ANSWERS)}"


def read_rows(folder: ResultsFolder, manifest: Mapping[str, Any]) -> tuple[ResultRow, ...]:
    """The rows, read no further than the manifest says that there are any.

    Under each score there is a row for each answer, and one where there is none.  A file of a megabyte may hold rows
    without end.

    Raises `UsageError` for more of them, or a row that is none.
    """
    counts = (manifest["attempts"], manifest["problems"], len(manifest["missing"]))
    if not all(map(is_count, counts)):
        raise UsageError("The manifest does not say how many problems and attempts there are.")
    scores = {Score(name) for name in manifest["scores"]}
    most = min(sum(counts) * len(scores), MOST_ROWS)
    rows: list[ResultRow] = []
    for row in folder.rows():
        if len(rows) == most:
            raise UsageError(
                f"{ROWS} has more rows than the {most:,} that there can be of {counts[0]:,} answers to {counts[1]:,} "
                f"problems."
            )
        rows.append(row)
    return tuple(rows)
