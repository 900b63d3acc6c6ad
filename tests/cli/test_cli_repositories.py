"""``bw grade`` on patches of a repository whose environments ``bw env build`` really built."""

import contextlib
import dataclasses
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from little_home import (
    COUNTING,
    DOUBLE,
    F2P,
    FUTURE,
    P2P,
    REPO,
    SECOND,
    SOUND,
    UNSOUND,
    BuiltHome,
    write_predictions,
    write_rows,
)
from running_bw import PROGRAM, Done, Run

from benchwright.core.repositories import RepositoryProblem, RepositoryRecord
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging import repository as judging
from benchwright.store.folder import ResultsFolder

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

GRADE_KEYS = {
    "benchmark", "version", "variant", "subset", "model", "run_id", "problems", "attempts", "solved", "faults",
    "estimates", "wall_seconds", "cpu_seconds", "results",
}  # fmt: skip
"""What `bw grade --json` has for every benchmark."""


@pytest.fixture
def folder(built: BuiltHome, tmp_path: Path) -> Path:
    """The folder that commands run in; its home has the built environments and nothing else."""
    built.private(tmp_path / "home")
    return tmp_path


Grade = Callable[..., Any]


@pytest.fixture
def grade(bw: Run, built: BuiltHome, folder: Path) -> Grade:
    """Grades patches by instance and returns what `--json` printed."""

    def run(patches: Mapping[str, Any], *options: object, out: str = "out") -> Any:
        write_predictions(folder / "preds.jsonl", patches)
        done = bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", out, "--json", *options)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    return run


def refused(done: Done, code: int = 2) -> str:
    """The one sentence with which something was refused."""
    assert done.returncode == code, done
    assert done.stdout == ""
    (line,) = [line for line in done.stderr.strip().splitlines() if line.startswith("bw: ")]
    assert "Traceback" not in done.stderr
    return line


def verdicts(report: Mapping[str, Any], folder: Path) -> dict[str, tuple[str, str]]:
    """Outcome and reason by instance."""
    lines = (folder / report["results"]).read_text().splitlines()
    return {row["problem_id"]: (row["outcome"], row["reason"]) for row in map(json.loads, lines)}


RESOLVED = ("passed", "all_tests_passed")


# What a grading says


