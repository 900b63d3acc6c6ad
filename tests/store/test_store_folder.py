"""The results folder of one grading."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from entry_pieces import ANY_ROW
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import UsageError
from benchwright.core.execution import PlannedTest, TestPlan
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.folder import ResultsFolder, row_from_plain, row_to_plain
from benchwright.store.upgrades import Kind, schema_of


def row(problem: str = "a", **changes: Any) -> ResultRow:
    """A passing row."""
    verdict = Verdict(
        outcome=Outcome.PASSED,
        reason=Reason.ALL_TESTS_PASSED,
        detail="fine",
        planned=1,
        passed=1,
        judge_version=1,
        record_digest="r",
    )
    values: dict[str, Any] = {"sample": 0, "score": Score.CALIBRATED, "verdict": verdict, "job_digest": "j", **changes}
    return ResultRow(problem_id=problem, **values)


@given(ANY_ROW)
def test_rows_survive_their_plain_form(one: ResultRow) -> None:
    """A row read back is the row written."""
    assert row_from_plain(json.loads(json.dumps(row_to_plain(one)))) == one


@given(st.lists(ANY_ROW, max_size=5))
def test_rows_survive_the_file(tmp_path_factory: pytest.TempPathFactory, several: list[ResultRow]) -> None:
    """Rows come back from the file in order, whatever text is in them."""
    folder = ResultsFolder(tmp_path_factory.mktemp("folder"))
    folder.write_rows(several)
    assert list(folder.rows()) == several


def test_plans_survive_the_file(tmp_path: Path) -> None:
    """Test ids and decorators are kept, so that regrading needs no data."""
    plan = TestPlan(
        source="long",
        class_name="TestCases",
        tests=(PlannedTest(id="TestCases.test_a", decorators=("unittest.skip",)), PlannedTest(id="TestCases.test_b")),
    )
    folder = ResultsFolder(tmp_path)
    folder.write_plans({"a": plan})
    found = folder.plans()["a"]
    assert (found.class_name, found.tests) == (plan.class_name, plan.tests)


def test_names_that_stubs_give_are_kept_with_the_plans(tmp_path: Path) -> None:
    """They come back by problem; a folder that has them for no problem, or not for all, knows none."""
    plan = TestPlan(source="", class_name="TestCases", tests=())
    given_names = {"a": frozenset({"np", "matplotlib.pyplot"}), "b": frozenset[str]()}
    folder = ResultsFolder(tmp_path)
    folder.write_plans({"a": plan, "b": plan}, given_names)
    assert folder.given_names() == given_names
    assert set(folder.plans()) == {"a", "b"}
    folder.write_plans({"a": plan, "b": plan}, {"a": frozenset({"np"})})
    assert folder.given_names() is None
    folder.write_plans({"a": plan})
    assert folder.given_names() is None
    (tmp_path / "plans.json").write_text("[]")
    with pytest.raises(UsageError, match=r"plans\.json cannot be read"):
        folder.given_names()


def test_rows_of_earlier_versions_are_read() -> None:
    """Rows written before missing names were kept have none."""
    plain = row_to_plain(row(missing_names=("np",)))
    assert plain.pop("missing_names") == ["np"]
    assert row_from_plain(plain) == row()


def test_the_manifest_carries_its_schema(tmp_path: Path) -> None:
    """A manifest comes back with the schema version in it."""
    folder = ResultsFolder(tmp_path)
    assert not folder.has_manifest()
    folder.write_manifest({"run_id": "x", "model": "\ud800"})
    assert folder.has_manifest()
    assert folder.manifest() == {"schema": schema_of(Kind.MANIFEST), "run_id": "x", "model": "\ud800"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "holds no manifest.json"),
        ("{", "cannot be read"),
        ("[]", "has schema None"),
        ('{"schema": 99}', "schema 99"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    """Each flaw is one sentence with the path and what to do."""
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match=words) as caught:
        ResultsFolder(tmp_path).manifest()
    assert str(tmp_path) in str(caught.value)


def test_a_damaged_row_is_named_by_its_line(tmp_path: Path) -> None:
    """The line that cannot be read is in the message; those before it are given."""
    folder = ResultsFolder(tmp_path)
    folder.write_rows([row("a"), row("b")])
    text = folder.rows_path.read_text()
    folder.rows_path.write_text(text[:-40] + "\n")
    found = folder.rows()
    assert next(found).problem_id == "a"
    with pytest.raises(UsageError, match="line 2 is not a result row"):
        next(found)


@pytest.mark.parametrize("read", [lambda f: list(f.rows()), lambda f: f.plans()], ids=["rows", "plans"])
def test_missing_files_are_named(tmp_path: Path, read: Callable[[ResultsFolder], object]) -> None:
    """A folder without rows or plans is one sentence."""
    with pytest.raises(UsageError, match="cannot be read"):
        read(ResultsFolder(tmp_path))


def test_two_writers_exclude_each_other(tmp_path: Path) -> None:
    """The second to lock a folder is refused at once; after the first it may."""
    first, second = ResultsFolder(tmp_path / "new"), ResultsFolder(tmp_path / "new")
    with first.locked(), pytest.raises(UsageError, match="Another grading is writing"), second.locked():
        pass
    with second.locked():
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A path below a file is refused with the way out."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match=r"cannot be written .* --out"),
        ResultsFolder(tmp_path / "file" / "x").locked(),
    ):
        pass


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """When writing stops in the middle the earlier rows are still there, and nothing half-written."""

    def stopping() -> Any:
        yield row("new")
        raise KeyboardInterrupt

    folder = ResultsFolder(tmp_path)
    folder.write_rows([row("old")])
    with pytest.raises(KeyboardInterrupt):
        folder.write_rows(stopping())
    assert [one.problem_id for one in folder.rows()] == ["old"]


def test_files_kept_aside_never_replace_each_other(tmp_path: Path) -> None:
    """Keeping rows aside twice keeps both."""
    folder = ResultsFolder(tmp_path)
    kept = []
    for name in ("one", "two", "three"):
        folder.write_rows([row(name)])
        kept.append(folder.keep_aside("rows.jsonl"))
    assert [path.name for path in kept] == [
        "rows.before-regrade.jsonl",
        "rows.before-regrade-2.jsonl",
        "rows.before-regrade-3.jsonl",
    ]
    assert ["one" in kept[0].read_text(), "two" in kept[1].read_text()] == [True, True]
