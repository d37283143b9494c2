"""What the repository depends on, and since when: manifests and lock files, now and along the main line of its history.

Each span of time in which a manifest asked for one version of a package is a fact. A change that was later taken back (from A to B
and to A again) is a failed attempt. Of lock files only the packages are told that a manifest names.
"""

from __future__ import annotations

import re
import time

from hardwon.importers.mainline import Edit, Mainline, Step
from hardwon.importers.manifests.table import LOCK_LIMIT, MANIFEST_LIMIT, kind_of, parse
from hardwon.importers.message import pull_request, revert_reason
from hardwon.importers.snapshot import File, Folder, Touch, Tree
from hardwon.types import Anchor, Derived, Draft, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hardwon.importers.manifests.table import Kind, Requirements
    from hardwon.types import Change

# How far back each file is read. A lock file changes often and is large; its manifest tells the same in fewer words.
MANIFEST_STEPS, LOCK_STEPS = 2_000, 300
LOCK_BYTES = 100_000_000  # of all versions of lock files together
FACTS = 10_000  # those that hold, then the newest of those that held once
# Raised when the same files would give other facts.
VERSION = 1
_LONGEST_SUBJECT = 200  # characters
_SHOWN_FILES = 10  # anchors of an attempt that touched many manifests at once


class Span(Value):
    """How long a file asked for a version of a package. ``start`` is None where it did so before what was read; ``before`` is the
    version that it replaced, None where the package was new; ``end`` is the change that ended it."""

    path: str
    blob: str
    name: str
    group: str
    wanted: str
    before: str | None
    start: Change | None
    end: Change | None = None
    after: str | None = None


