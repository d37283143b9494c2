"""Items that a program keeps under ids of its own: the same id is the same memory, and what comes later replaces what was."""

from __future__ import annotations

from hardwon.engine import record
from hardwon.engine.naming import own_name
from hardwon.errors import InvalidInput
from hardwon.types import Filter, Receipt, Selection
from hardwon.upkeep import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.engine.core import Engine
    from hardwon.store.base import Writer
    from hardwon.types import Draft, Memory, Scope

# Items a transaction: one sync for all of them, and other writers hardly wait.
SLICE = 200
_LONGEST_ID = 300
# What a person turned down, or what took its place, stays as it is: other words under its id are a memory of their own.
_LEFT = ("rejected", "replaced", "quarantined")


def upsert(engine: Engine, items: Iterable[tuple[str, Draft]], scope: Scope) -> list[Receipt]:
    """Keep each draft under its id; durable on return, a slice a transaction. InvalidInput before anything of a slice is written.

    A known id gets the draft's content as its next version and is active again if it was deleted. Equal texts under two ids stay
    two memories. Refused (and told in the receipt) is what a person rejected, and a change of what a person confirmed; other words
    under the id of a rejected or replaced memory are a new one.
    """
    receipts: list[Receipt] = []
    batch: list[tuple[str, Draft, int]] = []
    for name, draft in items:
        batch.append((_checked(name), *record.prepared(engine, draft)))
        if len(batch) >= SLICE:
            receipts += _write(engine, batch, scope)
            batch = []
    return receipts + _write(engine, batch, scope) if batch else receipts


def delete(engine: Engine, names: Sequence[str], scope: Scope) -> Selection:
    """Forget the items with these ids; unknown ones are passed over. ``undo`` brings them back."""
    with engine.store.read() as reader:
        ids = tuple(found for name in names if (found := reader.aliased(own_name(name))))
    return engine.forget(Filter(ids=ids), scope, dry_run=False) if ids else Selection((), True)


def _checked(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_ID:
        raise InvalidInput(
            f"{str(name)[:60]!r} cannot be an item's id", field="id", remedy=f"give 1 to {_LONGEST_ID} printable characters"
        )
    return name


def _write(engine: Engine, batch: list[tuple[str, Draft, int]], scope: Scope) -> list[Receipt]:
    with engine.write() as writer:
        return [_upsert(engine, writer, name, draft, redacted, scope) for name, draft, redacted in batch]


def _upsert(engine: Engine, writer: Writer, name: str, draft: Draft, redacted: int, scope: Scope) -> Receipt:
    refused = record.kept_out(engine, writer, draft)
    if refused is not None:
        told: Receipt = refused.replace(redacted=redacted)
        return told
    alias = writer.aliased(own_name(name))
    known = writer.get([alias]) if alias else []
    if not known or known[0].status in _LEFT:
        return _create(engine, writer, name, draft, redacted, scope)
    memory = known[0]
    if not trust.may_change(memory, scope.origin.who):
        return Receipt(memory.id, memory.number, "refused", redacted, None, f"it is {memory.trust}: a program may not change it")
    return _replace(engine, writer, memory, draft, redacted, scope)


def _create(engine: Engine, writer: Writer, name: str, draft: Draft, redacted: int, scope: Scope) -> Receipt:
    said = record.submitted(engine, draft, scope)
    memory = record.new_memory(said, writer.next_number())
    event = record.keep(engine, writer, "created", memory, said.origin, b"", fresh=True)  # no twin: its id tells it apart
    record.occur(writer, memory, said, event)
    writer.alias(own_name(name), memory.id)
    return Receipt(memory.id, memory.number, "created", redacted, event.seq)


def _replace(engine: Engine, writer: Writer, memory: Memory, draft: Draft, redacted: int, scope: Scope) -> Receipt:
    from hardwon.engine.curate import to_status, with_content

    back = memory.status != "active"
    if back:
        to_status(engine, writer, memory, "active", scope.origin)
        memory = memory.replace(status="active")
    draft = draft.replace(kind=memory.kind, outcome=memory.outcome)
    revised = with_content(memory, draft, engine.clock()).replace(trust=trust.initial(scope.origin.who))
    if _says_the_same(memory, revised):
        return Receipt(memory.id, memory.number, "active" if back else "unchanged", redacted)
    event = record.keep(engine, writer, "revised", revised, record.signed(scope.origin), b"", fresh=True)
    return Receipt(memory.id, memory.number, "revised", redacted, event.seq, f"version {revised.version}")


def _says_the_same(memory: Memory, revised: Memory) -> bool:
    """Whether an item has nothing new: then it stays pinned to the code that it spoke of. A program that sends all of its items every
    night has not looked at the code, and must not make what is outdated look as if somebody had."""
    places = [[(anchor.path, anchor.symbol) for anchor in one.anchors] for one in (memory, revised)]
    return places[0] == places[1] and memory == revised.replace(
        version=memory.version, updated_at=memory.updated_at, anchors=memory.anchors
    )
