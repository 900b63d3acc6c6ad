"""What exclusion lists do to scores and order."""

import numpy as np
import pytest

from benchwright.stats.sensitivity import sensitivity

PROBLEMS = ("a", "b", "c", "d")
SHARES = [[1, 1, 0, 0], [0, 0, 1, 0.5], [np.nan, np.nan, np.nan, 1]]


def test_every_list_alone_all_of_them_and_all_but_each() -> None:
    """The cases come in a fixed order; with two lists "all but one" would say nothing new."""
    lists = {"x": ["a"], "y": ["b", "elsewhere"], "z": ["a", "c"]}
    names = [one.name for one in sensitivity(SHARES, PROBLEMS, lists)]
    each = ["all lists but x", "all lists but y", "all lists but z"]
    assert names == ["nothing", "x", "y", "z", "all lists", *each]
    assert [one.name for one in sensitivity(SHARES, PROBLEMS, {"x": [], "y": []})] == ["nothing", "x", "y", "all lists"]
    assert [one.name for one in sensitivity(SHARES, PROBLEMS, {})] == ["nothing"]


def test_scores_changes_and_ranks_are_those_of_the_remaining_problems() -> None:
    """Means over what is left, the change against all problems, and who moved."""
    nothing, out = sensitivity(SHARES, PROBLEMS, {"x": ["a", "b", "elsewhere"]})
    assert (nothing.kept, nothing.excluded, nothing.values, nothing.ranks) == (4, 0, (0.5, 0.375, 1.0), (2, 3, 1))
    assert (nothing.changes, nothing.moved, nothing.first) == ((0.0, 0.0, 0.0), 0, (2,))
    assert (out.kept, out.excluded, out.values, out.ranks) == (2, 2, (0.0, 0.75, 1.0), (3, 2, 1))
    assert (out.changes, out.moved, out.first) == ((-0.5, 0.375, 0.0), 1, (2,))


def test_a_model_without_a_remaining_result_has_no_score() -> None:
    """Nor a rank; equal scores share one."""
    _, out = sensitivity(SHARES, PROBLEMS, {"x": ["c", "d"]})
    assert (out.values, out.ranks) == ((1.0, 0.0, None), (1, 2, None))
    assert sensitivity([[1, 0], [0, 1]], ["p", "q"], {})[0].first == (0, 1)
    _, everything = sensitivity([1.0, 0.0], ["p", "q"], {"all": ["p", "q"]})
    assert (everything.values, everything.ranks, everything.moved, everything.first) == ((None,), (None,), 0, ())


def test_columns_and_problems_belong_together() -> None:
    """One id for each column."""
    with pytest.raises(ValueError, match="a column for each of 4"):
        sensitivity([[1.0]], PROBLEMS, {})
