"""Estimates by group of problems."""

import numpy as np
import pytest

from benchwright.stats.breakdown import GroupEstimate, breakdown
from benchwright.stats.intervals import bootstrap_mean, wilson


def by_group(shares: list[float], groups: list[list[str]], **options: object) -> dict[str, GroupEstimate]:
    """Estimates by name."""
    found = breakdown(shares, groups, rng=np.random.default_rng(0), **options)  # type: ignore[arg-type]
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
    assert by_group([1.0, 0.0], [["a"], ["a"]], smallest=2)["a"].small is False


def test_clusters_are_resampled_together_where_there_is_more_than_one() -> None:
    """A group within one repository, or one that is all alike, falls back on Wilson's."""
    shares = [1.0] * 20 + [0.0] * 20
    labels = ["x"] * 20 + ["y"] * 20
    both = by_group(shares, [["g"]] * 40, clusters=labels)["g"]
    assert (both.low, both.high, both.method) == (0.0, 1.0, "bootstrap(2000)")
    one = by_group(shares, [["x"]] * 20 + [["y"]] * 20, clusters=labels)
    assert {one["x"].method, one["y"].method} == {"wilson"}
    alike = by_group([1.0] * 4, [["g"]] * 4, clusters=["x", "x", "y", "y"])["g"]
    assert (alike.low, alike.high) == wilson(4, 4)
    often = by_group([2 / 3] * 4, [["g"]] * 4)["g"]  # each in two of three samples: four problems are not certain
    assert (often.low, often.high, often.method) == (
        pytest.approx(0.245, abs=0.001),
        pytest.approx(0.925, abs=0.001),
        "wilson",
    )
    fractions = by_group([0.5, 0.25, 0.0], [["g"]] * 3, clusters=["x"] * 3)["g"]
    assert fractions.low < fractions.value < fractions.high


def test_values_groups_and_clusters_belong_together() -> None:
    """One of each for every problem."""
    with pytest.raises(ValueError, match="one set of groups per problem"):
        by_group([1.0], [])
    with pytest.raises(ValueError, match="a cluster for each"):
        by_group([1.0], [["a"]], clusters=[])
