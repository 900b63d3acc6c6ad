"""The collector of test reports: what honest witnesses say arrives in order, and nobody can make it wait or grow."""

import contextlib
import json
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import MachineError
from benchwright.core.execution import TestOutcome
from benchwright.core.repositories import SessionReport, TestReport
from benchwright.execution import reports
from benchwright.execution.reports import Collected, ReportCollector, pth_text, site_packages_command

SESSION = {"session": {"runner": "pytest", "version": "8.3.4", "root": "/testbed"}}
PASSED = {"test": "a.py::t[x y]", "names": ["a.py::t[x y]", "a.py::t[x"], "outcome": "passed", "detail": ""}
CLOSED = {"closed": {"tests": 1, "status": 0}}


@contextlib.contextmanager
def connected(folder: Path) -> Iterator[socket.socket]:
    """A client's connection to a collector, however long the folder's path is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(f"/proc/self/fd/{handle}/{reports.SOCKET_NAME}")
            yield client
    finally:
        os.close(handle)


def lines(*values: Any) -> bytes:
    """Values as a witness writes them."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def collected(*streams: bytes) -> Collected:
    """What a collector makes of connections that send these bytes one after the other."""
    with ReportCollector() as collector:
        for stream in streams:
            with connected(collector.folder) as client, contextlib.suppress(ConnectionError):
                client.sendall(stream)
        return collector.finish()


def test_a_session_arrives_as_it_was_told() -> None:
    """The announcement, each test with all its spellings, and the end."""
    found = collected(lines(SESSION, PASSED, CLOSED))
    session = SessionReport(
        session=0, runner="pytest", version="8.3.4", root="/testbed", closed=True, exit_status=0, tests=1
    )
    names = ("a.py::t[x y]", "a.py::t[x")
    report = TestReport(session=0, id=names[0], names=names, outcome=TestOutcome.PASSED)
    assert found == Collected((session,), (report,), ())


def test_sessions_are_numbered_by_their_opening() -> None:
    """Lines of two connections may come mixed; each keeps its own order and number."""
    with ReportCollector() as collector:
        with connected(collector.folder) as one, connected(collector.folder) as two:
            two.sendall(lines(SESSION))
            one.sendall(lines(SESSION, {**PASSED, "outcome": "failed"}))
            two.sendall(lines(PASSED))
            one.sendall(lines(PASSED))
        found = collector.finish()
    assert [session.session for session in found.sessions] == [0, 1]
    assert [(r.session, r.outcome.value) for r in found.reports if r.session == 0] == [(0, "failed"), (0, "passed")]
    assert [(r.session, r.outcome.value) for r in found.reports if r.session == 1] == [(1, "passed")]
    assert found.errors == ()


def test_a_session_that_did_not_say_it_was_over_is_not_closed() -> None:
    """A run that is killed leaves what it had said until then; that alone is no error."""
    found = collected(lines(SESSION, PASSED))
    assert not found.sessions[0].closed
    assert len(found.reports) == 1
    assert found.errors == ()


def test_a_line_in_pieces_is_one_line() -> None:
    """Where the kernel cuts the stream means nothing."""
    with ReportCollector() as collector:
        with connected(collector.folder) as client:
            for byte in lines(SESSION, PASSED, CLOSED):
                client.sendall(bytes((byte,)))
        found = collector.finish()
    assert (len(found.sessions), len(found.reports), found.errors) == (1, 1, ())


def test_what_a_witness_saw_being_changed_is_an_error() -> None:
    """Interference stands among the errors, in the witness's words."""
    found = collected(lines(SESSION, {"interference": "_pytest.runner.call_and_report was replaced"}))
    assert found.errors == ("session 0: _pytest.runner.call_and_report was replaced",)


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (lines(SESSION, PASSED, {"closed": {"tests": 2, "status": 0}}), "counted 2 reports, 1 were received"),
        (lines(SESSION, PASSED, CLOSED, PASSED), "went on after its end"),
        (lines(SESSION, SESSION), "announced a second session"),
        (lines(PASSED), "did not begin with a session"),
        (b"", "said nothing"),
        (lines(SESSION)[:-4], "broke off within a line"),
        (b"\xff\xfe\x00binary\n", "not JSON"),
        (b"\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b"[1]\n", "not an object"),
        (lines({"session": "pytest"}), "session is not an object"),
        (lines({"session": {"runner": "pytest", "version": 8, "root": "/"}}), "version is no text"),
        (lines(SESSION, {**PASSED, "outcome": "resolved"}), "unknown outcome"),
        (lines(SESSION, {**PASSED, "outcome": None}), "outcome is no text"),
        (lines(SESSION, {**PASSED, "names": []}), "without names"),
        (lines(SESSION, {**PASSED, "names": ["x"] * 100}), "without names"),
        (lines(SESSION, {**PASSED, "names": [1]}), "names is no text"),
        (lines(SESSION, {**PASSED, "names": ["other"]}), "id is not its first name"),
        (lines(SESSION, {**PASSED, "test": "x" * 70_000}), "test is no text of usual length"),
        (lines(SESSION, {"closed": {"tests": True, "status": 0}}), "tests is no number"),
        (lines(SESSION, {"closed": {"tests": 0, "status": 10**12}}), "status is no number"),
        (lines(SESSION, {"closed": None}), "closed is not an object"),
        (lines(SESSION, {"unheard": "of"}), "interference is no text"),
    ],
)
def test_what_no_witness_sends_is_an_error(stream: bytes, error: str) -> None:
    """One clause says what was wrong, and nothing is raised."""
    found = collected(stream)
    assert len(found.errors) == 1
    assert error in found.errors[0]


