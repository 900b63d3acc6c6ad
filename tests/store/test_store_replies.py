"""The journal of a run: what was acknowledged is there, whatever dies and however full the disk."""

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry, TokenUsage
from benchwright.core.errors import MachineError, UsageError
from benchwright.store.replies import SCHEMA_VERSION, CallRecord, Reply, ReplyJournal

# Appends without end, and says of each line that it was taken.
WRITER = """
import sys
from pathlib import Path
from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry
from benchwright.store.replies import CallRecord, Reply, ReplyJournal
with ReplyJournal(Path(sys.argv[1])) as journal:
    number = len(journal.calls)
    while True:
        reply = Reply(text=f"{number} " + "x" * 20_000, ending=Ending.SUBMITTED)
        journal.append(CallRecord(problem_id=f"p{number}", sample=0, reply=reply, charge=LedgerEntry(usage=None)))
        print(number, flush=True)
        number += 1
"""

texts = st.text(alphabet=st.characters(), max_size=40)  # lone surrogates too: some servers send them
counts = st.integers(0, 10_000)
usages = st.builds(
    TokenUsage, input_tokens=counts, cache_read_tokens=counts, output_tokens=counts, reasoning_tokens=counts
)
replies = st.builds(
    Reply, text=texts, reasoning=texts, ending=st.sampled_from(Ending), ending_detail=texts, model=texts
)
charges = st.one_of(
    st.builds(LedgerEntry, usage=usages, failed=st.booleans(), retry=st.booleans()),
    st.builds(LedgerEntry, usage=st.none(), estimated_tokens=counts, failed=st.booleans()),
)
calls = st.builds(
    CallRecord,
    problem_id=texts,
    sample=st.integers(0, 200),
    reply=st.none() | replies,
    charge=charges,
    error=texts,
    seconds=st.integers(0, 10**6).map(lambda milliseconds: milliseconds / 1000),
    at=texts,
)


