"""Collecting what the witnesses inside a sandbox say, on a socket the host listens on.

One folder holds the socket and a copy of the witnesses; a sandbox shows it, read-only, at ``/.benchwright``.  What
comes over the socket comes from a process that the code under test shares: every line is checked, everything is
bounded, and what no honest witness sends is kept as an error.  :mod:`benchwright_guest.witnesses` has the line forms.
"""

import contextlib
import json
import os
import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import benchwright_guest.witnesses
from benchwright.core.errors import MachineError
from benchwright.core.execution import TestOutcome
from benchwright.core.repositories import SessionReport, TestReport

PLACE = "/.benchwright"
"""Where a sandbox shows the collector's folder."""
PTH_NAME = "benchwright_witness.pth"
"""File in ``site-packages`` whose one line makes each start of Python load the witness."""
SOCKET_NAME = "report.sock"
WITNESS_FOLDER = "witness"

LINE_BYTES = 1024 * 1024
"""Longest line; the longest node id in SWE-bench Verified has a few hundred characters."""
TOTAL_BYTES = 64 * 1024 * 1024
CONNECTIONS = 4096
"""Sessions of one run: pytest's own tests start hundreds of inner sessions, each with a connection of its own."""
OPEN_CONNECTIONS = 128
"""At once: a run has one, plus the inner sessions or parallel workers alive with it."""
REPORTS = 200_000
"""Ten times the largest suite among SWE-bench's repositories (scikit-learn)."""
NAMES = 32
"""Spellings of one test; an honest witness knows less than a dozen."""
NAME_CHARACTERS = 64 * 1024
DETAIL_CHARACTERS = 1000
ERRORS = 50
"""How many different errors are kept."""
_RECEIVE_BYTES = 256 * 1024
_BACKLOG = 256


def pth_text(place: str = PLACE) -> str:
    """The line for `PTH_NAME`: loads the witness where the collector's folder is shown, and does nothing elsewhere."""
    start = f"{place}/{WITNESS_FOLDER}/start.py"
    program = (
        f"try:\n with open({start!r}, 'rb') as file: code = compile(file.read(), {start!r}, 'exec')\n"
        f" exec(code, {{'__name__': 'benchwright_witness', '__file__': {start!r}}})\nexcept Exception: pass\n"
    )
    return f"import os; os.path.exists({f'{place}/{SOCKET_NAME}'!r}) and exec({program!r})\n"


