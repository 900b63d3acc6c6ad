"""The benchmark's prompt texts."""

from benchwright.core.errors import UnknownNameError
from benchwright.core.problems import FunctionProblem

VARIANTS = ("complete", "instruct")


def render(problem: FunctionProblem, variant: str) -> str:
    """The prompt of a variant exactly as the data gives it; raises `UnknownNameError` for another variant."""
    try:
        return problem.prompts[variant]
    except KeyError:
        raise UnknownNameError("prompt variant", variant, problem.prompts) from None
