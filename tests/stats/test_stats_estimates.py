"""Facts about reported estimates."""

import numpy as np
import pytest

from benchwright.core.runs import Score
from benchwright.stats.estimates import estimate_pass_at_k, estimate_pass_hat_k
from benchwright.stats.intervals import wilson


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_one_sample_each_is_greedy_pass_at_one_with_wilson() -> None:
    """With one sample per problem there is one estimate, its interval is Wilson's, and samples is 1."""
    (estimate,) = estimate_pass_at_k([(1, 1)] * 3 + [(1, 0)] * 7, score=Score.CALIBRATED, ks=(1, 5), rng=rng())
    assert estimate.metric == "pass@1[calibrated]"
    assert (estimate.value, estimate.method, estimate.samples, estimate.k, estimate.n) == (
        0.3,
        "wilson",
        1,
        1,
        10,
    )
    assert (estimate.low, estimate.high) == wilson(3, 10)


def test_several_samples_give_every_k_up_to_the_fewest() -> None:
    """Every k is estimated that all problems allow; the interval is a bootstrap over problems."""
    estimates = estimate_pass_at_k([(3, 1), (4, 2), (3, 0)], score=Score.EXTRACTED, rng=rng(), rounds=500)
    assert [estimate.metric for estimate in estimates] == [f"pass@{k}[extracted]" for k in (1, 2, 3)]
    assert [estimate.value for estimate in estimates] == pytest.approx(
        [(1 / 3 + 1 / 2) / 3, (2 / 3 + 5 / 6) / 3, 2 / 3]
    )
    assert {estimate.method for estimate in estimates} == {"bootstrap(500)"}
    assert {estimate.samples for estimate in estimates} == {4}
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in estimates)


def test_problems_that_are_all_alike_do_not_look_certain() -> None:
    """When resampling cannot vary, the interval is Wilson's over the problems instead of a point."""
    (first, _) = estimate_pass_at_k([(2, 2)] * 5, score=Score.EXTRACTED, ks=(2, 1), rng=rng())
    assert (first.value, first.method) == (1.0, "wilson")
    assert (first.low, first.high) == wilson(5, 5)


def test_problems_with_equal_shares_do_not_look_certain() -> None:
    """Each in two of three samples: resampling says 66.7 to 66.7 %, a handful of problems does not."""
    found = estimate_pass_at_k([(3, 2)] * 4, score=Score.CALIBRATED, rng=np.random.default_rng(0), ks=[1])[0]
    assert (found.value, found.method) == (pytest.approx(2 / 3), "wilson")
    assert (found.low, found.high) == pytest.approx((0.245, 0.925), abs=0.001)


def test_a_k_beyond_the_samples_gives_no_estimate() -> None:
    """pass@10 is not made up from one sample."""
    assert estimate_pass_at_k([(1, 1)], score=Score.EXTRACTED, ks=(10,), rng=rng()) == []


@pytest.mark.parametrize("per_problem", [[], [(1, 1), (0, 0)]])
def test_problems_without_samples_are_refused(per_problem: list[tuple[int, int]]) -> None:
    """A problem that was never answered has to be counted as wrong by the caller, not dropped here."""
    with pytest.raises(ValueError, match="at least one"):
        estimate_pass_at_k(per_problem, score=Score.EXTRACTED, rng=rng())


def test_all_of_k_is_estimated_in_the_same_way() -> None:
    """The mean of pass^k, which falls with k where pass@k rises; k = 1 is the same for both."""
    counts = [(3, 1), (4, 2), (3, 3)]
    estimates = estimate_pass_hat_k(counts, score=Score.EXTRACTED, rng=rng(), rounds=500)
    assert [estimate.metric for estimate in estimates] == [f"pass^{k}[extracted]" for k in (1, 2, 3)]
    assert [estimate.value for estimate in estimates] == pytest.approx(
        [(1 / 3 + 1 / 2 + 1) / 3, (1 / 6 + 1) / 3, 1 / 3]
    )
    assert estimates[0].value == estimate_pass_at_k(counts, score=Score.EXTRACTED, rng=rng(), ks=(1,))[0].value
