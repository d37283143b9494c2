"""A small face of a repository's memory for an agent loop."""

from __future__ import annotations

from hardwon.doors.api import open_repository
from hardwon.errors import InvalidInput
from hardwon.types import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hardwon.types import Kind, Receipt


class AgentMemoryEngine:
    """A small face of a repository's memory for an agent loop: remember under a tier, build the context of a task.

    ``semantic`` keeps what holds (facts, decisions, rules), ``episodic`` what happened and how it ended, ``procedural`` how
    something is done here. The memory is made if the folder has none.
    """

    TIERS: Mapping[str, Kind] = {"semantic": "fact", "episodic": "attempt", "procedural": "howto"}

    def __init__(self, path: str = ".", *, session: str = "", client: str = "agent") -> None:
        """NoStore is never raised: a folder without a memory gets one, and its history is read."""
        self.repository = open_repository(path, make=True, origin=Origin("agent", client, session, "python"))

    def remember(self, text: str, tier: str = "semantic", **more: Any) -> Receipt:
        """Keep a memory of a tier; ``more`` as for ``Repository.record`` (``kind`` names a finer one than the tier's)."""
        if tier not in self.TIERS:
            raise InvalidInput(f"there is no tier {tier!r}", field="tier", remedy=f"one of: {', '.join(self.TIERS)}")
        return self.repository.record(text, **{"kind": self.TIERS[tier], **more})

    def recall(self, task: str, k: int = 5) -> list[tuple[dict[str, Any], float]]:
        """The best ``k`` memories for a task with their scores."""
        return self.repository.recall_memory(task, k)

    def context(self, task: str, *, file: str = "", symbol: str = "", budget: int = 2000) -> str:
        """The text to put before a prompt: the lessons of the place, what fits the task, what a session should know; each memory once,
        within ``budget`` tokens, empty when there is nothing to say."""
        from hardwon.search.pack import pack

        parts = [self.repository.brief(budget=budget)]
        if file or symbol:
            parts.append(self.repository.before(file=file, symbol=symbol, budget=budget))
        parts.append(self.repository.recall(task, file=file, symbol=symbol, budget=budget))
        # What a place and a question both bring is said once, the place first: it is the surest.
        order = (*parts[1:], parts[0])
        hits = {hit.memory.id: hit for part in reversed(order) for hit in part.hits}
        unique = dict.fromkeys(hit.memory.id for part in order for hit in part.hits)
        return pack([hits[identifier] for identifier in unique], budget, parts[-1].mode).block

    def close(self) -> None:
        """Let go of files."""
        self.repository.close()
