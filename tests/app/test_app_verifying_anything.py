"""Whatever stands in a bundle's files, checking it comes to its end."""

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest
from bundle_forging import files_of, forged

from benchwright.app.results import regrade
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError

VALUES: tuple[Any, ...] = (None, -1, 1e308, "x", [], {}, 10**30, "\ud800", True, [[]], {"a": 1}, float("nan"), "../x")


def places(document: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a document something stands, itself included."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [above, *(place for key, value in inside for place in places(value, (*above, key)))]


def disturbed(document: Any, chance: random.Random) -> Any:
    """A document in which something is gone, or something else."""
    place = chance.choice(places(document))
    if not place:
        return chance.choice(VALUES)
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    if chance.random() < 0.25:
        del inside[place[-1]]
    else:
        inside[place[-1]] = chance.choice(VALUES)
    return document


@pytest.mark.parametrize("kind", ["bundle", "patches"])
def test_nothing_in_a_bundle_is_more_than_a_finding(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Whatever stands in its files, checking it comes to its end, and judging it again does or is refused."""
    path, chance = request.getfixturevalue(kind), random.Random(20240622)
    names = (
        "manifest.json", "rows.jsonl", "records.jsonl", "jobs.jsonl", "tests.jsonl", "plans.json", "preds.json",
        "problems.jsonl",
    )  # fmt: skip
    there = [name for name in names if name in files_of(path)]

    def disturb(document: Any) -> Any:
        if isinstance(document, list) and document:
            number = chance.randrange(len(document))
            document[number] = disturbed(document[number], chance)
            return document
        return disturbed(document, chance)

    for number in range(12):
        other = forged(path, chance.choice(there), disturb)
        assert verify(other).path == other
        with contextlib.suppress(UsageError):
            regrade(other, Workspace(home=tmp_path / "none"), out=tmp_path / str(number))
