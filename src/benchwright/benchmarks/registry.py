"""Benchmarks by name: those built in, and those of other packages (``benchwright.benchmarks``)."""

from benchwright.benchmarks.base import Benchmark
from benchwright.core.registry import Registry

BENCHMARKS: Registry[Benchmark] = Registry(
    "benchmark",
    {
        "bigcodebench": "benchwright.benchmarks.bigcodebench.benchmark:BENCHMARK",
        "starter": "benchwright.benchmarks.starter.benchmark:BENCHMARK",
    },
    group="benchwright.benchmarks",
)
