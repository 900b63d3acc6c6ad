"""From an answer to what is executed."""

from typing import assert_never

from benchwright.core.answers import CodeAnswer
from benchwright.core.execution import Submission
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import Score


def assemble(problem: FunctionProblem, answer: CodeAnswer, score: Score) -> Submission:
    """The submission of an answer: with the stub in front when calibrated, otherwise the code alone."""
    match score:
        case Score.AS_WRITTEN | Score.EXTRACTED:
            stub = None
        case Score.CALIBRATED:
            stub = problem.calibration_stub
        case Score.PATCH:
            raise ValueError("a function is not graded as a patch")
        case _:
            assert_never(score)
    return Submission(code=answer.code, stub=stub, entry_point=problem.entry_point)
