"""Facts about exclusions and mends, the lists that come with the package, and lists in files."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.benchmarks.repositories import RepositorySet
from benchwright.benchmarks.swebench.exclusions import (
    ExclusionEntry,
    ExclusionList,
    Kind,
    TestChange,
    apply,
    read_list,
    shipped_list,
    shipped_names,
    write_list,
)
from benchwright.benchmarks.swebench.loading import load
from benchwright.core.errors import MachineError, UnknownNameError, UsageError

MakeRow = Callable[..., dict[str, Any]]


def entry(problem_id: str, kind: Kind = Kind.EXCLUDE, **changes: Any) -> ExclusionEntry:
    values: dict[str, Any] = {
        "id": problem_id,
        "kind": kind,
        "reason": "The reference fails here.",
        "evidence": ("https://example.org/1",),
        "reported": date(2025, 1, 20),
        "reported_by": "somebody",
    }
    return ExclusionEntry(**values | changes)


def mend(problem_id: str, **changes: TestChange) -> ExclusionEntry:
    return entry(problem_id, Kind.MEND, **changes)


def listed(*entries: ExclusionEntry, name: str = "mine") -> ExclusionList:
    return ExclusionList(name=name, about="For tests.", entries=entries)


def test_what_is_excluded_is_named_with_its_reason(three: RepositorySet) -> None:
    """Every problem is kept or excluded; the kept set has a digest of its own."""
    selection = apply(three, [listed(entry("owner__pkg-2"))])
    assert [problem.id for problem in selection.kept.problems] == ["owner__pkg-1", "owner__pkg-10"]
    (excluded,) = selection.excluded
    assert (excluded.problem.id, excluded.grounds[0].list) == ("owner__pkg-2", "mine")
    assert excluded.grounds[0].entry.reason == "The reference fails here."
    assert selection.kept.digest != three.digest
    assert selection.lists == (("mine", listed(entry("owner__pkg-2")).digest),)


def test_no_lists_change_nothing(three: RepositorySet) -> None:
    """Without lists the set is the set."""
    selection = apply(three, [])
    assert selection.kept == three
    assert (selection.excluded, selection.mended, selection.absent) == ((), (), ())


def test_an_id_in_two_lists_has_both_reasons(three: RepositorySet) -> None:
    """Two lists that exclude one problem are both its grounds."""
    other = listed(entry("owner__pkg-2", reason="It is flaky."), name="other")
    (excluded,) = apply(three, [listed(entry("owner__pkg-2")), other]).excluded
    assert [(ground.list, ground.entry.reason) for ground in excluded.grounds] == [
        ("mine", "The reference fails here."),
        ("other", "It is flaky."),
    ]


def test_ids_that_the_set_lacks_are_named(three: RepositorySet) -> None:
    """A list of a larger data set applies to a smaller one, and a misspelt id can be seen."""
    assert apply(three, [listed(entry("owner__pkg-7"), entry("owner__pkg-1"))]).absent == ("owner__pkg-7",)


def test_a_mend_changes_the_test_lists_and_the_digest(three: RepositorySet) -> None:
    """Tests are added at the end and removed; the row's digest is that of the changed row."""
    change = mend(
        "owner__pkg-1",
        fail_to_pass=TestChange(add=("test_core.py::test_new",)),
        pass_to_pass=TestChange(remove=("test_core.py::test_y",)),
    )
    selection = apply(three, [listed(change)])
    (mended,) = selection.mended
    assert mended.before == three.by_id["owner__pkg-1"]
    assert mended.after.fail_to_pass == ("test_core.py::test_x", "test_core.py::test_new")
    assert mended.after.pass_to_pass == ("test_core.py::test_z[a b]",)
    assert mended.after.digest != mended.before.digest
    assert selection.kept.by_id["owner__pkg-1"] == mended.after
    assert len(selection.kept.problems) == 3


