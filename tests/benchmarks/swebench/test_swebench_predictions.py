"""Facts about the forms that patches come in, and what of them is an error."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.answers.reading import MAX_ANSWER_BYTES
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, PatchFile, RepositorySet
from benchwright.benchmarks.swebench.official import write_official_files
from benchwright.benchmarks.swebench.predictions import read_predictions
from benchwright.core.errors import UsageError

Write = Callable[..., Path]
DIFF = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"


def prediction(number: int, patch: Any = DIFF, **changes: Any) -> dict[str, Any]:
    return {"instance_id": f"owner__pkg-{number}", "model_name_or_path": "birch", "model_patch": patch} | changes


def patches(file: PatchFile) -> dict[str, str | None]:
    return {attempt.problem_id: attempt.raw_text for attempt in file.attempts}


BOTH = [prediction(1), prediction(10, None)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("preds.jsonl", BOTH),
        ("preds.jsonl.gz", BOTH),
        ("preds.json", BOTH),
        ("preds.json.gz", BOTH),
        ("preds.json", {row["instance_id"]: row for row in BOTH}),
        ("out.txt", b"".join(json.dumps(row).encode() + b"\n" for row in BOTH)),
        ("run/preds.json", {row["instance_id"]: row for row in BOTH}),
        ("run/all_preds.jsonl", BOTH),
    ],
)
def test_the_official_forms_say_the_same(three: RepositorySet, write: Write, name: str, content: Any) -> None:
    """JSON Lines, a list, a mapping, packed or not, or the folder with it: one attempt each, null kept."""
    path = write(name, content)
    file = read_predictions(path.parent if "/" in name else path, three)
    assert patches(file) == {"owner__pkg-1": DIFF, "owner__pkg-10": None}
    assert (file.model, file.missing, file.ignored) == ("birch", ("owner__pkg-2",), ())
    assert {(attempt.sample, attempt.model, attempt.solution) for attempt in file.attempts} == {(0, "birch", None)}
    assert file.files == (str(path),)
    assert len(bytes.fromhex(file.digest)) == 32


def test_a_mapping_may_hold_patches_alone(three: RepositorySet, write: Write) -> None:
    """The key is the id; the model is then the file's name."""
    file = read_predictions(write("cedar-v1.5.json", {"owner__pkg-1": DIFF, "owner__pkg-2": None}), three)
    assert patches(file) == {"owner__pkg-1": DIFF, "owner__pkg-2": None}
    assert (file.model, file.attempts[0].model) == ("cedar-v1.5", "cedar-v1.5")


def test_a_folder_of_patches(three: RepositorySet, write: Write, tmp_path: Path) -> None:
    """Patch files are named by instance; other files are passed over, bytes of other encodings are kept."""
    latin = DIFF.encode() + b"-\xe9\n"
    write("alder/owner__pkg-1.patch", DIFF.encode())
    write("alder/owner__pkg-2/patch.diff", latin)
    write("alder/owner__pkg-2/report.json", b"{}")
    write("alder/owner__pkg-10/owner__pkg-10.diff", b"")
    write("alder/notes.txt", b"not a patch")
    file = read_predictions(tmp_path / "alder", three)
    assert patches(file) == {
        "owner__pkg-1": DIFF,
        "owner__pkg-2": latin.decode("utf-8", "surrogateescape"),
        "owner__pkg-10": "",
    }
    assert (file.name, file.model, file.missing) == ("alder", "alder", ())
    digest = file.digest
    write("alder/owner__pkg-1.patch", DIFF.encode() + b"\n")
    assert read_predictions(tmp_path / "alder", three).digest != digest


def test_a_links_own_name_counts(three: RepositorySet, write: Write, tmp_path: Path) -> None:
    """A patch file that links to a store is named by the link; rows without a model have the folder's name."""
    (tmp_path / "oak").mkdir()
    (tmp_path / "oak" / "owner__pkg-1.patch").symlink_to(write("store/5f3a.patch", DIFF.encode()))
    assert patches(read_predictions(tmp_path / "oak", three)) == {"owner__pkg-1": DIFF}
    nameless = write("elm/preds.json", [prediction(1, model_name_or_path=None)])
    assert read_predictions(nameless, three).model == read_predictions(nameless.parent, three).model == "elm"


def test_one_patch_file_is_named_by_its_instance(three: RepositorySet, write: Write) -> None:
    """``<id>.diff`` by itself is a prediction, too."""
    assert patches(read_predictions(write("owner__pkg-2.diff", DIFF.encode()), three)) == {"owner__pkg-2": DIFF}


@pytest.mark.parametrize(
    ("patch", "unreadable"),
    [
        ("", None),
        (" \n", None),
        ("I would change the file x.", None),
        (["a"], "not_text: the field 'model_patch' is a list, not a string"),
        ("+\ud83d\n", "not_text: line 1 of the patch has a lone surrogate"),
        ("+" * (MAX_ANSWER_BYTES + 1), "too_large: the answer has"),
    ],
)
def test_what_is_no_usable_patch_is_an_attempt(
    three: RepositorySet, write: Write, patch: object, unreadable: str | None
) -> None:
    """It counts as submitted: empty, no diff, no text or too large, it is never dropped."""
    file = read_predictions(write("preds.json", [prediction(1, patch)]), three)
    (attempt,) = file.attempts
    assert attempt.raw_text == (patch if unreadable is None else None)
    assert (attempt.unreadable or "").startswith(unreadable or "")
    assert (attempt.unreadable is None) is (unreadable is None)
    assert file.missing == ("owner__pkg-2", "owner__pkg-10")


