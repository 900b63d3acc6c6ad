"""What ``bw run`` says of an agent: progress in a line, what a run would do, and what it came to."""

import dataclasses
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import BAD, GOOD, IDS, AgentRuns, failing_for
from rich.console import Console
from running_bw import Done, Run

from benchwright.app.agents.harness import AgentProgress
from benchwright.app.agents.report import AgentRunReport, AgentSummary
from benchwright.cli import agent_progress
from benchwright.cli.agent_progress import money, progress_line
from benchwright.cli.agent_tables import show_agents
from benchwright.core.agents import AgentAttempt, Finding, FindingKind
from benchwright.core.attempts import Ending
from benchwright.judging.integrity import summarise

CALLS = ("--max-retries", "0", "--no-preflight")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentRuns:
    """Runs in which nothing has to be built."""
    return AgentRuns(tmp_path, monkeypatch).nothing_is_built()


@pytest.fixture
def start(bw: Run, runs: AgentRuns) -> Callable[..., Done]:
    """Calls ``bw run`` on the little rows."""

    def run(*options: object, out: str = "out") -> Done:
        script = runs.folder / "turns.json"
        script.write_text(json.dumps(runs.script), encoding="utf-8")
        model = ("--model", "benchwright/scripted", "-M", f"script={script}", "--scaffold", "bash-only")
        return bw("run", "repositories", "--dataset", runs.rows, *model, *CALLS, "--out", out, *options)

    return run


def progress(**changes: Any) -> AgentProgress:
    """How far a run is."""
    values: dict[str, Any] = {
        "queued": 5,
        "running": 2,
        "finished": 3,
        "graded": 2,
        "resolved": 1,
        "faults": 1,
        "tokens": 1_234_567,
        "cost": 1.5,
        "seconds_left": None,
    }
    return AgentProgress(**{**values, **changes})


def test_progress_is_one_line() -> None:
    """Samples by where they are, what they took, and how long the rest takes."""
    assert progress_line(progress()) == (
        "3 of 10 finished, 2 running, 5 queued; 1 of 2 graded resolved, 1 faults; 1,234,567 tokens, $1.50"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "about 1 min left"),
        (89.0, "about 1 min left"),
        (91.0, "about 2 min left"),
        (3569.0, "about 59 min left"),
        (3571.0, "about 1 h 00 min left"),
        (7500.0, "about 2 h 05 min left"),
        (360_000.0, "about 100 h 00 min left"),
    ],
)
def test_time_left_is_in_minutes(seconds: float, words: str) -> None:
    """Nobody wants to know it better."""
    assert progress_line(progress(seconds_left=seconds)).endswith(f", {words}")


@pytest.mark.parametrize(
    ("cost", "words"),
    [(None, "cost unknown"), (0.0, "$0.0000"), (0.01234, "$0.0123"), (1.0, "$1.00"), (12_345.678, "$12,345.68")],
)
def test_money(cost: float | None, words: str) -> None:
    """Small sums with their hundredths of a cent; what is not known is not nothing."""
    assert money(cost) == words


def test_a_dry_run_in_words(start: Callable[..., Done], runs: AgentRuns) -> None:
    """What, with what, how much, and what it may cost; nothing is written."""
    runs.unavailable = {IDS[2]: "no Python 3.99"}
    done = start("--dry-run", "--samples", "2", "--sample-tokens", "1000000", "--sample-turns", "40")
    assert done.returncode == 0, done
    for words in (
        "model benchwright/scripted, scaffold bash-only in namespace",
        "would work on 4 samples of 2 problems; 0 are finished already",
        f"not available here: {IDS[2]}: no Python 3.99",
        "1,000,000 uncached tokens, 20,000,000 tokens read from the cache, 40 turns",
        "the cost grows with the square of the turns and this budget ends after about 31",
        "cost at most about: unknown (no price, or no limit)",
        "bash: function",
        "folder: out",
    ):
        assert words in done.stdout
    assert not (runs.folder / "out").exists()


def test_a_dry_run_with_a_price(start: Callable[..., Done], runs: AgentRuns) -> None:
    """Says the most that it can cost; without a limit of tokens there is no forecast of turns."""
    prices = runs.folder / "prices.toml"
    prices.write_text(
        'schema = 1\n[models."benchwright/scripted"]\ninput = 1.0\noutput = 10.0\nas_of = "2026-01-01"\nsource = "x"\n'
    )
    done = start("--dry-run", "--prices", prices, "--sample-tokens", "1000", "--sample-cached-tokens", "1000")
    assert "cost at most about: $0.0330, if every sample used its whole budget" in done.stdout
    done = start("--dry-run", "--prices", prices, "--sample-tokens", "0", "--sample-cost", "2")
    assert "20,000,000 tokens read" in done.stdout and "square" not in done.stdout
    assert "cost at most about: $6.00" in done.stdout


def test_temperature_and_length_of_replies_reach_the_model(start: Callable[..., Done]) -> None:
    """Only where they are given; the rest is the provider's own."""
    planned = json.loads(start("--dry-run", "--json", "--temperature", "0.5", "--reply-tokens", "900").stdout)
    assert (planned["temperature"], planned["reply_tokens"], planned["generation"]) == (0.5, 900, {})
    planned = json.loads(start("--dry-run", "--json").stdout)
    assert (planned["temperature"], planned["reply_tokens"], planned["generation"]) == (None, None, {})


