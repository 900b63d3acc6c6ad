"""What checking a bundle finds: everything a forger can change is changed here, with digests that are right."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, references, run_grading, write_samples
from bundle_forging import Lines, files_of, forged, packed
from verify_pieces import Forgery, found, texts

from benchwright.app.bundles import write_bundle
from benchwright.app.results import regrade
from benchwright.app.verification import Check
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.testing import finished_record, lost_record


def test_an_honest_bundle_is_sound(bundle: Path) -> None:
    """Every row is judged again, every record traced to its answer, and nothing is wrong."""
    report = verify(bundle)
    assert report.findings == ()
    assert (report.sound, report.signed, report.run["model"]) == (True, "not signed", "m")
    tally = report.tally
    assert (tally.rows, tally.judged, tally.jobs, tally.traced, tally.faults) == (10, 10, 6, 6, 0)
    assert tally.notes == ["5 chosen problems were graded, not the whole of the data."]
    plain = report.to_plain()
    assert json.loads(json.dumps(plain)) == plain


def passed(rows: Lines) -> None:
    """Every failure becomes a pass."""
    for row in rows:
        if row["outcome"] == "failed":
            row.update(
                outcome="passed", reason="all_tests_passed", tests={**row["tests"], "passed": row["tests"]["planned"]}
            )


def invented(rows: Lines) -> None:
    """An answer that was never run passes."""
    row = next(row for row in rows if row["outcome"] == "no_answer")
    row.update(outcome="passed", reason="all_tests_passed")


def faster(rows: Lines) -> None:
    """An answer took less time."""
    rows[0]["wall_seconds"] = 0.001


def exchanged(rows: Lines) -> None:
    """The wrong answer gets the record of a right one."""
    good = {row["score"]: row for row in rows if row["problem_id"] == PROBLEMS[0].id}
    for row in rows:
        if row["outcome"] == "failed":
            row.update(job=good[row["score"]]["job"], record=good[row["score"]]["record"], outcome="passed")


def left_out(rows: Lines) -> Lines:
    """The rows of the wrong answer are dropped."""
    return [row for row in rows if row["outcome"] != "failed"]


def twice(rows: Lines) -> Lines:
    """A good row counts twice."""
    return [rows[0], *rows]


def one_score(rows: Lines) -> Lines:
    """A row under one score is dropped."""
    return rows[1:]


def excused(rows: Lines) -> None:
    """The wrong answer becomes our side's fault, without a record."""
    for row in rows:
        if row["outcome"] == "failed":
            row.update(outcome="fault", reason="sandbox_lost")


def mended(records: Lines) -> None:
    """Failing tests pass in the record."""
    for record in records:
        for test in record["tests"]:
            test.update(outcome="passed", exception="", message="")


def renamed(records: Lines) -> None:
    """A record says that it is of another job."""
    records[0]["job_digest"] = "f" * 64


def added(records: Lines) -> Lines:
    """There is a record nobody asked for."""
    return [*records, {**records[0], "job_digest": "f" * 64}]


def doubled(records: Lines) -> Lines:
    """There are two records of a job."""
    return [records[0], *records]


def improved(samples: Lines) -> None:
    """The wrong answer is exchanged for a better one after the fact."""
    for sample in samples:
        if sample["task_id"] == PROBLEMS[2].id:
            sample["solution"] = PROBLEMS[2].reference


def forgotten(samples: Lines) -> Lines:
    """An answer is not there any more."""
    return samples[1:]


def easier(jobs: Lines) -> None:
    """The limits were others."""
    for job in jobs:
        job["limits"]["wall_seconds"] = 9.0


def better(manifest: dict[str, Any]) -> None:
    """The estimate is raised."""
    manifest["estimates"]["pass@1"]["value"] = 1.0


def another(manifest: dict[str, Any]) -> None:
    """The model is another one's."""
    manifest["model"] = "famous"


def fewer(plans: dict[str, Any]) -> None:
    """A problem has one test less to pass."""
    plans[PROBLEMS[2].id]["tests"] = plans[PROBLEMS[2].id]["tests"][1:]


