"""What a run costs and when it stops: real calls over loopback, scripted executions."""

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, first_ids

from benchwright.core.budget import TokenUsage
from benchwright.core.errors import StoppedError, UsageError

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import Runs, Told, log_of, problem_of, quick_retries, reasons, reference, unexecuted
from scripted_server import Answer, Script, scripted_server

REPLY_TOKENS = 60


@pytest.fixture
def runs(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Makes runs that execute nothing and repeat calls at once."""
    unexecuted(monkeypatch)
    quick_retries(monkeypatch)
    return Runs(tmp_path, home, monkeypatch)


def using(read: int, written: int) -> Script:
    """References that report these tokens."""

    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(text=reference(body).text, usage=(read, written))

    return script


def tokens_of_log(runs: Runs, report: Any) -> int:
    """Tokens of all samples in the log, those played back included."""
    samples = log_of(report).samples or []
    return sum(usage.total_tokens for sample in samples for usage in sample.model_usage.values())


def test_every_account_has_the_same_sum(runs: Runs) -> None:
    """What the server billed is what the ledger, the journal, the manifest and Inspect's log say, repeats or not."""

    def script(body: dict[str, Any], number: int) -> Answer:
        trouble = {2: Answer(status=429, error="slow down"), 3: Answer(status=500, error="oh"), 5: Answer(status=503)}
        return trouble.get(number) or Answer(text=reference(body).text, usage=(100 + number, 10 + number))

    with scripted_server(script) as server:
        report = runs.run(server, limit=6, max_connections=1)
        ledger, calls = report.ledger, runs.calls()
        assert (len(server.requests), ledger.calls, ledger.failures, ledger.retries) == (9, 9, 3, 3)
    assert ledger.spent.total == server.billed_tokens
    assert ledger.estimated.total == 0
    assert sum((call.charge.usage or TokenUsage() for call in calls), start=TokenUsage()) == ledger.spent
    assert tokens_of_log(runs, report) == server.billed_tokens
    usage = runs.manifest()["usage"]
    assert (usage["total_tokens"], usage["calls"], usage["retries"], usage["failures"]) == (
        server.billed_tokens,
        9,
        3,
        3,
    )
    assert {call.error.partition(":")[0] for call in calls if call.reply is None} == {
        "RateLimitError",
        "InternalServerError",
    }
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_a_broken_call_is_estimated_apart(runs: Runs) -> None:
    """A connection that is closed without an answer, and one that takes too long, are charged by estimate."""

    def script(body: dict[str, Any], number: int) -> Answer:
        trouble = {0: Answer(hang_up=True), 2: Answer(delay=6, text="too late", usage=None)}
        return trouble.get(number) or reference(body)

    with scripted_server(script) as server:
        report = runs.run(server, limit=3, max_connections=1, timeout=5)
        assert len(server.requests) == 5
    ledger = report.ledger
    assert ledger.spent.total == server.billed_tokens == 3 * 150
    broken = [call for call in runs.calls() if call.reply is None]
    assert [call.error.partition(":")[0] for call in broken] == ["APIConnectionError", "AttemptTimeoutError"]
    assert all(call.charge.estimated_tokens > 100 for call in broken)
    assert ledger.estimated.total == sum(call.charge.estimated_tokens for call in broken)
    assert runs.manifest()["usage"]["estimated_tokens"] == ledger.estimated.total
    assert report.not_asked == ()


@pytest.mark.parametrize("connections", [1, 8])
def test_a_budget_of_tokens_stops_hard(runs: Runs, connections: int) -> None:
    """With however many connections, the sum stays below the cap; what was asked is graded, the rest is listed."""
    cap, several = 6_000, threading.Event()

    def script(body: dict[str, Any], number: int) -> Answer:
        if number:
            several.set()
        assert connections == 1 or several.wait(10), "expected a second call while the first one was in flight"
        return using(400, REPLY_TOKENS)(body, number)

    with scripted_server(script) as server:
        report = runs.run(server, max_tokens=cap, reply_tokens=REPLY_TOKENS, max_connections=connections)
        asked = len(server.requests)
        assert 0 < asked < len(PROBLEMS)
        assert server.billed_tokens == report.ledger.spent.total <= cap
        assert {body["max_tokens"] for body in server.requests} == {REPLY_TOKENS}
        assert (server.most_at_once > 1) == (connections > 1)
    assert report.stopped is not None
    assert "of the budget of 6,000 tokens" in report.stopped
    assert len(report.not_asked) == len(PROBLEMS) - asked
    assert len(reasons(report)) == asked
    assert {estimate.n for estimate in report.grading.summary.estimates} == {asked}
    manifest = runs.manifest()
    assert (manifest["status"], manifest["stopped"]) == ("stopped", report.stopped)
    assert manifest["not_asked"] == list(report.not_asked)
    assert (manifest["problems"], manifest["missing"]) == (asked, [])


def test_cheap_replies_do_not_stop_a_run(runs: Runs) -> None:
    """Calls that might not fit wait for those in flight, and are sent when these come out cheaper."""
    with scripted_server(using(20, 10)) as server:
        report = runs.run(server, limit=12, max_tokens=3_000, reply_tokens=1_000, max_connections=6)
        assert len(server.requests) == 12
        assert server.billed_tokens == 12 * 30
    assert (report.stopped, report.not_asked) == (None, ())


def test_a_larger_budget_asks_only_the_rest(runs: Runs) -> None:
    """The same command goes on: nothing is asked twice, nothing with an unchanged budget, and all sums agree."""
    options: dict[str, Any] = {"limit": 10, "reply_tokens": REPLY_TOKENS, "max_connections": 2}
    with scripted_server(using(400, REPLY_TOKENS)) as first:
        report = runs.run(first, max_tokens=3_000, **options)
        asked = {problem_of(body).id for body in first.requests}
        assert report.not_asked == tuple(f"{name}#0" for name in first_ids(10) if name not in asked)
    with scripted_server(using(400, REPLY_TOKENS)) as unchanged:
        again = runs.run(unchanged, max_tokens=3_000, **options)
        assert unchanged.requests == []
        assert (again.asked, again.answered_before, again.not_asked) == (0, len(asked), report.not_asked)
        assert again.stopped == report.stopped
    with scripted_server(using(300, 50)) as second:
        whole = runs.run(second, max_tokens=30_000, **options)
        rest = [problem_of(body).id for body in second.requests]
    assert sorted([*asked, *rest]) == sorted(first_ids(10))
    assert (whole.asked, whole.answered_before, whole.not_asked, whole.stopped) == (len(rest), len(asked), (), None)
    billed = first.billed_tokens + second.billed_tokens
    assert whole.ledger.spent.total == billed == tokens_of_log(runs, whole)
    assert runs.manifest()["usage"]["total_tokens"] == billed
    assert (runs.manifest()["status"], runs.manifest()["stopped"]) == ("complete", None)
    assert whole.grading.run_id == report.grading.run_id
    assert len(reasons(whole)) == 10


def test_a_budget_that_pays_for_nothing_says_so(runs: Runs) -> None:
    """When not even one call fits, nothing is sent, and the sentence has the numbers."""
    with scripted_server(reference) as server:
        with pytest.raises(StoppedError, match=r"^Nothing was asked: A call may use .* of the budget of 50 tokens"):
            runs.run(server, limit=3, max_tokens=50, preflight=True)
        assert server.requests == []


def test_the_preflight_is_paid_from_the_budget(runs: Runs) -> None:
    """Preflight and run wait for room in the same budget, one after the other, and together keep it."""
    with scripted_server(using(5, 5)) as server:
        report = runs.run(
            server, limit=8, preflight=True, max_tokens=1_500, reply_tokens=300, max_connections=5, max_retries=0
        )
        assert len(server.requests) == 8
    assert (report.not_asked, report.ledger.failures, report.ledger.spent.total) == ((), 0, 80)
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def prices(folder: Path, model: str = "m") -> Path:
    """A price table of the user's own: a dollar per thousand tokens read, two per thousand written."""
    path = folder / "prices.toml"
    path.write_text(
        f'schema = 1\n[models."{model}"]\ninput = 1000.0\noutput = 2000.0\nas_of = 2026-01-02\nsource = "us"\n'
    )
    return path


def test_a_budget_of_money_stops_hard(runs: Runs, tmp_path: Path) -> None:
    """With a price the cost is kept as well, and reported with the entry it was counted by."""
    with scripted_server(using(400, REPLY_TOKENS)) as server:
        report = runs.run(
            server, max_cost=4.0, prices=prices(tmp_path), reply_tokens=REPLY_TOKENS, max_connections=4, limit=12
        )
        asked = len(server.requests)
    assert 0 < asked < 12
    assert report.ledger.cost is not None
    assert report.ledger.cost == pytest.approx(asked * 0.52)
    assert report.ledger.cost <= 4.0
    assert report.stopped is not None
    assert "of the budget of 4 USD" in report.stopped
    manifest = runs.manifest()
    assert manifest["cost"] == report.ledger.cost
    assert (manifest["price"]["entry"], manifest["price"]["as_of"]) == ("m", "2026-01-02")
    assert manifest["budget"] == {"max_tokens": None, "max_cost": 4.0}


def test_a_budget_of_money_needs_a_price(runs: Runs, tmp_path: Path) -> None:
    """Without a price a cost cannot be kept, which is said before anything is asked or written."""
    with scripted_server(reference) as server:
        with pytest.raises(UsageError, match="the price of openai-api/fake/m is not known; give a price file"):
            runs.run(server, max_cost=1.0, prices=prices(tmp_path, "another"))
        with pytest.raises(UsageError, match=r"The price file .*nowhere\.toml cannot be read"):
            runs.run(server, max_cost=1.0, prices=tmp_path / "nowhere.toml")
        assert server.requests == []
    assert not (tmp_path / "out").exists()


def test_an_unknown_price_is_not_zero(runs: Runs) -> None:
    """A run of a model without a price has no cost, rather than one of nothing."""
    with scripted_server(reference) as server:
        report = runs.run(server, limit=1)
    assert report.ledger.cost is None
    assert (runs.manifest()["cost"], runs.manifest()["price"]) == (None, None)


def nonsense(body: dict[str, Any], number: int) -> Answer:
    """Refuses the request itself, which no repetition helps."""
    return Answer(status=400, error="bad request: nonsense")


def test_many_failures_in_a_row_end_the_asking(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that answers nobody is not asked for all problems; what failed is a fault, in nobody's score."""
    monkeypatch.setattr("benchwright.bridge.call_meter.MAX_FAILED_IN_A_ROW", 4)
    with scripted_server(nonsense) as server:
        report = runs.run(server, limit=9, max_connections=1)
        asked = Counter(problem_of(body).id for body in server.requests)
    assert len(asked) == 4
    assert set(asked.values()) == {1}
    assert report.stopped is not None
    assert report.stopped.startswith("4 samples in a row got no reply; the last one: BadRequestError:")
    assert "bad request: nonsense" in report.stopped
    assert len(report.not_asked) == 5
    assert set(reasons(report).values()) == {"fault provider_error"}
    assert {row["ending"] for row in runs.samples()} == {"failed"}


def test_some_failures_do_not_end_the_asking(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer in between shows that the provider is there."""
    monkeypatch.setattr("benchwright.bridge.call_meter.MAX_FAILED_IN_A_ROW", 4)

    def script(body: dict[str, Any], number: int) -> Answer:
        return reference(body) if number == 3 else nonsense(body, number)

    with scripted_server(script) as server:
        report = runs.run(server, limit=7, max_connections=1)
        assert len(server.requests) == 7
    assert (report.stopped, report.not_asked) == (None, ())
    assert Counter(reasons(report).values()) == {"fault provider_error": 6, "passed all_tests_passed": 1}


def test_a_key_that_is_refused_stops_after_the_preflight(runs: Runs) -> None:
    """Three calls are enough to see that nobody is let in; the provider's words are handed on."""

    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(status=401, error="Incorrect API key provided")

    told = Told()
    with scripted_server(script) as server:
        with pytest.raises(StoppedError, match=r"The provider gave no reply to any of the 3 first calls: .*Incorrect"):
            runs.run(server, told=told, preflight=True)
        assert len(server.requests) == 3
    assert all(call.charge.usage is None and call.charge.estimated_tokens == 0 for call in runs.calls())
    (preflight,) = told.preflights
    assert [sample.problem_id for sample in preflight.samples] == [PROBLEMS[0].id, PROBLEMS[16].id, PROBLEMS[31].id]


def test_a_fault_is_asked_again_by_the_next_invocation(runs: Runs) -> None:
    """What a provider failed to answer is in no denominator, and is the first thing that the same command asks."""

    def script(body: dict[str, Any], number: int) -> Answer:
        return nonsense(body, number) if problem_of(body).id == PROBLEMS[1].id else reference(body)

    with scripted_server(script) as server:
        report = runs.run(server, limit=4)
    assert reasons(report) == {
        problem: "fault provider_error" if problem == PROBLEMS[1].id else "passed all_tests_passed"
        for problem in first_ids(4)
    }
    assert {(estimate.value, estimate.n) for estimate in report.grading.summary.estimates} == {(1.0, 3)}
    assert runs.manifest()["fault_list"]
    assert [row["task_id"] for row in runs.samples() if row["ending"] == "failed"] == [PROBLEMS[1].id]
    with scripted_server(reference) as server:
        again = runs.run(server, limit=4)
        assert [problem_of(body).id for body in server.requests] == [PROBLEMS[1].id]
    assert set(reasons(again).values()) == {"passed all_tests_passed"}
    assert (again.asked, again.answered_before, again.ledger.retries) == (1, 3, 1)
    assert {estimate.n for estimate in again.grading.summary.estimates} == {4}


def test_nothing_hangs_when_a_run_waits_and_calls_fail(runs: Runs) -> None:
    """A call that fails frees what it had reserved, so that who waits for room goes on."""

    def script(body: dict[str, Any], number: int) -> Answer:
        return nonsense(body, number) if number % 2 else using(300, REPLY_TOKENS)(body, number)

    with scripted_server(script) as server:
        report = runs.run(server, limit=8, max_tokens=2_500, reply_tokens=REPLY_TOKENS, max_connections=6)
        assert len(server.requests) == 8
    assert Counter(reasons(report).values()) == {"fault provider_error": 4, "passed all_tests_passed": 4}
    assert report.ledger.reserved.tokens == 0
