"""Facts about benchmarks that tables and reports say."""

import pytest

from benchwright.benchmarks.facts import FACTS, facts_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.benchmark_facts import BenchmarkFacts


@pytest.mark.parametrize("name", FACTS.names())
def test_every_fact_has_a_source(name: str) -> None:
    """They are about benchmarks that exist, shares lie between 0 and 1, and a reader can look each up."""
    assert name in (*BENCHMARKS.names(), *REPOSITORY_BENCHMARKS.names())
    facts = facts_of(name)
    assert bool(facts.public) == bool(facts.public_source)
    if facts.human:
        assert 0 < facts.human.value <= 1
        assert facts.human.source
    if facts.task_errors:
        assert 0 <= facts.task_errors.low <= facts.task_errors.high <= 1
        assert facts.task_errors.source


def test_what_the_sources_state() -> None:
    """People solve 97 % of BigCodeBench; 5 to 10 % of SWE-bench Verified's tasks are thought to be wrong."""
    human, errors = facts_of("bigcodebench").human, facts_of("swebench-verified").task_errors
    assert human is not None
    assert (human.value, human.source) == (0.97, "arXiv:2406.15877")
    assert errors is not None
    assert (errors.low, errors.high, errors.source) == (0.05, 0.1, "https://epoch.ai/benchmarks/swe-bench-verified")
    assert facts_of("swebench-lite").task_errors is None


def test_nothing_is_made_up_of_others() -> None:
    """A user's own benchmark has no facts."""
    assert facts_of("somebody's") == facts_of("starter") == BenchmarkFacts()
