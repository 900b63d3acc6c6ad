"""``bw rank``: the table in a terminal, its JSON, and what is misuse."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_bw import Run
from stored_pieces import add_import, add_run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store of the home below the temporary folder."""
    return tmp_path / "home" / "results"


def test_a_ranking_is_a_table_with_its_method(bw: Run, store: Path) -> None:
    """Rank with range, model, rating, score by its whole name, counts, method; what stands apart has its reason."""
    add_run(store, "alder", "PPPPPPFFFX", cost=1.25)
    add_run(store, "birch", "PPFFFFFFFF")
    add_import(store, "theirs", "PPPPPPPPPP")
    done = bw("rank", "starter", "--rounds", "20", "--anchor", "birch=900")
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout
    assert "Starter tasks, full, complete (0.1.0, 10 problems)" in said
    assert "pass@1[calibrated]" in said
    alder = next(line for line in said.splitlines() if "alder" in line)
    for word in ("1", "66.7 [", "6/10", "1.25", "faults"):
        assert word in alder
    assert " 900 [900, 900]" in said
    assert "Bradley-Terry strengths on the Elo scale" in said
    assert "equal outcomes count half a win each" in said
    assert "Anchor: birch = 900." in said
    assert "Not in this table (1 others, shown by --all-tables):" in said
    assert "B imported (official)" in said
    assert "theirs" not in said
    assert "theirs" in bw("rank", "starter", "--rounds", "20", "--all-tables").stdout


def test_a_ranking_is_one_object(bw: Run, store: Path) -> None:
    """The JSON has whole names and every table; without rating there are none of its numbers."""
    name = "<b>[red]x/" + "y" * 400
    add_run(store, name, "PF")
    add_run(store, "b", "FF")
    done = bw("rank", "starter", "--no-rating", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    plain = json.loads(done.stdout)
    assert [row["model"] for row in plain["rows"]] == [name, "b"]
    assert [row["rating"] for row in plain["rows"]] == [None, None]
    assert plain["method"] == ""


def test_names_do_no_harm_in_a_terminal(bw: Run, store: Path) -> None:
    """Markup is text, control characters are spelled out, a long name is cut in its middle."""
    for number, name in enumerate(("[red]one[/red]", "two\x1b[31m\ntail", "three" * 40, "模型/四")):
        add_run(store, name, "PF", run_id=str(number))
    said = bw("rank", "starter", "--rounds", "5").stdout
    assert "[red]one[/red]" in said
    assert "\x1b" not in said
    assert "two\\x1b[31m\\ntail" in said
    assert "…" in said
    assert "模型/四" in said


def test_names_are_given_the_room_there_is(bw: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 200 columns a name of 60 characters is whole, at 110 it is cut where the table would be too wide."""
    name = "20241221_codestory_midwit_claude-3-5-sonnet_swe-search_again"
    add_run(store, name, "PF")
    add_run(store, "b", "FF")
    monkeypatch.delenv("COLUMNS", raising=False)
    narrow = bw("rank", "starter", "--rounds", "5").stdout
    assert name not in narrow
    assert "…" in narrow
    assert max(len(line) for line in narrow.splitlines() if line[:1] in "│┏") <= 110
    monkeypatch.setenv("COLUMNS", "200")
    wide = bw("rank", "starter", "--rounds", "5").stdout
    assert name in wide
    assert max(len(line) for line in wide.splitlines() if line[:1] in "│┏") <= 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("starter",), "There are no results of starter in the store"),
        (("starte",), "did you mean starter"),
        (("starter", "--ties", "third"), "--ties"),
        (("starter", "--rounds", "0"), "--rounds"),
        (("starter", "--rounds", "20001"), "--rounds"),
        (("starter", "--seed", "-1"), "--seed"),
        (("starter", "--run", "nobody"), "nobody"),
        (("starter", "--verdicts", "x.json"), "Nothing is known of official verdict files of starter"),
        (("bigcodebench", "--verdicts", "."), "holds no verdict files"),
        (("swebench-verified", "--resolved", "none.json"), "none.json"),
        ((), "BENCHMARK"),
    ],
)
def test_what_cannot_be_ranked_is_misuse(bw: Run, arguments: tuple[str, ...], words: str) -> None:
    """Exit code 2, nothing on standard output, one sentence."""
    done = bw("rank", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


VERDICT = {
    "pass": {"status": "pass", "details": {}},
    "fail": {"status": "fail", "details": {"test_1": "AssertionError"}},
}


@pytest.fixture
def verdicts(tmp_path: Path) -> Callable[..., Path]:
    """Writes official verdict files of models in folders of their own."""

    def write(model: str, name: str, **tasks: str) -> Path:
        folder = tmp_path / "verdicts" / model
        folder.mkdir(parents=True, exist_ok=True)
        each = {f"BigCodeBench/{number[1:]}": [VERDICT[status]] for number, status in tasks.items()}
        (folder / name).write_text(json.dumps({"date": "2025-01-01 10:00", "eval": each}))
        return folder.parent

    return write


def test_official_verdicts_are_ranked(bw: Run, verdicts: Callable[..., Path]) -> None:
    """A folder of such files, one variant of which is ranked; the others are counted."""
    for model, second in (("a", "pass"), ("b", "fail")):
        for variant in ("complete", "instruct"):
            folder = verdicts(model, f"full-{variant}.official_verdicts.json", t0="pass", t1=second)
    done = bw("rank", "bigcodebench", "--verdicts", folder, "--score", "calibrated", "--rounds", "5", "--json")
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert [(row["model"], row["solved"], row["n"], row["missing"]) for row in plain["rows"]] == [
        ("a", 2, 1140, 1138), ("b", 1, 1140, 1138)
    ]  # fmt: skip
    assert (plain["variant"], plain["rows"][0]["origin"]) == ("complete", "imported")
    assert "2 verdict files of other subsets or variants are not looked at." in plain["notes"]
    assert any("People solve 97 % of the tasks" in note for note in plain["notes"])


def test_a_folder_of_other_things_is_looked_through_in_bounds(
    bw: Run, tmp_path: Path, verdicts: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that vanish meanwhile are no matter, one that cannot be read is counted, too many are refused."""
    folder = verdicts("a", "full-complete.official_verdicts.json", t0="pass")
    for number in range(10):
        (folder / f"other{number}").mkdir()
        (folder / f"other{number}" / "notes.json").write_text("{}")
    scan = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("other3"):
            raise FileNotFoundError(2, "No such file or directory", path)
        if str(path).endswith("other4"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    arguments = ("rank", "bigcodebench", "--verdicts", folder, "--score", "calibrated", "--rounds", "5", "--json")
    done = bw(*arguments)
    assert done.returncode == 0, done.stderr
    assert "1 folders could not be read, and are not looked at." in json.loads(done.stdout)["notes"]
    monkeypatch.setattr("benchwright.app.importing_verdict_files._MOST_ENTRIES", 15)
    done = bw(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds more than 15 files and folders; name the folder with the verdict files" in done.stderr
