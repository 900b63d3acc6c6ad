"""Fields of a bundle are of their kinds, and there is no more of anything than there can be."""

import json
from pathlib import Path
from typing import Any

import pytest
from bundle_forging import Lines, files_of, forged
from verify_pieces import found, texts

from benchwright.app import verifying, verifying_form
from benchwright.app.verifying import VerifyReport, verify


def changed(bundle: Path, **fields: Any) -> VerifyReport:
    """What is found where the manifest says something else, and the list says so too."""
    return verify(forged(bundle, "manifest.json", lambda manifest: {**manifest, **fields}, relist=True))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("run_id", (None, "", [], {}, 5)),
        ("model", ("", "  ", "\n")),
        ("benchwright_version", (None, "x", [], "0.1 and more")),
        ("judge_version", (None, "1", True, -1, 1.5)),
        ("finished", ("", "x", "2026-11-30", "\ud800")),
        ("wall_seconds", (None, "1", True, -1, 1e300, [])),
        ("executed", (None, "1", True, -1, 1.5, 10**30)),
        ("reused", (None, {}, -1)),
        ("data_pinned", (None, "yes", 1)),
        ("samples_digest", (None, "x", [], "0" * 63)),
        ("data_source", (None, 5, {})),
        ("samples_name", (None, [])),
    ],
)
@pytest.mark.parametrize("kind", ["bundle", "patches"])
def test_a_field_is_of_its_kind(kind: str, name: str, values: tuple[Any, ...], request: pytest.FixtureRequest) -> None:
    """What programs that read manifests would stumble over is found here."""
    bundle = request.getfixturevalue(kind)
    for value in values:
        report = changed(bundle, **{name: value})
        assert any(text.startswith(f"manifest.json has a {name} that ") for text in texts(report)), value


def test_a_field_is_there(bundle: Path) -> None:
    """Every grading writes it."""
    report = verify(forged(bundle, "manifest.json", lambda manifest: manifest.pop("wall_seconds") and None))
    assert texts(report) == ["manifest.json has no wall_seconds."]


@pytest.mark.parametrize("name", ["duplicates", "uncontrolled_problems"])
def test_a_count_is_one(bundle: Path, name: str) -> None:
    """Of gradings of functions alone."""
    for value in (None, "1", True, -1, []):
        assert any(
            text.startswith(f"manifest.json has a {name} that ") for text in texts(changed(bundle, **{name: value}))
        )


def test_answers_were_given_or_extracted(bundle: Path) -> None:
    """There is no third."""
    for value in (None, "x", [], 0):
        assert texts(changed(bundle, answers=value)) == [
            "manifest.json says neither that answers were as given nor that they were extracted."
        ]


def test_problems_without_control_runs_are_counted(bundle: Path) -> None:
    """The number is that of the control runs in the bundle, of which there is none here."""
    assert changed(bundle, uncontrolled_problems=5).shown
    assert texts(changed(bundle, uncontrolled_problems=0)) == [
        "The manifest says uncontrolled_problems 0, the rows come to 5."
    ]


@pytest.mark.parametrize("name", ["notes", "missing_names"])
@pytest.mark.parametrize("value", [None, "", {}, 5, [1]])
def test_lists_in_rows_are_lists(bundle: Path, name: str, value: Any) -> None:
    """Nothing that merely has parts is taken for one."""
    (text,) = texts(verify(forged(bundle, "rows.jsonl", lambda rows: rows[0].update({name: value}))))
    assert text.startswith("rows.jsonl, line 1 is not a result row")


@pytest.mark.parametrize("value", [None, "x", [], 0])
def test_a_kind_is_one(bundle: Path, value: Any) -> None:
    """What is not of patches is of functions, and says so."""
    assert any(text.startswith("manifest.json has a kind that ") for text in texts(changed(bundle, kind=value)))


@pytest.mark.parametrize("field", [{"strategy": "luck"}, {"notes": ["luck"]}])
def test_how_an_answer_was_found_follows_from_it(bundle: Path, field: dict[str, Any]) -> None:
    """Of answers that were run, and of those that had nothing to run."""
    for number in range(10):
        report = verify(forged(bundle, "rows.jsonl", lambda rows, number=number: rows[number].update(field)))
        assert found(report) == {"verdicts"}, number


@pytest.mark.parametrize("field", [{"strategy": "luck"}, {"notes": ["luck"]}, {"wall_seconds": 5.0}])
def test_how_a_patch_was_found_follows_from_it(patches: Path, field: dict[str, Any]) -> None:
    """Likewise."""
    for number in range(3):
        report = verify(forged(patches, "rows.jsonl", lambda rows, number=number: rows[number].update(field)))
        assert "verdicts" in found(report), number


@pytest.mark.parametrize("kind", ["bundle", "patches"])
def test_rows_are_not_read_without_end(kind: str, request: pytest.FixtureRequest) -> None:
    """Where there are more than there can be of so many answers, that is all that is said, and reading stops."""

    def without_end(rows: Lines) -> Lines:
        return [*rows, *({**rows[0], "sample": number} for number in range(1, 2000)), {"no": "row"}]

    report = verify(forged(request.getfixturevalue(kind), "rows.jsonl", without_end))
    (text,) = texts(report)
    assert text.startswith("rows.jsonl has more rows than the ")
    assert report.tally.rows == 0


def test_rows_are_not_more_than_a_run_has(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the manifest says."""
    monkeypatch.setattr(verifying_form, "MOST_ROWS", 3)
    assert texts(verify(bundle))[0].startswith("rows.jsonl has more rows than the 3 that there can be")


@pytest.mark.parametrize("fields", [{"attempts": "many"}, {"problems": None}, {"attempts": -1}, {"missing": 5}])
def test_how_many_rows_there_are_is_said(bundle: Path, fields: dict[str, Any]) -> None:
    """As numbers."""
    (text,) = texts(changed(bundle, **fields))
    assert text.startswith(("The manifest does not say how many", "The bundle's files are not of the form"))


def test_findings_are_not_sought_without_end(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With so many, no further check is made."""
    monkeypatch.setattr(verifying, "MOST_FINDINGS", 3)
    count = len(json.loads(files_of(bundle)["manifest.json"])["problem_digests"])

    def wrong(lines: Lines) -> None:
        for line in lines:
            line["created"] = "2001"

    assert count > 3
    assert len(verify(forged(bundle, "problems.jsonl", wrong)).findings) == 3


def test_under_official_limits_control_runs_may_have_come_later(bundle: Path) -> None:
    """Nothing tells which of those in the bundle the grading knew, so another number is open and not wrong."""
    report = changed(bundle, limits="official", uncontrolled_problems=4)
    assert any(text.startswith("which control runs the grading knew: 4 problems had none") for text in report.open)
    assert all("official limits" in text for text in texts(report))
