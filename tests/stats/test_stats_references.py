"""The same numbers as statsmodels, whose code has nothing to do with ours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from benchwright.stats.intervals import wilson
from benchwright.stats.paired import holm, mcnemar_exact


@settings(max_examples=50)
@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemars_exact_test_is_the_same(only_a: int, only_b: int) -> None:
    """Whatever the counts on which two systems differ."""
    if only_a + only_b:
        assert mcnemar_exact(only_a, only_b) == pytest.approx(mcnemar([[5, only_a], [only_b, 7]], exact=True).pvalue)


@settings(max_examples=8, deadline=None)  # theirs takes a tenth of a second each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holms_adjustment_is_the_same(p_values: list[float]) -> None:
    """In the order given, never above 1."""
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


@settings(max_examples=50)
@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilsons_interval_is_the_same(drawn: tuple[int, int], confidence: float) -> None:
    """At any confidence."""
    theirs = proportion_confint(*drawn, alpha=1 - confidence, method="wilson")
    assert wilson(*drawn, confidence) == pytest.approx(theirs, abs=1e-12)
