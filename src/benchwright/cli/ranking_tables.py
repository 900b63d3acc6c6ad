"""How a ranking looks in a terminal."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from benchwright.app.ranking import LeaderboardRow, Ranking, Table, shared_flags
from benchwright.cli.tables import note

_NAME = 32
"""Characters of a name that are shown where there is not room for more; the JSON has all."""


def show_ranking(out: Console, ranking: Ranking, *, every_table: bool) -> None:
    """The main table with its notes, then the others or their reasons."""
    _show(out, ranking.main)
    for line in (*ranking.main.every_note, *ranking.notes):
        out.print(escape(line), soft_wrap=True)
    for table in ranking.others if every_table else ():
        out.print()
        _show(out, table)
        for line in table.every_note:
            out.print(escape(line), soft_wrap=True)
    if ranking.others and not every_table:
        out.print(f"[bold]Not in this table[/bold] ({len(ranking.others)} others, shown by --all-tables):")
        for table in ranking.others:
            count = f"{len(table.rows)} {'run' if len(table.rows) == 1 else 'runs'}"
            out.print(escape(f"  {count} of {table.title}: {table.reason}"), soft_wrap=True)
    note(out, "Left out", [f"{short(one.model)} ({one.entry[:8]}): {one.reason}" for one in ranking.left_out])


def short(name: str, most: int = _NAME) -> str:
    """A name on one line, nothing in it that steers a terminal, with an ellipsis in the middle when it is long.

    The end of a name often tells versions apart.
    """
    line = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)
    if len(line) <= most:
        return line
    tail = most // 3
    return f"{line[: most - tail - 1]}…{line[-tail:]}"


def _show(out: Console, table: Table) -> None:
    data = ", ".join(one for one in table.versions if one) or "version not stated"
    problems = f", {len(table.problems)} problems" if table.problems else ""
    out.print(f"[bold]{escape(table.title)}[/bold] ({escape(data)}{problems})", soft_wrap=True)
    if table.reason:
        out.print(escape(table.reason), soft_wrap=True)
    common = shared_flags([row.flags for row in table.rows]) if len(table.rows) > 1 else ()
    hidden = {flag.name for flag in common}
    grid = Grid()
    columns = [(name, [cell(row) for row in table.rows]) for name, cell, shown in _columns(table, hidden) if shown]
    room = _room(out.width, columns)
    for name, _ in columns:
        grid.add_column(escape(name), justify="left" if name in (_MODEL, "flags") else "right", overflow="fold")
    shown = [[short(cell, room) for cell in cells] if name == _MODEL else cells for name, cells in columns]
    for row in zip(*shown, strict=True):
        grid.add_row(*map(escape, row))
    out.print(grid)
    for line in (table.method, f"Anchor: {table.anchor}." if table.anchor else ""):
        if line:
            out.print(escape(line), soft_wrap=True)
    for flag in common:
        out.print(escape(f"All rows, {flag.name}: {flag.text}"), soft_wrap=True)


def _room(width: int, columns: Sequence[tuple[str, Sequence[str]]]) -> int:
    """Characters that the other columns leave for names; a border and two spaces go with each column."""
    taken = sum(max(map(cell_len, (name, *cells))) for name, cells in columns if name != _MODEL)
    return max(_NAME, width - taken - 3 * len(columns) - 1)


Cell = Callable[[LeaderboardRow], str]
_MODEL = "model"


def _columns(table: Table, hidden: set[str]) -> list[tuple[str, Cell, bool]]:
    """Name, cell of a row, and whether any row has something to say there."""
    rows = table.rows
    return [
        ("rank", _rank, any(row.rated for row in rows)),
        (_MODEL, lambda row: row.label, True),
        ("rating", _rating, any(row.rated for row in rows)),
        (table.metric, lambda row: _score(table, row), True),
        ("solved", lambda row: f"{row.solved}/{row.problems}", table.score is not None),
        ("faults", lambda row: str(row.faults), any(row.faults for row in rows)),
        ("USD", lambda row: "" if row.cost is None else f"{row.cost:.2f}", any(row.cost is not None for row in rows)),
        ("flags", lambda row: _flags(row, hidden), any(_flags(row, hidden) for row in rows)),
    ]


def _rank(row: LeaderboardRow) -> str:
    """``2 (1–3)``, or ``2`` where the range holds nothing else."""
    if row.rated is None:
        return ""
    low, high = row.rated.rank_low, row.rated.rank_high
    return f"{row.rated.rank} ({low}–{high})" if low != high else str(row.rated.rank)


def _rating(row: LeaderboardRow) -> str:
    return "" if row.rated is None else f"{row.rated.rating:.0f} [{row.rated.low:.0f}, {row.rated.high:.0f}]"


def _score(table: Table, row: LeaderboardRow) -> str:
    number, found = table.number_of(row), row.estimate
    spread = "" if row.spread is None else f" ±{100 * row.spread:.1f}"
    interval = "" if found is None else f"{spread} [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return "" if number is None else f"{100 * number:.1f}{interval}"


def _flags(row: LeaderboardRow, hidden: set[str]) -> str:
    return ", ".join(flag.name for flag in row.flags if flag.name not in hidden)
