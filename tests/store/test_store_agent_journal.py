"""The journal of an agent run: charges and finished samples are there, whatever dies and however full the disk."""

import json
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.agents import AgentAttempt, Finding, FindingKind, LeftOut, Submission
from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry, TokenUsage
from benchwright.core.errors import MachineError, UsageError
from benchwright.store.agent_journal import NAME, SCHEMA_VERSION, AgentCall, AgentJournal

# Appends calls and samples without end, and says of each line that it was taken.
WRITER = """
import sys
from pathlib import Path
from benchwright.core.agents import AgentAttempt, Submission
from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry
from benchwright.store.agent_journal import AgentCall, AgentJournal
with AgentJournal(Path(sys.argv[1])) as journal:
    number = len(journal.attempts)
    while True:
        name, patch = f"p{number}", Submission(patch=f"{number} " + "x" * 20_000)
        journal.append(AgentCall(problem_id=name, sample=0, try_number=1, charge=LedgerEntry(usage=None)))
        journal.append(AgentAttempt(problem_id=name, sample=0, ending=Ending.SUBMITTED, submission=patch))
        print(number, flush=True)
        number += 1
"""

texts = st.text(max_size=20)
counts = st.integers(0, 10_000)
usages = st.builds(TokenUsage, input_tokens=counts, cache_write_tokens=counts, output_tokens=counts)
calls = st.builds(
    AgentCall,
    problem_id=texts,
    sample=counts,
    try_number=counts,
    charge=st.builds(LedgerEntry, usage=usages, retry=st.booleans())
    | st.builds(LedgerEntry, usage=st.none(), estimated_tokens=counts, failed=st.booleans()),
    error=texts,
    seconds=st.integers(0, 10**6).map(lambda milliseconds: milliseconds / 1000),
    at=texts,
)
attempts = st.builds(
    AgentAttempt,
    problem_id=texts,
    sample=counts,
    ending=st.sampled_from(Ending),
    ending_detail=texts,
    submission=st.builds(
        Submission,
        # As surrogateescape decodes what is no UTF-8.
        patch=st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape")),
        left_out=st.lists(st.builds(LeftOut, path=texts, why=texts), max_size=2).map(tuple),
        left_out_more=counts,
    ),
    usage=usages,
    cost=st.none() | st.floats(0, 100),
    turns=counts,
    tool_calls=counts,
    wall_seconds=st.floats(0, 1e6),
    findings=st.lists(
        st.builds(Finding, kind=st.sampled_from(FindingKind), turn=st.none() | counts, excerpt=texts), max_size=2
    ).map(tuple),
    log=texts,
    log_sample=texts,
    facts=st.dictionaries(texts, texts, max_size=2),
    fixes=st.lists(texts, max_size=2).map(tuple),
)


def call(problem_id: str = "p", sample: int = 0, **changes: Any) -> AgentCall:
    """A call of the first try that used a little."""
    usage = TokenUsage(input_tokens=3, output_tokens=2)
    values: dict[str, Any] = {"try_number": 1, "charge": LedgerEntry(usage=usage), **changes}
    return AgentCall(problem_id=problem_id, sample=sample, **values)


