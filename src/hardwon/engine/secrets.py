"""Secrets that are stored already, from before a rule knew them: found again by today's rules, and taken out for good."""

from __future__ import annotations

from hardwon.engine import record
from hardwon.engine.changes import SLICE_AWAY, clean, identifier, note_ids, quick, says, slices
from hardwon.engine.erase import PENDING, finish
from hardwon.engine.naming import OWN
from hardwon.intake import merge
from hardwon.intake.patterns import MARKED, compiled
from hardwon.intake.redact import redact_branch, redact_draft
from hardwon.search import terms
from hardwon.types import Draft, Value
from hardwon.upkeep.revise import REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hardwon.engine.changes import Chooser
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Change, Link, Memory, Scope

    Redact = Callable[[str], tuple[str, int]]

_CONTENT = ("text", "detail", "code", "because", "rejected", "anchors", "tags", "metadata")
_FIELDS = (*_CONTENT, "author", "branch")


class Found(Value):
    """``count`` secrets of one kind in a field; ``version`` is 0 for what is current, else the number of an earlier version.

    ``field`` is one of the memory's, or of a commit's: ``files``, ``functions``, ``identifiers`` (kept as terms of the index only),
    ``links`` (a secret that was taken for the hash of another commit).
    """

    field: str
    kind: str
    count: int
    version: int = 0


class Held(Value):
    """A memory that holds secrets, and where; never the secrets themselves."""

    memory: str
    number: int | None
    commit: str
    found: tuple[Found, ...]


def find(engine: Engine, choose: Chooser = quick, progress: Callable[[int, int], None] | None = None) -> list[Held]:
    """Everything stored that would not be let in now: current rows, all versions, what is indexed of commits; ``progress(done, of)``.

    The identifiers of a commit's lines are kept as words of the index only, so they are judged by reading the commit again; of
    commits that git has lost, only the rows are. In views of a slice each, for it takes minutes: who writes meanwhile is looked at by
    the rules of today anyway.
    """
    held: list[Held] = []
    with engine.store.read() as reader:
        notes = note_ids(reader)
        known = reader.known_commits()
    shas = _in_gits_order(engine, known)
    total, done = len(notes) + 2 * len(shas), 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, total)

    changes = [identifier(engine, sha) for sha in shas]
    for ids, look in ((notes, _in_note), (changes, _in_row)):
        for batch in slices(ids):
            with engine.store.read() as reader:
                for memory in reader.get(batch):
                    held += _held(memory, look(reader, memory, choose(_said(reader, memory))))
            step(len(batch))
    held += _indexed(engine, shas, choose, step)
    return _joined(held)


def _in_gits_order(engine: Engine, known: set[str]) -> list[str]:
    """Commits in the order in which git reads them quickly; those that it has lost at the end."""
    from hardwon.importers import refs

    place = engine.place.checkout if engine.place else None
    listed = refs.list_commits(place.root, max(len(known), 1)) if place and place.git_dir else []
    first = [sha for sha in listed if sha in known]
    return first + sorted(known.difference(first))


def _said(reader: Reader, memory: Memory) -> list[str]:
    """All texts of a memory and of its earlier versions: looked at as one, they cost the scanner a fraction."""
    contents = [memory, *(version.content for version in reader.versions(memory.id) if version.version < memory.version)]
    change = reader.change(memory.id)
    texts = [text for content in contents for field in _CONTENT for text in _texts(content, field)]
    return [*texts, memory.author, memory.branch, *((*change.files, *change.functions) if change else ())]


