"""Comparing two gradings problem by problem, and what a summary says of left-out imports."""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, run_grading, write_samples

from benchwright.app.compare import compare
from benchwright.app.results import regrade
from benchwright.app.summary import summarise
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.stubs import given_names
from benchwright.cli.compare import lines
from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import Evaluation
from benchwright.core.execution import ExecutionRecord, Job, LoadError, TestOutcome, TestPlan
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging import function
from benchwright.stats.paired import mcnemar_exact
from benchwright.store.folder import ResultsFolder
from benchwright.testing import finished_record

REASONS = {
    Outcome.PASSED: Reason.ALL_TESTS_PASSED,
    Outcome.FAILED: Reason.ASSERTION,
    Outcome.NO_ANSWER: Reason.MISSING,
    Outcome.FAULT: Reason.SANDBOX_LOST,
}
P, F, M, X = Outcome.PASSED, Outcome.FAILED, Outcome.NO_ANSWER, Outcome.FAULT


def row(problem: str, sample: int, score: Score, outcome: Outcome, *missing: str) -> ResultRow:
    """One judged sample."""
    verdict = Verdict(
        outcome=outcome,
        reason=REASONS[outcome],
        detail="why",
        planned=1,
        passed=int(outcome is P),
        judge_version=1,
        record_digest=None,
    )
    return ResultRow(
        problem_id=problem, sample=sample, score=score, verdict=verdict, job_digest=None, missing_names=missing
    )


Outcomes = Mapping[str, Iterable[Outcome]]
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a finished grading with the outcomes of each problem's samples, the same under every score."""

    def write(name: str, outcomes: Outcomes, scores: tuple[Score, ...] = (Score.CALIBRATED,), **fields: Any) -> Path:
        folder = ResultsFolder(tmp_path / name)
        folder.path.mkdir()
        folder.write_rows(
            row(problem, sample, score, outcome)
            for problem, samples in outcomes.items()
            for sample, outcome in enumerate(samples)
            for score in scores
        )
        folder.write_manifest(
            {
                "status": "complete", "benchmark": "starter", "version": "0.1.0", "data_digest": "d", "subset": "full",
                "variant": "complete", "model": name, "scores": [score.value for score in scores],
                "problem_digests": {problem: f"digest of {problem}" for problem in outcomes}, **fields,
            }
        )  # fmt: skip
        return folder.path

    return write


def many(passes: int, fails: int, first: int = 0) -> dict[str, tuple[Outcome, ...]]:
    """Problems with one sample each: so many that are solved, then so many that are not."""
    return {f"p{first + i}": (P if i < passes else F,) for i in range(passes + fails)}


def test_a_better_model_is_said_to_be_better(make: Make) -> None:
    """Difference, interval, exact test, both lists and both means, and a sentence a person can quote."""
    a, b = make("alder", many(60, 40)), make("birch", many(30, 70))
    found = compare(a, b)
    assert (found.paired.difference, found.paired.only_a, found.paired.only_b) == (pytest.approx(0.3), 30, 0)
    assert found.paired.p_value == pytest.approx(mcnemar_exact(30, 0))
    assert found.a.tasks_ahead == tuple(f"p{i}" for i in range(30, 60))
    assert (found.a.mean, found.b.mean, found.b.tasks_ahead) == (0.6, 0.3, ())
    low, high = 100 * found.paired.low, 100 * found.paired.high
    assert found.sentence == f"A solves 30.0 points more [{low:.1f}, {high:.1f}], p = 1.9e-09, n = 100."
    assert compare(b, a).sentence == found.sentence.replace("A solves", "B solves")
    assert found.settings == (("model", "alder", "birch"),)


def test_no_difference_is_not_called_one(make: Make) -> None:
    """An interval that holds 0 shows no difference, and the number of problems is named with it."""
    found = compare(make("a", {**many(5, 5), "x": (P,)}), make("b", {**many(5, 5), "x": (F,)}))
    assert found.sentence.startswith("No difference shown at n = 11 (A minus B +9.1 points [-18.1, ")
    assert found.sentence.endswith("p = 1).")
    same = compare(make("c", many(3, 2)), make("d", many(3, 2)))
    assert same.sentence == "No difference shown at n = 5 (no problem came out differently)."


def test_a_difference_that_the_exact_test_doubts_says_so(make: Make) -> None:
    """Interval and exact test are made differently; where the exact test does not agree, the sentence has it."""
    found = compare(make("a", many(9, 91)), make("b", many(0, 9) | many(2, 89, first=9)))
    assert found.paired.low > 0
    assert found.sentence.endswith("p = 0.065, n = 100; the exact test alone would not show it.")


