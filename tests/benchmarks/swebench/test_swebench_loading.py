"""Facts about data files, versions, subsets and the benchmarks in the registry."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, RepositorySet
from benchwright.benchmarks.swebench import files, loading
from benchwright.benchmarks.swebench.loading import load
from benchwright.benchmarks.swebench.pins import Pin, Pins, read_pins
from benchwright.benchmarks.swebench.subsets import DIFFICULTIES, read_subset
from benchwright.core.errors import UnknownNameError, UsageError

MakeRow = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def ids(problems: RepositorySet) -> list[str]:
    return [problem.id for problem in problems.problems]


@pytest.fixture
def rows(row: MakeRow) -> list[dict[str, Any]]:
    """Rows 2 and 10."""
    return [row("owner__pkg-10", difficulty="1-4 hours"), row("owner__pkg-2", difficulty="<15 min fix")]


def test_every_file_format_gives_the_same_set(rows: list[dict[str, Any]], write: Write, tmp_path: Path) -> None:
    """JSON Lines, JSON as list and as mapping, gzip and Parquet: one digest, one order."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "rows.parquet")
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    paths = [
        tmp_path / "rows.parquet",
        write("rows.jsonl", rows),
        write("rows.jsonl.gz", rows),
        write("rows.json", rows),
        write("rows.json.gz", rows),
        write("mapping.json", {row["instance_id"]: row for row in rows}),
        write("lines.json", lines),
        write("lines.txt", b"\xef\xbb\xbf\n" + lines),
        write("misnamed.data", gzip.compress(lines)),
    ]
    loaded = [load("repositories", path=path) for path in paths]
    assert {problems.digest for problems in loaded} == {loaded[0].digest}
    assert all(ids(problems) == ["owner__pkg-2", "owner__pkg-10"] for problems in loaded)
    assert loaded[0].version == f"local-{loaded[0].digest[:12]}"
    assert (loaded[0].pinned, loaded[0].subset, loaded[1].source) == (False, "all", str(paths[1]))


def test_one_row_by_itself_is_a_file(row: MakeRow, write: Write) -> None:
    """A JSON file with a single row is not taken for a mapping of ids."""
    assert ids(load("repositories", path=write("one.json", row()))) == ["owner__pkg-1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'\n{"b": \n', r"a\.jsonl, line 2: expected one JSON object per line"),
        ("a.jsonl", b'{"repo": "\xff"}\n', r"a\.jsonl, line 1: byte 10 is not UTF-8"),
        ("a.jsonl", b"", "holds no rows"),
        ("a.json", b"  \n", "holds no rows"),
        ("a.json", b'[{"a": 1},\n {"b": ]', r"a\.json, line 2: this is not JSON"),
        ("a.json", b'[\n\n{"a": "\xff"}]', r"a\.json, line 3: byte 10 of the file is not UTF-8"),
        ("a.json", b'{"a": {}, "b": {}, "a": {}}', "the key 'a' stands twice"),
        ("a.json", b'"rows"', "holds a string; expected a list of rows or a mapping"),
        ("a.json", b"[3]", "entry 1: expected a row, which is an object, got a number"),
        ("a.json", b"[" * 100_000, "is not usable JSON"),
        ("a.json", b"[" + b"9" * 5_000 + b"]", "is not usable JSON"),
        ("a.json", b"\x1f\x8b\x08\x00broken", "is damaged|ends early"),
        ("a.jsonl", gzip.compress(b"{}" * 1000, mtime=0)[:30], "ends early"),
        ("a.json", gzip.compress(b"[{}]" * 1000, mtime=0)[:30], "ends early"),
        ("a.parquet", b"PAR1 and then nothing of use", "is not a readable Parquet file"),
    ],
)
def test_a_file_that_is_no_data_is_named(write: Write, name: str, content: bytes, message: str) -> None:
    """Broken JSON has its line, bytes that are no text their place, damaged files what is damaged."""
    with pytest.raises(UsageError, match=message):
        load("repositories", path=write(name, content))


