"""Names of tables and sources: equal ones are told apart, and nothing else is said."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from leaderboard_pieces import scored
from site_pieces import plain, site, table

from benchwright.core.results import Origin, Source
from benchwright.leaderboard.site.methods import sources_of
from benchwright.leaderboard.site.model import SiteData
from benchwright.leaderboard.site.naming import names_of, told_sources
from benchwright.leaderboard.tables import Table

OWN = table("T", [scored("a", [1, 0])], text=plain, metric="x")


def imported(*sources: Source, title: str = "T") -> Table:
    """A table of one imported row for each source, of models m0, m1, …"""
    runs = [scored(f"m{n}", [1, 0], origin=Origin.IMPORTED, source=source) for n, source in enumerate(sources)]
    return table(title, runs, text=plain, metric="x")


def file_of(digest: str, name: str = "verdicts.json") -> Source:
    """A source read from a file of this digest."""
    return Source(kind="official", title=name, files=((name, digest),), note="They say.")


def test_tables_of_one_title_are_told_apart() -> None:
    """By where results come from, otherwise by versions, metric, scaffold, samples or rows, at last by a number."""
    theirs = imported(file_of("1" * 64))
    assert names_of((OWN, theirs)) == ("T – own results", "T – imported from verdicts.json")
    assert names_of((OWN, replace(OWN, versions=("v2",)))) == (f"T – data {OWN.versions[0]}", "T – data v2")
    assert names_of((OWN, replace(OWN, metric="y"))) == ("T – x", "T – y")
    (row,) = OWN.rows
    assert row.estimate
    thrice = replace(OWN, rows=(replace(row, estimate=replace(row.estimate, samples=3)),))
    assert names_of((OWN, thrice)) == ("T – one sample each", "T – several samples each")
    loop = replace(OWN, rows=(replace(row, scaffold="loop"),))
    assert names_of((OWN, loop)) == ("T – mini", "T – loop")
    two = replace(OWN, rows=OWN.rows * 2)
    assert names_of((OWN, two)) == ("T – 1 model", "T – 2 models")
    assert names_of((OWN, replace(OWN, reason="another"))) == ("T", "T (2)")


def test_a_title_of_its_own_stays_as_it_is() -> None:
    """Nothing is added where nothing has to be told apart."""
    tables = site().tables
    assert names_of(tables) == tuple(one.title for one in tables)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y"]), st.integers(1, 2)), max_size=6))
def test_no_two_names_are_equal(made: list[tuple[str, str, int]]) -> None:
    """Whatever tables there are, lists can tell them apart."""
    tables = [replace(OWN, title=title, metric=metric, rows=OWN.rows * rows) for title, metric, rows in made]
    assert len(set(names_of(tables))) == len(tables)


def test_files_of_one_name_are_told_apart_by_their_model() -> None:
    """Each has its model beside it, or the beginning of its digest when several models come from it; others nothing."""
    one, two, alone = file_of("1" * 64), file_of("2" * 64), file_of("3" * 64, "other.json")
    assert told_sources((imported(one, two, alone),)) == {one: "m0", two: "m1", alone: ""}
    assert told_sources((imported(one, one, two),)) == {one: "1" * 8, two: "m2"}
    again = imported(two)  # two files of the same name for the same model
    assert told_sources((imported(one), again)) == {one: "m0, 11111111", two: "m0, 22222222"}


def test_methods_list_a_source_once_with_all_its_files() -> None:
    """Three files of one name and one note are one entry, whose files have digest and model."""
    board = imported(*(file_of(digit * 64) for digit in "123"))
    (group,) = sources_of(SiteData(title="t", tables=(board,), version="1"))
    assert (group.title, group.note) == ("verdicts.json", "They say.")
    assert group.files == tuple(("verdicts.json", digit * 64, f"m{n}") for n, digit in enumerate("123"))
