"""The rules of the protocol, in both eras, without a memory behind them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.doors import mcp_protocol as protocol
from hardwon.doors.mcp_protocol import HANDSHAKE, Asker, Connection, Refusal, Service, cancelled, read, write
from tests.mcptalk import NEW, OLD, hello, request

SERVER = "io.modelcontextprotocol/serverInfo"


def broken(params: Any, asker: Asker) -> dict[str, Any]:
    raise ZeroDivisionError("nobody foresaw this")


def refusing(params: Any, asker: Asker) -> dict[str, Any]:
    raise Refusal(protocol.INVALID_PARAMS, "not like that")


def asked(params: Any, asker: Asker) -> dict[str, Any]:
    return {"client": asker.client, "modern": asker.modern}


@pytest.fixture
def faults() -> list[BaseException]:
    return []


@pytest.fixture
def connection(faults: list[BaseException]) -> Connection:
    methods = {"tools/list": asked, "tools/call": broken, "prompts/get": refusing, "resources/read": asked}
    return Connection(Service(methods, {"name": "x", "version": "1"}, {"tools": {}}, "do this"), faults.append)


def code(answer: Any) -> int:
    found: int = answer["error"]["code"]
    return found


# The old era


@pytest.mark.parametrize("version", HANDSHAKE)
def test_a_known_version_is_spoken(connection: Connection, version: str) -> None:
    result = connection.answers(hello(version))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "x", "version": "1"}
    assert result["instructions"] == "do this"


@pytest.mark.parametrize("version", ["1999-01-01", "2099-12-31", NEW, "zzz", ""])
def test_of_another_version_the_newest_known_is_offered(connection: Connection, version: str) -> None:
    assert connection.answers(hello(version))["result"]["protocolVersion"] == OLD


def test_before_initialize_only_a_ping_is_answered(connection: Connection) -> None:
    assert connection.answers(request(1, "ping"))["result"] == {}
    assert code(connection.answers(request(2, "tools/list"))) == protocol.INVALID_PARAMS
    assert code(connection.answers(request(3, "no/such"))) == protocol.NO_METHOD
    assert code(connection.answers(request(4, "server/discover"))) == protocol.INVALID_PARAMS
    assert "error" in connection.answers({"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {}})


def test_results_of_the_old_era_carry_nothing_of_the_new(connection: Connection) -> None:
    connection.answers(hello(client="codex-mcp-client"))
    assert connection.answers(request(1, "tools/list"))["result"] == {"client": "codex-mcp-client", "modern": False}
    assert connection.answers(request(2, "logging/setLevel", {"level": "debug"}))["result"] == {}


def test_a_list_of_requests_is_answered_in_the_one_version_that_has_it(connection: Connection) -> None:
    several = [request(1, "ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"}, request(2, "no/such"), 7]
    assert code(connection.answers(several)) == protocol.INVALID_REQUEST
    connection.answers(hello("2025-03-26"))
    answers = connection.answers(several)
    assert [answer["id"] for answer in answers] == [1, 2, None]
    assert connection.answers([several[1]]) is None
    assert code(connection.answers([])) == protocol.INVALID_REQUEST
    connection.answers(hello("2025-06-18"))
    assert code(connection.answers(several)) == protocol.INVALID_REQUEST


# The new era


def test_a_server_tells_of_itself_without_a_handshake(connection: Connection) -> None:
    result = connection.answers(request("a", "server/discover", era=NEW))["result"]
    assert result["supportedVersions"] == [NEW]
    assert result["instructions"] == "do this"
    assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
    assert result["ttlMs"] > 0
    assert result["_meta"] == {SERVER: {"name": "x", "version": "1"}}


def test_each_request_of_the_new_era_stands_for_itself(connection: Connection) -> None:
    for client in ("one", "two"):
        result = connection.answers(request(1, "tools/list", era=NEW, client=client))["result"]
        assert (result["client"], result["modern"], result["resultType"]) == (client, True, "complete")
    read_once = connection.answers(request(1, "resources/read", era=NEW))["result"]
    assert (read_once["ttlMs"], read_once["cacheScope"]) == (0, "private")


def test_what_is_gone_from_the_new_era_is_refused_there(connection: Connection) -> None:
    for method in ("ping", "logging/setLevel", "resources/subscribe", "no/such"):
        assert code(connection.answers(request(1, method, era=NEW))) == protocol.NO_METHOD


def test_an_envelope_has_to_be_whole(connection: Connection) -> None:
    def answer(**meta: Any) -> Any:
        keys = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
        return connection.answers({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": keys}})

    unknown = answer(protocolVersion="2027-01-01", clientCapabilities={})["error"]
    assert unknown["code"] == protocol.UNSUPPORTED_VERSION
    assert unknown["data"] == {"supported": [NEW], "requested": "2027-01-01"}
    assert code(answer(protocolVersion=7, clientCapabilities={})) == protocol.INVALID_PARAMS
    assert code(answer(protocolVersion=NEW)) == protocol.INVALID_PARAMS
    assert code(answer(protocolVersion=NEW, clientCapabilities=[])) == protocol.INVALID_PARAMS
    assert answer(protocolVersion=NEW, clientCapabilities={}, clientInfo=7)["result"]["client"] == ""


def test_both_eras_may_meet_on_one_connection(connection: Connection) -> None:
    assert connection.answers(request(1, "tools/list", era=NEW))["result"]["modern"]
    assert connection.answers(hello())["result"]["protocolVersion"] == OLD
    assert not connection.answers(request(2, "tools/list"))["result"]["modern"]


# Errors


@pytest.mark.parametrize(
    "message",
    [7, "x", None, True, {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 1},
     {"jsonrpc": "2.0", "id": 1, "method": 5}, {"jsonrpc": "2.0", "id": None, "method": "ping"},
     {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, {"jsonrpc": "2.0", "id": True, "method": "ping"},
     {"jsonrpc": "2.0", "id": [1], "method": "ping"}, {"jsonrpc": "2.0", "method": 5}],
)  # fmt: skip
def test_what_is_no_request_is_told_so(connection: Connection, message: Any) -> None:
    assert code(connection.answers(message)) == protocol.INVALID_REQUEST


def test_notifications_and_answers_are_not_answered(connection: Connection) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "no/such", "params": 3},
        {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    ):  # fmt: skip
        assert connection.answers(message) is None


def test_a_list_has_no_second_page(connection: Connection) -> None:
    assert code(connection.answers(request(1, "tools/list", {"cursor": "x"}, era=NEW))) == protocol.INVALID_PARAMS
    assert "result" in connection.answers(request(2, "tools/list", {"cursor": None}, era=NEW))


def test_an_error_of_our_own_is_told_to_both_sides_and_the_connection_goes_on(
    connection: Connection, faults: list[BaseException]
) -> None:
    connection.answers(hello())
    told = connection.answers(request(9, "tools/call"))
    assert (told["id"], code(told)) == (9, protocol.INTERNAL)
    assert "nobody foresaw" not in told["error"]["message"]
    assert [type(fault) for fault in faults] == [ZeroDivisionError]
    assert code(connection.answers(request(10, "prompts/get"))) == protocol.INVALID_PARAMS
    assert code(connection.answers({"jsonrpc": "2.0", "id": 11, "method": "tools/list", "params": []})) == protocol.INVALID_PARAMS
    assert connection.answers(request(12, "ping"))["result"] == {}


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"{",
        b"\xff\xfe",
        b'{"a": NaN}',
        b"[Infinity]",
        b"[" * 100_000,
        b'{"id":' + b"9" * 10_000 + b"}",
        b"\xef\xbb\xbf{}",
    ],
    ids=range(8),
)
def test_a_line_that_is_no_json_is_a_parse_error(connection: Connection, line: bytes) -> None:
    answer = connection.answers(read(line))
    assert (answer["id"], code(answer)) == (None, protocol.PARSE_ERROR)


def test_what_is_written_is_one_line_of_utf8() -> None:
    line = write({"jsonrpc": "2.0", "id": 1, "result": {"text": "a\nb\u2028c \ud800 日本"}})
    assert line.count(b"\n") == 1
    assert json.loads(line.decode())["result"]["text"] == "a\nb\u2028c ? 日本"


def test_who_takes_a_request_back_names_it() -> None:
    assert cancelled({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}) == 3
    for message in (
        7,
        {"method": "notifications/cancelled"},
        {"method": "notifications/cancelled", "params": {"requestId": [3]}},
    ):
        assert cancelled(message) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "_meta"])
_NEARLY = st.dictionaries(
    _KEYS,
    _VALUES | st.sampled_from(["2.0", "tools/list", "initialize", "ping", "server/discover", {"_meta": {}}]),
    max_size=5,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(_NEARLY | _VALUES, max_size=5))
def test_whatever_comes_each_answer_is_a_result_or_an_error(messages: list[Any]) -> None:
    connection = Connection(Service({"tools/list": asked}, {"name": "x"}, {}, ""), pytest.fail)
    for message in messages:
        answer = connection.answers(message)
        for one in answer if isinstance(answer, list) else [answer]:
            assert one is None or (one["jsonrpc"] == "2.0" and ("result" in one) != ("error" in one))
            json.loads(write(one))
