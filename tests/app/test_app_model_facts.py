"""Facts of models from a user's file: read, checked, laid over what sources say."""

import dataclasses
import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_pieces import add_run

from benchwright.app.model_facts import StatedFacts, read_model_facts
from benchwright.app.ranking import RankRequest, rank
from benchwright.app.site import SiteRequest, build
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts, Origin, StoredRun

TOML = """
[models."GPT-4o <x>"]
released = 2024-05-13
cutoff = "2024-02"
parameters = 70
active_parameters = 12.5
open_weights = false
open_data = "None"
instruction_tuned = true
link = "https://example.org/"

[models.other]
cutoff = 2023-10-07
"""


def run(model: str, **facts: object) -> StoredRun:
    """A run of a model of which something is known."""
    return StoredRun(
        entry="e",
        run_id="r",
        origin=Origin.OWN,
        benchmark="b",
        version="1",
        subset="full",
        variant="complete",
        model=model,
        facts=dataclasses.replace(ModelFacts(), **facts),  # type: ignore[arg-type]
    )


def read(tmp_path: Path, text: str, name: str = "models.toml") -> StatedFacts:
    """The facts of a file with this text."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_model_facts(path)


def test_a_file_states_facts_by_model(tmp_path: Path) -> None:
    """Days may be TOML's or texts; a month of a cut-off stands for its last day."""
    facts = read(tmp_path, TOML).laid_over(run("GPT-4o <x>")).facts
    assert facts == ModelFacts(
        link="https://example.org/",
        released="2024-05-13",
        cutoff="2024-02-29",
        parameters=70.0,
        active_parameters=12.5,
        open_weights=False,
        open_data="None",
        instruction_tuned=True,
    )


def test_json_of_the_same_shape_says_the_same(tmp_path: Path) -> None:
    """JSON is read by its name."""
    found = read(tmp_path, json.dumps({"models": {"m": {"released": "2024-01-02", "open_weights": None}}}), "m.json")
    assert found.laid_over(run("m", open_weights=True)).facts == ModelFacts(released="2024-01-02")


def test_what_is_not_stated_stays_as_the_source_has_it(tmp_path: Path) -> None:
    """A table of one field changes that one; a model without a table is left alone."""
    found = read(tmp_path, TOML)
    before = run("other", parameters=7.0, cutoff="2020-01-01")
    assert found.laid_over(before).facts == ModelFacts(parameters=7.0, cutoff="2023-10-07")
    assert found.laid_over(run("stranger", parameters=1.0)) == run("stranger", parameters=1.0)


def test_names_that_nothing_has_are_told(tmp_path: Path) -> None:
    """A slip of spelling would otherwise go unseen."""
    assert read(tmp_path, TOML).unused(["other", "third"]) == ("GPT-4o <x>",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models = 3", "'models' is a number"),
        ("[models]", "states nothing of any model"),
        ("", "has none at the top"),
        ("[other]\nx = 1", "has 'other' at the top"),
        ("[models.m]\nrelase = 2024-01-01", "no field named 'relase'; did you mean"),
        ("[models.m]\nreleased = 'May 2024'", "released is 'May 2024'; expected a day"),
        ("[models.m]\nreleased = '2024-05'", "expected a day"),
        ("[models.m]\ncutoff = '2024-13'", "expected a day"),
        ("[models.m]\nparameters = '70B'", "parameters (in billions) is a string"),
        ("[models.m]\nparameters = -1", "expected a number from 0"),
        ("[models.m]\nparameters = nan", "expected a number from 0"),
        ("[models.m]\nparameters = true", "is a boolean"),
        ("[models.m]\nopen_weights = 'yes'", "expected true, false or null"),
        ("[models.m]\nlink = 'javascript:alert(1)'", "expected a web address"),
        ("[models.m]\nlink = 'http://[x'", "expected a web address"),
        ('[models.m]\nopen_data = "a\\u0000b"', "control characters"),
        ('[models."a\\u0000b"]\nopen_data = "x"', "control characters"),
        ("[models.m]\nx = [", "is not TOML"),
        (f"[models.m]\nparameters = {'9' * 5000}", "TOML"),
        ("[models.m]\nx = " + "[" * 5000 + "]" * 5000, "TOML"),
        ("[models.m]\nlink = 'https://x/" + "y" * 3000 + "'", "3,010 characters"),
    ],
)
def test_other_content_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    """Model and field are named, and what was expected."""
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_ranking_shows_what_the_user_states(tmp_path: Path) -> None:
    """Facts of the file stand in the rows, of imports and of own results; names that nobody has are told."""
    path = tmp_path / "models.toml"
    path.write_text(TOML.replace("GPT-4o <x>", "high"), encoding="utf-8")
    add_run(tmp_path / "results", "high", "PP")
    add_run(tmp_path / "results", "low", "PF")
    request = RankRequest(benchmark="starter", store=tmp_path / "results", rating=False, model_facts=path)
    found = rank(request, Workspace(home=tmp_path))
    assert [row.facts.cutoff for row in found.main.rows] == ["2024-02-29", ""]
    assert "models.toml states facts of models that have no result: other." in found.notes
    add_run(tmp_path / "results", "other", "PF", benchmark="another")
    assert not [note for note in rank(request, Workspace(home=tmp_path)).notes if "have no result" in note]


def test_a_site_shows_what_the_user_states(tmp_path: Path) -> None:
    """The same facts stand in the pages' data."""
    path = tmp_path / "models.toml"
    path.write_text("[models.high]\ncutoff = '2024-02'\n", encoding="utf-8")
    add_run(tmp_path / "results", "high", "PP")
    add_run(tmp_path / "results", "low", "PF")
    request = SiteRequest(out=tmp_path / "site", store=tmp_path / "results", model_facts=path, rating=False)
    build(request, Workspace(home=tmp_path))
    assert any("2024-02-29" in one.read_text("utf-8") for one in (tmp_path / "site" / "downloads").glob("*.json"))


@given(year=st.integers(1970, 2100), month=st.integers(1, 12))
def test_a_month_ends_on_its_last_day(tmp_path_factory: pytest.TempPathFactory, year: int, month: int) -> None:
    """The day after a month's cut-off is the first of the next month."""
    path = tmp_path_factory.getbasetemp() / "month.toml"
    path.write_text(f"[models.m]\ncutoff = '{year}-{month:02}'", encoding="utf-8")
    cutoff = date.fromisoformat(read_model_facts(path).laid_over(run("m")).facts.cutoff)
    assert (cutoff.year, cutoff.month) == (year, month)
    assert (cutoff + timedelta(days=1)).day == 1