def call(problem_id: str = "p", sample: int = 0, text: str | None = "x = 1", **changes: Any) -> CallRecord:
    """A call with a reply of that text, or a failed one without."""
    values: dict[str, Any] = {
        "problem_id": problem_id,
        "sample": sample,
        "reply": None if text is None else Reply(text=text, ending=Ending.SUBMITTED, model="m"),
        "charge": LedgerEntry(usage=TokenUsage(input_tokens=3, output_tokens=2)),
        **changes,
    }
    return CallRecord(**values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal may be."""
    return tmp_path / "replies.jsonl"


def written(path: Path, *records: CallRecord) -> Path:
    """A journal with these calls."""
    with ReplyJournal(path) as journal:
        for record in records:
            journal.append(record)
    return path


@given(st.lists(calls, max_size=5))
def test_what_was_appended_comes_back(tmp_path_factory: pytest.TempPathFactory, records: list[CallRecord]) -> None:
    """Every call is read as it was written, in order, whatever characters its texts have."""
    path = written(tmp_path_factory.mktemp("journal") / "replies.jsonl", *records)
    with ReplyJournal(path, read_only=True) as journal:
        assert journal.calls == records


def test_a_call_is_one_line_of_ascii(path: Path) -> None:
    """Line feeds, other alphabets and NUL are escaped, so that every tool that reads lines sees whole calls."""
    written(path, call(text="a\nb\r\u2028é\0"), call("q"))
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 2
    first = json.loads(data.splitlines()[0])
    assert (first["schema"], first["reply"]["text"]) == (SCHEMA_VERSION, "a\nb\r\u2028é\0")


def test_an_opened_journal_goes_on(path: Path) -> None:
    """What is appended after opening again stands behind what was there."""
    written(path, call("a"))
    written(path, call("b"))
    with ReplyJournal(path) as journal:
        journal.append(call("c"))
        assert [record.problem_id for record in journal.calls] == ["a", "b", "c"]
        assert list(journal.answered()) == [("a", 0), ("b", 0), ("c", 0)]


def test_the_first_reply_counts(path: Path) -> None:
    """Of several replies for a sample the first one counts, with the usage of its own call; all are kept."""
    failed = call("a", text=None, error="busy", charge=LedgerEntry(usage=None, failed=True))
    later = call("a", text="second", charge=LedgerEntry(usage=TokenUsage(output_tokens=9)))
    written(path, failed, call("a", text="first"), later, call("a", 1, text="other sample"))
    with ReplyJournal(path, read_only=True) as journal:
        reply, other = journal.reply("a", 0), journal.reply("a", 1)
        assert reply is not None
        assert other is not None
        assert (reply.text, other.text) == ("first", "other sample")
        assert journal.usage("a", 0) == TokenUsage(input_tokens=3, output_tokens=2)
        assert len(journal.calls) == 4


def test_a_failed_call_is_no_reply(path: Path) -> None:
    """A sample whose calls have all failed, or that was never asked, has neither reply nor usage."""
    written(path, call("a", text=None, error="busy"))
    with ReplyJournal(path, read_only=True) as journal:
        assert journal.reply("a", 0) is None
        assert journal.usage("a", 0) is None
        assert journal.reply("never", 0) is None
        assert list(journal.answered()) == []


@pytest.mark.parametrize("left", [1, 20, -2, -1])
def test_an_unfinished_last_line_is_cut_off(path: Path, left: int) -> None:
    """Whatever a killed writer left of its last line does not count, and the next call gets a line of its own."""
    written(path, call("a"), call("b"))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[:first] + whole[first:][:left])
    with ReplyJournal(path) as journal:
        assert [record.problem_id for record in journal.calls] == ["a"]
        journal.append(call("b"))
    assert path.read_bytes() == whole


def test_a_journal_that_is_half_a_line_is_empty(path: Path) -> None:
    """A run that died in its very first line starts anew."""
    path.write_bytes(b'{"schema": 1, "problem')
    with ReplyJournal(path) as journal:
        assert journal.calls == []
    assert path.read_bytes() == b""


@pytest.mark.parametrize("rest", [b"", b'{"schema": 1, "problem'])
def test_reading_changes_nothing(path: Path, rest: bytes) -> None:
    """A journal opened to be read only is the same afterwards, half a line included."""
    written(path, call("a"))
    before = path.read_bytes() + rest
    path.write_bytes(before)
    with ReplyJournal(path, read_only=True) as journal:
        assert [record.problem_id for record in journal.calls] == ["a"]
    assert path.read_bytes() == before


def test_reading_makes_no_file(path: Path) -> None:
    """A journal that is not there cannot be opened to be read only, and is not made by trying."""
    with pytest.raises(MachineError, match=r"replies\.jsonl cannot be"):
        ReplyJournal(path, read_only=True)
    assert not path.exists()


LINE = call("a").to_plain()


@pytest.mark.parametrize(
    "foreign",
    [
        b"not JSON",
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe",
        b"[" * 50_000,
        json.dumps(LINE | {"schema": SCHEMA_VERSION + 1}).encode(),
        json.dumps(LINE | {"reply": {"text": "x"}}).encode(),
        json.dumps(LINE | {"reply": "x"}).encode(),
        json.dumps(LINE | {"charge": {"usage": {"input_tokens": -1}}}).encode(),
        json.dumps(LINE | {"reply": LINE["reply"] | {"ending": "vanished"}}).encode(),
    ],
)
def test_a_foreign_line_is_refused(path: Path, foreign: bytes) -> None:
    """A complete line that is no call stops the reading with file and line number; the file stays as it is."""
    good = json.dumps(LINE).encode()
    before = b"\n".join([good, foreign, good]) + b"\n"
    path.write_bytes(before)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(UsageError, match=r"replies\.jsonl, line 2 is not a record of a model call"):
        ReplyJournal(path)
    assert path.read_bytes() == before
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


def test_a_later_schema_is_named(path: Path) -> None:
    """A journal of a later version says which schema was found and which one is read."""
    path.write_text(json.dumps(LINE | {"schema": 7}) + "\n")
    with pytest.raises(UsageError, match="schema 7, this version reads 1"):
        ReplyJournal(path)


@pytest.mark.parametrize("obstacle", ["folder", "missing"])
def test_a_place_that_cannot_be_written_is_named(path: Path, obstacle: str) -> None:
    """A folder in the journal's place, or no folder around it, is the machine's obstacle."""
    if obstacle == "folder":
        path.mkdir()
    place = path if obstacle == "folder" else path.parent / "nowhere" / path.name
    with pytest.raises(MachineError, match=r"replies\.jsonl cannot be written \(.*choose another folder"):
        ReplyJournal(place)


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """The kernel takes no more bytes than that into a file, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("room", [0, 1, 50])
def test_a_full_disk_leaves_no_half_line(path: Path, room: int) -> None:
    """A call that the disk takes half of is taken back, the next one that fits is whole, and the user is told."""
    written(path, call("a"))
    before = path.read_bytes()
    with ReplyJournal(path) as journal:
        with (
            _files_of_at_most(len(before) + room),
            pytest.raises(MachineError, match=r"replies so far are kept, give the same command again"),
        ):
            journal.append(call("b"))
        assert path.read_bytes() == before
        assert [record.problem_id for record in journal.calls] == ["a"]
        journal.append(call("c"))
    with ReplyJournal(path, read_only=True) as journal:
        assert [record.problem_id for record in journal.calls] == ["a", "c"]


def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path) -> None:
    """After SIGKILL in the middle of appending, every call that was said to be kept is there, three times over."""
    acknowledged = -1
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                if int(line) >= acknowledged + 40:
                    writer.send_signal(signal.SIGKILL)
                    break
            rest = [int(line) for line in writer.stdout.read().splitlines() if line.strip()]
            acknowledged = max([int(line), *rest])
        with ReplyJournal(path) as journal:
            numbers = [int(record.problem_id[1:]) for record in journal.calls]
            assert numbers == list(range(len(numbers)))
            assert len(numbers) > acknowledged
            assert all(record.reply and len(record.reply.text) > 20_000 for record in journal.calls)
