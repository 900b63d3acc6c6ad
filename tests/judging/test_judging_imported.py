"""Verdicts of other harnesses: kept, marked, and fit to be shown."""

from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.verdicts import Outcome, Reason
from benchwright.judging.imported import imported_verdict


def test_an_imported_verdict_names_no_judge_and_no_record() -> None:
    """Judge version 0 and no record: nothing of ours stands behind it."""
    verdict = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, "unresolved", planned=3, passed=1)
    assert (verdict.judge_version, verdict.record_digest) == (0, None)
    assert (verdict.planned, verdict.passed, verdict.detail) == (3, 1, "unresolved")


@given(st.text(alphabet=st.characters(), max_size=900))
def test_the_detail_can_be_shown_and_stored(detail: str) -> None:
    """At most 300 characters, all of them printable and encodable."""
    found = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, detail).detail
    assert len(found) <= 300
    assert found.isprintable()
    found.encode("utf-8")