def test_bytes_that_are_no_text_spoil_one_line_only(three: RepositorySet, write: Write) -> None:
    """A line that is not UTF-8 is an attempt without an answer; the next line is read."""
    lines = (
        json.dumps(prediction(1, "caf?")).encode().replace(b"?", b"\xe9") + b"\n" + json.dumps(prediction(2)).encode()
    )
    file = read_predictions(write("preds.jsonl", lines), three)
    assert patches(file) == {"owner__pkg-1": None, "owner__pkg-2": DIFF}
    assert str(file.attempts[0].unreadable).startswith("not_text: byte ")


def test_a_huge_patch_file_is_not_read(three: RepositorySet, write: Write) -> None:
    """A patch file over the limit is an attempt that says so."""
    (attempt,) = read_predictions(write("p/owner__pkg-1.patch", b"+" * (MAX_ANSWER_BYTES + 1)).parent, three).attempts
    assert attempt.raw_text is None
    assert str(attempt.unreadable).startswith("too_large: ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "p.jsonl",
            [prediction(1), prediction(2), prediction(1)],
            r"duplicate predictions .*owner__pkg-1 \(.*line 1 and .*line 3\)",
        ),
        ("p.json", [prediction(1, None), prediction(1)], "duplicate predictions for 1 instance: owner__pkg-1"),
        ("p.json", b'{"owner__pkg-1": null, "owner__pkg-1": "x"}', "the key 'owner__pkg-1' stands twice"),
        (
            "p.json",
            [prediction(3)],
            r"1 instance that swebench-verified .*lacks: 'owner__pkg-3' .*did you mean owner__pkg-",
        ),
        ("p.json", [prediction(1, instance_id="owner_1776_pkg-1")], "did you mean owner__pkg-1"),
        ("p.json", [prediction(1, instance_id="Owner__pkg-10 ")], "did you mean owner__pkg-10"),
        ("p.json", [prediction(n) for n in range(20, 30)], "10 instances that .* and 5 more"),
        ("p.json", [prediction(1), prediction(2, model_name_or_path="cedar")], r"patches of 2 models: birch .*cedar"),
        (
            "p.json",
            [{"instance_id": "owner__pkg-1", "patch": DIFF}],
            r"no field 'model_patch' \(it has instance_id, patch\)",
        ),
        ("p.json", [{"model_patch": DIFF}], "entry 1: the field 'instance_id' is missing"),
        ("p.json", [prediction(1, instance_id=7)], "'instance_id' is a number"),
        ("p.json", [prediction(1, model_name_or_path=["x"])], "'model_name_or_path' is a list"),
        ("p.json", {"owner__pkg-2": prediction(1)}, "under this key says that it is for 'owner__pkg-1'"),
        ("p.json", [DIFF], "entry 1: expected an object with instance_id"),
        ("p.json", b"[]", "holds no predictions"),
        ("p.jsonl", b"", "holds no predictions"),
        ("p.jsonl", json.dumps(prediction(1)).encode() + b"\n{broken\n", "line 2: expected one JSON object per line"),
        ("p.json", b'[{"instance_id": "\xff"}]', "line 1: byte 18 of the file is not UTF-8"),
        ("p.json", b"<html>", "line 1: this is not JSON"),
    ],
)
def test_what_cannot_be_attributed_is_refused(
    three: RepositorySet, write: Write, name: str, content: Any, message: str
) -> None:
    """Duplicates are never the last one, unknown ids have near misses, flaws have their place."""
    with pytest.raises(UsageError, match=message):
        read_predictions(write(name, content), three)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["owner__pkg-1.patch", "owner__pkg-1/patch.diff"], "duplicate predictions for 1 instance: owner__pkg-1"),
        (["owner__pkg-4.patch"], r"lacks: 'owner__pkg-4'"),
        (["notes.txt"], "holds no predictions; expected preds.json or all_preds.jsonl, or patches"),
        (["preds.json", "all_preds.jsonl"], "holds preds.json, all_preds.jsonl; name the one to read"),
    ],
)
def test_a_folder_that_is_unclear_is_refused(
    three: RepositorySet, write: Write, tmp_path: Path, names: list[str], message: str
) -> None:
    """Two files for one instance, strangers, nothing at all, two files to choose from."""
    for name in names:
        write(f"run/{name}", DIFF.encode())
    with pytest.raises(UsageError, match=message):
        read_predictions(tmp_path / "run", three)


def test_a_file_that_is_not_there_is_named(three: RepositorySet, tmp_path: Path) -> None:
    """A misspelt path is the user's error."""
    with pytest.raises(UsageError, match="There is no file"):
        read_predictions(tmp_path / "preds.json", three)


def test_unknown_instances_can_be_ignored_and_are_listed(three: RepositorySet, write: Write) -> None:
    """Predictions for all of Verified grade a part of it; what was ignored is told."""
    path = write("preds.json", [prediction(1), prediction(3), prediction(4)])
    benchmark = REPOSITORY_BENCHMARKS.get("swebench-verified")
    file = benchmark.read_predictions(path, three, ignore_unknown=True)
    assert patches(file) == {"owner__pkg-1": DIFF}
    assert file.ignored == ("owner__pkg-3", "owner__pkg-4")


def test_written_predictions_are_read_again(three: RepositorySet, write: Write, tmp_path: Path) -> None:
    """The export of a file's attempts is a file of the same attempts, in other encodings too."""
    source = write("preds.json", [prediction(1, DIFF + "-\udce9\n"), prediction(2, None), prediction(10, "")])
    file = read_predictions(source, three)
    write_official_files(
        tmp_path / "out",
        model=file.model,
        run_id="r",
        problem_ids=three.by_id,
        instances=[],
        attempts=file.attempts,
    )
    assert read_predictions(tmp_path / "out" / "preds.json", three).attempts == file.attempts