def test_a_run_in_words(start: Callable[..., Done], runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score, the endings, what it took, and where the transcripts are; progress goes to standard error."""
    monkeypatch.setattr(agent_progress, "_LINE_SECONDS", 0.0)
    runs.patches[IDS[1]] = BAD
    done = start()
    assert done.returncode == 0, done
    for words in (
        "model benchwright/scripted",
        "2 of 3",
        "scaffold bash-only, evaluation 1.",
        "submitted",
        "3 samples finished now, 0 before; in the median 1 turns, 110 tokens",
        "all calls: 330 tokens, cost unknown",
        "Integrity: nothing was found that a person should look at.",
        "transcripts: bw view out",
    ):
        assert words in done.stdout
    assert "Stopped" not in done.stdout
    assert "3 of 3 finished, 0 running, 0 queued" in done.stderr
    assert "0 samples finished now, 3 before" in start().stdout


def test_a_stopped_run_in_words(start: Callable[..., Done], runs: AgentRuns) -> None:
    """Says why, what is missing, and how it goes on; the exit status is 4."""
    runs.script = {"*": [{"calls": [{"tool": "submit"}], "usage": {"input_tokens": 20_000, "output_tokens": 9}}]}
    done = start("--max-tokens", "24000")
    assert done.returncode == 4, done
    shown = " ".join(done.stdout.split())
    assert "Stopped: A call may use" in shown and "Of 3 samples 2 are not finished" in shown
    assert "The same command goes on (with a larger cap" in shown


def test_a_run_that_fails_in_json(start: Callable[..., Done], runs: AgentRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output is one object, also where nothing was finished."""
    failing_for(monkeypatch, *IDS)
    done = start("--json")
    assert done.returncode == 4
    report = json.loads(done.stdout)
    assert report["agents"]["endings"] == {"failed": 3} and "the server is on fire" in report["stopped"]
    done = start("--json", "--max-tokens", "5", out="other")
    assert done.returncode == 4
    assert json.loads(done.stdout)["status"] == "stopped"


def shown(report: AgentRunReport) -> str:
    """What is printed of a run's agents, on a wide terminal."""
    out = Console(file=StringIO(), width=160, color_system=None)
    show_agents(out, report)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def attempt(name: str, *findings: Finding, ending: Ending = Ending.SUBMITTED) -> AgentAttempt:
    """A sample with findings."""
    return AgentAttempt(problem_id=name, sample=0, ending=ending, findings=findings, log="logs/1", log_sample=name)


def with_attempts(report: AgentRunReport, *attempts: AgentAttempt) -> AgentRunReport:
    """A report on other attempts, the first of which pass."""
    judged = [(one, number < 2) for number, one in enumerate(attempts) if one.ending is not Ending.FAILED]
    summary = AgentSummary(
        endings={"out_of_budget": len(attempts)}, turns=1, tokens=1, wall_seconds=1.0, integrity=summarise(judged)
    )
    return dataclasses.replace(report, attempts=attempts, summary=summary)


def found(kind: FindingKind, turn: int | None = 1, excerpt: str = "curl x") -> Finding:
    """A finding."""
    return Finding(kind=kind, turn=turn, excerpt=excerpt)


@pytest.fixture
def report(runs: AgentRuns) -> AgentRunReport:
    """A report to put other attempts in."""
    runs.patches = dict.fromkeys(IDS, GOOD)
    return runs.run()


def test_findings_are_shown_with_the_score_without_them(report: AgentRunReport) -> None:
    """Each kind by itself, those that could give a pass together, and the transcript's turns."""
    one = attempt(IDS[0], found(FindingKind.NETWORK), found(FindingKind.LONG_WAIT, 3, "sleep [bold]99[/bold]"))
    two = attempt(IDS[1], found(FindingKind.TEST_EDIT, None, "tests/test_x.py"))
    three = attempt(IDS[2])
    lines = [
        " ".join(line.replace("│", " ").split()) for line in shown(with_attempts(report, one, two, three)).splitlines()
    ]
    for line in (
        "out of budget 3",
        "network 1 1 33.3 %",
        "long wait 1 1 33.3 %",
        "test edit 1 1 33.3 %",
        "network, history or runner configuration 1 1 33.3 %",
        f"logs/1 {IDS[0]}, turn 1: network: curl x",
        f"logs/1 {IDS[0]}, turn 3: long wait: sleep [bold]99[/bold]",
        f"logs/1 {IDS[1]}: test edit: tests/test_x.py",
    ):
        assert line in lines


def test_harmless_findings_have_no_line_of_grave_ones(report: AgentRunReport) -> None:
    """And those of a sample that failed are not shown at all."""
    text = shown(
        with_attempts(
            report,
            attempt(IDS[0], found(FindingKind.OUTSIDE_WRITE, None, "/opt/x")),
            attempt(IDS[1], found(FindingKind.NETWORK), ending=Ending.FAILED),
        )
    )
    assert "outside write" in text and "network" not in text


def test_more_findings_than_are_shown_are_counted(report: AgentRunReport) -> None:
    """Nothing is left out silently."""
    many = [found(FindingKind.HISTORY, turn, f"git log {turn}") for turn in range(1, 14)]
    text = shown(with_attempts(report, attempt(IDS[0], *many)))
    assert "turn 10: history" in text and "turn 11: history" not in text
    assert "… and 3 more; all are in attempts.jsonl." in text
