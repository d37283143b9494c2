"""``restore``: a backup takes the store's place, after it was seen to be whole; the store that was there is kept."""

from __future__ import annotations

import os
import stat

from hardwon.engine import erased_since
from hardwon.engine.core import Engine
from hardwon.engine.encryption import Changing
from hardwon.engine.erase import backups
from hardwon.engine.examination import Examination, examine
from hardwon.engine.namespace import adopt
from hardwon.engine.repair import access_of, kept_name, local, settle
from hardwon.errors import Busy, Damaged, HardwonError, InvalidInput, SchemaNewer, StoreError, WrongKey
from hardwon.store import copies, copying, files
from hardwon.store.checks import heads
from hardwon.store.connection import APPLICATION_ID, SCHEMA, Access
from hardwon.store.keys import envelope, erasure_key
from hardwon.store.mending import raw
from hardwon.store.mending.damaged_copy import salvaged
from hardwon.store.mending.mend import NIL
from hardwon.store.rows import to_text
from hardwon.store.sqlite import SqliteStore
from hardwon.store.swap import Locked, give_up, swap
from hardwon.types import Event, Filter, Memory, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.engine.exchange import ImportReport
    from hardwon.store.base import Reader
    from hardwon.types import Scope

_PLAIN = b"SQLite format 3\0"
_NAMED = 20


class Newer(Value):
    """What the store has and a backup lacks: ``memories`` that were recorded since, the first of them in ``named``; how many that the
    backup has were ``changed`` since, and how many journal ``entries`` were written; how many of the backup's were ``erased`` since.
    ``unknown``: why that cannot be told, "" where it can."""

    memories: int = 0
    changed: int = 0
    entries: int = 0
    erased: int = 0
    named: tuple[Memory, ...] = ()
    ids: tuple[str, ...] = ()
    unknown: str = ""


class Restoration(Value):
    """What a restore did: from which ``file``, where its journal ended (``seq``, ``head``), how many ``memories`` there are now; what is
    not there any more (``newer``); where the store that was replaced lies (``kept``, "" where there was none); what was taken over
    from it (``carried``), or why nothing was (``left``).

    ``erased``: memories whose words the backup has, and which were erased since: they are erased again. Those words are still in
    ``files``, which nobody but a person may delete. ``untold``: why it cannot be told what was erased since, "" where it can.
    """

    file: str
    seq: int
    head: str
    memories: int
    newer: Newer
    kept: str = ""
    carried: ImportReport | None = None
    left: str = ""
    erased: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    untold: str = ""


