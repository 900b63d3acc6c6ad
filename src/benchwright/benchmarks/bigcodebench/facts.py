"""Facts about BigCodeBench that tables and reports need."""

from benchwright.core.benchmark_facts import BenchmarkFacts, HumanReference

FACTS = BenchmarkFacts(
    public="2024-06-18",
    public_source="release of BigCodeBench and its paper, arXiv:2406.15877",
    human=HumanReference(
        value=0.97,
        text="People solve 97 % of the tasks, as the benchmark's paper says.",
        source="arXiv:2406.15877",
    ),
)
"""No two versions of the data count as one: tasks and tests were mended between them."""
