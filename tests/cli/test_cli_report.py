"""``bw report``: in a terminal, as Markdown, as one object."""

import json
from pathlib import Path

import pytest
from running_bw import Run
from stored_pieces import add_run

from benchwright.core.results import ModelFacts, ProblemFacts
from benchwright.core.runs import Score

FACTS = [ProblemFacts(id=f"p{number}", domains=("even" if number % 2 else "odd|<b>",)) for number in range(4)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store of the home below the temporary folder."""
    return tmp_path / "home" / "results"


def test_one_model_is_told_in_full(bw: Run, store: Path) -> None:
    """Estimates, what faults could change, where it fails with a warning on small groups, outcomes, costs."""
    add_run(store, "alder", "PPFX", facts=FACTS, cost=3.0, scores=(Score.EXTRACTED, Score.CALIBRATED))
    done = bw("report", "alder")
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "2 of 4 problems solved.",
        "Cost: 3.00 USD, 1.500 for each solved problem.",
        "Faults, left out of the score (1): p3#0: why",
        "Faults could move calibrated between 50.0 % (all failures) and 75.0 % (all passes): 1 samples of 1 problems.",
        "extracted (uncalibrated)",
        "66.7 %  [20.8, 93.9]",
        "By domain",
        "few: so few problems that the number should not be relied on.",
        "sandbox_lost",
    ):
        assert words in done.stdout


def test_repeats_are_told(bw: Run, store: Path) -> None:
    """The spread between runs beside what chance explains, pass^k, and how many runs show two points."""
    add_run(store, "alder", "PPFF", run_id="1")
    add_run(store, "alder", "PFFP", run_id="2")
    said = bw("report", "alder").stdout
    assert "Solved always: 1, sometimes: 2, never: 1 problems." in said
    assert "pass^2, all of 2 samples right: 25.0 %" in said
    assert "Between 2 runs (50.0, 50.0) the score has a standard deviation of 0.0 points" in said
    assert "To see 2 points between this model and one that varies like it on these problems takes" in said


def test_several_models_are_told_together(bw: Run, store: Path) -> None:
    """What nobody and everybody solves, the lists' effect, the gap between open and closed models."""
    add_run(store, "alder", "PPFF", facts_of_model=ModelFacts(open_weights=True))
    add_run(
        store, "birch", "PFFF", facts_of_model=ModelFacts(open_weights=False), manifest={"failed_references": ["p3"]}
    )
    said = bw("report", "alder", "birch").stdout
    assert "2 models on 4 common problems" in said
    assert "Solved by no model (2): p2, p3" in said
    assert "No problem is called suspect with fewer than 8 models." in said
    assert "references that fail" in said
    assert "66.7 % (+16.7)" in said
    assert "Open minus closed +25.0 points" in said


def test_many_models_have_a_line_each(bw: Run, store: Path) -> None:
    """More than five would fill screens; the best is first."""
    for number in range(6):
        add_run(store, f"m{number}", "P" * number + "F" * (6 - number))
    said = bw("report", *(f"m{number}" for number in range(6))).stdout
    assert "Everything on each model is in the JSON" in said
    assert said.index("m5") < said.index("m0")
    assert "By domain" not in said


def test_markdown_holds_the_same_and_escapes_names(bw: Run, store: Path) -> None:
    """Tables are tables, names are text: nothing in them ends a cell or begins a tag."""
    add_run(store, "<script>|*x*", "PF", facts=FACTS[:2])
    said = bw("report", "<script>|*x*", "--markdown").stdout
    assert said.startswith("# Report on starter\n")
    assert "# \\<script\\>\\|\\*x\\*" in said
    assert "| score | k | pass@k | of | interval by |\n|---|---:|---:|---:|---:|" in said
    assert "odd\\|\\<b\\>" in said
    assert "<script>" not in said


def test_a_report_is_one_object(bw: Run, store: Path) -> None:
    """The fields that others build on are all there."""
    add_run(store, "alder", "PF")
    done = bw("report", "alder", "--json")
    assert done.returncode == 0
    plain = json.loads(done.stdout)
    assert set(plain) == {
        "benchmark", "human", "task_errors", "models", "compared", "compared_problems", "apart", "exclusions", "items",
        "open_closed_gap", "notes",
    }  # fmt: skip
    assert {
        "model", "runs", "estimates", "bounds", "pass_hat_k", "repeats", "runs_needed", "breakdowns", "outcomes",
        "laziness", "integrity", "cost", "cpu_seconds", "wall_seconds",
    } <= set(plain["models"][0])  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody",), "nobody"),
        ((), "RUNS"),
        (("alder", "--markdown", "--json"), "choose one of them"),
        (("alder", "--score", "patch"), "was not graded as patch"),
        (("alder", "--dataset", "none.jsonl"), "none.jsonl"),
    ],
)
def test_what_cannot_be_reported_is_misuse(bw: Run, store: Path, arguments: tuple[str, ...], words: str) -> None:
    """Exit code 2, nothing on standard output, one sentence."""
    add_run(store, "alder", "PF")
    done = bw("report", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
