"""What a hook costs at each moment of a session, in CPU time against a bare interpreter (aims: 3 for tools, 5 for a prompt).

The memory holds changes and lessons as in speed.py, and lessons on functions of a real working tree, which the tool events edit. Each
round is a session of its own: start, prompt, an edit before and after, commands before and after, stop; a bare interpreter runs in
turns with them. Ids have the shape of real ones, which look like secrets. A hook must say something where there is something to say,
else the round is refused.

Examples::

    python bench/hooks.py --memories 2000 --rounds 5
    python bench/hooks.py --memories 20000 --json hooks.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from typing import Any

import filler
from common import Run, report, run, say, table, write_json
from hardwon.types import Anchor, Draft, Origin, Scope
from speed import _LESSONS, Bench, _against, fill

_BARE = "python -c pass"
_FILES, _FUNCTIONS = 40, 12
_PLAIN = "pkg/plain.py"  # of which nothing is known
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
_SPEAKS = ("SessionStart", "UserPromptSubmit", "PreToolUse edit")


def tree(bench: Bench) -> list[tuple[str, str]]:
    """A working tree of Python files, committed and indexed; each function with its file."""
    places = []
    for number in range(_FILES):
        path = f"pkg/part{number % 7}/module{number}.py"
        names = [f"handle_{number}_{at}" for at in range(_FUNCTIONS)]
        os.makedirs(os.path.dirname(os.path.join(bench.work, path)), exist_ok=True)
        with open(os.path.join(bench.work, path), "w", encoding="utf-8") as file:
            file.writelines(
                f"def {name}(value):\n    first = value + {at}\n    return first * 2\n\n\n" for at, name in enumerate(names)
            )
        places += [(path, name) for name in names]
    with open(os.path.join(bench.work, _PLAIN), "w", encoding="utf-8") as file:
        file.write("def plain(value):\n    return value\n")
    git = ["git", "-C", bench.work, "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Add the package"], check=True)
    bench.run("ingest", "git")
    bench.run("ingest", "code")
    engine = bench.engine()
    for path, name in places[::3]:
        draft = Draft(f"{name} breaks when value is None", kind="lesson", outcome="failed", anchors=(Anchor(path, name),))
        engine.record(draft, Scope(Origin("person")))
    engine.close()
    return places[::3]


def events(bench: Bench, place: tuple[str, str], task: str, number: int) -> dict[str, dict[str, Any]]:
    """The payloads of one round, in order."""
    path, name = place
    at = name.rpartition("_")[2]
    source = random.Random(f"{name} {number} {bench.work}")

    def call() -> str:
        return "toolu_01" + "".join(source.choices(_LETTERS, k=22))

    session = str(uuid.UUID(int=source.getrandbits(128), version=4))
    common = {"session_id": session, "transcript_path": "/none.jsonl", "cwd": bench.work, "permission_mode": "default"}
    given = {
        "file_path": os.path.join(bench.work, path),
        "old_string": f"    first = value + {at}\n",
        "new_string": "    first = value\n",
    }
    edit = {"tool_name": "Edit", "tool_use_id": call(), "tool_input": given}
    quiet = {
        "file_path": os.path.join(bench.work, _PLAIN),
        "old_string": "    return value\n",
        "new_string": "    return -value\n",
    }
    shell = {
        "tool_name": "Bash",
        "tool_use_id": call(),
        "tool_input": {"command": f"python -m pytest -q {path} 2>&1 | tail -5"},
    }
    look = {"tool_name": "Bash", "tool_use_id": call(), "tool_input": {"command": "git status --short && ls pkg"}}
    green = {"stdout": f"collected 3 items\n\n{path} ...  [100%]\n\n3 passed in 0.02s", "stderr": "", "interrupted": False}
    failure = f"Exit code 1\nFAILED {path}::test_{name} - TypeError: unsupported operand\n1 failed in 0.01s"
    moments = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": task},
        "PreToolUse edit": edit,
        "PreToolUse edit of what nothing is known of": edit | {"tool_use_id": call(), "tool_input": quiet},
        "PostToolUse edit": edit | {"tool_response": {"filePath": given["file_path"]}},
        "PreToolUse command": shell,
        "PostToolUse command": look
        | {"tool_response": {"stdout": f" M {path}\npart0  part1", "stderr": "", "interrupted": False}},
        "PostToolUse tests": shell | {"tool_use_id": call(), "tool_response": green},
        "PostToolUseFailure tests": shell | {"error": failure, "is_interrupt": False},
        "PreToolUse read": {"tool_name": "Read", "tool_use_id": call(), "tool_input": {"file_path": given["file_path"]}},
        "Stop": {"stop_hook_active": False, "last_assistant_message": "Done."},
    }
    return {moment: common | {"hook_event_name": moment.partition(" ")[0]} | more for moment, more in moments.items()}


def hook(bench: Bench, payload: dict[str, Any], folder: str) -> tuple[Run, str]:
    """One hook, and what it said. The shell only hands the file on: it becomes the program."""
    given, told = os.path.join(folder, "payload.json"), os.path.join(folder, "answer.json")
    with open(given, "w", encoding="utf-8") as file:
        json.dump(payload, file)
    started = ["sh", "-c", 'exec "$0" hook claude-code < "$1" > "$2"', bench.command, given, told]
    done = run(started, bench.environment)
    with open(told, encoding="utf-8") as file:
        return done, file.read()


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Fill a memory, then the rounds."""
    bench = Bench(folder, options.product)
    bench.environment |= {"HARDWON_HOOK_MS": "60000", "HARDWON_BACKGROUND": "off"}
    written = round(options.memories * _LESSONS)
    known = list(filler.changes([], options.memories - written, options.seed))
    engine = bench.engine()
    say(f"filling the store: {len(known)} changes, {written} lessons")
    fill(engine, known, written, options.seed)
    engine.close()
    places = tree(bench)
    source, runs, spoken = random.Random(options.seed), {}, dict.fromkeys(_SPEAKS, 0)
    for number in range(options.rounds + 1):
        place, other = source.sample(places, 2)  # what the prompt has told is not told again before the edit
        task = f"{other[1]} of {other[0]} breaks when its value is None: {known[-1 - number * 7 % len(known)].subject}"
        for moment, payload in events(bench, place, task, number).items():
            bare = run(["sh", "-c", 'exec "$0" -c pass', sys.executable], bench.environment)
            done, said = hook(bench, payload, folder)
            if done.code:
                raise RuntimeError(f"{moment} ended with {done.code}")
            if number:
                runs.setdefault(_BARE, []).append(bare)
                runs.setdefault(moment, []).append(done)
                if moment in spoken:
                    spoken[moment] += "additionalContext" in said
        say(f"round {number} of {options.rounds}")
    if min(spoken.values()) < options.rounds * 0.8:
        raise RuntimeError(f"hooks that should have spoken were silent: {spoken} of {options.rounds}")
    log = os.path.join(bench.home, "hooks.log")
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            raise RuntimeError(f"hooks failed: {file.read()[:2000]}")
    return {"memories": len(known) + written + len(places), "hooks": _against(runs, _BARE), "spoke": spoken}


def main(words: Sequence[str] | None = None) -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = os.path.join(os.path.dirname(sys.executable), "hardwon")
    parser.add_argument(
        "--product", default=beside, metavar="COMMAND", help="the product's command (default: this environment's)"
    )
    parser.add_argument("--memories", type=int, default=20_000, metavar="N", help="size of the store (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="sessions (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    head = ("moment", "CPU ms median", "min", "ratio of medians", "of minima", "peak MB")
    print(table(head, [(name, *cells.values()) for name, cells in found["hooks"].items()]))
    write_json(options.json, report("hooks", options.seed, [], found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
