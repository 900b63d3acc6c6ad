"""Documents of earlier versions are read as if this version had written them."""

import json
import shutil
from pathlib import Path

import pytest

from benchwright.core.errors import UsageError
from benchwright.store.folder import ResultsFolder
from benchwright.store.upgrades import UPGRADES, Kind, UnknownSchemaError, schema_of, upgraded

OLD = Path(__file__).parent / "data/results-schema-1"
"""A grading of three starter problems, written before manifests had schema 2."""


def test_upgrades_are_numbered_in_order() -> None:
    """Each leads to the number after the one before, says what it does, and the last one is what is written."""
    for kind, upgrades in UPGRADES.items():
        assert [one.to for one in upgrades] == list(range(2, schema_of(kind) + 1))
        assert all(one.what.endswith(".") for one in upgrades)


def test_a_results_folder_of_schema_1_is_opened() -> None:
    """Its manifest says what kind of grading it is, as newer ones do; rows and plans are as they were."""
    before = (OLD / "manifest.json").read_bytes()
    folder = ResultsFolder(OLD)
    manifest = folder.finished_manifest()
    assert json.loads(before)["schema"] == 1
    assert manifest == {**json.loads(before), "schema": 2, "kind": "functions"}
    assert len(list(folder.rows())) == 6
    assert set(folder.plans()) == {"Starter/0", "Starter/6", "Starter/9"}
    assert folder.problem_facts() == {}
    assert (OLD / "manifest.json").read_bytes() == before


def test_a_grading_of_repositories_keeps_its_kind() -> None:
    """They said so before functions did."""
    found = upgraded(Kind.MANIFEST, {"schema": 1, "kind": "repositories"}, "m")
    assert found == {"schema": 2, "kind": "repositories"}


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("schema", [None, 0, "1", True, 99, 1.0])
def test_an_unknown_schema_is_one_sentence(kind: Kind, schema: object) -> None:
    """It names the file, what it has, what this version reads, and what to do."""
    with pytest.raises(UnknownSchemaError, match=r"the file has schema .*, this version of benchwright reads 1"):
        upgraded(kind, {"schema": schema}, "the file")
    with pytest.raises(UnknownSchemaError):
        upgraded(kind, ["no", "object"], "the file")


def test_what_is_current_is_left_alone() -> None:
    """A document of this version comes back equal."""
    for kind in Kind:
        document = {"schema": schema_of(kind), "anything": 1}
        assert upgraded(kind, document, "x") == document


def test_a_newer_results_folder_is_refused(tmp_path: Path) -> None:
    """It is not read by guesswork."""
    shutil.copytree(OLD, tmp_path / "new")
    path = tmp_path / "new/manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 3}))
    with pytest.raises(UsageError, match="has schema 3, this version of benchwright reads 1 to 2"):
        ResultsFolder(tmp_path / "new").manifest()
