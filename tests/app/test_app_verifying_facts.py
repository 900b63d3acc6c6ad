"""What a bundle says of its problems is what their rows say, or what the rest of it shows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import write_rows
from app_pieces import ScriptedFactory, first_ids, references, run_grading, write_samples
from bundle_forging import Lines, files_of, forged, packed
from verify_pieces import found, texts

from benchwright.app.bundles import import_bundle, write_bundle
from benchwright.app.summary import summarise
from benchwright.app.verifying import verify
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score
from benchwright.store.folder import row_from_plain
from benchwright.store.results import ResultStore
from benchwright.testing import finished_record

OTHER = "problems.jsonl says other things of"
REST = "than the rest of the bundle."


def first(**fields: Any) -> Callable[[Lines], None]:
    """The first line says something else."""
    return lambda lines: lines[0].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (first(digest="0" * 64), f"{OTHER} Starter/0 {REST}"),
        (first(created="2001-01-01"), f"{OTHER} Starter/0 {REST}"),
        (first(repository="django/django"), f"{OTHER} Starter/0 {REST}"),
        (first(domains=["poison"]), f"{OTHER} Starter/0 than the benchmark's built-in rows."),
        (first(libraries=[]), f"{OTHER} Starter/0 than the benchmark's built-in rows."),
        (first(id="Starter/9"), "problems.jsonl is not of the 5 problems, once each."),
        (lambda lines: lines[1:], "problems.jsonl is not of the 5 problems, once each."),
        (lambda lines: [*lines, lines[0]], "problems.jsonl is not of the 5 problems, once each."),
        (first(id=None), "problems.jsonl cannot be read (line 1"),
        (first(libraries=5), "problems.jsonl cannot be read (line 1"),
        (lambda lines: [[]], "problems.jsonl cannot be read (line 1"),
    ],
)
def test_facts_of_functions_are_those_of_their_rows(
    bundle: Path, tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    """Others' runs are shown with them, so what does not fit is wrong, and is not taken into a store."""
    path = forged(bundle, "problems.jsonl", change)
    report = verify(path)
    assert found(report) == {"data"}
    assert any(text.startswith(message) for text in texts(report)), texts(report)
    with ResultStore(tmp_path / "store") as store:
        with pytest.raises(UsageError, match=r"is not taken in: problems\.jsonl"):
            import_bundle(path, store)
        assert list(store.runs()) == []


def test_facts_that_were_not_written_down_are_not_missed(bundle: Path) -> None:
    """Gradings of old versions have none."""
    files = files_of(bundle)
    del files["problems.jsonl"]
    assert verify(packed(bundle, files, bundle)).shown


def test_facts_of_patches_are_those_of_their_rows(patches: Path, tmp_path: Path) -> None:
    """Digest and repository are in the bundle twice; the rest is the author's word unless the rows are at hand."""
    rows = write_rows(tmp_path)
    for fields in ({"digest": "0" * 64}, {"repository": "django/django"}, {"domains": ["x"]}):
        report = verify(forged(patches, "problems.jsonl", first(**fields)))
        assert texts(report) == [f"{OTHER} own__little-1 {REST}"]
    for fields in ({"created": "2001-01-01"}, {"difficulty": "easy"}):
        path = forged(patches, "problems.jsonl", first(**fields))
        assert verify(path).sound
        assert texts(verify(path, dataset=rows)) == [f"{OTHER} own__little-1 than {rows}."]


def without_names(bundle: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A bundle whose plans say something else of what stubs give, with the laziness that follows from it."""
    files = files_of(bundle)
    plans, manifest = json.loads(files["plans.json"]), json.loads(files["manifest.json"])
    for plan in plans.values():
        change(plan)
    rows = [row_from_plain(json.loads(line)) for line in files["rows.jsonl"].splitlines()]
    given = {problem: frozenset(plan["given"]) for problem, plan in plans.items() if "given" in plan}
    scores = [Score(name) for name in manifest["scores"]]
    manifest["laziness"] = summarise(rows, scores, {}, given_names=given or None).to_plain()["laziness"]
    files["plans.json"], files["manifest.json"] = json.dumps(plans).encode(), json.dumps(manifest).encode()
    return packed(bundle.with_name("forged.bw.zip"), files, bundle)


def test_what_stubs_give_follows_from_the_stubs(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """Nobody is made less lazy by leaving names out, one or all of them."""
    scripted.script = finished_record
    graded = run_grading(home, write_samples(tmp_path / "s.jsonl", references(2)), tmp_path / "a", ids=first_ids(2))
    bundle = write_bundle(graded.folder, tmp_path / "a.bw.zip", Workspace(home=home)).path
    assert verify(bundle).sound
    report = verify(without_names(bundle, lambda plan: plan["given"].clear()))
    assert texts(report) == [
        f"The names that plans.json says the stub of Starter/{number} gives are not those in jobs.jsonl."
        for number in range(2)
    ]
    report = verify(without_names(bundle, lambda plan: plan.pop("given")))
    assert texts(report) == ["plans.json does not say which names the stubs give."]


def test_without_stubs_nothing_shows_what_they_give(bundle: Path) -> None:
    """Then that is open, besides what is wrong."""
    path = without_names(bundle, lambda plan: plan.pop("given"))
    files = files_of(path)
    del files["jobs.jsonl"]
    report = verify(packed(path, files, path))
    assert found(report) == {"answers"}
    assert "which names the stubs give: there is no jobs.jsonl" in report.open
