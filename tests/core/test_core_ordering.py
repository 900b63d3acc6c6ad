"""The order of names that hold numbers."""

from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.ordering import natural


@given(st.lists(st.text(st.characters(), max_size=30), max_size=12))
def test_names_are_put_in_the_order_of_their_numbers(names: list[str]) -> None:
    """The order is the same whatever order the names come in, and 9 comes before 10."""
    backwards = names[::-1]
    assert sorted(names, key=natural) == sorted(backwards, key=natural)
    assert sorted(["1", "01"], key=natural) == sorted(["01", "1"], key=natural)
    assert sorted(["T/10", "T/9", "T/9a"], key=natural) == ["T/9", "T/9a", "T/10"]
    assert sorted(["a__b-11790", "a__b-9296", "a__b"], key=natural) == ["a__b", "a__b-9296", "a__b-11790"]


def test_a_number_may_have_any_length() -> None:
    """Python makes no number of more than 4,300 digits; names of two such numbers still have an order."""
    names = ["1" * 5000, "1" * 4999 + "2", "2"]
    assert sorted(names, key=natural) == ["2", *names[:2]]
