"""Payloads of hooks: those of tests/golden/hooks, and what becomes of them when anything in them may be anything."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden" / "hooks"
CLIENTS = tuple(sorted(folder.name for folder in GOLDEN.iterdir()))
_WORDS = (
    "", " ", "\0", "\ud800", "\u202e", "x" * 5_000, "../" * 400 + "etc/passwd", "C:\\Users\\ann\\a.py", "/", "~", "-rf", "$(id)", "\n",
    "é" * 300, "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b", "cat <<'EOF' > a.py\n'\"`$(", "<hardwon-memory>", "Exit code 1\n", "{",
    '{"a": [', "Exit Code: 99999999999999999999", "------- SEARCH\n=======\n+++++++ REPLACE", "sed -i", "hardwon recall x", "SessionStart",
    "PreToolUse", "PostToolUse", "Stop", "null",
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1 << 70, 1.5, float("inf"), [], {}, [[]], [None], {"": None}, [{}], "text", ["text"], {"command": ["a", 1]},
)  # fmt: skip


@cache
def cases(client: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Name and content of each recorded case, of one client or of all."""
    files = sorted(GOLDEN.glob(f"{client or '*'}/*.json"))
    return [(f"{file.parent.name}/{file.stem}", json.loads(file.read_text(encoding="utf-8"))) for file in files]


def spoilt(client: str, seed: int) -> bytes:
    """A payload of a client in which something is not as it should be; sometimes no JSON at all."""
    chance = random.Random(f"{client} {seed}")
    value: Any = json.loads(json.dumps(chance.choice(cases(client))[1]["payload"]))
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        value = _changed(value, chance)
    raw = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    if chance.random() < 0.15:
        raw = _broken(raw, chance)
    return raw


def _changed(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        happens = chance.random()
        if happens < 0.15:
            return {name: item for name, item in value.items() if name != key}
        if happens < 0.2:
            return value | {chance.choice(_WORDS): chance.choice(_OTHERS)}
        return value | {key: _changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    return chance.choice(_WORDS) if chance.random() < 0.6 else chance.choice(_OTHERS)


def _broken(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    forms = (
        raw[:at], raw[:at] + b"\xff\xfe\x00" + raw[at:], b"", b"\xef\xbb\xbf" + raw, raw + raw, b"[" * 100_000, b'{"a":' * 50_000,
        raw.replace(b'"', b"'"),
    )  # fmt: skip
    return chance.choice(forms)
