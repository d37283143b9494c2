"""Hundreds of sessions whose clients are processes, and some of which are killed: nothing of ours is left running."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sessionground import RED, SessionGround

_MARK = "HARDWON_TEST_MARK"

# A client: it starts the server of tools, runs hooks one after the other, and ends (or is killed before).
CLIENT = """
import json, subprocess, sys
folder, session, server = sys.argv[1:]
command = [sys.executable, "-m", "hardwon"]
tools = subprocess.Popen([*command, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) if server == "1" else None
edit = {"file_path": folder + "/auth/service.py", "old_string": "return bool(token)", "new_string": "return 1"}
moments = [
    {"hook_event_name": "SessionStart", "source": "startup"},
    {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit, "tool_use_id": "t1"},
    {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "t2",
     "error": "Exit code 1\\n" + RED},
    {"hook_event_name": "SessionEnd", "reason": "exit"},
]
print("ready", flush=True)
for moment in moments:
    payload = json.dumps({"session_id": session, "transcript_path": "", "cwd": folder, **moment}).encode()
    done = subprocess.run([*command, "hook", "claude-code"], cwd=folder, input=payload, stdout=subprocess.PIPE)
    assert done.returncode == 0, done
if tools:
    tools.stdin.close()
    tools.wait(60)
print("done", flush=True)
"""


def _left(mark: str) -> list[str]:
    """Processes that have the mark in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark.encode() in file.read():
                        with open(f"/proc/{entry}/cmdline", "rb") as line:
                            found.append(f"{entry} {line.read()!r}")
            except OSError:
                continue
    return found


def _session(ground: SessionGround, environment: dict[str, str], number: int, patience: float | None) -> bool:
    """Run a client; kill it after a while if ``patience`` (seconds) is given. Whether it came to its end."""
    session = f"0d9d3a52-5f0e-4c1e-9b0b-{number:012}"
    words = [sys.executable, "-c", f"RED = {RED!r}\n{CLIENT}", ground.root, session, str(int(number % 10 == 0))]
    client = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    if patience is not None:
        time.sleep(patience)
        client.send_signal(signal.SIGKILL)
    ended = client.stdout.readline() == "done\n" if patience is None else False
    client.wait(120)
    client.stdout.close()
    return ended


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found in /proc")
def test_sessions_whose_clients_are_killed_leave_no_process(tmp_path):
    ground = SessionGround(tmp_path)
    ground.fail("AuthService.validate", times=3)
    ground.close()
    mark = f"{_MARK}={uuid.uuid4()}"
    environment = {**os.environ, "HARDWON_HOME": ground.home, _MARK: mark.partition("=")[2]}
    chance = random.Random(20)
    killed = set(chance.sample(range(200), 20))
    with ThreadPoolExecutor(4) as crowd:
        jobs = [
            crowd.submit(_session, ground, environment, number, chance.uniform(0, 0.6) if number in killed else None)
            for number in range(200)
        ]
        ended = [job.result() for job in jobs]
    assert sum(ended) == 180
    deadline = time.monotonic() + 60
    while (left := _left(mark)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []
    with ground.engine.work.read() as reader:
        figures = reader.figures()
    assert 180 <= figures["sessions"] <= 200
    # Those that ended have a summary of what still fails; what the killed ones left behind is summed up when another begins.
    ground.now = time.time_ns() // 1_000_000 + 3_600_000
    for number in range(12):
        ground.happens("start", source="startup", session=f"after-{number}")
    summaries = ground.memories(kinds=("summary",))
    log = Path(ground.home) / "hooks.log"
    assert len(summaries) >= 180, log.read_text() if log.exists() else "no hook complained"
    assert len({json.dumps(one.origin.session) for one in summaries}) == len(summaries)
    assert [finding for finding in ground.engine.verify() if finding.level == "error"] == []
