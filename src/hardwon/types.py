"""The words of Hardwon: frozen values, and closed sets of words.

Times are integers: milliseconds since 1970-01-01 UTC. Ids are lower-case UUID text.
Closed sets are ``Literal`` types with a tuple of their words beside them, not ``Enum``: a word read from the store or from JSON
then *is* the word, and the quick path saves the import of ``enum`` (docs/decisions/0002).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Literal, dataclass_transform

    Kind = Literal["change", "attempt", "lesson", "summary", "decision", "rule", "fact", "doc", "howto"]
    Outcome = Literal["failed", "worked", "open"]
    Status = Literal["active", "resolved", "inactive", "replaced", "rejected", "expired", "forgotten", "quarantined"]
    Trust = Literal["confirmed", "proven", "history", "claimed", "imported", "quarantined"]
    Visibility = Literal["private", "shared"]
    AnchorState = Literal["same", "moved", "changed", "gone", "unknown"]
    Who = Literal["person", "agent", "test", "history", "import"]
    RelationKind = Literal["reverts", "fixes", "follows", "picks", "regression", "mentions"]
    LinkKind = Literal["replaces", "contradicts", "supports"]
    Extent = Literal["whole", "capped", "names", "message"]
    Reason = Literal["secret", "personal", "wrong", "request", "other"]
    Action = Literal[
        "created", "repeated", "revised", "status", "trust", "linked", "feedback", "imported",
        "restored", "repaired", "erased",
    ]  # fmt: skip
else:
    Kind = Outcome = Status = Trust = Visibility = AnchorState = Who = RelationKind = LinkKind = Extent = Reason = Action = str

    def dataclass_transform(**_options):  # noqa: D103
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Value:
    """Base of all value types: annotated fields become constructor arguments, frozen and compared by value.

    A stand-in for ``dataclasses``, whose import costs twice a bare interpreter start (docs/decisions/0002).
    """

    __slots__ = ("__dict__",)
    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        own = tuple(cls.__dict__.get("__annotations__", ()))
        cls._fields = cls._fields + own
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields = self._fields
        values = self.__dict__
        if not kwargs and len(args) == len(fields):  # values that come by the ten thousand are made so
            values.update(zip(fields, args))  # noqa: B905 - they are as many, and asking for it takes a tenth of the time
            return
        if len(args) > len(fields):
            raise TypeError(f"{type(self).__name__} takes {len(fields)} values, got {len(args)}")
        values.update(zip(fields, args, strict=False))
        if kwargs:
            for name in kwargs:
                if name not in fields or name in values:
                    raise TypeError(f"{type(self).__name__} got an unexpected or repeated field {name!r}")
            values.update(kwargs)
        if len(values) < len(fields):
            for name, value in self._defaults.items():
                if name not in values:
                    values[name] = value
            if len(values) < len(fields):
                missing = next(name for name in fields if name not in values)
                raise TypeError(f"{type(self).__name__} needs the field {missing!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use replace({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed; TypeError for a name that is not a field."""
        return type(self)(**{**self.__dict__, **changes})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *(self.__dict__[name] for name in self._fields)))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({inner})"


# Episodic: change (a commit), attempt, lesson, summary. Semantic: decision, rule, fact, doc. Procedural: howto.
KINDS: tuple[Kind, ...] = ("change", "attempt", "lesson", "summary", "decision", "rule", "fact", "doc", "howto")
OUTCOMES: tuple[Outcome, ...] = ("failed", "worked", "open")
# Only active memories are recalled and count for risk.
STATUSES: tuple[Status, ...] = (
    "active", "resolved", "inactive", "replaced", "rejected", "expired", "forgotten", "quarantined",
)  # fmt: skip
# How far a memory is believed, strongest first.
TRUSTS: tuple[Trust, ...] = ("confirmed", "proven", "history", "claimed", "imported", "quarantined")
# Of these nobody is told who did not ask; they take no place from the rest.
UNHEARD: tuple[Trust, ...] = ("imported", "quarantined")
VISIBILITIES: tuple[Visibility, ...] = ("private", "shared")
WHO: tuple[Who, ...] = ("person", "agent", "test", "history", "import")
RELATIONS: tuple[RelationKind, ...] = ("reverts", "fixes", "follows", "picks", "regression", "mentions")
# How one recorded memory stands to another.
LINKS: tuple[LinkKind, ...] = ("replaces", "contradicts", "supports")
# Why something is erased. A code and never a text, which would tell again, in a journal that keeps everything, what was to go.
REASONS: tuple[Reason, ...] = ("secret", "personal", "wrong", "request", "other")


class Origin(Value):
    """Where a memory comes from."""

    who: Who = "agent"
    client: str = ""
    session: str = ""
    tool: str = ""


