"""What is asked of values in other programs' files: shown to be kept or refused, never mended."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.benchmarks.foreign import date_of, name_of, number_of, table_of, text_of, truth_of
from benchwright.core.errors import UsageError


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=500))
def test_printable_names_are_kept_as_they_are(name: str) -> None:
    """Markup, slashes, any script: a name is a name, unless it is white space alone."""
    if name.strip():
        assert name_of(name, "here", "the model") == name
    else:
        with pytest.raises(UsageError, match="empty"):
            name_of(name, "here", "the model")


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x1b[31m", "\ud800", "x" * 501, "", None, 3, ["x"]])
def test_other_names_are_refused(name: object) -> None:
    """Control characters, lone surrogates, absurd lengths and other types are no names; the place is named."""
    with pytest.raises(UsageError, match=r"^here: the model"):
        name_of(name, "here", "the model")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 10**400, True, "3", [3], {}])
def test_numbers_are_finite_and_from_nought(value: object) -> None:
    """NaN, infinity, what is below 0 and what is no number is refused."""
    with pytest.raises(UsageError, match=r"^here: the size"):
        number_of(value, "here", "the size")


@given(st.floats(0, 1e17) | st.integers(0, 10**17))
def test_numbers_are_kept(value: float) -> None:
    """Finite numbers stay what they are, as far as a float holds them; null is None."""
    assert number_of(value, "here", "the size") == float(value)
    assert number_of(None, "here", "the size") is None


def test_texts_days_truths_and_tables() -> None:
    """Null stands for what is not known; other types are refused."""
    assert (text_of(None, "h", "t"), date_of(None, "h", "d"), truth_of(None, "h", "b")) == ("", "", None)
    assert (date_of("2024-05-13", "h", "d"), date_of(date(2024, 5, 13), "h", "d")) == ("2024-05-13", "2024-05-13")
    assert date_of(datetime(2024, 5, 13, 1, 2), "h", "d") == "2024-05-13"  # noqa: DTZ001 TOML has local times
    assert (truth_of(False, "h", "b"), table_of({"a": 1}, "h", "o")) == (False, {"a": 1})
    for wrong in (
        lambda: text_of(3, "h", "t"),
        lambda: text_of("a\0", "h", "t"),
        lambda: text_of("xxx", "h", "t", most=2),
        lambda: date_of("13.5.2024", "h", "d"),
        lambda: truth_of("true", "h", "b"),
        lambda: truth_of(1, "h", "b"),
        lambda: table_of([], "h", "o"),
    ):
        with pytest.raises(UsageError, match=r"^h: "):
            wrong()