def test_a_mend_that_is_in_the_data_already_is_said_to_be(three: RepositorySet) -> None:
    """Data that was corrected since the report is left alone, and that is told."""
    change = mend("owner__pkg-1", pass_to_pass=TestChange(remove=("test_core.py::test_gone",)))
    selection = apply(three, [listed(change)])
    assert (selection.already_mended, selection.mended) == (("owner__pkg-1",), ())
    assert selection.kept == three


def test_exclusion_goes_before_mend(three: RepositorySet) -> None:
    """A problem that one list mends and another excludes is out, with both grounds."""
    change = mend("owner__pkg-1", fail_to_pass=TestChange(add=("t",)))
    selection = apply(three, [listed(change), listed(entry("owner__pkg-1"), name="other")])
    assert [ground.list for ground in selection.excluded[0].grounds] == ["mine", "other"]
    assert selection.mended == ()


def test_contradictions_are_refused(three: RepositorySet) -> None:
    """Lists of one name, mends against each other, and mends that leave nothing to pass are errors."""
    adds = listed(mend("owner__pkg-1", pass_to_pass=TestChange(add=("t",))))
    removes = listed(mend("owner__pkg-1", pass_to_pass=TestChange(remove=("t",))), name="other")
    with pytest.raises(UsageError, match=r"owner__pkg-1 in mine and other contradict each other about 't'"):
        apply(three, [adds, removes])
    with pytest.raises(UsageError, match="Two exclusion lists are named 'mine'"):
        apply(three, [adds, adds])
    empties = mend("owner__pkg-1", fail_to_pass=TestChange(remove=("test_core.py::test_x",)))
    with pytest.raises(UsageError, match="leaves no test in FAIL_TO_PASS"):
        apply(three, [listed(empties)])


def test_rows_without_tests_are_not_mended(row: MakeRow, set_of: Callable[..., RepositorySet]) -> None:
    """A statement stays a statement: a mend would make it look as if it could be graded."""
    bare = set_of(row(test_patch=..., FAIL_TO_PASS=..., PASS_TO_PASS=...))
    selection = apply(bare, [listed(mend("owner__pkg-1", fail_to_pass=TestChange(add=("t",))))])
    assert selection.kept == bare
    assert (selection.mended, selection.already_mended) == ((), ())


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Writing and reading keep every field; the digest depends on content, not on order."""
    first = entry("owner__pkg-1", evidence=('a "quoted" digest', "back\\slash\tand\nlines\x7f"), reported_by="Zoë 🙂")
    second = mend("owner__pkg-2", fail_to_pass=TestChange(add=("t[a b]",), remove=("u",)))
    path = tmp_path / "lists" / "mine.toml"
    write_list(path, listed(first, second))
    assert read_list(path) == listed(first, second)
    assert read_list(path).digest == listed(second, first).digest
    assert listed(first).digest != listed(replace(first, reason="Another.")).digest
    write_list(path, listed())
    assert read_list(path).entries == ()


@given(st.text(min_size=1).filter(str.strip))
def test_any_text_survives_a_file(text: str) -> None:
    """Whatever a control run says can be stored; only lone surrogates are lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.toml"
        write_list(path, listed(entry("owner__pkg-1", reason=text)))
        (read,) = read_list(path).entries
    assert read.reason == text.encode("utf-8", "replace").decode()


HEAD = 'schema_version = 1\nname = "mine"\nabout = "x"\n'
ENTRY = """[[entries]]
id = "a-1"
kind = "exclude"
reason = "r"
evidence = ["e"]
reported = 2025-01-20
reported_by = "w"
"""


