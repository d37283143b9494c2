"""``backup``, ``restore`` and ``repair``, in words. Off the quick path."""

from __future__ import annotations

import os

from hardwon.doors import inputs, render, shapes, waiting
from hardwon.doors.handle import Answer
from hardwon.engine import backup as copies
from hardwon.engine import repair as repairs
from hardwon.engine import restore as restores
from hardwon.errors import InvalidInput
from hardwon.settings import backup_passphrase
from hardwon.store.keys.envelope import Lock, Opener, Passphrase
from hardwon.store.keys.secret import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.backup import Backup
    from hardwon.engine.core import Engine
    from hardwon.engine.repair import RepairReport
    from hardwon.engine.restore import Newer, Restoration
    from hardwon.store.keys.secret import Secret
    from hardwon.store.mending.mend import Lost
    from hardwon.types import Scope

_SHOWN = 20  # lost memories in the answer for a person
_CHECKED = "another process opened it, checked every row and searched it"
# What a repair counts, as a person reads it: one, many.
_MENDED = {
    "memories told from an earlier version": ("memory, as an earlier version has it", "memories, as earlier versions have them"),
    "rows told from the journal": ("memory, from its version and the journal", "memories, from their versions and the journal"),
    "memories with a new number": ("memory with a new number", "memories with new numbers"),
    "versions told from the row": ("version, from its memory", "versions, from their memories"),
    "versions whose entry is gone": ("version whose journal entry is gone", "versions whose journal entries are gone"),
    "earlier versions lost": ("earlier version is lost", "earlier versions are lost"),
    "occurrences told from the journal": ("occurrence, from the journal", "occurrences, from the journal"),
    "occurrences lost": ("occurrence is lost", "occurrences are lost"),
    "occurrences of lost memories": ("occurrence of a lost memory", "occurrences of lost memories"),
}
_SEALED = {
    "": "",
    "key": ", encrypted with the store's key",
    "recipient": ", encrypted",
    "passphrase": ", encrypted with the passphrase",
}


def backup(call: Call) -> Answer:
    """A whole copy in one file."""
    request = call.request
    file = request.text("file")
    if file and request.number("keep", 0):
        raise InvalidInput("--keep is for the default place", field="keep", remedy="leave it out, or name no file")
    chosen = lock(request.texts("encrypt"), _full(call.cwd, request.text("passphrase-file")))
    full = _full(call.cwd, file)
    keep = request.number("keep", copies.KEEP)
    done = made(call.engine, call.settings.home, full, chosen, keep=keep, force=request.flag("force"))
    memories = render.plural(done.memories, "memory", "memories")
    lines = [
        f"wrote {done.file}: {memories}, {done.bytes / 1e6:.1f} MB{_SEALED[done.encrypted]}",
        f"{_CHECKED}; " + (f"its journal ends at {done.seq}, head {done.head[:16]}" if done.seq else "its journal is empty"),
    ]
    if not full:
        older = render.plural(len(done.removed), "older one was removed", "older ones were removed")
        lines.append(f"of the backups in this folder the newest {keep} stay" + (f"; {older}" if done.removed else ""))
    if count := waiting.counted(call.engine):
        lines.append(
            f"not in it: {render.plural(count, 'record that waits', 'records that wait')} in the spool; see `hardwon status`"
        )
    return Answer("\n".join(lines), {**vars(done), "removed": list(done.removed)})


def restore(call: Call) -> Answer:
    """A backup in the store's place, after a yes."""
    request = call.request
    dry, keep = request.flag("dry-run"), request.flag("keep-newer")
    if not (dry or request.flag("yes") or call.can_ask()):
        raise InvalidInput("there is nobody to ask", field="yes", remedy="repeat it with --yes, or look first with --dry-run")
    keys = opener(_full(call.cwd, request.text("identity")), _full(call.cwd, request.text("passphrase-file")))
    file = request.text("file")
    named = file if os.sep not in file and not os.path.exists(_full(call.cwd, file)) else _full(call.cwd, file)
    with restores.candidate(call.engine, call.settings.home, named, keys, force=request.flag("force")) as found:
        would = found.report()
        data = restoration(would)
        if dry:
            return Answer(f"would restore {_backup(would)}\n{_newer(would.newer, keep=keep)}", data)
        question = f"restore {_backup(would)}?\n{_newer(would.newer, keep=keep)}\nThe store that is there now is kept. Go on?"
        if not call.confirmed(question):
            return Answer("nothing was restored", data, 1)
        done = found.use(call.scope, keep_newer=keep)
    return Answer("\n".join(_restored(done)), restoration(done))


