"""Histories as streams of changes with their links, and the questions that later commits ask of earlier ones.

A commit that names an earlier one by hash ("Fixes: <hash>", "Follow-up to <hash>") is a question: its text, without everything
that would give the answer away, shall find the commit that it names. Nobody labels. Position in the stream is time.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple

from hardwon.types import Change

ASKING = frozenset({"fixes", "followup", "regress"})
WARM_UP = 0.25  # share of the window that is only remembered, not asked about
_LEAST_WORDS = 4
_LONG_SUBJECT = 15  # characters; a shorter subject occurs by chance
_CONTINUATION = 4  # lines after one with a hash that may still belong to its quoted subject

_SHA = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
_WORD = re.compile(r"\w+")
_REVERTING = re.compile(r"^\W*(?:\S+:\s+)?(?:revert|reapply)\b", re.IGNORECASE)
_PICKED = re.compile(r"cherry[- ]?picked", re.IGNORECASE)
_TRAILER = re.compile(
    r"^\s*(?:follow[- ]?up\b.*"
    r"|(?:fix(?:e[sd])?|close[sd]?|refs?|bug|link|issue|see)(?:\s*:|\s+(?:https?:|[\w./-]*#\d)).*"
    r"|[\w-]+-by\s*:.*|bugzilla id\s*:.*|coverity issue\s*:.*|cc\s*:.*)$",
    re.IGNORECASE,
)
_KINDS = (
    ("revert", re.compile(r"revert", re.IGNORECASE)),
    ("followup", re.compile(r"follow(?:s|ing)?[- ]?up", re.IGNORECASE)),
    ("fixes", re.compile(r"\bfix", re.IGNORECASE)),
    ("regress", re.compile(r"regress|introduc|broke|since|caus|\bbug", re.IGNORECASE)),
)


class Asked(NamedTuple):
    """A question: where in the stream it is asked, its two texts, and the positions that answer it."""

    position: int
    full: str
    subject: str
    relevant: frozenset[int]


def load(path: str) -> list[Change]:
    """Changes of a (compressed) file of JSON lines, oldest first; ``at`` in seconds, as ``save`` writes and git counts."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [_change(json.loads(line)) for line in file]


def _change(item: Mapping[str, Any]) -> Change:
    """A change of a line: with diff (sha, at, subject, body, ...) or with the message only (h, ct, text, files)."""
    subject, _, body = item["text"].partition("\n") if "text" in item else (item["subject"], "", item.get("body", ""))
    return Change(
        sha=item.get("sha") or item["h"],
        at=1000 * (item["at"] if "at" in item else item["ct"]),
        subject=subject.strip(),
        body=body.strip(),
        author=item.get("author", ""),
        files=_words(item, "files"),
        functions=_words(item, "functions"),
        added=_words(item, "added"),
        removed=_words(item, "removed"),
        lines_added=item.get("lines_added", 0),
        lines_removed=item.get("lines_removed", 0),
    )


def _words(item: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(map(intern, item.get(name, ())))


def save(path: str, changes: Iterable[Change]) -> None:
    """Keep a stream, so that the clone need not be read again."""
    names = ("sha", "subject", "body", "files", "functions", "added", "removed", "lines_added", "lines_removed")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for change in changes:
            item = {"at": change.at // 1000, **{name: getattr(change, name) for name in names}}
            file.write(json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n")


def clone(path: str, newest: int) -> list[Change]:
    """The newest commits of a clone (merges left out), oldest first, read as the product reads them."""
    from hardwon.importers.history import read_commits
    from hardwon.importers.refs import list_commits

    shas = list_commits(os.path.abspath(path), newest)
    return [_interned(change) for change in read_commits(os.path.abspath(path), shas[::-1])]


def _interned(change: Change) -> Change:
    """The same with one copy of each word, so that 16,000 commits fit into memory with ease."""
    words = {name: tuple(map(intern, getattr(change, name))) for name in ("files", "functions", "added", "removed")}
    kept: Change = change.replace(**words)
    return kept


class Links:
    """For each position that names earlier ones: the positions named, with the kind of each."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._positions: dict[str, list[int]] = {}
        self._shas = [change.sha for change in changes]
        for position, sha in enumerate(self._shas):
            self._positions.setdefault(sha[:7], []).append(position)
        self.of: dict[int, dict[int, set[str]]] = {}

    def add(self, source: int, kind: str, prefix: str) -> None:
        """Note a reference, if it is the unique beginning of an earlier commit of the window."""
        target = self.position(prefix)
        if target is not None and target < source:
            self.of.setdefault(source, {}).setdefault(target, set()).add(kind)

    def position(self, prefix: str) -> int | None:
        """The commit that a hash or its beginning (from 7 digits) means."""
        found = [position for position in self._positions.get(prefix[:7], ()) if self._shas[position].startswith(prefix)]
        return found[0] if len(found) == 1 else None


def found_links(changes: Sequence[Change]) -> Links:
    """Links as the messages name them; the line tells the kind."""
    links = Links(changes)
    for position, change in enumerate(changes):
        for line in (change.subject, *change.body.split("\n")):
            if not _PICKED.search(line):
                for match in _SHA.finditer(line):
                    links.add(position, _kind(line), match[0])
    return links


def _kind(line: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(line)), "mention")


def listed_links(changes: Sequence[Change], path: str, repository: str) -> Links:
    """Links of a file with the columns ``repository, sha, kind, sha``."""
    links = Links(changes)
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, source, kind, target = line.rstrip("\n").split("\t")
            asking = links.position(source) if name == repository else None
            if asking is not None:
                links.add(asking, kind, target)
    return links


def questions(changes: Sequence[Change], links: Links) -> list[Asked]:
    """All usable questions in the order of ``sha1("gb" + position)``: any first N of it are a stable, nested sample."""
    found = []
    for position, targets in links.of.items():
        kinds = set().union(*targets.values())
        if position < WARM_UP * len(changes) or "revert" in kinds or not kinds & ASKING:
            continue
        if asked := _asked(changes, position, targets):
            found.append(asked)
    return sorted(found, key=lambda asked: hashlib.sha1(f"gb{asked.position}".encode()).hexdigest())


def _asked(changes: Sequence[Change], position: int, targets: Iterable[int]) -> Asked | None:
    change = changes[position]
    if _REVERTING.match(change.subject):
        return None
    subjects = [changes[target].subject for target in targets]
    full = cleaned(f"{change.subject}\n{change.body}", subjects)
    if len(_WORD.findall(full)) < _LEAST_WORDS:
        return None
    return Asked(position, full, cleaned(change.subject, subjects), frozenset(targets))


def cleaned(text: str, subjects: Iterable[str]) -> str:
    """A message without hashes, the lines that hold them, trailers, and the subjects of the commits that it names."""
    kept = []
    quoting = 0
    for line in text.split("\n"):
        if quoting and '("' not in line:
            quoting = 0 if '")' in line else quoting - 1
        elif _SHA.search(line):
            quoting = _CONTINUATION if '("' in line and '")' not in line else 0
        elif not _TRAILER.match(line):
            kept.append(line)
    clean = "\n".join(kept)
    for subject in subjects:
        if len(subject) > _LONG_SUBJECT:
            clean = clean.replace(subject, "")
    return _SHA.sub("", clean).strip()
