"""Facts about versions, digests and where the data comes from."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.bigcodebench import loading
from benchwright.benchmarks.bigcodebench.loading import load
from benchwright.benchmarks.bigcodebench.pins import Pin, Pins, hard_ids, read_pins
from benchwright.benchmarks.bigcodebench.rows import digest_of_problems, read_problems
from benchwright.core.errors import UnknownNameError, UsageError

MakeRow = Callable[..., dict[str, Any]]
WriteLines = Callable[..., Path]


@pytest.fixture
def hard_file(row: MakeRow, write_lines: WriteLines) -> Path:
    """Invented rows for the 148 hard tasks."""
    return write_lines(*(row(task_id) for task_id in hard_ids()), name="hard.jsonl")


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pins]:
    """Makes the package know these pins."""

    def use(*known: Pin) -> Pins:
        pins = dataclasses.replace(read_pins(), known=known)
        monkeypatch.setattr(loading, "read_pins", lambda: pins)
        return pins

    return use


def pin(version: str, subset: str, *, rows: str | None = None, file: str | None = None) -> Pin:
    return Pin(version=version, subset=subset, rows=rows, file=file)


def rows_digest(path: Path) -> str:
    return digest_of_problems(read_problems(path).problems)


def test_the_shipped_pins_are_complete_and_well_formed() -> None:
    """Every pin names a published version and known subset, and holds a digest; revisions are commits."""
    pins = read_pins()
    assert pins.licence == "Apache-2.0"
    assert pins.default in pins.versions
    assert set(pins.repositories) == set(loading.SUBSETS)
    for repository in pins.repositories.values():
        assert len(bytes.fromhex(repository.revision)) == 20
    for known in pins.known:
        assert known.version in pins.versions
        assert known.subset in pins.repositories
        digests = [digest for digest in (known.rows, known.file) if digest]
        assert digests
        assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)


def test_the_hard_subset_has_148_tasks() -> None:
    """The list of hard ids is the published one: 148 different ids."""
    assert len(hard_ids()) == len(set(hard_ids())) == 148
    assert all(task_id.startswith("BigCodeBench/") for task_id in hard_ids())


def test_an_unknown_file_is_local_data(row: MakeRow, write_lines: WriteLines) -> None:
    """A file that fits no pin is named by its digest and says that it was not checked."""
    path = write_lines(row("BigCodeBench/1"))
    problems = load(path=path)
    assert problems.version == f"local-{rows_digest(path)[:12]}"
    assert (problems.subset, problems.pinned, problems.source) == ("full", False, str(path))
    assert problems.digest == rows_digest(path)


def test_a_file_is_recognised_by_its_rows(hard_file: Path, pinned: Callable[..., Pins]) -> None:
    """Rows whose digest is pinned are that version, without being told."""
    pinned(pin("v0.1.2", "hard", rows=rows_digest(hard_file)))
    problems = load(path=hard_file, subset="hard")
    assert (problems.version, problems.pinned, len(problems.problems)) == ("v0.1.2", True, 148)


def test_a_file_is_recognised_by_its_bytes(hard_file: Path, pinned: Callable[..., Pins]) -> None:
    """A copy of a published file is that version, even if its rows were never seen before."""
    pinned(pin("v0.1.4", "hard", file=read_problems(hard_file).file_sha256))
    assert load(path=hard_file, subset="hard", version="v0.1.4").pinned


def test_a_file_of_another_version_than_claimed_is_refused(hard_file: Path, pinned: Callable[..., Pins]) -> None:
    """A file that is pinned under one version cannot be graded as another."""
    pinned(pin("v0.1.2", "hard", rows=rows_digest(hard_file)))
    with pytest.raises(UsageError, match=r"is version v0\.1\.2 by its digest, not v0\.1\.3"):
        load(path=hard_file, subset="hard", version="v0.1.3")


def test_a_claim_that_the_digest_contradicts_is_refused(hard_file: Path, pinned: Callable[..., Pins]) -> None:
    """A file that claims a pinned version needs its digest; both digests are in the message."""
    pinned(pin("v0.1.0_hf", "full", rows="a" * 64))
    with pytest.raises(UsageError, match=f"is {rows_digest(hard_file)}, expected {'a' * 64}"):
        load(path=hard_file, subset="hard", version="v0.1.0_hf")


def test_a_claim_that_nothing_is_known_about_is_taken_but_not_called_pinned(
    hard_file: Path, pinned: Callable[..., Pins]
) -> None:
    """For a version without a pin the claim stands, and the result says that it was not checked."""
    pinned()
    problems = load(path=hard_file, subset="hard", version="v0.1.1")
    assert (problems.version, problems.pinned) == ("v0.1.1", False)


def test_the_hard_data_is_not_taken_for_the_full_set(hard_file: Path, pinned: Callable[..., Pins]) -> None:
    """The hard file graded as the full set would hide 992 tasks; it is refused."""
    pinned(pin("v0.1.4", "hard", rows=rows_digest(hard_file)))
    with pytest.raises(UsageError, match="say --subset hard"):
        load(path=hard_file)


def test_the_hard_subset_of_a_full_file_has_the_digest_of_the_hard_file(
    hard_file: Path, row: MakeRow, write_lines: WriteLines
) -> None:
    """Restricting a full file gives the same rows as the file of the subset."""
    more = [json.loads(line) for line in hard_file.read_text().splitlines()] + [row("BigCodeBench/0")]
    problems = load(path=write_lines(*more), subset="hard")
    assert problems.digest == rows_digest(hard_file)
    assert len(problems.problems) == 148


def test_a_file_that_lacks_hard_tasks_cannot_be_graded_as_hard(row: MakeRow, write_lines: WriteLines) -> None:
    """A subset is never shrunk silently: what is absent is counted and named."""
    path = write_lines(row("BigCodeBench/13"))
    with pytest.raises(UsageError, match=r"lacks 147 of the 148 tasks .*BigCodeBench/\d+, …"):
        load(path=path, subset="hard")


def test_unknown_subsets_and_versions_name_what_there_is() -> None:
    """A misspelt subset or version is answered with the near one."""
    with pytest.raises(UnknownNameError, match="did you mean hard"):
        load(subset="hrad")
    with pytest.raises(UnknownNameError, match=r"did you mean v0\.1\."):
        load(version="v0.1.5")


def test_published_data_comes_from_the_pinned_revision(
    hard_file: Path, pinned: Callable[..., Pins], fake_hub: Callable[..., Any]
) -> None:
    """Without a file the hub is asked for the version's file at the pinned commit; its bytes are checked."""
    pins = pinned(pin("v0.1.4", "hard", file=read_problems(hard_file).file_sha256))
    hub = fake_hub(hard_file)
    problems = load(subset="hard")
    assert hub.asked == {
        "repository": "bigcode/bigcodebench-hard",
        "file": "data/v0.1.4-00000-of-00001.parquet",
        "repo_type": "dataset",
        "revision": pins.repositories["hard"].revision,
    }
    assert (problems.version, problems.pinned) == ("v0.1.4", True)
    assert problems.source.startswith("hf://datasets/bigcode/bigcodebench-hard@298d2cc")


def test_published_data_that_changed_is_refused(
    hard_file: Path, pinned: Callable[..., Pins], fake_hub: Callable[..., Any]
) -> None:
    """A download whose bytes are not the pinned ones is not used."""
    pinned(pin("v0.1.4", "hard", file="b" * 64))
    fake_hub(hard_file)
    with pytest.raises(UsageError, match=f"expected {'b' * 64}"):
        load(subset="hard")


def test_published_data_that_is_not_whole_is_refused(
    hard_file: Path, pinned: Callable[..., Pins], fake_hub: Callable[..., Any]
) -> None:
    """A full data set of 148 rows is an error, not a smaller benchmark."""
    pinned()
    fake_hub(hard_file)
    with pytest.raises(UsageError, match="holds 148 tasks; expected 1140"):
        load(version="v0.1.3")