def _backup(would: Restoration) -> str:
    memories = render.plural(would.memories, "memory", "memories")
    return f"{would.file}: {memories}, the journal up to {would.seq}"


def _newer(newer: Newer, *, keep: bool) -> str:
    """What is not in the backup, by number, and whether that is to be kept."""
    if newer.unknown:
        return f"what it lacks cannot be told: {newer.unknown}"
    if not newer.entries:
        return "it has all that the store has"
    if not (newer.memories or newer.changed or newer.erased):
        return "it has every memory that the store has, as it is now"
    lines = [f"{_erased(newer.erased)} since it was made, and will be again"] if newer.erased else []
    lines += [
        f"it lacks {render.plural(newer.entries, 'journal entry', 'journal entries')}: "
        f"{render.plural(newer.memories, 'newer memory', 'newer memories')}, {newer.changed:,} changed since"
    ]
    if newer.memories:
        lines.append(render.named(newer.named, newer.memories))
        lines.append(
            "they will be taken over"
            if keep
            else "--keep-newer takes them over; without it they are only in the store that is kept"
        )
    return "\n".join(lines)


def _erased(count: int) -> str:
    return f"{render.plural(count, 'memory that it has was', 'memories that it has were')} erased"


def _restored(done: Restoration) -> list[str]:
    lines = [f"restored {_backup(done)}; another process opened it and searched it"]
    if done.carried is not None:
        lines.append(f"taken over: {render.plural(done.carried.new, 'newer memory', 'newer memories')}")
    elif done.left:
        lines.append(f"the newer memories could not be taken over: {done.left}")
    elif done.newer.memories:
        lines.append(f"not taken over: {render.plural(done.newer.memories, 'newer memory', 'newer memories')}")
    if done.erased:
        lines.append(f"{_erased(len(done.erased))} since it was made, and again now")
        lines += [f"still in {name}: delete that copy if you do not need it" for name in done.files]
    if done.untold:
        lines.append(f"whether it brought back something that was erased since cannot be told: {done.untold}")
        lines.append("look for what you had erased, and run `hardwon forget --erase ID` again")
    if done.kept:
        lines.append(f"the store that was there is {done.kept}; `hardwon restore {os.path.basename(done.kept)}` brings it back")
    return lines


def restoration(done: Restoration) -> dict[str, Any]:
    """A restore as JSON."""
    newer = done.newer
    return {
        "file": done.file, "seq": done.seq, "head": done.head, "memories": done.memories, "kept": done.kept,
        "newer": {
            "memories": newer.memories, "changed": newer.changed, "entries": newer.entries, "erased": newer.erased,
            "ids": list(newer.ids), "unknown": newer.unknown,
        },
        "carried": None if done.carried is None else done.carried.new, "left": done.left,
        "erased": list(done.erased), "still_in": list(done.files), "untold": done.untold,
    }  # fmt: skip


