"""What checking a bundle finds: everything a forger can change is changed here, with digests that are right."""

import contextlib
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import GOOD, IDS, write_rows
from app_pieces import (
    PROBLEMS,
    WRONG,
    ScriptedFactory,
    first_ids,
    private_home,
    references,
    run_grading,
    write_samples,
)
from bundle_forging import Lines, files_of, forged, packed
from patch_pieces import graded_patches, nothing_is_built

from benchwright.app.bundles import write_bundle
from benchwright.app.results import regrade
from benchwright.app.verification import Check
from benchwright.app.verifying import VerifyReport, verify
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.starter.source import read_rows
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord, Job, TestOutcome
from benchwright.testing import finished_record, lost_record


def scripted_record(job: Job) -> ExecutionRecord:
    """`WRONG` fails its first test, everything else passes."""
    return finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED} if WRONG in job.submission.code else {})


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of two right answers, a wrong one, an empty one, and a problem without any; made once."""
    folder = tmp_path_factory.mktemp("once")
    home = private_home(folder / "home")
    answers = [*references(2), (PROBLEMS[2].id, WRONG), (PROBLEMS[3].id, "")]
    samples = write_samples(folder / "samples.jsonl", answers, model="m")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory(scripted_record))
        report = run_grading(home, samples, folder / "a", ids=first_ids(5))
    return write_bundle(report.folder, folder / "a.bw.zip", Workspace(home=home)).path


@pytest.fixture
def bundle(once: Path, tmp_path: Path) -> Path:
    """A copy of the bundle of functions."""
    return shutil.copy(once, tmp_path / "a.bw.zip")


def found(report: VerifyReport) -> set[str]:
    """Which checks found something."""
    return {finding.check.value for finding in report.findings}


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


def test_all_of_the_data_is_known_by_its_digest(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """A problem that is left out everywhere is missed all the same."""
    scripted.script = finished_record
    report = run_grading(home, write_samples(tmp_path / "s.jsonl", references(3)), tmp_path / "a")
    bundle = write_bundle(report.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path
    assert verify(bundle).findings == ()
    files, gone = files_of(bundle), PROBLEMS[-1].id
    for name in ("rows.jsonl", "jobs.jsonl", "problems.jsonl"):
        files[name] = b"".join(
            line for line in files[name].splitlines(keepends=True) if f'"{gone}"'.encode() not in line
        )
    for name, key in (("plans.json", None), ("manifest.json", "problem_digests")):
        document = json.loads(files[name])
        del (document[key] if key else document)[gone]
        files[name] = json.dumps(document).encode()
    texts = [finding.text for finding in verify(packed(tmp_path / "b.bw.zip", files, bundle)).findings]
    assert "The 31 problems are not those that the data's digest is over." in texts


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


FORGERIES: tuple[tuple[str, Callable[[Any], Any], str, str], ...] = (
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
    ("records.jsonl", lambda records: [{}], "content", "cannot be read (KeyError"),
    ("records.jsonl", lambda records: [[1]], "content", "cannot be read"),
    ("samples.jsonl", improved, "answers", "its record is not that of the answer in the bundle"),
    ("samples.jsonl", forgotten, "answers", "has a record, and its answer nothing to run"),
    ("jobs.jsonl", easier, "answers", "its record is not that of the answer in the bundle"),
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


def test_faults_without_a_record_are_counted(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """A fault leaves the score and has nothing to show for it: it is sound, and it is said."""
    scripted.script = lost_record
    report = run_grading(home, write_samples(tmp_path / "s.jsonl", references(1)), tmp_path / "a", ids=first_ids(1))
    checked = verify(write_bundle(report.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path)
    assert checked.sound
    assert (checked.tally.faults, checked.tally.unproven) == (2, 2)
    assert checked.tally.notes[-1] == (
        "2 of 2 rows are faults, which are left out of the score; for 2 of them nothing in the bundle shows that."
    )


def test_results_of_another_version_are_not_accused(bundle: Path) -> None:
    """Where another version read the answers, records that cannot be traced are a note."""
    other = forged(bundle, "manifest.json", lambda manifest: {**manifest, "benchwright_version": "0.0.1"})
    report = verify(forged(other, "samples.jsonl", improved))
    assert report.sound
    assert "2 rows could not be traced to their answers: benchwright 0.0.1 graded them" in report.tally.notes[-1]


@pytest.mark.parametrize("name", ["jobs.jsonl", "samples.jsonl"])
def test_what_cannot_be_traced_is_said(bundle: Path, name: str) -> None:
    """Results folders of earlier versions hold less; what follows from that is no secret."""
    files = files_of(bundle)
    del files[name]
    report = verify(packed(bundle.with_name("b.bw.zip"), files, bundle))
    assert report.sound
    assert f"There is no {name} in the bundle" in report.tally.notes[-1]


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


# Patches


@pytest.fixture(scope="module")
def patches_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a patch that resolves, one that does not, and an empty one; the data file is gone."""
    folder = tmp_path_factory.mktemp("patches")
    with pytest.MonkeyPatch.context() as patched:
        nothing_is_built(patched)
        report = graded_patches(folder)
    assert [row.verdict.outcome.value for row in report.rows] == ["passed", "failed", "no_answer"]
    path = write_bundle(report.folder, folder / "p.bw.zip", Workspace(home=folder / "home")).path
    (folder / "rows.jsonl").unlink()
    return path


