"""Commits as memories: cleaned, kept in slices, brought up to date, and what became of each."""

from __future__ import annotations

from hardwon.capture import ours
from hardwon.engine.namespace import derived_id
from hardwon.engine.record import erased_before
from hardwon.intake.redact import redact, redact_branch
from hardwon.intake.shape import clean_text
from hardwon.search import terms
from hardwon.types import KINDS, Change, Filter, Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import Lexical, Relation

    # A text without its secrets, and how many there were.
    Redactor = Callable[[str], tuple[str, int]]
    # Which of them is enough for texts that belong together, such as a commit's: looked at as one, they cost the scanner a third.
    Chooser = Callable[[Iterable[str]], Redactor]

# What takes secrets out, unless the caller says otherwise.
REDACTOR: Redactor = redact
# Commits a transaction: few enough that other writers hardly wait (a slice takes a tenth of a second, on a busy machine two).
SLICE = 100
# The same where the index has to let go of what it knew of them: three milliseconds each. Fewer would not make it shorter, for the
# words of a few dozen commits lie on most pages of the index.
SLICE_AWAY = 50
# What is not read from commits.
_NOTES = tuple(kind for kind in KINDS if kind != "change")
# A setting of the store: "yes" while every reference between changes is tied and every fate told.
SETTLED = "history_settled"
# A setting of the store: changes at the edge of a shallow clone, of which only the message was read.
EDGE = "history_edge"


class Tally:
    """What was read, counted while it goes on."""

    def __init__(self) -> None:
        self.added = self.redacted = self.capped = self.unreadable = 0

    def count(self, change: Change, secrets: int) -> None:
        """One more commit."""
        self.added += 1
        self.redacted += secrets
        self.capped += change.extent == "capped"
        self.unreadable += change.extent in ("names", "message")


def identifier(engine: Engine, sha: str) -> str:
    """The id of a commit's memory, known before it is read."""
    return derived_id(engine, sha)


def add(engine: Engine, changes: Iterable[Change], tally: Tally, progress: Callable[[int], None] | None, choose: Chooser) -> None:
    """Keep commits as memories, in slices of one transaction each; known ones are passed over."""
    for batch in batches(changes):
        ready: list[tuple[Memory, Change, Lexical, int]] = []
        for change in batch:
            cleaned, secrets = clean(change, choose)
            ready.append((_memory(engine, cleaned), cleaned, terms.of_change(cleaned), secrets))
        with engine.write() as writer:
            _unsettle(writer)
            kept = [writer.add_change(*_unless_erased(engine, writer, *item[:3])) for item in ready]
        for (_, change, _, secrets), new in zip(ready, kept, strict=True):
            if new:
                tally.count(change, secrets)
        if progress:
            progress(len(batch))


def _unless_erased(
    engine: Engine, writer: Writer, memory: Memory, change: Change, lexical: Lexical
) -> tuple[Memory, Change, Lexical]:
    """A commit as it is kept: of one whose message was erased under another hash, the hash, so that it is not read again."""
    if erased_before(engine, writer, memory) is None:
        return memory, change, lexical
    from hardwon.upkeep.erasure import emptied

    left = emptied(memory)
    return left, Change(change.sha, change.at, ""), terms.of_memory(left)


def refresh(engine: Engine, changes: Iterable[Change], choose: Chooser) -> int:
    """Bring changes up to date that were at the edge of a shallow clone; how many."""
    count = 0
    for batch in batches(changes):
        ready = [(change, terms.of_change(change)) for change, _ in (clean(change, choose) for change in batch)]
        with engine.write() as writer:
            for change, lexical in ready:
                for memory in writer.get([identifier(engine, change.sha)]):
                    if not memory.erased:
                        writer.refresh_change(memory, change, lexical)
                        count += 1
            left = set(writer.setting(EDGE).split()) - {change.sha for change, _ in ready}
            writer.set_setting(EDGE, " ".join(sorted(left)))
    return count


def _unsettle(writer: Writer) -> None:
    if writer.setting(SETTLED):
        writer.set_setting(SETTLED, "")


def quick(texts: Iterable[str]) -> Redactor:
    """The quick rules, whatever the texts are."""
    return REDACTOR


def clean(change: Change, choose: Chooser) -> tuple[Change, int]:
    """A commit without secrets, in the index neither, and without what a reader cannot see; how many secrets there were."""
    redactor = choose((change.subject, change.body, *change.functions, *change.added, *change.removed, *change.files))
    subject, first = _clean_text(ours.strip(change.subject, whole=True), redactor)
    body, second = _clean_text(ours.strip(change.body, whole=True), redactor)
    words = {name: _without_secrets(getattr(change, name), redactor) for name in ("functions", "added", "removed")}
    author = clean_text(change.author, "author", len(change.author) + 1)
    (author, *files), third = _clean_names((author, *change.files), redactor)
    branch = _shown(redact_branch(change.branch, redactor))
    count = first + second + third + sum(len(getattr(change, name)) - len(kept) for name, kept in words.items())
    related = tuple(relation for relation in change.relations if _still_named(relation, change, subject, body))
    return change.replace(
        subject=subject, body=body, author=author, files=tuple(files), branch=branch, relations=related, **words
    ), count


