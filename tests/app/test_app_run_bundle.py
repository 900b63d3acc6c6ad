"""A whole run in a bundle: sound, and open where the provider's failure is the run's own word."""

import sys
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS

from benchwright.app.bundles import write_bundle
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import Runs, fenced, problem_of, quick_retries, unexecuted
from scripted_server import Answer, scripted_server


def replies(body: dict[str, Any], number: int) -> Answer:
    """An error for the second problem, words for the third, the reference otherwise."""
    problem = problem_of(body)
    if problem.id == PROBLEMS[1].id:
        return Answer(status=400, error="bad request: nonsense")
    return Answer(text="No." if problem.id == PROBLEMS[2].id else fenced(problem.reference))


@pytest.mark.parametrize("with_logs", [False, True])
def test_a_run_makes_a_sound_bundle(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, *, with_logs: bool
) -> None:
    """Every record is traced to its reply; that the provider failed once is counted, and the score bracketed."""
    unexecuted(monkeypatch)
    quick_retries(monkeypatch)
    with scripted_server(replies) as server:
        report = Runs(tmp_path, home, monkeypatch).run(server, limit=4)
    folder, path = report.grading.folder, tmp_path / "a.bw.zip"
    checked = verify(write_bundle(folder, path, Workspace(home=home), with_logs=with_logs).path)
    assert checked.findings == ()
    assert checked.tally.jobs == checked.tally.traced >= 4
    (text,) = checked.open
    assert text.endswith("is 66.7 %, 50.0 % if they had failed, 75.0 % if they had passed")
