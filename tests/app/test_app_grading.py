"""Grading from file to folder: for real in the starter environment, and with scripted executions."""

import contextlib
import dataclasses
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from app_pieces import (
    PROBLEMS,
    WRONG,
    ScriptedFactory,
    by_problem,
    first_ids,
    private_home,
    references,
    run_grading,
    write_samples,
)

from benchwright.app.grading import GradeOptions, GradeReport
from benchwright.app.grading_inputs import _refuse_other_subset
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import SampleFile
from benchwright.benchmarks.bigcodebench.benchmark import BENCHMARK
from benchwright.benchmarks.bigcodebench.official import read_official_verdicts
from benchwright.core.attempts import Attempt
from benchwright.core.errors import MachineError, UnknownNameError, UsageError
from benchwright.core.execution import ExecutionRecord, Isolation, Job, TestOutcome
from benchwright.core.runs import Score
from benchwright.store.folder import ResultsFolder
from benchwright.testing import finished_record, lost_record

# A problem whose stub has an import that the reference needs: leaving it out shows what calibration is for.
LAZY = next(p for p in PROBLEMS[1:] if p.stub.startswith(("import", "from")) and p is not PROBLEMS[0])


def without_imports(code: str) -> str:
    """A solution whose author took the prompt's imports and constants for granted."""
    lines = code.splitlines(keepends=True)
    return "".join(lines[next(n for n, line in enumerate(lines) if line.startswith("def ")) :])


class Real:
    """One real grading of a file with one answer of each kind."""

    answers: dict[str, Any]

    def __init__(self, folder: Path) -> None:
        self.home = private_home(folder / "home")
        self.folder = folder
        ids = list(first_ids(9))
        assert LAZY.id in ids
        ids.remove(LAZY.id)
        kinds: list[Any] = [
            PROBLEMS[0].reference, WRONG, "def task_func(:\n    pass\n", "x = 1\n", "  \n", "x = '\0'\n", 7,
        ]  # fmt: skip
        self.answers = dict(zip(ids, kinds, strict=False)) | {LAZY.id: without_imports(LAZY.reference)}
        self.missing = ids[-1]
        self.samples = write_samples(folder / "mixed.jsonl", self.answers.items(), model="someone")
        self.ids = (*ids, LAZY.id)
        self.report = self.again("out")

    def again(self, out: str, **options: Any) -> GradeReport:
        """The same grading into a folder."""
        return run_grading(self.home, self.samples, self.folder / out, ids=self.ids, **options)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    """A grading that was really executed."""
    return Real(tmp_path_factory.mktemp("real"))


@pytest.mark.namespaces
def test_each_kind_of_answer_has_its_verdict(real: Real) -> None:
    """Right, wrong, broken, empty and missing answers are told apart; a lazy one passes when calibrated only."""
    expected = dict(
        zip(
            [problem for problem in real.ids if problem != LAZY.id],
            [
                ("passed", "all_tests_passed"),
                None,
                ("unusable", "syntax_error"),
                ("unusable", "entry_point_missing"),
                ("no_answer", "empty"),
                ("unusable", "not_text"),
                ("unusable", "not_text"),
                ("no_answer", "missing"),
            ],
            strict=True,
        )
    )
    for score in ("extracted", "calibrated"):
        found = by_problem(real.report, score)
        for problem, verdict in expected.items():
            if verdict is None:
                assert found[problem][0] == "failed"
            else:
                assert found[problem] == verdict, (score, problem)
    assert by_problem(real.report, "extracted")[LAZY.id] == ("failed", "exception")
    assert by_problem(real.report, "calibrated")[LAZY.id] == ("passed", "all_tests_passed")


