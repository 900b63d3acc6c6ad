"""``bw report``: in a terminal, as Markdown, as one object."""

import json
from pathlib import Path

import pytest
from running_bw import Run
from stored_pieces import F, P, add_run

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
    assert "runs of each (power 80 %): 2,453 by the problems' own chance, 1 by how much these 2 runs differ." in said
    assert "is not known: give several runs" not in said


def test_one_run_does_not_say_how_much_a_score_moves(bw: Run, store: Path) -> None:
    """One line says what it takes."""
    add_run(store, "alder", "PPFF")
    said = bw("report", "alder").stdout
    assert "How much the score moves from run to run is not known: give several runs (bw report RUN RUN …).\n" in said
    assert "standard deviation" not in said


def test_two_repeated_models_have_both_answers(bw: Run, store: Path) -> None:
    """How many runs tell them apart on these problems, and what it takes on problems like these."""
    for run, results in enumerate(("PPFFPPFF" * 10, "PFFFPPFP" * 10)):
        add_run(store, "alder", results, run_id=f"a{run}")
        add_run(store, "birch", results[::-1], run_id=f"b{run}")
    said = bw("report", "alder", "birch").stdout
    assert "To see 2 points between alder and birch" in said
    assert "On just these problems it takes 62 runs of each, by their own chance (power 80 %)." in said
    assert "On problems like these it takes more problems, for runs do not replace them: " in said


def test_weaknesses_stand_first(bw: Run, store: Path) -> None:
    """The lowest score of enough problems is on top, few problems come last, difficulty goes from easy to hard."""
    times = ("<15 min fix", "15 min - 1 hour", "1-4 hours", ">4 hours")
    names = [f"lib{number:02}" for number in range(17)]
    facts = [
        ProblemFacts(id=f"p{group * 30 + number}", libraries=(names[group],), difficulty=times[3 - group % 4])
        for group in range(17)
        for number in range(30 if group else 5)
    ]
    passes = {one.id: (P if int(one.id[1:]) % 30 < int(one.id[1:]) // 30 else F,) for one in facts}
    add_run(store, "alder", passes, facts=facts)
    said = bw("report", "alder").stdout
    libraries = [line.split("│")[1].strip() for line in said.splitlines() if "│ lib" in line]
    assert libraries == names[1:16]
    assert "The lowest score first, then those with few problems." in said
    assert "2 more are shown by --all-groups, and are in the JSON." in said
    assert sorted(times, key=said.index) == list(times)
    assert "From easy to hard." in said
    said = bw("report", "alder", "--all-groups").stdout
    assert [line.split("│")[1].strip() for line in said.splitlines() if "│ lib" in line] == [*names[1:], names[0]]
    assert "--all-groups" not in said
    assert f"| {names[0]} |" in bw("report", "alder", "--all-groups", "--markdown").stdout


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
        "open_closed_gap", "runs_needed", "notes",
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
