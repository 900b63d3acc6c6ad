"""A pipeline over the starter problems for an environment that nothing is ever executed in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.core.attempts import Attempt
from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.execution import Isolation
from benchwright.core.problems import FunctionProblem
from benchwright.environments.spec import Tier
from benchwright.execution.guest import guest_version
from benchwright.execution.target import Target
from benchwright.grading.pipeline import Pipeline

TARGET = Target(
    name="nowhere",
    digest="nowhere-digest",
    python=Path("/nonexistent"),
    readable=(),
    variables={},
    tiers=(Tier(name="bare", preload=()), Tier(name="frames", preload=("numpy", "pandas", "matplotlib.pyplot"))),
    unavailable_modules=frozenset({"torch"}),
)


def starter(count: int | None = None) -> ProblemSet:
    """The starter problems, or the first of them."""
    problems = BENCHMARK.load()
    return problems.only([problem.id for problem in problems.problems[:count]])


def make_pipeline(controls: Mapping[str, ControlRun] | None = None, *, official_limits: bool = False) -> Pipeline:
    """A pipeline with control runs."""
    return Pipeline(BENCHMARK, TARGET, Isolation.NAMESPACE, controls or {}, official_limits=official_limits)


def make_attempt(problem: FunctionProblem, solution: str | None = None, **changes: Any) -> Attempt:
    """The reference, or another solution, as an attempt."""
    values: dict[str, Any] = {"sample": 0, "solution": problem.reference if solution is None else solution, **changes}
    return Attempt(problem_id=problem.id, **values)


def make_control(
    problem: FunctionProblem, *, wall: float = 1.0, cpu: float = 0.5, memory: int = 1 << 20, outcome: str = "passed"
) -> ControlRun:
    """A control run of one repeat whose stub fails."""
    reference = ControlOutcome(
        outcome=outcome, reason="r", detail="d", wall_seconds=wall, cpu_seconds=cpu, memory_peak_bytes=memory
    )
    stub = ControlOutcome(
        outcome="failed", reason="r", detail="d", wall_seconds=0.1, cpu_seconds=0.1, memory_peak_bytes=1
    )
    return ControlRun(
        problem_id=problem.id,
        problem_digest=problem.digest,
        environment=TARGET.digest,
        guest_version=guest_version(),
        references=(reference,),
        stubs=(stub,),
        needs_network=False,
    )
