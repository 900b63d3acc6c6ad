"""Use cases on repository problems, as far as nothing is run: numbers, exclusion lists, explanations, derived lists."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchwright.app.repositories import controls as controlling
from benchwright.app.repositories import derive as deriving
from benchwright.app.repositories.controls import flaw, run_controls
from benchwright.app.repositories.exclusions import chosen_lists, own_path, update_own_list
from benchwright.app.repositories.results import explain_patches
from benchwright.app.repositories.selection import Selection, environments_of
from benchwright.app.repositories.summary import RepositorySummary, summarise_patches
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.swebench.exclusions import read_list, shipped_names
from benchwright.benchmarks.swebench.rows import to_problem
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import (
    ControlSummary,
    Edit,
    Inversion,
    RepositoryControls,
    RepositoryJob,
    RepositoryLimits,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
)
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.records import RecordStore


def verdict(outcome: Outcome = Outcome.PASSED, reason: Reason = Reason.ALL_TESTS_PASSED, **changes: Any) -> Verdict:
    """A verdict."""
    values: dict[str, Any] = {
        "outcome": outcome,
        "reason": reason,
        "detail": f"it is {reason}",
        "planned": 2,
        "passed": 1,
        "judge_version": 1,
        "record_digest": None,
    }
    return Verdict(**{**values, **changes})


FAILED = verdict(Outcome.FAILED, Reason.TESTS_FAILED)
FAULT = verdict(Outcome.FAULT, Reason.SANDBOX_LOST)
MISSING = verdict(Outcome.NO_ANSWER, Reason.MISSING)
TAMPERED = verdict(Outcome.FAILED, Reason.TAMPERED)


def row(problem: str, judged: Verdict, sample: int = 0, **changes: Any) -> ResultRow:
    """The row of an instance."""
    values: dict[str, Any] = {"job_digest": f"job of {problem}", "wall_seconds": 1.0, "cpu_seconds": 2.0}
    return ResultRow(problem_id=problem, sample=sample, score=Score.PATCH, verdict=judged, **{**values, **changes})


def summary(rows: list[ResultRow], **changes: Any) -> RepositorySummary:
    """What rows say, all of one repository unless their id says otherwise."""
    values: dict[str, Any] = {
        "repositories": {one.problem_id: one.problem_id.partition("-")[0] for one in rows},
        "views": {},
        "excluded": {},
        "mended": (),
        "uncontrolled": (),
    }
    return summarise_patches(rows, **{**values, **changes})


# Numbers


def test_faults_leave_the_score_and_missing_ones_do_not() -> None:
    """Both are named."""
    said = summary([row("a-1", verdict()), row("a-2", FAILED), row("a-3", FAULT), row("b-1", MISSING, job_digest=None)])
    (view,) = said.views
    assert view.estimate is not None
    assert (view.instances, view.faults, view.estimate.n) == (4, 1, 3)
    assert view.estimate.value == pytest.approx(1 / 3)
    assert (said.problems, said.attempts, said.solved) == (4, 3, 1)
    assert said.missing == ("b-1",)
    assert said.faults == ("a-3: it is sandbox_lost",)
    assert said.by_repository == (("a", 1, 2), ("b", 0, 1))
    assert said.cpu_seconds == 8.0


def test_nothing_scored_has_no_estimate() -> None:
    """Neither a score of zero nor an error."""
    said = summary([row("a-1", FAULT)])
    assert said.views[0].estimate is None
    assert said.difference is None
    plain = said.to_plain()
    assert plain["estimates"] == {}
    assert plain["views"] == {"all": {"instances": 1, "faults": 1, "resolved": 0, "share": 0.0}}
    assert json.loads(json.dumps(plain)) == plain


def test_the_kept_score_beside_the_whole() -> None:
    """With the difference, and why the others are left out; entries of other instances are none of this one's."""
    rows = [row("a-1", verdict()), row("a-2", FAILED), row("a-3", verdict())]
    said = summary(
        rows,
        views={"kept": rows[:2], "vendor": rows[2:]},
        excluded={"a-3": ["odd: It is odd."], "z-1": ["odd: It is elsewhere."]},
        mended=("a-1", "z-2"),
        uncontrolled=("a-2", "z-3"),
    )
    plain = said.to_plain()
    assert plain["kept_minus_all"] == pytest.approx(1 / 2 - 2 / 3)
    assert plain["excluded"] == {"a-3": ["odd: It is odd."]}
    assert (plain["mended"], plain["uncontrolled"]) == (["a-1"], ["a-2"])
    assert plain["estimates"]["pass@1[vendor]"]["value"] == 1.0
    assert set(plain["estimates"]) == {"pass@1", "pass@1[kept]", "pass@1[vendor]"}