class Harvest(Value):
    """What the manifests tell. ``files`` are those of now; ``broken`` and ``too_large`` count versions of files that could not be
    read; ``cut`` counts changes and facts beyond the limits."""

    derived: tuple[Derived, ...]
    files: int
    broken: int = 0
    too_large: int = 0
    unreadable: int = 0
    cut: int = 0


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest or lock file of this repository."""
    return kind_of(path) is not None


def harvest(snapshot: Tree | Folder) -> Harvest:
    """Facts and failed attempts of all manifests. GitFailed where git refuses."""
    now = snapshot.files(is_manifest)
    history = _History()
    if isinstance(snapshot, Tree):
        history.gather(Mainline(snapshot.root, snapshot.commit, is_manifest))
    versions = _Versions(snapshot)
    versions.read(_blobs(now, history, lock=False), MANIFEST_LIMIT)
    asked = versions.names()
    versions.read(_blobs(now, history, lock=True), LOCK_LIMIT, asked, LOCK_BYTES)
    held = {file.path: file for file in now}
    spans: list[Span] = []
    for path in sorted({*held, *history.edits}):
        spans += _spans(path, history.edits.get(path, []), held.get(path), versions)
    touched = snapshot.touched([path for path in held if path not in history.edits]) if held else {}
    facts, over = _facts(spans, touched, history.oldest)
    derived = (*facts, *_attempts(spans))
    return Harvest(derived, len(now), versions.broken, versions.too_large, versions.unreadable, history.cut + versions.cut + over)


class _History:
    """The edits of each manifest, newest first, within the limits."""

    def __init__(self) -> None:
        self.edits: dict[str, list[tuple[Edit, Change]]] = {}
        self.cut = 0
        self.oldest = 0  # when the oldest step that was read was made

    def gather(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.oldest = step.commit.at
            for edit in step.edits:
                known = self.edits.setdefault(edit.path, [])
                kind = kind_of(edit.path)
                if len(known) < (LOCK_STEPS if kind and kind.lock else MANIFEST_STEPS):
                    known.append((edit, step.commit))
                else:
                    self.cut += 1


def _blobs(now: Iterable[File], history: _History, *, lock: bool) -> list[File]:
    """Every version of manifests (or of lock files) that has to be read, each once; the present ones first, then the newest."""
    found: dict[tuple[str, Kind], File] = {}

    def add(path: str, blob: str) -> None:
        kind = kind_of(path)
        if blob and kind and kind.lock == lock:
            found.setdefault((blob, kind), File(path, blob))

    for file in now:
        add(file.path, file.blob)
    pairs = sorted(((commit.at, edit) for edits in history.edits.values() for edit, commit in edits), key=lambda pair: -pair[0])
    for _, edit in pairs:
        add(edit.path, edit.after)
        add(edit.path, edit.before)
    return list(found.values())


class _Versions:
    """What each version of each file requires, by its blob and kind of file."""

    def __init__(self, snapshot: Tree | Folder) -> None:
        self.snapshot = snapshot
        self.known: dict[tuple[str, Kind], Requirements] = {}
        self.broken = self.too_large = self.unreadable = self.cut = 0

    def read(self, files: Sequence[File], limit: int, only: set[tuple[str, str]] | None = None, budget: int = 0) -> None:
        """Parse these files; ``only``: keep packages of these (ecosystem, name); ``budget``: bytes that may be read, 0 for any."""
        left = budget
        for number, content in enumerate(self.snapshot.read(files, limit)):
            if budget and left < 0:
                self.cut += len(files) - number
                return
            left -= max(0, content.size)
            kind = kind_of(content.file.path)
            if content.data is None or kind is None:
                self.too_large += content.size > limit
                self.unreadable += content.size < 0
                continue
            found = parse(kind, content.data)
            if found is None:
                self.broken += 1
                continue
            if only is not None:
                found = {key: wanted for key, wanted in found.items() if (kind.ecosystem, key[0]) in only}
            self.known[content.file.blob, kind] = found

    def names(self) -> set[tuple[str, str]]:
        """(ecosystem, name) of every package that some manifest names or named."""
        return {(kind.ecosystem, name) for (_, kind), found in self.known.items() if not kind.lock for name, _ in found}

    def of(self, path: str, blob: str) -> Requirements | None:
        """What a version requires: nothing where there is no file, None where it could not be read."""
        kind = kind_of(path)
        return {} if not blob else self.known.get((blob, kind)) if kind else None


# --- spans


def _spans(path: str, edits: Sequence[tuple[Edit, Change]], now: File | None, versions: _Versions) -> Iterator[Span]:
    """The spans of one file, oldest first. A version that cannot be read is passed over: what held before it holds until the next."""
    states: list[tuple[Change | None, str, Requirements]] = []
    if edits:
        first = edits[-1][0].before
        states.append((None, first, versions.of(path, first) or {}))
    for edit, commit in reversed(edits):
        found = versions.of(path, edit.after)
        if found is not None:
            states.append((commit, edit.after, found))
    if now is not None and (not states or states[-1][1] != now.blob):  # history says less than the tree: a merge, a partial clone
        found = versions.of(path, now.blob)
        if found is not None:
            states.append((None, now.blob, found))
    yield from _between(path, states)


def _between(path: str, states: Sequence[tuple[Change | None, str, Requirements]]) -> Iterator[Span]:
    held: dict[tuple[str, str], Span] = {}
    for commit, blob, requirements in states:
        for key in sorted(held.keys() | requirements.keys()):
            known, wanted = held.get(key), requirements.get(key)
            if known and known.wanted == wanted:
                continue
            if known:
                yield known.replace(end=commit, after=wanted) if commit else known.replace(end=known.start, after=wanted)
                del held[key]
            if wanted is not None:
                name, group = key
                held[key] = Span(path, blob, name, group, wanted, known.wanted if known else None, commit)
    yield from held.values()


# --- facts


def _facts(spans: Sequence[Span], touched: dict[str, Touch], oldest: int) -> tuple[list[Derived], int]:
    """The facts, and how many were beyond the limit."""
    order = sorted(spans, key=lambda span: (span.end is not None, -(span.start.at if span.start else 0), span.path, span.name))
    return [_fact(span, touched.get(span.path), oldest) for span in order[:FACTS]], max(0, len(order) - FACTS)


def _fact(span: Span, touch: Touch | None, oldest: int) -> Derived:
    start, end = span.start, span.end
    kind = kind_of(span.path)
    at = start.at if start else touch.at if touch else oldest
    sha = start.sha if start else touch.sha if touch else ""
    draft = Draft(
        text=_sentence(span, lock=bool(kind and kind.lock)),
        kind="fact",
        detail=_story(span),
        anchors=(Anchor(span.path, "", sha, span.blob),),
        tags=("deps", kind.ecosystem if kind else ""),
    )
    return Derived(
        name=f"dep:{span.path}:{span.group}:{span.name}:{start.sha if start else 'earlier'}",
        draft=draft,
        at=at,
        author=start.author if start else touch.author if touch else "",
        commit=sha,
        valid_from=start.at if start else None,
        # A clock that went backwards must not make it end before it began.
        valid_until=max(end.at, at) if end else None,
    )


def _sentence(span: Span, *, lock: bool) -> str:
    verb, link = ("locked", "at") if lock else ("required", "as")
    wanted = f"{link} {span.wanted}" if span.wanted else "in any version"
    group = f" for {span.group}" if span.group else ""
    if span.end is None:
        return f"{span.name} is {verb} {wanted}{group} ({span.path})"
    return f"{span.name} was {verb} {wanted}{group} until {_day(span.end.at)} ({span.path})"


def _story(span: Span) -> str:
    """In words that people ask with: version, dependency, upgrade; when, by whom, in which commit."""
    lines = [f"Version of the dependency {span.name} in {span.path}: {_shown(span.wanted)}."]
    if span.start:
        was = f"{span.name} was added"
        verb = was if span.before is None else f"{_direction(span.before, span.wanted)} of {span.name} from {_shown(span.before)}"
        lines.append(f"{verb} on {_day(span.start.at)} by {span.start.author}: {_subject(span.start)} ({span.start.sha[:10]}).")
    if span.end:
        gone = f"{span.name} was removed"
        what = gone if span.after is None else f"{_direction(span.wanted, span.after)} of {span.name} to {_shown(span.after)}"
        lines.append(f"{what} on {_day(span.end.at)} by {span.end.author}: {_subject(span.end)} ({span.end.sha[:10]}).")
    return "\n".join(lines)


def _direction(old: str, new: str) -> str:
    """``Upgrade`` or ``Downgrade``, by the first version number that differs; ``Change`` where bounds came or went."""
    older, newer = _versions_in(old), _versions_in(new)
    if len(older) != len(newer) or older == newer:
        return "Change"
    return "Upgrade" if older < newer else "Downgrade"


def _versions_in(wanted: str) -> list[tuple[int, ...]]:
    """The version numbers of a requirement; bounds in one order, for ``<2,>=1.5`` and ``>=1.5,<2`` are the same."""
    wanted = ",".join(sorted(bound.strip() for bound in wanted.split(",")))
    return [tuple(map(int, number.split("."))) for number in re.findall(r"\d{1,9}(?:\.\d{1,9}){0,5}", wanted)]


def _shown(wanted: str) -> str:
    return wanted or "any"


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at / 1000))


_MERGE = re.compile(r"Merge (?:pull request|branch|remote-tracking branch)\b")


def _subject(commit: Change) -> str:
    """The subject, of a merge the title that it brings; at most 200 characters."""
    title = commit.body.strip().partition("\n")[0]
    text = title if title and _MERGE.match(commit.subject) else commit.subject
    return text if len(text) <= _LONGEST_SUBJECT else text[: _LONGEST_SUBJECT - 1] + "…"


# --- attempts


def _attempts(spans: Sequence[Span]) -> list[Derived]:
    """Changes of a version that were taken back, one for each pair of commits, over all files that they touched."""
    by_key: dict[tuple[str, str, str], list[Span]] = {}
    for span in spans:
        by_key.setdefault((span.path, span.group, span.name), []).append(span)
    found: dict[tuple[str, str, str], list[Span]] = {}
    later: dict[tuple[str, str, str], Span] = {}
    for places in by_key.values():
        for number, span in enumerate(places):
            if span.start and span.end and span.start is not span.end and _was_taken_back(span):
                key = (span.name, span.start.sha, span.end.sha)
                found.setdefault(key, []).append(span)
                again = next((other for other in places[number + 1 :] if other.wanted == span.wanted and other.start), None)
                if again:
                    later[key] = again
    return [_attempt(_told_best(group), later.get(key)) for key, group in found.items()]


def _was_taken_back(span: Span) -> bool:
    """Raised from A to B and lowered to A again; of any other change and of what was new, only where a commit says that it reverts
    the other: who lowers a version for a while, or drops a package after years, tells of no failure."""
    if span.after != span.before or not span.start or not span.end:
        return False
    raised = span.before is not None and _direction(span.before, span.wanted) == "Upgrade"
    return raised or _reverts(span.end, span.start)


def _reverts(later: Change, earlier: Change) -> bool:
    request = f"#{pull_request(earlier.subject, earlier.body)}"
    named = any(
        relation.kind == "reverts" and (earlier.sha.startswith(relation.target) or relation.target == request)
        for relation in later.relations
    )
    return named or f'Revert "{_subject(earlier)}"' in f"{later.subject}\n{later.body}"


def _told_best(spans: Sequence[Span]) -> list[Span]:
    """Manifests before lock files: they say what was wanted."""
    manifests = [span for span in spans if (kind := kind_of(span.path)) and not kind.lock]
    return manifests or list(spans)


def _attempt(spans: Sequence[Span], again: Span | None) -> Derived:
    span = spans[0]
    start, end = span.start, span.end
    assert start and end  # noqa: S101 - for mypy: only such spans are attempts
    word = _direction(span.before or "", span.wanted).lower()
    what = f"from {_shown(span.before)} to {_shown(span.wanted)}" if span.before is not None else f"of {_shown(span.wanted)}"
    verb = f"{word} of {span.name} {what}" if span.before is not None else f"adding {span.name} {span.wanted}".rstrip()
    reason = revert_reason(end)
    lines = [
        f"Tried on {_day(start.at)} by {start.author}: {_subject(start)} ({start.sha[:10]}).",
        f"Taken back on {_day(end.at)} by {end.author}: {_subject(end)} ({end.sha[:10]}).",
    ]
    if again and again.start:
        lines.append(
            f"Done again on {_day(again.start.at)} by {again.start.author}: {_subject(again.start)} ({again.start.sha[:10]})."
        )
    kind = kind_of(span.path)
    paths = sorted({item.path for item in spans})
    draft = Draft(
        text=f"{verb} was taken back",
        kind="attempt",
        outcome="failed",
        detail="\n".join(lines),
        because=_subject(end) + (f": {reason}" if reason and reason not in _subject(end) else ""),
        anchors=tuple(Anchor(path, "", end.sha) for path in paths[:_SHOWN_FILES]),
        tags=("deps", kind.ecosystem if kind else ""),
    )
    name = f"attempt:{span.name}:{start.sha}:{end.sha}"
    return Derived(name=name, draft=draft, at=end.at, author=end.author, commit=end.sha, valid_from=end.at)
