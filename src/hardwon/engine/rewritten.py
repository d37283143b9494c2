"""What a force push, a rebase or an amended commit left behind: derived memories follow the refs."""

from __future__ import annotations

from hardwon.engine.changes import SETTLED, SLICE_AWAY, identifier, slices
from hardwon.types import LINKS, Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader


class Rewritten(Value):
    """Known commits that no ref of any registered folder reaches (``lost``), silent ones that a ref reaches again (``found``).

    While a folder cannot be asked nothing is lost; ``unseen`` names such folders, where it matters.
    """

    lost: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()
    unseen: tuple[str, ...] = ()


def compare(engine: Engine, reader: Reader, known: set[str], listed: Iterable[str]) -> Rewritten:
    """The known commits against the refs; git is asked only about those that the listing of HEAD does not have."""
    silent = {memory.commit for memory in reader.find(Filter(kinds=("change",), statuses=("expired",)), -1)}
    lost = known.difference(listed)
    unseen = []
    for folder in _folders(engine):
        if not lost:
            break
        left = _unreached(folder, lost)
        if left is None:
            unseen.append(folder)
        else:
            lost &= left
    found = frozenset(silent - lost)
    lost -= silent
    return Rewritten(frozenset() if unseen else frozenset(lost), found, tuple(unseen) if lost else ())


def _folders(engine: Engine) -> list[str]:
    """Git's folders of this repository, the one at hand first."""
    here = engine.home.checkout.common_dir
    return [here, *(folder.path for folder in engine.home.entry.folders if folder.path != here)]


def _unreached(folder: str, shas: set[str]) -> set[str] | None:
    from hardwon.importers import refs

    return refs.unreached(folder, shas)


def apply(engine: Engine, rewritten: Rewritten) -> tuple[int, int, int]:
    """Drop what no ref reaches, silence what somebody spoke of, bring back what is reached again: the count of each."""
    from hardwon.upkeep.reach import reached, unreached

    dropped = silenced = restored = 0
    for shas in slices(sorted(rewritten.lost), SLICE_AWAY):
        ids = [identifier(engine, sha) for sha in shas]
        with engine.write() as writer:
            gone = set(writer.drop(ids))
            kept = [memory for memory in writer.get(ids) if unreached(memory.status) != memory.status]
            for memory in kept:
                writer.put(memory.replace(status=unreached(memory.status)))
            if gone or kept:
                writer.set_setting(SETTLED, "")
        dropped += len(gone)
        silenced += len(kept)
    for shas in slices(sorted(rewritten.found)):
        with engine.write() as writer:
            for memory in writer.get([identifier(engine, sha) for sha in shas]):
                writer.put(memory.replace(status=reached(memory.status)))
                restored += 1
            writer.set_setting(SETTLED, "")
    return dropped, silenced, restored


def foresee(engine: Engine, reader: Reader, rewritten: Rewritten) -> int:
    """How many of the lost would be dropped."""
    ids = [identifier(engine, sha) for sha in rewritten.lost]
    return sum(not reader.events(one, limit=1) and not any(link.kind in LINKS for link in reader.links(one)) for one in ids)
