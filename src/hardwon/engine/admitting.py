"""What sessions have taught goes from the file of sessions into the store: each once, under the id that it was given when it was learnt."""

from __future__ import annotations

from hardwon.engine.guarded import Guarded
from hardwon.engine.spooling import decode, enter_once, spooled
from hardwon.errors import HardwonError, InvalidInput, NotFound, StoreError
from hardwon.types import Draft, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.core import Engine
    from hardwon.engine.record import Submission
    from hardwon.store.sessions.reads import Waiting

# What is wrong with an entry and not with the store.
_POISON = (InvalidInput, NotFound, ValueError, TypeError, LookupError, OverflowError)


def admit(engine: Engine, waiting: Sequence[Waiting]) -> tuple[str, ...]:
    """Take in what waits; a line for each that cannot be taken in at all. StoreError where neither the store nor the spool can take
    them."""
    told: list[str] = []
    for one in waiting:
        try:
            said = decode(one.said)
            _enter(engine, said)
        except _POISON as error:
            # Its words may hold anything, and stay out of logs.
            told.append(f"{StoreError.kind}: a lesson was lost: {type(error).__name__}")
            continue
        if one.replaces:
            _replace(engine, said, one.replaces)
    return tuple(told)


def _enter(engine: Engine, said: Submission) -> None:
    try:
        with Guarded(engine, marks=False) as writer:
            enter_once(engine, writer, said)
    except StoreError as error:
        spooled(engine, said, error)


def _replace(engine: Engine, said: Submission, text: str) -> None:
    """What was said before in the session gives way to what was said now; not where a person stands behind it."""
    from hardwon.intake import merge

    earlier = merge.twin_key(Draft(text, said.draft.kind, said.draft.outcome, visibility=said.draft.visibility))
    try:
        with engine.store.read() as reader:
            known = reader.twin(earlier)
            now = reader.twin(merge.twin_key(said.draft))
        if known is not None and now is not None and known.id != now.id and known.origin.session == said.origin.session:
            engine.link(now.id, known.id, "replaces", Scope(said.origin))
    except HardwonError:
        return  # both stay, and whoever reads them sees which is newer