@pytest.mark.namespaces
def test_estimates_count_missing_problems(real: Real) -> None:
    """Both scores are over all nine problems, named by what they are, with Wilson's interval for one sample each."""
    by_metric = {estimate.metric: estimate for estimate in real.report.summary.estimates}
    assert set(by_metric) == {"pass@1[extracted]", "pass@1[calibrated]"}
    assert by_metric["pass@1[extracted]"].value == pytest.approx(1 / 9)
    assert by_metric["pass@1[calibrated]"].value == pytest.approx(2 / 9)
    for estimate in by_metric.values():
        assert (estimate.n, estimate.samples, estimate.method) == (9, 1, "wilson")
        assert estimate.low < estimate.value < estimate.high
    summary = real.report.summary
    assert (summary.problems, summary.attempts, summary.solved) == (9, 8, 2)
    assert summary.missing == (real.missing,)
    assert summary.uncontrolled == 9


@pytest.mark.namespaces
def test_the_folder_holds_everything(real: Real) -> None:
    """Manifest, rows, plans and official files are there, and agree with the report."""
    folder = ResultsFolder(real.folder / "out")
    manifest = folder.manifest()
    assert manifest["status"] == "complete"
    assert manifest["model"] == "someone"
    assert manifest["estimates"]["pass@1"] == manifest["estimates"]["pass@1[calibrated]"]
    assert tuple(folder.rows()) == real.report.rows
    assert set(folder.plans()) == set(real.ids)
    for score in ("extracted", "calibrated"):
        verdicts = read_official_verdicts(folder.path / f"{score}_eval_results.json")
        found = {key.problem_id: status == "pass" for key, status in verdicts.items()}
        assert found == {p: outcome == "passed" for p, (outcome, _) in by_problem(real.report, score).items()}
        rates = json.loads((folder.path / f"{score}_pass_at_k.json").read_text())
        assert rates["pass@1"] == manifest["estimates"][f"pass@1[{score}]"]["value"]


@pytest.mark.namespaces
def test_the_same_command_executes_nothing_again(real: Real) -> None:
    """A second grading into the same folder or another reuses every record and comes to the same rows."""
    for out in ("out", "elsewhere"):
        again = real.again(out)
        assert (again.run.executed, again.run.reused) == (0, real.report.run.executed)
        assert again.rows == real.report.rows
        assert again.run_id == real.report.run_id
        assert again.summary.estimates == real.report.summary.estimates


@pytest.mark.namespaces
def test_another_models_equal_answers_are_not_run_again(real: Real) -> None:
    """Submissions are named by content: whose they are does not matter."""
    other = write_samples(real.folder / "other.jsonl", reversed(real.answers.items()), model="someone else")
    report = run_grading(real.home, other, real.folder / "other", ids=real.ids)
    assert report.run.executed == 0
    assert report.run_id != real.report.run_id


@pytest.mark.namespaces
def test_a_weaker_isolation_is_recorded_and_is_another_run(real: Real) -> None:
    """Process isolation gives the same verdicts, never reuses records, and stands in the manifest."""
    report = run_grading(real.home, real.samples, real.folder / "process", ids=real.ids, isolation=Isolation.PROCESS)
    assert report.run.reused == 0
    assert report.manifest["isolation"] == "process"
    for score in ("extracted", "calibrated"):
        assert by_problem(report, score) == by_problem(real.report, score)


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from app_pieces import run_grading
run_grading(Path({home!r}), Path({samples!r}), Path({out!r}), ids=({problem!r},))
"""


@pytest.mark.namespaces
def test_a_killed_grading_goes_on_where_it_was(tmp_path: Path, home: Path) -> None:
    """After `kill -9` the same command completes with what was stored, and no guest is left."""
    problem = PROBLEMS[0]
    solutions = [(problem.id, f"# {n}\n{problem.reference}") for n in range(4)]
    solutions += [(problem.id, f"import time\ntime.sleep(2)\n# {n}\n{problem.reference}") for n in range(2)]
    samples = write_samples(tmp_path / "samples.jsonl", solutions)
    out = tmp_path / "out"
    program = KILLED.format(
        tests=str(Path(__file__).parent), home=str(home), samples=str(samples), out=str(out), problem=problem.id
    )
    host = subprocess.Popen([sys.executable, "-c", program])
    try:
        end = time.monotonic() + 60
        while stored(home) < 4 and time.monotonic() < end and host.poll() is None:
            time.sleep(0.01)
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    before = stored(home)
    assert 4 <= before < 12
    assert ResultsFolder(out).manifest()["status"] == "running"
    end = time.monotonic() + 60
    while guests_of(home) and time.monotonic() < end:
        time.sleep(0.01)
    assert guests_of(home) == []
    report = run_grading(home, samples, out, ids=(problem.id,))
    assert report.run.reused >= before
    assert report.run.executed == 12 - report.run.reused
    assert report.manifest["status"] == "complete"
    assert all(row.verdict.outcome == "passed" for row in report.rows)
    assert report.summary.estimates[0].samples == 6


def stored(home: Path) -> int:
    """Records in a home's store."""
    try:
        opened = sqlite3.connect(f"file:{home / 'records.sqlite'}?mode=ro", uri=True)
        with contextlib.closing(opened) as connection:
            return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.Error:
        return 0


