"""A model on loopback that says what a script tells it to, in the protocol that it is asked in, and keeps every request.

A script has one list of replies for each conversation. The main conversation is called "main"; that of a subagent has a name of its
own, which stands in brackets, ``[[name]]``, in the task that the subagent is given. Requests without tools (a title, a summary) are
no part of a conversation and are answered with a few words. When a conversation's replies are used up, the model says ``Done.``
"""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.clients import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from tests.clients.wire import Block

    # What the model says to one request: fixed, or made from the request (where a call needs an id that the client has made up).
    Reply = list[Block] | Callable[["Request"], list[Block]]

MAIN = "main"
TOKENS = 100  # how long a request is said to have been, unless the script says otherwise
ASIDE = "aside"  # a request that is no part of a conversation


@dataclass(frozen=True)
class Request:
    """One request to the model: its path, its body, the conversation it belongs to, and its place there, from 0."""

    path: str
    body: dict[str, Any]
    conversation: str
    step: int

    @property
    def text(self) -> str:
        """Everything in the body, as the model would read it: the strings only, one a line."""
        return "\n".join(strings(self.body))

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the model is offered."""
        return [tool.get("name", "") for tool in wire.tools(self.body)]


@dataclass
class Script:
    """What the model says: replies by conversation."""

    replies: dict[str, list[Reply]] = field(default_factory=dict)

    def of(self, text: str) -> str:
        """The conversation that a request with this text belongs to."""
        return next((name for name in self.replies if name != MAIN and f"[[{name}]]" in text), MAIN)


class Model:
    """The server. Use it as a context manager; ``url`` is where it listens, ``requests`` what it was asked, in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.tokens = TOKENS  # how long the next request is said to have been, once
        self.others: list[str] = []  # paths that a client asked for and that are not of a model
        self._steps: dict[str, int] = {}
        self._calls = 0
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                model._answer(self, json.loads(body or b"{}"))

            def do_GET(self) -> None:
                model.others.append(f"GET {self.path}")
                _reply(self, b"{}", "application/json", 200 if self.path == "/" else 404)

            def do_HEAD(self) -> None:
                _reply(self, b"", "text/plain")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Model:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def begin(self, script: Script) -> None:
        """Another script, from its start; the requests so far are kept."""
        with self._lock:
            self.script = script
            self._steps.clear()

    def of(self, conversation: str = MAIN) -> list[Request]:
        """The requests of one conversation, in order."""
        return [request for request in self.requests if request.conversation == conversation]

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        path = handler.path.split("?")[0]
        protocol = next((protocol for end, protocol in wire.PROTOCOLS if path.endswith(end)), None)
        blocks, ids, tokens = self._next(path, body, counts=protocol is not None)
        name = str(body.get("model") or "scripted")
        if protocol is not None:
            _reply(handler, b"".join(protocol(blocks, ids, name, tokens)), "text/event-stream")
        elif path.endswith(":generateContent"):
            _reply(handler, json.dumps(wire.whole(blocks, name)).encode(), "application/json")
        elif "count" in path.lower():
            _reply(handler, b'{"input_tokens": 100, "totalTokens": 100}', "application/json")
        else:
            _reply(handler, b"{}", "application/json", 404)

    def _next(self, path: str, body: dict[str, Any], counts: bool) -> tuple[list[Block], list[str], int]:
        with self._lock:
            if not counts or not wire.tools(body) or wire.shortens(body):
                self.requests.append(Request(path, body, ASIDE, 0))
                return [wire.Say("A short title")], [self._id()], TOKENS
            conversation = self.script.of("\n".join(strings(wire.opening(body))))
            step = self._steps.get(conversation, 0)
            self._steps[conversation] = step + 1
            self.requests.append(Request(path, body, conversation, step))
            replies = self.script.replies.get(conversation, [])
            reply: Reply = replies[step] if step < len(replies) else [wire.Say("Done.")]
            blocks: list[Block] = reply(self.requests[-1]) if callable(reply) else reply
            tokens, self.tokens = self.tokens, TOKENS
            return blocks, [self._id() for _ in blocks], tokens

    def _id(self) -> str:
        self._calls += 1
        return f"{self._calls:04d}"


def _reply(handler: BaseHTTPRequestHandler, body: bytes, kind: str, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
