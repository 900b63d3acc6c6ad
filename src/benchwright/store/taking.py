"""What an entry of another store must show before it is taken over: that its rows say what it says of them.

Its digest proves nothing, for whoever makes an entry makes that.
"""

import dataclasses
import io
from collections.abc import Iterable

from benchwright.core.results import Origin
from benchwright.core.runs import ResultRow
from benchwright.store.entries import Entry, content_digest
from benchwright.store.entry_checks import check_row
from benchwright.store.index import Known
from benchwright.store.row_facts import TAMPERED, facts_of_rows

MOST_ROWS = 2_000_000
"""Of one run; a thousand samples of each of a benchmark's thousand problems have half as many."""
MOST_LETTERS = 512 * 1024**2
"""Of all texts of a run's rows: a text that a file holds once may stand in each of them."""
MOST_GENERATION = 1_000_000
"""Of an entry from elsewhere, so that there is room for those that supersede it here."""


def check_says_what_rows_say(entry: Entry, rows: bytes | None) -> None:
    """Raise ``ValueError``, with a clause, unless an entry's counts, flags and digest of content follow from its rows.

    Entries of an older schema would have to be asked for the digest that was made then; there are none yet.
    """
    run = entry.run
    found = _rows(rows)
    if not found and (run.origin is not Origin.IMPORTED or not run.reported):
        raise ValueError("it has no rows, and is no score that somebody else states")
    if {row.score for row in found} != set(run.scores):
        raise ValueError("its rows are not of the scores that it says")
    if len({(row.problem_id, row.sample, row.score) for row in found}) != len(found):
        raise ValueError("it has rows twice for the same problem, sample and score")
    facts = dataclasses.asdict(facts_of_rows(found, run.scores[-1] if run.scores else None))
    tampered = facts.pop("tampered")
    for name, counted in facts.items():
        if getattr(run, name) != counted:
            raise ValueError(f"it says {getattr(run, name)} for {name}, and its rows come to {counted}")
    if tampered and TAMPERED not in run.flags:
        raise ValueError("its rows have answers that interfered with the tests, and it does not say so")
    if content_digest(run, found) != entry.content:
        raise ValueError("the digest of its content is not that of its rows")


def _rows(data: bytes | None) -> list[ResultRow]:
    if data is None:
        return []
    from benchwright.store.row_tables import read_rows  # loads pyarrow

    found, letters = [], 0
    try:
        for row in read_rows(io.BytesIO(data), most=MOST_ROWS):
            check_row(row)
            letters += len(row.problem_id) + len(row.verdict.detail) + sum(map(len, (*row.notes, *row.missing_names)))
            if letters > MOST_LETTERS:
                raise ValueError(f"their texts have more than {MOST_LETTERS:,} letters")
            found.append(row)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"its rows cannot be read ({error!s:.120})") from error
    return found


def check_chain(entry: Entry, known: Iterable[Known], *, take_over: bool) -> None:
    """Raise ``ValueError``, with a clause, unless an entry may stand where it says in the chain of its run.

    Args:
        entry: From elsewhere.
        known: The entries of the run that are there.
        take_over: Whether it may come without the entries before it.

    Whoever gives a high number out of nowhere would replace what is there.  Where nothing of the run is there, nothing
    can be replaced, and the entries before may have been cleared away.
    """
    there = {one.entry: one for one in known}
    before = entry.run.supersedes
    if (before is None) is not (entry.generation == 1) or entry.generation > MOST_GENERATION:
        raise ValueError(f"as number {entry.generation} of its run it says that it replaces {before or 'nothing'}")
    if before is None or (before not in there and (take_over or not there)):
        return
    if before not in there:
        raise ValueError(
            f"it replaces {before[:12]}, which is neither here nor comes along, and other entries of its run are here; "
            f"--take-over takes it in"
        )
    if there[before].generation != entry.generation - 1:
        raise ValueError(
            f"it says that it is number {entry.generation} of its run, after number {there[before].generation}"
        )
