"""A look at a built site through a server on this machine, as readers will see it (``bw site serve``)."""

import errno
import http.server
import socketserver
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any

from benchwright.core.errors import MachineError
from benchwright.leaderboard.site.folder import site_in

HOST = "127.0.0.1"
"""Only this machine: the pages are for a look before they are published."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".md": "text/markdown; charset=utf-8",
}
"""Said here, because the machine's own table may say otherwise or nothing."""


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Files of one folder; nothing else, and no lists of files."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **_TYPES}  # noqa: RUF012 - as the base has it

    def list_directory(self, path: Any) -> IO[bytes] | None:  # type: ignore[override]
        self.send_error(HTTPStatus.NOT_FOUND, "There is no such page")
        return None

    def send_head(self) -> Any:
        if not self._is_of_the_site():
            self.send_error(HTTPStatus.NOT_FOUND, "There is no such page")
            return None
        return super().send_head()

    def _is_of_the_site(self) -> bool:
        """Names that begin with a dot are the builder's or the user's own, such as .git; links may lead elsewhere."""
        path = Path(self.translate_path(self.path))
        if any(part.startswith(".") for part in path.relative_to(self.directory).parts):
            return False
        try:
            return path.resolve().is_relative_to(Path(self.directory).resolve())
        except (OSError, ValueError, RuntimeError):  # a NUL in the name, links in a circle
            return False

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")  # the next build is to be seen at once
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal shows the address and stays quiet."""


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class SiteServer:
    """Serves a built site; use as a context manager, then call `serve`."""

    def __init__(self, place: Path, port: int) -> None:
        """Bind the address.

        Args:
            place: A built site.
            port: 0 takes a free one.

        Raises:
            UsageError: There is no built site.
            MachineError: The port is taken or not allowed.
        """
        handler = partial(_Handler, directory=str(site_in(place)))
        try:
            self._server = _Server((HOST, port), handler)
        except OSError as error:
            why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise MachineError(f"Port {port} {why}; choose another with --port, or 0 for any that is free.") from error

    def __enter__(self) -> "SiteServer":
        return self

    def __exit__(self, *error: object) -> None:
        self._server.server_close()

    @property
    def address(self) -> str:
        """Where the site is."""
        return f"http://{HOST}:{self._server.server_port}/"

    def serve(self) -> None:
        """Answer requests until `stop` is called from another thread, or a ``KeyboardInterrupt``."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        """End `serve`."""
        self._server.shutdown()


def serve(place: Path, port: int, say: Callable[[str], None]) -> None:
    """Serve a built site until Ctrl-C; says its address first.

    Raises `UsageError` when there is no built site, `MachineError` when the port cannot be used.
    """
    with SiteServer(place, port) as server:
        say(server.address)
        try:
            server.serve()
        except KeyboardInterrupt:
            return