# Of what the repository's files brought: who says it there can be anybody (engine/sharing.py).
SHARED = Origin("import", "shared")


class Scope(Value):
    """On whose behalf a call reads or writes."""

    origin: Origin = Origin()
    team: str = ""


class Anchor(Value):
    """The code that a memory speaks of. ``path`` is relative to the repository, with slashes; either part may be empty.

    ``commit``, ``blob`` and ``fingerprint`` are what it was when the memory was made. What follows is never kept, but found at each
    reading (code/anchor.py): its ``state``; ``now_path`` and ``now_symbol``, where it is now if it moved; ``changed_by`` and
    ``changed_at`` (milliseconds), the first commit since then that changed or removed it, where that is known.
    """

    path: str = ""
    symbol: str = ""
    commit: str = ""
    blob: str = ""
    fingerprint: str = ""
    state: AnchorState = "unknown"
    now_path: str = ""
    now_symbol: str = ""
    changed_by: str = ""
    changed_at: int | None = None


class Relation(Value):
    """A change's reference to an earlier one: ``target`` is a hash, its prefix (from 7 digits), or ``#N`` (a pull request)."""

    kind: RelationKind
    target: str


class Change(Value):
    """One commit as it is read from history.

    ``at`` is the author's time in milliseconds; ``files`` are new names, at most 40; ``functions`` the texts after the second
    ``@@`` of hunks; ``added`` and ``removed`` identifiers of the added and removed lines, most frequent first, at most 400 each;
    ``lines_added`` and ``lines_removed`` are whole counts.
    ``extent`` tells how much of it was read: ``whole``; ``capped``, of something that is too large only the beginning; ``names``,
    no contents of files, for git lacks them; ``message``, no files at all. It is told at reading and not kept.
    """

    sha: str
    at: int
    subject: str
    body: str = ""
    author: str = ""
    branch: str = ""
    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lines_added: int = 0
    lines_removed: int = 0
    pull_request: int | None = None
    relations: tuple[Relation, ...] = ()
    extent: Extent = "whole"


class Draft(Value):
    """A memory that somebody wants to record. ``metadata`` is a JSON object of the caller's own, as text, or empty."""

    text: str
    kind: Kind = "fact"
    outcome: Outcome | None = None
    detail: str = ""
    code: str = ""
    because: str = ""
    rejected: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    tags: tuple[str, ...] = ()
    visibility: Visibility = "shared"
    expires_at: int | None = None
    session: str = ""
    metadata: str = ""


class Memory(Value):
    """A memory as it is kept. ``number`` is the short local alias, None for what is derived from the repository; ``seen`` counts
    occurrences; ``useful`` and ``useless`` how many of those who read it found it so."""

    id: str
    number: int | None
    kind: Kind
    outcome: Outcome | None
    text: str
    detail: str = ""
    code: str = ""
    because: str = ""
    rejected: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    tags: tuple[str, ...] = ()
    status: Status = "active"
    trust: Trust = "claimed"
    visibility: Visibility = "shared"
    origin: Origin = Origin()
    author: str = ""
    branch: str = ""
    commit: str = ""
    seen: int = 1
    version: int = 1
    created_at: int = 0
    updated_at: int = 0
    valid_from: int | None = None
    valid_until: int | None = None
    expires_at: int | None = None
    replaced_by: str | None = None
    metadata: str = ""
    useful: int = 0
    useless: int = 0

    @property
    def erased(self) -> bool:
        """Whether its words were erased for good: nothing else that is kept has none."""
        return not self.text

    @property
    def is_astray(self) -> bool:
        """Whether all the code that it speaks of is gone; one that speaks of none holds on."""
        spoken = [anchor for anchor in self.anchors if anchor.path or anchor.symbol]
        return bool(spoken) and all(anchor.state == "gone" for anchor in spoken)

    @property
    def called(self) -> str:
        """How it is named to people: by its number, a change by its commit, anything else from the repository by its id's beginning."""
        if self.number is not None:
            return f"#{self.number}"
        return self.commit[:10] if self.kind == "change" and self.commit else self.id[:13]


class Occurrence(Value):
    """One time that a memory happened."""

    memory: str
    at: int
    outcome: Outcome | None
    status: Status
    origin: Origin
    branch: str = ""
    commit: str = ""


class Event(Value):
    """One entry of the journal; ``seq`` is the local order of arrival, ``clock`` the hybrid logical clock."""

    seq: int
    replica: str
    replica_seq: int
    clock: int
    at: int
    origin: Origin
    action: Action
    memory: str
    version: int
    payload: str
    digest: bytes
    previous: bytes
    hash: bytes


