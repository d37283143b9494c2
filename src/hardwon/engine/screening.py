"""What comes from elsewhere, cleaned: without secrets, in our shape, and worth no more than an import is worth."""

from __future__ import annotations

from hardwon.engine.record import own_words
from hardwon.errors import InvalidInput
from hardwon.intake import merge
from hardwon.intake.redact import redact
from hardwon.intake.shape import clean_text, fold, shape
from hardwon.store.ids import uuid7
from hardwon.types import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader, Writer
    from hardwon.types import ExportedMemory, Link, Memory, Occurrence, Origin, Version

    Redact = Callable[[Draft], tuple[Draft, int]]

_LONGEST_NAME = 200  # of a client, session, tool, branch, author, commit, alias
_ORIGIN = ("client", "session", "tool")
# What a memory says: the fields of a draft but the session, which belongs to who said it.
SAID = tuple(name for name in Draft._fields if name != "session")


class Run:
    """One import: who does it, what was counted, and what it has made so far. ``shared``: it comes from the repository's files, which
    nobody here has chosen; then nothing of what is believed here is changed by it."""

    def __init__(
        self, engine: Engine, origin: Origin, redact: Redact, *, keep_trust: bool, dry: bool, shared: bool = False
    ) -> None:
        self.engine = engine
        self.origin = origin
        self.redact = redact
        self.keep_trust = keep_trust
        self.shared = shared
        self.dry = dry
        self.now = engine.clock()
        self.counts = dict.fromkeys(("new", "known", "repeated", "refused", "conflicts", "bad", "waiting", "open_links"), 0)
        self.redacted = 0
        self.given: set[str] = set()  # the ids that the source told so far
        self.made: set[str] = set()  # the memories that came into being
        self.keys: set[bytes] = set()  # and what they say, as twins are found
        self.untied: list[tuple[str, Link]] = []
        self.writer: Writer | None = None
        self._ids = 0
        self._names: dict[str, str] = {}
        self._rejected: dict[str, list[Memory]] | None = None

    def new_id(self, created: int) -> str:
        """An id of our own; those of one import sort as the source has them, though they have the same millisecond."""
        self._ids += 1
        # 26 bits of the count beside the version and the variant, 48 of chance behind them.
        order = (self._ids >> 14 & 0xFFF) << 64 | (self._ids & 0x3FFF) << 48
        return uuid7(created, (order | int.from_bytes(self.engine.entropy(6), "big")).to_bytes(10, "big"))

    def begin(self, writer: Writer) -> None:
        """Go on within another transaction."""
        self.writer = writer
        self._rejected = None

    def rejection(self, reader: Reader, memory: Memory) -> Memory | None:
        """What was rejected here and says the same; not what this very source brought."""
        if self._rejected is None:
            self._rejected = {}
            for one in reader.rejected():
                self._rejected.setdefault(fold(one.text), []).append(one)
        same = self._rejected.get(fold(memory.text), ())
        return next((one for one in same if one.id not in self.made and merge.same_value(one, memory)), None)

    def name(self, text: str, field: str) -> str:
        """A name that came along, without secrets and without what cannot be seen; InvalidInput for one that is no line."""
        known = self._names.get(text)
        if known is not None:
            return known
        clean, secrets = redact(text)
        self.redacted += secrets
        if not clean.isprintable():
            clean = clean_text(clean, field, len(clean) + 1)
        if len(clean) > _LONGEST_NAME or "\n" in clean:
            raise InvalidInput(f"{field} is not one line of at most {_LONGEST_NAME} characters", field=field, remedy="shorten it")
        if len(self._names) < 10_000:
            self._names[text] = clean
        return clean


def prepare(run: Run, item: ExportedMemory) -> ExportedMemory:
    """The memory without secrets, in our shape, worth what an import is worth; InvalidInput says what cannot be used."""
    memory = item.memory
    aliases = tuple(dict.fromkeys(run.name(alias, "alias") for alias in item.aliases if alias.strip()))
    if not item.versions:
        derived: ExportedMemory = item.replace(aliases=aliases, memory=_worth(run, memory))
        return derived
    created = memory.created_at or run.now
    words = _clean(run, memory)
    shown = words.replace(
        id=memory.id or run.new_id(created), created_at=created, updated_at=memory.updated_at or created,
        origin=_clean_origin(run, memory.origin), author=run.name(memory.author, "author"),
        branch=run.name(memory.branch, "branch"), commit=run.name(memory.commit, "commit"),
        version=len(item.versions),
    )  # fmt: skip
    occurrences = tuple(_clean_occurrence(run, one) for one in item.occurrences)
    if memory.id:
        if memory.id in run.given:
            raise InvalidInput(f"{memory.id} stands earlier in the same source", field="id", remedy="leave one of them out")
        run.given.add(memory.id)
    ready: ExportedMemory = item.replace(
        memory=_worth(run, shown), occurrences=occurrences, aliases=aliases,
        versions=tuple(_clean_version(run, version, memory, shown) for version in item.versions),
    )  # fmt: skip
    return ready


def _clean(run: Run, content: Memory) -> Memory:
    # That a person said it is the source's word, which counts as its word on trust does: where a person vouches for it.
    said_by = content.origin if run.keep_trust else run.origin.replace(who="import")
    draft = own_words(Draft(**{name: getattr(content, name) for name in SAID}), said_by)
    raw, first = run.redact(draft)
    shaped = shape(raw)
    # Hidden characters can cut a secret apart, and shaping joins it again.
    clean, second = run.redact(shaped) if shaped != raw else (shaped, 0)
    run.redacted += first + second
    if run.engine.place is not None:
        for anchor in clean.anchors:
            _check_inside(anchor.path)
    words: Memory = content.replace(**{name: getattr(clean, name) for name in SAID})
    return words


def _check_inside(path: str) -> None:
    parts = path.replace("\\", "/").split("/")
    if ".." in parts or (path and not parts[0]) or parts[0].endswith(":"):
        raise InvalidInput(f"file {path[:100]!r} lies outside the repository", field="file", remedy="name it from its root")


def _clean_version(run: Run, version: Version, memory: Memory, words: Memory) -> Version:
    """A version in our shape; most say what the memory says now, and are not cleaned twice."""
    content = version.content
    if all(getattr(content, name) == getattr(memory, name) for name in SAID):
        content = words.replace(valid_from=content.valid_from, valid_until=content.valid_until)
    elif content.text:
        content = _clean(run, content)
    at = version.recorded_at or words.created_at
    clean: Version = version.replace(
        memory=words.id, content=content.replace(id=words.id, version=version.version), recorded_at=at
    )
    return clean


def _clean_origin(run: Run, origin: Origin) -> Origin:
    clean: Origin = origin.replace(**{name: run.name(getattr(origin, name), name) for name in _ORIGIN})
    return clean


def _clean_occurrence(run: Run, one: Occurrence) -> Occurrence:
    clean: Occurrence = one.replace(
        origin=_clean_origin(run, one.origin), branch=run.name(one.branch, "branch"), commit=run.name(one.commit, "commit")
    )
    return clean


def _worth(run: Run, memory: Memory) -> Memory:
    """How far it is believed here: what it says of itself counts only where a person vouches for it."""
    if run.keep_trust:
        return memory
    believed = "quarantined" if memory.trust == "quarantined" else "imported"
    worth: Memory = memory.replace(trust=believed, useful=0, useless=0)
    return worth