FORGERIES: tuple[Forgery, ...] = (
    ("rows.jsonl", passed, "verdicts", "the verdict does not follow from its evidence; it says passed"),
    ("rows.jsonl", invented, "verdicts", "is passed although nothing was run"),
    ("rows.jsonl", faster, "verdicts", "wall_seconds is not what the evidence says"),
    ("rows.jsonl", exchanged, "answers", "its record is not that of the answer in the bundle"),
    ("rows.jsonl", left_out, "answers", f"The answer {PROBLEMS[2].id}#0 has no row"),
    ("rows.jsonl", left_out, "problems", "The rows are of 4 problems, the manifest names 5"),
    ("rows.jsonl", twice, "problems", "Two rows are of the same problem, sample and score"),
    ("rows.jsonl", one_score, "problems", "Some samples lack a row under one of the scores"),
    ("rows.jsonl", excused, "verdicts", "it says fault"),
    ("rows.jsonl", lambda rows: [{}], "content", "line 1 is not a result row"),
    ("records.jsonl", mended, "verdicts", "the verdict does not follow"),
    ("records.jsonl", renamed, "records", "has no record; nothing shows that it is so"),
    ("records.jsonl", added, "records", "The record of job ffffffffffff belongs to no row"),
    ("records.jsonl", doubled, "records", "There are two records of job"),
    ("records.jsonl", lambda records: [{}], "content", "records.jsonl, line 1 is no record (KeyError"),
    ("records.jsonl", lambda records: [[1]], "content", "line 1 is no record (TypeError"),
    ("samples.jsonl", improved, "answers", "its record is not that of the answer in the bundle"),
    ("samples.jsonl", forgotten, "answers", "has a record, and its answer nothing to run"),
    ("jobs.jsonl", easier, "answers", "its record is not that of the answer in the bundle"),
    ("jobs.jsonl", lambda jobs: [{}], "content", "line 1 is not what a grading writes there"),
    ("manifest.json", better, "summary", "The manifest says estimates"),
    ("manifest.json", another, "content", "The list says that model is m, the manifest famous"),
    ("manifest.json", lambda manifest: {"schema": 2, "status": "complete"}, "content", "not of the form"),
    ("manifest.json", lambda manifest: {**manifest, "scores": ["luck"]}, "content", "not of the form"),
    ("plans.json", fewer, "verdicts", "the verdict does not follow"),
)


@pytest.mark.parametrize(("name", "change", "check", "message"), FORGERIES)
def test_a_forgery_is_found(bundle: Path, name: str, change: Callable[[Any], Any], check: str, message: str) -> None:
    """Digests do not save what does not fit together."""
    report = verify(forged(bundle, name, change))
    assert any(finding.check is Check(check) and message in finding.text for finding in report.findings), (
        report.findings
    )
    assert not any("/tmp" in finding.text for finding in report.findings)