def test_a_list_that_people_write_may_have_a_date_in_quotes(tmp_path: Path) -> None:
    """A day is a day, as TOML's own type or as text."""
    path = tmp_path / "a.toml"
    path.write_text(HEAD + ENTRY.replace("2025-01-20", '"2025-01-20"'))
    assert read_list(path).entries[0].reported == date(2025, 1, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        (HEAD.replace("1", "2") + ENTRY, "schema_version is 2; this version reads 1"),
        (HEAD.replace("mine", "a/b") + ENTRY, "the list's name is 'a/b'"),
        (HEAD, r"expected a table \[\[entries\]\]"),
        (HEAD + ENTRY + ENTRY, "has a-1 twice"),
        (HEAD + ENTRY.replace("exclude", "skip"), r"entry 1 \(a-1\): kind is 'skip'; expected exclude or mend"),
        (HEAD + ENTRY.replace('["e"]', "[]"), "evidence is empty; name a report's address"),
        (HEAD + ENTRY.replace('["e"]', '"e"'), "evidence is 'e'; expected a list"),
        (HEAD + ENTRY.replace("2025-01-20", '"yesterday"'), "reported is 'yesterday'; expected a day"),
        (HEAD + ENTRY.replace('reason = "r"\n', ""), "reason is missing"),
        (HEAD + ENTRY.replace('reason = "r"', "reason = 5"), "reason is a number"),
        (HEAD + ENTRY + "why = 3\n", "has no field 'why'"),
        (HEAD + ENTRY + "fail_to_pass = {}\n", "an entry of kind exclude has no field 'fail_to_pass'"),
        (HEAD + ENTRY.replace("exclude", "mend"), "a mend that changes neither"),
        (HEAD + ENTRY.replace("exclude", "mend") + 'fail_to_pass = ["t"]\n', "expected the lists add and remove"),
        (
            HEAD + ENTRY.replace("exclude", "mend") + 'fail_to_pass = {add = ["t"], remove = ["t"]}\n',
            "fail_to_pass adds and removes 't'",
        ),
    ],
)
def test_a_flawed_list_is_named(tmp_path: Path, text: str, message: str) -> None:
    """The message has the file and the entry."""
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_list(path)
    assert str(path) in str(caught.value)


def test_a_list_without_evidence_is_not_written(tmp_path: Path) -> None:
    """What could not be read back is refused before the file exists."""
    with pytest.raises(UsageError, match="evidence is empty"):
        write_list(tmp_path / "a.toml", listed(entry("a-1", evidence=())))
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_cannot_be_written_is_the_machines_fault(tmp_path: Path) -> None:
    """A place that is no folder is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be written"):
        write_list(tmp_path / "file" / "a.toml", listed(entry("a-1")))


def test_shipped_lists_are_named_and_have_public_evidence() -> None:
    """Each entry of each list has addresses; no list bears the name of one whose ids are not public."""
    assert shipped_names() == (
        "verified-flaky",
        "verified-mends",
        "verified-network",
        "verified-reference-fails",
        "verified-reference-fails-once",
    )
    for name in shipped_names():
        shipped = shipped_list(name)
        assert shipped.name == name
        assert "epoch" not in name
        assert all(address.startswith("https://") for its in shipped.entries for address in its.evidence)
    with pytest.raises(UnknownNameError, match="did you mean verified-flaky"):
        shipped_list("verified-flakey")


def test_the_strong_list_has_two_reports_of_each() -> None:
    """A reference is listed as failing on at least two public reports, and otherwise as reported once."""
    strong, weak = shipped_list("verified-reference-fails"), shipped_list("verified-reference-fails-once")
    assert all(len(its.evidence) >= 2 for its in strong.entries)
    assert all(len(its.evidence) == 1 for its in weak.entries)
    assert not {its.id for its in strong.entries} & {its.id for its in weak.entries}


def test_shipped_lists_fit_the_500(real_data: Path) -> None:
    """Every id of every list is one of Verified's; all lists together leave 468."""
    verified = load("swebench-verified", path=real_data / "verified_500_statements.jsonl.gz")
    selection = apply(verified, [shipped_list(name) for name in shipped_names()])
    assert selection.absent == ()
    assert (len(selection.kept.problems), len(selection.excluded)) == (468, 32)
