"""Whole runs of an agent with scripted workspaces and verdicts: what is kept, counted, reported, and gone on with."""

from pathlib import Path
from typing import Any

import pytest
from agent_pieces import BAD, GOOD, IDS, AgentRuns, ScriptedGrading, failing_for

from benchwright.app.agents.run import TURN_TOKENS, dry_agent_run, turns_without_a_cache
from benchwright.bridge.agents import SANDBOX_TRIES
from benchwright.core.agents import AgentAttempt, AgentLimits
from benchwright.core.budget import Budget
from benchwright.core.errors import MachineError, StoppedError, UsageError
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.agent_journal import AgentCall, AgentJournal
from benchwright.testing.agents import SUBMIT

TALK = {"text": "I would rather talk."}


def journal_of(runs: AgentRuns) -> AgentJournal:
    """What a run has kept."""
    return AgentJournal(runs.folder / "out" / JOURNAL, read_only=True)


def outcomes(runs: AgentRuns) -> dict[tuple[str, int], str]:
    """Outcome by problem and sample, as the rows have it."""
    return {(row["problem_id"], row["sample"]): row["outcome"] for row in runs.lines("rows.jsonl")}


# Whole runs


def test_several_samples_are_worked_on_graded_and_reported(runs: AgentRuns, prices: Path) -> None:
    """Rows in the order of the problems, one file of predictions for each repetition, and what all of it took."""
    runs.patches |= {IDS[1]: BAD, IDS[2]: ""}
    report = runs.run(samples=2, prices=prices)
    assert outcomes(runs) == {
        (name, sample): outcome
        for name, outcome in zip(IDS, ("passed", "failed", "no_answer"), strict=True)
        for sample in (0, 1)
    }
    assert (report.now, report.before, report.not_finished, report.stopped) == (6, 0, (), None)
    for name in ("predictions.jsonl", "predictions-2.jsonl"):
        assert [(line["instance_id"], line["model_patch"]) for line in runs.lines(name)] == [
            (IDS[0], GOOD), (IDS[1], BAD), (IDS[2], ""),
        ]  # fmt: skip
    assert [line["log"] for line in runs.lines("attempts.jsonl")] == ["logs/1"] * 6
    assert [line["log_sample"] for line in runs.lines("attempts.jsonl")][:4] == [
        f"{IDS[0]}#1",
        f"{IDS[1]}#1",
        f"{IDS[2]}#1",
        f"{IDS[0]}#2",
    ]
    assert report.summary.to_plain() == {
        "endings": {"submitted": 6},
        "median_turns": 1,
        "median_tokens": 110,
        "median_wall_seconds": report.summary.to_plain()["median_wall_seconds"],
        "integrity": report.summary.integrity.to_plain(),
    }
    assert report.summary.integrity.n == 3 and report.summary.integrity.passes == 2
    assert report.ledger.cost == pytest.approx(6 * (100 * 1.0 + 10 * 10.0) / 1e6)
    assert sum(line["cost"] for line in runs.lines("attempts.jsonl")) == pytest.approx(report.ledger.cost)
    manifest = report.grading.manifest
    assert (manifest["status"], manifest["not_finished"], manifest["run_id"]) == ("complete", [], report.plan.run_id)
    assert manifest["usage"]["total_tokens"] == 660


def test_a_finished_run_asks_nothing_and_says_the_same(runs: AgentRuns) -> None:
    """The same command again works on nothing; rows are written as they were."""
    first = runs.run()
    rows, journal = ((runs.folder / "out" / name).read_bytes() for name in ("rows.jsonl", JOURNAL))
    again = runs.run()
    assert (again.now, again.before) == (0, 3) and runs.workspaces.opened == 3
    assert (runs.folder / "out" / "rows.jsonl").read_bytes() == rows
    assert (runs.folder / "out" / JOURNAL).read_bytes() == journal
    assert again.summary.to_plain() == first.summary.to_plain()
    assert again.ledger.spent == first.ledger.spent