def test_several_samples_of_an_instance() -> None:
    """Pass@1 is the mean over their share; solved is an instance with at least one."""
    rows = [row("a-1", verdict()), row("a-1", FAILED, 1), row("a-2", FAILED), row("a-2", FAILED, 1)]
    said = summary(rows)
    assert said.views[0].estimate is not None
    assert said.views[0].estimate.value == pytest.approx(0.25)
    assert (said.problems, said.attempts, said.solved) == (2, 4, 1)


def test_what_a_person_should_look_at() -> None:
    """Tampering and edits that were not kept, by instance; the slowest first."""
    rows = [
        row("a-1", TAMPERED, wall_seconds=1.0),
        row("a-2", verdict(), wall_seconds=9.0, notes=("line ends put right", "conftest.py not kept: it is new")),
    ]
    said = summary(rows)
    assert said.tampered == ("a-1: it is tampered",)
    assert said.dropped_edits == ("a-2: conftest.py not kept: it is new",)
    assert [entry[0] for entry in said.slowest] == ["a-2", "a-1"]


# Control runs


def run(*, resolved: bool, detail: str = "", not_passed: tuple[str, ...] = ()) -> ControlSummary:
    """A control run."""
    return ControlSummary(
        resolved=resolved,
        reason="r",
        detail=detail,
        exit_cause=None,
        exit_status=None,
        not_passed=not_passed,
        accepted=(),
        unreported=(),
        inverted=(),
        wall_seconds=1.0,
        cpu_seconds=1.0,
        memory_peak_bytes=1,
    )


GOOD, BAD = run(resolved=True), run(resolved=False, detail="one test did not pass", not_passed=("t",))


def controls(problem: str, reference: ControlSummary, empty: ControlSummary = BAD) -> RepositoryControls:
    """Control runs of an instance."""
    return RepositoryControls(
        problem_id=problem,
        problem_digest=f"digest of {problem}",
        environment="e",
        sandbox="namespace",
        harness_version=1,
        reference=(reference,),
        empty=(empty,),
    )


def test_what_is_wrong_with_an_instance() -> None:
    """In one clause, the gravest first; nothing when nothing is."""
    assert flaw(controls("p", GOOD)) == ""
    assert flaw(controls("p", BAD)) == "the reference does not resolve it: one test did not pass"
    assert flaw(controls("p", GOOD, GOOD)) == "it is resolved without a patch"
    assert flaw(dataclasses.replace(controls("p", GOOD), reference=(GOOD, BAD))) == "repeats of the same run differ"
    other = dataclasses.replace(BAD, not_passed=("u",))
    assert flaw(dataclasses.replace(controls("p", GOOD), empty=(BAD, other))) == "repeats of the same run differ"


def problem(name: str = "o__n-1", **changes: Any) -> RepositoryProblem:
    """A row."""
    values = {
        "instance_id": name,
        "repo": "o/n",
        "version": "1",
        "base_commit": "a" * 40,
        "problem_statement": "x",
        "patch": "the reference",
        "test_patch": "tests",
        "FAIL_TO_PASS": ["t"],
        "PASS_TO_PASS": [],
        "created_at": "2020-05-01T10:00:00Z",
        **changes,
    }
    return to_problem(values, benchmark="repositories")


