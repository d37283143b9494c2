"""``hardwon mcp`` as a process: its pipe, its end, its neighbours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.doors import mcp_protocol
from hardwon.doors.mcp import serve
from hardwon.doors.mcp_lines import LONGEST, Lines
from hardwon.doors.mcp_methods import Methods
from hardwon.doors.mcp_protocol import Connection, cancelled
from hardwon.settings import load
from hardwon.store.lock import FileLock
from tests.mcptalk import NEW, Server, hello, request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    with Server(project) as started:
        started.ask(hello())
        yield started


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        os.kill(pid, 0)
        return True
    return state != "Z"


def ends(pid: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_alive(pid)


# The pipe


def test_bad_lines_never_end_it(server: Server) -> None:
    server.send(
        b"nonsense\n",
        b"\n",
        b"   \n",
        b"\xff\xfe\n",
        b"[" * 50_000 + b"\n",
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        request(2, "ping"),
    )
    answers = [server.read() for _ in range(4)]
    assert [answer["error"]["code"] for answer in answers[:3]] == [-32700] * 3
    assert answers[3]["id"] == 2


def test_a_line_may_come_in_pieces_and_several_at_once(server: Server) -> None:
    line = json.dumps(request(1, "ping")).encode() + b"\n"
    for byte in line:
        server.send(bytes([byte]))
    assert server.read()["id"] == 1
    server.send(*(request(number, "ping") for number in range(2, 40)))
    assert [server.read()["id"] for _ in range(2, 40)] == list(range(2, 40))


@pytest.mark.slow
def test_a_line_that_is_too_long_is_refused_and_passed_over(server: Server) -> None:
    piece = b"x" * 1_000_000
    for _ in range(LONGEST // len(piece) + 3):
        server.send(piece)
    server.send(b"\n", request(1, "ping"))
    told = server.read()
    assert (told["id"], told["error"]["code"]) == (None, -32600)
    assert server.read()["id"] == 1
    status = Path(f"/proc/{server.process.pid}/status")
    if status.exists():
        (peak,) = (int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        assert peak < 5 * LONGEST // 1024 + 100_000  # kB


def test_a_request_that_was_taken_back_before_its_turn_is_not_answered(server: Server) -> None:
    server.send(
        request(1, "tools/list"), request(2, "tools/list"), request("2", "ping"),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}, request(3, "ping"),
    )  # fmt: skip
    assert [server.read()["id"] for _ in range(3)] == [1, "2", 3]


def test_an_id_that_was_taken_back_may_be_used_again(server: Server) -> None:
    back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    server.send(back, request(2, "ping"), request(3, "ping"))
    assert [server.read()["id"] for _ in range(2)] == [2, 3]
    server.send(request(2, "tools/list"), back, back, request(2, "ping"), request(4, "ping"))
    assert [server.read() for _ in range(2)] == [{"jsonrpc": "2.0", "id": number, "result": {}} for number in (2, 4)]


def test_of_many_requests_at_once_each_costs_the_same(project: Path) -> None:
    """Bytes that are looked at are counted, not time: what waits is not gone through again for each answer."""
    looked = 0

    class Pipe:
        """All requests are there at once."""

        def __init__(self, count: int) -> None:
            self.sent: list[bytes | None] = [json.dumps(request(number, "ping")).encode() for number in range(count)]
            self.answers = 0

        def wait(self) -> list[bytes | None]:
            sent, self.sent = self.sent, []
            return sent

        def more(self) -> list[bytes | None]:
            return []

        def write(self, line: bytes) -> None:
            self.answers += 1

    def counted(message: Any) -> Any:
        nonlocal looked
        looked += 1
        return cancelled(message)

    pipe = Pipe(500)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mcp_protocol, "cancelled", counted)
        serve(Connection(Methods(load(), str(project)).service(), lambda fault: None), pipe)  # type: ignore[arg-type]
    assert pipe.answers == 500
    assert looked <= 2 * 500


@pytest.mark.slow
def test_pipes_that_do_not_block_are_waited_for(project: Path) -> None:
    """As some runtimes hand them on; the client reads late, so that the pipe is full meanwhile."""
    (its_input, keys), (page, its_output) = os.pipe(), os.pipe()
    for descriptor in (its_input, its_output):
        os.set_blocking(descriptor, False)
    with subprocess.Popen(
        [sys.executable, "-m", "hardwon", "mcp"], cwd=project, stdin=its_input, stdout=its_output, stderr=subprocess.PIPE
    ) as process:
        os.close(its_input)
        os.close(its_output)
        sent = [hello(), *(request(number, "tools/list") for number in range(1, 13))]
        os.write(keys, b"".join(json.dumps(one).encode() + b"\n" for one in sent))
        time.sleep(1)
        os.close(keys)
        with os.fdopen(page, "rb") as reading:
            answers = reading.read().splitlines()
        assert (process.wait(10), process.stderr.read() if process.stderr else b"") == (0, b"")
    assert [json.loads(answer)["id"] for answer in answers] == list(range(13))


def test_nothing_but_the_protocol_is_on_its_output(project: Path) -> None:
    """Neither a print nor git, which a tool starts, reaches the pipe."""
    code = (
        "import sys; sys.argv = ['hardwon', 'mcp']\n"
        "from hardwon.doors import cli, tool_answers\n"
        "real = tool_answers.TELLS['status']\n"
        "def loud(call):\n"
        "    import os, subprocess\n"
        "    print('loud'); sys.stdout.flush(); subprocess.run(['sh', '-c', 'cat; echo louder'])\n"
        "    assert sys.stdin.read() == ''\n"
        "    return real(call)\n"
        "tool_answers.TELLS['status'] = loud\n"
        "sys.exit(cli.main())"
    )
    lines = [hello(), request(1, "tools/call", {"name": "status"}), request(2, "ping")]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    done = subprocess.run([sys.executable, "-c", code], cwd=project, input=sent, capture_output=True, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1, 2]
    assert b"loud\n" in done.stderr and b"louder\n" in done.stderr


@pytest.mark.slow
def test_an_error_of_our_own_goes_to_standard_error_without_secrets(project: Path) -> None:
    code = (
        "import sys; sys.argv = ['hardwon', 'mcp']\n"
        "from hardwon.doors import cli, tool_answers\n"
        "def broken(call): raise KeyError('password=hunter2secret9')\n"
        "tool_answers.TELLS['status'] = broken\n"
        "sys.exit(cli.main())"
    )
    lines = [hello(), request(1, "tools/call", {"name": "status"}), request(2, "ping")]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    done = subprocess.run([sys.executable, "-c", code], cwd=project, input=sent, capture_output=True, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (told[1]["error"]["code"], told[2]["id"]) == (-32603, 2)
    assert b"KeyError" in done.stderr
    assert b"hunter2secret9" not in done.stdout + done.stderr


def test_a_last_line_without_an_end_is_read_too(project: Path) -> None:
    with Server(project) as server:
        server.send(hello(), json.dumps(request(1, "ping")).encode())
        code, out, err = server.end()
    assert (code, err) == (0, b"")
    assert [json.loads(line)["id"] for line in out.splitlines()] == [0, 1]


def test_lines_are_whole_wherever_they_are_cut() -> None:
    source, client = os.pipe()
    lines = Lines(source, client)
    try:
        os.write(client, b"one\n\ntwo\nthr")
        assert lines.wait() == [b"one", b"two"]
        assert lines.more() == []
        os.write(client, b"ee\nfour\n")
        assert lines.more() == [b"three", b"four"]
        os.write(client, b"last")
        os.close(client)
        client = -1
        assert lines.wait() == [b"last"]
        assert lines.wait() == []
    finally:
        os.close(source)
        if client >= 0:
            os.close(client)


# Its end


def test_it_ends_when_the_client_closes_the_pipe(project: Path) -> None:
    with Server(project) as server:
        server.ask(hello())
        assert server.end(10) == (0, b"", b"")
    with Server(project) as server:
        assert server.end(10) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_a_signal(project: Path, number: signal.Signals) -> None:
    with Server(project) as server:
        server.ask(hello())
        server.process.send_signal(number)
        assert server.process.wait(10) == 0
        assert server.end() == (0, b"", b"")


@pytest.mark.slow
def test_a_signal_lets_what_is_under_way_be_finished(server: Server, project: Path, home: Path) -> None:
    (store,) = (home / "stores").glob("*.db")
    lock = FileLock(f"{store}.lock")
    lock.acquire(5)
    server.send(request(1, "tools/call", {"name": "remember", "arguments": {"text": "kept to the end"}}))
    waits_for(server.process.pid, f"{store}.lock")
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    lock.release()
    assert server.read()["result"]["structuredContent"]["action"] == "created"
    assert server.process.wait(10) == 0


def waits_for(pid: int, path: str) -> None:
    """Until a process has that file open."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        opened = {os.path.realpath(one) for one in Path(f"/proc/{pid}/fd").iterdir()} if Path("/proc").exists() else {path}
        if path in opened:
            return
        time.sleep(0.01)
    pytest.fail("it never came to the lock")


