"""What may stand in one table, and what stands apart with which reason."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from leaderboard_pieces import OFFICIAL, agent, evaluation, imported, scored

from benchwright.core.agents import AgentLimits
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import VERSIONS, EvaluationChange, EvaluationVersion
from benchwright.core.results import Origin, ScoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.policy import Conditions, Group, Imports, Policy, arrange, reasons_apart

LATER = (
    *VERSIONS,
    EvaluationVersion(
        version="2.0.0",
        date="2027-01-01",
        changes=(
            EvaluationChange(id="tokens", text="Tokens count anew.", comparable=False, concerns=("provider:google",)),
        ),
    ),
)


def models(group: Group) -> set[str]:
    """Whose runs are in a group."""
    return {one.run.model for one in group.runs}


def test_equal_conditions_share_a_table() -> None:
    """Runs that differ in the model alone stand together, on the problems they were all asked."""
    (main,) = arrange([scored("a", [1, 0]), scored("b", [0, 0])], Policy())
    assert (models(main), main.problems, main.reason, main.notes) == ({"a", "b"}, ("p0", "p1"), "", ())


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"version": "v0.1.0_hf"}, "A is on version v0.1.4 of the data, B on v0.1.0_hf"),
        ({"subset": "full"}, "A is of subset hard, B of full"),
        ({"variant": "instruct"}, "A is of variant complete, B of instruct"),
        ({"samples": 10}, "A has one sample for each problem, B several"),
        ({"scaffold": "loop"}, "A is of scaffold unknown, B of loop"),
        ({"flags": ("base_model_on_instruct",)}, "B is flagged base_model_on_instruct"),
        ({"score": Score.EXTRACTED}, "A is of score calibrated, B of extracted"),
    ],
)
def test_each_condition_keeps_apart_and_says_so(fields: dict[str, Any], words: str) -> None:
    """The smaller group stands in a table of its own, with what differs in its sentence."""
    main, other = arrange([scored("a", [1]), scored("b", [1]), scored("c", [1], **fields)], Policy())
    assert (models(main), models(other)) == ({"a", "b"}, {"c"})
    assert words in other.reason
    assert other.reason.startswith("Not comparable with the main table (A there, B here): ")


def test_versions_may_count_as_one() -> None:
    """When the benchmark says so, or when the data has the same digest, versions share a table."""
    runs = [scored("a", [1], version="1", data_digest="d"), scored("b", [1], version="2", data_digest="d")]
    assert len(arrange(runs, Policy())) == 1
    runs = [scored("a", [1], version="1", data_digest="d"), scored("b", [1], version="2", data_digest="e")]
    assert len(arrange(runs, Policy())) == 2
    assert len(arrange(runs, Policy(comparable_versions=(frozenset("12"),)))) == 1
    same = {"problem_digests": {"p0": "x"}}
    runs = [scored(name, [1], version=name, data_digest=name, manifest=same) for name in "ab"]
    assert len(arrange(runs, Policy())) == 1


def test_one_name_of_a_version_does_not_hide_other_data() -> None:
    """Runs on different data are kept apart even if both call it by the same version."""
    main, *others = arrange(
        [
            scored("a", [1, 1], data_digest="1" * 64),
            scored("b", [1, 0], data_digest="1" * 64),
            scored("c", [1, 1], data_digest="2" * 64),
        ],
        Policy(),
    )
    assert models(main) == {"a", "b"}
    assert ["differs" in group.reason for group in others] == [True]


def test_imports_stand_apart_unless_asked() -> None:
    """Own runs make the main table however many imports there are; `with` puts all into one."""
    runs = [scored("own", [1, 1]), *(imported(f"i{number}", [1, 0]) for number in range(5))]
    main, other = arrange(runs, Policy())
    assert models(main) == {"own"}
    assert "A is graded by benchwright, B imported (official-verdicts)" in other.reason
    (together,) = arrange(runs, Policy(imports=Imports.WITH))
    assert len(together.runs) == 6


def test_an_import_may_not_state_its_version() -> None:
    """It stands among own results when that is asked for; own results of two versions still do not share a table."""
    runs = [scored("own", [1]), imported("theirs", [1], version="unstated"), scored("old", [1], version="v0")]
    main, other = arrange(runs, Policy(imports=Imports.WITH))
    assert len(main.runs) == 2
    assert "theirs" in models(main)
    assert "of the data, B on" in other.reason


def test_imports_alone_are_the_main_table() -> None:
    """Where nobody has own runs, imports need no reason; of several kinds of source the larger one is first."""
    runs = [imported("a", [1]), imported("b", [0])]
    (main,) = arrange(runs, Policy())
    assert main.reason == ""


def test_a_run_that_lacks_problems_is_partial() -> None:
    """It stands apart with the counts; the complete ones are compared on everything."""
    runs = [scored("a", [1, 0, 1]), scored("b", [1, 0, 1]), scored("c", [1])]
    main, partial = arrange(runs, Policy())
    assert (models(main), models(partial), partial.problems) == ({"a", "b"}, {"c"}, ("p0",))
    assert partial.reason == "Partial: 1 problems, where the full table is over 3."


def test_the_subsets_problems_decide_what_is_whole() -> None:
    """One run with all problems makes many partial ones stand apart; without any, the table says what it is over."""
    expected = frozenset({"p0", "p1", "p2"})
    few = [scored(name, [1, 0]) for name in "abc"]
    main, partial = arrange([*few, scored("d", [1, 0, 1])], Policy(expected=expected))
    assert (models(main), models(partial)) == ({"d"}, {"a", "b", "c"})
    (alone,) = arrange(few, Policy(expected=expected))
    assert alone.notes == ("These are 2 of the 3 problems of the subset.",)


def test_common_problems_are_compared_when_asked() -> None:
    """Runs with different task sets are compared on the common ones, and that is said."""
    runs = [scored("a", [1, 0, 1]), scored("b", [1])]
    (group,) = arrange(runs, Policy(common=True))
    assert group.problems == ("p0",)
    assert group.notes == ("1 of 2 runs have further problems; all are compared on 1 common ones.",)


def test_partial_runs_without_a_common_problem_stand_alone() -> None:
    """Nothing is compared on no problem at all."""
    lone = scored("x", [])
    runs = [scored("a", [1, 0, 1]), scored("b", [1, 0, 1])]
    odd = [ScoredRun(run=lone.run, score=lone.score, tallies={name: runs[0].tallies["p0"]}) for name in ("p1", "p2")]
    groups = arrange([*runs, *odd], Policy())
    assert [len(group.runs) for group in groups] == [2, 1, 1]


def test_agents_of_other_budgets_and_scaffolds_stand_apart() -> None:
    """The rule for pairs of evaluations makes the tables; its clauses are the reasons."""
    runs = [
        agent("a", [1]),
        agent("b", [0]),
        agent("c", [1], limits=AgentLimits(uncached_tokens=5)),
        agent("d", [1], scaffold="codex"),
    ]
    main, *others = arrange(runs, Policy())
    assert models(main) == {"a", "b"}
    reasons = " ".join(group.reason for group in others)
    assert "the budgets differ" in reasons
    assert "A is of scaffold loop, B of codex" in reasons


def test_one_concerned_provider_does_not_split_the_others() -> None:
    """Old results that no change concerns stand with new ones; the newest evaluation's table is the main one."""
    runs = [
        agent("old", [1], provider="openai"),
        agent("old google", [1], provider="google"),
        agent("new google", [1], provider="google", version="2.0.0"),
    ]
    main, other = arrange(runs, Policy(evaluations=LATER))
    assert (models(main), models(other)) == ({"old", "new google"}, {"old google"})
    assert "without the change tokens" in other.reason