def test_a_failed_provider_is_a_fault_and_begun_anew(runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts neither as finished nor as wrong; the same command works on it again, and on nothing else."""
    mend = failing_for(monkeypatch, IDS[1])
    report = runs.run(of_model={}, calls=quick())
    assert outcomes(runs) == {(IDS[0], 0): "passed", (IDS[1], 0): "fault", (IDS[2], 0): "passed"}
    assert (report.now, report.before, report.not_finished) == (2, 0, ())
    assert report.summary.endings == {"submitted": 2, "failed": 1}
    assert report.grading.summary.views[0].estimate is not None
    assert report.grading.summary.views[0].estimate.n == 2
    assert [line["instance_id"] for line in runs.lines("predictions.jsonl")] == [IDS[0], IDS[2]]
    (failed,) = (line for line in runs.lines("attempts.jsonl") if line["ending"] == "failed")
    assert "the server is on fire" in failed["ending_detail"] and failed["patch_bytes"] == 0
    mend()
    report = runs.run(calls=quick())
    assert (report.now, report.before) == (1, 2)
    assert set(outcomes(runs).values()) == {"passed"}
    assert runs.lines("attempts.jsonl")[1]["log"] == "logs/2"


def quick() -> Any:
    """Calls that are not repeated."""
    from benchwright.bridge.running import CallSettings

    return CallSettings(max_retries=0)


def test_a_failure_of_an_earlier_time_is_not_finished_by_being_put_off(
    runs: AgentRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the run's cap comes first, the fault stays what it was and nothing was finished now."""
    failing_for(monkeypatch, IDS[1])
    runs.run(calls=quick(), budget=Budget(max_tokens=50_000))
    report = runs.run(calls=quick(), budget=Budget(max_tokens=300))
    assert (report.now, report.before) == (0, 2)
    assert outcomes(runs)[IDS[1], 0] == "fault"
    assert report.stopped is not None and "budget of 300 tokens" in report.stopped


def test_when_every_sample_fails_the_run_has_stopped(runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the provider's last words."""
    failing_for(monkeypatch, *IDS)
    report = runs.run(calls=quick())
    assert report.stopped is not None and "no sample came to an end" in report.stopped
    assert "the server is on fire" in report.stopped and report.now == 0
    assert report.grading.manifest["status"] == "stopped"


def test_what_the_runs_cap_left_is_named(runs: AgentRuns) -> None:
    """It is not graded, not counted, and worked on when there is more."""
    runs.script = {"*": [{**SUBMIT, "usage": {"input_tokens": 20_000, "output_tokens": 10}}]}
    report = runs.run(samples=2, budget=Budget(max_tokens=44_000))
    assert len(outcomes(runs)) == report.now == 2
    assert report.not_finished == (f"{IDS[2]}#0", f"{IDS[0]}#1", f"{IDS[1]}#1", f"{IDS[2]}#1")
    manifest = report.grading.manifest
    assert (manifest["status"], manifest["not_finished"]) == ("stopped", list(report.not_finished))
    assert "budget of 44,000 tokens" in manifest["stopped"]
    report = runs.run(samples=2, budget=Budget(max_tokens=10**6))
    assert (report.now, report.before, report.not_finished) == (4, 2, ())


def test_a_run_that_may_ask_nothing_at_all_has_no_result(runs: AgentRuns) -> None:
    """An error says why; its folder can be gone on with."""
    with pytest.raises(StoppedError, match=r"Nothing was finished: .*budget of 10 tokens"):
        runs.run(budget=Budget(max_tokens=10))
    assert runs.run().now == 3


def test_a_sandbox_that_breaks_is_a_fault_that_no_journal_keeps(runs: AgentRuns) -> None:
    """After all its tries a sample is a fault of ours, and begun anew by the same command."""
    runs.workspaces.broken = True
    report = runs.run(limit=1)
    assert runs.workspaces.opened == SANDBOX_TRIES
    assert outcomes(runs) == {(IDS[0], 0): "fault"}
    assert report.attempts[0].ending_detail == "sandbox: SandboxFault: the tree is gone"
    assert report.now == 0 and report.stopped is not None
    assert runs.told.progresses[-1].faults == 1
    with journal_of(runs) as journal:
        assert journal.attempts == {}
    runs.workspaces.broken = False
    assert runs.run(limit=1).now == 1


def test_a_workspace_that_cannot_be_opened_is_a_fault(runs: AgentRuns) -> None:
    """Though no agent has begun; it is begun anew by the same command."""
    runs.workspaces.unopenable = True
    report = runs.run(limit=2)
    assert set(outcomes(runs).values()) == {"fault"} and report.not_finished == ()
    assert report.stopped is not None and "no workspace can be opened" in report.stopped
    assert runs.told.progresses[-1].faults == 2 and runs.told.progresses[-1].queued == 0
    runs.workspaces.unopenable = False
    assert runs.run(limit=2).now == 2 and set(outcomes(runs).values()) == {"passed"}


def test_a_model_that_does_not_call_tools_is_found_out_first(runs: AgentRuns) -> None:
    """No workspace is opened for it."""
    runs.script = {"ready": [TALK, TALK]}
    with pytest.raises(StoppedError, match=r"did not .it said 'I would rather talk.'"):
        runs.run(preflight=True)
    assert runs.workspaces.opened == 0


def test_what_the_question_took_counts_for_the_run(runs: AgentRuns) -> None:
    """As a call of nobody's."""
    report = runs.run(preflight=True, limit=1)
    assert report.ledger.calls == 2
    with journal_of(runs) as journal:
        assert [call.problem_id for call in journal.calls] == ["", IDS[0]]


def test_a_disk_that_is_full_ends_the_run(runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a finished sample cannot be kept, nothing more is asked, and the error is the run's."""
    append, calls = AgentJournal.append, list[AgentCall]()

    def full(self: AgentJournal, entry: AgentCall | AgentAttempt) -> None:
        if isinstance(entry, AgentAttempt):
            raise MachineError("the disk is full")
        calls.append(entry)
        append(self, entry)

    monkeypatch.setattr(AgentJournal, "append", full)
    with pytest.raises(MachineError, match="the disk is full"):
        runs.run()
    assert len(calls) == 1


def test_what_cannot_be_graded_ends_the_run(runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no reason to go on asking; what is finished is kept, and graded by the same command."""

    def fail(*arguments: Any, **options: Any) -> Any:
        raise MachineError("no room for records")

    with monkeypatch.context() as patch:
        patch.setattr(ScriptedGrading, "grade", fail)
        with pytest.raises(MachineError, match="no room for records") as raised:
            runs.run()
    assert IDS[0] in "".join(raised.value.__notes__)
    with journal_of(runs) as journal:
        done = len(journal.attempts)
    assert 1 <= done < 3
    report = runs.run()
    assert (report.now, report.before) == (3 - done, done)


def test_another_run_is_not_mixed_in(runs: AgentRuns) -> None:
    """A folder belongs to one run."""
    runs.run()
    with pytest.raises(UsageError, match="other settings"):
        runs.run(samples=2)


# What a run would do


def test_a_dry_run_says_what_is_left(runs: AgentRuns) -> None:
    """And writes nothing."""
    planned = dry_agent_run(runs.plan(samples=2))
    assert (planned.to_work_on, planned.finished, planned.most_tokens) == (6, 0, 12_000_000)
    assert not (runs.folder / "out").exists()
    runs.run(samples=2)
    planned = dry_agent_run(runs.plan(samples=2))
    assert (planned.to_work_on, planned.finished, planned.most_tokens) == (0, 6, 0)
    plain = planned.to_plain()
    assert (plain["dry_run"], plain["problems"], plain["finished"]) == (True, 3, 6)


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ({}, 3 * (2_000_000 * 10.0 + 20_000_000 * 0.1) / 1e6),
        ({"uncached_tokens": 1000, "cached_reads": 10_000}, 3 * (1000 * 10.0 + 10_000 * 0.1) / 1e6),
        ({"cost": 0.5}, 1.5),
        ({"cost": 1000.0}, 66.0),
        ({"uncached_tokens": None}, None),
        ({"cached_reads": None}, None),
        ({"uncached_tokens": None, "cost": 0.5}, 1.5),
    ],
)
def test_the_most_that_a_run_can_cost(
    runs: AgentRuns, prices: Path, limits: dict[str, Any], most: float | None
) -> None:
    """Every sample with its whole budget, all of it at the dearest; not known without a limit."""
    planned = dry_agent_run(runs.plan(limits=AgentLimits(**limits), prices=prices))
    assert planned.most_cost == (None if most is None else pytest.approx(most))


def test_without_a_price_nobody_knows_the_most(runs: AgentRuns) -> None:
    """It is not nothing."""
    assert dry_agent_run(runs.plan()).most_cost is None


def test_turns_without_a_cache_grow_with_the_root_of_the_budget() -> None:
    """The last turn that fits, and none more: n turns cost n(n+1)/2 times what one adds."""
    for budget in (1, TURN_TOKENS - 1, TURN_TOKENS, 3 * TURN_TOKENS - 1, 3 * TURN_TOKENS, 2_000_000):
        turns = turns_without_a_cache(budget)
        assert turns is not None
        assert TURN_TOKENS * turns * (turns + 1) // 2 <= budget < TURN_TOKENS * (turns + 1) * (turns + 2) // 2
    assert turns_without_a_cache(2_000_000) == 44
    assert turns_without_a_cache(None) is None