def test_faults_without_a_record_are_open(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """A fault leaves the score and has nothing to show for it: it is counted, and the score is bracketed."""
    scripted.script = lambda job: lost_record(job) if job.plan.tests[0].id else finished_record(job)
    report = run_grading(home, write_samples(tmp_path / "s.jsonl", references(1)), tmp_path / "a", ids=first_ids(2))
    checked = verify(write_bundle(report.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path)
    assert (checked.sound, checked.shown) == (True, False)
    assert (checked.tally.faults, checked.tally.unproven) == (2, 2)
    assert checked.tally.notes[-1] == "2 of 4 rows are faults, which are left out of the score."
    (text,) = checked.open
    assert text.startswith("that 2 rows are faults and not failures: pass@1[calibrated] is 0.0 %, 0.0 % if they had")
    assert text.endswith("failed, 50.0 % if they had passed")
    plain = checked.to_plain()
    assert (plain["shown"], plain["open"], plain["bounds"]["best"]) == (False, list(checked.open), 0.5)


def test_a_failure_is_no_fault_because_the_provider_failed(bundle: Path) -> None:
    """An ending that says so in the samples, with row and record made to fit, is shown by nothing."""
    gone: set[str] = set()

    def unreplied(samples: Lines) -> None:
        for sample in samples:
            if sample["task_id"] == PROBLEMS[2].id:
                sample["ending"] = "failed"

    def excused_by_it(rows: Lines) -> None:
        for row in rows:
            if row["problem_id"] == PROBLEMS[2].id:
                gone.add(row["job"])
                row.update(outcome="fault", reason="provider_error", job=None, record=None, wall_seconds=0.0)
                row.update(cpu_seconds=0.0, memory_peak_bytes=0, detail="", tests={**row["tests"], "passed": 0})

    path = forged(forged(bundle, "samples.jsonl", unreplied), "rows.jsonl", excused_by_it)
    report = verify(forged(path, "records.jsonl", lambda lines: [r for r in lines if r["job_digest"] not in gone]))
    assert report.tally.unproven == 2
    assert report.open[-1].endswith(
        "pass@1[calibrated] is 50.0 %, 40.0 % if they had failed, 60.0 % if they had passed"
    )


def test_another_version_switches_nothing_off(bundle: Path) -> None:
    """What jobs are made of is known where the rows are: records of other answers are wrong, whoever graded them."""
    other = forged(bundle, "manifest.json", lambda manifest: {**manifest, "benchwright_version": "0.0.1"}, relist=True)
    assert verify(other).shown
    report = verify(forged(other, "samples.jsonl", improved))
    assert found(report) == {"answers"}


@pytest.mark.parametrize("change", [None, lambda lines: [{}], lambda lines: lines[1:]])
@pytest.mark.parametrize("name", ["jobs.jsonl", "samples.jsonl"])
def test_answers_are_needed(bundle: Path, name: str, change: Callable[[Lines], Lines] | None) -> None:
    """A bundle without what traces its records to its answers, for all problems, is not sound."""
    if change is None:
        files = files_of(bundle)
        del files[name]
        path = packed(bundle.with_name("b.bw.zip"), files, bundle)
    else:
        path = forged(bundle, name, change)
    report = verify(path)
    assert not report.sound
    assert found(report) & {"answers", "content"}


def test_the_versions_in_the_list_are_those_of_the_manifest(bundle: Path) -> None:
    """The list says nothing that the manifest does not."""
    report = verify(forged(bundle, "manifest.json", lambda manifest: {**manifest, "judge_version": 7}))
    assert texts(report) == ["The versions in the list are not those in the manifest."]


@pytest.mark.parametrize(
    "name", ["MANIFEST.JSON", "manifest.json ", "con", "extra.html", "calibrated_pass_at_k.json", "logs/x.html",
             "logs/run_evaluation/r/m/i/report.json", "m.0123.json", "predictions-0.jsonl"]
)  # fmt: skip
def test_other_files_are_found(bundle: Path, name: str) -> None:
    """Files that benchwright does not write, and official reports, which nobody would make again and compare."""
    report = verify(packed(bundle, {**files_of(bundle), name: b"{}\n"}, bundle))
    assert texts(report) == [f"{name} is no file of a result bundle; benchwright writes none."]


def test_transcripts_may_be_there(bundle: Path) -> None:
    """They are what --with-logs adds, and nothing is judged by them."""
    more = {"logs/a.eval": b"PK", "logs/a/b.json": b"[NaN]", "replies.jsonl": b"{}\n", "journal.jsonl": b"{}\n"}
    assert verify(packed(bundle, {**files_of(bundle), **more}, bundle)).shown


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("manifest.json", b"{", b'{"model": "gpt-9", ', "the key 'model' is there twice"),
        ("rows.jsonl", b'"sample": 0', b'"sample": 1, "sample": 0', "line 1: the key 'sample' is there twice"),
        ("records.jsonl", b"{", b'{"x":NaN,', "line 1: NaN is no number"),
        ("plans.json", b"{", b'{"x": 1e999,', "1e999 is no number that can be had"),
        ("plans.json", b"{", b'{"x": [' + b"{}," * 600_000 + b"1],", "brackets, at most 500,000 are read"),
    ],
)
def test_files_say_one_thing_to_every_reader(bundle: Path, name: str, old: bytes, new: bytes, message: str) -> None:
    """Keys that are there twice, numbers that are none, and documents made to fill memory are found before anything."""
    files = files_of(bundle)
    files[name] = files[name].replace(old, new, 1)
    (text,) = texts(verify(packed(bundle, files, bundle)))
    assert text.startswith(f"{name} cannot be used: ")
    assert message in text


def test_a_changed_file_ends_the_check(bundle: Path) -> None:
    """Content that is not what is listed is not looked at any further."""
    data = bytearray(bundle.read_bytes())
    data[data.index(b"PK\x03\x04", 10) + 60] ^= 0xFF
    bundle.write_bytes(data)
    report = verify(bundle)
    assert found(report) == {"archive"}
    assert report.tally.rows == 0


def test_signatures_are_part_of_the_check(bundle: Path, tmp_path: Path) -> None:
    """Whose it is, is said; that it is expected of somebody is checked, and that there is none is found."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    for name in ("own", "other"):
        key = tmp_path / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    assert [finding.text for finding in verify(bundle, signer=tmp_path / "own.pub").findings] == [
        f"The bundle is not signed; expected a signature of {tmp_path / 'own.pub'}."
    ]
    folder = regrade(bundle, Workspace(home=tmp_path / "none"), out=tmp_path / "again").folder
    report = write_bundle(folder, bundle, Workspace(home=tmp_path / "none"), sign_with=tmp_path / "own", force=True)
    assert verify(bundle).signed == f"signed by the key {report.key}, not checked against anybody"
    assert verify(bundle, signer=tmp_path / "own.pub").signed == f"signed by own.pub ({report.key})"
    wrong = verify(bundle, signer=tmp_path / "other.pub")
    assert found(wrong) == {"signature"}
    assert report.key in wrong.findings[0].text


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    """That is the user's mistake and not a bundle's."""
    with pytest.raises(UsageError, match="There is no file"):
        verify(tmp_path / "a.bw.zip")
