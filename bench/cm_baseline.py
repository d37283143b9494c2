"""Code Memory's design as a script of its own: two tables, one SQLite file, the standard library only.

The product grew from that idea: failures and successes by symbol, a risk score, exact match and LIKE. It is written here from the
description alone, as the plain thing to be measured against: WAL, a busy timeout of 5 seconds, one transaction a command.

Examples::

    python bench/cm_baseline.py --db cm.db -p shop fail Payment.process "double charge" --file pay/processor.py -d "lock the row"
    python bench/cm_baseline.py --db cm.db -p shop query Payment.process --inject
    python bench/cm_baseline.py --db cm.db -p shop --json stats
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Sequence
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS symbols (
    id INTEGER PRIMARY KEY, project TEXT NOT NULL, file TEXT NOT NULL DEFAULT '', name TEXT NOT NULL,
    fail_count INTEGER NOT NULL DEFAULT 0, success_count INTEGER NOT NULL DEFAULT 0,
    last_fail REAL, last_success REAL, risk_score REAL NOT NULL DEFAULT 0, UNIQUE (project, file, name)
);
CREATE TABLE IF NOT EXISTS experiences (
    id INTEGER PRIMARY KEY, symbol_id INTEGER NOT NULL REFERENCES symbols (id), type TEXT NOT NULL,
    lesson TEXT NOT NULL, detail TEXT, session_id TEXT, status TEXT NOT NULL DEFAULT 'active', created_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS experiences_symbol ON experiences (symbol_id);
"""
_SECRET = re.compile(r"(?i)\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|AKIA[0-9A-Z]{16}|bearer\s+[\w.-]{16,})")
_DAY = 86_400
_LEVELS = ((15.0, "high"), (10.0, "caution"), (5.0, "normal"), (0.0, "low"))
_INJECT_AT = 10.0


