"""What readers can take with them: every table, and the outcomes behind it, as CSV, JSON and Parquet."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.leaderboard.site.model import Bundle
from benchwright.leaderboard.site.outcomes import Outcomes
from benchwright.leaderboard.tables import Table, row_to_plain, table_to_plain

FOLDER = "downloads"
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG = 60
"""Characters of a model's name that a file's name holds at most."""
_CALCULATED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet calculates; some take the wide forms for the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One file to take."""

    name: str
    """In the downloads folder: letters a to z, digits and hyphens, whatever a model is called."""
    kind: str
    size: str
    """For people."""


class Downloads:
    """Writes the files into a site's folder."""

    def __init__(self, site: Path) -> None:
        self._folder = site / FOLDER
        self._folder.mkdir()

    def table(self, name: str, table: Table) -> tuple[Download, ...]:
        """A table in three formats."""
        plain = table_to_plain(table)
        columns = _columns([_flat(row_to_plain(row)) for row in table.rows])
        lines = (map(_safe, line) for line in zip(*columns.values(), strict=True))
        return (
            self._write(f"{name}.csv", "CSV", _csv(map(_safe, columns), lines)),
            self._write(f"{name}.json", "JSON", (_json(plain) + "\n").encode("utf-8", "backslashreplace")),
            self._write(f"{name}.parquet", "Parquet", _parquet(columns)),
        )

    def outcomes(self, name: str, table: Table, outcomes: Outcomes) -> tuple[Download, ...]:
        """The outcome of every row on every problem: wide and as shares in CSV, long and in counts in Parquet."""
        rows = [table.rows[place] for place in outcomes.rows]
        labels = [row.label for row in rows]
        by_code = [None if not scored else _number(passed / scored) for scored, passed, _ in outcomes.palette]
        cells = np.array(by_code, dtype=object)[outcomes.codes.T]
        lines = ([_safe(problem), *line] for problem, line in zip(outcomes.problems, cells.tolist(), strict=True))
        counts = np.array(outcomes.palette)[outcomes.codes.reshape(-1)]
        asked = counts.sum(axis=1) > 0
        width = len(outcomes.problems)
        # Names as dictionary codes: written out, a million rows would hold each name a thousand times.
        columns = {
            "entry": _dictionary(np.repeat(np.arange(len(rows)), width)[asked], [row.entry for row in rows]),
            "model": _dictionary(np.repeat(np.arange(len(rows)), width)[asked], labels),
            "problem": _dictionary(np.tile(np.arange(width), len(rows))[asked], outcomes.problems),
            "scored": counts[asked, 0],
            "passed": counts[asked, 1],
            "faults": counts[asked, 2],
        }
        return (
            self._write(f"{name}-outcomes.csv", "CSV", _csv(["problem", *map(_safe, labels)], lines)),
            self._write(f"{name}-outcomes.parquet", "Parquet", _parquet(columns)),
        )

    def bundles(self, bundles: Sequence[Bundle]) -> tuple[tuple[Bundle, Download], ...]:
        """Copies of result bundles, called by model and content; one that is given twice is offered once."""
        made = {}
        for bundle in bundles:
            content = bundle.path.read_bytes()
            slug = _NO_SLUG.sub("-", bundle.model.lower())[:_SLUG].strip("-") or "bundle"
            name = f"{slug}-{hashlib.sha256(content).hexdigest()[:16]}.bw.zip"
            made[name] = bundle, self._write(name, "bundle", content)
        return tuple(made.values())

    def _write(self, name: str, kind: str, content: bytes) -> Download:
        (self._folder / name).write_bytes(content)
        return Download(name=name, kind=kind, size=_size(len(content)))


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """One level: facts of the model and reported scores become columns, lists become text."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if name == "reported":
            flat.update({f"reported {metric}": score for metric, score in value.items()})
        elif name == "facts":
            flat.update(value)
        elif name == "source":
            flat["source"] = None if value is None else value["title"]
            flat["source_url"] = None if value is None else value["url"]
        elif isinstance(value, list):
            flat[name] = "; ".join(map(str, value))
        else:
            flat[name] = value
    return flat


def _columns(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [_readable(record.get(name)) for record in records] for name in names}


def _readable(value: Any) -> Any:
    """Lone surrogates, which names from broken files may hold, can stand in no UTF-8 file."""
    return _bytes(value).decode("utf-8") if isinstance(value, str) else value


def _csv(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> bytes:
    """All text in quotes: programs that part cells at semicolons or tabs would find other beginnings of cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(head)
    writer.writerows(lines)
    return _bytes(text.getvalue())


def _number(share: float) -> int | float:
    return int(share) if share in (0, 1) else float(f"{share:.6g}")


def _safe(cell: Any) -> Any:
    """Text that a spreadsheet would calculate gets an apostrophe, which makes it text there; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_CALCULATED) else cell


def _dictionary(codes: Any, names: Iterable[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array([_readable(name) for name in names])
    )


def _parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    return buffer.getvalue()


def _json(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False, indent=1)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="backslashreplace")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, round(count / 1e3))} kB"
