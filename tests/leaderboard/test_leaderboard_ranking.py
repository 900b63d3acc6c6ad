"""From runs to a table: order, ratings, estimates, flags, names."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leaderboard_pieces import agent, imported, scored, stored

from benchwright.app.importing_logs import UNFINISHED
from benchwright.app.importing_reports import ERRORS
from benchwright.app.importing_submissions import PARTIAL
from benchwright.core.benchmark_facts import BenchmarkFacts, TaskErrors
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import (
    BUNDLED,
    ModelFacts,
    Origin,
    ProblemFacts,
    ReportedScore,
    ScoredRun,
    Source,
    StoredRun,
    Tally,
)
from benchwright.leaderboard.flags import shared_flags
from benchwright.leaderboard.policy import Imports, Policy, arrange
from benchwright.leaderboard.ranking import RankOptions, table_of
from benchwright.leaderboard.reported import reported_tables
from benchwright.leaderboard.tables import LeaderboardRow, Table, table_to_plain
from benchwright.stats.ratings import Anchor, Ties

QUICK = RankOptions(rounds=50)


def ranked(*runs: ScoredRun, options: RankOptions = QUICK) -> Table:
    """The main table of some runs."""
    return table_of(arrange(runs, Policy(imports=Imports.WITH))[0], options)


def row_of(table: Table, model: str) -> LeaderboardRow:
    """The one row of a model."""
    (row,) = [row for row in table.rows if row.model == model]
    return row


def flag_names(row: LeaderboardRow) -> list[str]:
    """Names of a row's flags."""
    return [flag.name for flag in row.flags]


@settings(deadline=None)  # scipy takes seconds to import, once
@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=2, max_size=6))
def test_with_half_ties_the_order_is_that_of_what_is_solved(outcomes: list[list[int]]) -> None:
    """Rows stand by rating, which among models with the same problems is the order of their counts."""
    table = ranked(*(scored(f"m{number}", one) for number, one in enumerate(outcomes)), options=RankOptions(rounds=2))
    counts = [row.solved for row in table.rows]
    assert counts == sorted(counts, reverse=True)
    ranks = [row.rated.rank for row in table.rows if row.rated]
    assert ranks == [1 + sum(other > one for other in counts) for one in counts]


def test_a_row_says_what_its_run_came_to() -> None:
    """Estimate and interval under the score's name, solved, faults with their bracket, cost."""
    passed, missing, fault = (
        Tally(scored=1, passed=1),
        Tally(scored=1, passed=0, missing=1),
        Tally(scored=0, passed=0, faults=1),
    )
    tallies = {"p0": passed, "p1": passed, "p2": missing, "p3": fault}
    runs = [scored("a", tallies, cost=2.5), scored("b", [0, 0, 0, 1])]
    row = row_of(ranked(*runs), "a")
    assert row.estimate is not None
    assert (row.estimate.metric, row.estimate.n, row.estimate.value) == ("pass@1[calibrated]", 3, pytest.approx(2 / 3))
    assert row.estimate.low < 2 / 3 < row.estimate.high
    assert (row.solved, row.problems, row.faults, row.missing, row.cost) == (2, 4, 1, 1, 2.5)
    assert (row.worst, row.best) == (0.5, 0.75)
    assert flag_names(row) == ["faults", "missing"]


def test_the_same_runs_give_the_same_table() -> None:
    """Chance has a seed; the order in which runs come is no matter."""
    runs = [scored(f"m{number}", np.random.default_rng(number).integers(0, 2, 20).tolist()) for number in range(4)]
    assert ranked(*runs) == ranked(*reversed(runs))
    other = ranked(*runs, options=RankOptions(rounds=50, seed=1))
    assert other != ranked(*runs)
    assert [row.rated and row.rated.rating for row in other.rows] == [
        row.rated and row.rated.rating for row in ranked(*runs).rows
    ]


def test_one_model_alone_is_not_rated() -> None:
    """It has an estimate, no rating, and the table says why."""
    table = ranked(scored("a", [1, 0]))
    assert table.rows[0].rated is None
    assert table.rows[0].estimate is not None
    assert "There is nothing to rate: a rating takes two models with scored problems." in table.notes
    assert not ranked(scored("a", [1]), scored("b", [0]), options=RankOptions(rating=False)).method


@pytest.mark.parametrize("outcome", [0, 1])
def test_all_equal_is_one_rank(outcome: int) -> None:
    """Nobody passes anything, or all pass all: everyone is first, from first to last."""
    table = ranked(*(scored(name, [outcome] * 5) for name in "abc"))
    assert [(row.rated.rank, row.rated.rank_low, row.rated.rank_high) for row in table.rows if row.rated] == [
        (1, 1, 3)
    ] * 3


