"""Values of agents at work: limits and what exceeds them, and plain data that comes back as it was."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.agents import (
    CACHED_READS,
    UNCACHED_TOKENS,
    AgentAttempt,
    AgentLimits,
    Finding,
    FindingKind,
    LeftOut,
    Spent,
    Submission,
    uncached,
)
from benchwright.core.attempts import Ending
from benchwright.core.budget import TokenUsage
from benchwright.core.errors import UsageError

NAMES = ("uncached_tokens", "cached_reads", "turns", "wall_seconds", "cost")
NONE = AgentLimits(uncached_tokens=None, cached_reads=None)


def test_the_defaults_are_those_of_the_evaluation() -> None:
    """Two million uncached tokens and twenty million cached reads; nothing else is limited."""
    assert (UNCACHED_TOKENS, CACHED_READS) == (2_000_000, 20_000_000)
    assert AgentLimits().to_plain() == {
        "uncached_tokens": 2_000_000,
        "cached_reads": 20_000_000,
        "turns": None,
        "wall_seconds": None,
        "cost": None,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [0, -1, math.inf, math.nan])
def test_a_limit_is_more_than_nothing_and_less_than_all(name: str, limit: float) -> None:
    """Any other is refused under a name that a person knows."""
    with pytest.raises(UsageError, match=f"was given as {name.replace('_', ' ')}; leave it out"):
        AgentLimits(**{name: limit})  # type: ignore[arg-type]


def test_cached_reads_are_all_that_is_not_uncached() -> None:
    """Cache writes count as uncached; reasoning is in the output already."""
    usage = TokenUsage(
        input_tokens=1, cache_read_tokens=20, cache_write_tokens=300, output_tokens=4000, reasoning_tokens=500
    )
    assert uncached(usage) == 4301 and usage.total == 4321


def spent(**counts: Any) -> Spent:
    """What was used, by kind of token."""
    more = {name: counts.pop(name) for name in ("cost", "turns") if name in counts}
    return Spent(usage=TokenUsage(**counts), **more)


@pytest.mark.parametrize(
    ("limits", "at", "over", "words"),
    [
        (
            {"uncached_tokens": 1000},
            spent(input_tokens=500, cache_write_tokens=300, output_tokens=200, cache_read_tokens=10**9),
            spent(input_tokens=500, cache_write_tokens=300, output_tokens=201),
            "1,001 uncached tokens were used, over the budget of 1,000",
        ),
        (
            {"cached_reads": 1000},
            spent(cache_read_tokens=1000, input_tokens=10**9),
            spent(cache_read_tokens=1001),
            "1,001 tokens read from the cache were used, over the budget of 1,000",
        ),
        ({"cost": 0.1}, spent(cost=0.1), spent(cost=0.11), "0.11 USD were spent, over the budget of 0.1 USD"),
        ({"turns": 3}, spent(turns=2), spent(turns=3), "all of the 3 turns were used"),
    ],
)
def test_a_limit_is_over_when_it_is_exceeded(limits: dict[str, Any], at: Spent, over: Spent, words: str) -> None:
    """Tokens and money may come to a limit exactly; after the last turn that is allowed there is no other."""
    given = AgentLimits(**{"uncached_tokens": None, "cached_reads": None, **limits})
    assert at.over(given) is None
    assert over.over(given) == words
    assert over.over(NONE) is None


def test_the_first_limit_that_is_exceeded_is_named() -> None:
    """One clause, whatever else is exceeded."""
    limits = AgentLimits(uncached_tokens=1, cached_reads=1, turns=1, cost=1.0)
    words = spent(input_tokens=2, cache_read_tokens=2, turns=2, cost=2.0).over(limits)
    assert words is not None and "uncached" in words


def test_an_unknown_cost_exceeds_no_limit() -> None:
    """Nor is it taken for nothing: it is None."""
    assert spent(input_tokens=10**9, cost=None).over(AgentLimits(uncached_tokens=None, cost=0.01)) is None


def test_time_is_looked_at_elsewhere() -> None:
    """What was spent says nothing of it."""
    assert spent(turns=5).over(AgentLimits(wall_seconds=0.001)) is None


STRANGE = st.text(alphabet=st.characters(codec=None), max_size=12)
"""Any text, lone surrogates among it."""
ATTEMPTS = st.builds(
    AgentAttempt,
    problem_id=STRANGE,
    sample=st.integers(0, 9),
    ending=st.sampled_from(Ending),
    ending_detail=STRANGE,
    submission=st.builds(
        Submission,
        patch=STRANGE,
        left_out=st.lists(st.builds(LeftOut, path=STRANGE, why=STRANGE), max_size=2).map(tuple),
        left_out_more=st.integers(0, 9),
    ),
    usage=st.builds(TokenUsage, input_tokens=st.integers(0, 10**9), reasoning_tokens=st.integers(0, 9)),
    cost=st.none() | st.floats(0, 1e6),
    turns=st.integers(0, 99),
    tool_calls=st.integers(0, 99),
    wall_seconds=st.floats(0, 1e6),
    findings=st.lists(
        st.builds(Finding, kind=st.sampled_from(FindingKind), turn=st.none() | st.integers(1, 9), excerpt=STRANGE),
        max_size=2,
    ).map(tuple),
    log=STRANGE,
    log_sample=STRANGE,
    facts=st.dictionaries(STRANGE, STRANGE, max_size=2),
    fixes=st.lists(STRANGE, max_size=2).map(tuple),
)


@given(ATTEMPTS)
def test_an_attempt_comes_back_from_its_plain_data(attempt: AgentAttempt) -> None:
    """Also by way of a line of JSON, whatever bytes a patch has."""
    assert AgentAttempt.from_plain(attempt.to_plain()) == attempt
    line = json.dumps(attempt.to_plain())
    assert line.isascii()
    assert AgentAttempt.from_plain(json.loads(line)) == attempt


def test_a_patch_keeps_its_bytes() -> None:
    """A file that is no UTF-8 is in the patch byte for byte."""
    data = bytes(range(128, 256))
    patch = data.decode("utf-8", "surrogateescape")
    attempt = AgentAttempt(
        problem_id="p", sample=0, ending=Ending.SUBMITTED, submission=Submission(patch=patch, left_out=())
    )
    again = AgentAttempt.from_plain(json.loads(json.dumps(attempt.to_plain())))
    assert again.submission.patch.encode("utf-8", "surrogateescape") == data


@pytest.mark.parametrize(
    "change",
    [
        {"ending": "ran_away"},
        {"usage": {"tokens": 1}},
        {"usage": {"input_tokens": -1}},
        {"findings": [{"kind": "odd", "turn": 1, "excerpt": ""}]},
        {"submission": {"patch": "", "left_out": [{"path": "a"}], "left_out_more": 0}},
        {"submission": {"patch": "", "left_out": [], "more": 0}},
        {"strange": 1},
        {"fixes": None},
    ],
)
def test_other_data_is_refused(change: dict[str, Any]) -> None:
    """By an error that readers of a journal catch."""
    plain = AgentAttempt(problem_id="p", sample=0, ending=Ending.SUBMITTED).to_plain()
    with pytest.raises((KeyError, TypeError, ValueError)):
        AgentAttempt.from_plain({**plain, **change})


def test_data_without_a_field_is_refused() -> None:
    """What an attempt is about has no default."""
    plain = AgentAttempt(problem_id="p", sample=0, ending=Ending.SUBMITTED).to_plain()
    for name in ("problem_id", "ending", "submission", "usage"):
        with pytest.raises((KeyError, TypeError)):
            AgentAttempt.from_plain({key: value for key, value in plain.items() if key != name})
