"""What went wrong in hooks: ``hooks.log`` in HARDWON_HOME. A hook must not disturb the agent, so this is the only place that tells.

A line: time, client, moment, cause, and what may be said of it; nothing of a payload. At most one line a minute for one cause, 1 MB in
all: then the older half goes. A line that two processes write while a third cuts the file may be lost.
"""

from __future__ import annotations

import os
from time import gmtime, strftime, time

from hardwon.types import Finding, Value

NAME = "hooks.log"
CEILING = 1_000_000  # bytes
DEGRADED = "degraded"  # the cause of a line that tells of no failure
_RECENT = 8_192  # bytes at the end, in which a line of the last minute is looked for
_LONGEST = 240
_DAY = 86_400


class Failures(Value):
    """``count``: failures of the last 24 hours, one a minute and cause at most; ``by_cause``: theirs; ``last``: the newest lines, oldest
    first. ``degraded``: hooks in that time that answered, but with less than they could have."""

    count: int = 0
    degraded: int = 0
    by_cause: dict[str, int] = {}  # noqa: RUF012 - a value's default is never changed
    last: tuple[str, ...] = ()


def note(home: str, client: str, moment: str, cause: str, message: str = "", now: float = 0.0) -> bool:
    """Append a line; False where the same cause has one in this minute, where there is no HARDWON_HOME (a hook makes none), or where
    it cannot be written. Imports nothing: the deadline's thread calls it. ``now``: seconds since 1970, 0 for the clock's."""
    now = now or time()
    path = os.path.join(home, NAME)
    words = f"{_word(client)} {_word(moment)} {_word(cause)}"
    line = f"{_stamp(now)} {words} {message}".replace("\n", " ").strip()[:_LONGEST]
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return False
    try:
        size = os.fstat(descriptor).st_size
        if _is_known(os.pread(descriptor, _RECENT, max(0, size - _RECENT)).decode("utf-8", "replace"), words, now):
            return False
        os.write(descriptor, f"{line}\n".encode("utf-8", "replace"))
        if size > CEILING:
            _halve(path, descriptor, size)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def read(home: str, now: float = 0.0, last: int = 5) -> Failures:
    """What the log tells of the last 24 hours; nothing where there is none."""
    try:
        with open(os.path.join(home, NAME), "rb") as file:
            lines = file.read(2 * CEILING).decode("utf-8", "replace").splitlines()
    except OSError:
        return Failures()
    since = _stamp((now or time()) - _DAY)
    recent = [line for line in lines if line[:20] >= since and line[19:21] == "Z "]
    failed = [line for line in recent if line.split(" ", 4)[3:4] != [DEGRADED]]
    causes: dict[str, int] = {}
    for line in failed:
        cause = " ".join(line.split(" ", 4)[1:4])
        causes[cause] = causes.get(cause, 0) + 1
    return Failures(len(failed), len(recent) - len(failed), causes, tuple(failed[-last:]))


def findings(home: str) -> list[Finding]:
    """What ``status`` and ``doctor`` say of the last 24 hours; nothing while all is well."""
    failures = read(home)
    if not failures.count:
        return []
    causes = sorted(failures.by_cause.items(), key=lambda one: -one[1])[:3]
    what = "hooks failed within a day: " + ", ".join(f"{cause} ({count})" for cause, count in causes)
    remedy = f"the agents went on without a memory; the last line of the log: {failures.last[-1]}"
    return [Finding("warning", what, os.path.join(home, NAME), remedy)]


def _is_known(tail: str, words: str, now: float) -> bool:
    minutes = {_stamp(now)[:16], _stamp(now - 60)[:16]}
    since = _stamp(now - 60)
    return any(
        line[:16] in minutes and line[:20] > since and (line[21:] == words or line[21:].startswith(f"{words} "))
        for line in tail.splitlines()
    )


def _stamp(at: float) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(at))


def _word(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in text[:40]) or "-"


def _halve(path: str, descriptor: int, size: int) -> None:
    """Keep the newer half, from the beginning of a line."""
    kept = os.pread(descriptor, size, size // 2)
    kept = kept[kept.find(b"\n") + 1 :]
    new = f"{path}.{os.getpid()}"
    other = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            whole = os.write(other, kept) == len(kept)
        finally:
            os.close(other)
        if whole:
            os.replace(new, path)
            new = ""
    finally:
        if new:  # a full disk: the log stays as it is
            os.unlink(new)