@pytest.mark.parametrize("ties", list(Ties))
def test_what_ratings_rest_on_is_said(ties: Ties) -> None:
    """All alike; nobody beaten by a model that it beats, where ties are dropped; one that is ahead of all others."""
    options = RankOptions(rounds=2, ties=ties)
    equal = ranked(*(scored(name, [1, 0]) for name in "ab"), options=options).notes
    assert equal == ("All models come out the same: the ratings tell nothing apart.",)
    ordered = ranked(scored("a", [1, 1]), scored("b", [1, 0]), scored("c", [0, 0]), options=options).notes
    assert ("No two models beat each other" in " ".join(ordered)) is (ties is Ties.DROP)
    ahead = ranked(scored("a", [1, 1, 1]), scored("b", [1, 0, 0]), scored("c", [0, 1, 0]), options=options).notes
    assert ("Models that win or lose every match against the others: 1;" in " ".join(ahead)) is (ties is Ties.DROP)


def test_faults_alone_are_not_rated() -> None:
    """A run whose samples are all faults has neither estimate nor rating, and is last."""
    table = ranked(scored("a", [1, 0]), scored("b", [0, 0]), scored("broken", [None, None]))
    last = table.rows[-1]
    assert (last.model, last.rated, last.estimate, last.faults, last.worst, last.best) == (
        "broken",
        None,
        None,
        2,
        0,
        1,
    )


def test_the_anchor_is_at_its_value() -> None:
    """By the model's name; one that is not there is refused with near misses."""
    runs = [scored("alder", [1, 1, 0]), scored("birch", [0, 1, 0])]
    table = ranked(*runs, options=RankOptions(rounds=10, anchor=Anchor(model="birch", value=800)))
    rated = row_of(table, "birch").rated
    assert rated is not None
    assert rated.rating == pytest.approx(800)
    assert table.anchor == "birch = 800"
    with pytest.raises(UnknownNameError, match="did you mean birch"):
        ranked(*runs, options=RankOptions(anchor=Anchor(model="birsh")))


def test_repeats_that_were_asked_alike_are_pooled() -> None:
    """Two runs of one model, known to have been asked in the same way, are one row with its spread."""
    asked = {"manifest": {"template_digest": "t", "generation": {"temperature": 1}}}
    runs = [
        scored("a", [1, 1, 0, 0], run_id="1", recorded="2026-01-01", cost=1.0, **asked),
        scored("a", [1, 0, 0, 0], run_id="2", recorded="2026-01-02", cost=2.0, **asked),
        scored("b", [0, 0, 0, 1]),
    ]
    row = row_of(ranked(*runs), "a")
    assert (row.label, row.runs, row.solved, row.cost) == ("a (2 runs)", 2, 2, 3.0)
    assert row.estimate is not None
    assert (row.estimate.value, row.estimate.samples) == (0.375, 2)
    assert row.spread == pytest.approx(np.std([0.5, 0.25], ddof=1))
    assert row.entries == (runs[0].run.entry, runs[1].run.entry)


def test_runs_that_share_only_a_name_stay_apart() -> None:
    """Gradings of answer files, other settings and imports: each has a row, told apart by its entry."""
    alike = {"template_digest": "t"}
    runs = [
        scored("a", [1, 1], run_id="1"),
        scored("a", [1, 0], run_id="2"),
        scored("a", [0, 0], manifest={**alike, "generation": {"temperature": 0}}),
        scored("a", [0, 1], manifest={**alike, "generation": {"temperature": 1}}),
        imported("a", [0, 0], manifest=alike),
    ]
    table = ranked(*runs)
    assert {row.label for row in table.rows} == {f"a [{one.run.entry[:8]}]" for one in runs}
    assert all(row.runs == 1 for row in table.rows)


def test_missing_answers_are_those_of_the_tables_problems() -> None:
    """What a run lacks on problems that are not compared is no flag of its row."""
    absent = Tally(scored=1, passed=0, missing=1)
    runs = [scored("a", {"p0": absent, "p1": absent}, missing=2), scored("b", [1])]
    table = table_of(arrange(runs, Policy(common=True))[0], QUICK)
    assert {row.model: row.missing for row in table.rows} == {"a": 1, "b": 0}