def attempt(problem_id: str = "p", sample: int = 0, ending: Ending = Ending.SUBMITTED, patch: str = "") -> AgentAttempt:
    """A sample that has ended."""
    return AgentAttempt(problem_id=problem_id, sample=sample, ending=ending, submission=Submission(patch=patch))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal may be."""
    return tmp_path / NAME


def written(path: Path, *entries: AgentCall | AgentAttempt) -> Path:
    """A journal with these lines."""
    with AgentJournal(path) as journal:
        for entry in entries:
            journal.append(entry)
    return path


@given(st.lists(calls | attempts, max_size=5))
def test_what_was_appended_comes_back(
    tmp_path_factory: pytest.TempPathFactory, entries: list[AgentCall | AgentAttempt]
) -> None:
    """Every line is read as it was written, bytes of a patch that are no UTF-8 included."""
    path = written(tmp_path_factory.mktemp("journal") / NAME, *entries)
    with AgentJournal(path, read_only=True) as journal:
        assert journal.calls == [entry for entry in entries if isinstance(entry, AgentCall)]
        assert journal.attempts == {
            (entry.problem_id, entry.sample): entry for entry in entries if isinstance(entry, AgentAttempt)
        }
        assert journal.charges == [entry.charge for entry in journal.calls]


def test_a_line_is_one_line_of_ascii(path: Path) -> None:
    """Line feeds, other alphabets and bytes that are no text are escaped."""
    written(path, call("é\u2028"), attempt(patch="a\nb\r\udcff\0"))
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 2
    first, second = map(json.loads, data.splitlines())
    assert (first["kind"], first["schema"], second["kind"]) == ("call", SCHEMA_VERSION, "attempt")


def test_the_last_ending_of_a_sample_counts(path: Path) -> None:
    """A sample that failed is not done and is worked on again; what it came to then takes the failure's place."""
    failed, good = attempt("a", ending=Ending.FAILED), attempt("a", patch="x")
    with AgentJournal(path) as journal:
        journal.append(failed)
        assert journal.attempts["a", 0] == failed
        assert not journal.done("a", 0)
        journal.append(good)
        assert journal.attempts == {("a", 0): good}
        assert journal.done("a", 0)
        assert not journal.done("a", 1)


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.FAILED])
def test_every_other_ending_is_one(path: Path, ending: Ending) -> None:
    """Who gives up, refuses or uses everything up is not asked again: what was left is graded."""
    with AgentJournal(written(path, attempt(ending=ending))) as journal:
        assert journal.done("p", 0)


def test_tries_are_counted_by_calls_and_endings(path: Path) -> None:
    """A try shows by a call it made or by its ending; calls of one try count once, other samples not at all."""
    failed = attempt("a", ending=Ending.FAILED)
    with AgentJournal(path) as journal:
        assert journal.tries("a", 0) == 0
        journal.append(call("a"))
        journal.append(call("a"))
        assert journal.tries("a", 0) == 1
        journal.append(failed)
        assert journal.tries("a", 0) == 1
        journal.append(failed)  # one that came to no call
        assert journal.tries("a", 0) == 2
        journal.append(call("a", try_number=3))
        journal.append(call("a", 1, try_number=7))
        assert journal.tries("a", 0) == 3
    with AgentJournal(path, read_only=True) as journal:
        assert (journal.tries("a", 0), journal.tries("a", 1)) == (3, 7)


@pytest.mark.parametrize("left", [1, 20, -2, -1])
def test_an_unfinished_last_line_is_cut_off(path: Path, left: int) -> None:
    """Whatever a killed writer left of its last line does not count, and the next line is whole."""
    written(path, call("a"), attempt("a"))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[:first] + whole[first:][:left])
    with AgentJournal(path) as journal:
        assert (len(journal.calls), journal.attempts) == (1, {})
        journal.append(attempt("a"))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("rest", [b"", b'{"schema": 1, "kind'])
def test_reading_changes_nothing(path: Path, rest: bytes) -> None:
    """A journal opened to be read only is the same afterwards, half a line included."""
    before = written(path, call("a")).read_bytes() + rest
    path.write_bytes(before)
    with AgentJournal(path, read_only=True) as journal:
        assert [entry.problem_id for entry in journal.calls] == ["a"]
    assert path.read_bytes() == before


def test_reading_makes_no_file(path: Path) -> None:
    """A journal that is not there is not made by reading it."""
    with pytest.raises(MachineError, match=r"journal\.jsonl cannot be"):
        AgentJournal(path, read_only=True)
    assert not path.exists()


