"""One memory that comes from elsewhere: compared with what is known, and written with its journal."""

from __future__ import annotations

from hardwon.engine.erased import recognised
from hardwon.engine.screening import SAID
from hardwon.intake import merge
from hardwon.search import terms
from hardwon.types import Link, Occurrence, Origin
from hardwon.upkeep import feedback, incoming, trust
from hardwon.upkeep.revise import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.screening import Run
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Event, ExportedMemory, Memory, Version

    Fate = tuple[str, str]

_UUID_LENGTH = 36


def take(run: Run, reader: Reader, item: ExportedMemory) -> Fate:
    """What becomes of a prepared memory, and why where that is to be told; written through the run's writer, if it has one."""
    if gone := _erased(run, reader, item):
        return "refused", gone
    return _take(run, reader, item) if item.versions else _judge(run, reader, item)


def _take(run: Run, reader: Reader, item: ExportedMemory) -> Fate:
    if item.memory.status == "rejected" and not run.keep_trust:
        return "refused", "it was rejected where it comes from; a person takes that verdict over with --keep-trust"
    for known in reader.get([item.memory.id]):
        return _compare(run, reader, known, item)
    for known in _by_other_name(run, reader, item):
        return _compare_names(run, reader, known, item)
    refusing = run.rejection(reader, item.memory)
    if refusing is not None:
        return "refused", f"{refusing.called} says the same and was rejected"
    return _new_or_twin(run, reader, item)


def _erased(run: Run, reader: Reader, item: ExportedMemory) -> str:
    """Why a memory stays out of which anything was erased here, be it by its id, a name, or the words of one of its versions."""
    if not reader.has_erased():
        return ""
    names = (item.memory.id, *(reader.aliased(name) for name in (item.memory.id, *item.aliases)))
    ids = reader.lookup(item.memory.commit) if item.memory.kind == "change" and not item.versions else names
    for known in reader.get([name for name in ids if name]):
        if known.erased:
            return f"{known.called} was erased here"
    said = [item.memory, *(version.content for version in item.versions)]
    found = (recognised(run.engine, reader, words) for words in said if words.text)
    return next((f"{known.called} said the same and was erased" for known in found if known is not None), "")


def _by_other_name(run: Run, reader: Reader, item: ExportedMemory) -> list[Memory]:
    """The memories that were known before this import, and go by the id or a name of this one."""
    names = (reader.aliased(name) for name in (item.memory.id, *item.aliases))
    return reader.get([found for found in names if found and found not in run.made])


def _new_or_twin(run: Run, reader: Reader, item: ExportedMemory) -> Fate:
    """A memory of its own, unless the same is known already. Two of one source that have ids are two, as they are there."""
    memory = item.memory
    key = merge.twin_key(memory)
    if memory.status in incoming.LIVING:
        twin = reader.twin(key)
        if twin is not None and (twin.id not in run.made or memory.id not in run.given):
            return _join(run, reader, twin, item)
        if twin is None and key in run.keys and memory.id not in run.given:  # of a dry run, which has written nothing
            return ("repeated" if item.occurrences else "known"), ""
        run.keys.add(key)
    run.made.add(memory.id)
    if run.writer is not None:
        _make(run, run.writer, item, key)
    return "new", ""


def _compare(run: Run, reader: Reader, known: Memory, item: ExportedMemory) -> Fate:
    """The same id: what it has beyond ours comes in; where the two went different ways, ours stays."""
    if known.number is None:
        return "conflicts", f"{known.id} is derived from the repository here"
    versions = incoming.newer_versions(reader.versions(known.id), item.versions)
    fresh = incoming.newer_occurrences(reader.occurrences(known.id), item.occurrences)
    if versions is None or fresh is None:
        return "conflicts", f"{known.called} went another way here; it stays as it is"
    if versions and (refused := _words_refused(run, reader, known, item.memory)):
        return refused
    if versions or fresh:
        if run.writer is not None:
            _extend(run, run.writer, known, item, versions, fresh)
        return "repeated", ""
    if known.status != item.memory.status and known.status not in incoming.SET_ASIDE:
        return "conflicts", f"{known.called} is {known.status} here and {item.memory.status} there"
    return ("repeated" if _complete(run, reader, known, item) else "known"), ""


