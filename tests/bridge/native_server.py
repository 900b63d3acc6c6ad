"""A server on loopback that plays JSON answers or server-sent events, and keeps what it was asked."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Played:
    """A running server: where it is, and every request in order of arrival."""

    url: str
    paths: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def playing(answers: Sequence[dict[str, Any] | list[dict[str, Any]]]) -> Iterator[Played]:
    """Answer each request with the next of ``answers``: a document, or a list of events that are streamed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = answers[len(played.requests)]
            played.requests.append(body)
            played.paths.append(self.path)
            payload, kind = _payload(answer)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Connection", "close")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        played = Played(url=f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield played
        finally:
            server.shutdown()
            thread.join()


def _payload(answer: dict[str, Any] | list[dict[str, Any]]) -> tuple[bytes, str]:
    if isinstance(answer, dict):
        return json.dumps(answer).encode(), "application/json"
    events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in answer)
    return events.encode(), "text/event-stream"