def test_numbers_alone_count_no_problems() -> None:
    """Where a source states a number, its flag speaks of the benchmark and not of one problem."""
    run = stored(
        "a", origin=Origin.IMPORTED, source=Source(kind="k", title="List"), scores=(),
        reported=(ReportedScore(metric="pass@1", value=0.5),), facts=ModelFacts(cutoff="2025-01-01"),
    )  # fmt: skip
    (table,) = reported_tables([run], title="B", benchmark=BenchmarkFacts(public="2024-06-18"))
    texts = [flag.text for flag in table.rows[0].flags if flag.name == "contamination"]
    assert texts == ["The problems were public before the model's cut-off, 2025-01-01."]


def test_what_others_hand_over_is_nobodys_repeat() -> None:
    """A run out of a bundle has a row of its own, however alike it says it was asked."""
    asked = {"manifest": {"template_digest": "t"}}
    runs = [scored("a", [1, 0], run_id="1", **asked), scored("a", [1, 1], run_id="2", flags=("bundle",), **asked)]
    assert [row.runs for row in ranked(*runs).rows] == [1, 1]


def test_a_model_named_like_a_label_has_one_of_its_own() -> None:
    """Rows have different labels even if a model is called what tells two others apart."""
    twice = [scored("a", [1, 0], run_id="1"), scored("a", [1, 1], run_id="2")]
    names = [f"a [{one.run.entry[:8]}]" for one in twice]
    labels = [row.label for row in ranked(*twice, *(scored(name, [0, 1]) for name in names)).rows]
    assert len(set(labels)) == 4
    assert {row.model for row in ranked(*twice, *(scored(name, [0, 1]) for name in names)).rows} == {"a", *names}


def test_strange_names_stay_whole() -> None:
    """Names are data: markup, slashes, any script and any length are kept as they are."""
    names = ["<script>alert(1)</script>", "[bold]x[/bold]", "a/b/c", "模型-α", "x" * 5000]
    table = ranked(*(scored(name, [number % 2, 1]) for number, name in enumerate(names)))
    assert {row.model for row in table.rows} == set(names) == {row.label for row in table.rows}
    assert json.loads(json.dumps(table_to_plain(table)))["rows"][0]["model"] in names


def test_imports_are_flagged_with_their_source() -> None:
    """Among own runs, every import says that it is one and keeps its source's name of the number."""
    reported = (ReportedScore(metric="pass@1", value=0.5),)
    row = row_of(ranked(scored("own", [1, 1]), imported("theirs", [1, 0], reported=reported)), "theirs")
    assert flag_names(row)[0] == "import"
    assert row.flags[0].text == "Imported from Official verdicts; not graded by benchwright."
    assert row.estimate is not None
    assert row.estimate.metric == "pass@1"


def test_an_unstated_version_is_flagged() -> None:
    """The reader is told that it is not known on which data the import is."""
    table = ranked(scored("own", [1, 1]), imported("theirs", [1, 0], version="unstated"))
    assert flag_names(row_of(table, "theirs")) == ["import", "version_unstated"]


def test_integrity_findings_are_flagged() -> None:
    """What an agent's run reports of grave findings is said, with the score without the passes concerned."""
    grave = {"attempts": 3, "passes": 2, "value": 0.25}
    found = agent("a", [1, 0])
    with_report = agent("b", [1, 0])
    manifest = {"agents": {"integrity": {"grave": grave}}}
    run = dataclasses.replace(with_report.run, manifest=manifest)
    table = ranked(found, dataclasses.replace(with_report, run=run))
    (flag,) = row_of(table, "b").flags
    assert (flag.name, "without these passes the score is 25.0 %" in flag.text) == ("integrity", True)
    assert row_of(table, "a").flags == ()


@pytest.mark.parametrize(
    ("facts", "flag"),
    [
        (ModelFacts(cutoff="2024-05"), None),
        (ModelFacts(cutoff="2024-06"), "contamination"),
        (ModelFacts(released="2024-06-01"), None),
        (ModelFacts(released="2025"), "contamination_possible"),
        (ModelFacts(cutoff="2024-05", released="2025"), None),
        (ModelFacts(), "cutoff_unknown"),
        (ModelFacts(cutoff="soon", released="2024-13"), "cutoff_unknown"),
    ],
)
def test_the_contamination_window_is_flagged(facts: ModelFacts, flag: str | None) -> None:
    """A cut-off is compared with the benchmark's date; where it is unknown, the day of release bounds it."""
    options = RankOptions(rounds=2, benchmark=BenchmarkFacts(public="2024-06-18"))
    row = row_of(ranked(scored("a", [1, 0], facts=facts), scored("b", [0, 0]), options=options), "a")
    assert flag_names(row) == ([flag] if flag else [])