class ScriptedPipeline:
    """Runs nothing; the reference resolves on the days that the script says."""

    def __init__(self, days: Mapping[str, str | None], lost: tuple[str, ...] = ()) -> None:
        self.days = days
        self.lost = lost
        self.ran: list[tuple[str, str, int, str]] = []

    def job(self, problem: RepositoryProblem, patch: str, *, repeat: int = 0, date: str = "") -> RepositoryJob:
        """The job of a control run."""
        return RepositoryJob(
            problem=problem,
            patch=patch,
            environment="e",
            sandbox="namespace",
            limits=RepositoryLimits(),
            rules=Rules.BENCHWRIGHT,
            harness_version=1,
            repeat=repeat,
            date=date,
        )

    def run(self, job: RepositoryJob) -> RepositoryRecord:
        """A record that says on which day it was made."""
        self.ran.append((job.problem.id, job.patch, job.repeat, job.date))
        resolved = bool(job.patch) and self.days[job.problem.id] == job.date
        reason = "it broke" if job.problem.id in self.lost else ""
        return RepositoryRecord(job_digest=job.digest, patch_applied=resolved, lost_reason=reason)

    def stop(self) -> None:
        """There is nothing to end."""

    def control_key(self, problem: RepositoryProblem) -> tuple[str, str, int, str]:
        """As the pipeline's, with a short environment."""
        return "e", "namespace", 1, problem.digest

    def control(self, problem: RepositoryProblem, record: RepositoryRecord) -> ControlSummary:
        """What such a record says."""
        return GOOD if record.patch_applied else BAD


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordStore]:
    """An empty store."""
    with RecordStore(tmp_path / "records.sqlite") as opened:
        yield opened


def controlled(
    pipeline: ScriptedPipeline, store: RecordStore, *rows: RepositoryProblem, repeats: int = 1
) -> dict[str, Any]:
    """Control runs by instance."""
    made = run_controls(rows, pipeline, store, workers=1, repeats=repeats, report=lambda done, total: None)  # type: ignore[arg-type]
    return {one.problem_id: one for one in made}


def test_control_runs_are_stored_as_they_complete(store: RecordStore) -> None:
    """Reference and no patch as often as asked for."""
    pipeline = ScriptedPipeline({"o__n-1": ""})
    made = controlled(pipeline, store, problem(), repeats=2)["o__n-1"]
    assert (made.sound, made.date, len(made.reference), len(made.empty)) == (True, "", 2, 2)
    assert store.repository_controls("e", "namespace", made.harness_version, problem().digest) == made
    assert len(pipeline.ran) == 4


def test_the_day_of_the_row_is_tried_where_today_will_not_do(store: RecordStore) -> None:
    """Only there, and it is kept only when the reference resolves on it."""
    days = {"o__n-1": "", "o__n-2": "2020-05-01", "o__n-3": None}
    pipeline = ScriptedPipeline(days)
    made = controlled(pipeline, store, *(problem(name) for name in days))
    assert {name: (one.sound, one.date) for name, one in made.items()} == {
        "o__n-1": (True, ""),
        "o__n-2": (True, "2020-05-01"),
        "o__n-3": (False, ""),
    }
    assert {(name, date) for name, _, _, date in pipeline.ran if date} == {
        ("o__n-2", "2020-05-01"),
        ("o__n-3", "2020-05-01"),
    }
    assert all(
        store.repository_controls("e", "namespace", one.harness_version, one.problem_digest) == one
        for one in made.values()
    )


def test_a_row_without_a_day_is_run_today(store: RecordStore) -> None:
    """There is no other day to try."""
    pipeline = ScriptedPipeline({"o__n-1": None})
    made = controlled(pipeline, store, problem(created_at=""))
    assert not made["o__n-1"].sound
    assert len(pipeline.ran) == 2


