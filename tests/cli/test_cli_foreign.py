"""Options about results that others measured: they reach the import as they were given, and it is shown plainly."""

import json
from pathlib import Path

import click
from click.testing import CliRunner, Result

from benchwright.app.importing import Attempted, ImportOptions, import_results
from benchwright.cli.foreign import Foreign, foreign_options, show_import
from benchwright.cli.tables import console
from benchwright.core.runs import Score

SEEN: list[Foreign] = []


@click.command()
@click.argument("place", type=click.Path(path_type=Path))
@foreign_options
def command(place: Path, foreign: Foreign) -> None:
    """Reads and shows, as the real command does, and stores nothing."""
    SEEN.append(foreign)
    report = import_results(place, None, foreign.options, kind=foreign.kind, dry_run=foreign.dry_run)
    show_import(console(), report)


def called(*words: str | Path) -> Result:
    """What the command does with these words."""
    return CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)


def test_every_option_arrives(tmp_path: Path) -> None:
    """Each one is the field of the same meaning; without any, nothing is said."""
    path = tmp_path / "resolved.json"
    path.write_text(json.dumps({"o__r-1": ["m"]}), encoding="utf-8")
    data = tmp_path / "ids.json"
    data.write_text('["o__r-1"]', encoding="utf-8")
    words = "--as swebench-resolved --benchmark swebench-lite --subset s --variant v --data-version 1 --model m"
    words += " --scaffold a --score patch --scorer x --title T --url https://u --attempted overlap --ignore-unknown"
    done = called(path, *words.split(), "--dry-run", "--dataset", data, "--samples", data)
    assert done.exit_code == 0
    foreign = SEEN.pop()
    assert (foreign.kind, foreign.dry_run, foreign.named) == ("swebench-resolved", True, True)
    assert foreign.options == ImportOptions(
        benchmark="swebench-lite",
        subset="s",
        variant="v",
        version="1",
        model="m",
        scaffold="a",
        score=Score.PATCH,
        scorer="x",
        source_title="T",
        source_url="https://u",
        dataset=data,
        samples=data,
        attempted=Attempted.OVERLAP,
        ignore_unknown=True,
    )
    assert not Foreign(kind=None, options=ImportOptions(), dry_run=True).named


def test_what_was_imported_is_shown(tmp_path: Path) -> None:
    """Numbers of a leaderboard as its source has them, markup as text, no more than twenty runs, and the notes."""
    models = {f"[red]m{number}": {"pass@1": {"complete": 61.1, "instruct": None}} for number in range(25)}
    path = tmp_path / "leaderboard-full.json"
    path.write_text(json.dumps(models), encoding="utf-8")
    done = called(path)
    assert done.exit_code == 0
    assert "[red]m19" in done.output
    assert "[red]m20" not in done.output.partition("… and 5 more.")[0]
    assert "61.1" in done.output
    assert "25 runs with 0 rows would be imported (bigcodebench-leaderboard)." in done.output
    assert "25 scores of leaderboard-full.json are null" in done.output
