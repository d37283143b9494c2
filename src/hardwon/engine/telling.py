"""What an agent is told in a session, once: what its context has already is not said again."""

from __future__ import annotations

from hardwon.agents.hearing import hears
from hardwon.engine.session_file import beat_of, noted, trouble
from hardwon.errors import StoreError
from hardwon.types import Block, Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hardwon.capture.event import Event
    from hardwon.engine.core import Engine
    from hardwon.store.sessions.writes import WorkWrites
    from hardwon.types import Hit


class Telling:
    """What may be said at one event. ``degraded`` grows with what the file of sessions could not do: then something may be said twice."""

    def __init__(self, engine: Engine, event: Event) -> None:
        self._engine = engine
        self._event = event
        self.degraded: tuple[str, ...] = ()

    def note(self, error: StoreError) -> None:
        """Something could not be done."""
        self.degraded += (trouble(error),)

    def block(
        self,
        hits: Sequence[Hit],
        budget: int,
        also: Collection[str] = (),
        mode: Mode | None = None,
        anyway: Collection[str] = (),
    ) -> Block | None:
        """The block of those hits that the agent was not told before, or that are told ``anyway``, as many as fit; they are marked, and so
        is what is told ``also``. None where there is nothing to say."""
        if not hears(self._event.client, self._event.moment):
            hits = ()  # what the agent does not get it was not told
        if not hits and not also:
            return None
        file, event = self._engine.work, self._event
        if file is None:
            return self._packed(hits, budget, mode, ())

        def write(writer: WorkWrites) -> Block | None:
            known = writer.told(event.client, event.session, event.agent).difference(anyway)
            block = self._packed(hits, budget, mode, known)
            told = [hit.memory.id for hit in block.hits if not hit.memory.is_astray] if block else []
            if news := list(dict.fromkeys((*told, *also))):
                self._mark(writer, news)
            return block

        try:
            return noted(file, self._engine, write)
        except StoreError as error:
            self.note(error)
            return self._packed(hits, budget, mode, self._told().difference(anyway))

    def _packed(self, hits: Sequence[Hit], budget: int, mode: Mode | None, known: Collection[str]) -> Block | None:
        from hardwon.search.pack import pack

        block = pack([hit for hit in hits if hit.memory.id not in known], budget, mode or Mode())
        return block if block.block else None

    def mark(self, memories: Sequence[str]) -> None:
        """The agent's context has these memories from now on, and none of those that it had."""
        if (file := self._engine.work) is None:
            return
        try:
            noted(file, self._engine, lambda writer: self._mark(writer, memories, anew=True))
        except StoreError as error:
            self.note(error)

    def _mark(self, writer: WorkWrites, memories: Sequence[str], *, anew: bool = False) -> None:
        event, now = self._event, self._engine.clock()
        session = writer.touch(event.client, event.session, now)
        if anew:
            writer.untell(session, event.agent)
        writer.tell(session, event.agent, memories)
        writer.beat(beat_of(event, now))

    def _told(self) -> set[str]:
        engine, event = self._engine, self._event
        if engine.work is None:
            return set()
        try:
            with engine.work.read() as reader:
                if not isinstance(reader, str):
                    return reader.told(event.client, event.session, event.agent)
        except StoreError as error:
            self.note(error)
        return set()