class Candidate:
    """A backup that was found whole, as a file beside the store; ``with`` removes it again where it was not used."""

    def __init__(self, engine: Engine, file: str, work: str, access: Access, seen: Examination) -> None:
        self.file = file
        self.seen = seen
        self._engine = engine
        self._store = local(engine)
        self._work = work
        self._access = access
        self.newer = self._newer()

    def __enter__(self) -> Candidate:
        return self

    def __exit__(self, *_: object) -> None:
        give_up(self._store.path, self._work)

    def report(self) -> Restoration:
        """What a restore would do."""
        return Restoration(self.file, self.seen.seq, self.seen.head, self.seen.figures.get("memories", 0), self.newer)

    def use(self, scope: Scope, *, keep_newer: bool = False) -> Restoration:
        """Let it take the store's place; the store is kept. With ``keep_newer`` the memories that it lacks are taken over from there.

        Busy, DiskFull, StoreError: then nothing was changed, or the next who opens the store finishes it.
        """
        engine, store = self._engine, self._store
        try:
            with Changing(store, engine.wait), Locked(store, engine.wait):
                self._check_key()
                self.newer = self._newer()  # once more: others have gone on while somebody was asked
                later, untold = self._erased_since()
                erased = self._begin_anew(scope, later)
                # Before the file takes its place, so that whatever stops this, the store has all or is the one that was.
                carried, left = self._carry_over(scope) if keep_newer and self.newer.ids else (None, "")
                kept = kept_name(store.path, engine.clock()) if os.path.exists(store.path) else ""
                heads.forget(store.head)
                swap(store.path, self._work, kept or kept_name(store.path, engine.clock()))
                settle(engine, store, kept, self._access)
        except OSError as error:
            raise copying.refused(error, store.path) from error
        holding = self._still_in(erased, kept if later.clean else "")
        done: Restoration = self.report().replace(
            kept=kept, carried=carried, left=left, erased=erased, files=holding, untold=untold
        )
        return done

    def _check_key(self) -> None:
        """Busy where the store got another key, or none, since the backup was made ready: nobody would look for the one of then."""
        known = [access.key for access in self._store.access.others()]
        if known and self._access.key not in known:
            raise Busy("the key of the store was changed meanwhile; nothing was restored", field="key", remedy="try again")

    def _erased_since(self) -> tuple[erased_since.Known, str]:
        """What the store that is there knows as erased, and why that may not be all."""
        try:
            with self._store.read() as reader:
                return erased_since.known(reader), ""
        except HardwonError as error:  # damaged, or not there: that is why somebody restores
            if not erasure_key.read(self._engine.erasure_key):  # it is made for the first erasure: there was none
                return erased_since.Known(), ""
            return self._salvaged(), error.message
        finally:
            self._store.let_go()

    def _salvaged(self) -> erased_since.Known:
        """What can still be read of that in a damaged store."""
        path = self._store.path
        if not os.path.exists(path):
            return erased_since.Known()
        try:
            return erased_since.salvaged(salvaged(path, copying.beside(path), self._access))
        except StoreError:  # nothing can be read of it: the caller tells why
            return erased_since.Known()

    def _still_in(self, erased: tuple[str, ...], clean: str) -> tuple[str, ...]:
        """The copies that hold the words of what was erased again, or may; the backup itself first. ``clean``: one that does not."""
        if not erased:
            return ()
        found = copies.holding(self._store.path, backups(self._engine), erased)
        return (self.file, *(name for name in found if name not in (self.file, clean)))

    def _begin_anew(self, scope: Scope, later: erased_since.Known) -> tuple[str, ...]:
        """A replica of its own, so that two stores that go on from one backup never write the same chain apart; the journal tells of the
        restore. Numbers that were given since are not given again, and what was erased since is erased here too, before the file takes
        its place: whatever stops this, nobody reads those words again. The ids of what was."""
        from hardwon.store.ids import uuid7

        engine, now = self._engine, self._engine.clock()
        with SqliteStore(self._work, "", engine.clock, make=False, access=self._access) as made:
            with made.write() as writer:
                last = next(iter(writer.latest_events(1)), None)
                adopt(writer, engine.repository)
                writer.set_setting("replica", uuid7(now, engine.entropy(10)))
                writer.set_setting("next_number", str(max(int(writer.setting("next_number") or 1), self._next_number())))
                about = Memory(to_text(NIL), None, "fact", None, "", version=0)
                payload = f"{last.replica} {last.replica_seq}" if last else ""
                writer.log("restored", about, scope.origin, now, payload=payload)
            erased = erased_since.again(self._copy(made), later, scope).ids
            made.checkpoint()
        copying.sync(self._work)
        return erased

    def _copy(self, made: SqliteStore) -> Engine:
        """An engine on the file that is to take the place."""
        own = self._engine
        return Engine(made, own.repository, own.place, own.clock, own.entropy, own.wait, own.cache, erasure_key=own.erasure_key)

    def _next_number(self) -> int:
        try:
            with self._store.read() as reader:
                return int(reader.setting("next_number") or 1)
        except (HardwonError, ValueError):
            return 1
        finally:
            self._store.let_go()

    def _newer(self) -> Newer:
        try:
            with (
                SqliteStore(self._work, make=False, access=self._access) as backup,
                backup.read() as old,
                self._store.read() as reader,
            ):
                return _difference(reader, old)
        except HardwonError as error:  # damaged, or not there: that is why somebody restores
            return Newer(unknown=error.message)
        finally:
            self._store.let_go()

    def _carry_over(self, scope: Scope) -> tuple[ImportReport | None, str]:
        """Take the newer memories over into the file that is to take the place: believed as they were where a person asks for it, else
        as imported. Where that cannot be done, why: what was asked first is done, and they are safe in the store that is kept."""
        from hardwon.engine.exchange import export, import_memories
        from hardwon.importers.lines import HEADER, read, to_line

        engine = self._engine
        try:
            source = Engine(self._store, engine.repository, None, engine.clock, engine.entropy)
            lines = [HEADER, *map(to_line, export(source, Filter(ids=self.newer.ids), private=True))]
            numbered = ((number, line.encode()) for number, line in enumerate(lines, start=1))
            with SqliteStore(self._work, "", engine.clock, make=False, access=self._access) as made:
                trusted = scope.origin.who == "person"
                report = import_memories(self._copy(made), read(numbered), scope, keep_trust=trusted)
                made.checkpoint()
        except HardwonError as error:
            return None, error.message
        finally:
            self._store.let_go()
            copying.sync(self._work)
        return report, ""


def candidate(engine: Engine, home: str, file: str, opener: envelope.Opener | None = None, *, force: bool = False) -> Candidate:
    """Look a backup through and make it ready beside the store; nothing of the store is touched.

    ``file``: a path, or the name of one below ``home``/backups. ``force``: also one of another repository. InvalidInput for what is
    no backup, WrongKey for one that nothing at hand opens, Damaged for one that is not whole, SchemaNewer.
    """
    store = local(engine)
    path = _found(engine, home, file)
    into = access_of(store)
    taken, work = copying.beside(store.path), copying.beside(store.path)
    try:
        _take(path, taken, opener or envelope.Opener(), store, into)
        copying.copy(taken, _fitting(taken, path, store, into), work, Access(into.vfs, into.key))
        _upgrade(engine, work, into)
        seen = examine(work, into)
        _refuse(engine, path, seen, force=force)
        return Candidate(engine, path, work, into, seen)
    except BaseException as error:
        copying.discard(work)
        if isinstance(error, OSError):
            raise copying.refused(error, path) from error
        raise
    finally:
        copying.discard(taken)


