"""What is confirmed here goes into files of the repository, and what others put there comes in: as an import, until approved here."""

from __future__ import annotations

import os

from hardwon.engine import exchange
from hardwon.errors import InvalidInput
from hardwon.importers import shared
from hardwon.types import Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.engine.core import Engine
    from hardwon.engine.exchange import ImportReport
    from hardwon.importers.source import Incoming
    from hardwon.store.base import Reader
    from hardwon.types import ExportedMemory, Memory, Scope, Trust

# What a person vouched for: what goes to others is approved. A test that passed has read none of the words.
TRUSTS: tuple[Trust, ...] = ("confirmed",)
_KINDS = ("decision", "rule", "fact", "howto", "lesson", "attempt")


class ShareReport(Value):
    """What sharing did or, ``dry``, would do: names of files (relative to the repository) that were ``written`` and ``removed``;
    how many were ``unchanged``; ``conflicts``: files that say what no version here says, and stay as they are; ``secrets``: memories
    that hold what the rules of today take out, and stay here."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    conflicts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    dry: bool = False


def share(engine: Engine, where: Filter, write: Callable[[str, str], None], *, dry_run: bool) -> ShareReport:
    """Write what is confirmed and matches into the repository's files, and remove those of memories that were set aside here.

    ``write(path, text)`` puts a file into its place. Absent never means delete: a file whose memory is not known here stays.
    InvalidInput outside a working tree, and where the folder is a link.
    """
    root = _root(engine)
    where = where.replace(
        trusts=where.trusts or TRUSTS,
        kinds=where.kinds or _KINDS,
        statuses=("active",),
        paths=tuple(map(engine.relative, where.paths)),
    )
    counts: dict[str, list[str]] = {"written": [], "removed": [], "conflicts": [], "secrets": []}
    unchanged = 0
    kept: set[str] = set()
    for item in exchange.export(engine, where):
        if not item.versions or item.memory.number is None:
            continue
        name = f"{shared.FOLDER}/{item.memory.id}{shared.END}"
        kept.add(name)
        fate, text = _compared(engine, root, name, item)
        if fate == "unchanged":
            unchanged += 1
            continue
        counts[fate].append(name)
        if fate == "written" and not dry_run:
            write(os.path.join(root, name), text)
    for name in _set_aside(engine, root, kept):
        counts["removed"].append(name)
        if not dry_run:
            os.unlink(os.path.join(root, name))
    return ShareReport(**{name: tuple(found) for name, found in counts.items()}, unchanged=unchanged, dry=dry_run)


def _root(engine: Engine) -> str:
    place = engine.home.checkout
    if not place.root or not os.path.isdir(place.root):
        raise InvalidInput("there is no working tree to put files into", field="folder", remedy="run it in the repository")
    for part in (os.path.dirname(shared.FOLDER), shared.FOLDER):
        full = os.path.join(place.root, part)
        if os.path.lexists(full) and (os.path.islink(full) or not os.path.isdir(full)):
            raise InvalidInput(f"{part} is no folder of its own here", field="folder", remedy="move it away, or replace the link")
    return place.root


def _compared(engine: Engine, root: str, name: str, item: ExportedMemory) -> tuple[str, str]:
    """What is to be done with a memory's file (written, unchanged, conflicts, secrets), and its text."""
    text = shared.write(item)
    if engine.bulk.redact(text)[1]:
        return "secrets", text
    full = os.path.join(root, name)
    if not os.path.lexists(full):
        return "written", text
    try:
        there = shared.read_one(full)
    except InvalidInput:
        return "conflicts", text
    if shared.write(there) == text:
        return "unchanged", text
    known = {_said(version.content) for version in item.versions}
    return ("written" if _said(there.memory) in known else "conflicts"), text


def _said(memory: Memory) -> tuple[object, ...]:
    """What a version says, without what only one place knows of it."""
    return memory.kind, memory.outcome, memory.text, memory.detail, memory.code, memory.because, memory.rejected, memory.tags


def _set_aside(engine: Engine, root: str, kept: set[str]) -> list[str]:
    """The files of memories that are known here and are not to be shared any more."""
    names = [f"{shared.FOLDER}/{name}" for name in shared.names(root)]
    asked = [name for name in names if name not in kept]
    if not asked:
        return []
    with engine.store.read() as reader:
        return [name for name in asked if _is_set_aside(reader, shared.identifier(name))]


def _is_set_aside(reader: Reader, identifier: str) -> bool:
    if not identifier:
        return False
    return any(
        memory.status != "active" or memory.erased or memory.visibility == "private" for memory in reader.get([identifier])
    )


def ingest(engine: Engine, scope: Scope, *, dry_run: bool = False) -> ImportReport:
    """Take in what the repository's files hold: ``imported``, until it is approved here. Idempotent; nothing is removed by it, and
    nothing that is believed here is changed."""
    root = engine.place.checkout.root if engine.place else ""
    now = engine.clock()
    incoming = (_not_ahead(one, now) for one in shared.read(root)) if root else iter(())
    return exchange.import_memories(engine, incoming, scope, dry_run=dry_run, redact=engine.bulk.redact_draft, shared=True)


def _not_ahead(one: Incoming, now: int) -> Incoming:
    """What is newer than anything here can be would stand before all of it for years."""
    if one.item is None or one.item.memory.created_at <= now:
        return one
    memory = one.item.memory.replace(created_at=now, updated_at=now)
    dated: Incoming = one.replace(item=one.item.replace(memory=memory))
    return dated