def test_several_samples_are_compared_by_their_share(make: Make) -> None:
    """With more than one sample the means are of shares, the test is the sign test, and that is said."""
    a = make("a", {"p": (P, P, F, F), "q": (P, F), "r": (F, F)})
    b = make("b", {"p": (P, F, F, F), "q": (P,), "r": (F,)})
    found = compare(a, b)
    assert found.paired.difference == pytest.approx((0.25 - 0.5 + 0) / 3)
    assert (found.a.samples, found.b.samples) == (4, 4)
    plain = found.to_plain()
    assert (plain["test"], plain["k"], plain["samples_a"], plain["samples_b"]) == ("sign", 1, 4, 4)
    assert (plain["tasks_only_a"], plain["tasks_only_b"]) == (["p"], ["q"])


def test_what_is_left_out_is_listed(make: Make) -> None:
    """Problems of one side, faults and missing samples are never passed over in silence."""
    a = make("a", {"p": (P,), "q": (X,), "r": (P, X), "only": (P,), "m": (M,)})
    b = make("b", {"p": (F,), "q": (P,), "r": (F, F), "s": (P,), "m": (P,)})
    found = compare(a, b)
    assert found.paired.n == 3
    plain = found.to_plain()
    assert plain["left_out"] == {"not_in_b": ["only"], "not_in_a": ["s"], "unscored_a": ["q"], "unscored_b": []}
    assert plain["faults_a"] == ["q#0: why", "r#1: why"]
    assert (plain["faults_b"], plain["missing_a"], plain["missing_b"]) == ([], ["m"], [])
    assert (plain["tasks_only_a"], plain["tasks_only_b"]) == (["p", "r"], ["m"])
    assert json.loads(json.dumps(plain)) == plain


def test_the_score_is_the_calibrated_one_unless_asked(make: Make) -> None:
    """Calibrated if both have it, otherwise the last that both have; any common one on request."""
    bare, both = (Score.EXTRACTED,), (Score.AS_WRITTEN, Score.EXTRACTED, Score.CALIBRATED)
    a, b = make("a", many(1, 1), both), make("b", many(1, 1), both)
    c = make("c", many(1, 1), (Score.AS_WRITTEN, *bare))
    assert compare(a, b).score is Score.CALIBRATED
    assert compare(a, c).score is Score.EXTRACTED
    assert compare(a, c, Score.AS_WRITTEN).score is Score.AS_WRITTEN
    with pytest.raises(UsageError, match="B has no score calibrated, only as_written, extracted; choose another"):
        compare(a, c, Score.CALIBRATED)
    with pytest.raises(UsageError, match="none in common"):
        compare(make("d", many(1, 1), (Score.CALIBRATED,)), c)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"benchmark": "bigcodebench"}, "A is a grading of starter, B of bigcodebench"),
        ({"data_digest": "e"}, "the data differs; grade both with the same --data-version"),
        ({"data_digest": "e", "version": "0.2.0"}, r"starter 0\.1\.0 \(full\), B on 0\.2\.0"),
        ({"data_digest": "e", "version": "0.2.0", "subset": "hard"}, "the data differs"),
        ({"data_digest": "e", "subset": "hard", "problem_digests": {"p0": "other"}}, "the data differs, for one p0"),
        ({"data_digest": "e", "subset": "hard", "problem_digests": None}, "the data differs, for one p0"),
        ({"status": "running"}, r"is not finished \(it was interrupted\)"),
        ({"status": "stopped", "stopped": "the budget is used up"}, r"is not finished \(the budget is used up\)"),
    ],
)
def test_other_data_is_refused(make: Make, fields: dict[str, Any], words: str) -> None:
    """Only answers to the same problems can be compared; the message says what differs and what to do."""
    with pytest.raises(UsageError, match=words):
        compare(make("a", many(2, 2)), make("b", many(2, 2), **fields))


def test_a_subset_is_compared_with_the_whole(make: Make) -> None:
    """The same problems have the same digests in a subset; the rest of the whole is listed as left out."""
    found = compare(make("a", many(4, 4)), make("b", many(2, 1), subset="hard", data_digest="of the subset"))
    assert found.paired.n == 3
    assert found.a.not_in_other == ("p3", "p4", "p5", "p6", "p7")
    assert {name for name, _, _ in found.settings} == {"model", "subset", "data_digest"}


