"""Titles of tables: none is there twice."""

from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.results import Origin, Source
from benchwright.leaderboard.tables import LeaderboardRow, Table
from benchwright.leaderboard.titles import told_apart

ROW = {"entry": "e", "entries": ("e",), "label": "m", "model": "m", "variant": "complete"}


def table(title: str = "Starter", version: str = "1", source: str = "", metric: str = "m", problems: int = 2) -> Table:
    """A table of one row."""
    origin = Origin.IMPORTED if source else Origin.OWN
    row = LeaderboardRow(**ROW, origin=origin, source=Source(kind="k", title=source) if source else None)  # type: ignore[arg-type]
    return Table(
        title=title,
        benchmark="starter",
        versions=(version,),
        subset="full",
        variant="complete",
        metric=metric,
        problems=tuple(f"p{number}" for number in range(problems)),
        rows=(row,),
    )


def titles(*tables: Table) -> list[str]:
    """Their new titles."""
    return [one.title for one in told_apart(tables)]


def test_a_table_says_what_sets_it_apart() -> None:
    """Origin, version, coverage, whichever differs and as little of it as it takes; the first keeps its title."""
    assert titles(table(), table("Other")) == ["Starter", "Other"]
    assert titles(table(), table(version="2")) == ["Starter", "Starter, data 2"]
    assert titles(table(), table(source="List", version="2")) == ["Starter", "Starter, imported from List"]
    assert titles(table(), table(problems=1)) == ["Starter", "Starter, 1 problem"]
    assert titles(table(), table(source="List"), table(source="List", version="2")) == [
        "Starter", "Starter, imported from List, data 1", "Starter, imported from List, data 2"
    ]  # fmt: skip


def test_what_is_the_same_in_all_is_numbered() -> None:
    """Nothing sets them apart that a title could say."""
    assert titles(table(), table(), table()) == ["Starter", "Starter (2)", "Starter (3)"]


@given(
    st.lists(
        st.builds(
            table,
            st.sampled_from(["A", "A, data 2", "A (2)", "A, own results"]),
            st.sampled_from(["1", "2", ""]),
            st.sampled_from(["", "List", "Other list"]),
            st.sampled_from(["m", "n"]),
            st.integers(1, 2),
        ),
        max_size=8,
    )
)
def test_no_title_is_there_twice(tables: list[Table]) -> None:
    """Whatever tables there are; nothing else of them changes, and the first stays as it is."""
    found = told_apart(tables)
    assert len({one.title for one in found}) == len(tables)
    assert [one.rows for one in found] == [one.rows for one in tables]
    assert found[:1] == tuple(tables[:1])
    assert all(one.title.startswith(before.title) for one, before in zip(found, tables, strict=True))