def test_absent_files_and_folders_are_named(tmp_path: Path) -> None:
    """What is not a file is said so."""
    with pytest.raises(UsageError, match="There is no file"):
        load("repositories", path=tmp_path / "absent.jsonl")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        load("repositories", path=tmp_path)


def test_a_huge_document_is_refused_before_it_is_parsed(
    write: Write, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A JSON document over the limit is refused, packed or not; rows by lines have no limit in sum."""
    monkeypatch.setattr(files, "MAX_DOCUMENT_BYTES", 1000)
    for name in ("rows.json", "rows.json.gz"):
        with pytest.raises(UsageError, match=r"is longer than 1,000 bytes"):
            load("repositories", path=write(name, rows))
    assert len(load("repositories", path=write("rows.jsonl", rows)).problems) == 2


def test_subsets_by_difficulty(rows: list[dict[str, Any]], write: Write, row: MakeRow) -> None:
    """A difficulty chooses its rows and gives a digest of its own; rows that do not say it are an error."""
    path = write("rows.jsonl", rows)
    hard = load("swebench-verified", path=path, subset="1-to-4-hours")
    assert (ids(hard), hard.subset) == (["owner__pkg-10"], "1-to-4-hours")
    assert hard.digest != load("swebench-verified", path=path).digest
    with pytest.raises(UsageError, match="has no problem of difficulty '>4 hours'"):
        load("swebench-verified", path=path, subset="over-4-hours")
    unsaid = write("unsaid.jsonl", [*rows, row("owner__pkg-3")])
    with pytest.raises(UsageError, match=r"1 of 3 rows have no 'difficulty' \(owner__pkg-3\)"):
        load("swebench-verified", path=unsaid, subset="1-to-4-hours")


@pytest.mark.parametrize(
    ("name", "content", "chosen"),
    [
        ("mine.txt", b"# mine\nowner__pkg-10  # hard\n\n", ["owner__pkg-10"]),
        ("mine.json", ["owner__pkg-10"], ["owner__pkg-10"]),
        ("other.json", {"name": "mine", "ids": ["owner__pkg-10"], "size": 1}, ["owner__pkg-10"]),
        ("mine.json", {"without": ["owner__pkg-10"]}, ["owner__pkg-2"]),
    ],
)
def test_subsets_of_the_users_own(
    rows: list[dict[str, Any]], write: Write, name: str, content: object, chosen: list[str]
) -> None:
    """A list of ids, or of those left out, is a subset with a name and a digest."""
    subset = load("repositories", path=write("rows.jsonl", rows), subset=str(write(name, content)))
    assert (ids(subset), subset.subset) == (chosen, "mine")


def test_a_subsets_digest_does_not_depend_on_the_files_form(write: Write) -> None:
    """Order and format do not matter, ids and name do."""
    one = read_subset(write("mine.txt", b"b-2\na-1\n"))
    assert one.digest == read_subset(write("mine.json", ["a-1", "b-2"])).digest
    assert one.digest != read_subset(write("ours.json", ["a-1", "b-2"])).digest
    assert one.digest != read_subset(write("mine.json", {"without": ["a-1", "b-2"]})).digest


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"owner__pkg-11\nowner__pkg-2\n", r"names 1 ids .*\(owner__pkg-11\); did you mean owner__pkg-1"),
        ("a.txt", b"# nothing\n", "holds no ids"),
        ("a.txt", b"a-1\na-1\n", "has ids twice: a-1"),
        ("a.txt", b"a-1\n\xff\n", "line 2: byte 4 of the file is not UTF-8"),
        ("a.json", {"ids": ["a-1"], "size": 477}, "says that it has 477 ids and has 1"),
        ("a.json", {"ids": ["a-1"], "without": ["a-2"]}, "expected either 'ids' or 'without'"),
        ("a.json", {"names": ["a-1"]}, "expected either 'ids' or 'without'"),
        ("a.json", {"ids": "a-1"}, "the ids are a string"),
        ("a.json", [1], "1 is no id"),
        ("a.json", {"name": "a/b", "ids": ["a-1"]}, "the subset's name is 'a/b'"),
    ],
)
def test_a_flawed_subset_is_refused(
    rows: list[dict[str, Any]], write: Write, name: str, content: object, message: str
) -> None:
    """A subset never shrinks silently, and says what is wrong with it."""
    with pytest.raises(UsageError, match=message):
        load("repositories", path=write("rows.jsonl", rows), subset=str(write(name, content)))


def test_unknown_names_are_answered_with_near_ones(rows: list[dict[str, Any]], write: Write) -> None:
    """Misspelt subsets, versions, problems and benchmarks get a hint."""
    path = write("rows.jsonl", rows)
    with pytest.raises(UnknownNameError, match="did you mean under-15-minutes"):
        load("swebench-verified", path=path, subset="under-15-minute")
    with pytest.raises(UnknownNameError, match="did you mean c104f840"):
        load("swebench-verified", path=path, version="c104f841")
    with pytest.raises(UnknownNameError, match="did you mean owner__pkg-"):
        load("repositories", path=path).only(["owner__pkg-1"])
    with pytest.raises(UnknownNameError, match="did you mean swebench-verified"):
        REPOSITORY_BENCHMARKS.get("swebench_verified")
    with pytest.raises(UsageError, match="repositories has no published data"):
        load("repositories", path=path, version="1")


def test_the_set_names_the_rows_without_tests(row: MakeRow, write: Write) -> None:
    """Statements load; grading them is refused by name, and without them it is not."""
    bare = row("owner__pkg-2", test_patch=..., FAIL_TO_PASS=..., PASS_TO_PASS=...)
    problems = load("repositories", path=write("rows.jsonl", [row(), bare]))
    assert problems.without_tests == ("owner__pkg-2",)
    with pytest.raises(UsageError, match=r"1 of 2 rows have no tests.*\(owner__pkg-2\)"):
        problems.check_tests()
    problems.only(["owner__pkg-1"]).check_tests()


def test_the_registry_has_the_family() -> None:
    """Each benchmark is named as registered, and knows its versions and subsets."""
    for name in ("swebench-verified", "swebench-lite", "swebench-full", "swebench-mini", "repositories"):
        benchmark = REPOSITORY_BENCHMARKS.get(name)
        assert benchmark.name == name
        assert benchmark.licence == "MIT"
        assert benchmark.subsets == ("all", *DIFFICULTIES)
        assert bool(benchmark.versions) is (name != "repositories")
    assert REPOSITORY_BENCHMARKS.get("swebench-verified").versions == ("91aa3ed5", "c104f840")


def test_the_shipped_pins_are_well_formed() -> None:
    """Versions are the beginnings of their revisions; each benchmark has one default; digests are digests."""
    pins = read_pins()
    for pin in pins.known:
        assert len(bytes.fromhex(pin.revision)) == 20
        assert pin.version == pin.revision[:8]
        assert pin.file is None or len(bytes.fromhex(pin.file)) == 32
        assert sum(other.default for other in pins.known if other.benchmark == pin.benchmark) == 1
    assert {pin.benchmark: pin.rows for pin in pins.known} == {
        "swebench-verified": 500,
        "swebench-lite": 300,
        "swebench-full": 2294,
        "swebench-mini": 50,
    }


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pin]:
    """Makes the package know one version of SWE-bench Lite."""

    def use(*, rows: int, file: str | None) -> Pin:
        pin = Pin(
            benchmark="swebench-lite",
            version="cccccccc",
            repository="some/where",
            revision="c" * 40,
            rows=rows,
            file=file,
            default=True,
        )
        pins = Pins(licence="MIT", file="data/test.parquet", known=(pin,))
        monkeypatch.setattr(loading, "read_pins", lambda: pins)
        return pin

    return use


def test_published_data_comes_from_the_pinned_revision(
    rows: list[dict[str, Any]], write: Write, pinned: Callable[..., Pin], fake_hub: Callable[..., Any]
) -> None:
    """Without a file the hub is asked for the file at the pinned commit; its bytes are checked."""
    path = write("rows.jsonl", rows)
    pinned(rows=2, file=hashlib.sha256(path.read_bytes()).hexdigest())
    hub = fake_hub(path)
    problems = load("swebench-lite")
    assert hub.asked == {
        "repository": "some/where",
        "file": "data/test.parquet",
        "repo_type": "dataset",
        "revision": "c" * 40,
    }
    assert (problems.version, problems.pinned) == ("cccccccc", True)
    assert problems.source == f"hf://datasets/some/where@{'c' * 40}/data/test.parquet"
    copy = load("swebench-lite", path=path)
    assert (copy.version, copy.pinned) == ("cccccccc", True)


def test_a_claim_about_a_local_file_is_checked(
    rows: list[dict[str, Any]], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file known to be another version is refused; of an unknown one the claim stands, but is not called pinned."""
    path = write("rows.jsonl", rows)
    claimed = load("swebench-verified", path=path, version="91aa3ed5")
    assert (claimed.version, claimed.pinned) == ("91aa3ed5", False)
    pins = read_pins()
    known = [replace(pin, file=hashlib.sha256(path.read_bytes()).hexdigest()) for pin in pins.known if pin.default]
    monkeypatch.setattr(loading, "read_pins", lambda: replace(pins, known=(*known, *pins.known)))
    assert load("swebench-verified", path=path).version == "c104f840"
    with pytest.raises(UsageError, match="is version c104f840 by its digest, not 91aa3ed5"):
        load("swebench-verified", path=path, version="91aa3ed5")


def test_published_data_that_is_not_as_pinned_is_refused(
    rows: list[dict[str, Any]], write: Write, pinned: Callable[..., Pin], fake_hub: Callable[..., Any]
) -> None:
    """Other bytes and another number of rows are errors, not another benchmark."""
    fake_hub(write("rows.jsonl", rows))
    pinned(rows=2, file="d" * 64)
    with pytest.raises(UsageError, match=f"expected {'d' * 64}"):
        load("swebench-lite")
    pinned(rows=300, file=None)
    with pytest.raises(UsageError, match="holds 2 rows; expected 300"):
        load("swebench-lite")
    pinned(rows=2, file=None)
    assert not load("swebench-lite").pinned


def test_all_500_statements_load(real_data: Path) -> None:
    """The 500 instances of Verified are of 12 repositories and 80 versions, and fall into four difficulties."""
    path = real_data / "verified_500_statements.jsonl.gz"
    problems = load("swebench-verified", path=path)
    assert len(problems.problems) == len(problems.without_tests) == 500
    assert len({problem.repo for problem in problems.problems}) == 12
    assert len({(problem.repo, problem.version) for problem in problems.problems}) == 80
    sizes = {name: len(load("swebench-verified", path=path, subset=name).problems) for name in DIFFICULTIES}
    assert sizes == {"under-15-minutes": 194, "15-minutes-to-1-hour": 261, "1-to-4-hours": 42, "over-4-hours": 3}


def test_complete_rows_load_and_agree_between_files(real_data: Path) -> None:
    """All 38 official and 16 working rows can be graded; a row that is in both files is one problem."""
    mini = load("swebench-mini", path=real_data / "verified_mini_rows.jsonl.gz")
    working = load("repositories", path=real_data / "working_instances.jsonl.gz")
    assert (len(mini.problems), len(working.problems)) == (38, 16)
    mini.check_tests()
    working.check_tests()
    shared = mini.by_id.keys() & working.by_id.keys()
    assert len(shared) == 10
    assert all(mini.by_id[name].digest == working.by_id[name].digest for name in shared)
