"""Whether a bundle is of all of the data that it names, and of its tests."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import IDS, write_rows
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, references, run_grading, write_samples
from bundle_forging import Lines, files_of, forged, packed
from verify_pieces import found, texts

from benchwright.app.bundles import write_bundle
from benchwright.app.verification import Check
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.published import published_data
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.benchmarks.starter.source import read_rows
from benchwright.core.digest import digest_of
from benchwright.testing import finished_record


def test_all_of_the_data_is_known_by_its_digest(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """A problem that is left out everywhere is missed all the same."""
    scripted.script = finished_record
    report = run_grading(home, write_samples(tmp_path / "s.jsonl", references(3)), tmp_path / "a")
    bundle = write_bundle(report.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path
    assert verify(bundle).findings == ()
    assert verify(bundle).shown
    files, gone = files_of(bundle), PROBLEMS[-1].id
    for name in ("rows.jsonl", "jobs.jsonl", "problems.jsonl"):
        files[name] = b"".join(
            line for line in files[name].splitlines(keepends=True) if f'"{gone}"'.encode() not in line
        )
    plans, manifest = json.loads(files["plans.json"]), json.loads(files["manifest.json"])
    del plans[gone], manifest["problem_digests"][gone]
    files["plans.json"] = json.dumps(plans).encode()
    files["manifest.json"] = json.dumps(manifest).encode()
    checked = verify(packed(tmp_path / "b.bw.zip", files, bundle))
    assert "The 31 problems are not those that the data's digest is over." in texts(checked)
    # A forger makes the digest anew: then it is none of a version that is known.
    digests = manifest["problem_digests"]
    manifest["data_digest"] = digest_of([digests[problem] for problem in sorted(digests)])
    files["manifest.json"] = json.dumps(manifest).encode()
    some = texts(verify(packed(tmp_path / "b.bw.zip", files, bundle, relist=True)))
    assert any("The data is not starter" in text and "(full): its digest is" in text for text in some)
    assert any("has 32 problems, the bundle 31, and does not say which part" in text for text in some)
    assert any(text.startswith("1 problems of the benchmark's built-in rows were left out") for text in some)
    # And then the version is another one: somebody's own, of which nothing is known.
    manifest["version"], manifest["data_pinned"] = "local-0123456789ab", False
    files["manifest.json"] = json.dumps(manifest).encode()
    checked = verify(packed(tmp_path / "b.bw.zip", files, bundle, relist=True))
    assert not checked.shown
    assert checked.open[0].startswith(
        "that these are the problems of starter local-0123456789ab: it is data of somebody"
    )
    functions = write_functions(tmp_path)
    checked = verify(packed(tmp_path / "b.bw.zip", files, bundle, relist=True), dataset=functions)
    assert f"1 problems of {functions} were left out, such as {gone}." in texts(checked)


def write_functions(folder: Path) -> Path:
    """The built-in rows as a file."""
    path = folder / "functions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in read_rows()))
    return path


def test_chosen_problems_are_those_that_are_named(bundle: Path) -> None:
    """A list of ids that leaves one out, or is of others, is not what was graded."""
    for ids in ([], [PROBLEMS[0].id, "x"]):
        changed = forged(bundle, "manifest.json", lambda manifest, ids=ids: {**manifest, "ids": ids}, relist=True)
        assert any("chosen problems, which are not the 5 here" in text for text in texts(verify(changed)))


def test_samples_in_different_numbers_are_open(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """The worse of two samples of a problem may have been left out; where all have as many, nothing says so."""
    scripted.script = finished_record
    for answers, shown in ((references(2) * 2, True), ([*references(2), *references(1)], False)):
        folder = tmp_path / str(len(answers))
        folder.mkdir()
        report = run_grading(home, write_samples(folder / "s.jsonl", answers), folder / "a", ids=first_ids(2))
        checked = verify(write_bundle(report.folder, folder / "a.bw.zip", Workspace(home=home)).path)
        assert (checked.sound, checked.shown) == (True, shown)
    assert checked.open == ("that no samples were left out: problems have from 1 to 2, or not all numbers",)


def test_rows_of_another_version_are_not_those(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are known to be of another version are no proof, even where they are the same."""
    rows = dataclasses.replace(BENCHMARK.load(), version="7.7")
    monkeypatch.setattr("benchwright.app.verifying.rows_at_hand", lambda manifest, dataset: rows)
    assert any("is 7.7, the bundle says" in text for text in texts(verify(bundle)))


def test_unknown_data_is_not_said_to_be_published(bundle: Path) -> None:
    """Nobody can pin a version that is not known."""
    path = forged(bundle, "manifest.json", lambda manifest: {**manifest, "version": "8.8"}, relist=True)
    assert "The manifest says that 8.8 is published data, and it is not known." in texts(verify(path))


PUBLISHED = (
    ("bigcodebench", "v0.1.0_hf", "full", 1140, True),
    ("bigcodebench", "v0.1.0_hf", "hard", 148, True),
    ("bigcodebench", "v0.1.4", "hard", 148, False),
    ("swebench-verified", "c104f840", "all", 500, False),
    ("swebench-verified", "c104f840", "<15 min fix", None, False),
)


@pytest.mark.parametrize(("benchmark", "version", "subset", "count", "known"), PUBLISHED)
def test_published_data_is_known_by_number_and_digest(
    benchmark: str, version: str, subset: str, count: int | None, known: bool
) -> None:
    """As far as it was ever seen."""
    data = published_data(benchmark, version, subset)
    assert data is not None
    assert (data.count, data.digest is not None, data.rows) == (count, known, None)
    assert published_data(benchmark, "local-0", subset) is None


def test_tests_are_those_of_the_rows_even_where_nothing_else_says_so(bundle: Path, tmp_path: Path) -> None:
    """Jobs whose tests are somebody's own, under the digests of genuine rows, are not derived from these."""

    def own(jobs: Lines) -> None:
        for job in jobs:
            job["plan"] = "f" * 64

    forgery = forged(bundle, "jobs.jsonl", own)
    for dataset in (None, write_functions(tmp_path)):
        assert {"data"} <= found(verify(forgery, dataset=dataset))


def fewer(plans: dict[str, Any]) -> None:
    """A problem has one test less to pass."""
    plans[PROBLEMS[2].id]["tests"] = plans[PROBLEMS[2].id]["tests"][1:]


def harmless(tests: Lines) -> None:
    """Another test decides."""
    tests[1]["fail_to_pass"] = ["t::b"]


def test_tests_are_compared_with_the_data(bundle: Path, patches: Path, tmp_path: Path) -> None:
    """With the benchmark's rows at hand, other tests, stubs and problems are found; without, the bundle is believed."""
    functions = write_functions(tmp_path)
    assert verify(bundle, dataset=functions).shown
    assert not verify(patches).shown
    assert verify(patches, dataset=write_rows(tmp_path)).shown

    def stubless(jobs: Lines) -> None:
        jobs[0]["stub"] = ""

    for path, name, change, data in (
        (bundle, "plans.json", fewer, functions),
        (bundle, "jobs.jsonl", stubless, functions),
        (patches, "tests.jsonl", harmless, tmp_path / "rows.jsonl"),
    ):
        report = verify(forged(path, name, change), dataset=data)
        (text,) = [f.text for f in report.findings if f.check is Check.DATA and "plans.json" not in f.text]
        assert text.endswith(f" was graded by other tests than {data} has.")
    other = tmp_path / "rows.jsonl"
    other.write_text(other.read_text().replace("Mend ", "Break "))
    report = verify(patches, dataset=other)
    assert {f.text.partition(" in ")[0] for f in report.findings} == set(IDS)
