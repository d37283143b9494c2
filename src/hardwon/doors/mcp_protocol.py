"""The Model Context Protocol on one connection: messages into calls, results and errors into messages. Says nothing of memories.

Two eras at once. Up to 2025-11-25 a client begins with ``initialize`` and the connection remembers the version; from 2026-07-28 each
request tells its version in ``_meta``, nothing is remembered, and each result tells what it is. A request that carries such an envelope
is answered in the new form, any other one in the old.
"""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Id = str | int
    Params = Mapping[str, Any]

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION, NO_RESOURCE = -32022, -32002
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # versions of the old era, oldest first
MODERN = ("2026-07-28",)
_BATCHING = "2025-03-26"  # the only version in which several requests may come as a list
_META = "io.modelcontextprotocol/"
_MOST_BATCHED = 100
# Milliseconds for which a list of the new era may be kept by the client. It changes only with the program.
_KEPT = 300_000
# What a client may keep: lists are the same for all, what is read is not.
_LISTS = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list")
_OLD_ONLY = ("ping", "logging/setLevel")


class Refusal(Exception):
    """An error of the protocol, which the client is told."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Asker(Value):
    """Who sends a request: the name that the client gives itself, and whether it speaks the new era."""

    client: str = ""
    modern: bool = False


class Service(Value):
    """What a connection serves: ``methods`` by name, each from parameters and asker to a result; ``info`` is the server's name and version,
    ``capabilities`` and ``instructions`` as the protocol has them."""

    methods: Mapping[str, Callable[[Params, Asker], dict[str, Any]]]
    info: Mapping[str, str]
    capabilities: Mapping[str, Any]
    instructions: str


class Connection:
    """One client on the other side. ``failed`` is told of an exception that nobody foresaw; the connection goes on."""

    def __init__(self, service: Service, failed: Callable[[BaseException], None]) -> None:
        self._service = service
        self._failed = failed
        self._version = ""
        self._client = ""

    def answers(self, message: Any) -> Any:
        """What is sent back for one message: an object, a list for a batch, None for what wants no answer."""
        if not isinstance(message, list):
            return self._answer(message)
        if self._version != _BATCHING or not 0 < len(message) <= _MOST_BATCHED:
            return error(None, Refusal(INVALID_REQUEST, "a list of requests is not taken in this version: send them one by one"))
        found = [answer for one in message if (answer := self._answer(one)) is not None]
        return found or None

    def _answer(self, message: Any) -> dict[str, Any] | None:
        if isinstance(message, Refusal):
            return error(None, message)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return error(None, Refusal(INVALID_REQUEST, "this is no request of JSON-RPC 2.0"))
        if "method" not in message and ("result" in message or "error" in message):
            return None  # an answer, and nothing was asked
        identifier, method = message.get("id"), message.get("method")
        known = identifier if is_id(identifier) else None
        if not isinstance(method, str) or ("id" in message and known is None):
            return error(known, Refusal(INVALID_REQUEST, "a request has a method and an id, a text or a whole number"))
        # Without an id it is a notification, and none of those changes what is answered.
        return None if known is None else self._answer_request(known, method, message.get("params", {}))

    def _answer_request(self, identifier: Id, method: str, params: Any) -> dict[str, Any]:
        try:
            return {"jsonrpc": "2.0", "id": identifier, "result": self._result(method, params)}
        except Refusal as refusal:
            return error(identifier, refusal)
        except Exception as fault:  # noqa: BLE001 - told to both sides: the session goes on without this answer
            self._failed(fault)
            return error(
                identifier, Refusal(INTERNAL, f"an error of Hardwon's own: {type(fault).__name__}; see its standard error")
            )

    def _result(self, method: str, params: Any) -> dict[str, Any]:
        if not isinstance(params, dict):
            raise Refusal(INVALID_PARAMS, "params is no object")
        if method == "initialize":
            return self._initialized(params)
        meta = params.get("_meta")
        if isinstance(meta, dict) and f"{_META}protocolVersion" in meta:
            return self._modern(method, params, meta)
        return self._of_handshake(method, params)

    # From 2026-07-28

    def _modern(self, method: str, params: Params, meta: Mapping[str, Any]) -> dict[str, Any]:
        version = meta[f"{_META}protocolVersion"]
        if not isinstance(version, str):
            raise Refusal(INVALID_PARAMS, f"{_META}protocolVersion is no text")
        if version not in MODERN:
            raise Refusal(
                UNSUPPORTED_VERSION,
                "this version of the protocol is not spoken",
                {"supported": list(MODERN), "requested": version[:60]},
            )
        if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
            raise Refusal(INVALID_PARAMS, f"_meta lacks {_META}clientCapabilities")
        asker = Asker(name_of(meta.get(f"{_META}clientInfo")), True)
        if method == "server/discover":
            found: dict[str, Any] = {
                "supportedVersions": list(MODERN),
                "capabilities": dict(self._service.capabilities),
                "instructions": self._service.instructions,
            }
        elif method in _OLD_ONLY:
            raise _unknown(method)
        else:
            found = self._call(method, params, asker)
        result: dict[str, Any] = {"resultType": "complete", **found}
        if method in _LISTS:
            result |= {"ttlMs": _KEPT, "cacheScope": "public"}
        elif method == "resources/read":
            result |= {"ttlMs": 0, "cacheScope": "private"}
        return result | {"_meta": {f"{_META}serverInfo": dict(self._service.info)}}

    # Up to 2025-11-25

    def _initialized(self, params: Params) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise Refusal(INVALID_PARAMS, "initialize needs protocolVersion, a text")
        self._version = wanted if wanted in HANDSHAKE else HANDSHAKE[-1]
        self._client = name_of(params.get("clientInfo"))
        return {
            "protocolVersion": self._version,
            "capabilities": dict(self._service.capabilities),
            "serverInfo": dict(self._service.info),
            "instructions": self._service.instructions,
        }

    def _of_handshake(self, method: str, params: Params) -> dict[str, Any]:
        if method in _OLD_ONLY:  # there are no log messages whose level could be set
            return {}
        if method != "server/discover" and method not in self._service.methods:
            raise _unknown(method)
        if method == "server/discover" or not self._version:
            raise Refusal(INVALID_PARAMS, f"begin with initialize, or send {_META}protocolVersion in _meta")
        return self._call(method, params, Asker(self._client))

    def _call(self, method: str, params: Params, asker: Asker) -> dict[str, Any]:
        function = self._service.methods.get(method)
        if function is None:
            raise _unknown(method)
        if method.endswith("/list") and params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "there is no such cursor: each list is whole")
        return function(params, asker)


def error(identifier: Id | None, refusal: Refusal) -> dict[str, Any]:
    """A refusal as a message."""
    told: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        told["data"] = refusal.data
    return {"jsonrpc": "2.0", "id": identifier, "error": told}


def is_id(value: Any) -> bool:
    """Whether a value can be the id of a request."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def name_of(info: Any) -> str:
    """The name in what a client tells of itself; "" for none."""
    name = info.get("name") if isinstance(info, dict) else None
    return name[:200] if isinstance(name, str) else ""


def read(line: bytes) -> Any:
    """The message of a line; a Refusal, as a value, for what is no JSON."""
    import json

    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Refusal(PARSE_ERROR, "this line is no JSON in UTF-8")


def write(message: Any) -> bytes:
    """A message as a line. Half a pair of surrogates, which UTF-8 does not have, becomes a question mark."""
    import json

    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def cancelled(message: Any) -> Id | None:
    """The id of the request that a message takes back; None for any other message."""
    if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
        return None
    params = message.get("params")
    identifier = params.get("requestId") if isinstance(params, dict) else None
    return identifier if is_id(identifier) else None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _unknown(method: str) -> Refusal:
    return Refusal(NO_METHOD, f"there is no method {method[:60]!a}")
