"""What the store cannot take waits in the spool, and is taken in by the next writer: in order, each once, under the id that was told."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from itertools import islice

from hardwon.engine.record import Submission, enter
from hardwon.engine.writing import head
from hardwon.errors import Busy, Damaged, DiskFull, HardwonError, InvalidInput, KeyMissing, NotFound, StoreError, WrongKey
from hardwon.intake import merge
from hardwon.store.spooling.spool import Spool
from hardwon.types import Anchor, Draft, Origin, Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer
    from hardwon.store.spooling.frames import Record

VERSION = 1
# Most records of a transaction: the lock is given back in between, and a power loss costs no more than this work.
SLICE = 200
# Seconds that a writer gives to what waits, however little it waits itself: else a crowd of such never comes to an end.
LEAST = 0.1
# What is wrong with the record and not with the store.
_POISON = (InvalidInput, NotFound, ValueError, TypeError, LookupError, OverflowError)
_UUID = 36


def spool_of(engine: Engine) -> Spool | None:
    """The spool beside the engine's store; None for a store without a file."""
    return Spool(engine.store.path) if engine.store.path else None


# --- out of the store's way


def spooled(engine: Engine, said: Submission, error: StoreError) -> Receipt:
    """Keep in the spool what the store refused with this error; the error itself where it is of another kind, or the spool is full too.

    Not kept: what no later writer could take in either (another schema, another key), and where the folder cannot be written. What
    lacks a key is sealed for whoever has it.
    """
    spool = spool_of(engine)
    if spool is None or not _worth_waiting(engine, error):
        raise error
    payload = encode(said, error.kind)
    try:
        recipient = _recipient(engine)
        spool.append(_sealed(recipient, payload), said.at, error.kind, sealed=bool(recipient))
    except (OSError, HardwonError) as also:
        failed(engine, error)
        raise error from also
    why = f"{error.message}; it waits on the disk, in the spool, and the first write that succeeds takes it in"
    return Receipt(said.id, None, "spooled", why=why)


def _worth_waiting(engine: Engine, error: StoreError) -> bool:
    from hardwon.store.sqlite import SqliteStore

    if isinstance(engine.store, SqliteStore) and engine.store.access.key and not engine.store.recipient:
        return False  # encrypted, and nobody to seal it to: in plain text it shall not lie there
    if isinstance(error, KeyMissing):
        return bool(engine.store.recipient)
    return isinstance(error, (Busy, DiskFull, Damaged)) or type(error) is StoreError


def _recipient(engine: Engine) -> str:
    """To whom to seal, "" for nobody: as it is now, since the store may have got a key, or another, under a process that lives."""
    from hardwon.store.sqlite import SqliteStore

    return engine.store.access.recipient_now() if isinstance(engine.store, SqliteStore) else ""


def _sealed(recipient: str, payload: bytes) -> bytes:
    if not recipient:
        return payload
    from hardwon.store.keys.sealing import seal

    return seal(recipient, payload)


def failed(engine: Engine, error: StoreError) -> None:
    """Mark that a write was lost to this error; where that cannot be written, whoever was told the error has to remember it."""
    spool = spool_of(engine)
    if spool is None or spool.head() is None:
        return
    try:
        spool.mark(error.kind, error.message, engine.clock())
    except (OSError, Busy):
        return


def succeeded(engine: Engine) -> None:
    """A write succeeded: the mark of one that did not goes, and a store of an earlier version gets its spool."""
    spool = spool_of(engine)
    if spool is None:
        return
    try:
        spool.prepare()
        spool.clear_mark()
    except (OSError, Busy):
        return  # the write itself is safe; the next one tries again


# --- into the store


def drain(engine: Engine) -> int:
    """Take in what waits; how many records. In slices of a transaction each, so that others get their turn.

    Busy where it lasts longer than the engine waits for the lock: the rest still goes before what comes later. Where the spool itself
    cannot be written, what was taken in is passed over by its id the next time.
    """
    spool = spool_of(engine)
    try:
        return _drain(engine, spool) if spool else 0
    except OSError:
        return 0


def _drain(engine: Engine, spool: Spool) -> int:
    ends = time.monotonic() + max(engine.wait, LEAST)
    taken, size = 0, 1  # a store that still fails is found out with one record; then the double each time
    batch = spool.first()
    while batch is not None:
        records = batch.records()
        while part := list(islice(records, size)):
            if size > 1 and time.monotonic() > ends:
                raise Busy("what waits in the spool goes first, and takes longer", remedy="try again")
            taken += _take_slice(engine, spool, part)
            spool.advance(batch, part[-1].end, len(part))
            size = min(2 * size, SLICE)
        batch = None if spool.empty(batch) else spool.waiting()
    return taken


def _take_slice(engine: Engine, spool: Spool, part: list[Record]) -> int:
    """Apply some records in one transaction; where one of them cannot be, each in one of its own, and that one is set aside."""
    try:
        with engine.store.write(engine.wait) as writer:
            return sum(_take(engine, writer, record) for record in part)
    except _POISON as error:
        if len(part) > 1:
            return sum(_take_slice(engine, spool, [record]) for record in part)
        spool.set_aside(_line(part[0], str(error)))
        return 0


