"""An entry that others made describes a run with fields of their form and range, or it is none."""

import json
from pathlib import Path

import pytest
from entry_pieces import TWO, run
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.store.entries import Entry, run_to_plain
from benchwright.store.entry_checks import bad_file_name
from benchwright.store.results import ResultStore

DIGEST = "f" * 64


def entry_bytes(generation: object = 1, **changes: object) -> tuple[bytes, str]:
    """An ``entry.json`` under its right digest, which whoever makes one can make, too; and its name."""
    described = {**run_to_plain(run("r")), **changes}
    described.pop("entry")
    entry = {"schema": 1, "content": DIGEST, "generation": generation, "run": described}
    name = digest_of(entry)
    return json.dumps({"entry": name, **entry}).encode(), name


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "", ".", "C:x", "C:/x", "a\\..\\x", "nul\0", "two\nlines",
        "\x1b[31m", "lone \ud800", "x" * 256, "a/" * 600 + "a", "trailing/", " ", "\x85",
    ],
)  # fmt: skip
def test_names_of_files_lead_nowhere(tmp_path: Path, name: str) -> None:
    """Neither is an entry read that has such a file, nor is one recorded."""
    data, entry = entry_bytes(files={"plans.json": DIGEST, name: DIGEST})
    with pytest.raises(ValueError, match=r"does not describe a run .it has a files that has a name"):
        Entry.from_bytes(data, entry)
    with ResultStore(tmp_path) as store, pytest.raises(UsageError, match="no run can say"):
        store.add(run(), TWO, {name: b"content"})


@pytest.mark.parametrize(
    "name",
    [
        "manifest.json",
        "logs/run_evaluation/r/m/django__django-1/report.json",
        "größe 模型.r.json",
        "a..b",
        "gpt:4.r.json",
    ],
)
def test_names_of_results_folders_are_names(name: str) -> None:
    """Whatever gradings write is kept under its own name."""
    assert bad_file_name(name) == ""


@given(st.text(max_size=20))
def test_a_good_name_stays_below_its_folder(name: str) -> None:
    """Joined to a folder, it is a path in that folder and no other."""
    if not bad_file_name(name):
        path = Path("/folder", name)
        assert path.parts[:2] == ("/", "folder")
        assert ".." not in path.parts
        assert len(path.parts) > 2


@pytest.mark.parametrize("generation", [10**30, 2**63 - 1, 2**31, 0, -1, "zzz", 1.0, True, None, [1], {}])
def test_a_generation_is_a_count(generation: object) -> None:
    """Anything else is no entry: the index could not hold it, or its successor."""
    data, name = entry_bytes(generation=generation)
    with pytest.raises(ValueError, match=r"does not describe a run .its generation is"):
        Entry.from_bytes(data, name)


@pytest.mark.parametrize(
    "change",
    [
        {"model": 5}, {"model": {}}, {"version": 5}, {"model": "x" * 20_001}, {"run_id": None}, {"recorded": {}},
        {"problems": "many"}, {"solved": True}, {"solved": -5}, {"problems": 2**31}, {"samples": 0}, {"faults": 1.5},
        {"cost": "x"}, {"cost": -1.0}, {"cost": 10**400}, {"cost": True},
        {"flags": [{}]}, {"flags": "bundle"}, {"flags": [None]}, {"flags": ["x"] * 10_001},
        {"files": {"x": 1}}, {"files": ["x"]}, {"scores": ["no"]}, {"scores": [5]}, {"scores": ["calibrated"] * 2},
        {"evaluation": []}, {"evaluation": {"x": "x" * 1_000_001}}, {"supersedes": 5}, {"supersedes": "../x"},
        {"recorded": "\x1b[31m"}, {"origin": "theirs"},
        {"source": {}}, {"source": {"kind": "k", "title": 5, "url": "", "files": [], "note": ""}},
        {"source": {"kind": "k", "title": "t", "url": "", "files": [["a"]], "note": ""}},
        {"facts": {"link": "x"}}, {"facts": []},
        {"reported": [{"metric": "x", "value": "y", "n": None}]},
        {"reported": [{"metric": "x", "value": 1.5, "n": None}]},
        {"reported": [{"metric": "x", "value": 0.5}]}, {"more": 1},
    ],
)  # fmt: skip
def test_an_entry_that_describes_no_run_is_none(change: dict[str, object]) -> None:
    """Its digest may be right; what it says is of another form, out of range or too long."""
    data, name = entry_bytes(**change)
    with pytest.raises(ValueError, match="does not describe a run"):
        Entry.from_bytes(data, name)


def test_facts_of_a_model_are_numbers_and_truths() -> None:
    """Each field of them is checked."""
    facts = run("r").facts.to_plain()
    for wrong in ({"parameters": "7"}, {"parameters": -1.0}, {"open_weights": 1}, {"released": 2024}):
        data, name = entry_bytes(facts=facts | wrong)
        with pytest.raises(ValueError, match=f"it has a facts that has a {min(wrong)} that is"):
            Entry.from_bytes(data, name)


@pytest.mark.parametrize("content", [5, None, {}, "x" * 20_001])
def test_a_content_is_a_digest(content: object) -> None:
    """An entry without one cannot be told from others."""
    described = run_to_plain(run("r"))
    described.pop("entry")
    entry = {"schema": 1, "content": content, "generation": 1, "run": described}
    with pytest.raises(ValueError, match="has no digest of its content"):
        Entry.from_bytes(json.dumps({"entry": digest_of(entry), **entry}).encode(), digest_of(entry))


def test_a_poisoned_entry_leaves_the_others_usable(tmp_path: Path) -> None:
    """It is left out with a sentence, `verify` names it, and results are recorded as before."""
    with ResultStore(tmp_path) as store:
        store.add(run("good"), TWO, {})
        data, name = entry_bytes(generation=10**30)
        store.layout.entry(name).mkdir()
        (store.layout.entry(name) / "entry.json").write_bytes(data)
        assert [one.run_id for one in store.runs()] == ["good"]
    with ResultStore(tmp_path) as store:
        assert "is left out: entry.json does not describe a run" in store.damaged[name]
        assert [text for text in store.verify() if name[:12] in text]
        store.add(run("r"), TWO, {})
        assert {one.run_id for one in store.runs()} == {"good", "r"}
