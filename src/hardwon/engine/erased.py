"""Against the return of what was erased: every door asks here before it lets words in."""

from __future__ import annotations

from hardwon.store.keys import erasure_key
from hardwon.types import Finding, Memory
from hardwon.upkeep.erasure import saying

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Draft

# A setting of the store: which keys its erased words were digested with, newest last.
KEYS = "erasure_keys"


def recognised(engine: Engine, reader: Reader, words: Draft | Memory) -> Memory | None:
    """The erased memory that said these very words; None too where the key is lost, which ``findings`` tells."""
    key = erasure_key.read(engine.erasure_key)
    found = reader.erased(erasure_key.digest(key, saying(words))) if key else ""
    if not found:
        return None
    # After a repair it may not be known any more whose words they were.
    return next(iter(reader.get([found])), Memory(found, None, "fact", None, ""))


def note_keys(writer: Writer, *names: str) -> None:
    """Note which keys the digests in the store were made with, by what ``check_of`` tells of each."""
    known = writer.setting(KEYS).split()
    more = dict.fromkeys(name for name in names if name not in known)
    if more:
        writer.set_setting(KEYS, " ".join((*known, *more)))


def findings(engine: Engine) -> list[Finding]:
    """What hinders that something erased is gone, and stays away."""
    with engine.store.read() as reader:
        pending, known, any_erased = reader.setting("erasing"), reader.setting(KEYS).split(), reader.has_erased()
    found = []
    if pending == "file":
        found.append(
            Finding(
                "warning", "what was erased is not out of the file yet", engine.store.path, "run `hardwon compact`, which ends it"
            )
        )
    elif pending:
        what = "what was erased still lies in the log, which a reader holds"
        found.append(
            Finding("warning", what, f"{engine.store.path}-wal", "end that reader; the next write, or `hardwon compact`, cuts it")
        )
    if any_erased:
        key = erasure_key.read(engine.erasure_key)
        lost = set(known) - ({erasure_key.check_of(key)} if key else set())
        if lost:
            what = "the key by which erased words are recognised is not the one of then: they would be let in again"
            found.append(
                Finding("note", what, engine.erasure_key, "put the file back from a copy of the folder, if there is one")
            )
    return found
