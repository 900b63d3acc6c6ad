"""Runs that go on: what a dry run says before and after, full disks, and journals of earlier invocations."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, first_ids, run_grading

from benchwright.app.run import dry_run
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.prompts import Mode
from benchwright.core.runs import Score
from benchwright.store.replies import NAME

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import Runs, Told, log_of, problem_of, reasons, reference, unexecuted, verdicts_of
from scripted_server import Answer, scripted_server


@pytest.fixture
def runs(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Makes runs that execute nothing."""
    unexecuted(monkeypatch)
    return Runs(tmp_path, home, monkeypatch)


def some_fail(body: dict[str, Any], number: int) -> Answer:
    """Answers every second problem."""
    odd = PROBLEMS.index(problem_of(body)) % 2
    return Answer(status=400, error="nonsense") if odd else reference(body)


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder with what it holds."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_asks_and_writes_nothing(runs: Runs) -> None:
    """It counts what would be asked and graded, names model, mode and folder, and leaves no trace."""
    with scripted_server(reference) as server:
        plan = runs.plan(server, limit=5, samples=2, temperature=0.5, preflight=True)
        planned = dry_run(plan)
        assert server.requests == []
    assert not (runs.folder / "out").exists()
    plain = json.loads(json.dumps(planned.to_plain()))
    expected = {
        "dry_run": True,
        "problems": 5,
        "to_ask": 10,
        "already_answered": 0,
        "to_grade": 30,
        "mode": "chat",
        "variant": "complete",
        "run_id": plan.run_id,
        "folder": str(runs.folder / "out"),
        "price": None,
    }
    assert {name: plain[name] for name in expected} == expected
    assert plain["prompt_characters"] == 2 * sum(len(plan.question.prompt(problem.id).text) for problem in PROBLEMS[:5])


def test_a_dry_run_counts_what_is_left(runs: Runs) -> None:
    """After a part of the replies came, only the others are counted, and the run's files stay as they are."""
    with scripted_server(some_fail) as server:
        runs.run(server, limit=5)
        before = contents(runs.folder / "out")
        with (runs.folder / "out" / NAME).open("ab") as journal:
            journal.write(b'{"schema": 1, "half')
        planned = dry_run(runs.plan(server, limit=5))
        assert len(server.requests) == 5
    assert (planned.to_ask, planned.answered) == (2, 3)
    asked = sum(len(planned.plan.question.prompt(PROBLEMS[number].id).text) for number in (1, 3))
    assert planned.prompt_characters == asked
    assert planned.to_plain()["to_grade"] == 15
    after = contents(runs.folder / "out")
    assert after.pop(runs.folder / "out" / NAME).endswith(b'{"schema": 1, "half')
    del before[runs.folder / "out" / NAME]
    assert after == before
    with scripted_server(reference) as server:
        runs.run(server, limit=5)
        assert dry_run(runs.plan(server, limit=5)).to_ask == 0


def test_a_dry_run_refuses_what_the_run_would(runs: Runs, tmp_path: Path) -> None:
    """The folder of a run with other settings, or of a grading, is refused before it comes to it."""
    with scripted_server(reference) as server:
        runs.run(server, limit=2)
        with pytest.raises(UsageError, match="temperature"):
            dry_run(runs.plan(server, limit=2, temperature=0.5))
        run_grading(runs.workspace.home, tmp_path / "out" / "samples.jsonl", tmp_path / "graded", ids=first_ids(2))
        with pytest.raises(UsageError, match="holds a grading, not a run"):
            dry_run(runs.plan(server, out="graded", limit=2))


def test_a_finished_run_asks_nothing_and_says_the_same(runs: Runs) -> None:
    """The same command once more gives the same rows and files, out of journal, store and log alone."""
    with scripted_server(reference) as server:
        first = runs.run(server, limit=4)
    (runs.folder / "out" / "rows.jsonl").unlink()
    (runs.folder / "out" / "samples.jsonl").unlink()
    logged = first.log.read_bytes()
    with scripted_server(reference) as server:
        again = runs.run(server, limit=4, preflight=True)
        assert server.requests == []
    assert verdicts_of(again.grading.rows) == verdicts_of(first.grading.rows)
    assert (again.asked, again.answered_before, again.grading.run.executed) == (0, 4, 0)
    assert len(runs.samples()) == 4
    assert runs.manifest()["usage"]["calls"] == 4
    assert (again.log, again.log.read_bytes()) == (first.log, logged)
    assert list(first.log.parent.iterdir()) == [first.log]


def test_a_lost_log_is_made_anew(runs: Runs) -> None:
    """Without its log a finished run plays its replies back into another one, marked as such."""
    with scripted_server(reference) as server:
        first = runs.run(server, limit=3)
        before = [sample.output.completion for sample in log_of(first).samples or []]
        first.log.unlink()
        again = runs.run(server, limit=3)
        assert len(server.requests) == 3
    played = log_of(again).samples or []
    assert [sample.output.completion for sample in played] == before
    assert all(sample.output.metadata == {"from_journal": True} for sample in played)
    assert all(sample.scores for sample in played)
    assert (runs.folder / "out" / runs.manifest()["log"]).is_file()