def test_an_evaluation_that_cannot_be_read_is_refused() -> None:
    """It is named, and nothing is guessed."""
    odd = scored("a", [1], evaluation={"version": "1.0.0"})
    with pytest.raises(UsageError, match=r"What a .* says of its evaluation cannot be read"):
        arrange([odd], Policy())


RUNS = st.lists(
    st.builds(
        lambda number, version, variant, imports, tokens, provider, scaffold, passes: scored(
            f"m{number}",
            [1] * passes,
            version=version,
            variant=variant,
            evaluation=evaluation(limits=AgentLimits(uncached_tokens=tokens), provider=provider) if tokens else None,
            scaffold=scaffold,
            **({"origin": Origin.IMPORTED, "source": OFFICIAL} if imports else {}),
        ),
        st.integers(0, 10**6),
        st.sampled_from(["1", "2"]),
        st.sampled_from(["complete", "instruct"]),
        st.booleans(),
        st.sampled_from([0, 5, 6]),
        st.sampled_from(["openai", "google"]),
        st.sampled_from(["", "loop"]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda one: one.run.entry,
)


@given(RUNS, st.sampled_from(Imports), st.booleans(), st.randoms())
def test_every_table_is_comparable_inside(runs: list[ScoredRun], imports: Imports, common: bool, chance: Any) -> None:
    """Every run is in one table, every pair in it may be compared, all have its problems; their order is no matter."""
    policy = Policy(imports=imports, common=common, evaluations=LATER)
    groups = arrange(runs, policy)
    assert sorted(one.run.entry for group in groups for one in group.runs) == sorted(one.run.entry for one in runs)
    for group in groups:
        assert group.problems
        assert all(set(group.problems) <= set(one.tallies) for one in group.runs)
        conditions = {Conditions.of(one) for one in group.runs}
        assert not any(reasons_apart(a, b, policy) for a, b in combinations(conditions, 2))
    assert [group.reason == "" for group in groups] == [True] + [False] * (len(groups) - 1)
    shuffled = list(runs)
    chance.shuffle(shuffled)
    assert arrange(shuffled, policy) == groups
