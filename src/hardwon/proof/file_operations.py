"""Of the operations that are made to fail (operations.py), those on whole files: copies, swaps, keys, erasure, exports and imports.

What an operation leaves beside the store is compared too (``made``): the earlier file has to be there until the new one is whole. A store
that has a key, or gets one, is registered in a home beside it, so that the change of keys is the real one.
"""

from __future__ import annotations

import os
import random
import shutil

from hardwon.engine import encryption, exchange
from hardwon.engine.backup import backup
from hardwon.engine.core import Engine
from hardwon.engine.encryption import KeyWish
from hardwon.engine.erase import erase, is_pending
from hardwon.engine.repair import repair
from hardwon.engine.restore import candidate
from hardwon.errors import Damaged
from hardwon.importers.lines import HEADER, read, to_line
from hardwon.proof import keys
from hardwon.proof.operations import BEGAN, HOME, REPOSITORY, SCOPE, STORE, Operation, contents, draft, engine_at, fill
from hardwon.store.registry import Registry
from hardwon.store.replacement import Replacement
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Draft, Filter

_BACKUP, _EXPORT, _INCOMING, _NEW_KEY = "backup.db", "memories.jsonl", "incoming.jsonl", "new.key"
# Said and erased again: no byte of these words is to be left.
_SAID = "The unspeakable word of the blue machine"
_ASKED = Filter(tags=("unspeakable",))


def _folder(engine: Engine) -> str:
    return os.path.dirname(engine.store.path)


# What is done


def _back_up(engine: Engine) -> object:
    folder = _folder(engine)
    return backup(engine, os.path.join(folder, HOME), os.path.join(folder, _BACKUP), force=True)


def _restore(engine: Engine) -> object:
    folder = _folder(engine)
    with candidate(engine, os.path.join(folder, HOME), os.path.join(folder, _BACKUP)) as found:
        return found.use(SCOPE)


def _repair(engine: Engine) -> object:
    return repair(engine, SCOPE)


def _erase(engine: Engine) -> object:
    """What hinders the last steps is told, and ``compact`` does them."""
    done = erase(engine, _ASKED, "secret", SCOPE, dry_run=False)
    if is_pending(engine):
        engine.compact()
    return done


def _export(engine: Engine) -> object:
    folder = _folder(engine)
    lines = (HEADER, *map(to_line, exchange.export(engine)))
    return Replacement(os.path.join(folder, _EXPORT), os.path.join(folder, HOME)).write(lines)


def _import(engine: Engine) -> object:
    with open(os.path.join(_folder(engine), _INCOMING), "rb") as file:
        return exchange.import_memories(engine, read(enumerate(file.read().splitlines(), start=1)), SCOPE)


def _encrypt(engine: Engine) -> object:
    return encryption.encrypt(engine, _registry(engine), _key_beside(engine), keys.source())


def _rekey(engine: Engine) -> object:
    return encryption.rekey(engine, _registry(engine), _key_beside(engine), keys.source())


def _registry(engine: Engine) -> Registry:
    return Registry(os.path.join(_folder(engine), HOME))


def _key_beside(engine: Engine) -> KeyWish:
    """In the folder that is copied for each attempt, not where the first one had it."""
    return KeyWish(os.path.join(_folder(engine), _NEW_KEY))


# What it begins with


def _backed_up(folder: str) -> None:
    """A backup of some time ago, which has what was forgotten since and lacks what was said since."""
    with engine_at(folder, "", 3) as engine:
        _back_up(engine)
        engine.record(draft(random.Random(31), 3001), SCOPE)
        engine.forget(Filter(ids=(engine.identify("5"),)), SCOPE, dry_run=False)


def _damaged(folder: str) -> None:
    """One bit of one row that is another one, where no page and no index shows it."""
    with engine_at(folder, "", 3) as engine:
        engine.persist()
        words = engine.show("7", SCOPE)[0].detail.encode()
    path = os.path.join(folder, STORE)
    with open(path, "r+b") as file:
        at = file.read().rindex(words)
        file.seek(at)
        file.write(bytes((words[0] ^ 1,)))
    if not _is_damaged(folder):
        raise Damaged("the damage was not found")


def _said(folder: str) -> None:
    with engine_at(folder, "", 3) as engine:
        engine.record(Draft(_SAID, detail=f"{_SAID}, once more", tags=_ASKED.tags), SCOPE)


def _exported(folder: str) -> None:
    """An export of before."""
    with engine_at(folder, "", 3) as engine:
        _export(engine)
        engine.record(draft(random.Random(32), 3002), SCOPE)


def _incoming(folder: str) -> None:
    """What another store has to say."""
    other = os.path.join(folder, "other")
    os.makedirs(other)
    fill(other, 77, 30, 2)
    with engine_at(other, "", 3) as engine:
        _export(engine)
    os.rename(os.path.join(other, _EXPORT), os.path.join(folder, _INCOMING))
    shutil.rmtree(other)


def _registered(folder: str) -> None:
    Registry(os.path.join(folder, HOME)).add("proof", id=REPOSITORY, now=BEGAN)


def _encrypted(folder: str) -> None:
    """With the key that the environment brings."""
    _registered(folder)
    with engine_at(folder, "", 3) as engine:
        encryption.encrypt(engine, _registry(engine), KeyWish(), keys.source())


# What it leaves beside the store


def _backup_of(folder: str) -> object:
    """What the backup holds; None where there is none."""
    path = os.path.join(folder, _BACKUP)
    if not os.path.exists(path):
        return None
    with SqliteStore(path, make=False) as store:
        return contents(Engine(store, REPOSITORY))


def _export_of(folder: str) -> object:
    with open(os.path.join(folder, _EXPORT), "rb") as file:
        return file.read()


def _is_damaged(folder: str) -> object:
    with SqliteStore(os.path.join(folder, STORE), make=False) as store:
        return any(finding.level in ("error", "warning") for finding in store.check())


def _still_there(folder: str) -> object:
    """The files in which the words still are, and whether the erasure says that it is not done."""
    found = []
    with SqliteStore(os.path.join(folder, STORE), make=False) as store:
        found += ["pending"] * is_pending(Engine(store, REPOSITORY))
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found += [name] * (b"unspeakable" in file.read())
    return found


def _in_the_clear(folder: str) -> object:
    with open(os.path.join(folder, STORE), "rb") as file:
        return file.read(16) == b"SQLite format 3\0"


FILE_OPERATIONS = (
    Operation("backup", _back_up, _backed_up, made=_backup_of),
    Operation("restore", _restore, _backed_up, made=_backup_of),
    Operation("repair", _repair, _damaged, made=_is_damaged),
    Operation("erase", _erase, _said, whole=False, retries=True, made=_still_there),
    Operation("export", _export, _exported, made=_export_of),
    Operation("import", _import, _incoming, whole=False),
    Operation("encrypt", _encrypt, _registered, needs="encryption", made=_in_the_clear),
    Operation("rekey", _rekey, _encrypted, needs="encryption", made=_in_the_clear),
)