def _found(engine: Engine, home: str, file: str) -> str:
    """The path of a backup. InvalidInput where there is none, or it is the store itself."""
    own = local(engine).path
    path = os.path.abspath(file)
    if os.sep not in file and not os.path.exists(path):
        path = os.path.join(os.path.dirname(own), file)  # a store that was put aside
        if not file.startswith(os.path.basename(own) + ".kept-") and engine.place is not None:
            path = os.path.join(home, "backups", engine.place.entry.name, file)
    try:
        state = os.stat(path)
    except (OSError, ValueError) as error:
        raise _unusable(file, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(state.st_mode):
        raise _unusable(file, "is a folder" if stat.S_ISDIR(state.st_mode) else "is no regular file")
    if os.path.exists(own) and os.path.samefile(path, own):
        raise _unusable(file, "is the store itself")
    return path


def _take(path: str, taken: str, opener: envelope.Opener, store: SqliteStore, access: Access) -> None:
    """The backup's bytes in a file of ours: so nothing is written beside it, and it may lie where nothing can be."""
    if envelope.kind(path):
        own = tuple(opener.identities) or tuple(store.secrets())
        envelope.unseal(path, taken, envelope.Opener(own, opener.passphrase))
        return
    for end in ("", "-wal"):
        if os.path.exists(path + end):
            raw.copy(path + end, taken + end)


def _fitting(taken: str, path: str, store: SqliteStore, into: Access) -> Access:
    """How the copy is opened: in the clear, or with one of the keys that the store has or had."""
    with open(taken, "rb") as file:
        plain = file.read(len(_PLAIN)) == _PLAIN
    keys = [b""] if plain else [into.key] if into.key else []
    if not plain:  # of a store that is in the clear by now too: its earlier backups are not
        keys += [secret.raw() for secret in store.secrets()]
    for key in keys:
        access = Access(into.vfs, key)
        if _is_ours(taken, path, access):
            return access
    if not keys or plain:
        raise _unusable(path, "is no backup of ours, or is encrypted with a key that this store does not have")
    raise WrongKey(f"{path} is encrypted with another key, or damaged", field="file", remedy="name the key that it was made with")


def _is_ours(taken: str, path: str, access: Access) -> bool:
    """Whether a file opens with that key as a store. SchemaNewer for one of a later Hardwon."""
    application, schema = copying.identity(taken, access)
    if application == APPLICATION_ID and schema > SCHEMA:
        raise SchemaNewer(f"{path} was made by a later Hardwon (schema {schema})", remedy="upgrade Hardwon")
    return application == APPLICATION_ID


def _upgrade(engine: Engine, work: str, access: Access) -> None:
    """Bring the copy to this version's schema."""
    from hardwon.settings import VERSION

    with SqliteStore(work, f"hardwon {VERSION}", engine.clock, make=False, access=access) as made:
        with made.write():
            pass
        made.checkpoint()
    for name in os.listdir(os.path.dirname(work)):
        if name.startswith(os.path.basename(work) + ".before-step-"):
            files.disk.unlink(os.path.join(os.path.dirname(work), name))


def _refuse(engine: Engine, path: str, seen: Examination, *, force: bool) -> None:
    if not seen.ok:
        wrong = next(finding for finding in seen.findings if finding.level in ("error", "warning"))
        raise Damaged(f"{path} is not whole: {wrong.what} ({wrong.where})", remedy="nothing was changed; take another backup")
    if seen.repository != engine.repository and not force:
        raise InvalidInput(
            f"{path} is the memory of another repository, or of this one when it was registered anew",
            field="file",
            remedy="`hardwon restore FILE --force` restores it all the same",
        )


def _difference(reader: Reader, old: Reader) -> Newer:
    """What the one has and the other lacks, by ids and journal entries."""
    held = set(old.ids(Filter(), derived=False))
    gone = [item.memory for item in erased_since.known(reader).gone]
    erased = {memory.id for memory in gone}
    back = sum(not memory.erased for memory in old.get([memory.id for memory in gone]))
    new = [one for one in reader.ids(Filter(), derived=False) if one not in held and one not in erased]
    written = {(event.replica, event.replica_seq) for event in _events(old)}
    since = [event for event in _events(reader) if (event.replica, event.replica_seq) not in written]
    changed = {event.memory for event in since} & held
    return Newer(len(new), len(changed), len(since), back, tuple(reader.get(new[-_NAMED:])), tuple(new))


def _events(reader: Reader) -> Iterator[Event]:
    after = 0
    while found := reader.events(after=after, limit=1000):
        yield from found
        after = found[-1].seq


def _unusable(file: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"{file[:200]!r} {what}", field="file", remedy="`hardwon backup` makes one; they lie below HARDWON_HOME/backups"
    )
