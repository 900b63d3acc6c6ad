"""A server of the OpenAI kind on loopback that answers by a script: the provider's own client talks to it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with one request."""

    text: str = ""
    finish: str = "stop"
    status: int = 200
    error: str = ""
    code: str | None = None
    reasoning: str | None = None
    """Reasoning that is kept apart from the text."""
    choices: bool = True
    """Whether there is a choice at all; some servers leave it out when they withhold an answer."""
    usage: tuple[int, int] | None = (100, 50)
    """Tokens read and written; None leaves the report out."""
    delay: float = 0.0
    hang_up: bool = False
    """Whether the connection is closed without an answer."""
    calls: tuple[tuple[str, str], ...] = ()
    """Tools to call, each with its arguments as they are sent: JSON, or what is meant to be."""

    @property
    def is_billed(self) -> bool:
        """Whether it reports what it has used."""
        return self.status == 200 and self.usage is not None and not self.hang_up


@dataclass
class Server:
    """A running server and what it was asked."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of all requests, in order of arrival."""
    billed: list[tuple[int, int]] = field(default_factory=list)
    """Usage of every answer that was sent in full."""
    most_at_once: int = 0
    """Most requests that were in work at the same time."""

    @property
    def billed_tokens(self) -> int:
        """Tokens of all answers together."""
        return sum(read + written for read, written in self.billed)

    @property
    def prompts(self) -> list[str]:
        """The text of every request, in order of arrival."""
        return [prompt_of(body) for body in self.requests]


Script = Callable[[dict[str, Any], int], Answer]
"""From a request's body and its number (from 0) to what is done with it."""


def prompt_of(body: dict[str, Any]) -> str:
    """The text that a request sends: the prompt, or the first user message."""
    if "prompt" in body:
        return str(body["prompt"])
    content = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@contextmanager
def scripted_server(script: Script) -> Iterator[Server]:
    """Serve ``/v1/chat/completions`` and ``/v1/completions`` on a free port of 127.0.0.1."""
    lock = threading.Lock()
    at_once = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal at_once
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.requests)
                served.requests.append(body)
                at_once += 1
                served.most_at_once = max(served.most_at_once, at_once)
            answer = Answer(hang_up=True)
            try:
                answer = script(body, number)
                if answer.delay:
                    time.sleep(answer.delay)
            finally:
                # Before the answer is out: whoever has it may look at once.
                with lock:
                    at_once -= 1
                    if answer.is_billed:
                        served.billed.append(answer.usage or (0, 0))
            if not self._send(_document(body, answer, chat=self.path.endswith("/chat/completions")), answer):
                with lock:
                    if answer.is_billed:
                        served.billed.remove(answer.usage or (0, 0))

        def _send(self, document: dict[str, Any], answer: Answer) -> bool:
            if answer.hang_up:
                self.close_connection = True
                return False
            payload = json.dumps(document).encode()
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                # A client that outlives its event loop leaves kept connections to the garbage collector, which warns.
                self.send_header("Connection", "close")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
            except OSError:
                return False  # the client has given up waiting
            return True

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is part of the tests."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        served = Server(url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


def _document(body: dict[str, Any], answer: Answer, *, chat: bool) -> dict[str, Any]:
    if answer.status != 200:
        return {"error": {"message": answer.error, "type": "scripted", "code": answer.code}}
    choice: dict[str, Any] = {"index": 0, "finish_reason": answer.finish}
    if chat:
        choice["message"] = {"role": "assistant", "content": answer.text}
        if answer.calls:
            choice["finish_reason"] = "tool_calls"
            choice["message"]["tool_calls"] = [
                {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
                for place, (name, arguments) in enumerate(answer.calls)
            ]
        if answer.reasoning is not None:
            choice["message"]["reasoning_content"] = answer.reasoning
    else:
        choice |= {"text": answer.text, "logprobs": None}
    document: dict[str, Any] = {
        "id": "scripted",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice] if answer.choices else [],
    }
    if answer.usage is not None:
        read, written = answer.usage
        document["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return document
