"""What was salvaged of a damaged store made into a store again: rows are completed from one another, and what is lost is told.

Nothing is made up. What can be told from elsewhere is: a memory's row from its last version and its events, a version from the
row, an occurrence from its event. What cannot is named in the journal of the repaired store, by entries ``repaired`` of a new replica:
the chains of the old replicas have gaps for good, and only a gap that is named so is a note and not an error to ``verify``.
"""

from __future__ import annotations

from hardwon.code.names import last_part
from hardwon.intake.merge import twin_key
from hardwon.store.ids import is_id
from hardwon.store.journal import row_hash
from hardwon.store.mending.retold import EMPTY, as_version, gaps, named, newest, occurrence, retold
from hardwon.store.mending.salvage import _MEMORY, event_of, is_emptied, memory_of, version_of
from hardwon.store.rows import memory_values, to_blob, to_text
from hardwon.types import LINKS, Memory, Occurrence, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hardwon.store.checks.heads import Head
    from hardwon.store.mending.salvage import Row, Salvage
    from hardwon.types import Event, Version

    Replay = Callable[[Version, Sequence[Event], Sequence[Occurrence], int | None, str | None], Memory]
    Statuses = Callable[[Sequence[Event]], Mapping[int, str]]

# The memory of journal entries about the store as a whole.
NIL = bytes(16)
# The payload of an entry after which a secret is gone from all that was said before.
_REDACTED = "redacted"
# Actions that tell of an occurrence, and the import of an older version, which tells of none.
_OCCURRED, _NO_OCCURRENCE = ("created", "repeated", "imported"), "version"


class Note(Value):
    """An entry for the journal: of which memory, what was done or lost; with the row that it is to vouch for from now on."""

    memory: bytes
    payload: str
    version: Mapping[str, Any] | None = None
    occurrence: Mapping[str, Any] | None = None
    erased: Mapping[str, Any] | None = None


class Lost(Value):
    """A memory of which no words are left, and what is known of it: its number, what its journal says, and the times of that."""

    id: str
    number: int | None
    actions: tuple[str, ...]
    first: int | None
    last: int | None


class Mended(Value):
    """``tables``: the rows of the new store. ``notes``: what its journal has to say. ``counts``: how many of each kind were told from
    elsewhere or are gone, by a name for people. ``incomplete``: commits that have to be read from git again."""

    tables: Mapping[str, Sequence[Row]]
    notes: tuple[Note, ...]
    lost: tuple[Lost, ...]
    gaps: tuple[tuple[str, int, int], ...]
    counts: Mapping[str, int]
    incomplete: tuple[str, ...]


def mend(found: Salvage, replay: Replay, statuses: Statuses, head: Head | None = None) -> Mended:
    """Complete the rows from one another; ``replay`` tells a memory's row from its journal, ``statuses`` those of occurrences;
    ``head``: how far the journal had come, if that is known."""
    return _Mending(found, replay, statuses).done(head)


