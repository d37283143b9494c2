"""Keys: ``init --encrypt`` and ``rekey``, in words. Never prints a key, only its public half. Off the quick path."""

from __future__ import annotations

import os

from hardwon.doors.handle import Answer
from hardwon.engine import encryption
from hardwon.engine.encryption import KeyWish
from hardwon.engine.unlocking import NONE, default_file
from hardwon.errors import InvalidInput
from hardwon.settings import key_source
from hardwon.store.keys.keyplace import KeyFile
from hardwon.store.keys.recrypt import leftovers
from hardwon.store.registry import Registry
from hardwon.types import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.encryption import KeyReport
    from hardwon.store.identity import Entry, KeyNote

_KEEP = "keep a copy of the key elsewhere: without it nobody can read this memory again, nor its backups"
_BESIDE = (
    "the key lies beside the store: copies of the store and backups are of no use without it, but who can read your files can read "
    "both (--keyring, or --key-file on another disk, keeps them apart)"
)
_RESIDUE = (
    "what was in the clear before may still be found: in free blocks of the disk, in its snapshots, and in backups and exports made "
    "until now"
)


def wish(call: Call, *, wanted: bool) -> KeyWish | None:
    """Where ``--key-file`` and ``--keyring`` want the key; None where no key is ``wanted``, and InvalidInput if they say so all the
    same."""
    request = call.request
    file, keyring = request.text("key-file"), request.flag("keyring")
    if not wanted:
        if file or keyring:
            field = "key-file" if file else "keyring"
            raise InvalidInput(f"--{field} says where a key is kept, and there is to be none", field=field, remedy="leave it out")
        return None
    if file and keyring:
        raise InvalidInput(
            "--keyring and --key-file exclude one another", field="keyring", remedy="say where to keep the key, once"
        )
    return KeyWish(_full(call.cwd, file) if file else "", keyring)


def _full(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))


def at_init(call: Call, engine: Engine, wanted: KeyWish) -> list[str] | None:
    """What ``init --encrypt`` did about the key, a line each: a new store has one by now, a plain one gets one after a yes. None where
    nobody said yes."""
    registry = Registry(call.settings.home)
    entry = registry.entry(engine.repository)
    if len(entry.keys) == 1:
        return _told(registry.home, entry, entry.keys[0])
    if not entry.keys and not call.confirmed(_question(engine, entry), "at docs/encryption.md"):
        return None
    report = encryption.encrypt(engine, registry, wanted, key_source())
    return [*_told(registry.home, entry, registry.entry(entry.id).keys[0]), *_removed(report), _RESIDUE, *_backups(registry.home)]


def _question(engine: Engine, entry: Entry) -> str:
    copies = [os.path.basename(name) for name in leftovers(engine.store.path)]
    removed = f", and removes what lies in the clear beside it ({', '.join(copies)})" if copies else ""
    return f"this encrypts {entry.name}{removed}; {_RESIDUE}. Go on?"


def _backups(home: str) -> list[str]:
    folder = os.path.join(home, "backups")
    return [f"look through {folder}"] if os.path.isdir(folder) else []


def _told(home: str, entry: Entry, note: KeyNote) -> list[str]:
    lines = [f"encrypted to {note.recipient}; {_where(note.place)}"]
    if note.place == f"file {default_file(home, entry.id)}":
        lines.append(_BESIDE)
    return [*lines, _KEEP]


def _where(place: str) -> str:
    kind, _, where = place.partition(" ")
    return {"file": f"the key is in {where}", "keyring": f"the key is in the system's keyring, as hardwon {where}"}.get(
        kind, "the key is the one in HARDWON_KEY, and kept nowhere by us"
    )


def _removed(report: KeyReport) -> list[str]:
    return [f"removed {name}" for name in report.removed]


def rekey(call: Call) -> Answer:
    """Another key for an encrypted store, or none."""
    request, engine, home = call.request, call.engine, call.settings.home
    decrypt = request.flag("decrypt")
    wanted = wish(call, wanted=not decrypt)
    entry = Registry(home).entry(engine.repository)
    question = f"this writes {entry.name} to the disk in the clear. Go on?"
    if decrypt and entry.keys and not call.confirmed(question, "at docs/encryption.md"):
        return Answer("nothing was decrypted", {"done": "", "recipient": entry.keys[0].recipient}, 1)
    report = changed(engine, home, wanted.file if wanted else "", bool(wanted and wanted.keyring), decrypt)
    return Answer("\n".join(_report(report, entry.keys)), {**vars(report), "removed": list(report.removed)})


def changed(engine: Engine, home: str, file: str, keyring: bool, decrypt: bool) -> KeyReport:
    """A change of key: to one in a ``file`` (an absolute path), in the ``keyring``, or where the old one was; or to none."""
    registry = Registry(home)
    if not decrypt:
        return encryption.rekey(engine, registry, KeyWish(file, keyring), key_source())
    if file or keyring:
        raise InvalidInput(
            "a store in the clear has no key to keep", field="key-file" if file else "keyring", remedy="leave out one of the two"
        )
    return encryption.decrypt(engine, registry, key_source())


def _report(report: KeyReport, before: Sequence[KeyNote]) -> list[str]:
    """``before``: the keys until now. A key that was the person's own to keep stays where it is."""
    stays = " ".join(note.place for note in before[:1] if note.place not in ("none", report.place))
    old = (
        f"the old key is kept in {report.archived.partition(' ')[2]}"
        if report.archived
        else stays and f"the old key stays where it was: {stays}"
    )
    old = old and f"{old}; earlier backups need it"
    if report.done == "decrypted":
        return ["decrypted: the store is in the clear now", *filter(None, [old]), *_removed(report)]
    if report.done == "finished":
        return [f"a change of key that was interrupted is finished: encrypted to {report.recipient}; {_where(report.place)}"]
    return [
        f"encrypted to {report.recipient} from now on; {_where(report.place)}",
        *filter(None, [old]),
        *_removed(report),
        _KEEP,
    ]


def findings(engine: Engine, home: str) -> list[Finding]:
    """What status says of the store's key: a change that was interrupted, a key file that others may read."""
    entry = Registry(home).entry(engine.repository)
    found = []
    if len(entry.keys) > 1:
        remedy = "`hardwon init --encrypt` finishes it" if entry.keys[0] == NONE else "`hardwon rekey` finishes it"
        found.append(Finding("warning", "a change of the store's key was interrupted", "key", remedy))
    readable = (path for path in encryption.places(entry.keys) if KeyFile(path).is_open_to_others())
    return found + [Finding("warning", "others may read the key", path, f"chmod 600 {path}") for path in readable]


def data(engine: Engine, home: str) -> dict[str, Any]:
    """What JSON says of the store's key."""
    keys = Registry(home).entry(engine.repository).keys
    return {"recipient": keys[-1].recipient if keys else ""}