def _words_refused(run: Run, reader: Reader, known: Memory, theirs: Memory) -> Fate | None:
    """Why a known memory does not get the newer words of theirs; None where it does."""
    if known.status == "rejected":  # with other words it would no longer keep out what was rejected
        return "refused", f"{known.called} was rejected"
    if not (run.keep_trust or trust.may_change(known, "import")):
        return "conflicts", f"{known.called} is {known.trust}: an import does not change its words, unless with --keep-trust"
    refusing = run.rejection(reader, theirs)
    if refusing is not None and refusing.id != known.id:
        return "refused", f"{refusing.called} says the same and was rejected"
    twin = reader.twin(merge.twin_key(theirs))
    if twin is not None and twin.id != known.id and twin.id not in run.made:
        return "conflicts", f"{known.called} would say what {twin.called} says"
    return None


def _compare_names(run: Run, reader: Reader, known: Memory, item: ExportedMemory) -> Fate:
    if merge.twin_key(known) != merge.twin_key(item.memory):
        return "conflicts", f"it says something else than {known.called}, which has its name here"
    return _join(run, reader, known, item)


def _join(run: Run, reader: Reader, known: Memory, item: ExportedMemory) -> Fate:
    """The same under another id: each time that it happened counts, and the id becomes another name."""
    theirs = item.occurrences
    fresh = list(theirs) if known.id in run.made else incoming.missing(reader.occurrences(known.id), theirs)
    if fresh and run.writer is not None:
        grown = incoming.after(known, item.memory, fresh)
        run.writer.put(grown)
        _happen(run, run.writer, grown, fresh)
        known = grown
    if run.writer is not None and item.memory.id in run.given and not _stays(run, known):
        run.writer.alias(item.memory.id, known.id)
    return ("repeated" if _complete(run, reader, known, item) or fresh else "known"), ""


def _judge(run: Run, reader: Reader, item: ExportedMemory) -> Fate:
    """What was done elsewhere to something derived; a verdict counts only where a person vouches for it."""
    memory = item.memory
    ids = reader.lookup(memory.commit) if memory.kind == "change" else [memory.id]
    known = next((one for one in reader.get(ids) if one.number is None and one.kind == memory.kind), None)
    if known is None:
        what = f"commit {memory.commit[:10]}" if memory.commit else memory.id
        return "waiting", f"{what} is not here; read it (`hardwon init`), and import again"
    if not run.keep_trust:
        return "refused", f"it is a verdict on {known.called}; a person takes it over with --keep-trust"
    said = [("status", known.status, memory.status), ("trust", known.trust, memory.trust)]
    moved = [(name, old, new) for name, old, new in said if old != new]
    if run.writer is not None:
        for name, old, new in moved:
            known = known.replace(**{name: new})
            run.writer.put(known)
            run.writer.log(name, known, run.origin, run.now, payload=f"{old}>{new}")  # type: ignore[arg-type]  # status, trust
    heard = _hear(run, known, memory)
    return ("repeated" if _complete(run, reader, known, item) or moved or heard else "known"), ""


# Writing


def _make(run: Run, writer: Writer, item: ExportedMemory, key: bytes) -> None:
    """A new memory with its versions, in order, and each time that it happened."""
    occurrences = item.occurrences or (_only(item.memory),)
    memory = item.memory.replace(number=writer.next_number(), seen=len(occurrences))
    writer.put(memory, _meeting(run, key), terms.of_memory(memory))
    # One entry tells the last version and the first occurrence, as when somebody records something new.
    first = _tell(run, writer, memory, item.versions, occurrences[0].status)
    writer.occur(occurrences[0].replace(memory=memory.id), first.seq)
    _happen(run, writer, memory, occurrences[1:])
    _hear(run, memory.replace(useful=0, useless=0), memory)
    _complete(run, writer, memory, item)


def _meeting(run: Run, key: bytes) -> bytes:
    """The key by which equal words meet. What the repository's files say meets nothing until it is approved: or a stranger who guessed
    what will be recorded here would have it recorded as one more occurrence of theirs."""
    return b"" if run.shared else key


def _only(memory: Memory) -> Occurrence:
    """The occurrence of a memory that tells none."""
    return Occurrence(memory.id, memory.created_at, memory.outcome, memory.status, memory.origin, memory.branch, memory.commit)


def _tell(run: Run, writer: Writer, memory: Memory, versions: Sequence[Version], last: str) -> Event:
    """The versions into the journal; ``last`` is the payload of the last one's entry, which is returned."""
    erased = 0
    for version in versions:
        payload = last if version is versions[-1] else VERSION
        said = version.content.replace(number=memory.number)
        event = writer.log(
            "imported", said, run.origin, run.now, run.engine.entropy(16), payload, recorded_at=version.recorded_at
        )
        erased = erased if version.content.text else version.version
    if erased:
        writer.erase_versions(memory.id, erased + 1)
    return event


def _happen(run: Run, writer: Writer, memory: Memory, occurrences: Sequence[Occurrence]) -> None:
    for one in occurrences:
        event = writer.log("imported", memory, run.origin, run.now, payload=one.status)
        writer.occur(one.replace(memory=memory.id), event.seq)


