"""What ``status`` says of space: how large the log is and who keeps it so, and what ``compact`` could give back."""

from __future__ import annotations

import os

from hardwon.doors import render
from hardwon.store.beside import aside
from hardwon.store.ceiling import is_full, log_bytes, readers
from hardwon.store.compaction import free_bytes
from hardwon.store.holders import told
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine

# Bytes that can be given back, and their share of the file, from which that is worth saying.
_MUCH, _SHARE = 10 << 20, 0.25
# What was put aside, by what its name holds: in words, and what to do with it.
_ASIDE = {
    ".kept-": (
        "the store that was replaced is kept",
        "`hardwon restore {}` takes it back; delete it when you are sure that you need it no more",
    ),
    ".before-step-": ("the store from before an upgrade is kept", "delete it when you are sure that you need it no more"),
    ".part": ("a file was not finished: its process was killed", "delete it"),
}
_IN_THE_MAKING = 3600  # seconds for which an unfinished file may be one that somebody is writing
_NAMED = 10
_LONG_LOG = 16 << 20  # a commit that finds more than a megabyte moves it, unless a reader or the disk hinders it


def figures(engine: Engine, *, readable: bool) -> tuple[int, int]:
    """Bytes of the log, and bytes that can be given back (0 where the store cannot be read)."""
    return log_bytes(engine.store.path), free_bytes(engine.store) if readable else 0


def findings(engine: Engine, *, readable: bool) -> list[Finding]:
    """A log that grows, and space that could be given back."""
    path = engine.store.path
    log, free = figures(engine, readable=readable)
    found = [_long_log(path, log)] if log > _LONG_LOG else []
    found += _put_aside(path, engine.clock())
    if free > _MUCH and free > _SHARE * os.path.getsize(path):
        found.append(Finding("note", f"{free / 1e6:.0f} MB of the store are free", path, "run `hardwon compact`"))
    return found


def _put_aside(path: str, now: int) -> list[Finding]:
    """Files beside the store that take room, and that nothing but a person removes."""
    found = []
    for name in aside(path):
        try:
            state = os.stat(name)
        except FileNotFoundError:
            continue
        end = next(end for end in _ASIDE if end in name)
        age = max(0, now // 1000 - int(state.st_mtime))
        if end == ".part" and age < _IN_THE_MAKING:
            continue
        what, remedy = _ASIDE[end]
        size = f"{state.st_size / 1e6:.1f} MB, {render.plural(age // 86_400, 'day', 'days')} old"
        found.append(Finding("note", f"{what} ({size})", name, remedy.format(os.path.basename(name))))
    more = len(found) - _NAMED
    if more > 0:
        found[_NAMED:] = [Finding("note", f"{more} more files were put aside", os.path.dirname(path), "look at the folder")]
    return found


def _long_log(path: str, size: int) -> Finding:
    """Red once writes are refused for it."""
    who = told(readers(path), "")
    what = f"{size / 1e6:.0f} MB of log could not be moved into the store" + (f": {who} reads it" if who else "")
    remedy = f"end {who}" if who else "end whoever reads it for long, and look at the disk: `hardwon verify`"
    if is_full(path):
        return Finding("error", f"{what}; nothing more is written into it until it is", path + "-wal", remedy)
    return Finding("warning", what, path + "-wal", remedy)


def described(size: int, log: int, free: int) -> str:
    """The store's size in words, with what of it is log and what is free, from a tenth of a megabyte."""
    parts = [f"{name} {count / 1e6:.1f}" for name, count in (("log", log), ("free", free)) if count >= 100_000]
    return f"{size / 1e6:.1f} MB" + (f", of which {', '.join(parts)}" if parts else "")
