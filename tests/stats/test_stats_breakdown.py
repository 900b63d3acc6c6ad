"""Estimates by group of problems."""

import numpy as np
import pytest

from benchwright.stats.breakdown import GroupEstimate, breakdown
from benchwright.stats.intervals import bootstrap_mean, wilson


def by_group(shares: list[float], groups: list[list[str]]) -> dict[str, GroupEstimate]:
    """Estimates by name."""
    found = breakdown(shares, groups, rng=np.random.default_rng(0))
    assert [one.group for one in found] == sorted(one.group for one in found)
    return {one.group: one for one in found}


def test_a_problem_counts_in_every_group_it_belongs_to() -> None:
    """Also in none; what has no result counts nowhere, and a group named twice counts once."""
    found = by_group([1, 0, 1, float("nan")], [["a", "b"], ["b"], [], ["a", "c"]])
    assert {name: (one.value, one.n) for name, one in found.items()} == {"a": (1.0, 1), "b": (0.5, 2)}
    assert by_group([1.0], [["a", "a"]])["a"].n == 1


def test_the_interval_is_wilsons_or_a_bootstrap() -> None:
    """Wilson's with one sample for each problem, otherwise problems are resampled; small groups are told."""
    found = by_group([1.0] * 10 + [0.0] * 20 + [0.5, 0.25, 1.0], [["whole"]] * 30 + [["half"]] * 3)
    assert (found["whole"].low, found["whole"].high, found["whole"].method) == (*wilson(10, 30), "wilson")
    assert (found["half"].low, found["half"].high) == bootstrap_mean(
        [0.5, 0.25, 1.0], rounds=2000, rng=np.random.default_rng(0)
    )
    assert found["half"].method == "bootstrap(2000)"
    assert (found["whole"].small, found["half"].small) == (False, True)


def test_a_group_that_is_all_alike_is_not_certain() -> None:
    """It falls back on Wilson's interval."""
    found = by_group([2 / 3] * 4 + [1.0] * 4, [["often"]] * 4 + [["always"]] * 4)  # in two of three samples, in all
    assert (found["often"].low, found["often"].high, found["often"].method) == (
        pytest.approx(0.245, abs=0.001),
        pytest.approx(0.925, abs=0.001),
        "wilson",
    )
    assert (found["always"].low, found["always"].high) == wilson(4, 4)


def test_values_and_groups_belong_together() -> None:
    """One of each for every problem."""
    with pytest.raises(ValueError, match="one set of groups per problem"):
        by_group([1.0], [])