def _extend(
    run: Run, writer: Writer, known: Memory, item: ExportedMemory, versions: Sequence[Version], fresh: Sequence[Occurrence]
) -> None:
    """What they have beyond ours; in status they are ahead of us, where a person vouches for it."""
    theirs = item.memory
    grown = incoming.after(known, theirs, fresh)
    if run.keep_trust and known.status not in incoming.SET_ASIDE:
        grown = grown.replace(status=theirs.status, replaced_by=theirs.replaced_by)
    if versions:
        said = {name: getattr(theirs, name) for name in (*SAID, "valid_from", "valid_until")}
        grown = grown.replace(**said, version=versions[-1].version, updated_at=max(known.updated_at, theirs.updated_at))
        writer.put(grown, _meeting(run, merge.twin_key(grown)), terms.of_memory(grown))
        _tell(run, writer, grown, versions, VERSION)
    else:
        writer.put(grown)
    _happen(run, writer, grown, fresh)
    _complete(run, writer, grown, item)


def _hear(run: Run, known: Memory, stated: Memory) -> bool:
    """Feedback that was given elsewhere, one entry for each who gave it; only where nobody here has said anything."""
    words = [feedback.USEFUL] * stated.useful + [feedback.USELESS] * stated.useless
    if not words or known.useful or known.useless:
        return False
    if run.writer is not None:
        for place, word in enumerate(words):
            run.writer.log("feedback", known, Origin("import", "", str(place), "import"), run.now, payload=word)
        run.writer.put(known.replace(useful=stated.useful, useless=stated.useless))
    return True


def _complete(run: Run, reader: Reader, known: Memory, item: ExportedMemory) -> bool:
    """Other names, relations and, where a person vouches, the trust of a known memory; whether there is anything to add."""
    if _stays(run, known):
        return False
    aliases = [alias for alias in item.aliases if alias != known.id and not reader.aliased(alias)]
    told = [link for link in item.links if not (run.shared and _is_believed(reader, link))]
    links = [link for link in told if not _is_related(reader, known.id, link)]
    vouched = run.keep_trust and known.trust == "imported" and item.memory.trust not in ("imported", "quarantined")
    if run.writer is not None:
        for alias in aliases:
            run.writer.alias(alias, known.id)
        run.untied += [(known.id, link) for link in told if not tie(run.writer, known.id, link)]
        if vouched:
            _vouch(run, run.writer, known.id, item.memory)
    return bool(aliases or links or vouched)


def _vouch(run: Run, writer: Writer, identifier: str, stated: Memory) -> None:
    (known,) = writer.get([identifier])
    writer.put(known.replace(trust=stated.trust))
    writer.log("trust", known, run.origin, run.now, payload=f"imported>{stated.trust}")


def _stays(run: Run, known: Memory) -> bool:
    """Whether a known memory is to stay exactly as it is."""
    return run.shared and not trust.may_change(known, "import")


def _is_believed(reader: Reader, link: Link) -> bool:
    """Whether a relation speaks of something that was recorded here, and is believed more than an import."""
    targets = reader.get(_targets(reader, link.reference))
    return any(one.number is not None and not trust.may_change(one, "import") for one in targets)


def _is_related(reader: Reader, source: str, link: Link) -> bool:
    targets = _targets(reader, link.reference)
    known = [one for one in reader.links(source) if one.source == source and one.kind == link.kind]
    return any(one.reference == link.reference or one.target in targets for one in known) or source in targets


def tie(writer: Writer, source: str, link: Link) -> bool:
    """Relate two memories; while the other one is not here the relation is kept open, and the answer is False."""
    known = [one for one in writer.links(source) if one.source == source and one.kind == link.kind]
    targets = _targets(writer, link.reference)
    for target in targets[:1]:
        if target != source and not any(one.target == target for one in known):
            if any(one.target is None and one.reference == link.reference for one in known):
                writer.unlink(source, link.kind, link.reference)
            writer.link(source, link.kind, target)
    if not targets and not any(one.reference == link.reference for one in known):
        writer.link(source, link.kind, link.reference)
    return bool(targets)


def _targets(reader: Reader, reference: str) -> list[str]:
    """What a relation leads to here: a commit by its hash, a memory by its id or by the id that it has elsewhere."""
    if len(reference) != _UUID_LENGTH:
        return [one.id for one in reader.get(reader.lookup(reference)) if one.commit == reference and one.kind == "change"]
    found = reader.aliased(reference)
    return [one.id for one in reader.get([reference])] or [found] * bool(found)