def test_a_grading_says_what_became_of_each_patch(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """The reference resolves, no patch is no answer, and what the reference does not resolve either is a fault."""
    report = grade({SOUND: built.little.gold, SECOND: None, UNSOUND: built.little.wrong})
    assert report.keys() >= GRADE_KEYS
    assert verdicts(report, folder) == {
        SOUND: RESOLVED,
        SECOND: ("no_answer", "empty"),
        UNSOUND: ("fault", "environment_broken"),
    }
    assert (report["problems"], report["attempts"], report["solved"], report["faults"]) == (3, 3, 1, 1)
    assert (report["benchmark"], report["variant"], report["model"]) == ("repositories", "patch", "somebody/one")
    estimate = report["estimates"]["pass@1"]
    assert (estimate["value"], estimate["n"], estimate["method"]) == (0.5, 2, "wilson")
    assert 0 <= estimate["low"] < 0.5 < estimate["high"] <= 1
    assert report["by_repository"] == {REPO: {"resolved": 1, "scored": 2}}
    assert report["uncontrolled"] == [SOUND, SECOND], "control runs are made where a patch did not resolve its issue"
    (fault,) = report["fault_details"]
    assert fault.startswith(f"{UNSOUND}: the reference does not resolve here either")
    assert report["executed"] == 2


def test_a_wrong_patch_is_not_put_down_to_the_machine(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """The control runs that are made for it show that the reference resolves here; the tests are named."""
    report = grade({SOUND: built.little.wrong}, "--ids", SOUND)
    assert verdicts(report, folder) == {SOUND: ("failed", "tests_failed")}
    assert report["uncontrolled"] == []
    (row,) = ResultsFolder(folder / "out").rows()
    assert (row.verdict.planned, row.verdict.passed) == (len(F2P) + len(P2P), len(P2P))
    assert F2P[0] in row.verdict.detail


def test_control_runs_can_be_left_out(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """Without them nobody says that it is the environment's fault."""
    report = grade({UNSOUND: built.little.wrong}, "--ids", UNSOUND, "--controls", "stored")
    assert verdicts(report, folder) == {UNSOUND: ("failed", "tests_failed")}
    assert report["uncontrolled"] == [UNSOUND]


def test_the_table_names_what_matters(bw: Run, built: BuiltHome, folder: Path) -> None:
    """For people: score, outcomes, what is missing, what was dropped, and where the files are."""
    patch = built.little.diff(
        {"little/counting.py": COUNTING.replace(*DOUBLE), "tests/test_counting.py": "def test_triple():\n    pass\n"}
    )
    write_predictions(folder / "preds.jsonl", {SOUND: patch})
    done = bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out")
    assert done.returncode == 0, done
    shown = " ".join(done.stdout.split())
    for words in ("33.3 %", "all_tests_passed", REPO, "counted as unresolved (2): ", SECOND, "files: out"):
        assert words in shown
    assert f"{SOUND}: tests/test_counting.py not kept: " in shown


# Patches that are none


OUTSIDE = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
LINK = (
    "diff --git a/way b/way\nnew file mode 120000\n--- /dev/null\n+++ b/way\n@@ -0,0 +1 @@\n+/etc\n"
    "\\ No newline at end of file\n" + OUTSIDE.format("way/passwd")
)


@pytest.mark.parametrize(
    ("patch", "verdict"),
    [
        (None, ("no_answer", "empty")),
        ("", ("no_answer", "empty")),
        (" \n\n", ("no_answer", "empty")),
        ("I have fixed the bug.", ("unusable", "not_a_patch")),
        (7, ("unusable", "not_text")),
        (OUTSIDE.format("../evil.py"), ("unusable", "patch_rejected")),
        (OUTSIDE.format("little/../../evil.py"), ("unusable", "patch_rejected")),
        (OUTSIDE.format("/etc/evil.py"), ("unusable", "patch_rejected")),
        (OUTSIDE.format(".git/hooks/post-checkout"), ("unusable", "patch_rejected")),
        (LINK, ("unusable", "patch_rejected")),
        (OUTSIDE.format("notes.txt"), ("unusable", "patch_rejected")),
    ],
    ids=["null", "empty", "blank", "prose", "number", "parent", "hidden parent", "absolute", "git", "link", "exists"],
)
def test_a_patch_that_is_none(grade: Grade, folder: Path, patch: object, verdict: tuple[str, str]) -> None:
    """It is a verdict of its own kind, counted as unresolved, and stops nothing."""
    report = grade({SOUND: patch}, "--ids", SOUND)
    assert verdicts(report, folder) == {SOUND: verdict}
    assert (report["solved"], report["faults"], report["estimates"]["pass@1"]["value"]) == (0, 0, 0.0)
    # Only of a patch that git refuses a control run tells whether the repository is what it should be.
    assert report["uncontrolled"] == ([] if patch == OUTSIDE.format("notes.txt") else [SOUND])


def test_missing_predictions_count_as_unresolved(grade: Grade, built: BuiltHome) -> None:
    """They are named, and in the denominator."""
    report = grade({SOUND: built.little.gold})
    assert report["missing"] == [SECOND, UNSOUND]
    assert (report["problems"], report["attempts"], report["solved"]) == (3, 1, 1)
    assert report["estimates"]["pass@1"]["value"] == pytest.approx(1 / 3)


def test_predictions_of_unknown_instances_are_refused(bw: Run, built: BuiltHome, folder: Path) -> None:
    """With the place and what may have been meant; on request they are left out and listed."""
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold, "own__littel-12": "x"})
    command = ("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out")
    line = refused(bw(*command))
    for words in ("preds.jsonl, line 2", "'own__littel-12'", f"did you mean {SOUND}"):
        assert words in line
    assert not (folder / "out").exists()
    done = bw(*command, "--ignore-unknown", "--json")
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["ignored_predictions"] == ["own__littel-12"]


def test_duplicate_predictions_are_refused(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Which of them is meant cannot be known."""
    row = {"instance_id": SOUND, "model_name_or_path": "m", "model_patch": "x"}
    write_rows(folder / "preds.jsonl", [row, {**row, "model_patch": "y"}])
    line = refused(bw("grade", "repositories", "preds.jsonl", *built.rows))
    assert f"duplicate predictions for 1 instance: {SOUND} " in line


# All instances, and the kept ones


def exclusion_list(path: Path, name: str, ids: tuple[str, ...]) -> Path:
    """A user's list."""
    entries = "".join(
        f'[[entries]]\nid = "{one}"\nkind = "exclude"\nreason = "It is odd."\nevidence = ["https://example.org/1"]\n'
        f'reported = 2025-01-20\nreported_by = "somebody"\n'
        for one in ids
    )
    path.write_text(f'schema_version = 1\nname = "{name}"\nabout = "Odd ones."\n{entries}')
    return path


def test_the_score_is_given_with_and_without_excluded_instances(
    grade: Grade, bw: Run, built: BuiltHome, folder: Path
) -> None:
    """A list's entries leave the kept ones; both scores and the difference are there, with the reason."""
    exclusion_list(folder / "odd.toml", "odd", (SECOND,))
    report = grade({SOUND: built.little.gold}, "--exclude", "odd.toml")
    assert report["excluded"] == {SECOND: ["odd: It is odd."]}
    assert report["views"] == {
        "all": {"instances": 3, "faults": 0, "resolved": 1, "share": 1 / 3},
        "kept": {"instances": 2, "faults": 0, "resolved": 1, "share": 0.5},
    }
    assert report["estimates"]["pass@1"]["value"] == pytest.approx(1 / 3)
    assert report["estimates"]["pass@1[kept]"]["value"] == pytest.approx(1 / 2)
    assert report["kept_minus_all"] == pytest.approx(1 / 6)
    assert [name for name, _ in report["exclusion_lists"]] == ["odd"]
    shown = bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out", "--exclude", "odd.toml").stdout
    assert "Leaving the excluded ones out moves the share of all by +16.7 points." in shown
    assert "without excluded ones" in shown


def test_a_mend_changes_the_kept_score_alone(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """Evidence is judged a second time by the mended lists; the row keeps the verdict by the published ones."""
    path = exclusion_list(folder / "mends.toml", "mends", ())
    half = built.little.diff({"little/counting.py": COUNTING.replace(DOUBLE[0], "number + 4")})
    path.write_text(
        path.read_text()
        + f'[[entries]]\nid = "{SOUND}"\nkind = "mend"\nreason = "Too narrow."\nevidence = ["https://example.org/2"]\n'
        f'reported = 2025-01-20\nreported_by = "somebody"\nfail_to_pass = {{ add = [], remove = ["{F2P[1]}"] }}\n'
    )
    report = grade({SOUND: half}, "--ids", SOUND, "--exclude", "mends.toml")
    assert verdicts(report, folder) == {SOUND: ("failed", "tests_failed")}
    assert report["mended"] == [SOUND]
    assert report["estimates"]["pass@1"]["value"] == 0.0
    assert report["estimates"]["pass@1[kept]"]["value"] == 1.0


def test_no_list_at_all(grade: Grade, built: BuiltHome) -> None:
    """`--exclude none` leaves the shipped ones out, too."""
    report = grade({SOUND: built.little.gold}, "--ids", SOUND, "--exclude", "none")
    assert report["exclusion_lists"] == []
    assert report["kept_minus_all"] is None
    assert "kept" not in report["views"]


def test_an_unknown_list_is_refused(bw: Run, built: BuiltHome, folder: Path) -> None:
    """The known ones are named."""
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold})
    line = refused(bw("grade", "repositories", "preds.jsonl", *built.rows, "--exclude", "verified-flakey"))
    assert "did you mean verified-flaky" in line


def test_a_view_is_a_further_denominator(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """The score on the ids that somebody else reported on, under the file's name."""
    (folder / "vendor.txt").write_text(f"{SOUND}\n{SECOND}  # hard\n")
    report = grade({SOUND: built.little.gold}, "--view", "vendor.txt")
    assert report["views"]["vendor"] == {"instances": 2, "faults": 0, "resolved": 1, "share": 0.5}
    assert report["estimates"]["pass@1[vendor]"]["value"] == 0.5


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("vendor.txt", f"{SOUND}\nown__little-13\n", "did you mean"),
        ("kept.txt", f"{SOUND}\n", "cannot be named 'kept'"),
        ("all.txt", f"{SOUND}\n", "cannot be named 'all'"),
        ("empty.txt", "\n", "holds no ids"),
    ],
)
def test_a_view_that_cannot_be_made_is_refused_before_anything_runs(
    bw: Run, built: BuiltHome, folder: Path, name: str, text: str, words: str
) -> None:
    """A denominator never shrinks silently, and none hides another."""
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold})
    (folder / name).write_text(text)
    line = refused(bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out", "--view", name))
    assert words in line
    assert not (folder / "out").exists()


# The official harness's rules and files


def test_official_rules_and_what_differs(grade: Grade, bw: Run, built: BuiltHome, folder: Path) -> None:
    """A patch with a stale context line is rejected here and applied with fuzz there; `bw diff` says so."""
    stale = built.little.gold.replace(" def double(number):", " def double(numbers):")
    assert stale != built.little.gold
    ours = grade({SOUND: stale}, "--ids", SOUND, out="ours")
    assert verdicts(ours, folder) == {SOUND: ("unusable", "patch_rejected")}
    theirs = grade({SOUND: stale}, "--ids", SOUND, "--rules", "official", out="theirs")
    assert verdicts(theirs, folder) == {SOUND: RESOLVED}
    assert theirs["rules"] == "official"
    done = bw("diff", "ours", "theirs", "--json")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["settings"] == [["rules", "benchwright", "official"]]
    (change,) = told["changed"]
    assert (change["before"], change["after"]) == ("unusable (patch_rejected)", "passed (all_tests_passed)")
    for words in ("the rules differ", "A could not apply the patch", "B applied the patch applied by patch --batch"):
        assert words in change["explanation"]
    assert "1 verdicts differ" in bw("diff", "ours", "theirs").stdout


def test_official_files(grade: Grade, built: BuiltHome, folder: Path) -> None:
    """The report on the run, that on each completed instance, and the predictions, as swebench writes them."""
    patches = {SOUND: built.little.gold, UNSOUND: built.little.wrong}
    report = grade(patches, "--controls", "stored")
    run_id = report["run_id"]
    run = json.loads((folder / f"out/somebody__one.{run_id}.json").read_text())
    assert (run["resolved_ids"], run["unresolved_ids"], run["incomplete_ids"]) == ([SOUND], [UNSOUND], [SECOND])
    assert (run["total_instances"], run["submitted_instances"], run["schema_version"]) == (3, 2, 2)
    logs = folder / "out/logs/run_evaluation" / run_id / "somebody__one"
    one = json.loads((logs / SOUND / "report.json").read_text())[SOUND]
    assert one["resolved"]
    assert one["tests_status"]["FAIL_TO_PASS"] == {"success": list(F2P), "failure": []}
    other = json.loads((logs / UNSOUND / "report.json").read_text())[UNSOUND]
    assert not other["resolved"]
    assert other["tests_status"]["PASS_TO_PASS"] == {"success": list(P2P), "failure": []}
    predictions = json.loads((folder / "out/preds.json").read_text())
    assert {name: row["model_patch"] for name, row in predictions.items()} == patches


def test_predictions_in_a_folder_of_patches(bw: Run, built: BuiltHome, folder: Path) -> None:
    """The same as a file of them; the folder's name says whose they are."""
    (folder / "agent").mkdir()
    (folder / f"agent/{SOUND}.patch").write_text(built.little.gold)
    done = bw("grade", "repositories", "agent", *built.rows, "--ids", SOUND, "--json")
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert (report["model"], report["solved"]) == ("agent", 1)


def test_an_inspect_log_as_predictions(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Patches in the metadata of a score, in that of a sample, and in the answer."""
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    gold, wrong = built.little.gold, built.little.wrong
    samples = [
        EvalSample(
            id=SOUND, epoch=1, input="", target="", scores={"swe_bench": Score(value=1, metadata={"model_patch": gold})}
        ),
        EvalSample(id=SECOND, epoch=1, input="", target="", metadata={"model_patch": ""}),
        EvalSample(
            id=UNSOUND, epoch=1, input="", target="", output=ModelOutput.from_content("m", f"```diff\n{wrong}```")
        ),
    ]
    spec = EvalSpec(
        created="2025-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="mock/m", config=EvalConfig()
    )
    write_eval_log(EvalLog(eval=spec, samples=samples), str(folder / "run.eval"))
    done = bw("grade", "repositories", "run.eval", *built.rows, "--json", "--controls", "stored")
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert verdicts(report, folder) == {
        SOUND: RESOLVED,
        SECOND: ("no_answer", "empty"),
        UNSOUND: ("failed", "tests_failed"),
    }
    assert report["model"] == "mock/m"


# Going on, and judging again


def test_finished_work_is_kept(grade: Grade, built: BuiltHome) -> None:
    """The same command again executes nothing and says the same; a changed patch is graded again, alone."""
    patches = {SOUND: built.little.gold, UNSOUND: built.little.gold}
    first = grade(patches)
    again = grade(patches)
    assert (first["executed"], again["executed"], again["reused"]) == (2, 0, 2)
    same = ("run_id", "solved", "estimates", "outcomes")
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    changed = grade({**patches, SOUND: built.little.gold + "\n"}, out="other")
    assert (changed["executed"], changed["reused"]) == (1, 1)
    assert changed["run_id"] != first["run_id"]


def test_another_grading_is_not_mixed_in(grade: Grade, bw: Run, built: BuiltHome) -> None:
    """A folder belongs to one grading; what differs is said."""
    grade({SOUND: built.little.gold}, "--ids", SOUND)
    line = refused(
        bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out", "--ids", SOUND, "--timeout", "9")
    )
    assert "out holds another grading (it differs in limits, instances); choose another folder with --out" in line


def harsher(problem: RepositoryProblem, record: RepositoryRecord, **how: Any) -> Verdict:
    """A judge of the next version."""
    verdict = judging.judge(problem, record, **how)
    return dataclasses.replace(verdict, outcome=Outcome.FAILED, reason=Reason.TAMPERED, judge_version=99)


def test_judging_again(grade: Grade, bw: Run, built: BuiltHome, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same judge changes nothing; another one changes rows and numbers, and the earlier rows stay beside."""
    report = grade({SOUND: built.little.gold, SECOND: None})
    done = bw("regrade", "out", "--json")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert (told["rows"], told["judged"], told["without_record"], told["changed"]) == (3, 1, 0, [])
    monkeypatch.setattr("benchwright.app.repositories.results.judge", harsher)
    told = json.loads(bw("regrade", "out", "--json").stdout)
    (change,) = told["changed"]
    assert (change["problem_id"], change["before"], change["after"]) == (
        SOUND,
        "passed (all_tests_passed)",
        "failed (tampered)",
    )
    manifest = ResultsFolder(folder / "out").manifest()
    assert (manifest["solved"], manifest["estimates"]["pass@1"]["value"]) == (0, 0.0)
    names = {path.name for path in (folder / "out").iterdir()}
    assert {"rows.before-regrade.jsonl", f"somebody__one.{report['run_id']}.before-regrade.json"} <= names
    assert f"somebody__one.{report['run_id']}.json" not in names, "it tells of verdicts that are no more"


def test_judging_again_with_other_control_runs(grade: Grade, bw: Run, built: BuiltHome, folder: Path) -> None:
    """What control runs made since then show is taken into account; `bw diff` says that nothing else changed."""
    grade({UNSOUND: built.little.wrong}, "--ids", UNSOUND, "--controls", "stored", "--exclude", "none", out="a")
    assert bw("bench", "check", "repositories", *built.rows, "--ids", UNSOUND).returncode == 0
    grade({UNSOUND: built.little.wrong}, "--ids", UNSOUND, "--controls", "stored", "--exclude", "none", out="b")
    (change,) = json.loads(bw("diff", "a", "b", "--json").stdout)["changed"]
    assert change["explanation"] == "same record, judged with other control runs or by another judge version"
    (change,) = json.loads(bw("regrade", "a", "--json").stdout)["changed"]
    assert change["after"] == "fault (environment_broken)"


def test_judging_again_needs_the_graded_tests(grade: Grade, bw: Run, built: BuiltHome, folder: Path) -> None:
    """The grading has written its tests down; without that a file with other rows is refused, and one that is gone."""
    rows = write_rows(folder / "own.jsonl", [built.little.row()])
    grade({SOUND: built.little.gold}, "--dataset", rows)
    write_rows(rows, [built.little.row(PASS_TO_PASS=[])])
    assert "1 of 1 rows judged again, 0 verdicts changed." in bw("regrade", "out").stdout
    (folder / "out" / "tests.jsonl").unlink()
    assert f"The data is not what was graded: {SOUND} differ" in refused(bw("regrade", "out"))
    rows.unlink()
    assert str(rows) in refused(bw("regrade", "out"))


# Interruptions and others at the same time


def slow(built: BuiltHome) -> str:
    """A wrong patch whose tests take a while."""
    return built.little.diff({"little/counting.py": f"import time\n\ntime.sleep(4)\n{COUNTING}"})


@contextlib.contextmanager
def started(folder: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A command that runs meanwhile; it is ended in any case."""
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(folder / "home"), "NO_COLOR": "1"}
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def stored_records(folder: Path) -> int:
    """How many executions are stored."""
    with contextlib.closing(sqlite3.connect(folder / "home/records.sqlite")) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM repository_records").fetchone()
        except sqlite3.OperationalError:  # the file was only just made
            return 0
    return int(count)


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Look until something is so, as long as the process runs."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize(("signal_number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupted_grading_goes_on(
    bw: Run, built: BuiltHome, folder: Path, signal_number: signal.Signals, status: int
) -> None:
    """What was finished is kept, whatever ended it; the folder says that it is not finished until then."""
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold, UNSOUND: slow(built)})
    command = (
        "grade",
        "repositories",
        "preds.jsonl",
        *built.rows,
        "--out",
        "out",
        "--workers",
        1,
        "--controls",
        "stored",
    )
    (folder / "home/records.sqlite").touch()
    with started(folder, *command) as process:
        wait_for(lambda: stored_records(folder) == 1, process)
        process.send_signal(signal_number)
        _, said = process.communicate()
        assert process.returncode == status
    if signal_number == signal.SIGINT:
        assert "Interrupted; " in said
        assert "Traceback" not in said
    assert "it was interrupted" in refused(bw("regrade", "out"))
    done = bw(*command, "--json")
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert report["reused"] >= 1
    assert report["reused"] + report["executed"] == 2
    assert verdicts(report, folder) == {
        SOUND: RESOLVED,
        UNSOUND: ("failed", "tests_failed"),
        SECOND: ("no_answer", "missing"),
    }


def test_two_gradings_at_once(bw: Run, built: BuiltHome, folder: Path) -> None:
    """They may run at the same time, but not into one folder; both come to the same verdicts."""
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold, UNSOUND: slow(built)})
    command = ("grade", "repositories", "preds.jsonl", *built.rows, "--controls", "stored", "--json")
    with started(folder, *command, "--out", "a") as process:
        wait_for((folder / "a/manifest.json").exists, process)
        process.send_signal(signal.SIGSTOP)  # it must not end before these two have been refused
        collecting = refused(bw("env", "gc", "--size-cap", "0"), code=3)
        assert "Another process uses the environments" in collecting, "nothing is removed under a grading"
        assert "Another grading is writing into a now" in refused(bw(*command, "--out", "a"))
        process.send_signal(signal.SIGCONT)
        done = bw(*command, "--out", "b")
        said, errors = process.communicate()
        assert process.returncode == 0, errors
    assert done.returncode == 0, done
    one, other = json.loads(said), json.loads(done.stdout)
    assert verdicts(one, folder) == verdicts(other, folder)
    assert one["run_id"] == other["run_id"]


def test_tests_that_do_not_belong_to_the_repository(bw: Run, built: BuiltHome, folder: Path) -> None:
    """A row whose test patch does not apply to its own base commit is a fault of its own, and stops no others."""
    other = built.little.row()["test_patch"].replace("def test_triple", "def test_thrice")
    rows = [built.little.row(test_patch=other), built.little.row(instance_id=UNSOUND)]
    options = ("--dataset", write_rows(folder / "rows.jsonl", rows), "--specs", built.specs, "--json")
    write_predictions(folder / "preds.jsonl", dict.fromkeys((SOUND, UNSOUND), built.little.gold))
    done = bw("grade", "repositories", "preds.jsonl", *options)
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert verdicts(report, folder) == {SOUND: ("fault", "sandbox_lost"), UNSOUND: RESOLVED}
    assert "the data and the built repository do not belong together" in report["fault_details"][0]


# Environments that are not there


def test_what_is_not_built_is_said(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """With the command that builds it; instances without a prediction need no environment."""
    write_predictions(tmp_path / "preds.jsonl", {SOUND: built.little.gold})
    line = refused(bw("grade", "repositories", "preds.jsonl", *built.rows, "--out", "out"))
    assert f"The environments of 1 of 1 instances are not built ({SOUND})" in line
    assert f"`bw env build repositories --dataset {built.dataset} --specs {built.specs} --ids {SOUND}`" in line
    assert not (tmp_path / "out").exists()


def test_an_interpreter_that_cannot_be_had_is_a_fault(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Never a failure: the instance is out of the score, with the reason; the others are graded."""
    rows = write_rows(folder / "all.jsonl", built.little.rows())
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold, FUTURE: built.little.gold})
    options = ("--dataset", rows, "--specs", built.specs, "--ids", f"{SOUND},{FUTURE}", "--json")
    done = bw("grade", "repositories", "preds.jsonl", *options)
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert verdicts(report, folder) == {SOUND: RESOLVED, FUTURE: ("fault", "environment_unavailable")}
    assert report["estimates"]["pass@1"]["value"] == 1.0
    assert "3.99" in report["fault_details"][0]
    checked = json.loads(bw("bench", "check", "repositories", *options).stdout)
    assert [entry["problem_id"] for entry in checked["unavailable"]] == [FUTURE]
    assert checked["sound"] == [SOUND]
