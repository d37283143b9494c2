"""What the clients tell a hook has the form that the recorded payloads have, from which the readers of payloads are tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients import table
from tests.clients.record import record

RECORDED = Path(__file__).parents[1] / "golden" / "payloads"
# What is there at some times only: how many parts a message has, whether a subagent was quicker.
LOOSE = ("event.message.part.updated", "event.message.updated", "event.file")


@pytest.mark.parametrize("client", table.CLIENTS, ids=lambda client: client.label)
def test_payloads_have_the_recorded_form(client: table.Client, commands: Path, tmp_path: Path) -> None:
    record(client, commands, tmp_path / "payloads")
    new, old = shapes(tmp_path / "payloads" / client.label), shapes(RECORDED / client.label)
    assert new == old, "record them again, see docs/testing.md, and look at what has changed"


def shapes(folder: Path) -> dict[str, set[str]]:
    """The names of the fields, by event: of all payloads of that event together."""
    found: dict[str, set[str]] = {}
    for path in folder.glob("*.json"):
        payload = json.loads(path.read_text())
        event = payload.get("hook_event_name") or payload["hook"]
        if not event.startswith(LOOSE):
            found.setdefault(event, set()).update(names(payload))
    return found


def names(payload: dict[str, Any]) -> set[str]:
    """The names of the fields; of OpenCode those of what its functions are given."""
    inner = {key: payload[key] for key in ("input", "output") if "hook" in payload and isinstance(payload.get(key), dict)}
    return set(payload) | {f"{name}.{key}" for name, fields in inner.items() for key in fields}
