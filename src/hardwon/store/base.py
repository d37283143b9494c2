"""What every store engine offers. Engines return candidates and statistics; scores are computed in ``search`` only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Literal, Protocol

from hardwon.types import (
    Action,
    Anchor,
    Change,
    Corpus,
    Document,
    Event,
    Experience,
    Filter,
    Finding,
    Lexical,
    Link,
    Memory,
    Occurrence,
    Origin,
    Version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.keys.secret import Secret


class Reader(Protocol):
    """One consistent view. Every call answers as of the moment the view was opened; empty answers are empty, never an error."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in this order; unknown ids are left out."""

    def lookup(self, reference: str) -> list[str]:
        """Ids that a person's reference means: ``12``, ``#12``, an id or its prefix, a commit or its prefix (from 7 digits)."""

    def twin(self, key: bytes) -> Memory | None:
        """The memory whose folded text, kind, outcome and place have this digest, if it is active, resolved or inactive."""

    def rejected(self) -> list[Memory]:
        """Every memory that a person rejected: what says the same stays out."""

    def has_erased(self) -> bool:
        """Whether the words of any memory were erased."""

    def erased(self, digest: bytes) -> str:
        """The id of the memory whose erased words have this digest, "" when none has."""

    def digests(self) -> list[tuple[bytes, str]]:
        """Every digest of erased words, with the id of the memory whose they were."""

    def aliases(self, memory: str) -> list[str]:
        """The other names of a memory, sorted."""

    def aliased(self, alias: str) -> str:
        """The id of the memory that has this other name, "" when none has."""

    def feedback(self) -> dict[int, tuple[int, int]]:
        """How many found it useful and useless, by key, of the memories that anybody said it of."""

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """What a filter may name: each value that occurs in ``kinds``, ``outcomes``, ``statuses``, ``trusts``, ``tags``,
        ``branches``, ``extensions``, ``paths`` (first parts of paths) or ``authors``, with its number of memories, most first."""

    def find(self, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, newest first."""

    def last(self, where: Filter) -> Memory | None:
        """The matching memory that was recorded last: by its number, for the clock may have been set back since another was."""

    def ids(self, where: Filter, *, derived: bool) -> list[str]:
        """Ids of the memories that match, oldest first, ties by id: of those that were recorded, or of the derived ones that the
        journal speaks of."""

    def count(self, where: Filter) -> int:
        """How many match."""

    def anchored(self, path: str, symbol: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a path or a symbol ("" names none), newest first, all when ``limit`` is negative; changes
        are not among them.

        ``validate`` also finds ``AuthService.validate``, and the other way round.
        """

    def of_file(self, path: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a file as a whole and for no symbol in it, newest first, all when ``limit`` is negative."""

    def placed(self, after: int, paths: Collection[str]) -> list[tuple[int, Anchor]]:
        """Anchors of recorded memories that are active, resolved or inactive, with the memory's number, by number and position: of those
        above a number, and those of these paths."""

    def pinned(self) -> set[str]:
        """The blobs that anchors of recorded memories were pinned to."""

    def spoken_of(self, names: set[str]) -> set[str]:
        """Those of the names that are the last part of a symbol that any memory is about; case does not count."""

    def touched_together(self, most: int) -> list[list[str]]:
        """The files of each active change that touched two and more, at most ``most``."""

    def failed_changes(self, path: str, limit: int, hidden: Sequence[str] = ()) -> list[Memory]:
        """Changes that touched the path ("" means any) and were taken back, newest first; neither those whose commit is ``hidden``,
        nor those that only hidden commits took back."""

    def change(self, memory: str) -> Change | None:
        """What history says of a change: files, functions, sizes (identifiers are kept as terms only)."""

    def experiences(self, symbol: str, path: str, exact: bool, hidden: Sequence[str] = ()) -> list[Experience]:
        """Lessons' and attempts' occurrences, in order of arrival; symbol matches partly unless ``exact``; "" means any; those that
        happened at a ``hidden`` place (``commit:branch``) are left out, and those that the repository's files told of (``SHARED``),
        unless their memory was approved."""

    def often_failed(self, least: int, hidden: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Every (symbol, path) with at least so many active failures; what is left out above does not count."""

    def recordings(self, after: int = 0) -> list[tuple[str, str, bool]]:
        """Where memories were recorded that events after this sequence tell of: commit, branch, and whether any of it came from
        elsewhere; each once, sorted; what was recorded at no commit is left out."""

    def occurrences(self, memory: str) -> list[Occurrence]:
        """Each time that the memory happened, oldest first."""

    def versions(self, memory: str) -> list[Version]:
        """Every state of its content, oldest first."""

    def events(self, memory: str = "", after: int = 0, limit: int = -1) -> list[Event]:
        """Journal entries in order of arrival, of one memory or of all; at most ``limit``, unless it is negative."""

    def latest_events(self, limit: int) -> list[Event]:
        """The newest journal entries, newest first."""

    def links(self, memory: str) -> list[Link]:
        """Relations from and to the memory."""

    def relations(self, kinds: Sequence[str]) -> list[Link]:
        """Every tied relation of these kinds, by target, then by the source's time."""

    def corpus(self) -> Corpus:
        """Size of the index."""

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many memories each term occurs; terms that occur in none are left out."""

    def candidates(self, weights: Mapping[str, int], where: Filter, limit: int) -> list[int]:
        """Keys with the greatest sum of the integer weights of the terms that match; ties: newer first, then by id."""

    def with_term(self, term: str, where: Filter, limit: int) -> list[int]:
        """Keys that hold the term, newest first."""

    def keys(self, ids: Sequence[str]) -> list[int]:
        """The store's keys of these ids."""

    def documents(self, keys: Sequence[int], terms: Sequence[str]) -> list[Document]:
        """What the exact score needs of these candidates, for these terms."""

    def memories(self, keys: Sequence[int]) -> list[Memory]:
        """The memories of these keys, in this order."""

    def judged_changes(self) -> list[str]:
        """The ids of all changes of which something became: those with an outcome or a reason."""

    def vectors(self, model: str, where: Filter) -> Iterator[tuple[int, bytes]]:
        """Key and vector (float32, little-endian) of every memory that matches, by key; to be used up within the view."""

    def vector_keys(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have a vector of the model, by key; all when ``limit`` is negative."""

    def vectors_of(self, model: str, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        """Key and vector of those of these keys that have one, by key."""

    def vector_digests(self, model: str) -> dict[int, bytes]:
        """Which text each of the model's vectors was made of, by key."""

    def vector_models(self) -> dict[str, int]:
        """How many vectors there are of each model."""

    def matching(self, keys: Sequence[int], where: Filter) -> list[int]:
        """Those of these keys whose memories match, in this order."""

    def keys_without_vector(self, model: str, where: Filter, limit: int) -> list[int]:
        """Keys of the memories that match and have no vector of the model, newest first; all when ``limit`` is negative."""

    def count_without_vector(self, model: str, where: Filter) -> int:
        """How many match and have no vector of the model."""

    def known_commits(self) -> set[str]:
        """Hashes of all commits that are already changes here."""

    def commits_since(self, key: int) -> list[tuple[int, str]]:
        """The store's keys and the commits of changes that were kept after the one of that key, in order."""

    def figures(self) -> dict[str, int]:
        """Counts for ``status``: memories by kind, events, versions, occurrences."""

    def setting(self, name: str) -> str:
        """A value that the store keeps about itself: ``repository``, ``replica``, …; "" when absent."""


class Writer(Reader, Protocol):
    """A transaction: all of its calls become durable together when it ends, or none does."""

    def next_number(self) -> int:
        """A short alias that was never given before."""

    def put(self, memory: Memory, twin: bytes = b"", lexical: Lexical | None = None) -> None:
        """Insert or replace the current row with its anchors; ``lexical`` replaces what is indexed, None leaves it.

        With ``lexical``, a memory whose text, reason or detail changed loses its vectors.
        """

    def log(
        self,
        action: Action,
        memory: Memory,
        origin: Origin,
        at: int,
        salt: bytes = b"",
        payload: str = "",
        recorded_at: int | None = None,
    ) -> Event:
        """Append to the journal; with a salt the memory's content becomes a version of its own, believed from ``recorded_at``
        (by default ``at``: only what another store had known keeps its time)."""

    def erase_versions(self, memory: str, below: int) -> None:
        """Empty the content of the versions before that number, and destroy their salts; the journal stays whole."""

    def erase(self, memory: str, event: int, digests: Sequence[bytes]) -> None:
        """Empty what belongs to a memory whose row was emptied before: all versions with their salts, vectors, relations from it, names
        that are no ids, what git says of it, branches where it happened. Keep the digests of what it said, for ``erased``.

        The file may hold traces of it until ``scrub``.
        """

    def alias(self, name: str, memory: str) -> None:
        """Give a memory another name, or a name another memory."""

    def link(self, source: str, kind: str, target: str) -> None:
        """Relate two memories; nothing new where they are related so already. A target that is not here leaves the relation open."""

    def unlink(self, source: str, kind: str, target: str) -> None:
        """Take a relation of two memories away."""

    def drop(self, ids: Sequence[str]) -> list[str]:
        """Remove derived memories with all that belongs to them, but those that the journal speaks of; the ids that went."""

    def occur(self, occurrence: Occurrence, event: int) -> None:
        """Add an occurrence that the event tells of."""

    def settle_occurrences(self, memory: str, statuses: Mapping[int, str]) -> None:
        """Give a memory's occurrences their status, by the sequence of the event that told of each."""

    def add_change(self, memory: Memory, change: Change, lexical: Lexical) -> bool:
        """Insert a change that is not journaled; False when its commit is known already."""

    def refresh_change(self, memory: Memory, change: Change, lexical: Lexical) -> None:
        """Replace a change's files, functions, sizes and index by what was read of it now; its message and links stay."""

    def resolve_links(self) -> list[Link]:
        """Tie open references of changes to the one change that each names now, and open those that name several; what was tied."""

    def put_vectors(self, model: str, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Keep vectors of a model: id, digest of the text, vector; each replaces the one before; unknown ids are passed over.

        Every change of a vector, this one and those that come with others, changes the setting ``vectors``: where it is equal,
        in this file or a copy, the vectors are.
        """

    def supersede_vectors(self, model: str, limit: int) -> int:
        """Remove at most ``limit`` of other models' vectors of memories that have one of this; how many."""

    def clear_index(self) -> None:
        """Forget the terms of all memories; ``put`` with ``lexical`` fills them anew. Vectors stay: they cost minutes."""

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value about the store itself."""


class View(Protocol):
    """A consistent reading view as a context manager."""

    def __enter__(self) -> Reader: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]: ...


class Transaction(Protocol):
    """A transaction as a context manager: commits at the end, rolls back at an exception."""

    def __enter__(self) -> Writer: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]: ...


class Queue(Protocol):
    """A place in a line of processes."""

    def acquire(self, timeout: float) -> None:
        """Wait for one's turn; Busy when it does not come within ``timeout`` seconds, StoreError where the system refuses."""

    def release(self) -> None:
        """Let the next one in; also done when the process ends."""


class Store(Protocol):
    """A repository's memory. ``path`` is its file, beside which what is derived may lie; "" where there is none."""

    path: str

    @property
    def recipient(self) -> str:
        """The public half of its key (``age1…``), to which what lies beside it has to be sealed; "" for one that is not encrypted."""

    def secrets(self) -> Sequence[Secret]:
        """Every identity that something beside it may be sealed to; KeyMissing, WrongKey."""

    def read(self) -> View:
        """A view that never waits for writers and never writes."""

    def write(self, timeout: float = 30.0) -> Transaction:
        """A transaction; Busy when the lock is not to be had within ``timeout`` seconds."""

    def queue(self, work: str) -> Queue:
        """The line for work that one process at a time should do; it keeps no reader and no writer out."""

    def checkpoint(self, timeout: float = 30.0) -> None:
        """After much was written: let the next reader begin quickly."""

    def compact(
        self, timeout: float = 30.0, progress: Callable[[int, int], None] | None = None, *, full: bool = False
    ) -> tuple[int, int]:
        """Give back the space of what is gone, in slices between which others write; bytes before and after.

        ``progress(done, of)`` after each. With ``full`` the whole is written anew, and others wait. Busy where the lock is not to be
        had within ``timeout`` seconds; what was done until then stays.
        """

    def scrub(self, timeout: float = 30.0) -> bool:
        """Leave nothing of what was erased in any byte of the files, by writing the whole anew while others wait. False where somebody
        who reads still holds the log: the next writer tries again."""

    def check(self) -> list[Finding]:
        """Everything that is wrong with the store, in words; never writes."""

    def check_quickly(self) -> list[Finding]:
        """What a few milliseconds tell of it; never writes."""

    def close(self) -> None:
        """Let go of files; idempotent."""