def take_out(engine: Engine, scope: Scope, choose: Chooser = quick) -> int:
    """Rewrite every memory that holds a secret, without it; how many.

    What the journal speaks of gets a new version ("revised", "redacted") and loses the content of all earlier ones; what is derived
    from the repository is rewritten in place. At last the file is written anew, so that no free page keeps what was taken out.
    """
    held = find(engine, choose)
    again = {change.sha: change for change in _read(engine, [one.commit for one in held if _is_change(one)])}
    for batch in slices([one.memory for one in held], SLICE_AWAY):
        with engine.write() as writer:
            for memory in writer.get(batch):
                change = again.get(memory.commit)
                of_change = (*change.added, *change.removed) if change else ()
                redact = choose([*_said(writer, memory), *of_change])
                _rewrite(engine, writer, memory, change, scope, redact)
            writer.set_setting(PENDING, "file")
    if held:
        finish(engine)
    return len(held)


# Looking


def _held(memory: Memory, found: Iterable[Found]) -> list[Held]:
    places = tuple(found)
    commit = memory.commit if memory.kind == "change" else ""
    return [Held(memory.id, memory.number, commit, places)] if places else []


def _is_change(held: Held) -> bool:
    return bool(held.commit)


def _joined(held: Sequence[Held]) -> list[Held]:
    """One entry a memory."""
    known: dict[str, Held] = {}
    for one in held:
        before = known.get(one.memory)
        known[one.memory] = one if before is None else before.replace(found=before.found + one.found)
    return list(known.values())


def _in_note(reader: Reader, memory: Memory, redact: Redact) -> Iterator[Found]:
    """In the current row, and in what earlier versions said."""
    yield from _compared(memory, _without(memory, redact), 0)
    for version in reader.versions(memory.id):
        if version.version < memory.version:
            yield from _compared(version.content, _without(version.content, redact), version.version)


def _in_row(reader: Reader, memory: Memory, redact: Redact) -> Iterator[Found]:
    """In a commit's message, and in its files and functions."""
    yield from _in_note(reader, memory, redact)
    change = reader.change(memory.id)
    for field in ("files", "functions") if change else ():
        texts = getattr(change, field)
        yield from _counted(field, texts, [redact(text)[0] for text in texts], 0)
    if strays := _strays(reader, memory, _without(memory, redact)):
        yield Found("links", "secret", len(strays))


def _strays(reader: Reader, memory: Memory, cleaned: Memory) -> list[Link]:
    """What a commit was said to mention, that is no commit here, and that its message does not hold once it is without secrets."""
    return [
        link for link in reader.links(memory.id)
        if (link.source, link.kind, link.target) == (memory.id, "mentions", None) and not says(cleaned.text, cleaned.detail, link.reference)
    ]  # fmt: skip


def _indexed(engine: Engine, shas: Sequence[str], choose: Chooser, step: Callable[[int], None]) -> list[Held]:
    """Identifiers of commits that would be left out now, and whose term the index has."""
    held: list[Held] = []
    for change in _read(engine, shas):
        cleaned, count = clean(change, choose)
        words = [
            word for side in ("added", "removed") if count for word in _left_out(getattr(change, side), getattr(cleaned, side))
        ]
        if words:
            with engine.store.read() as reader:
                for memory in reader.get([identifier(engine, change.sha)]):
                    found = _counted("identifiers", *_kept(reader, memory, words, cleaned, choose(words)), 0)
                    held += _held(memory, found)
        step(1)
    return held


def _kept(reader: Reader, memory: Memory, words: Sequence[str], cleaned: Change, redact: Redact) -> tuple[list[str], list[str]]:
    """Those of the words that the index has by a term which nothing clean of the commit shares; with and without secrets."""
    shared = terms.of_change(cleaned).counts
    own = {word: [term for term in terms.word_terms(word) if term not in shared] for word in words}
    asked = sorted({term for found in own.values() for term in found})
    there = {term for document in reader.documents(reader.keys([memory.id]), asked) for term in document.counts}
    kept = [word for word, found in own.items() if not there.isdisjoint(found)]
    return kept, [redact(word)[0] for word in kept]


def _left_out(before: Sequence[str], after: Sequence[str]) -> list[str]:
    return [] if before == after else [word for word in before if word not in set(after)]


