"""Whose word of the problems counts where runs differ."""

from pathlib import Path

import pytest
from stored_pieces import add_run

from benchwright.core.results import BUNDLED, FROM_FOLDER, Origin, ProblemFacts, Source
from benchwright.store.first_hand import first_hand_first, is_first_hand
from benchwright.store.frames import problems_table
from benchwright.store.results import ResultStore

TRUE = ProblemFacts(id="p0", digest="1" * 64, domains=("text",))
FALSE = ProblemFacts(id="p0", digest="0" * 64, domains=("poison",), created="2001-01-01")
ELSEWHERE = {
    "a bundle": {"flags": (BUNDLED,)},
    "a folder": {"flags": (FROM_FOLDER,)},
    "an import": {"origin": Origin.IMPORTED, "source": Source(kind="official", title="Somebody")},
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_own_runs_say_what_problems_are(tmp_path: Path, where: str) -> None:
    """Whatever a model in a run from elsewhere is called, and whatever other files it shares with own runs."""
    add_run(tmp_path, "aaa", "P", facts=[FALSE], **ELSEWHERE[where])
    add_run(tmp_path, "own", "P", facts=[TRUE])
    add_run(tmp_path, "zzz", "P", facts=[TRUE], **ELSEWHERE[where])
    with ResultStore(tmp_path) as store:
        runs = store.runs()
        assert [run.model for run in runs if is_first_hand(run)] == ["own"]
        assert [run.model for run in first_hand_first(runs)] == ["own", "aaa", "zzz"]
        (line,) = problems_table(store, runs).to_pylist()
    assert (line["digest"], line["domains"], line["created"]) == (TRUE.digest, ["text"], "")


def test_runs_from_elsewhere_say_it_where_no_other_does(tmp_path: Path) -> None:
    """In their order."""
    add_run(tmp_path, "aaa", "P", facts=[FALSE], flags=(BUNDLED,))
    add_run(tmp_path, "own", "P")
    with ResultStore(tmp_path) as store:
        (line,) = problems_table(store, store.runs()).to_pylist()
    assert line["domains"] == ["poison"]
