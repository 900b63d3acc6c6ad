"""Result bundles: made of folders and of the store, taken in, judged and executed again."""

import dataclasses
import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import IDS
from app_pieces import PROBLEMS, WRONG, ScriptedFactory, first_ids, references, run_grading, silent, write_samples
from bundle_forging import files_of, forged, packed
from patch_pieces import graded_patches, nothing_is_built, patch_options

from benchwright.app.bundled_answers import with_answers, with_patches
from benchwright.app.bundles import BundleReport, import_bundle, write_bundle
from benchwright.app.controls import CheckOptions, check_benchmark
from benchwright.app.grading import GradeOptions, GradeReport, grade
from benchwright.app.recording import record
from benchwright.app.repositories.grading import grade_patches
from benchwright.app.repositories.selection import Selection
from benchwright.app.results import diff, regrade
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.execution import TestOutcome
from benchwright.core.runs import Score
from benchwright.store import bundle_reading
from benchwright.store.bundle_members import blocks_of
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore
from benchwright.testing import finished_record


@pytest.fixture
def graded(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> GradeReport:
    """A grading of two right answers, a wrong one, an empty one, and a problem without any."""

    def script(job: Any) -> Any:
        wrong = {job.plan.tests[0].id: TestOutcome.FAILED} if job.submission.code == WRONG else {}
        return finished_record(job, wrong)

    scripted.script = script
    answers = [*references(2), (PROBLEMS[2].id, WRONG), (PROBLEMS[3].id, "")]
    samples = write_samples(tmp_path / "samples.jsonl", answers, model="m")
    return run_grading(home, samples, tmp_path / "a", ids=first_ids(5))


@pytest.fixture
def bundle(graded: GradeReport, home: Path, tmp_path: Path) -> Path:
    """Its bundle."""
    return written(graded.folder, tmp_path / "a.bw.zip", home).path


def written(folder: Path, path: Path, home: Path, **options: Any) -> BundleReport:
    """A bundle of a results folder."""
    return write_bundle(folder, path, Workspace(home=home), **options)


def elsewhere(tmp_path: Path) -> Workspace:
    """A home that has never executed anything."""
    return Workspace(home=tmp_path / "elsewhere")


def test_a_bundle_holds_the_result_and_its_evidence(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """Every record that a row names is in it, and everything that grading and judging again need."""
    report = written(graded.folder, tmp_path / "a.bw.zip", home)
    files = files_of(report.path)
    assert {
        "manifest.json",
        "rows.jsonl",
        "plans.json",
        "jobs.jsonl",
        "samples.jsonl",
        "problems.jsonl",
    } <= files.keys()
    assert (graded.folder / "calibrated_eval_results.json").exists()
    assert not any("eval_results" in name or "pass_at_k" in name for name in files)
    jobs = {json.loads(line)["job_digest"] for line in files["records.jsonl"].splitlines()}
    assert jobs == {row.job_digest for row in graded.rows if row.job_digest}
    assert (report.rows, report.records, report.without_record, report.notes) == (10, 6, 0, ())
    assert json.loads(json.dumps(report.to_plain()))["digest"] == report.digest


def test_the_same_result_gives_the_same_bytes(graded: GradeReport, bundle: Path, home: Path, tmp_path: Path) -> None:
    """From the folder, and from a copy of it elsewhere; the evidence is that of the home."""
    copy = shutil.copytree(graded.folder, tmp_path / "copy")
    again = written(copy, tmp_path / "b.bw.zip", home)
    assert again.path.read_bytes() == bundle.read_bytes()


def test_nothing_else_of_the_folder_goes_in(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """Links, other people's files and transcripts stay; transcripts come when they are asked for."""
    (graded.folder / "notes.txt").write_text("mine")
    (graded.folder / "predictions-2.jsonl").symlink_to("/etc/passwd")
    (graded.folder / "replies.jsonl").write_text("{}\n")
    plain = files_of(written(graded.folder, tmp_path / "a.bw.zip", home).path)
    full = files_of(written(graded.folder, tmp_path / "b.bw.zip", home, with_logs=True).path)
    assert not {"notes.txt", "predictions-2.jsonl", "replies.jsonl"} & plain.keys()
    assert full.keys() - plain.keys() == {"replies.jsonl"}


def test_paths_of_the_machine_stay_there(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """Where a data file was is nobody's business; its name stays."""
    folder = ResultsFolder(graded.folder)
    folder.write_manifest({**folder.manifest(), "data_source": "/home/somebody/tasks.jsonl", "data_file": None})
    report = written(graded.folder, tmp_path / "a.bw.zip", home)
    assert json.loads(files_of(report.path)["manifest.json"])["data_source"] == "tasks.jsonl"
    assert not any(b"somebody" in data for data in files_of(report.path).values())


def test_what_is_missing_is_said(graded: GradeReport, tmp_path: Path) -> None:
    """Records that are not here, and answers that a folder does not keep, are no secret."""
    (graded.folder / "samples.jsonl").unlink()
    report = write_bundle(graded.folder, tmp_path / "a.bw.zip", elsewhere(tmp_path))
    assert (report.records, report.without_record) == (0, 6)
    assert [note[:40] for note in report.notes] == [
        "The results folder does not hold the ans",
        "6 jobs have no record here, or another t",
    ]
    assert {finding.check for finding in verify(report.path).findings} == {"records", "answers"}


def test_records_of_another_execution_are_not_taken(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """A home that executed the same jobs another time has records that nothing was judged by."""
    other = elsewhere(tmp_path)
    jobs = sorted({row.job_digest for row in graded.rows if row.job_digest})
    with Workspace(home=home).records() as known, other.records() as store:
        records = [known.get(job) for job in jobs]
        for place, one in enumerate(records):
            assert one is not None
            store.put(dataclasses.replace(one, wall_seconds=one.wall_seconds + 1) if place else one)
    report = write_bundle(graded.folder, tmp_path / "a.bw.zip", other)
    assert (report.records, report.without_record) == (1, 5)
    assert {json.loads(line)["job_digest"] for line in files_of(report.path)["records.jsonl"].splitlines()} == {jobs[0]}
    assert report.notes[0].startswith("5 jobs have no record here, or another")


def test_a_bundle_needs_its_name_and_a_finished_grading(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """Other names and folders are refused before anything is written."""
    with pytest.raises(UsageError, match=r"ends in \.bw\.zip; got a\.zip"):
        written(graded.folder, tmp_path / "a.zip", home)
    with pytest.raises(UsageError, match=r"holds no manifest\.json"):
        written(tmp_path, tmp_path / "b.bw.zip", home)
    assert not list(tmp_path.glob("*.zip"))


def test_a_bundle_is_regraded_by_its_own_records(bundle: Path, tmp_path: Path) -> None:
    """In a home that has executed nothing every record is judged again, into a new folder."""
    report = regrade(bundle, elsewhere(tmp_path), out=tmp_path / "again")
    assert (report.rows, report.judged, report.without_record, report.changes) == (10, 6, 0, ())
    assert list(ResultsFolder(tmp_path / "again").rows())
    again = regrade(tmp_path / "again", elsewhere(tmp_path))
    assert (again.judged, again.without_record) == (6, 0)
    with pytest.raises(UsageError, match="was unpacked from a result bundle and is not recorded"):
        record(ResultsFolder(tmp_path / "again"), tmp_path / "store")
    assert not (tmp_path / "elsewhere" / "records.sqlite").exists()


def test_what_readers_may_read_otherwise_is_not_used(bundle: Path, tmp_path: Path) -> None:
    """A key that is there twice and a file of another name are refused wherever a bundle is read, and leave nothing."""
    files = files_of(bundle)
    twice = {**files, "manifest.json": files["manifest.json"].replace(b"{", b'{"model": "x",', 1)}
    for changed, message in ((twice, "the key 'model' is there twice"), ({**files, "a.html": b""}, "is no file of a")):
        path = packed(tmp_path / "b.bw.zip", changed, bundle)
        for use in (
            lambda path=path: regrade(path, elsewhere(tmp_path), out=tmp_path / "again"),
            lambda path=path: diff(str(path), str(bundle), elsewhere(tmp_path)),
        ):
            with pytest.raises(UsageError, match=message):
                use()
        assert not (tmp_path / "again").exists()


def test_a_forged_verdict_does_not_survive_regrading(bundle: Path, tmp_path: Path) -> None:
    """Judging says what the record says."""

    def forge(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["outcome"] == "failed":
                row.update(outcome="passed", reason="all_tests_passed")

    report = regrade(forged(bundle, "rows.jsonl", forge), elsewhere(tmp_path), out=tmp_path / "again")
    assert {(change.problem_id, change.before) for change in report.changes} == {
        (PROBLEMS[2].id, "passed (all_tests_passed)")
    }


def test_a_bundle_is_never_changed(bundle: Path, graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """Regrading needs a new folder for a bundle, and takes none for a folder."""
    with pytest.raises(UsageError, match="name a folder for the result with --out"):
        regrade(bundle, Workspace(home=home))
    with pytest.raises(UsageError, match="holds something already"):
        regrade(bundle, Workspace(home=home), out=graded.folder)
    with pytest.raises(UsageError, match="regraded in place"):
        regrade(graded.folder, Workspace(home=home), out=tmp_path / "new")


def regraded(bundle: Path, home: Path, given: frozenset[str] = frozenset(), **options: Any) -> GradeReport:
    """The answers of a bundle, executed again."""
    values: dict[str, Any] = {"benchmark": "starter", "samples": bundle, "workers": 1, **options}
    with with_answers(GradeOptions(**values), given) as filled:
        return grade(filled, Workspace(home=home), silent)


def test_answers_of_a_bundle_are_executed_again(
    bundle: Path, graded: GradeReport, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """In another home every answer runs once more, asked and scored as it was; nothing differs."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "environments").symlink_to(home / "environments")
    scripted.ran.clear()
    report = regraded(bundle, other, out=tmp_path / "b")
    assert len(scripted.ran) == 6
    assert {name: report.manifest[name] for name in ("model", "ids", "scores", "variant")} == {
        name: graded.manifest[name] for name in ("model", "ids", "scores", "variant")
    }
    assert [row.verdict for row in report.rows] == [row.verdict for row in graded.rows]
    found = diff(bundle, report.folder, Workspace(home=other))
    assert (found.compared, found.changes) == (10, ())


def test_differences_to_a_bundle_are_explained(
    bundle: Path, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """Where the same job comes to something else here, that is what is said; records of both sides are looked at."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "environments").symlink_to(home / "environments")
    scripted.script = lambda job: dataclasses.replace(finished_record(job), wall_seconds=3.0)
    found = diff(bundle, regraded(bundle, other, out=tmp_path / "b").folder, Workspace(home=other))
    assert {change.problem_id for change in found.changes} == {PROBLEMS[2].id}
    assert all("same job, executed twice with different results" in change.explanation for change in found.changes)
    check_benchmark(
        CheckOptions(benchmark="starter", workers=1, ids=first_ids(5)), Workspace(home=other), lambda *_: None
    )
    found = diff(bundle, regraded(bundle, other, out=tmp_path / "c").folder, Workspace(home=other))
    assert all("the answer is the same, the limits differ" in change.explanation for change in found.changes)


def test_what_the_user_says_holds(bundle: Path, home: Path, tmp_path: Path) -> None:
    """Scores, problems and names that were given are not taken from the bundle."""
    given = {"scores": (Score.CALIBRATED,), "ids": first_ids(1), "model": "mine"}
    report = regraded(bundle, home, frozenset(given), out=tmp_path / "b", **given)
    assert [(row.problem_id, row.score) for row in report.rows] == [(PROBLEMS[0].id, Score.CALIBRATED)]
    assert report.manifest["model"] == "mine"


def test_a_bundle_of_another_benchmark_is_refused(bundle: Path, home: Path) -> None:
    """The benchmark is named, data of one's own is asked for, and answers have to be there."""
    with pytest.raises(UsageError, match="answers starter, not bigcodebench"):
        regraded(bundle, home, benchmark="bigcodebench")
    own = forged(bundle, "manifest.json", lambda manifest: {**manifest, "version": "local-0123"})
    with pytest.raises(UsageError, match=r"data of its own \(local-0123\).*--dataset"):
        regraded(own, home)


def test_a_bundle_is_taken_into_a_store(bundle: Path, graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """The run is there with its verdicts and evidence, flagged, and goes out again as it came; the home has nothing."""
    with ResultStore(tmp_path / "store") as store:
        run = import_bundle(bundle, store)
        assert (run.model, run.flags, run.run_id) == ("m", ("bundle",), graded.run_id)
        assert [row.verdict for row in store.rows(run.entry)] == [row.verdict for row in graded.rows]
        assert import_bundle(bundle, store).entry == run.entry
        report = write_bundle(run, tmp_path / "out.bw.zip", elsewhere(tmp_path), store=store)
    assert report.path.read_bytes() == bundle.read_bytes()
    assert not (tmp_path / "elsewhere").exists()


def test_a_bundle_is_unpacked_once(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was checked is what is taken in, or regraded: no file is read out of the archive a second time."""
    opened: Counter[str] = Counter()

    def counted(path: Path, info: zipfile.ZipInfo, most: int) -> Iterator[bytes]:
        opened[info.filename] += 1
        return blocks_of(path, info, most)

    monkeypatch.setattr(bundle_reading, "blocks_of", counted)
    with ResultStore(tmp_path / "store") as store:
        run = import_bundle(bundle, store)
    assert {*run.files} - {"rows.parquet"} == {*opened} - {"bundle.json", "rows.jsonl"}
    assert set(opened.values()) == {1}
    regrade(bundle, elsewhere(tmp_path), out=tmp_path / "again")
    assert set(opened.values()) == {2}


def test_an_import_takes_nobodys_place(bundle: Path, graded: GradeReport, tmp_path: Path) -> None:
    """The same verdicts are the run that is there; others become a run of their own, not a newer form of it."""
    own = record(ResultsFolder(graded.folder), tmp_path / "store")
    with ResultStore(tmp_path / "store") as store:
        assert import_bundle(bundle, store).entry == own.entry
    folder = ResultsFolder(regrade(bundle, elsewhere(tmp_path), out=tmp_path / "again").folder)
    folder.write_manifest({**folder.manifest(), "model": "renamed"})
    other = written(folder.path, tmp_path / "b.bw.zip", tmp_path / "elsewhere")
    with ResultStore(tmp_path / "store") as store:
        run = import_bundle(other.path, store)
        assert run.supersedes is None
        assert run.run_id == f"import-{other.digest[:32]}-{graded.run_id}"
        assert {known.entry for known in store.runs()} == {own.entry, run.entry}


def test_a_bundle_of_a_later_grading_is_that_run(bundle: Path, graded: GradeReport, tmp_path: Path) -> None:
    """All gradings of a run that a store has are looked at, not the first alone."""
    folder = ResultsFolder(graded.folder)
    record(folder, tmp_path / "store")
    with ResultStore(tmp_path / "store") as store:
        (first,) = store.runs()
        rows = list(store.rows(first.entry))
        changed = [dataclasses.replace(rows[0], notes=("another",)), *rows[1:]]
        store.add(dataclasses.replace(first, entry="", files={}, model="renamed"), changed, {})
        later = record(folder, tmp_path / "store")
        assert later.supersedes is not None
        assert import_bundle(bundle, store).run_id == later.run_id


def test_a_forged_bundle_is_not_taken_in(bundle: Path, tmp_path: Path) -> None:
    """What `bw verify` objects to does not get into a store."""
    wrong = forged(bundle, "rows.jsonl", lambda rows: [{**rows[0], "passed": 0}, *rows[2:]])
    with ResultStore(tmp_path / "store") as store:
        with pytest.raises(UsageError, match=r"is not taken in: .*`bw verify"):
            import_bundle(wrong, store)
        assert store.runs() == []


def test_a_damaged_bundle_is_not_used(bundle: Path, tmp_path: Path) -> None:
    """Regrading and comparing refuse what verifying would object to in the archive."""
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr("more.txt", "hello")
    for use in (
        lambda: regrade(bundle, elsewhere(tmp_path), out=tmp_path / "again"),
        lambda: diff(bundle, bundle, elsewhere(tmp_path)),
    ):
        with pytest.raises(UsageError, match=r"more\.txt is in the archive and not in the list; `bw verify"):
            use()


def test_patches_of_a_bundle_are_graded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the data file, by the rules they had; another benchmark, and a bundle of functions, are refused."""
    nothing_is_built(monkeypatch)
    first = graded_patches(tmp_path)
    bundle = write_bundle(first.folder, tmp_path / "p.bw.zip", Workspace(home=tmp_path / "home")).path
    options = patch_options(tmp_path, predictions=bundle, out=tmp_path / "again")
    with with_patches(options, {"data"}) as filled:
        assert filled.selection.limits == options.selection.limits
        report = grade_patches(filled, elsewhere(tmp_path), lambda progress: None)
    assert (report.executed, report.manifest["model"]) == (2, "m")
    assert [row.verdict for row in report.rows] == [row.verdict for row in first.rows]
    assert diff(bundle, report.folder, elsewhere(tmp_path)).changes == ()
    for benchmark, message in (
        ("swebench-lite", "answers repositories, not swebench-lite"),
        ("repositories", "--dataset"),
    ):
        other = dataclasses.replace(options, selection=Selection(benchmark=benchmark))
        with pytest.raises(UsageError, match=message), with_patches(other, ()):
            pass


def test_a_bundle_names_no_file_of_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subset that is a path, which somebody put into a manifest, is not read."""
    nothing_is_built(monkeypatch)
    first = graded_patches(tmp_path)
    bundle = write_bundle(first.folder, tmp_path / "p.bw.zip", Workspace(home=tmp_path / "home")).path
    for changes, ids in (({"subset": "/etc/passwd"}, None), ({"subset": "/etc/passwd", "ids": [IDS[0]]}, (IDS[0],))):
        other = forged(bundle, "manifest.json", lambda manifest, changes=changes: {**manifest, **changes})
        options = patch_options(tmp_path, predictions=other)
        if ids is None:
            with pytest.raises(UsageError, match="give it with --subset"), with_patches(options, {"data"}):
                pass
            continue
        with with_patches(options, {"data"}) as filled:
            assert (filled.selection.subset, filled.selection.ids) == (None, ids)
