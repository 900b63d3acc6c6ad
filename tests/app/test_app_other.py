"""The smaller use cases: doctor, catalogue, environments, the demonstration."""

from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory

from benchwright.app import catalogue, demo, doctor, environments
from benchwright.app.workspace import Workspace, default_workers
from benchwright.core.errors import IsolationRefusedError, UnknownNameError, UsageError
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode
from benchwright.core.runs import Score
from benchwright.execution.mother import Mother


@pytest.mark.namespaces
def test_the_doctor_tries_isolation_for_real(tmp_path: Path) -> None:
    """A healthy machine is called healthy because a slot was really started; every topic has a finding."""
    findings = doctor.examine(Workspace(home=tmp_path))
    topics = {finding.topic for finding in findings}
    assert {"machine", "isolation namespace", "isolation process", "control groups", "disk"} <= topics
    assert {f"environment {name}" for name in ("starter", "bigcodebench", "bigcodebench-light")} <= topics
    plain = doctor.to_plain(findings)
    assert plain["healthy"] is True
    missing = next(f for f in findings if f.topic == "environment starter")
    assert missing.advice == "bw env build starter" or "MiB" in missing.text
    assert not (tmp_path / "environments").exists()


def test_the_doctor_says_what_to_do_where_isolation_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is a bad finding with advice, never a traceback."""

    async def refuse(self: Mother) -> Any:
        raise IsolationRefusedError("EPERM")

    monkeypatch.setattr(Mother, "slot", refuse)
    findings = {f.topic: f for f in doctor.examine(Workspace(home=tmp_path))}
    assert findings["isolation namespace"].health is doctor.Health.BAD
    assert findings["isolation process"].health is doctor.Health.NOTE
    assert "--isolation process" in findings["isolation namespace"].advice
    assert doctor.to_plain(list(findings.values()))["healthy"] is False


def test_the_catalogue_lists_what_is_built_in() -> None:
    """Both benchmarks are listed with what they offer."""
    entries = {entry.name: entry for entry in catalogue.benchmarks()}
    assert {"bigcodebench", "starter"} <= set(entries)
    assert entries["bigcodebench"].subsets == ("full", "hard")
    assert entries["starter"].variants == ("complete", "instruct")


def test_a_benchmark_and_its_numbers_are_shown() -> None:
    """Identity always, counts on request."""
    shown = catalogue.show_benchmark(catalogue.Data(benchmark="starter"), with_statistics=False)
    assert (shown["name"], shown["problems"], shown["pinned"]) == ("starter", len(PROBLEMS), True)
    more = catalogue.show_benchmark(catalogue.Data(benchmark="starter"), with_statistics=True)
    assert set(shown) < set(more)


def test_a_problem_is_shown_whole() -> None:
    """Prompts, reference and tests of one problem; unknown ids are answered with near ones."""
    data = catalogue.Data(benchmark="starter")
    shown = catalogue.show_problem(data, "Starter/0")
    assert shown["reference"] == PROBLEMS[0].reference
    assert shown["tests"]
    sent = catalogue.prompt(data, "Starter/0", "instruct", mode=Mode.CHAT, prefill=False)
    assert shown["prompts"]["instruct"].strip() in sent.text
    with pytest.raises(UnknownNameError, match="Starter/1"):
        catalogue.show_problem(data, "Starter/1x")
    with pytest.raises(UsageError, match="no variant 'chat'"):
        catalogue.prompt(data, "Starter/0", "chat", mode=Mode.CHAT, prefill=False)


def test_environments_are_listed_built_or_not(home: Path, tmp_path: Path) -> None:
    """What is built and what could be built together are all environments of this version."""
    listed = environments.listing(Workspace(home=home))
    assert "starter" in {item.name for item in listed.built}
    empty = environments.listing(Workspace(home=tmp_path / "empty"))
    assert empty.built == ()
    assert {"starter", "bigcodebench", "bigcodebench-light"} == {name for name, _ in empty.not_built}


def test_removing_what_is_not_there_is_misuse(tmp_path: Path) -> None:
    """Nothing is removed, and the message names what there is."""
    with pytest.raises(UnknownNameError, match="no built environment named 'starter'"):
        environments.remove("starter", Workspace(home=tmp_path))


def test_the_demonstration_controls_grades_and_ranks_three_systems(
    scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """Control runs, then each system into a folder of its own, under its name, with both scores; then a ranking."""
    said: list[str] = []
    report = demo.run_demo(
        Workspace(home=home),
        tmp_path / "demo",
        isolation=Isolation.NAMESPACE,
        say=said.append,
        progress=lambda d, t: None,
    )
    assert list(report.gradings) == list(demo.SYSTEMS)
    for name, grading in report.gradings.items():
        assert grading.folder == tmp_path / "demo" / name
        assert grading.manifest["model"] == name
        assert {row.score for row in grading.rows} == {Score.EXTRACTED, Score.CALIBRATED}
        assert grading.summary.problems == len(PROBLEMS)
    assert len(report.check.controls) == len(PROBLEMS)
    assert any("Control runs" in line for line in said)
    assert {row.model for row in report.ranking.main.rows} == set(demo.SYSTEMS)
    assert not (home / "results").exists()  # fictitious systems are recorded beside their results


def test_the_default_number_of_workers_is_that_of_the_cores() -> None:
    """At least one core may be used."""
    assert default_workers() >= 1