def site_packages_command() -> tuple[str, ...]:
    """A command that prints the folder for `PTH_NAME`, as the environment's own Python names it."""
    return ("python", "-I", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")


class Collected(NamedTuple):
    """What was said, in the order in which it was received."""

    sessions: tuple[SessionReport, ...]
    reports: tuple[TestReport, ...]
    errors: tuple[str, ...]
    """What no honest witness sends, and what witnesses saw being changed; one clause each, none twice."""


class _Malformed(Exception):
    """A line that no witness writes; the message says in what."""


@dataclass(slots=True)
class _Connection:
    """One session in the making."""

    number: int
    buffer: bytearray = field(default_factory=bytearray)
    session: SessionReport | None = None
    reports: int = 0
    dead: bool = False
    """Whether it broke a bound and is no longer listened to."""


class ReportCollector(contextlib.AbstractContextManager["ReportCollector"]):
    """Listens from its making to `finish`; leaving the context removes its folder.

    It never waits for anybody: a client that is silent, endless or writes nonsense costs bounded memory and is
    written down.
    """

    def __init__(self, parent: Path | None = None) -> None:
        """Make the folder and listen.

        Args:
            parent: Folder to make it in; the system's folder for temporary files when None.

        Raises `MachineError` when the folder or the socket cannot be made.
        """
        self._ledger = _Ledger()
        self._finished: Collected | None = None
        with contextlib.ExitStack() as undone:
            try:
                # The private folder keeps other users of the host out; the one in it is what a sandbox shows.
                self._private = Path(tempfile.mkdtemp(prefix="benchwright-reports-", dir=parent))
                undone.callback(shutil.rmtree, self._private)
                self.folder = self._private / "shared"
                """What to show at `PLACE`."""
                _fill(self.folder)
                self._listener = _listening(self.folder)
                undone.callback(self._listener.close)
                self._stop, self._stopped = os.pipe()
            except OSError as error:
                raise MachineError(f"The socket for test reports cannot be made ({error}).") from error
            undone.pop_all()
        self._thread = threading.Thread(target=self._listen, name="test reports", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        shutil.rmtree(self._private)

    def finish(self) -> Collected:
        """Take what has arrived until now, stop listening, and return everything; the same when called again."""
        if self._finished is None:
            os.close(self._stopped)
            self._thread.join()
            os.close(self._stop)
            self._finished = self._ledger.collected()
        return self._finished

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector, self._listener:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._stop, selectors.EVENT_READ)
            stopping = False
            while True:
                # After the stop, rounds go on as long as there is something to take without waiting.
                ready = [key for key, _ in selector.select(0 if stopping else None)]
                if stopping and not ready:
                    break
                for key in ready:
                    if key.fileobj is self._listener:
                        self._accept(selector)
                    elif key.fd == self._stop:
                        selector.unregister(self._stop)
                        stopping = True
                    else:
                        self._receive(selector, key)
            for key in list(selector.get_map().values()):
                if isinstance(key.data, _Connection):
                    self._close(selector, key)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            client, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:  # no descriptors left: trying again would turn in circles
            selector.unregister(self._listener)
            self._ledger.error(f"a connection could not be accepted ({error.strerror})")
            return
        connected = sum(isinstance(key.data, _Connection) for key in selector.get_map().values())
        connection = self._ledger.connection(connected)
        if connection is None:
            client.close()
            return
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ, connection)

    def _receive(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        assert isinstance(key.fileobj, socket.socket)
        try:
            data = key.fileobj.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._ledger.take(key.data, data)
        if not data or key.data.dead:
            self._close(selector, key)

    def _close(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        assert isinstance(key.fileobj, socket.socket)
        selector.unregister(key.fileobj)
        key.fileobj.close()
        self._ledger.over(key.data)


class _Ledger:
    """Everything that was received, checked line by line."""

    def __init__(self) -> None:
        self._connections: list[_Connection] = []
        self._reports: list[TestReport] = []
        self._errors: dict[str, None] = {}
        self._bytes = 0

    def connection(self, connected: int) -> _Connection | None:
        """A place for one more connection beside those that are connected, or None when there are too many."""
        if len(self._connections) >= CONNECTIONS or connected >= OPEN_CONNECTIONS:
            self.error("more connections were made than witnesses make")
            return None
        connection = _Connection(number=len(self._connections))
        self._connections.append(connection)
        return connection

    def take(self, connection: _Connection, data: bytes) -> None:
        """Read what came over a connection."""
        self._bytes += len(data)
        if self._bytes > TOTAL_BYTES:
            self._give_up(connection, "more was sent than witnesses send")
            return
        connection.buffer += data
        *lines, rest = connection.buffer.split(b"\n")
        connection.buffer = bytearray(rest)
        for line in lines:
            if not connection.dead:
                self._line(connection, bytes(line))
        if len(connection.buffer) > LINE_BYTES:
            self._give_up(connection, "a line is longer than witnesses write")

    def over(self, connection: _Connection) -> None:
        """The connection has ended."""
        if connection.dead:
            return
        if connection.buffer:
            self.error(f"session {connection.number} broke off within a line")
        elif connection.session is None:
            self.error(f"session {connection.number} said nothing")

    def error(self, clause: str) -> None:
        """Write down what no honest witness does, once."""
        if len(self._errors) < ERRORS:
            self._errors[clause] = None

    def collected(self) -> Collected:
        """Everything, when all connections are over."""
        sessions = tuple(c.session for c in self._connections if c.session is not None)
        return Collected(sessions, tuple(self._reports), tuple(self._errors))

    def _give_up(self, connection: _Connection, clause: str) -> None:
        connection.dead = True
        connection.buffer.clear()
        self.error(f"{clause} (session {connection.number})")

    def _line(self, connection: _Connection, line: bytes) -> None:
        try:
            values = _parsed(line)
            if "session" in values:
                self._begin(connection, values)
            elif connection.session is None:
                raise _Malformed("did not begin with a session")
            elif connection.session.closed:
                raise _Malformed("went on after its end")
            elif "test" in values:
                self._report(connection, values)
            elif "closed" in values:
                self._close(connection, values)
            else:
                self.error(f"session {connection.number}: {_text(values, 'interference', DETAIL_CHARACTERS)}")
        except _Malformed as error:
            self._give_up(connection, str(error))

    def _begin(self, connection: _Connection, values: Mapping[str, Any]) -> None:
        if connection.session is not None:
            raise _Malformed("announced a second session")
        session = _mapping(values, "session")
        connection.session = SessionReport(
            session=connection.number,
            runner=_text(session, "runner", DETAIL_CHARACTERS),
            version=_text(session, "version", DETAIL_CHARACTERS),
            root=_text(session, "root", NAME_CHARACTERS),
            closed=False,
        )

    def _report(self, connection: _Connection, values: Mapping[str, Any]) -> None:
        if len(self._reports) >= REPORTS:
            raise _Malformed("reported more tests than there can be")
        names = values.get("names")
        if not isinstance(names, list) or not 1 <= len(names) <= NAMES:
            raise _Malformed("has a report without names")
        id = _text(values, "test", NAME_CHARACTERS)
        spellings = tuple(_checked(name, "names", NAME_CHARACTERS) for name in names)
        if spellings[0] != id:
            raise _Malformed("has a report whose id is not its first name")
        try:
            outcome = TestOutcome(_text(values, "outcome", NAME_CHARACTERS))
        except ValueError:
            raise _Malformed("has a report with an unknown outcome") from None
        detail = _text(values, "detail", LINE_BYTES)[:DETAIL_CHARACTERS]
        connection.reports += 1
        self._reports.append(
            TestReport(session=connection.number, id=id, names=spellings, outcome=outcome, detail=detail)
        )

    def _close(self, connection: _Connection, values: Mapping[str, Any]) -> None:
        closed = _mapping(values, "closed")
        tests = _number(closed, "tests")
        status = None if closed.get("status") is None else _number(closed, "status")
        assert connection.session is not None
        session = connection.session
        connection.session = SessionReport(
            session=session.session,
            runner=session.runner,
            version=session.version,
            root=session.root,
            closed=True,
            exit_status=status,
            tests=tests,
        )
        if tests != connection.reports:
            self.error(f"session {connection.number} counted {tests} reports, {connection.reports} were received")


def _fill(folder: Path) -> None:
    """The folder with the witnesses in it, readable by everybody who gets to see it."""
    folder.mkdir(mode=0o755)
    witnesses = folder / WITNESS_FOLDER
    witnesses.mkdir(mode=0o755)
    for source in Path(benchwright_guest.witnesses.__file__).parent.glob("*.py"):
        copy = witnesses / source.name
        copy.write_bytes(source.read_bytes())
        copy.chmod(0o644)
    for place in (folder, witnesses):  # whatever the umask
        place.chmod(0o755)


def _listening(folder: Path) -> socket.socket:
    """A listening socket that every user who gets to see the folder may connect to."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # A socket's address holds 107 bytes, a folder's path may be longer.
        listener.bind(f"/proc/self/fd/{handle}/{SOCKET_NAME}")
        (folder / SOCKET_NAME).chmod(0o666)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(handle)
    return listener


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise _Malformed("has a line that is not JSON") from None
    if not isinstance(values, dict):
        raise _Malformed("has a line that is not an object")
    return values


def _number(values: Mapping[str, Any], key: str) -> int:
    value = values.get(key)
    if type(value) is not int or abs(value) >= 2**31:
        raise _Malformed(f"has a line whose {key} is no number of usual size")
    return value


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    if not isinstance(value, dict):
        raise _Malformed(f"has a line whose {key} is not an object")
    return value


def _text(values: Mapping[str, Any], key: str, longest: int) -> str:
    return _checked(values.get(key), key, longest)


def _checked(value: object, key: str, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise _Malformed(f"has a line whose {key} is no text of usual length")
    # Lone surrogates cannot be stored as UTF-8.
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
