"""Options about results that others measured: they reach the import as they were given."""

import json
from pathlib import Path

import click
from click.testing import CliRunner, Result

from benchwright.app.importing import Attempted, ImportOptions
from benchwright.cli.foreign import Foreign, foreign_options
from benchwright.core.runs import Score

SEEN: list[Foreign] = []


@click.command()
@click.argument("place", type=click.Path(path_type=Path))
@foreign_options
def command(place: Path, foreign: Foreign) -> None:
    """Keeps what it is told."""
    SEEN.append(foreign)


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
    words += " --scaffold a --score patch --scorer x --source-title T --source-url https://u --attempted overlap"
    words += " --ignore-unknown"
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