@pytest.mark.slow
def test_it_ends_where_nobody_reads_its_answers(project: Path) -> None:
    with Server(project) as server:
        server.ask(hello())
        assert server.process.stdout
        server.process.stdout.close()
        server.send(request(1, "tools/list"))
        assert server.process.wait(10) == 0


# A client that starts a server, says its process id and waits to be killed. ``hold``: something else keeps the pipe's other end open.
CLIENT = """
import os, subprocess, sys, time
source, sink = os.pipe()
os.set_inheritable(sink, True)
server = subprocess.Popen([sys.executable, "-m", "hardwon", "mcp"], stdin=source, stdout=subprocess.PIPE)
os.close(source)
holder = subprocess.Popen(["sleep", "60"], close_fds=False, stdout=subprocess.DEVNULL) if sys.argv[1] == "hold" else None
os.write(sink, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
server.stdout.readline()
print(server.pid, holder.pid if holder else 0, flush=True)
time.sleep(60)
"""


def orphaned(project: Path, count: int, how: str) -> tuple[list[int], list[int]]:
    """The servers and the holders of clients that were killed with -9."""
    clients = [
        subprocess.Popen([sys.executable, "-c", CLIENT, how], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    told = []
    for client in clients:
        assert client.stdout
        told.append([int(word) for word in client.stdout.readline().split()])
    for client in clients:
        client.kill()
        client.communicate()
    return [servers for servers, _ in told], [holder for _, holder in told if holder]


@pytest.mark.slow
def test_twenty_killed_clients_leave_no_server(project: Path) -> None:
    servers, _ = orphaned(project, 20, "plain")
    assert len(servers) == 20
    assert [pid for pid in servers if not ends(pid, 10)] == []


@pytest.mark.slow
def test_a_killed_client_leaves_no_server_though_another_process_holds_the_pipe(project: Path) -> None:
    servers, holders = orphaned(project, 3, "hold")
    try:
        assert all(map(is_alive, holders))
        assert [pid for pid in servers if not ends(pid, 30)] == []
    finally:
        for pid in holders:
            os.kill(pid, signal.SIGKILL)


# Its neighbours


@pytest.mark.slow
def test_it_holds_nothing_between_two_calls(server: Server, home: Path) -> None:
    assert not server.tool("remember", text="a fact")["isError"]
    assert not server.tool("recall", task="why do we retry uploads twice?")["isError"]
    if Path("/proc").exists():
        opened = [os.path.realpath(one) for one in Path(f"/proc/{server.process.pid}/fd").iterdir()]
        assert [path for path in opened if path.startswith(str(home))] == []


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["0.3", "600"])
def test_it_waits_its_turn_and_not_for_ever(project: Path, home: Path, wait: str) -> None:
    """However long the person is ready to wait: a client gives up on a tool sooner."""
    with Server(project, HARDWON_WAIT=wait) as server:
        server.ask(hello())
        spooled_and_taken_in(server, home)


def spooled_and_taken_in(server: Server, home: Path) -> None:
    (store,) = (home / "stores").glob("*.db")
    lock = FileLock(f"{store}.lock")
    lock.acquire(5)
    try:
        spooled = server.tool("remember", text="said while another wrote")
        assert spooled["structuredContent"]["action"] == "spooled"
        assert "waits" in spooled["content"][0]["text"]
        assert server.tool("forget", id="9c")["isError"]
        assert not server.tool("recall", task="why do we retry uploads twice?")["isError"]
    finally:
        lock.release()
    assert server.tool("remember", text="said afterwards")["structuredContent"]["action"] == "created"
    found = server.tool("recall", kind="fact")["structuredContent"]["block"]
    assert "said while another wrote" in found


@pytest.mark.slow
def test_servers_and_commands_write_at_once_and_lose_nothing(project: Path, call: Callable[..., Result]) -> None:
    servers = [Server(project) for _ in range(3)]
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "hardwon", "record", f"by command {number}"], cwd=project, stdout=subprocess.DEVNULL
        )
        for number in range(6)
    ]
    told: list[Any] = []
    for server in servers:
        server.send(hello(), *(request(number, "tools/call", remembering(server, number)) for number in range(1, 21)))
    for server in servers:
        assert server.read()["id"] == 0
        told += [server.read()["result"]["structuredContent"] for _ in range(20)]
        assert server.end()[0] == 0
    assert [command.wait(60) for command in commands] == [0] * 6
    assert {one["action"] for one in told} <= {"created", "spooled"}
    call("record", "the last one")
    assert call("stats", "--json").data["memories"]["fact"] == 67
    assert len({one["id"] for one in told}) == 60
    assert call("verify").code == 0