def _read(engine: Engine, shas: Sequence[str]) -> Iterator[Change]:
    """The commits as git tells them, those that it still has."""
    from hardwon.importers import history

    checkout = engine.place.checkout if engine.place else None
    if checkout is None or not checkout.git_dir or not shas:
        return
    wanted = set(shas)
    yield from (change for change in history.read_commits(checkout.root, shas, checkout.branch) if change.sha in wanted)


# What a memory says, with and without


def _without(memory: Memory, redact: Redact) -> Memory:
    """The memory without secrets."""
    draft = Draft(**{name: getattr(memory, name) for name in _CONTENT})
    content = {name: getattr(redact_draft(draft, redact)[0], name) for name in _CONTENT}
    content["tags"] = tuple(dict.fromkeys(content["tags"]))
    cleaned: Memory = memory.replace(**content, author=redact(memory.author)[0], branch=redact_branch(memory.branch, redact))
    return cleaned


def _compared(before: Memory, after: Memory, version: int) -> Iterator[Found]:
    for field in _FIELDS:
        if getattr(before, field) != getattr(after, field):
            yield from _counted(field, _texts(before, field), _texts(after, field), version)


def _texts(memory: Memory, field: str) -> tuple[str, ...]:
    value = getattr(memory, field)
    if field == "anchors":
        return tuple(text for anchor in value for text in (anchor.path, anchor.symbol))
    return (value,) if isinstance(value, str) else value


def _counted(field: str, before: Sequence[str], after: Sequence[str], version: int) -> Iterator[Found]:
    """The marks by kind that are new; a tag loses its secret without a mark."""
    fresh = _marks(after)
    for kind, count in _marks(before).items():
        fresh[kind] = fresh.get(kind, 0) - count
    found = [Found(field, kind, count, version) for kind, count in fresh.items() if count > 0]
    if not found and tuple(before) != tuple(after):
        found = [Found(field, "secret", 1, version)]
    yield from found


def _marks(texts: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        for mark in compiled(MARKED).findall(text):
            kind = mark.partition(":")[2].rstrip("]")
            counts[kind] = counts.get(kind, 0) + 1
    return counts


# Taking out


def _rewrite(engine: Engine, writer: Writer, memory: Memory, change: Change | None, scope: Scope, redact: Redact) -> None:
    cleaned = _without(memory, redact)
    journaled = bool(writer.versions(memory.id))
    if journaled:
        cleaned = _supersede(engine, writer, cleaned, scope)
    if memory.kind == "change":
        _refresh(writer, cleaned, change, redact)
    elif not journaled:
        writer.put(cleaned, merge.twin_key(cleaned), terms.of_memory(cleaned))


def _supersede(engine: Engine, writer: Writer, cleaned: Memory, scope: Scope) -> Memory:
    """A new version without the secret, and nothing in those before it."""
    revised: Memory = cleaned.replace(version=cleaned.version + 1, updated_at=engine.clock())
    own = any(alias.startswith(OWN) for alias in writer.aliases(cleaned.id))
    twin = b"" if own else merge.twin_key(revised)
    record.keep(engine, writer, "revised", revised, record.signed(scope.origin), twin, fresh=True, payload=REDACTED)
    writer.erase_versions(cleaned.id, revised.version)
    return revised


def _refresh(writer: Writer, cleaned: Memory, change: Change | None, redact: Redact) -> None:
    """A commit's row, files and index, from git where it still has the commit."""
    for link in _strays(writer, cleaned, cleaned):
        writer.unlink(link.source, link.kind, link.reference)
    known = clean(change, lambda _: redact)[0] if change else writer.change(cleaned.id)
    if known is not None:
        shown = known.replace(
            subject=cleaned.text,
            body=cleaned.detail,
            files=tuple(redact(path)[0] for path in known.files),
            functions=tuple(redact(text)[0] for text in known.functions),
        )
        writer.refresh_change(cleaned, shown, terms.of_change(shown))