class Revision(Value):
    """What is to change of a memory's content; None leaves a field as it is."""

    text: str | None = None
    detail: str | None = None
    code: str | None = None
    because: str | None = None
    rejected: tuple[str, ...] | None = None
    anchors: tuple[Anchor, ...] | None = None
    tags: tuple[str, ...] | None = None
    visibility: Visibility | None = None
    expires_at: int | None = None
    metadata: str | None = None


class Receipt(Value):
    """What a write did. ``seq`` is the journal's sequence; ``redacted`` counts secrets taken out; ``missing``: path and symbol that it
    is said to be about and are not there; of a file that is not there the symbol is ""."""

    id: str
    number: int | None
    action: str
    redacted: int = 0
    seq: int | None = None
    why: str = ""
    missing: tuple[tuple[str, str], ...] = ()


class Signal(Value):
    """One part of a hit's score."""

    signal: str
    points: float


class Hit(Value):
    """A recalled memory; ``score`` is the calibrated probability (0 to 1) that it is relevant; ``contradicted`` names (number or
    id) the living memories that it is said to contradict."""

    memory: Memory
    score: float
    why: tuple[Signal, ...] = ()
    contradicted: tuple[str, ...] = ()


class Mode(Value):
    """What took part in an answer, and what could not."""

    lexical: bool = True
    vectors: bool = False
    degraded: tuple[str, ...] = ()


class Block(Value):
    """An answer: hits, the text for the agent, its size in (estimated) tokens, and how many hits did not fit."""

    hits: tuple[Hit, ...] = ()
    block: str = ""
    tokens: int = 0
    left_out: int = 0
    mode: Mode = Mode()