def connect(path: str) -> sqlite3.Connection:
    """Open the file, made with its tables if it is new."""
    db = sqlite3.connect(path, timeout=5, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA foreign_keys = ON")
    if db.execute("PRAGMA user_version").fetchone()[0] != 2:
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = 2; COMMIT;")
    return db


def normal(file: str) -> str:
    """Slashes, no dots, relative to the working folder."""
    if not file:
        return ""
    path = os.path.normpath(file.replace("\\", "/"))
    return os.path.relpath(path).replace("\\", "/") if os.path.isabs(path) else path


def record(db: sqlite3.Connection, project: str, kind: str, symbol: str, lesson: str, **more: str) -> dict[str, Any]:
    """Keep a failure or a success; returns after the commit."""
    now = time.time()
    key = (project, normal(more.get("file", "")), symbol)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT OR IGNORE INTO symbols (project, file, name) VALUES (?, ?, ?)", key)
    found = db.execute("SELECT id FROM symbols WHERE project = ? AND file = ? AND name = ?", key).fetchone()["id"]
    words = [_SECRET.sub("[REDACTED]", text) for text in (lesson, more.get("detail", ""))]
    values = (found, kind, *words, more.get("session", ""), now)
    db.execute(
        "INSERT INTO experiences (symbol_id, type, lesson, detail, session_id, created_at) VALUES (?, ?, ?, ?, ?, ?)", values
    )
    _recount(db, found, now)
    row = dict(db.execute("SELECT * FROM symbols WHERE id = ?", (found,)).fetchone())
    db.execute("COMMIT")
    return row


def _recount(db: sqlite3.Connection, symbol: int, now: float) -> None:
    rows = db.execute(
        "SELECT type, created_at FROM experiences WHERE symbol_id = ? AND status = 'active' ORDER BY id", (symbol,)
    ).fetchall()
    fails = [row["created_at"] for row in rows if row["type"] == "fail"]
    successes = [row["created_at"] for row in rows if row["type"] == "success"]
    running = 0
    for row in rows:
        running = running + 1 if row["type"] == "fail" else 0
    score = max(0.0, len(fails) + 1.5 * _recency(fails, now) + 1.5 * running - 0.3 * len(successes))
    db.execute(
        "UPDATE symbols SET fail_count = ?, success_count = ?, last_fail = ?, last_success = ?, risk_score = ? WHERE id = ?",
        (len(fails), len(successes), max(fails, default=None), max(successes, default=None), score, symbol),
    )


def _recency(fails: Sequence[float], now: float) -> float:
    if not fails:
        return 0.0
    days = (now - max(fails)) / _DAY
    return 1.0 if days <= 7 else 0.5 if days <= 30 else 0.2


def query(db: sqlite3.Connection, project: str, symbol: str, file: str, top: int, everything: bool) -> list[dict[str, Any]]:
    """Symbols that match partly, with their lessons; the riskiest without a symbol."""
    rows = db.execute(
        "SELECT * FROM symbols WHERE project = ? AND name LIKE ? AND (? = '' OR file = ?) ORDER BY risk_score DESC, name LIMIT ?",
        (project, f"%{symbol}%", file, file, -1 if symbol else top),
    ).fetchall()
    kept = "" if everything else "AND status = 'active'"
    statement = f"SELECT * FROM experiences WHERE symbol_id = ? {kept} ORDER BY created_at DESC, id DESC"
    return [{**dict(row), "experiences": [dict(item) for item in db.execute(statement, (row["id"],))]} for row in rows]


def stats(db: sqlite3.Connection, project: str, symbol: str) -> dict[str, Any]:
    """Counts of a project, or of the symbols that match."""
    row = db.execute(
        "SELECT count(*) AS symbols, coalesce(sum(fail_count), 0) AS fails, coalesce(sum(success_count), 0) AS successes, "
        "coalesce(max(risk_score), 0) AS highest_risk FROM symbols WHERE project = ? AND name LIKE ?",
        (project, f"%{symbol}%"),
    ).fetchone()
    return dict(row)


def level(score: float) -> str:
    """The word for a risk score."""
    return next(word for least, word in _LEVELS if score >= least)


def shown(symbols: Sequence[dict[str, Any]]) -> str:
    """The lessons of symbols for a person."""
    lines = []
    for symbol in symbols:
        score = symbol["risk_score"]
        lines.append(f"  {symbol['name']}")
        lines.append(
            f"  fails: {symbol['fail_count']}  successes: {symbol['success_count']}  risk: {score:.2f} ({level(score)})\n\n"
            f"  experiences ({len(symbol['experiences'])}):"
        )
        for item in symbol["experiences"]:
            day = time.strftime("%Y-%m-%d", time.localtime(item["created_at"]))
            lines.append(f"    {'x' if item['type'] == 'fail' else 'ok'} [{day}] #{item['id']} {item['lesson']}")
            if item["detail"]:
                lines.append(f"      - {item['detail']}")
    return "\n".join(lines) or "  no experiences"


def injected(symbols: Sequence[dict[str, Any]]) -> str:
    """The block for a prompt: only symbols at risk, only what is active."""
    blocks = []
    for symbol in symbols:
        if symbol["risk_score"] >= _INJECT_AT:
            lessons = "\n".join(f"- {item['lesson']}" for item in symbol["experiences"] if item["type"] == "fail")
            title = f"[PAST EXPERIENCE: {symbol['name']} (risk: {symbol['risk_score']:.2f}, {level(symbol['risk_score'])})]"
            blocks.append(f"{title}\n{lessons}\n\nApply these lessons. Do not repeat these mistakes.")
    return "\n\n".join(blocks)


def answer(options: argparse.Namespace) -> tuple[Any, str]:
    """What a command gives: for JSON, and for a person."""
    db = connect(options.db)
    symbol = options.symbol or ""
    if options.command in ("fail", "ok"):
        kind = "fail" if options.command == "fail" else "success"
        more = {"detail": options.detail, "file": options.file, "session": options.session}
        row = record(db, options.project, kind, symbol, options.lesson or "", **more)
        return row, f'{"x" if kind == "fail" else "ok"} recorded: {symbol} - "{options.lesson}" ({row["fail_count"]} fails)'
    if options.command == "query":
        found = query(db, options.project, symbol, normal(options.file), options.top, options.all)
        return {"symbols": found}, injected(found) if options.inject else shown(found)
    figures = stats(db, options.project, symbol)
    return figures, "\n".join(f"  {name}: {value}" for name, value in figures.items())


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line of the original."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", default=os.environ.get("CM_DB", "code-memory.db"), metavar="FILE")
    parser.add_argument("-p", "--project", default="default")
    parser.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("fail", "ok"):
        command = commands.add_parser(name)
        command.add_argument("symbol")
        command.add_argument("lesson", nargs=None if name == "fail" else "?")
        command.add_argument("--detail", "-d", default="")
        command.add_argument("--file", default="")
        command.add_argument("--session", default="")
    command = commands.add_parser("query")
    command.add_argument("symbol", nargs="?")
    command.add_argument("--file", default="")
    command.add_argument("--top", type=int, default=10)
    command.add_argument("--all", action="store_true", help="resolved and inactive lessons as well")
    command.add_argument("--inject", action="store_true", help="only the block for a prompt, at risk 10 and more")
    commands.add_parser("stats").add_argument("symbol", nargs="?")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run one command."""
    options = arguments(words)
    data, text = answer(options)
    print(json.dumps(data, ensure_ascii=False) if options.json else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
