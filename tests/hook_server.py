"""Runs hooks, each in a process of its own, which is forked from this one: Python and the modules are loaded once, not thousands of times.

Usage: ``python -m tests.hook_server CLIENT FIRST LAST FOLDER``. Prints one JSON line a payload: exit code, both outputs.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from hardwon.doors import advice, hooks  # noqa: F401 - loaded before the forks
from hardwon.engine import opening  # noqa: F401
from tests import hook_answers, hook_payloads


def main() -> None:
    """Each payload from FIRST to LAST, with its folder where the memory is."""
    client, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for seed in range(first, last):
        raw = hook_payloads.spoilt(client, seed).replace(b"/home/ann/shop", folder.encode())
        print(json.dumps(one(client, raw) | {"seed": seed}), flush=True)


def one(client: str, raw: bytes) -> dict[str, object]:
    """One hook: what it printed and how it ended, and what was wrong with that."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(raw)
        given.seek(0)
        child = os.fork()
        if not child:
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            os._exit(hooks.run([client], os.environ))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        said, complained = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
    try:
        value = json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        value = None
    asked = "vscode" if client == "claude-code" and isinstance(value, dict) and "hook_event_name" not in value else client
    return {
        "code": code,
        "out": said[:500],
        "err": complained[:500],
        "problem": hook_answers.problem(asked, hook_answers.event_name(asked, value), said, complained, code),
    }


if __name__ == "__main__":
    main()