def remembering(server: Server, number: int) -> dict[str, Any]:
    return {"name": "remember", "arguments": {"text": f"by server {server.process.pid}, {number}"}}


def test_a_name_that_is_not_registered_is_told_at_once(project: Path) -> None:
    with Server(project, "-p", "nobody") as server:
        code, out, err = server.end()
    assert (code, out) == (2, b"")
    assert b"nobody" in err


def test_it_starts_where_there_is_no_memory_and_leaves_nothing(tmp_path: Path, home: Path) -> None:
    with Server(tmp_path) as server:
        assert server.ask(request(1, "server/discover", era=NEW))["result"]["supportedVersions"] == [NEW]
        assert server.ask(request(2, "tools/list", era=NEW))["result"]["tools"]
        assert server.end() == (0, b"", b"")
    assert not home.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_list_of_tools_loads_no_store_no_rules_and_no_sdk(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['hardwon', 'mcp']\n"
        "from hardwon.doors import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in (hello(), request(1, "tools/list")))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, input=sent, capture_output=True, check=True)
    loaded = set(done.stderr.decode().split())
    for name in (
        "mcp", "pydantic", "asyncio", "click", "numpy", "apsw", "subprocess", "typing", "dataclasses", "pathlib", "threading", "hashlib",
        "kingfisher_sdk", "hardwon.engine.core", "hardwon.intake.redact", "hardwon.doors.whole_verbs",
    ):  # fmt: skip
        assert name not in loaded, name