@pytest.fixture
def patches(patches_once: Path, tmp_path: Path) -> Path:
    """A copy of the bundle of patches."""
    return shutil.copy(patches_once, tmp_path / "p.bw.zip")


def test_a_bundle_of_patches_is_sound(patches: Path) -> None:
    """Without the data: the tests that decide are in the bundle, and every record is traced to its patch."""
    report = verify(patches)
    assert report.findings == ()
    assert (report.tally.rows, report.tally.judged, report.tally.jobs, report.tally.traced) == (3, 3, 2, 2)
    assert b"/" not in json.loads(files_of(patches)["manifest.json"])["data_file"].encode()


def test_patches_are_regraded_without_their_data(patches: Path, tmp_path: Path) -> None:
    """The judge needs nothing but the bundle."""
    report = regrade(patches, Workspace(home=tmp_path / "elsewhere"), out=tmp_path / "again")
    assert (report.rows, report.judged, report.without_record, report.changes) == (3, 2, 0, ())


def resolved(rows: Lines) -> None:
    """What failed is resolved."""
    rows[1].update(outcome="passed", reason="all_tests_passed", tests={"planned": 1, "passed": 1})


def swapped(predictions: dict[str, Any]) -> None:
    """The patch is exchanged for a good one."""
    predictions[IDS[1]]["model_patch"] = GOOD


def harmless(tests: Lines) -> None:
    """Another test decides."""
    tests[1]["fail_to_pass"] = ["t::b"]


def reported(records: Lines) -> None:
    """The test runner reports that the test passed."""
    for record in records:
        record["reports"][0]["outcome"] = "passed"


PATCH_FORGERIES: tuple[tuple[str, Callable[[Any], Any], str, str], ...] = (
    ("rows.jsonl", resolved, "verdicts", "does not follow from its evidence; it says passed"),
    ("rows.jsonl", lambda rows: rows[:2], "problems", "The rows are of 2 problems"),
    ("records.jsonl", reported, "verdicts", "does not follow"),
    ("preds.json", swapped, "answers", "its record is not that of the patch in the bundle"),
    ("tests.jsonl", harmless, "verdicts", "does not follow"),
    ("tests.jsonl", lambda tests: tests[:2], "problems", "not those that the data's digest is over"),
    ("manifest.json", lambda manifest: {**manifest, "solved": 3}, "content", "The list says that solved is 1"),
    ("manifest.json", lambda manifest: {**manifest, "estimates": {}}, "summary", "The manifest says estimates"),
    ("manifest.json", lambda manifest: {**manifest, "instances": 3}, "content", "not of the form"),
)


