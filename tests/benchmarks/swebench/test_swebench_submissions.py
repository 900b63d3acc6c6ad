"""Lists of what submissions resolved: counted once, guesses about splits said aloud, other files refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.swebench import submissions
from benchwright.benchmarks.swebench.instance_ids import instance_of, read_instances
from benchwright.benchmarks.swebench.submissions import Attempted, read_resolved
from benchwright.core.errors import UsageError

Write = Callable[..., Path]

# Two splits: A is inst-1 to inst-10, B is inst-9 to inst-14; both have inst-9 and inst-10.
A = [f"inst-{n}" for n in range(1, 11)]
B = [f"inst-{n}" for n in range(9, 15)]


def listing(*made_for: tuple[str, list[str], list[str]]) -> dict[str, list[str]]:
    """The joined list: each submission is named once per split for every instance of it that it resolved."""
    found: dict[str, list[str]] = {}
    for name, split, resolved in made_for:
        for instance in (one for one in split if one in resolved):
            found.setdefault(instance, []).append(name)
    return found


TWO_SPLITS = listing(
    ("both", A, A),
    ("both", B, B),
    ("only A", A, ["inst-1", "inst-9"]),
    ("only B", B, ["inst-10", "inst-12"]),
)


def test_a_repeated_listing_counts_once(write: Write) -> None:
    """A submission that two splits list for the same instance has resolved it once."""
    found = read_resolved(write("r.json", {"inst-1": ["x", "x", "y", "x"], "inst-2": []}))
    assert found.solved == {"x": {"inst-1"}, "y": {"inst-1"}}
    assert found.repeated == 2
    assert "counted once: 2." in " ".join(found.notes())


def test_without_ids_the_file_s_own_are_taken(write: Write) -> None:
    """Nobody said which instances are the benchmark's: all of the file are, in natural order."""
    found = read_resolved(write("r.json.gz", {"inst-10": ["x"], "inst-2": []}))
    assert found.problem_ids == ("inst-2", "inst-10")
    assert found.ids_from_file


def test_instances_that_the_file_lacks_count_as_resolved_by_nobody(write: Write) -> None:
    """The denominator is the benchmark's, and how many the file does not name is said."""
    found = read_resolved(write("r.json", {"inst-1": ["x"], "other-1": ["x"]}), ["inst-1", "inst-2"])
    assert found.problem_ids == found.played("x", Attempted.ALL) == ("inst-1", "inst-2")
    assert found.unnamed == ("inst-2",)
    assert any("resolved by nobody: 1 of 2" in note for note in found.notes())
    assert any("not the benchmark's and are left out: 1." in note for note in found.notes())


def test_a_submission_for_another_split_alone_looks_partial(write: Write) -> None:
    """Listed once, something outside, everything inside in the overlap: made for the other split, apparently."""
    found = read_resolved(write("r.json", TWO_SPLITS), A)
    assert found.overlap == {"inst-9", "inst-10"}
    assert found.partial == {"only B"}
    assert any("1 of 3;" in note and "not resolved" in note for note in found.notes())


def test_a_submission_for_both_splits_is_not_partial_although_it_defines_the_overlap(write: Write) -> None:
    """All that it resolved may lie where it is listed twice: a submission listed twice was made for both."""
    found = read_resolved(write("r.json", listing(("both", A, A), ("both", B, B), ("b", A, B), ("b", B, B))), A)
    assert found.partial == frozenset()


def test_partial_submissions_can_be_taken_to_have_tried_the_overlap_alone(write: Write) -> None:
    """With ``overlap`` the other instances were not played; complete submissions keep all."""
    found = read_resolved(write("r.json", TWO_SPLITS), A)
    assert found.played("only B", Attempted.OVERLAP) == ("inst-9", "inst-10")
    assert found.played("only B", Attempted.ALL) == found.played("only A", Attempted.OVERLAP) == tuple(A)
    assert any("judged on the 2 instances" in note for note in found.notes(Attempted.OVERLAP))