CALL = call("a").to_plain()
ATTEMPT = {"schema": SCHEMA_VERSION, "kind": "attempt", "attempt": json.loads(json.dumps(attempt().to_plain()))}


def changed(**changes: object) -> dict[str, Any]:
    """The line of a sample with other values in it."""
    return ATTEMPT | {"attempt": ATTEMPT["attempt"] | changes}


@pytest.mark.parametrize(
    "foreign",
    [
        b"not JSON",
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        *(
            json.dumps(line).encode()
            for line in (
                CALL | {"schema": SCHEMA_VERSION + 1},
                CALL | {"kind": "reply"},
                CALL | {"kind": ["call"]},
                CALL | {"try_number": True},
                CALL | {"charge": {"usage": {"input_tokens": -1}}},
                ATTEMPT | {"attempt": None},
                {name: value for name, value in ATTEMPT.items() if name != "attempt"},
                changed(ending="vanished"),
                changed(submission="diff"),
                changed(submission={"patch": 7, "left_out": [], "left_out_more": 0}),
                changed(findings=[{"kind": "theft", "turn": 1, "excerpt": ""}]),
                changed(findings=[7]),
                changed(sample="0"),
                changed(unknown=1),
            )
        ),
    ],
)
def test_a_foreign_line_is_refused(path: Path, foreign: bytes) -> None:
    """A complete line of another kind stops the reading with file and line number; the file stays as it is."""
    good = json.dumps(CALL).encode()
    before = b"\n".join([good, foreign, good]) + b"\n"
    path.write_bytes(before)
    with pytest.raises(UsageError, match=r"journal\.jsonl, line 2 is not a model call or a finished sample"):
        AgentJournal(path)
    assert path.read_bytes() == before


def test_the_journal_of_another_kind_of_run_is_refused(path: Path) -> None:
    """Replies of a run without an agent are not taken for calls."""
    path.write_text(json.dumps({"schema": 1, "problem_id": "p", "sample": 0, "reply": None}) + "\n")
    with pytest.raises(UsageError, match="line 1 is not a model call or a finished sample"):
        AgentJournal(path)


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


@pytest.mark.parametrize("entry", [call("b"), attempt("b", patch="x" * 500)], ids=["call", "attempt"])
@pytest.mark.parametrize("room", [0, 1, 50])
def test_a_full_disk_leaves_no_half_line(path: Path, room: int, entry: AgentCall | AgentAttempt) -> None:
    """A line that the disk takes half of is taken back and not counted, and the user is told."""
    before = written(path, call("a")).read_bytes()
    with AgentJournal(path) as journal:
        with (
            _files_of_at_most(len(before) + room),
            pytest.raises(MachineError, match=r"finished samples so far are kept, give the same command again"),
        ):
            journal.append(entry)
        assert path.read_bytes() == before
        assert (len(journal.calls), journal.attempts) == (1, {})
        journal.append(entry)
    with AgentJournal(path, read_only=True) as journal:
        assert len(journal.calls) + len(journal.attempts) == 2


def test_lines_of_several_threads_stay_whole(path: Path) -> None:
    """Calls and samples end in different threads; none of their lines is torn or lost."""
    with AgentJournal(path) as journal:

        def write(number: int) -> None:
            for sample in range(50):
                journal.append(call(f"p{number}", sample))
                journal.append(attempt(f"p{number}", sample, patch="x" * 5_000))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with AgentJournal(path, read_only=True) as journal:
        assert (len(journal.calls), len(journal.attempts)) == (200, 200)


def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path) -> None:
    """After SIGKILL in the middle of appending, every line that was said to be kept is there, three times over."""
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
        with AgentJournal(path) as journal:
            names = {f"p{number}" for number in range(acknowledged + 1)}
            assert names <= {entry.problem_id for entry in journal.calls}
            assert names <= {problem for problem, _ in journal.attempts}
            assert all(len(entry.submission.patch) > 20_000 for entry in journal.attempts.values())