@pytest.mark.parametrize(("name", "change", "check", "message"), PATCH_FORGERIES)
def test_a_forged_patch_is_found(
    patches: Path, name: str, change: Callable[[Any], Any], check: str, message: str
) -> None:
    """As with functions."""
    report = verify(forged(patches, name, change))
    assert any(finding.check is Check(check) and message in finding.text for finding in report.findings), (
        report.findings
    )


def test_further_samples_are_traced_where_their_patches_are(patches: Path) -> None:
    """Runs of agents keep the patches of each repetition in a file of their own; where one is gone, that is said."""

    def further(rows: Lines) -> Lines:
        return [*rows, *({**row, "sample": 1} for row in rows)]

    files = files_of(forged(patches, "rows.jsonl", further))
    without = verify(packed(patches.with_name("b.bw.zip"), files, patches))
    assert without.tally.notes[-1] == "3 rows are of samples whose patches are not in the bundle."
    entries = json.loads(files["preds.json"]).values()
    files["predictions-2.jsonl"] = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    report = verify(packed(patches.with_name("b.bw.zip"), files, patches))
    assert (report.tally.jobs, report.tally.traced) == (4, 4)
    assert {finding.check for finding in report.findings} == {Check.SUMMARY}


# The data


def test_tests_are_compared_with_the_data(bundle: Path, patches: Path, tmp_path: Path) -> None:
    """With the benchmark's rows at hand, other tests, stubs and problems are found; without, the bundle is believed."""
    functions = tmp_path / "functions.jsonl"
    functions.write_text("".join(json.dumps(row) + "\n" for row in read_rows()))
    assert verify(bundle, dataset=functions).sound
    assert verify(patches, dataset=write_rows(tmp_path)).sound

    def stubless(jobs: Lines) -> None:
        jobs[0]["stub"] = ""

    for path, name, change, data in (
        (bundle, "plans.json", fewer, functions),
        (bundle, "jobs.jsonl", stubless, functions),
        (patches, "tests.jsonl", harmless, tmp_path / "rows.jsonl"),
    ):
        report = verify(forged(path, name, change), dataset=data)
        assert [f.text.partition(" ")[2] for f in report.findings if f.check is Check.DATA] == [
            f"was graded by other tests than {data} has."
        ]
    other = tmp_path / "rows.jsonl"
    other.write_text(other.read_text().replace("Mend ", "Break "))
    report = verify(patches, dataset=other)
    assert {f.text.partition(" in ")[0] for f in report.findings} == set(IDS)


# Anything at all

VALUES: tuple[Any, ...] = (None, -1, 1e308, "x", [], {}, 10**30, "\ud800", True, [[]], {"a": 1}, float("nan"), "../x")


def places(document: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a document something stands, itself included."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [above, *(place for key, value in inside for place in places(value, (*above, key)))]


def disturbed(document: Any, chance: random.Random) -> Any:
    """A document in which something is gone, or something else."""
    place = chance.choice(places(document))
    if not place:
        return chance.choice(VALUES)
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    if chance.random() < 0.25:
        del inside[place[-1]]
    else:
        inside[place[-1]] = chance.choice(VALUES)
    return document


@pytest.mark.parametrize("kind", ["bundle", "patches"])
def test_nothing_in_a_bundle_is_more_than_a_finding(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Whatever stands in its files, checking it comes to its end, and judging it again does or is refused."""
    path, chance = request.getfixturevalue(kind), random.Random(20240622)
    names = ("manifest.json", "rows.jsonl", "records.jsonl", "jobs.jsonl", "tests.jsonl", "plans.json", "preds.json")
    there = [name for name in names if name in files_of(path)]

    def disturb(document: Any) -> Any:
        if isinstance(document, list) and document:
            number = chance.randrange(len(document))
            document[number] = disturbed(document[number], chance)
            return document
        return disturbed(document, chance)

    for number in range(12):
        other = forged(path, chance.choice(there), disturb)
        assert verify(other).path == other
        with contextlib.suppress(UsageError):
            regrade(other, Workspace(home=tmp_path / "none"), out=tmp_path / str(number))