def test_one_split_has_no_overlap(write: Write) -> None:
    """Where nothing is listed twice, nobody is called partial."""
    found = read_resolved(
        write("r.json", {"inst-1": ["x"], "other-1": ["y", "x"], "inst-2": ["y"]}), ["inst-1", "inst-2"]
    )
    assert found.overlap == found.partial == frozenset()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2", "line 1: this is not JSON"),
        (["inst-1"], "holds a list; expected an object of lists"),
        ({}, "names no instance"),
        ({"inst-1": {"x": 1}}, "inst-1 has an object"),
        ({"inst 1": ["x"]}, "'inst 1' is no instance id"),
        ({"inst-1": [3]}, "a submission is a number"),
        ({"inst-1": [["x"]]}, "a submission is a list"),
        ({"inst-1": [""]}, "is empty"),
        ({"inst-1": ["a\0b"]}, "no control characters"),
        ({"inst-1": ["x" * 10_000]}, "10,000 characters"),
        (b'{"inst-1": ["\\ud800"]}', "lone surrogates"),
        (b'{"inst-1": ["x"], "inst-1": ["y"]}', "stands twice"),
        (b"[" * 100_000, "not usable JSON"),
        (b"\x1f\x8b\x08\x00broken", "gzip"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_other_files_are_refused_in_one_sentence(write: Write, content: Any, message: str) -> None:
    """Whatever the file is, the user reads what is wrong with it."""
    with pytest.raises(UsageError, match=r"r\.json") as caught:
        read_resolved(write("r.json", content))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_name_of_markup_is_a_name(write: Write) -> None:
    """Names are kept as they are; pages escape them."""
    assert set(read_resolved(write("r.json", {"i-1": ["<script>alert(1)</script>"]})).solved) == {
        "<script>alert(1)</script>"
    }


def test_a_list_of_another_benchmark_is_refused(write: Write) -> None:
    """No instance in common is no result of nought but a mistake."""
    with pytest.raises(UsageError, match=r"none of the benchmark's 1 instances \(other-1\), but 1 others \(inst-1\)"):
        read_resolved(write("r.json", {"inst-1": ["x"]}), ["other-1"])


def test_sizes_are_bounded(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file that unpacks to more nor a product of names and instances fills the memory."""
    path = write("r.json.gz", {"inst-1": ["x", "y"]})
    monkeypatch.setattr(submissions, "_MAX_CELLS", 1)
    with pytest.raises(UsageError, match="2 submissions for 1 instances"):
        read_resolved(path)
    monkeypatch.setattr(submissions, "_MAX_BYTES", 10)
    with pytest.raises(UsageError, match="longer than 10 bytes"):
        read_resolved(path)


def test_ids_are_read_from_rows_however_incomplete(write: Write, tmp_path: Path) -> None:
    """Rows with an id alone, a list of ids, a mapping and a text file name the same instances."""
    rows = [{"instance_id": "i-2", "repo": "o/r"}, {"instance_id": "i-1"}]
    text = tmp_path / "ids.txt"
    text.write_text("i-2  # comment\ni-1\n", encoding="utf-8")
    assert [one.id for one in read_instances(write("rows.jsonl.gz", rows))] == ["i-2", "i-1"]
    assert [one.id for one in read_instances(write("ids.json", ["i-2", "i-1"]))] == ["i-2", "i-1"]
    assert [one.id for one in read_instances(write("map.json", {"i-2": {}, "i-1": None}))] == ["i-2", "i-1"]
    assert [one.id for one in read_instances(text)] == ["i-2", "i-1"]


def test_instances_come_with_what_is_said_of_them(write: Write) -> None:
    """Repository, difficulty and date of the row; the repository is in the id, too."""
    row = {"instance_id": "a__b-c-12", "repo": "x/y", "difficulty": "1-4 hours", "created_at": "2020-01-02T03:04:05Z"}
    (found,) = read_instances(write("rows.jsonl", [row]))
    assert (found.repository, found.difficulty, found.created) == ("x/y", "1-4 hours", "2020-01-02T03:04:05Z")
    (found,) = read_instances(write("rows.jsonl", [{"instance_id": "a__b-c-12", "difficulty": 3}]))
    assert (found.repository, found.difficulty, found.created) == ("a/b-c", "", "")
    assert instance_of("one").repository == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", ["i-1", "i-1"], "ids twice: i-1"),
        ("a.json", [3], "the instance_id is a number"),
        ("a.jsonl", [{"repo": "x"}], "the instance_id is null"),
        ("a.jsonl", b"\n", "holds no ids"),
    ],
)
def test_files_without_ids_are_refused(write: Write, name: str, content: Any, message: str) -> None:
    """Ids must be there, and once each."""
    with pytest.raises(UsageError, match=message):
        read_instances(write(name, content))


def test_the_public_lists(real_data: Path) -> None:
    """99 submissions; 40 of them were made for Lite alone."""
    path = real_data / "resolved_submissions.json.gz"
    ids = [one.id for one in read_instances(real_data / "verified_500_statements.jsonl.gz")]
    found = read_resolved(path, ids)
    assert len(ids) == len(found.problem_ids) == 500
    assert len(found.solved) == 99
    assert found.repeated == 2408
    assert found.unnamed == ()
    assert len(found.solved["20250110_blackboxai_agent_v1.1"]) == 314
    assert len(found.solved["20241029_OpenHands-CodeAct-2.1-sonnet-20241022"]) == 265
    # Lite and Verified share 93 instances; nothing else may be taken for the overlap.
    assert 85 <= len(found.overlap) <= 93
    assert len(found.partial) == 40
    assert {"20241220_blackboxai_agent_v1", "20240523_aider", "20240925_hyperagent_lite1"} <= found.partial
    # Made for both or all splits, one of them with nothing outside the instances that it is itself listed twice for.
    assert not {"20240820_honeycomb", "20241208_gru", "20240402_sweagent_gpt4", "20231010_rag_gpt35"} & found.partial
    listed = json.loads(gzip.decompress(path.read_bytes()))
    assert sum(len(set(names)) for name, names in listed.items() if name in set(ids)) == sum(
        len(solved) for solved in found.solved.values()
    )