def test_nothing_in_common_is_refused(make: Make) -> None:
    """No problem in common, or only faults, is misuse and not a division by zero."""
    with pytest.raises(UsageError, match="no problem in common"):
        compare(make("a", many(1, 1)), make("b", many(1, 1, first=5)))
    with pytest.raises(UsageError, match="a fault on one side"):
        compare(make("c", {"p": (X,), "q": (P,)}), make("d", {"p": (P,), "q": (X,)}))


def test_gradings_of_this_version_can_be_compared(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """What `bw grade` writes is what is compared, another variant of the prompts too."""
    samples = write_samples(tmp_path / "s.jsonl", [(problem.id, problem.reference) for problem in PROBLEMS[:4]])
    a = run_grading(home, samples, tmp_path / "a", ids=first_ids(4), model="a")
    scripted.script = lambda job: finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    wrong = write_samples(
        tmp_path / "w.jsonl", [(problem.id, problem.reference + "\n# other\n") for problem in PROBLEMS[:3]]
    )
    b = run_grading(home, wrong, tmp_path / "b", ids=first_ids(4), model="b", variant="instruct")
    found = compare(a.folder, b.folder)
    assert (found.paired.difference, found.paired.n, found.b.missing) == (1.0, 4, (PROBLEMS[3].id,))
    assert (found.a.variant, found.b.variant) == ("complete", "instruct")
    assert "variant" in {name for name, _, _ in found.settings}


def evaluation(**changes: Any) -> dict[str, Any]:
    """What the manifest of an agent's run says of its evaluation."""
    values: dict[str, Any] = {
        "scaffold": "loop", "provider": "openai", "limits": AgentLimits(), "native_tools": NativeTools.AUTO,
        "samples": 1, **changes,
    }  # fmt: skip
    return Evaluation(**values).to_plain()


def test_evaluations_that_are_not_comparable_need_force(make: Make) -> None:
    """Refused with all reasons in one sentence; forced, the comparison is made and carries them."""
    a = make("a", many(2, 2), evaluation=evaluation())
    b = make("b", many(1, 3), evaluation=evaluation(scaffold="codex", samples=4))
    reasons = ["A is of scaffold loop, B of codex", "the samples for each problem are 1 in A, 4 in B"]
    with pytest.raises(UsageError) as refused:
        compare(a, b)
    words = f"A and B are not comparable: {'; '.join(reasons)}; give --force to compare them even so."
    assert str(refused.value) == words
    forced = compare(a, b, force=True)
    plain = forced.to_plain()
    assert (plain["forced"], plain["incomparable"], plain["n"]) == (True, reasons, 4)
    assert [line for line in lines(forced) if "forced" in line] == [f"Not comparable, forced: {why}" for why in reasons]


def test_force_changes_nothing_where_it_is_not_needed(make: Make) -> None:
    """Comparable evaluations, and results without any, are compared as ever, and not called forced."""
    agent, other = (make(name, many(2, 2), evaluation=evaluation()) for name in "ab")
    bare = make("c", many(1, 3))
    for pair in ((agent, other), (agent, bare), (bare, agent)):
        assert compare(*pair) == compare(*pair, force=True)
        assert (compare(*pair).forced, compare(*pair).to_plain()["incomparable"]) == (False, [])


@pytest.mark.parametrize("foreign", ["1.0.0", {}, {**evaluation(), "native_tools": "maybe"}])
def test_an_evaluation_that_cannot_be_read_is_refused(make: Make, foreign: object) -> None:
    """A manifest of another version is not guessed at, forced or not; the message names the folder."""
    a, b = make("a", many(1, 1), evaluation=evaluation()), make("b", many(1, 1), evaluation=foreign)
    for force in (False, True):
        with pytest.raises(UsageError, match=r"What .*b says of its evaluation cannot be read"):
            compare(a, b, force=force)


# Laziness


GIVEN = {"p": frozenset({"np"}), "q": frozenset({"np", "matplotlib.pyplot"}), "r": frozenset[str]()}
BOTH = (Score.EXTRACTED, Score.CALIBRATED)


def pair(problem: str, sample: int, extracted: Outcome, calibrated: Outcome, *missing: str) -> list[ResultRow]:
    """One sample under both scores; the names are missing as extracted."""
    return [
        row(problem, sample, Score.EXTRACTED, extracted, *missing),
        row(problem, sample, Score.CALIBRATED, calibrated),
    ]


def test_laziness_needs_a_given_name_and_a_calibrated_pass() -> None:
    """Failing for want of what the stub gives, and passing with it: anything less is no laziness."""
    rows = [
        *pair("p", 0, F, P, "np"),  # lazy
        *pair("q", 0, F, P, "Counter"),  # the stub does not give it
        *pair("r", 0, F, P, "np"),  # nor here
        *pair("s", 0, F, P, "np"),  # a problem whose stub is not known
    ]
    found = summarise(rows, BOTH, {}, given_names=GIVEN).laziness
    assert found is not None
    assert (found.value, found.n, found.tasks) == (0.25, 4, ("p",))
    assert (found.gap.difference, found.gap.only_a) == (1.0, 4)
    rest = [*pair("p", 0, F, F, "np"), *pair("q", 0, P, P), *pair("q", 1, F, P, "np", "matplotlib.pyplot")]
    found = summarise(rest, BOTH, {}, given_names=GIVEN).laziness
    assert found is not None
    assert (found.value, found.n, found.samples, found.tasks) == (0.25, 2, 2, ("q",))


def test_laziness_counts_samples_scored_both_ways() -> None:
    """A fault under either score leaves the sample out; with one score alone, or unknown stubs, there is none."""
    rows = [*pair("p", 0, X, P), *pair("q", 0, F, P, "np"), *pair("r", 0, M, M), *pair("r", 1, P, X)]
    found = summarise(rows, BOTH, {}, given_names=GIVEN).laziness
    assert found is not None
    assert (found.n, found.value) == (2, 0.5)
    bare = [one for one in rows if one.score is Score.EXTRACTED]
    assert summarise(bare, (Score.EXTRACTED,), {}, given_names=GIVEN).laziness is None
    assert summarise(rows, BOTH, {}).laziness is None
    assert summarise(rows, BOTH, {}).to_plain()["laziness"] is None


def lazy(job: Job) -> ExecutionRecord:
    """Whoever has no stub in front lacks the first name that the stub would have given."""
    if job.submission.stub is not None:
        return finished_record(job)
    name = next(iter(sorted(given_names(PROBLEMS[0])))) if job.submission.code == PROBLEMS[0].reference else "nobody"
    error = LoadError(phase="answer", exception="NameError", message=f"NameError: name '{name}' is not defined")
    return dataclasses.replace(finished_record(job), tests=(), load_error=error)


def test_a_grading_and_its_regrading_know_laziness(
    scripted: ScriptedFactory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bw grade` reports it from records; another judge makes it anew, without it only when the stubs are unknown."""
    scripted.script = lazy
    samples = write_samples(tmp_path / "s.jsonl", [(problem.id, problem.reference) for problem in PROBLEMS[:2]])
    graded = run_grading(home, samples, tmp_path / "a", ids=first_ids(2))
    plain = graded.manifest["laziness"]
    assert (plain["value"], plain["n"], plain["tasks"]) == (0.5, 2, [PROBLEMS[0].id])
    assert plain["gap"]["difference"] == 1.0
    assert plain["gap"]["only_calibrated"] == 2

    def harsher(plan: TestPlan, record: ExecutionRecord, unavailable: frozenset[str] = frozenset()) -> Verdict:
        verdict = function.judge(plan, record, unavailable)
        return dataclasses.replace(verdict, outcome=F, reason=Reason.TAMPERED) if verdict.outcome is P else verdict

    monkeypatch.setattr("benchwright.app.results.judge", harsher)
    folder = ResultsFolder(graded.folder)
    regrade(graded.folder, Workspace(home=home))
    assert folder.manifest()["laziness"]["value"] == 0.0
    assert {one.missing_names for one in folder.rows() if one.score is Score.EXTRACTED} == {
        one.missing_names for one in graded.rows if one.score is Score.EXTRACTED
    }
    folder.write_plans(folder.plans())  # as earlier versions wrote them
    monkeypatch.setattr("benchwright.app.results.judge", function.judge)
    regrade(graded.folder, Workspace(home=home))
    assert folder.manifest()["laziness"] is None


def test_a_flagged_side_says_so(make: Make) -> None:
    """What sets a score apart goes with it into every comparison."""
    found = compare(make("a", many(4, 4)), make("b", many(4, 3), flags=["base_model_on_instruct"]))
    assert (found.a.flags, found.b.flags) == ((), ("base_model_on_instruct",))
    assert found.to_plain()["flags_b"] == ["base_model_on_instruct"]
