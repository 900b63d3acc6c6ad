"""What is asked: a problem of a benchmark, as read from its pinned data."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionProblem:
    """One function to write, decided by unit tests (BigCodeBench, arXiv:2406.15877, and its peers)."""

    benchmark: str
    """Registered name of the benchmark, such as ``bigcodebench``."""
    id: str
    """The benchmark's own id, such as ``BigCodeBench/13``."""
    prompts: Mapping[str, str]
    """Prompt text by variant (``complete``, ``instruct``)."""
    stub: str
    """Imports, constants and signature the prompt gives, without docstring or body (``code_prompt``)."""
    entry_point: str
    """Name of the function the tests call."""
    test_source: str
    """Source of the test class, executed in the module of the answer."""
    reference: str
    """Complete source of the benchmark's own solution."""
    libraries: tuple[str, ...]
    """Top-level modules the reference uses."""
    tags: tuple[str, ...] = ()
    """Groups for breakdowns: domains, subsets."""
    digest: str
    """SHA-256 of the canonical source row."""

    @property
    def calibration_stub(self) -> str:
        """The stub with a ``pass`` body: what calibration puts in front of an answer (bigcodebench 0.2.5)."""
        return self.stub + "\n    pass\n"
