"""What every store engine offers. Engines return candidates and statistics; scores are computed in ``search`` only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Protocol

from hardwon.types import (
    Action,
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


class Reader(Protocol):
    """One consistent view. Every call answers as of the moment the view was opened; empty answers are empty, never an error."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in this order; unknown ids are left out."""

    def lookup(self, reference: str) -> list[str]:
        """Ids that a person's reference means: ``12``, ``#12``, an id or its prefix, a commit or its prefix (from 7 digits)."""

    def twin(self, key: bytes) -> Memory | None:
        """The memory whose folded text, kind, outcome and place have this digest, if it is active, resolved or inactive."""

    def find(self, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, newest first."""

    def count(self, where: Filter) -> int:
        """How many match."""

    def anchored(self, path: str, symbol: str, where: Filter, limit: int) -> list[Memory]:
        """Memories that match, written for a path or a symbol ("" names none), newest first; changes are not among them.

        ``validate`` also finds ``AuthService.validate``, and the other way round.
        """

    def failed_changes(self, path: str, limit: int) -> list[Memory]:
        """Changes that touched the path ("" means any) and were taken back, newest first."""

    def change(self, memory: str) -> Change | None:
        """What history says of a change: files, functions, sizes (identifiers are kept as terms only)."""

    def experiences(self, symbol: str, path: str, exact: bool) -> list[Experience]:
        """Lessons' and attempts' occurrences, in order of arrival; symbol matches partly unless ``exact``; "" means any."""

    def often_failed(self, least: int) -> list[tuple[str, str]]:
        """Every (symbol, path) with at least so many active failures."""

    def occurrences(self, memory: str) -> list[Occurrence]:
        """Each time that the memory happened, oldest first."""

    def versions(self, memory: str) -> list[Version]:
        """Every state of its content, oldest first."""

    def events(self, memory: str = "", after: int = 0, limit: int = -1) -> list[Event]:
        """Journal entries in order of arrival, of one memory or of all; at most ``limit``, unless it is negative."""

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

    def known_commits(self) -> set[str]:
        """Hashes of all commits that are already changes here."""

    def figures(self) -> dict[str, int]:
        """Counts for ``status``: memories by kind, events, versions, occurrences."""

    def setting(self, name: str) -> str:
        """A value that the store keeps about itself: ``repository``, ``replica``, …; "" when absent."""


class Writer(Reader, Protocol):
    """A transaction: all of its calls become durable together when it ends, or none does."""

    def next_number(self) -> int:
        """A short alias that was never given before."""

    def put(self, memory: Memory, twin: bytes = b"", lexical: Lexical | None = None) -> None:
        """Insert or replace the current row with its anchors; ``lexical`` replaces what is indexed, None leaves it."""

    def log(self, action: Action, memory: Memory, origin: Origin, at: int, salt: bytes = b"", payload: str = "") -> Event:
        """Append to the journal; with a salt the memory's content becomes a version of its own."""

    def occur(self, occurrence: Occurrence, event: int) -> None:
        """Add an occurrence that the event tells of."""

    def settle_occurrences(self, memory: str, statuses: Mapping[int, str]) -> None:
        """Give a memory's occurrences their status, by the sequence of the event that told of each."""

    def add_change(self, memory: Memory, change: Change, lexical: Lexical) -> bool:
        """Insert a change that is not journaled; False when its commit is known already."""

    def resolve_links(self) -> list[Link]:
        """Tie open references of changes to changes that are now known; the links that were tied."""

    def clear_index(self) -> None:
        """Forget everything that is derived for search; ``put`` with ``lexical`` fills it anew."""

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


class Store(Protocol):
    """A repository's memory."""

    def read(self) -> View:
        """A view that never waits for writers and never writes."""

    def write(self, timeout: float = 30.0) -> Transaction:
        """A transaction; Busy when the lock is not to be had within ``timeout`` seconds."""

    def checkpoint(self, timeout: float = 30.0) -> None:
        """After much was written: let the next reader begin quickly."""

    def check(self) -> list[Finding]:
        """Everything that is wrong with the store, in words; never writes."""

    def close(self) -> None:
        """Let go of files; idempotent."""
