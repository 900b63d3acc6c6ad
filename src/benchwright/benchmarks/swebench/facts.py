"""Facts about SWE-bench's data sets that tables and reports need."""

from dataclasses import replace

from benchwright.core.benchmark_facts import BenchmarkFacts, TaskErrors

SWEBENCH = BenchmarkFacts(
    public="2023-10-10",
    public_source="SWE-bench's paper, arXiv:2310.06770; each fix was public in its repository even before",
)
"""What is true of every part of SWE-bench."""

FULL = replace(SWEBENCH, problems=2294)
LITE = replace(SWEBENCH, problems=300)

VERIFIED = replace(
    SWEBENCH,
    problems=500,
    task_errors=TaskErrors(
        low=0.05,
        high=0.10,
        text="Of the tasks of SWE-bench Verified, 5 to 10 % are estimated to be wrong themselves, so that differences "
        "among the highest scores may be theirs.",
        source="https://epoch.ai/benchmarks/swe-bench-verified",
    ),
)

MINI = replace(VERIFIED, problems=50)
"""Fifty of Verified's tasks; the estimate is that of all 500."""
