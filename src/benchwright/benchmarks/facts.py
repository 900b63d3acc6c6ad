"""Facts about benchmarks that tables and reports need, looked up by the benchmark's name."""

from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.registry import Registry

FACTS: Registry[BenchmarkFacts] = Registry(
    "set of facts about a benchmark",
    {
        "bigcodebench": "benchwright.benchmarks.bigcodebench.facts:FACTS",
        "swebench-verified": "benchwright.benchmarks.swebench.facts:VERIFIED",
        "swebench-mini": "benchwright.benchmarks.swebench.facts:MINI",
        "swebench-lite": "benchwright.benchmarks.swebench.facts:LITE",
        "swebench-full": "benchwright.benchmarks.swebench.facts:FULL",
    },
    group="benchwright.benchmark_facts",
)
"""Members other packages add by an entry point of this group, under their benchmark's name."""


def facts_of(benchmark: str) -> BenchmarkFacts:
    """What is known of a benchmark; nothing for one that has no facts, such as a user's own."""
    return FACTS.get(benchmark) if benchmark in FACTS.names() else BenchmarkFacts()