def _take(engine: Engine, writer: Writer, record: Record) -> bool:
    """Whether the record was new."""
    return enter_once(engine, writer, decode(_opened(engine, record)))


def enter_once(engine: Engine, writer: Writer, said: Submission) -> bool:
    """What is said becomes a memory or one more occurrence, unless it has already under its id; whether it had not."""
    if writer.get([said.id]) or writer.aliased(said.id):
        return False
    # A commit that failed may have come to the disk all the same: the journal tells which repetition it was.
    twin = writer.twin(merge.twin_key(said.draft))
    if twin is not None and any(event.payload == said.id for event in writer.events(twin.id)):
        writer.alias(said.id, twin.id)
        return False
    receipt = enter(engine, writer, said)
    if receipt.id and receipt.id != said.id:
        writer.alias(said.id, receipt.id)
    return True


def _opened(engine: Engine, record: Record) -> bytes:
    """What a record says; InvalidInput where nobody can read it any more."""
    if record.payload is None:
        raise InvalidInput("it cannot be read: a power loss cut it short before it was acknowledged, or the disk changed it")
    if not record.sealed:
        return record.payload
    from hardwon.store.keys.sealing import unseal

    secrets = engine.store.secrets()
    if not secrets:
        raise KeyMissing("what waits in the spool is sealed, and the key is not at hand", remedy="see docs/encryption.md")
    try:
        return unseal(secrets, record.payload)
    except (Damaged, WrongKey) as error:
        raise InvalidInput(error.message) from error


# --- its form


def encode(said: Submission, why: str) -> bytes:
    """A submission as JSON, in ASCII: half a pair in somebody's metadata has no UTF-8."""
    plain = dict(vars(said))
    plain["draft"] = dict(vars(said.draft)) | {"anchors": [dict(vars(anchor)) for anchor in said.draft.anchors]}
    plain["origin"] = dict(vars(said.origin))
    return json.dumps({"version": VERSION, "why": why, **plain}, separators=(",", ":")).encode()


def decode(payload: bytes) -> Submission:
    """The submission; InvalidInput for one of a later version, and for what is none."""
    data: dict[str, Any] = json.loads(payload)
    if data.pop("version") != VERSION:
        raise InvalidInput("a later Hardwon wrote it", remedy="upgrade Hardwon")
    del data["why"]
    draft = data["draft"]
    for name in ("rejected", "tags"):
        draft[name] = tuple(draft[name])
    draft["anchors"] = tuple(Anchor(**anchor) for anchor in draft["anchors"])
    data["draft"], data["origin"] = Draft(**draft), Origin(**data["origin"])
    return Submission(**data)


def _line(record: Record, why: str) -> bytes:
    """What is set aside: the record as it said, where it can be read and was not sealed, else its bytes."""
    told: dict[str, Any] = {"why": why, "at": record.at}
    if record.payload is not None and not record.sealed:
        try:
            told |= {"record": json.loads(record.payload)}
        except ValueError:
            told |= {"payload": b64encode(record.payload).decode()}
    else:
        told |= {"sealed": record.sealed, "bytes": b64encode(record.raw).decode()}
    return json.dumps(told).encode()


# --- looked at


def waiting(engine: Engine) -> list[tuple[Submission, str]]:
    """What waits and can be read, in its order, each with the kind of the error that brought it there."""
    spool = spool_of(engine)
    batch = spool.look() if spool else None
    found = []
    for record in batch.records() if batch else ():
        try:
            payload = _opened(engine, record)
            found.append((decode(payload), str(json.loads(payload)["why"])))
        except (*_POISON, StoreError):
            continue
    return found


def set_aside(engine: Engine) -> list[dict[str, Any]]:
    """What could not be taken in: the lines of the file beside the spool that can be read."""
    spool = spool_of(engine)
    try:
        with open(spool.rejected if spool else os.devnull, encoding="ascii", errors="replace") as file:
            lines = [json.loads(line) for line in file if line.startswith("{") and line.endswith("}\n")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return lines


def explained(engine: Engine, reference: str, error: NotFound) -> NotFound:
    """A better error for an id that names nothing in the store but waits in the spool, or was set aside."""
    name = reference.strip().lower()
    if len(name) != _UUID:
        return error
    found = head(engine)
    if found is not None and found.waits:
        for said, why in waiting(engine):
            if said.id == name:
                return NotFound(
                    f"{said.id} waits in the spool ({why}): {said.draft.text[:80]}",
                    field="id",
                    remedy="the next write takes it in; see `hardwon status`",
                )
    for line in set_aside(engine):
        if isinstance(line.get("record"), dict) and line["record"].get("id") == name:
            return NotFound(
                f"{name} was set aside: {line['why']}", field="id", remedy="see `hardwon status` for the file that keeps it"
            )
    return error