class Filter(Value):
    """Which memories a listing, a question or a forgetting means; empty fields do not narrow.

    Of the values of one field any may hold, but of ``tags`` all have to. ``derived``: only what comes from the repository, or
    (False) only what was recorded. ``extensions`` (``.py``) and ``paths`` (a file, or a folder with all below it) look at the files
    that a memory speaks of or a change touched; ``authors`` are parts of names, in any case of ASCII letters. ``since``: made then
    or later; ``before``: made before that time; ``alive_at``: neither expired nor past its validity then.

    What a checkout does not reach (engine/visibility.py): ``hidden_commits`` are those whose changes are left out; ``hidden_records``
    (``commit:branch``) are where a memory was recorded that is left out if it was recorded nowhere else.
    """

    ids: tuple[str, ...] = ()
    derived: bool | None = None
    kinds: tuple[Kind, ...] = ()
    statuses: tuple[Status, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    trusts: tuple[Trust, ...] = ()
    tags: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    session: str = ""
    client: str = ""
    who: Who | None = None
    since: int | None = None
    before: int | None = None
    alive_at: int | None = None
    hidden_commits: tuple[str, ...] = ()
    hidden_records: tuple[str, ...] = ()


class Neighbour(Value):
    """A place that a question touches besides the one it names. ``path`` or ``symbol`` may be empty; ``weight`` (0 to 1) is how much of a
    place's own evidence it carries, ``why`` says in a few words what ties it (``caller``, ``changes together``, ``stack frame``)."""

    path: str
    symbol: str
    weight: float
    why: str


class Query(Value):
    """A question. ``where`` narrows it (without statuses: the active ones); ``budget`` is the block's size in tokens; ``floor``
    the least score that is shown; ``vectors``: ask by meaning as well; ``around``: other places that it touches;
    ``all_branches``: also what belongs to branches that are not part of what is checked out."""

    text: str = ""
    file: str = ""
    symbol: str = ""
    where: Filter = Filter()
    k: int = 10
    budget: int = 1500
    floor: float | None = None
    vectors: bool = False
    around: tuple[Neighbour, ...] = ()
    all_branches: bool = False


class Experience(Value):
    """One occurrence of a lesson on one symbol, as risk counts it. ``imported``: it was told afterwards, so that its ``at`` and not its
    ``seq`` says when it happened."""

    symbol: str
    path: str
    memory: str
    at: int
    seq: int
    outcome: Outcome
    status: Status
    imported: bool = False


class Impact(Value):
    """What depends on a symbol by the calls of the code at hand (code/graph.py).

    ``direct``: the declarations that call it, so far as that is likely; ``certain`` of them are sure; ``possible`` are further ones that
    only use its name, and are not followed. ``dependents``: those that call it directly or through others, at most ``depth`` steps
    away; ``files``: theirs, the nearest first. ``truncated``: there are more.
    """

    direct: int = 0
    dependents: int = 0
    depth: int = 0
    files: tuple[str, ...] = ()
    certain: int = 0
    possible: int = 0
    truncated: bool = False


class Risk(Value):
    """A symbol's risk as the seed defines it (docs/risk.md); ``level`` is low, normal, caution or high. ``impact``: None where nobody
    looked, or the symbol is not in the index of the code."""

    symbol: str
    file: str
    score: float
    level: str
    fails: int
    successes: int
    last_fail: int | None = None
    last_success: int | None = None
    impact: Impact | None = None


class SymbolReport(Value):
    """What ``query`` says of one symbol: its risk and the memories behind it, newest first."""

    risk: Risk
    memories: tuple[Memory, ...]


class IngestReport(Value):
    """What an ingest did: ``seen`` commits in reach, ``added`` now, ``known`` before, ``failed`` taken back, ``redacted`` secrets.

    Of the added ones, ``capped`` are too large to be read whole, ``unreadable`` lack contents that git does not have (a partial
    clone, damage), and ``shallow`` lie at the edge of a shallow clone, where only the message counts; ``completed`` are earlier
    ones of these that could be read whole now. No branch or tag reaches ``dropped`` (gone), ``silent`` (kept for what was said of
    them, not recalled) any more; ``restored`` are silent ones that came back. ``unseen`` are registered folders that could not be
    asked, so that nothing was dropped. ``windowed``: there are more commits than were asked for. ``broken``: git's words where it
    could not walk to the end of the history. Of what was recorded, ``proven`` are claims that their commit's standing proved now;
    ``unproven`` fell back to claims; ``doubted`` a person had confirmed, and should look at again.
    """

    seen: int
    added: int
    known: int
    failed: int = 0
    redacted: int = 0
    capped: int = 0
    unreadable: int = 0
    shallow: int = 0
    completed: int = 0
    dropped: int = 0
    silent: int = 0
    restored: int = 0
    unseen: tuple[str, ...] = ()
    windowed: bool = False
    broken: str = ""
    proven: int = 0
    unproven: int = 0
    doubted: int = 0


class Proposal(Value):
    """A memory that waits for a person, and those that say much the same: ``similar`` with how much (0 to 1), most first. ``doubt``: the
    evidence against one that a person had confirmed (upkeep/evidence.py), empty for the rest."""

    memory: Memory
    similar: tuple[tuple[Memory, float], ...] = ()
    doubt: Mapping[str, Any] = {}


class Selection(Value):
    """What a forgetting means or did."""

    ids: tuple[str, ...]
    done: bool


class Finding(Value):
    """Something that a check saw. ``level`` is ok, note, warning or error."""

    level: str
    what: str
    where: str = ""
    remedy: str = ""


class Lexical(Value):
    """What the exact score needs of one memory.

    ``counts`` maps a term to its packed counts, one per field (search/terms.py packs and unpacks; at most 32 bits);
    ``lengths`` are the fields' lengths in terms; ``size`` the number of added lines (0 where there is none).
    """

    counts: Mapping[str, int]
    lengths: tuple[int, ...]
    size: int = 0


class Document(Value):
    """A candidate with the counts of the asked terms only. ``key`` is the store's own, local to it."""

    key: int
    at: int
    size: int
    lengths: tuple[int, ...]
    counts: Mapping[str, int]


class Corpus(Value):
    """How many memories are indexed, and the sums of their fields' lengths."""

    documents: int
    totals: tuple[int, ...]


class Version(Value):
    """One state of a memory's content. ``recorded_at`` and ``superseded_at`` bound the time that the store believed it."""

    memory: str
    version: int
    content: Memory
    recorded_at: int
    superseded_at: int | None


class FieldChange(Value):
    """What one field said in two versions; several values are one a line, an empty field is ""."""

    field: str
    before: str
    after: str


class Difference(Value):
    """What changed of a memory between two of its versions."""

    memory: Memory
    older: int
    newer: int
    changes: tuple[FieldChange, ...]


class ExportedMemory(Value):
    """A memory with all that belongs to it, as an export carries it: ``links`` from it to others, ``aliases`` by which others
    call it."""

    memory: Memory
    versions: tuple[Version, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
    links: tuple[Link, ...] = ()
    aliases: tuple[str, ...] = ()


class Derived(Value):
    """A memory that is made from the repository's own files and never journaled.

    ``name`` identifies it: the same name is the same memory (``doc:README.md#Usage``). Times are milliseconds; None in
    ``valid_until`` means that it still holds.
    """

    name: str
    draft: Draft
    at: int
    author: str = ""
    branch: str = ""
    commit: str = ""
    valid_from: int | None = None
    valid_until: int | None = None


class Link(Value):
    """A relation between two memories; ``target`` is None while the reference names nothing that is known."""

    source: str
    kind: str
    reference: str
    target: str | None
