"""What is known of SWE-bench's data sets besides their rows."""

import pytest

from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.swebench.pins import read_pins

NAMES = ("swebench-verified", "swebench-lite", "swebench-full", "swebench-mini")


@pytest.mark.parametrize("benchmark", NAMES)
def test_the_size_is_that_of_every_published_version(benchmark: str) -> None:
    """Rankings say by it that a list names more than the benchmark has."""
    assert {pin.rows for pin in read_pins().known if pin.benchmark == benchmark} == {facts_of(benchmark).problems}