def test_replies_of_every_ending_are_played_back(runs: Runs) -> None:
    """A refusal, an overflow, a cut and an empty reply are answers like others: they are not asked again."""
    answers = [
        Answer(text="I cannot help with that.", finish="content_filter"),
        Answer(status=400, error="maximum context length is 10 tokens"),
        Answer(text="```python\nimport os", finish="length"),
        Answer(text=""),
        Answer(choices=False),
        Answer(text="```python\nx = 1\n```", reasoning="hm"),
    ]
    with scripted_server(lambda body, number: answers[PROBLEMS.index(problem_of(body))]) as server:
        first = runs.run(server, limit=len(answers))
    first.log.unlink()
    with scripted_server(reference) as server:
        again = runs.run(server, limit=len(answers))
        assert server.requests == []
    assert reasons(again) == reasons(first)
    assert Counter(reasons(again).values()) == {
        "no_answer refused": 1,
        "no_answer context_overflow": 1,
        "no_answer truncated": 1,
        "no_answer empty": 2,
        "passed all_tests_passed": 1,
    }
    assert [sample.error for sample in log_of(again).samples or []] == [None] * len(answers)
    graded = run_grading(
        runs.workspace.home, again.log, runs.folder / "graded", ids=first_ids(len(answers)), scores=(Score.EXTRACTED,)
    )
    assert {row.problem_id: row.verdict.reason for row in graded.rows} == {
        row.problem_id: row.verdict.reason for row in again.grading.rows if row.score is Score.EXTRACTED
    }


def test_a_log_that_was_asked_in_parts_is_whole(runs: Runs) -> None:
    """The log that a later invocation writes has all samples: replies of earlier ones are played back into it."""
    with scripted_server(some_fail) as server:
        first = runs.run(server, limit=4)
    assert sum(sample.error is not None for sample in log_of(first).samples or []) == 2
    with scripted_server(reference) as server:
        again = runs.run(server, limit=4)
    samples = log_of(again).samples or []
    assert [(sample.id, sample.error) for sample in samples] == [(problem, None) for problem in first_ids(4)]
    assert all(sample.scores for sample in samples)


def test_a_foreign_journal_is_refused(runs: Runs) -> None:
    """A journal that is none stops the run before anything is asked, by file and line."""
    (runs.folder / "out").mkdir()
    (runs.folder / "out" / NAME).write_text("{}\n")
    with scripted_server(reference) as server:
        with pytest.raises(UsageError, match=r"replies\.jsonl, line 1 is not a record of a model call"):
            runs.run(server, limit=2)
        assert server.requests == []


def test_half_a_line_costs_one_reply(runs: Runs) -> None:
    """What a crash left of a line is asked again, and nothing else is."""
    with scripted_server(reference) as server:
        runs.run(server, limit=4, max_connections=1)
    journal = runs.folder / "out" / NAME
    journal.write_bytes(journal.read_bytes()[:-30])
    with scripted_server(reference) as server:
        report = runs.run(server, limit=4)
        assert len(server.requests) == 1
    assert (report.asked, report.answered_before) == (1, 3)
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_a_folder_serves_one_run_at_a_time(runs: Runs) -> None:
    """While a run writes into a folder, another one is turned away; it has asked nothing."""
    refused: list[str] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        if number == 0:
            done = subprocess.run(
                [sys.executable, "-c", _LOCKS, str(runs.folder / "out")], capture_output=True, text=True
            )
            refused.append(done.stdout.strip())
        return reference(body)

    with scripted_server(script) as server:
        runs.run(server, limit=2, max_connections=1)
    assert refused == ["UsageError"]


_LOCKS = """
import sys
from pathlib import Path
from benchwright.core.errors import UsageError
from benchwright.store.folder import ResultsFolder
try:
    with ResultsFolder(Path(sys.argv[1])).locked():
        print("locked")
except UsageError:
    print("UsageError")
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few replies; needs the right to mount."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_under_the_journal_ends_the_run(runs: Runs, small_disk: Path) -> None:
    """When a reply cannot be kept, nothing more is asked and the sentence says what to do; then the run goes on."""
    (runs.folder / "out").mkdir()
    (runs.folder / "out" / NAME).symlink_to(small_disk / NAME)
    with scripted_server(reference) as server:
        with pytest.raises(
            MachineError, match=r"replies\.jsonl could not be written \(No space left.*once there is room"
        ):
            runs.run(server, limit=12, max_connections=2)
        first = len(server.requests)
    kept = len(runs.answered())
    assert 0 < kept < first <= kept + 2
    assert (small_disk / NAME).read_bytes().endswith(b"}\n")
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    with scripted_server(reference) as server:
        report = runs.run(server, limit=12)
        assert len(server.requests) == 12 - kept
    assert len(reasons(report)) == 12
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_modes_do_not_share_a_folder(runs: Runs) -> None:
    """A folder in which a model was asked as a chat model is not gone on with as a base model."""
    told = Told()
    with scripted_server(reference) as server:
        runs.run(server, limit=1)
        with pytest.raises(UsageError, match="mode was 'chat', now 'base'"):
            runs.run(server, limit=1, told=told, mode=Mode.BASE)
        assert len(server.requests) == 1
    assert told.said == []
