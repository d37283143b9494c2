"""What a client's hook hands over, as an event, and what it is told, in its own form: the dialects are asked here."""

from __future__ import annotations

import sys

from hardwon.agents.answers import SILENCE, Answer, Say
from hardwon.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.agents.table import Client
    from hardwon.capture.event import Event


def parse(raw: bytes) -> dict[str, object]:
    """The object that stands on standard input; ValueError for anything else."""
    value = loads(raw)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def read(payload: dict[str, object], client: Client, environment: Mapping[str, str], now: int) -> Event | None:
    """What happened; None where a client has no hooks, the payload is of no use, or another hook of ours acts on it.
    ``now``: milliseconds since 1970."""
    event: Event | None = _dialect(client).read(payload, environment, now) if client.dialect else None
    return event


def answer(payload: dict[str, object], client: Client, event: Event, say: Say) -> Answer:
    """What the process prints and how it exits, for what is to be said at an event."""
    told: Answer = _dialect(client).answer(payload, event, say)
    return told


def nothing(client: Client) -> Answer:
    """The answer of a hook that has nothing to say, for whatever reason."""
    empty: Answer = getattr(_dialect(client), "NOTHING", SILENCE) if client.dialect else SILENCE
    return empty


def _dialect(client: Client) -> Any:
    name = f"hardwon.agents.dialects.{client.dialect}"
    __import__(name)
    return sys.modules[name]