def _still_named(relation: Relation, change: Change, subject: str, body: str) -> bool:
    """Whether the message still names a commit so, once it is without secrets: one in hexadecimal was taken for a hash.

    Of the end of a long message, which is not kept, only what says what it does to the other commit is believed.
    """
    if says(subject, body, relation.target):
        return True
    return relation.kind != "mentions" and not says(change.subject, change.body, relation.target)


def says(subject: str, body: str, reference: str) -> bool:
    """Whether a message holds a reference to a change."""
    return reference.startswith("#") or reference in f"{subject}\n{body}".lower()


def _clean_names(names: tuple[str, ...], redactor: Redactor) -> tuple[list[str], int]:
    """Names with their secrets marked: one that holds a secret matches no file, but it is shown where it was."""
    count = 0
    if redactor("\n".join(names))[1]:
        cleaned = [redactor(name) for name in names]
        names, count = tuple(text for text, _ in cleaned), sum(found for _, found in cleaned)
    return list(map(_shown, names)), count


def _shown(name: str) -> str:
    """A file's or branch's name may hold line breaks and escapes: one that does is shown, not matched."""
    return name if name.isprintable() else "".join(char if char.isprintable() else "?" for char in name)


def _without_secrets(items: tuple[str, ...], redactor: Redactor) -> tuple[str, ...]:
    """The items that hold no secret; looked at together first, because nearly always none does."""
    if not items or not redactor("\n".join(items))[1]:
        return items
    return tuple(item for item in items if not redactor(item)[1])


def _clean_text(text: str, redactor: Redactor) -> tuple[str, int]:
    once, first = redactor(text)
    # Hidden characters can cut a secret apart, and cleaning joins it again.
    shown = clean_text(once, "message", len(once) + 1)
    twice, second = redactor(shown) if shown != once else (shown, 0)
    return twice, first + second


def _memory(engine: Engine, change: Change) -> Memory:
    return Memory(
        id=identifier(engine, change.sha), number=None, kind="change", outcome=None, text=change.subject or change.sha[:10],
        detail=change.body, trust="history", origin=Origin("history", "git"), author=change.author, branch=change.branch,
        commit=change.sha, created_at=change.at, updated_at=change.at, valid_from=change.at,
    )  # fmt: skip


def settle(engine: Engine) -> int:
    """Tie references between changes and write what became of each; how many stand as taken back."""
    from hardwon.upkeep.revise import AFTERWARDS, fates, retold

    with engine.write() as writer:
        writer.resolve_links()
        # What no ref reaches takes nothing back.
        silent = {memory.id for memory in writer.find(Filter(kinds=("change",), statuses=("expired",)), -1)}
        links = [link for link in writer.relations(AFTERWARDS) if link.source not in silent]
        told = fates(links, lambda kind, source: _tell(writer, kind, source))
        for one in sorted({*told, *writer.judged_changes()}):
            for memory in (known for known in writer.get([one]) if not known.erased):
                now = retold(memory, told.get(one))
                if now != memory:
                    writer.put(now)
        writer.set_setting(SETTLED, "yes")
    engine.store.checkpoint(engine.wait)
    return failed(engine)


def failed(engine: Engine) -> int:
    """How many changes stand as taken back."""
    with engine.store.read() as reader:
        return reader.count(Filter(kinds=("change",), outcomes=("failed",)))


def _tell(reader: Reader, kind: str, source: str) -> str:
    from hardwon.importers.message import revert_reason

    change = reader.change(source)
    if change is None:
        return kind
    words = {"reverts": "taken back by", "fixes": "fixed by", "regression": "a regression, see"}[kind]
    reason = revert_reason(change) if kind == "reverts" else ""
    return f"{words} {change.sha[:10]} ({change.subject})" + (f": {reason}" if reason else "")


def note_ids(reader: Reader) -> list[str]:
    """All that is no commit, newest first. By ids, for reading tens of thousands whole takes seconds, in one view."""
    derived = [memory.id for memory in reader.find(Filter(kinds=_NOTES, derived=True), -1)]
    return [*reversed(reader.ids(Filter(kinds=_NOTES), derived=False)), *derived]


def slices(ids: Sequence[str], size: int = SLICE) -> Iterator[Sequence[str]]:
    """Ids in slices of one transaction each."""
    return (ids[at : at + size] for at in range(0, len(ids), size))


def batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Changes in slices of one transaction each."""
    batch: list[Change] = []
    for change in changes:
        batch.append(change)
        if len(batch) >= SLICE:
            yield batch
            batch = []
    if batch:
        yield batch
