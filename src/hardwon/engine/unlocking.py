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
    found = dict(_matched(entry, source)) if entry.keys else {}
    for note in entry.keys or (NONE,):
        if note == NONE or note.check in found:
            yield access_with(registry, entry, source, found.get(note.check), note)
    for note in entry.keys:
        if note != NONE and note.check not in found:
            raise _not_found(entry, note, source)


def access_with(registry: Registry, entry: Entry, source: KeySource, secret: Secret | None, note: KeyNote) -> Access:
    """How the store is reached with this key; with None, as a plain one."""
    return Access(
        key=secret.raw() if secret else b"",
        recipient=note.recipient,
        others=lambda: accesses(registry, entry.id, source),
        secrets=lambda: secrets(registry, entry.id, source),
    )


def secrets(registry: Registry, id: str, source: KeySource) -> list[Secret]:
    """Every identity that something of the store may be sealed to: those in force, then those that were replaced."""
    entry = registry.entry(id)
    found = [secret for _, secret in _matched(entry, source)]
    return found + [secret for note in entry.keys for secret in archived(note.place)]


def _matched(entry: Entry, source: KeySource) -> Iterator[tuple[str, Secret]]:
    """The entry's keys that are found, each with its check; no place is looked at after the last one was."""
    wanted = {note.check for note in entry.keys if note != NONE}
    for _, secret in _at_hand(entry, source):
        if not wanted:
            return
        check = secret.check()
        if check in wanted:
            wanted.remove(check)
            yield check, secret


def _at_hand(entry: Entry, source: KeySource) -> Iterator[tuple[str, Secret]]:
    """Where a key lies, and the key: what the environment brings, then what the registry names. A key that is not this store's is
    passed over, for one environment may serve several stores."""
    if source.identity:
        yield "HARDWON_KEY", given(source.identity, "HARDWON_KEY")
    if source.file:
        for secret in key_file(source.file).read():
            yield f"HARDWON_KEY_FILE ({source.file})", secret
    for text in dict.fromkeys(name for note in entry.keys for name in (note.place, note.place.removesuffix(NEW))):
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


def _not_found(entry: Entry, expected: KeyNote, source: KeySource) -> HardwonError:
    known = {note.check for note in entry.keys}
    others = [where for where, secret in _at_hand(entry, source) if secret.check() not in known]
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
