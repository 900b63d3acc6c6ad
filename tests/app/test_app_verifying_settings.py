"""Variant, environment, limits, control runs and cost in a bundle are what they can be."""

import json
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, private_home, references, run_grading, write_samples
from bundle_forging import Lines, files_of, forged, packed
from verify_pieces import found, scripted_record, texts

from benchwright.app.bundles import write_bundle
from benchwright.app.controls import CheckOptions, check_benchmark
from benchwright.app.verifying import VerifyReport, verify
from benchwright.app.workspace import Workspace
from benchwright.testing import finished_record


def changed(bundle: Path, **fields: Any) -> VerifyReport:
    """What is found where the manifest says something else, and the list says so too."""
    return verify(forged(bundle, "manifest.json", lambda manifest: {**manifest, **fields}, relist=True))


@pytest.mark.parametrize("cost", [-1, -1e-9, True, "1", [1]])
def test_a_cost_is_an_amount(bundle: Path, cost: Any) -> None:
    """Nobody is paid for answering."""
    assert found(changed(bundle, cost=cost)) == {"content"}
    assert changed(bundle, cost=0.25).shown


def test_a_variant_is_one_of_the_benchmark(bundle: Path) -> None:
    """A score on one is not shown as one on another that nobody knows."""
    assert texts(changed(bundle, variant="../../x")) == ["starter has no variant ../../x."]


@pytest.mark.parametrize(("name", "value"), [("model", None), ("model", {"a": 1}), ("version", 5), ("flags", "bundle")])
def test_fields_have_their_form(bundle: Path, name: str, value: Any) -> None:
    """What no store would take is found when a bundle is checked, not when it is imported."""
    report = changed(bundle, **{name: value})
    assert any("manifest.json does not say what a manifest says" in text for text in texts(report))


def test_an_environment_is_one_that_is_known(bundle: Path) -> None:
    """It is not named otherwise, and lacks nothing that it does not lack: what is missing there would be a fault."""
    assert texts(changed(bundle, environment="bigcodebench-official")) == [
        "There is no environment bigcodebench-official."
    ]
    assert texts(changed(bundle, unavailable_modules=["imaginary"])) == [
        "The manifest says that the environment starter has no imaginary, which it does not lack."
    ]
    assert found(changed(bundle, sandbox="docker")) == {"settings"}


def test_limits_are_those_that_are_spoken_of(bundle: Path) -> None:
    """Official ones are not claimed of others; those of a control run follow from it."""
    assert any("was not run with the official limits" in text for text in texts(changed(bundle, limits="official")))
    for limits in ("generous", "control, at least -1 s", "control, at least  s"):
        assert texts(changed(bundle, limits=limits)) == [f"The limits {limits} are none that benchwright sets."]

    def easier(jobs: Lines) -> None:
        jobs[0]["limits"]["wall_seconds"] = 900.0

    report = verify(forged(bundle, "jobs.jsonl", easier))
    assert "that the limits of 1 problems follow from control runs: they are not in the bundle" in report.open


def test_what_is_said_of_references_follows_from_control_runs(bundle: Path) -> None:
    """Estimates without problems whose reference fails are made again, and those need their control run."""
    estimates = json.loads(files_of(bundle)["manifest.json"])["estimates"]
    assert found(changed(bundle, estimates_controlled=estimates)) == {"summary"}
    report = changed(bundle, failed_references=[PROBLEMS[0].id], estimates_controlled=estimates)
    assert report.open == ("that the references of 1 problems fail: their control runs are not in the bundle",)


def test_control_runs_that_were_made_later_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grading without any, and one with them, are sound; the controls of one are exchanged in vain."""
    home = private_home(tmp_path / "home")
    workspace, ids = Workspace(home=home), first_ids(2)
    samples = write_samples(tmp_path / "samples.jsonl", references(2), model="m")
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory(scripted_record))
    monkeypatch.setattr("benchwright.app.controls.LocalScheduler", ScriptedFactory(finished_record))
    before = run_grading(home, samples, tmp_path / "before", ids=ids)
    check_benchmark(CheckOptions(benchmark="starter", ids=ids, workers=1), workspace, lambda *_: None)
    after = run_grading(home, samples, tmp_path / "after", ids=ids)
    early = write_bundle(before.folder, tmp_path / "before.bw.zip", workspace).path
    late = write_bundle(after.folder, tmp_path / "after.bw.zip", workspace).path
    assert (verify(early).shown, verify(late).shown) == (True, True)
    assert (files_of(early)["controls.jsonl"], files_of(late)["controls.jsonl"].count(b"\n")) == (b"", 2)
    mixed = packed(early, {**files_of(early), "controls.jsonl": files_of(late)["controls.jsonl"]}, early)
    assert any("are not those that follow from its control run" in text for text in texts(verify(mixed)))
