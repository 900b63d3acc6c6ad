"""Inspect's logs as sample files: which are read, what of them counts, and what is said of others."""

import zipfile
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from app_pieces import PROBLEMS, private_home
from inspect_ai import Task
from inspect_ai.dataset import Sample
from run_pieces import Runs, problem_of, quick_retries, reference, unexecuted
from scripted_server import Answer, scripted_server

from benchwright.app.run import RunReport
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.bridge.logs import read_log
from benchwright.core.attempts import Ending
from benchwright.core.errors import UnknownNameError, UsageError

ALL = BENCHMARK.load()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Makes runs that execute nothing."""
    unexecuted(monkeypatch)
    quick_retries(monkeypatch)
    return Runs(tmp_path, private_home(tmp_path / "home"), monkeypatch)


def mixed(body: dict[str, Any], number: int) -> Answer:
    """Three answers and a fault."""
    index = PROBLEMS.index(problem_of(body))
    if index == 1:
        return Answer(status=400, error="bad request: nonsense")
    return Answer(text=reference(body).text, usage=(900, 50))


def ran(runs: Runs, **options: Any) -> RunReport:
    """A run of four problems."""
    with scripted_server(mixed) as server:
        return runs.run(server, limit=4, **options)


def test_a_log_is_a_sample_file(runs: Runs) -> None:
    """Every sample is an attempt with its raw text; a fault is one with the provider's words, in one line."""
    report = ran(runs, samples=2, temperature=0.5)
    file = read_log(report.log, ALL)
    assert (file.name, file.files, file.model) == (report.log.name, (str(report.log),), "openai-api/fake/m")
    assert {(attempt.problem_id, attempt.sample) for attempt in file.attempts} == {
        (problem.id, sample) for problem in PROBLEMS[:4] for sample in range(2)
    }
    assert (file.fewest_samples, file.most_samples) == (2, 2)
    assert file.missing == tuple(problem.id for problem in PROBLEMS[4:])
    for attempt in file.attempts:
        if attempt.problem_id == PROBLEMS[1].id:
            assert (attempt.ending, attempt.raw_text) == (Ending.FAILED, None)
            assert attempt.ending_detail.startswith("BadRequestError")
            assert "bad request: nonsense" in attempt.ending_detail
            assert len(attempt.ending_detail) < 200
        else:
            assert attempt.ending is Ending.SUBMITTED
            assert (attempt.raw_text or "").startswith("Here you are:")
        assert attempt.solution is None


def test_what_was_not_asked_is_no_attempt(runs: Runs) -> None:
    """Samples that a budget left out are missing from the file, rather than empty answers."""
    report = ran(runs, max_tokens=2_000, reply_tokens=50, max_connections=1)
    assert report.not_asked
    file = read_log(report.log, ALL.only([problem.id for problem in PROBLEMS[:4]]))
    assert len(file.attempts) == 4 - len(report.not_asked)
    assert set(file.missing) == {name.partition("#")[0] for name in report.not_asked}


def test_the_same_answers_have_the_same_digest(runs: Runs) -> None:
    """Two logs of one run differ in everything but the answers, and are one sample file by its digest."""
    first = ran(runs)
    first.log.rename(first.log.with_name("first.eval"))
    second = ran(runs)
    logs = [read_log(path, ALL) for path in (first.log.with_name("first.eval"), second.log)]
    assert logs[0].digest == logs[1].digest
    with scripted_server(lambda body, number: Answer(text="another")) as server:
        other = runs.run(server, "other", limit=4)
    assert read_log(other.log, ALL).digest != logs[0].digest


def test_a_log_of_other_problems_is_refused(runs: Runs) -> None:
    """A problem that the benchmark does not have, or not in this subset, is named."""
    report = ran(runs)
    with pytest.raises(UnknownNameError, match=PROBLEMS[3].id):
        read_log(report.log, ALL.only([problem.id for problem in PROBLEMS[:3]]))


def test_a_foreign_log_is_refused(tmp_path: Path) -> None:
    """A log that another task made is told apart by its samples."""
    (log,) = inspect_ai.eval(
        Task(dataset=[Sample(input="Say x.", target="x")]),
        model="none/none",
        log_dir=str(tmp_path / "logs"),
        display="none",
        fail_on_error=False,
    )
    path = Path(log.location.removeprefix("file://"))
    with pytest.raises(UsageError, match="was not made by a task of benchwright"):
        read_log(path, ALL)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    """A missing file, some bytes and another archive are each one sentence that names the file."""
    path = tmp_path / "x.eval"
    with pytest.raises(UsageError, match=r"There is no file .*x\.eval\."):
        read_log(path, ALL)
    for content in (b"", b"not a log"):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"x\.eval is not a readable Inspect log"):
            read_log(path, ALL)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(UsageError, match=r"x\.eval is not a readable Inspect log"):
        read_log(path, ALL)