def repair(call: Call) -> Answer:
    """What is intact of a damaged store, as a store again."""
    dry = call.request.flag("dry-run")
    done = repairs.repair(call.engine, call.scope, dry_run=dry)
    data = repaired(done)
    if not done.damaged:
        return _intact(call, data)
    kept = render.plural(done.kept.get("memories", 0), "memory", "memories")
    # Without their remedies: to repair is the remedy.
    found = [item.replace(remedy="") for item in done.findings[:_SHOWN]]
    lines = [render.findings(found, call.paint), f"{'would keep' if dry else 'kept'} {kept} as they were"]
    lines += [f"  {render.plural(count, *_MENDED.get(name, (name, name)))}" for name, count in done.restored.items()]
    if done.incomplete:
        lines.append(f"  {render.plural(done.incomplete, 'commit is', 'commits are')} read again by the next `hardwon init`")
    lines += [f"  the journal lacks entries {first} to {last} of {replica}" for replica, first, last in done.gaps]
    if done.lost:
        lines.append(render.plural(len(done.lost), "memory is lost:", "memories are lost:"))
        lines += [_lost(item) for item in done.lost[:_SHOWN]]
    if len(done.lost) > _SHOWN:
        lines.append(f"  and {len(done.lost) - _SHOWN:,} more (--json lists all)")
    if done.file:
        lines.append(f"repaired: {_CHECKED}; the damaged store is {done.file}")
        lines += [render.findings(waiting.findings(call.engine), call.paint)]
    return Answer("\n".join(filter(None, lines)), data, 1 if done.lost or done.gaps else 0)


def _intact(call: Call, data: dict[str, Any]) -> Answer:
    """Nothing to repair, which does not yet mean that all is there: of an earlier file in the store's place every page is good."""
    found = call.engine.check_quickly()
    text = "\n".join(filter(None, ["nothing is damaged, and nothing was done", render.findings(found, call.paint)]))
    bad = any(item.level == "error" for item in found)
    return Answer(text, {**data, "findings": [dict(vars(item)) for item in found]}, 1 if bad else 0)


def _lost(item: Lost) -> str:
    name = f"#{item.number}" if item.number is not None else item.id
    what = ", ".join(item.actions) or "nothing of it is known"
    return f"  {name}  {what}" + (f", last {(shapes.moment(item.last) or '')[:10]}" if item.last else "")


def repaired(done: RepairReport) -> dict[str, Any]:
    """A repair as JSON."""
    return {
        "damaged": done.damaged, "findings": [dict(vars(item)) for item in done.findings], "kept": dict(done.kept),
        "completed": {name.replace(" ", "_"): count for name, count in done.restored.items()},
        "lost": [
            {**vars(item), "actions": list(item.actions), "first": shapes.moment(item.first), "last": shapes.moment(item.last)}
            for item in done.lost
        ],
        "gaps": [{"replica": replica, "first": first, "last": last} for replica, first, last in done.gaps],
        "incomplete": done.incomplete, "file": done.file, "probes": done.probes,
    }  # fmt: skip


# For the library, which names files instead of options


def lock(recipients: Sequence[str] = (), passphrase_file: str = "") -> Lock:
    """For whom a backup is encrypted; without either as the environment says. InvalidInput for a file that holds no passphrase."""
    return Lock(recipients, _passphrase(passphrase_file, environment=not recipients))


def opener(identity: str = "", passphrase_file: str = "") -> Opener:
    """What may open a backup, from files and the environment."""
    return Opener(_identities(identity), _passphrase(passphrase_file, environment=True))


def made(engine: Engine, home: str, path: str, lock: Lock, *, keep: int, force: bool) -> Backup:
    """A backup at ``path``, "" for the default place."""
    return copies.backup(engine, home, path, lock, keep=keep, force=force)


def brought_back(
    engine: Engine, home: str, path: str, opener: Opener, scope: Scope, *, keep_newer: bool, force: bool, dry_run: bool
) -> Restoration:
    """A restore without questions."""
    with restores.candidate(engine, home, path, opener, force=force) as found:
        return found.report() if dry_run else found.use(scope, keep_newer=keep_newer)


def _passphrase(file: str, *, environment: bool) -> Passphrase | None:
    """That of the file; else, where it may be asked, the environment's."""
    if file:
        return Passphrase(inputs.read(file, "passphrase-file"))
    text = backup_passphrase() if environment else ""
    return Passphrase(text) if text else None


def _identities(file: str) -> tuple[Secret, ...]:
    if not file:
        return ()
    found = parse(inputs.read(file, "identity"))
    if not found:
        raise InvalidInput(f"{file[:200]!r} holds no key", field="identity", remedy="name a file that age-keygen made")
    return found


def _full(cwd: str, path: str) -> str:
    """A path as it is meant where the command was started; "" and - stay."""
    return path if path in ("", "-") else os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
