"""What left-out imports cost: the share of lazy samples, and the plain gap between two scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.intervals import wilson
from benchwright.stats.laziness import Laziness, ProblemFacts, laziness


def facts(problem: str, samples: int, lazy: int, extracted: int, calibrated: int) -> ProblemFacts:
    """What was seen of one problem."""
    return ProblemFacts(problem_id=problem, samples=samples, lazy=lazy, extracted=extracted, calibrated=calibrated)


def measure(*seen: ProblemFacts) -> Laziness:
    """Laziness with a fixed random generator."""
    return laziness(seen, rng=np.random.default_rng(0))


def test_one_sample_each_is_a_share_with_wilson() -> None:
    """Lazy tasks are counted and named; the gap also has what else calibration changed, in both directions."""
    seen = [facts(str(i), 1, 0, 1, 1) for i in range(7)]
    seen += [facts("lazy", 1, 1, 0, 1), facts("other", 1, 0, 0, 1), facts("worse", 1, 0, 1, 0)]
    found = measure(*seen)
    assert (found.value, found.n, found.samples, found.tasks) == (0.1, 10, 1, ("lazy",))
    assert (found.low, found.high) == tuple(wilson(1, 10))
    assert found.method == "wilson"
    assert found.gap.difference == pytest.approx(0.1)
    assert (found.gap.only_a, found.gap.only_b, found.gap.n) == (2, 1, 10)


def test_several_samples_count_by_their_share() -> None:
    """Half of one problem's samples weigh half a problem; the interval is then a bootstrap over problems."""
    found = measure(facts("half", 4, 2, 1, 3), facts("none", 4, 0, 4, 4), facts("whole", 2, 2, 0, 2))
    assert found.value == pytest.approx(0.5)
    assert (found.samples, found.method, found.tasks) == (4, "bootstrap(2000)", ("half", "whole"))
    assert found.low <= found.value <= found.high
    assert found.gap.difference == pytest.approx((0.5 + 0 + 1) / 3)


@pytest.mark.parametrize(("lazy", "share"), [(0, 0.0), (3, 1.0)])
def test_nothing_and_everything_are_not_certain(lazy: int, share: float) -> None:
    """Where every problem shows the same, the interval still has a width."""
    found = measure(*(facts(str(i), 3, lazy, 0, 3) for i in range(5)))
    assert (found.value, found.method) == (share, "wilson")
    assert found.high - found.low > 0.2


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_laziness_is_at_most_what_calibration_wins(seen: list[tuple[int, float, float]]) -> None:
    """Where calibration takes no pass away, laziness is a part of the plain gap, and its interval holds it."""
    problems = []
    for number, (samples, won, because_lazy) in enumerate(seen):
        gained = round(samples * won)
        problems.append(facts(str(number), samples, int(gained * because_lazy), samples - gained, samples))
    found = measure(*problems)
    assert 0 <= found.value <= found.gap.difference + 1e-12
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12
    assert found.tasks == tuple(one.problem_id for one in problems if one.lazy)


@pytest.mark.parametrize("seen", [(), (facts("a", 0, 0, 0, 0),), (facts("a", 1, 2, 0, 1),), (facts("a", 1, -1, 0, 1),)])
def test_counts_that_cannot_be_are_refused(seen: tuple[ProblemFacts, ...]) -> None:
    """No problem, no sample, or more lazy samples than there are."""
    with pytest.raises(ValueError, match="expected"):
        measure(*seen)