@pytest.mark.parametrize("name", [BUNDLED, ERRORS, UNFINISHED, PARTIAL])
def test_every_flag_of_an_import_is_explained(name: str) -> None:
    """Whatever taking results in may flag has a sentence of its own."""
    (flag,) = [one for one in ranked(scored("a", [1, 0], flags=(name,))).rows[0].flags if one.name == name]
    assert not flag.text.startswith("The run is marked")


def test_a_problems_own_date_is_used() -> None:
    """Where problems have dates, each counts by its own."""
    dates = {"p0": ProblemFacts(id="p0", created="2020-01-01"), "p1": ProblemFacts(id="p1", created="2026-01-01")}
    options = RankOptions(rounds=2, problems=dates, benchmark=BenchmarkFacts(public="2019-01-01"))
    run = scored("a", [1, 0], facts=ModelFacts(cutoff="2024-01-01"))
    row = row_of(ranked(run, scored("b", [0, 0]), options=options), "a")
    assert row.flags[0].text == "1 of 2 problems were public before the model's cut-off, 2024-01-01."


def test_flags_of_all_rows_can_be_said_once() -> None:
    """Only what every row says in the same words is shared."""
    table = ranked(imported("a", [1, None]), imported("b", [1, 0]))
    assert [flag.name for flag in shared_flags([row.flags for row in table.rows])] == ["import"]
    assert shared_flags([]) == ()


def test_what_is_known_of_the_benchmark_stands_below() -> None:
    """The source's own estimate of wrong tasks is a note of every table, told from those on its rows."""
    errors = TaskErrors(low=0.05, high=0.1, text="Some tasks are wrong.", source="https://example.org")
    table = ranked(scored("a", [1]), options=RankOptions(benchmark=BenchmarkFacts(task_errors=errors)))
    assert table.benchmark_notes == ("Some tasks are wrong. (https://example.org)",)
    assert table_to_plain(table)["notes"] == [*table.notes, *table.benchmark_notes]


def test_models_without_a_scored_problem_in_common_are_not_compared() -> None:
    """Faults may leave no problem that both have a result on; the table says that there are groups."""
    table = ranked(scored("a", [1, None]), scored("b", [None, 1]))
    assert any("2 groups without a scored problem in common" in note for note in table.notes)


def test_reported_numbers_have_tables_of_their_own() -> None:
    """By source and variant, the highest first, in the source's words and without any rating."""
    source = Source(kind="list", title="Some list", note="As of May.")

    def entry(model: str, value: float, variant: str) -> StoredRun:
        return stored(
            model, origin=Origin.IMPORTED, source=source, scores=(), variant=variant,
            reported=(ReportedScore(metric="accuracy", value=value, n=7),),
        )  # fmt: skip

    runs = [entry("low", 0.1, "complete"), entry("high", 0.9, "complete"), entry("low", 0.2, "instruct")]
    first, second = reported_tables(runs, title="Bench", benchmark=BenchmarkFacts(public="2024-06-18"))
    assert [row.model for row in first.rows] == ["high", "low"]
    assert (first.metric, first.score, first.notes, second.variant) == ("accuracy", None, ("As of May.",), "instruct")
    assert "without the verdicts" in first.reason
    assert table_to_plain(first)["rows"][0]["reported"] == {"accuracy": 0.9}
    assert flag_names(first.rows[0]) == ["import", "cutoff_unknown"]
    other = (ReportedScore(metric="rating", value=1200), ReportedScore(metric="accuracy", value=0.5))
    (mixed,) = reported_tables(
        [runs[0], dataclasses.replace(runs[0], entry="e" * 64, reported=other),
         dataclasses.replace(runs[0], entry="f" * 64, reported=other[:1])],
        title="Bench", benchmark=BenchmarkFacts(),
    )  # fmt: skip
    assert [mixed.number_of(row) for row in mixed.rows] == [0.5, 0.1, None]  # whatever else a row states
    with pytest.raises(UsageError, match="states no number"):
        reported_tables([stored("own")], title="Bench", benchmark=BenchmarkFacts())


def test_tallies_of_several_samples_are_bootstrapped() -> None:
    """With more than one sample the estimate is the unbiased one, and says how many samples there were."""
    tallies = {f"p{number}": Tally(scored=4, passed=number) for number in range(4)}
    row = row_of(ranked(scored("a", tallies, samples=4), scored("b", tallies, samples=4, run_id="b")), "a")
    assert row.estimate is not None
    assert (row.estimate.method, row.estimate.samples, row.estimate.value) == ("bootstrap(2000)", 4, 0.375)
