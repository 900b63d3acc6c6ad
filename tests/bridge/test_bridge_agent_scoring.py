"""Graded patches in Inspect's terms: values that count, and pages that foreign words cannot break."""

import asyncio
import json
import math
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.solver import Generate, Solver, TaskState, solver
from scaffold_pieces import playing

from benchwright.bridge.agent_scoring import GradedAttempt, patch_verdicts, plain_attempt, score_of
from benchwright.bridge.agents import ATTEMPT
from benchwright.bridge.patches import PATCH
from benchwright.bridge.scoring import NOT_ASKED
from benchwright.core.agents import AgentAttempt, Finding, FindingKind, LeftOut, Submission
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import TokenUsage
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict

DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n"
BINARY = (
    "diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n"
)
HOSTILE = "a`b\n\n# Resolved\n\n![x](https://example.org/x.png) <img src=x> | [y](javascript:z)\r\n```\n*c*"


def attempt(ending: Ending = Ending.SUBMITTED, **fields: Any) -> AgentAttempt:
    """What an agent left."""
    values = {"submission": Submission(patch=DIFF), "turns": 3, "usage": TokenUsage(input_tokens=1234), **fields}
    return AgentAttempt(problem_id="p", sample=0, ending=ending, **values)


def graded(
    outcome: Outcome = Outcome.PASSED,
    reason: Reason = Reason.ALL_TESTS_PASSED,
    *,
    detail: str = "",
    notes: Sequence[str] = (),
    passed: Sequence[str] = ("t::a",),
    failed: Sequence[str] = (),
) -> GradedAttempt:
    """A judged patch."""
    verdict = Verdict(
        outcome=outcome,
        reason=reason,
        detail=detail,
        planned=2,
        passed=len(passed),
        judge_version=1,
        record_digest=None,
    )
    row = ResultRow(problem_id="p", sample=0, score=Score.PATCH, verdict=verdict, job_digest=None, notes=tuple(notes))
    return GradedAttempt(row=row, passed=passed, failed=failed)


FAULT = graded(Outcome.FAULT, Reason.SANDBOX_LOST)


@pytest.mark.parametrize(
    ("of_it", "value"),
    [
        (graded(), 1.0),
        (graded(Outcome.FAILED, Reason.TESTS_FAILED), 0.0),
        (graded(Outcome.NO_ANSWER, Reason.EMPTY), 0.0),
        (graded(Outcome.UNUSABLE, Reason.PATCH_REJECTED), 0.0),
        (FAULT, math.nan),
    ],
)
def test_only_a_resolved_issue_counts_and_a_fault_does_not(of_it: GradedAttempt, value: float) -> None:
    """1, 0, or NaN, which Inspect's means leave out."""
    found: Any = score_of(attempt(), of_it).value
    assert found == {"patch": pytest.approx(value, nan_ok=True)}


def test_a_reader_finds_everything_behind_a_verdict() -> None:
    """Verdict, ending, what it took, tests and the difference."""
    finding = Finding(kind=FindingKind.LONG_WAIT, turn=2, excerpt="sleep 99")
    made = attempt(
        Ending.OUT_OF_BUDGET,
        ending_detail="spent",
        cost=0.5,
        tool_calls=4,
        wall_seconds=61.4,
        findings=(finding,),
        submission=Submission(patch=DIFF, left_out=(LeftOut(path="a.log", why="ignored by git"),)),
    )
    of_it = graded(Outcome.FAILED, Reason.TESTS_FAILED, failed=("t::b",), notes=("tests came back",))
    score = score_of(made, of_it)
    text = score.explanation or ""
    assert text.startswith("**failed: tests failed** (1 of 2 required tests passed)")
    assert "ended: out of budget `spent`; 3 turns, 4 tool calls, 1,234 tokens, $0.5000, 61 s." in text
    for line in (
        "- `tests came back`",
        "- left out of the submission: `a.log` (ignored by git)",
        "- long wait in turn 2: `sleep 99`",
        "- `t::b`",
        "- `t::a`",
    ):
        assert line in text.splitlines()
    assert f"```diff\n{DIFF}\n```" in text
    metadata = score.metadata or {}
    assert metadata[PATCH] == DIFF and metadata["ending"] == "out_of_budget"
    assert metadata["tests"] == {"passed": ["t::a"], "failed": ["t::b"]}
    assert metadata["findings"] == [{"kind": "long_wait", "turn": 2, "excerpt": "sleep 99"}]
    assert metadata["verdict"]["reason"] == "tests_failed"
    assert json.loads(json.dumps(metadata)) == metadata


def test_a_failed_attempt_has_no_patch() -> None:
    """A log that is graded again must not take a provider's failure for an empty answer."""
    score = score_of(
        attempt(Ending.FAILED, submission=Submission(patch="")), graded(Outcome.FAULT, Reason.PROVIDER_ERROR)
    )
    assert PATCH not in (score.metadata or {})
    empty = score_of(attempt(submission=Submission(patch="")), graded(Outcome.NO_ANSWER, Reason.EMPTY))
    assert (empty.metadata or {})[PATCH] == "" and not empty.answer


def outside_code(markdown: str) -> str:
    """What a viewer reads as Markdown: everything but fenced blocks and code in sentences."""
    without = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", without)