def guests_of(home: Path) -> list[int]:
    """Processes whose command line speaks of a home: its environments' interpreters."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(home).encode() + b"/environments" in command:
                found.append(int(entry.name))
    return found


# What follows executes nothing: the scheduler is scripted.


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """Right answers to the first three problems."""
    return write_samples(tmp_path / "samples.jsonl", references(3))


def test_identical_samples_run_once(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """Five equal samples are one execution per score; pass@k is given for every k up to five."""
    same = write_samples(tmp_path / "same.jsonl", references(1) * 5)
    report = run_grading(home, same, tmp_path / "out", ids=first_ids(1))
    assert (len(scripted.ran), report.run.executed, report.run.duplicates) == (2, 2, 8)
    metrics = {estimate.metric for estimate in report.summary.estimates}
    assert metrics == {f"pass@{k}[{score}]" for k in range(1, 6) for score in ("extracted", "calibrated")}
    assert {estimate.samples for estimate in report.summary.estimates} == {5}


def test_a_missing_problem_does_not_take_away_pass_at_k(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """With three samples everywhere else, a missing problem is wrong for every k up to three."""
    several = write_samples(tmp_path / "several.jsonl", references(3) * 3)
    report = run_grading(home, several, tmp_path / "out", ids=first_ids(4), scores=(Score.CALIBRATED,))
    values = {estimate.metric: estimate.value for estimate in report.summary.estimates}
    assert values == {f"pass@{k}[calibrated]": pytest.approx(3 / 4) for k in (1, 2, 3)}


@pytest.mark.parametrize(
    ("scores", "plain"),
    [((Score.CALIBRATED,), True), ((Score.EXTRACTED,), False), ((Score.EXTRACTED, Score.CALIBRATED), True)],
)
def test_scores_can_be_asked_for_alone_or_together(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path, scores: tuple[Score, ...], plain: bool
) -> None:
    """Only the scores asked for are run and reported; plain `pass@1` is the calibrated one, or not there."""
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(3), scores=scores)
    assert {job.submission.stub is not None for job in scripted.ran} == {score is Score.CALIBRATED for score in scores}
    assert set(report.manifest["estimates"]) == {f"pass@1[{score.value}]" for score in scores} | (
        {"pass@1"} if plain else set()
    )
    assert {path.name for path in (tmp_path / "out").glob("*.json")} == {"manifest.json", "plans.json"} | {
        f"{score.value}_{kind}.json" for score in scores for kind in ("eval_results", "pass_at_k")
    }


def test_faults_are_listed_and_left_out(scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path) -> None:
    """A lost execution is named, not counted, not written as wrong, and tried again by the same command."""
    broken = PROBLEMS[1].reference
    scripted.script = lambda job: (lost_record if job.submission.code == broken else finished_record)(job)
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    assert {estimate.n for estimate in report.summary.estimates} == {2}
    assert {estimate.value for estimate in report.summary.estimates} == {1.0}
    assert report.summary.faults == (f"{PROBLEMS[1].id}#0: the scripted sandbox broke",)
    assert report.summary.unscored_problems == 1
    official = read_official_verdicts(tmp_path / "out" / "calibrated_eval_results.json")
    assert {key.problem_id for key in official} == {PROBLEMS[0].id, PROBLEMS[2].id}
    scripted.script = finished_record
    again = run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    assert (again.run.executed, again.summary.faults) == (2, ())


def test_when_everything_is_lost_nothing_is_estimated(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """Without one scored sample there is no number, rather than a zero."""
    scripted.script = lost_record
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    assert report.summary.estimates == ()
    assert report.summary.unscored_problems == 3
    assert report.manifest["faults"] == 3


def test_tampering_is_listed_for_a_person(scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path) -> None:
    """A sign of interference is a failure that stands in a list of its own."""

    def script(job: Job) -> ExecutionRecord:
        plain = finished_record(job).to_plain()
        return ExecutionRecord.from_plain({**plain, "interference": ["builtins.print was replaced"]})

    scripted.script = script
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(1), scores=(Score.CALIBRATED,))
    assert report.summary.tampered == (f"{PROBLEMS[0].id}#0: builtins.print was replaced",)
    assert report.summary.solved == 0


def test_official_limits_are_those_of_the_official_harness(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """240 s for every job, no second run after a timeout, and the manifest says so."""
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(1), official_limits=True)
    assert {job.limits.wall_seconds for job in scripted.ran} == {240.0}
    assert {job.limits.repeat_timeouts for job in scripted.ran} == {False}
    assert report.manifest["limits"] == "official"


def test_a_folder_of_another_grading_is_refused(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """What is there is not overwritten, and the message says in what the gradings differ."""
    run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    before = (tmp_path / "out" / "rows.jsonl").read_bytes()
    with pytest.raises(UsageError, match=r"another grading \(it differs in limits\).*--out"):
        run_grading(home, samples, tmp_path / "out", ids=first_ids(3), official_limits=True)
    with pytest.raises(UsageError, match="differs in ids"):
        run_grading(home, samples, tmp_path / "out", ids=first_ids(2))
    assert (tmp_path / "out" / "rows.jsonl").read_bytes() == before


def test_two_gradings_into_one_folder_at_once(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """The second is refused before it does anything."""
    with ResultsFolder(tmp_path / "out").locked(), pytest.raises(UsageError, match="Another grading is writing"):
        run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    assert scripted.ran == []


def test_a_damaged_manifest_says_what_to_do(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """A folder whose manifest cannot be read is left alone."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text("{")
    with pytest.raises(UsageError, match="move the folder away"):
        run_grading(home, samples, tmp_path / "out", ids=first_ids(3))


def test_an_output_folder_that_cannot_be_written(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """Nothing is executed when its result could not be kept."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        run_grading(home, samples, tmp_path / "file" / "out", ids=first_ids(3))
    assert scripted.ran == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Any:
    """A file system of 256 kB; needs the right to mount."""
    place = tmp_path / "tiny"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_no_space_left_for_the_results(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path, tiny_disk: Path
) -> None:
    """A full disk is one sentence; executions are kept, and the same command completes once there is room."""
    (tiny_disk / "out").mkdir()
    (tiny_disk / "filler").write_bytes(b"x" * 248 * 1024)
    with pytest.raises(MachineError, match=r"No space left.*same command again"):
        run_grading(home, samples, tiny_disk / "out", ids=first_ids(3))
    (tiny_disk / "filler").unlink()
    report = run_grading(home, samples, tiny_disk / "out", ids=first_ids(3))
    assert report.manifest["status"] == "complete"


def test_no_space_left_for_the_records(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path, tiny_disk: Path
) -> None:
    """A store that cannot grow ends the run in one sentence, with everything stored so far intact."""
    (tiny_disk / "environments").symlink_to(home / "environments")
    several = write_samples(
        tmp_path / "several.jsonl", [(PROBLEMS[0].id, f"# {n}\n{PROBLEMS[0].reference}") for n in range(60)]
    )

    def noisy(job: Job) -> ExecutionRecord:
        output = "".join(f"{n * len(scripted.ran) ** 3:x}" for n in range(3000))
        return ExecutionRecord.from_plain({**finished_record(job).to_plain(), "output": output})

    scripted.script = noisy
    with pytest.raises(MachineError, match="disk full"):
        run_grading(tiny_disk, several, tmp_path / "out", ids=first_ids(1))
    assert 0 < len(scripted.ran) < 120


def test_an_environment_that_is_not_built(tmp_path: Path, samples: Path) -> None:
    """The message gives the command that builds it."""
    with pytest.raises(UsageError, match="bw env build starter"):
        run_grading(tmp_path / "empty", samples, tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"benchmark": "startr"}, "did you mean starter"),
        ({"variant": "chat"}, "no variant 'chat'; choose one of: complete, instruct"),
        ({"subset": "hard"}, "no subset of starter named 'hard'"),
        ({"version": "v9"}, "no version of starter named 'v9'"),
        ({"environment": "starters"}, "did you mean starter"),
        ({"ids": ("Starter/999",)}, "no starter problem named 'Starter/999'"),
    ],
)
def test_names_that_do_not_exist(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path, options: dict[str, Any], words: str
) -> None:
    """Each name that cannot be resolved is answered with what there is."""
    with pytest.raises((UsageError, UnknownNameError), match=words):
        run_grading(home, samples, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_workspace_comes_from_the_environment_variables(tmp_path: Path) -> None:
    """BENCHWRIGHT_HOME decides where records are."""
    workspace = Workspace.from_environment({"BENCHWRIGHT_HOME": str(tmp_path)})
    with workspace.records():
        assert (tmp_path / "records.sqlite").exists()


def test_failing_tests_are_in_the_official_details(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, samples: Path
) -> None:
    """The official file says which tests failed, and with which message."""
    scripted.script = lambda job: finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    run_grading(home, samples, tmp_path / "out", ids=first_ids(1), scores=(Score.CALIBRATED,))
    document = json.loads((tmp_path / "out" / "calibrated_eval_results.json").read_text())
    (entry,) = document["eval"][PROBLEMS[0].id]
    assert entry["status"] == "fail"
    ((name, message),) = entry["details"].items()
    assert name.startswith("test_")
    assert "as scripted" in message
    assert entry["solution"].startswith(PROBLEMS[0].calibration_stub)


def test_the_variant_is_read_from_the_files_name(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """A file whose name speaks of one variant, as the official tool's names do, is graded as that variant."""
    path = write_samples(tmp_path / "model--starter-instruct--0.samples.jsonl", references(1))
    report = run_grading(home, path, tmp_path / "out", ids=first_ids(1))

    assert report.manifest["variant"] == "instruct"


def test_samples_of_a_smaller_subset_are_asked_about(tmp_path: Path) -> None:
    """A file that answers exactly a smaller subset is not graded as the whole without being told so."""
    hard = sorted(BENCHMARK.subset_ids("hard"))
    samples = SampleFile(
        name="hard.jsonl", digest="", files=(), model="", missing=("BigCodeBench/0",), fewest_samples=1, most_samples=1,
        attempts=tuple(Attempt(problem_id=name, sample=0, solution="x = 1") for name in hard),
    )  # fmt: skip
    options = GradeOptions(benchmark="bigcodebench", samples=tmp_path / "hard.jsonl", workers=1)

    with pytest.raises(UsageError, match=r"exactly the 148 problems of subset 'hard'; say --subset hard"):
        _refuse_other_subset(options, BENCHMARK, samples)
    _refuse_other_subset(dataclasses.replace(options, subset="full"), BENCHMARK, samples)
