"""Verdicts of other harnesses, in our words: what they say is kept, and nothing is judged again."""

from benchwright.core.verdicts import Outcome, Reason, Verdict

IMPORTED_JUDGE_VERSION = 0
"""Of verdicts that no judge of ours gave."""

_DETAIL_CHARACTERS = 300


def imported_verdict(outcome: Outcome, reason: Reason, detail: str, *, planned: int = 0, passed: int = 0) -> Verdict:
    """What a source says of one attempt.

    Args:
        outcome: The source's verdict.
        reason: Why, as far as the source says; `Reason.NOT_STATED` where it does not.
        detail: The source's own words; control characters are taken out and it is cut to 300 characters.
        planned: Number of tests, 0 where the source does not say.
        passed: Number of those that passed.
    """
    text = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in detail[: 4 * _DETAIL_CHARACTERS])
    return Verdict(
        outcome=outcome,
        reason=reason,
        detail=text if len(text) <= _DETAIL_CHARACTERS else text[: _DETAIL_CHARACTERS - 1] + "…",
        planned=planned,
        passed=passed,
        judge_version=IMPORTED_JUDGE_VERSION,
        record_digest=None,
    )