def test_foreign_words_are_never_read_as_markdown() -> None:
    """Whatever a model, a file's name or a test's says, it stands as code in one line."""
    finding = Finding(kind=FindingKind.NETWORK, turn=None, excerpt=HOSTILE)
    made = attempt(
        ending_detail=HOSTILE,
        findings=(finding,),
        submission=Submission(patch=f"{DIFF}+{HOSTILE}\n", left_out=(LeftOut(path=HOSTILE, why="no regular file"),)),
    )
    of_it = graded(detail=HOSTILE, notes=(HOSTILE,), passed=(HOSTILE,), failed=(HOSTILE,))
    text = outside_code(score_of(made, of_it).explanation or "")
    assert "example.org" not in text and "<img" not in text and "# Resolved" not in text and "javascript" not in text
    assert text.count("\n- ") == 5


def test_a_fence_in_a_patch_does_not_end_the_block() -> None:
    """The block's own fence is longer."""
    text = score_of(attempt(submission=Submission(patch=f"{DIFF}+```\n+````\n+# Out\n")), graded()).explanation or ""
    assert "`````diff" in text and "# Out" not in outside_code(text)


def test_bytes_that_are_no_text_can_be_shown() -> None:
    """A log is UTF-8; what is no text is marked as such, in patches, names and words."""
    strange = "\udcff\udc80"
    left = (LeftOut(path=strange, why="no regular file"),)
    made = attempt(ending_detail=strange, submission=Submission(patch=f"{DIFF}+{strange}\n", left_out=left))
    score = score_of(made, graded(failed=(strange,)))
    for text in (score.answer, score.explanation, (score.metadata or {})[PATCH]):
        assert "\ufffd" in str(text)
        str(text).encode("utf-8")


def test_a_binary_patch_is_shown_as_it_is() -> None:
    """In Git's own letters."""
    score = score_of(attempt(submission=Submission(patch=BINARY)), graded())
    assert (score.metadata or {})[PATCH] == BINARY and "IcmZPo000310RR91" in (score.explanation or "")


def test_what_is_too_long_is_cut_on_the_page_alone() -> None:
    """A page has the first tests and the beginning of the patch, the metadata everything."""
    tests = [f"t::{number}" for number in range(45)]
    patch = DIFF + "+x\n" * 50_000
    score = score_of(attempt(submission=Submission(patch=patch)), graded(passed=tests))
    text = score.explanation or ""
    assert "Passed tests (45):" in text and "- … and 5 more" in text and "- `t::44`" not in text
    assert "… clipped" in text and len(text) < 70_000
    assert (score.metadata or {})[PATCH] == patch and len((score.metadata or {})["tests"]["passed"]) == 45


def test_a_line_of_attempts_has_all_but_the_patch() -> None:
    """Of the patch it has the length in bytes."""
    left = (LeftOut(path="a.log", why="ignored by git"),)
    plain = plain_attempt(attempt(submission=Submission(patch="\udcffé\n", left_out=left, left_out_more=2)))
    assert "submission" not in plain and plain["patch_bytes"] == 4
    plain = json.loads(json.dumps(plain))
    assert plain["left_out"] == [{"path": "a.log", "why": "ignored by git"}] and plain["left_out_more"] == 2
    assert plain["ending"] == "submitted" and plain["usage"]["input_tokens"] == 1234


def scored(grade: Callable[[Attempt], GradedAttempt], folder: Path, samples: Sequence[dict[str, Any]]) -> EvalLog:
    """A run of Inspect whose samples have this metadata when they are scored."""

    @solver
    def nothing() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await asyncio.sleep(0)
            return state

        return solve

    dataset = [Sample("Mend it.", id=str(number), metadata=metadata) for number, metadata in enumerate(samples)]
    task = Task(dataset, solver=nothing(), scorer=patch_verdicts(grade, at_once=2))
    log = run_tasks(task, model=playing(()), log_dir=str(folder), display="none")[0]
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def test_patches_are_graded_side_by_side_in_threads(tmp_path: Path) -> None:
    """As many at once as there is room for, and none in the event loop's thread."""
    lock, seen = threading.Lock(), set[int]()
    now = most = 0
    both = threading.Barrier(2, timeout=30)

    def grade(of_it: Attempt) -> GradedAttempt:
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
            seen.add(threading.get_ident())
        both.wait()
        with lock:
            now -= 1
        return graded() if of_it.raw_text else FAULT

    plain = attempt().to_plain()
    failed = attempt(Ending.FAILED, submission=Submission(patch="")).to_plain()
    log = scored(grade, tmp_path, [{ATTEMPT: plain}, {ATTEMPT: plain}, {ATTEMPT: plain}, {ATTEMPT: failed}])
    assert most == 2 and threading.get_ident() not in seen
    assert log.results is not None
    assert log.results.scores[0].metrics["mean"].value == 1.0
    values = [(sample.scores or {})["verdicts"].value for sample in log.samples or []]
    assert [value["patch"] for value in values if isinstance(value, dict)][:3] == [1.0, 1.0, 1.0]


def test_a_sample_that_was_put_off_is_not_graded(tmp_path: Path) -> None:
    """It has a score that counts nowhere, and the reason."""

    def grade(of_it: Attempt) -> GradedAttempt:
        raise AssertionError("there is nothing to grade")

    log = scored(grade, tmp_path, [{NOT_ASKED: "the budget is used up"}])
    (sample,) = log.samples or []
    assert "the budget is used up" in str((sample.scores or {})["verdicts"].explanation)