class _Mending:
    """The rows of a salvage by what they belong to, and what is told of them."""

    def __init__(self, found: Salvage, replay: Replay, statuses: Statuses) -> None:
        self._found = found
        self._replay = replay
        self._statuses = statuses
        self.notes: list[Note] = []
        self.lost: list[Lost] = []
        self.counts: dict[str, int] = {}
        tables = found.tables
        self._events = {row["seq"]: row for row in sorted(tables["events"], key=lambda row: row["seq"])}
        self._told: dict[bytes, list[Event]] = {}
        for row in self._events.values():
            self._told.setdefault(bytes(row["memory"]), []).append(event_of(row))
        self._versions: dict[bytes, dict[int, Row]] = {}
        for row in tables["versions"]:
            self._versions.setdefault(bytes(row["memory"]), {})[int(row["version"])] = row
        self._anchors: dict[Any, list[Row]] = {}
        for row in sorted(tables["anchors"], key=lambda row: row["position"]):
            self._anchors.setdefault(row["memory"], []).append(row)
        self.rows = newest(tables["memories"])
        erased = {raw for raw, events in self._told.items() if any(event.action == "erased" for event in events)}
        self._erased = (erased | {raw for raw, row in self.rows.items() if is_emptied("memories", row)}) - {NIL}
        self.occurrences: dict[Any, list[Row]] = {}
        for row in tables["occurrences"]:
            self.occurrences.setdefault(row["memory"], []).append(row)

    def done(self, head: Head | None) -> Mended:
        """Everything, in the order in which one part needs the other."""
        self._keep_empty()
        self._tell_rows()
        self._complete_occurrences()
        self._complete_versions()
        missing = gaps(list(self._events.values()), head)
        told = {event.payload for event in self._told.get(NIL, ())}
        gap_notes = [f"gap {replica} {first}-{last}" for replica, first, last in missing]
        self.notes += [Note(NIL, payload) for payload in gap_notes if payload not in told]
        incomplete, digests = self._complete_changes(), self._digests()
        return Mended(self._tables(digests), tuple(self.notes), tuple(self.lost), tuple(missing), self.counts, incomplete)

    def _count(self, name: str, many: int = 1) -> None:
        if many:
            self.counts[name] = self.counts.get(name, 0) + many

    # What was erased

    def _keep_empty(self) -> None:
        """Nothing comes back from an old page: no row, and no version, of a memory that was erased; no version of before a secret was
        taken out."""
        for raw in self._erased:
            row = self.rows.get(raw)
            if row is not None and (row["text"] or row["version"] < max(self._versions.get(raw, ()), default=0)):
                self._found.numbers.setdefault(raw, row["number"])
                self._found.keys.setdefault(raw, row["key"])
                del self.rows[raw]
        for raw, held in self._versions.items():
            cleaned = (one.version for one in self._told.get(raw, ()) if one.action == "revised" and one.payload == _REDACTED)
            below = float("inf") if raw in self._erased else max(cleaned, default=0)
            for number in held:
                if number < below:
                    held[number] = {**held[number], **EMPTY}

    def _emptied(self, raw: bytes, key: int, reached: int) -> Row | None:
        """The content of an erased memory whose row and versions are gone: that there was one. None for one from the repository of which
        nothing is left: its digests keep it out when it is read again."""
        told = self._told.get(raw, ())
        commit = self._commit(key)
        if not commit and not any(event.action in _OCCURRED for event in told):
            return None
        outcome = next((row["outcome"] for row in self.occurrences.get(key, ())), None)
        return as_version(Memory(to_text(raw), None, "change" if commit else "fact", outcome, "", version=max(reached, 1)))

    def _commit(self, key: int) -> str:
        return next((str(row["sha"]) for row in self._found.tables["changes"] if row["memory"] == key), "")

    def _digests(self) -> list[Row]:
        """Digests of erased words; those whose entry of the journal is gone are vouched for anew, though not whose they were."""
        found = self._found.tables["erased"]
        known = {row["event"] for row in found}
        unknown = [one for events in self._told.values() for one in events if one.action == "erased" and one.seq not in known]
        self._count("erased memories that are not kept out any more", len(unknown))
        self.notes += [Note(NIL, "erased", erased=row) for row in found if row["event"] not in self._events]
        return [row for row in found if row["event"] in self._events]

    # Rows

    def _tell_rows(self) -> None:
        """Memories of which only the journal is left, or whose row is of an earlier time than that: told from it, or lost."""
        reached = {raw: max((one.version for one in events if one.digest), default=0) for raw, events in self._told.items()}
        for raw, row in list(self.rows.items()):
            last = max((reached.get(raw, 0), *self._versions.get(raw, ())))
            if row["version"] < last and max(self._versions.get(raw, ()), default=0) > row["version"]:
                self._found.numbers.setdefault(raw, row["number"])
                self._found.keys.setdefault(raw, row["key"])
                del self.rows[raw]
            elif row["version"] < last:  # nothing later is left: what it said is said anew
                self._set(row["key"], self._memory(raw).replace(version=last + 1))
                self._count("memories told from an earlier version")
        keys = {row["key"] for row in self.rows.values()}
        numbers = {row["number"] for row in self.rows.values()}
        told: list[bytes] = []
        for raw in sorted((self._told.keys() | self._versions.keys() | self._found.keys.keys()) - self.rows.keys() - {NIL}):
            version = max(self._versions.get(raw, ()), default=0)
            content = self._versions[raw][version] if version else None
            number = self._found.numbers.get(raw)
            number = None if number in numbers else number
            key = self._key_of(raw, keys)
            if content is None and raw in self._erased:
                content = self._emptied(raw, key, reached.get(raw, 0))
            if content is None or (content["salt"] is None and raw not in self._erased):  # no words: never said, or damaged
                self._lose(raw, number)
                continue
            keys.add(key)
            numbers.add(number)
            happened = [occurrence(raw, row) for row in self._known(raw, key)]
            memory = self._replay(version_of(content), self._told.get(raw, ()), happened, number, self._replaced_by(key))
            if raw in self._erased:
                memory = memory.replace(version=max(version, reached.get(raw, 0), 1), commit=self._commit(key) or memory.commit)
            elif reached.get(raw, 0) > version:  # what was said last is lost, so what is told now is said anew
                memory = memory.replace(version=reached[raw] + 1)
                self._count("memories told from an earlier version")
            self._set(key, memory)
            self.notes.append(Note(raw, "row"))
            self._count("rows told from the journal")
            told.append(raw)
        self._number_anew(told)

    def _number_anew(self, told: Sequence[bytes]) -> None:
        """Recorded memories whose number nobody knows any more get the next ones; what comes from the repository has none."""
        given = [row["number"] for row in self.rows.values()] + [lost.number for lost in self.lost]
        last = max((number for number in given if number is not None), default=0)
        following = max(last + 1, int(self._found.settings().get("next_number") or 1))
        for raw in told:
            row, events = self.rows[raw], self._told.get(raw, ())
            if row["number"] is None and (not events or any(event.action in _OCCURRED for event in events)):
                self._set(row["key"], self._memory(raw).replace(number=following))
                self._count("memories with a new number")
                following += 1

    def _lose(self, raw: bytes, number: int | None) -> None:
        events = self._told.get(raw, ())
        if not events and number is None:
            return  # what comes from git, untouched: the next init reads it again
        times = [event.at for event in events]
        actions = tuple(dict.fromkeys(event.action for event in events))
        self.lost.append(Lost(to_text(raw), number, actions, min(times, default=None), max(times, default=None)))
        if not any(event.action == "repaired" and event.payload == "lost" for event in events):
            self.notes.append(Note(raw, "lost"))

    def _key_of(self, raw: bytes, taken: set[Any]) -> int:
        """The key that a memory had, as the index or its occurrences know it; else one that none has."""
        seqs = {event.seq for event in self._told.get(raw, ())}
        votes = [key for key, rows in self.occurrences.items() for row in rows if row["event"] in seqs]
        known = self._found.keys.get(raw) or next(iter(votes), None)
        if isinstance(known, int) and known not in taken:
            return known
        others = [key for key in (*taken, *self._found.keys.values(), *self.occurrences) if isinstance(key, int)]
        return max(others, default=0) + 1

    def _known(self, raw: bytes, key: int) -> list[Row]:
        """The occurrences of a memory, those first that were first."""
        return sorted(self.occurrences.get(key, ()), key=lambda row: row["at"])

    def _replaced_by(self, key: int) -> str | None:
        by_key = {row["key"]: raw for raw, row in self.rows.items()}
        for row in self._found.tables["links"]:
            if row["kind"] == "replaces" and row["target"] == key and row["source"] in by_key:
                return to_text(by_key[row["source"]])
        return None

    def _set(self, key: int, memory: Memory) -> None:
        """A memory's row and anchors, as they are written today."""
        raw, before = to_blob(memory.id), self.rows.get(to_blob(memory.id))
        twin = (before or {}).get("twin") if before else twin_key(memory)
        self.rows[raw] = {
            "key": key, **dict(zip(_MEMORY, memory_values(memory), strict=True)), "twin": None if memory.erased else twin,
            "row_hash": row_hash(memory),
        }  # fmt: skip
        self._anchors[key] = [
            {
                "memory": key, "position": position, "path": one.path, "symbol": one.symbol, "name": last_part(one.symbol),
                "commit_sha": one.commit, "blob": one.blob, "fingerprint": one.fingerprint,
            }
            for position, one in enumerate(memory.anchors)
        ]  # fmt: skip

    def _memory(self, raw: bytes) -> Memory:
        row = self.rows[raw]
        return memory_of(row, self._anchors.get(row["key"], []))

    # Occurrences

    def _complete_occurrences(self) -> None:
        owners = {row["key"]: raw for raw, row in self.rows.items()}
        self._count("occurrences of lost memories", sum(len(rows) for key, rows in self.occurrences.items() if key not in owners))
        self.occurrences = {key: rows for key, rows in self.occurrences.items() if key in owners}
        for key, raw in owners.items():
            self._complete_those_of(raw, key)
        self.counts = {name: count for name, count in self.counts.items() if count}

    def _complete_those_of(self, raw: bytes, key: Any) -> None:
        events = self._told.get(raw, [])
        telling = {one.seq: one for one in events if one.action in _OCCURRED and one.payload != _NO_OCCURRENCE}
        held = self.occurrences.get(key, [])
        kept = [row for row in held if row["event"] in telling]
        orphans = [row for row in held if row["event"] not in self._events]
        statuses = self._statuses(events)
        row = self.rows[raw]
        for seq in telling.keys() - {one["event"] for one in kept}:
            kept.append(retold(key, row["outcome"], telling[seq], statuses.get(seq, "active")))
            self._count("occurrences told from the journal")
        for orphan in orphans:
            self.notes.append(Note(raw, f"occurrence {orphan['status']}", None, orphan))
        if raw in self._erased:
            kept = [{**row, "branch": ""} for row in kept]
        self.occurrences[key] = kept
        if row["number"] is None:
            return
        seen, there = int(row["seen"]), len(kept) + len(orphans)
        told = [event.payload for event in events if event.action == "repaired"]
        there += sum(int(payload.split()[1]) for payload in told if payload.endswith(" occurrences"))  # of an earlier repair
        if there < seen:
            self.notes.append(Note(raw, f"lost {seen - there} occurrences"))
            self._count("occurrences lost", seen - there)
        elif there > seen:
            self._set(int(key), self._memory(raw).replace(seen=there))

    # Versions

    def _complete_versions(self) -> None:
        for raw in list(self._versions):
            if raw not in self.rows:
                del self._versions[raw]
        for raw, row in self.rows.items():
            held = self._versions.setdefault(raw, {})
            for number, version in list(held.items()):
                if version["event"] not in self._events:  # the words are there, who vouched for them is not
                    del held[number]
                    self.notes.append(Note(raw, f"version {number}", version))
                    self._count("versions whose entry is gone")
            if row["number"] is not None:
                self._note_missing(raw, held)

    def _note_missing(self, raw: bytes, held: dict[int, Row]) -> None:
        memory = self._memory(raw)
        told = {event.payload for event in self._told.get(raw, ()) if event.action == "repaired"}
        attested = {int(note.version["version"]) for note in self.notes if note.memory == raw and note.version}
        for number in range(1, memory.version + 1):
            if number in held or number in attested or f"lost version {number}" in told:
                continue
            if number == memory.version:
                self.notes.append(Note(raw, f"version {number}", as_version(memory)))
                self._count("versions told from the row")
            else:
                self.notes.append(Note(raw, f"lost version {number}"))
                self._count("earlier versions lost")

    # What comes from git

    def _complete_changes(self) -> tuple[str, ...]:
        """Commits whose row is there while what git says of them is not, or whose index is gone: to be read again."""
        held = {row["memory"]: row for row in self._found.tables["changes"]}
        indexed = {row["memory"] for row in self._whole_documents()}
        incomplete = []
        self._changes = []
        for raw, row in self.rows.items():
            if row["kind"] != "change" or not row["commit_sha"]:
                continue
            known = held.get(row["key"])
            if raw in self._erased:
                known = None
            elif known is None or row["key"] not in indexed:
                incomplete.append(str(row["commit_sha"]))
            self._changes.append(
                known
                or {
                    "memory": row["key"], "sha": row["commit_sha"], "pull_request": None, "lines_added": 0, "lines_removed": 0,
                    "files": "[]", "functions": "[]",
                }
            )  # fmt: skip
        return tuple(incomplete)

    def _whole_documents(self) -> list[Row]:
        """Index entries that know all of their words."""
        from hardwon.store.rows import decode_postings

        words = {row["id"] for row in self._found.tables["terms"]}
        keys = {row["key"] for raw, row in self.rows.items() if raw not in self._erased}
        return [
            row
            for row in self._found.tables["documents"]
            if row["memory"] in keys and words.issuperset(decode_postings(bytes(row["postings"]))[0])
        ]

    def _tables(self, digests: Sequence[Row]) -> dict[str, Sequence[Row]]:
        found = self._found.tables
        keys = {row["key"]: raw for raw, row in self.rows.items()}
        by_id = {to_text(raw): key for key, raw in keys.items()}
        saying = {key for key, raw in keys.items() if raw not in self._erased}
        links = [
            {**row, "target": by_id.get(str(row["reference"])) if row["kind"] in LINKS else named(row, keys)}
            for row in found["links"]
            if row["source"] in saying
        ]
        return {
            "settings": found["settings"], "events": list(self._events.values()), "memories": list(self.rows.values()),
            "anchors": [row for key in keys for row in self._anchors.get(key, ())],
            "versions": [row for held in self._versions.values() for row in held.values()],
            "occurrences": sorted((row for rows in self.occurrences.values() for row in rows), key=lambda row: int(row["event"])),
            "links": links, "changes": self._changes,
            "aliases": [row for row in found["aliases"] if row["memory"] in saying or (row["memory"] in keys and is_id(row["alias"]))],
            "vectors": [row for row in found["vectors"] if row["memory"] in saying],
            "schema_steps": found["schema_steps"], "erased": digests, "terms": found["terms"], "documents": self._whole_documents(),
        }  # fmt: skip
