"""Which key opens a store: what the environment brings, what lies where the registry says. On the quick path of encrypted stores."""

from __future__ import annotations

import os

from hardwon.errors import HardwonError, InvalidInput, KeyMissing, WrongKey
from hardwon.store.connection import Access
from hardwon.store.identity import KeyNote
from hardwon.store.keys.keyplace import NEW, KeyFile, archived, place
from hardwon.store.keys.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.settings import KeySource
    from hardwon.store.identity import Entry
    from hardwon.store.registry import Registry

NONE = KeyNote("none")


def accesses(registry: Registry, id: str, source: KeySource) -> Iterator[Access]:
    """All that may fit the store now, as the registry and the places of keys are at this moment.

    Where a key is not at hand, behind those that are: KeyMissing, or WrongKey where another lies in its place. InvalidInput for a
    place that holds something else.
    """
    entry = registry.entry(id)
    found = dict(_matched(registry, entry, source)) if entry.keys else {}
    for note in entry.keys or (NONE,):
        if note == NONE or note.check in found:
            yield access_with(registry, entry, source, found.get(note.check), note)
    for note in entry.keys:
        if note != NONE and note.check not in found:
            raise _not_found(registry, entry, note, source)


def access_with(registry: Registry, entry: Entry, source: KeySource, secret: Secret | None, note: KeyNote) -> Access:
    """How the store is reached with this key; with None, as a plain one."""
    return Access(
        key=secret.raw() if secret else b"",
        recipient=note.recipient,
        others=lambda: accesses(registry, entry.id, source),
        secrets=lambda: secrets(registry, entry.id, source),
        recipient_now=lambda: recipient(registry, entry.id),
    )


def secrets(registry: Registry, id: str, source: KeySource) -> list[Secret]:
    """Every identity that something of the store may be sealed to: those in force, then those that were replaced. Of a store that is in
    the clear by now too: what was sealed before waits still."""
    entry = registry.entry(id)
    found = [secret for _, secret in _matched(registry, entry, source)]
    named = dict.fromkeys(note.place.removesuffix(NEW) for note in entry.keys)
    # Where it was decrypted, nothing names the place any more; a keyring is not asked for what is hardly ever there.
    return found + [secret for text in {**named, _own(registry, id): None} for secret in archived(text)]


def recipient(registry: Registry, id: str) -> str:
    """The public half of the key that is in force as the registry has it now, or, within a change, was until now; "" for a plain store.
    To that key something may be sealed by who has none: it is kept whatever becomes of the change."""
    return next((note.recipient for note in registry.entry(id).keys), "")


def default_file(home: str, id: str) -> str:
    """Where a store's key is kept if nobody says otherwise."""
    return os.path.join(home, "keys", f"{id}.key")


def _own(registry: Registry, id: str) -> str:
    return f"file {default_file(registry.home, id)}"


def _matched(registry: Registry, entry: Entry, source: KeySource) -> Iterator[tuple[str, Secret]]:
    """The entry's keys that are found, each with its check; no place is looked at after the last one was."""
    wanted = {note.check for note in entry.keys if note != NONE}
    for _, secret in _at_hand(registry, entry, source):
        if not wanted:
            return
        check = secret.check()
        if check in wanted:
            wanted.remove(check)
            yield check, secret


def _at_hand(registry: Registry, entry: Entry, source: KeySource) -> Iterator[tuple[str, Secret]]:
    """Where a key lies, and the key: what the environment brings, what the registry names, then where it lies by default, since the
    home may have been moved. A key that is not this store's is passed over, for one environment may serve several stores."""
    if source.identity:
        yield "HARDWON_KEY", given(source.identity, "HARDWON_KEY")
    if source.file:
        for secret in key_file(source.file).read():
            yield f"HARDWON_KEY_FILE ({source.file})", secret
    named = [note.place for note in entry.keys]
    # Of a change that is being finished, the new key is written to its place before it goes here: who looks here first finds it.
    beside = [name for name in (*named, _own(registry, entry.id) + NEW) if name.endswith(NEW)] if len(named) > 1 else []
    finals = [name.removesuffix(NEW) for name in (*named, _own(registry, entry.id))]
    for text in dict.fromkeys((*beside, *named, *finals)):
        at = place(text)
        for secret in at.read() if at else ():
            yield text, secret


def given(text: str, variable: str) -> Secret:
    """The key that a variable holds; InvalidInput, naming it, for what is none."""
    try:
        return Secret(text)
    except InvalidInput as error:
        raise InvalidInput(f"{variable} holds no key", field=variable, remedy=error.remedy) from None


def key_file(path: str) -> KeyFile:
    """The file that HARDWON_KEY_FILE names; InvalidInput for a relative path."""
    full = os.path.expanduser(path)
    if not os.path.isabs(full):
        raise InvalidInput(
            f"HARDWON_KEY_FILE={path[:200]!r} is not an absolute path", field="HARDWON_KEY_FILE", remedy="name it from the root"
        )
    return KeyFile(os.path.normpath(full))


def _not_found(registry: Registry, entry: Entry, expected: KeyNote, source: KeySource) -> HardwonError:
    known = {note.check for note in entry.keys}
    others = [where for where, secret in _at_hand(registry, entry, source) if secret.check() not in known]
    back = "put the key back where it was, or give it in HARDWON_KEY or HARDWON_KEY_FILE"
    if others:
        return WrongKey(
            f"the memory {entry.name} is encrypted to {expected.recipient}, and what lies here is another key: {', '.join(others)}",
            field="key",
            remedy=back,
        )
    return KeyMissing(
        f"the memory {entry.name} is encrypted, and its key is not here: {expected.place}", field="key", remedy=back
    )