def test_nothing_after_a_malformed_line_counts() -> None:
    """A connection that has written nonsense is no longer listened to; others are."""
    found = collected(lines(SESSION, {**PASSED, "outcome": "?"}, PASSED), lines(SESSION, PASSED))
    assert [report.session for report in found.reports] == [1]


def test_forged_reports_are_kept_beside_the_others() -> None:
    """A second connection may say what it likes of the same test: both reports are evidence."""
    found = collected(lines(SESSION, {**PASSED, "outcome": "failed"}), lines(SESSION, PASSED, CLOSED))
    assert [report.outcome for report in found.reports] == [TestOutcome.FAILED, TestOutcome.PASSED]


def test_lone_surrogates_become_escapes() -> None:
    """Whatever is kept can be written as UTF-8."""
    found = collected(lines(SESSION, {**PASSED, "test": "\ud800", "names": ["\ud800"]}))
    assert found.reports[0].id == "\\ud800"


def test_a_line_without_an_end_is_given_up() -> None:
    """A client that never writes a newline costs one line's memory."""
    found = collected(lines(SESSION) + b"x" * (3 * reports.LINE_BYTES))
    assert found.errors == ("a line is longer than witnesses write (session 0)",)


def test_a_flood_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """What all connections send together is bounded."""
    monkeypatch.setattr(reports, "TOTAL_BYTES", 1_000_000)
    found = collected(*[lines(SESSION, *[PASSED] * 10_000)] * 3)
    assert len(found.reports) < 20_000
    assert any("more was sent than witnesses send" in error for error in found.errors)


def test_reports_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more reports are kept than any suite has tests."""
    monkeypatch.setattr(reports, "REPORTS", 5)
    found = collected(lines(SESSION, *[PASSED] * 9))
    assert len(found.reports) == 5
    assert "more tests than there can be" in found.errors[0]


def test_errors_are_bounded() -> None:
    """Each error is kept once, and not more of them than can be read."""
    found = collected(lines(SESSION, *({"interference": f"change {n}"} for n in range(500))))
    assert len(found.errors) == reports.ERRORS


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many connections at once do not use up the host's descriptors."""
    monkeypatch.setattr(reports, "OPEN_CONNECTIONS", 2)
    with ReportCollector() as collector, contextlib.ExitStack() as clients:
        for _ in range(5):
            client = clients.enter_context(connected(collector.folder))
            with contextlib.suppress(ConnectionError):
                client.sendall(lines(SESSION))
        found = collector.finish()
    assert len(found.sessions) == 2
    assert found.errors == ("more connections were made than witnesses make",)


def test_connections_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do many connections one after the other make an endless record."""
    monkeypatch.setattr(reports, "CONNECTIONS", 3)
    found = collected(*[lines(SESSION)] * 5)
    assert len(found.sessions) == 3
    assert found.errors == ("more connections were made than witnesses make",)


def test_a_silent_client_keeps_nobody_waiting() -> None:
    """`finish` returns although a connection is still open, with what had come over it."""
    with ReportCollector() as collector, connected(collector.folder) as client:
        client.sendall(lines(SESSION, PASSED))
        found = collector.finish()
        assert collector.finish() is found
    assert len(found.reports) == 1
    assert not found.sessions[0].closed


def test_the_folder_is_shared_with_the_sandbox_and_with_nobody_else() -> None:
    """Inside, everybody may read and connect; on the host, a private folder is around it; afterwards it is gone."""
    with ReportCollector() as collector:
        folder = collector.folder
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
        assert modes["shared"] == modes["witness"] == 0o755
        assert modes["report.sock"] == 0o666
        assert modes["start.py"] == modes["channel.py"] == 0o644
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert not folder.parent.exists()


def test_a_long_path_is_no_obstacle(tmp_path: Path) -> None:
    """A socket's address holds 107 bytes; the folder for temporary files may be deeper than that."""
    parent = tmp_path / ("long" * 30)
    parent.mkdir()
    with ReportCollector(parent) as collector:
        with connected(collector.folder) as client:
            client.sendall(lines(SESSION))
        assert len(collector.finish().sessions) == 1


def test_a_folder_that_cannot_be_made_is_the_machines_fault(tmp_path: Path) -> None:
    """The reason of the system is in the message, and nothing is left."""
    with pytest.raises(MachineError, match="No such file"):
        ReportCollector(tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


def test_the_line_for_site_packages_is_one_line() -> None:
    """Python executes lines of a .pth file that begin with import, each for itself; elsewhere it must do nothing."""
    text = pth_text("/no/such/place")
    assert text.startswith("import ")
    assert text.count("\n") == 1
    exec(text)


def test_the_command_for_site_packages_ignores_the_working_folder() -> None:
    """Modules of the repository cannot answer in the place of the standard library."""
    assert site_packages_command()[:2] == ("python", "-I")