def test_an_instance_whose_sandbox_broke_is_left_out(store: RecordStore) -> None:
    """Nothing was learnt of it, so nothing is stored; the others are not held up."""
    pipeline = ScriptedPipeline({"o__n-1": "", "o__n-2": ""}, lost=("o__n-1",))
    made = controlled(pipeline, store, problem("o__n-1"), problem("o__n-2"))
    assert list(made) == ["o__n-2"]
    assert store.repository_controls("e", "namespace", 1, problem("o__n-1").digest) is None


def test_days_of_rows() -> None:
    """However much of a date they have."""
    days = {"2020-05-01T10:00:00Z": "2020-05-01", "2020-05-01": "2020-05-01", "": "", "yesterday": ""}
    assert {text: controlling.day_of(problem(created_at=text)) for text in days} == days


# Exclusion lists


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A new home."""
    return Workspace(home=tmp_path / "home")


def own_ids(workspace: Workspace) -> list[str]:
    """What is on the user's own list."""
    return [entry.id for entry in read_list(own_path("b", workspace)).entries]


def test_the_own_list_follows_the_control_runs(workspace: Workspace) -> None:
    """What is wrong comes on, what is right again comes off, what was not looked at stays."""
    assert update_own_list("b", [(controls("p-1", GOOD), "")], workspace) is None
    assert not own_path("b", workspace).exists()
    flaws = [(controls(name, BAD), "it is odd") for name in ("p-2", "p-1")]
    assert update_own_list("b", flaws, workspace) == own_path("b", workspace)
    assert own_ids(workspace) == ["p-1", "p-2"]
    update_own_list("b", [(controls("p-3", BAD), "it is odder")], workspace)
    assert own_ids(workspace) == ["p-1", "p-2", "p-3"]
    update_own_list("b", [(controls("p-1", GOOD), ""), (controls("p-3", BAD), "it is odd now")], workspace)
    assert own_ids(workspace) == ["p-2", "p-3"]
    entries = {entry.id: entry for entry in read_list(own_path("b", workspace)).entries}
    assert entries["p-3"].reason == "it is odd now"
    assert entries["p-3"].reported_by == "control runs on this machine"
    gone = [(controls(name, GOOD), "") for name in ("p-2", "p-3")]
    assert update_own_list("b", gone, workspace) is None
    assert own_ids(workspace) == []


def test_which_lists_hold(workspace: Workspace, tmp_path: Path) -> None:
    """Without a choice all shipped ones and the user's own; otherwise those named, or none."""
    shipped = set(shipped_names())
    assert {one.name for one in chosen_lists(None, "b", workspace)} == shipped
    update_own_list("b", [(controls("p-1", BAD), "it is odd")], workspace)
    assert {one.name for one in chosen_lists(None, "b", workspace)} == {*shipped, "b-here"}
    assert {one.name for one in chosen_lists(None, "other", workspace)} == shipped
    own = str(own_path("b", workspace))
    assert [one.name for one in chosen_lists((own, "verified-mends"), "b", workspace)] == ["b-here", "verified-mends"]
    assert chosen_lists(("none",), "b", workspace) == []
    with pytest.raises(UnknownNameError, match="exclusion list"):
        chosen_lists(("verified",), "b", workspace)


# Where environments come from


def test_sources_of_all_repositories(workspace: Workspace, tmp_path: Path) -> None:
    """`*` stands for those that have no place of their own."""
    given = {"*": "/clones/{owner}+{name}", "sympy/sympy": "/elsewhere"}
    environments = environments_of(Selection(benchmark="repositories", sources=given), workspace)
    assert environments._sources["sympy/sympy"] == "/elsewhere"
    assert environments._sources["psf/requests"] == "/clones/psf+requests"
    assert "*" not in environments._sources


# What differs between two gradings


def record(**changes: Any) -> RepositoryRecord:
    """Evidence."""
    return RepositoryRecord(**{"job_digest": "j", "patch_applied": True, **changes})


def explained(a: ResultRow, b: ResultRow, records: Mapping[str, RepositoryRecord], *settings: str) -> str:
    """The explanation of two rows whose gradings differ in these settings."""
    return explain_patches(a, b, records.get, records.get, [(name, "x", "y") for name in settings])


