"""What checking a bundle of patches finds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import GOOD, IDS, write_rows
from bundle_forging import Lines, files_of, forged, packed
from verify_pieces import Forgery, found, texts

from benchwright.app.results import regrade
from benchwright.app.verification import Check
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace


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


PATCH_FORGERIES: tuple[Forgery, ...] = (
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
    """Runs of agents keep the patches of each repetition in a file of their own; where one is gone, that is found."""

    def further(rows: Lines) -> Lines:
        return [*rows, *({**row, "sample": 1} for row in rows)]

    files = files_of(forged(patches, "rows.jsonl", further))
    without = verify(packed(patches.with_name("b.bw.zip"), files, patches))
    assert "There is no predictions-2.jsonl; nothing shows which patches the records are of." in texts(without)
    entries = json.loads(files["preds.json"]).values()
    files["predictions-2.jsonl"] = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    report = verify(packed(patches.with_name("b.bw.zip"), files, patches))
    assert (report.tally.jobs, report.tally.traced) == (4, 4)
    assert {finding.check for finding in report.findings} == {Check.SUMMARY}


def test_patches_are_needed(patches: Path) -> None:
    """Without the file of patches nothing shows what the records are of."""
    files = files_of(patches)
    del files["preds.json"]
    report = verify(packed(patches, files, patches))
    assert found(report) == {"answers"}
    assert "There is no preds.json" in texts(report)[0]


def test_records_of_another_version_that_cannot_be_traced_are_open(patches: Path, tmp_path: Path) -> None:
    """It may have read answers otherwise, which accuses nobody and shows nothing; with the rows at hand it is wrong."""
    other = forged(patches, "manifest.json", lambda manifest: {**manifest, "benchwright_version": "9.0"}, relist=True)
    assert "which answers" not in " ".join(verify(other).open)
    other = forged(other, "preds.json", swapped, relist=True)
    report = verify(other)
    assert (report.sound, report.shown) == (True, False)
    assert report.open[-1].startswith("which answers the records of 1 rows are of: benchwright 9.0 graded them")
    assert found(verify(other, dataset=write_rows(tmp_path))) == {"answers"}


def test_faults_of_patches_that_nothing_shows_are_open(patches: Path) -> None:
    """A failure that becomes a fault, its record gone, is not silently left out of the score."""

    def excused(rows: Lines) -> None:
        rows[1].update(outcome="fault", reason="sandbox_lost")

    path = forged(patches, "rows.jsonl", excused)
    report = verify(forged(path, "records.jsonl", lambda records: [r for r in records if "FAILED" not in str(r)]))
    assert report.tally.unproven == 1
    assert report.open[-1].startswith(
        "that 1 rows are faults and not failures: pass@1[patch] is 50.0 %, 33.3 % if they"
    )


def test_a_benchmark_that_is_not_known_leaves_answers_open(patches: Path) -> None:
    """Nothing is switched off by a name."""

    def unknown(manifest: dict[str, Any]) -> None:
        manifest["benchmark"] = "nothing"

    report = verify(forged(patches, "manifest.json", unknown, relist=True))
    assert not report.shown
    assert "which patches the records are of: no benchmark nothing is known here" in report.open


def test_tests_are_needed_and_no_path_out_of_a_bundle_is_read(patches: Path, tmp_path: Path) -> None:
    """Without them, whatever the manifest names as the data is not looked for."""
    secret = write_rows(tmp_path)
    path = forged(patches, "manifest.json", lambda manifest: {**manifest, "data_file": str(secret)})
    files = files_of(path)
    del files["tests.jsonl"]
    assert texts(verify(packed(path, files, path))) == ["There is no tests.jsonl; nothing shows which tests decide."]


def test_another_reading_of_logs_is_open(patches: Path) -> None:
    """A repository that is known has its form of logs; another one may see other tests pass."""

    def known(tests: Lines) -> None:
        for one in tests:
            one["repo"] = "django/django"

    report = verify(forged(patches, "tests.jsonl", known))
    assert any(text.startswith("that the tests' output of 3 instances, such as") for text in report.open)


def test_patches_have_one_variant(patches: Path) -> None:
    """There is no other."""
    path = forged(patches, "manifest.json", lambda manifest: {**manifest, "variant": "hints"}, relist=True)
    assert "A grading of patches has no variant hints." in texts(verify(path))


def renamed(tests: Lines) -> None:
    """All instances are of a repository that nobody knows."""
    for one in tests:
        one["repo"] = "other/place"


def test_a_repository_is_that_of_the_rows(patches: Path, tmp_path: Path) -> None:
    """Another name does not make it one whose logs may be read in any way, nor another row of tables."""
    rows = write_rows(tmp_path)
    assert any("is read as it should be" in text for text in verify(patches).open), "its form of logs is nobody's"
    assert verify(patches, dataset=rows).shown, "that it is a repository of somebody's own is shown"
    files = files_of(forged(patches, "tests.jsonl", renamed))
    manifest = json.loads(files["manifest.json"])
    manifest["by_repository"] = {"other/place": manifest["by_repository"]["own/little"]}
    files["manifest.json"] = json.dumps(manifest).encode()
    files["problems.jsonl"] = files["problems.jsonl"].replace(b"own/little", b"other/place")
    path = packed(patches.with_name("other.bw.zip"), files, patches)
    assert verify(path).sound and any("is read as it should be" in text for text in verify(path).open)
    report = verify(path, dataset=rows)
    assert f"own__little-1 is of own/little in {rows}, tests.jsonl says another repository." in texts(report)
    assert any("is read as it should be" in text for text in report.open)
