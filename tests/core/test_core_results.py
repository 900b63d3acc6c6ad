"""Verdicts of one run, counted by problem."""

from benchwright.core.results import Tally, tallies_of


def test_samples_are_counted_by_problem() -> None:
    """Faults do not count, missing answers do and are told apart, and problems keep their order."""
    verdicts = [
        ("b", "passed", "all_tests_passed"),
        ("a", "fault", "sandbox_lost"),
        ("b", "failed", "assertion"),
        ("c", "no_answer", "missing"),
    ]
    found = tallies_of(verdicts)
    assert list(found) == ["b", "a", "c"]
    assert found["b"] == Tally(scored=2, passed=1)
    assert found["a"] == Tally(scored=0, passed=0, faults=1)
    assert found["c"] == Tally(scored=1, passed=0, missing=1)