def test_the_same_evidence() -> None:
    """Then only judging differs."""
    a, b = row("p", verdict(record_digest="r")), row("p", dataclasses.replace(FAULT, record_digest="r"))
    assert explained(a, b, {}) == "same record, judged with other control runs or by another judge version"
    again = row("p", dataclasses.replace(FAILED, record_digest="s"))
    assert explained(a, again, {}).startswith("same job, executed twice with different results: A it is")


def test_other_settings_and_what_is_peculiar_to_the_evidence() -> None:
    """Each cause is named, then both details."""
    records = {
        "a": record(patch_applied=False),
        "b": record(
            patch_message="by patch --batch",
            dropped=(Edit(path="conftest.py", why="new"),),
            inversion=Inversion(sabotaged=("t",), passed=("t",), exit_cause=ExitCause.FINISHED, wall_seconds=1.0),
            report_errors=("a line that is none",),
        ),
    }
    a, b = row("p", FAILED, job_digest="a"), row("p", verdict(), job_digest="b")
    said = explained(a, b, records, "rules", "sandbox", "model")
    for words in (
        "the rules differ",
        "the sandbox differs",
        "A could not apply the patch",
        "B applied the patch by patch --batch",
        "B did not keep the edits of conftest.py",
        "B saw sabotaged tests pass",
        "B heard of a line that is none",
        "A: it is tests_failed; B: it is all_tests_passed",
    ):
        assert words in said
    assert "model" not in said


def test_a_patch_that_was_not_run() -> None:
    """Nothing is known of it but its verdict."""
    a, b = row("p", MISSING, job_digest=None), row("p", verdict())
    assert (
        explained(a, b, {}, "samples_digest") == "the patches may differ; A: it is missing; B: it is all_tests_passed"
    )
    assert explained(a, b, {}).startswith("the patch differs; ")


# Test lists out of runs


def lists(before: list[dict[str, bool]], after: list[dict[str, bool]]) -> deriving.Derived:
    """What is derived from what passed in runs without and with the change."""
    return deriving._judged(problem(), before, after, Path("rows.jsonl"))


def test_lists_out_of_steady_runs() -> None:
    """Turned green, stayed green, broken; what was skipped or failed on both sides is in no list."""
    before = {"stays": True, "turns": False, "breaks": True, "never": False}
    after = {"stays": True, "turns": True, "breaks": False, "never": False, "new": True}
    found = lists([before, dict(reversed(before.items()))], [after, after])
    assert found.problem.fail_to_pass == ("turns", "new")
    assert found.problem.pass_to_pass == ("stays",)
    assert (found.broken, found.unstable, found.runs) == (("breaks",), (), 4)
    assert found.problem.digest != problem().digest
    assert found.to_plain()["fail_to_pass"] == ["turns", "new"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([{"t": True}, {"t": False}], [{"t": True}, {"t": True}]),
        ([{"t": False}, {"t": False}], [{"t": True}, {"t": False}]),
        ([{}, {"t": True}], [{"t": True}, {"t": True}]),
        ([{"t": True}, {"t": True}], [{"t": True}, {}]),
    ],
)
def test_unsteady_tests_are_in_no_list(before: list[dict[str, bool]], after: list[dict[str, bool]]) -> None:
    """A test that is not always there is unsteady, too."""
    found = lists(before, [run | {"turns": True} for run in after])
    assert found.unstable == ("t",)
    assert (found.problem.fail_to_pass, found.problem.pass_to_pass) == (("turns",), ())


def test_nothing_that_turns_green() -> None:
    """Such a change makes no instance; the counts say what was seen."""
    with pytest.raises(UsageError, match=r"\(1 pass after, 2 before, 1 differ between runs\); it makes no instance"):
        lists([{"a": True, "b": True}] * 2, [{"a": True, "c": True}, {"a": True, "c": False}])
