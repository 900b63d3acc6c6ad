"""Choosing the guest tier of a job."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from interpreter_runs import interpreter_target

from benchwright.environments.spec import Tier
from benchwright.execution.target import choose_tier

TARGET = replace(
    interpreter_target(),
    tiers=(
        Tier(name="bare", preload=()),
        Tier(name="frames", preload=("numpy", "pandas.core")),
        Tier(name="all", preload=("numpy", "pandas", "tensorflow")),
    ),
)


def test_the_lightest_tier_that_has_the_modules_is_chosen() -> None:
    """A tier is as heavy as the job's imports ask for, and no heavier."""
    assert choose_tier(TARGET, frozenset()) == "bare"
    assert choose_tier(TARGET, frozenset({"numpy"})) == "frames"
    assert choose_tier(TARGET, frozenset({"pandas", "os"})) == "frames"
    assert choose_tier(TARGET, frozenset({"numpy", "tensorflow"})) == "all"


def test_a_module_no_tier_preloads_does_not_matter() -> None:
    """Answers may import anything; what nobody preloads asks for no heavier guest."""
    assert choose_tier(TARGET, frozenset({"requests"})) == "bare"


def test_the_heaviest_tier_serves_when_none_has_all() -> None:
    """Modules spread over tiers end in the last one."""
    tiers = (Tier(name="a", preload=("x",)), Tier(name="b", preload=("y",)))
    assert choose_tier(replace(TARGET, tiers=tiers), frozenset({"x", "y"})) == "b"


@given(st.frozensets(st.sampled_from(["numpy", "pandas", "tensorflow", "os", "wand"])))
def test_more_modules_never_mean_a_lighter_tier(modules: frozenset[str]) -> None:
    """Adding an import keeps the tier or makes it heavier."""
    order = [tier.name for tier in TARGET.tiers]
    for extra in ("numpy", "tensorflow", "wand"):
        assert order.index(choose_tier(TARGET, modules)) <= order.index(choose_tier(TARGET, modules | {extra}))
