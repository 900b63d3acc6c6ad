"""What faults can hide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.results import Tally
from benchwright.stats.bounds import bounds

TALLIES = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)).filter(sum)


def tally(passed: int, failed: int, faults: int) -> Tally:
    """What the samples of one problem came to."""
    return Tally(scored=passed + failed, passed=passed, faults=faults)


def test_faults_are_counted_once_as_failed_and_once_as_passed() -> None:
    """A problem that lost every sample is in both cases, though not in the value."""
    found = bounds([tally(1, 0, 0), tally(0, 1, 1), tally(0, 0, 1), tally(0, 1, 0)])
    assert found.value == pytest.approx(1 / 3)
    assert (found.worst, found.best) == (0.25, (1 + 0.5 + 1 + 0) / 4)
    assert (found.faults, found.touched, found.lost, found.n) == (2, 2, 1, 4)


@given(st.lists(TALLIES, min_size=1))
def test_the_value_is_between_worst_and_best(counts: list[tuple[int, int, int]]) -> None:
    """Whatever was lost; without faults all three are the same, and with nothing but faults there is no value."""
    found = bounds([tally(*one) for one in counts])
    assert 0 <= found.worst <= found.best <= 1
    if found.value is None:
        assert (found.worst, found.best, found.lost) == (0, 1, found.n)
    else:
        assert found.worst - 1e-12 <= found.value <= found.best + 1e-12
    if not found.faults:
        assert found.worst == found.value == found.best


@pytest.mark.parametrize("tallies", [[], [tally(0, 0, 0)]])
def test_no_problem_and_no_sample_are_refused(tallies: list[Tally]) -> None:
    """A missing sample has to be counted as one that does not pass."""
    with pytest.raises(ValueError, match="at least one"):
        bounds(tallies)
