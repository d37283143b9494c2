"""The sources of derived memories: which files they are, what they say, and what of it was read before."""

from __future__ import annotations

from hardwon.importers import dependencies, documents, mainline, snapshot
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardwon.importers.snapshot import File, Folder, Touch, Tree
    from hardwon.store.base import Reader
    from hardwon.types import Derived, Memory

# Passages of documents in one repository: so many that they cannot crowd out what people wrote.
MOST_PASSAGES = 5_000
# How a source's setting begins while a run is at work.
MARK = "reading "
_DONE = "done"
_WORDS = 10  # of a stamp
_SHORT = 12  # digits of a blob in a stamp


class LeftOut(Value):
    """What was not read or not kept: files (or versions of files) that were too large, unreadable or broken, and what went beyond
    the limits."""

    too_large: int = 0
    unreadable: int = 0
    broken: int = 0
    cut: int = 0


class Stamp(Value):
    """What the last finished run read: the version of the reader, the commit, a digest of the files; and what it left out.

    ``crowded``: the repository's limit was reached, so each file's share depends on all others. ``again``: blobs of files of which
    something was cut; they are read again, or the figure of what is left out would forget them.
    """

    version: int
    commit: str
    files: str
    left_out: LeftOut = LeftOut()
    crowded: bool = False
    again: tuple[str, ...] = ()

    def written(self) -> str:
        """The stamp as a setting."""
        figures = [*vars(self.left_out).values(), int(self.crowded)]
        words = [_DONE, str(self.version), self.commit or "-", self.files, *map(str, figures), ",".join(self.again) or "-"]
        return " ".join(words)

    def as_before(self, other: Stamp) -> bool:
        """Whether another run read the very same."""
        return (self.version, self.commit, self.files) == (other.version, other.commit, other.files)


class Reading(Value):
    """What a source tells: memories to be; ids of memories whose source is as it was; how many files there are; what was left out."""

    derived: tuple[Derived, ...] = ()
    kept: frozenset[str] = frozenset()
    files: int = 0
    left_out: LeftOut = LeftOut()
    crowded: bool = False
    again: tuple[str, ...] = ()


class Source(Value):
    """A kind of files that memories are derived from. ``read(snapshot, files, known memories, last stamp)`` tells what they say;
    ``version`` is raised when the same files would tell something else."""

    name: str
    version: int
    wanted: Callable[[str], bool]
    read: Callable[[Tree | Folder, Sequence[File], Sequence[Memory], Stamp | None], Reading]

    @property
    def setting(self) -> str:
        """The setting of the store that holds the stamp of the last run, or the mark of the present one."""
        return f"derived_{self.name}"


def stamp(source: Source, place: Tree | Folder | None, files: Iterable[File]) -> Stamp:
    """The stamp of a run that begins now."""
    return Stamp(source.version, place.commit if place else "", _digest(files))


def last(reader: Reader, source: Source) -> Stamp | None:
    """What the last run read; None where there was none, or it did not finish."""
    words = reader.setting(source.setting).split()
    if len(words) != _WORDS or words[0] != _DONE:
        return None
    again = () if words[9] == "-" else tuple(words[9].split(","))
    return Stamp(int(words[1]), words[2].strip("-"), words[3], LeftOut(*map(int, words[4:8])), words[8] != "0", again)


def _digest(files: Iterable[File]) -> str:
    from hashlib import sha256

    return sha256("\0".join(f"{file.path}\0{file.blob}" for file in files).encode()).hexdigest()[:32]


# --- documents


def _read_documents(place: Tree | Folder, files: Sequence[File], known: Sequence[Memory], before: Stamp | None) -> Reading:
    """The passages of all documents, but of files that are as they were when all of them were read."""
    touched = place.touched(file.path for file in files)
    default = snapshot.Touch(place.time())
    asked = _as_they_were(known, touched, before)
    kept = frozenset(one for file in files for one in asked.get((file.path, file.blob), ()))
    changed = [file for file in documents.order(files) if (file.path, file.blob) not in asked]
    derived: list[Derived] = []
    again: list[str] = []
    too_large = unreadable = cut = 0
    crowded = False
    for content in place.read(changed, documents.FILE_LIMIT):
        room = MOST_PASSAGES - len(kept) - len(derived)
        if room <= 0:  # what is not kept is not parsed: a file is cut as a whole
            cut, crowded = cut + 1, True
            continue
        touch = touched.get(content.file.path, default)
        found = documents.passages(content.file, content.data, touch) if content.data is not None else None
        if found is None:
            too_large += content.size > documents.FILE_LIMIT
            unreadable += content.size <= documents.FILE_LIMIT
            continue
        beyond = max(0, len(found.derived) - room)
        cut, crowded = cut + found.cut + beyond, crowded or beyond > 0
        again += [content.file.blob[:_SHORT]] * bool(found.cut)
        derived += found.derived[:room]
    left_out = LeftOut(too_large, unreadable, 0, cut)
    return Reading(tuple(derived), kept, len(files), left_out, crowded, tuple(dict.fromkeys(again)))


def _as_they_were(known: Iterable[Memory], touched: dict[str, Touch], before: Stamp | None) -> dict[tuple[str, str], list[str]]:
    """(path, blob) of files that were read and are unchanged, with the ids of their memories; of no file where the last run did not
    finish, or read otherwise."""
    if before is None or before.version != documents.VERSION or before.crowded:
        return {}
    found: dict[tuple[str, str], list[str]] = {}
    stale = set()
    for memory in known:
        anchor = memory.anchors[0]
        key = (anchor.path, anchor.blob)
        found.setdefault(key, []).append(memory.id)
        touch = touched.get(anchor.path)
        moved = touch is None or (touch.sha, touch.at) != (memory.commit, memory.created_at)
        if moved or memory.status == "expired" or anchor.blob[:_SHORT] in before.again:
            stale.add(key)
    return {key: ids for key, ids in found.items() if key not in stale}


# --- dependencies


def _read_dependencies(place: Tree | Folder, files: Sequence[File], known: Sequence[Memory], before: Stamp | None) -> Reading:
    """Facts and attempts of all manifests; all that is known where none of them was touched since."""
    if before and before.version == dependencies.VERSION and before.files == _digest(files) and _went_by(place, before.commit):
        kept = frozenset(memory.id for memory in known if memory.status != "expired")
        return Reading((), kept, len(files), before.left_out)
    found = dependencies.harvest(place)
    left_out = LeftOut(found.too_large, found.unreadable, found.broken, found.cut)
    return Reading(found.derived, frozenset(), found.files, left_out)


def _went_by(place: Tree | Folder, commit: str) -> bool:
    """Whether history went on from a commit without touching a manifest, not even to and fro."""
    if not commit or not isinstance(place, snapshot.Tree) or not mainline.leads_to(place.root, commit, place.commit):
        return False
    steps = mainline.Mainline(place.root, f"{commit}..{place.commit}", dependencies.is_manifest)
    return not any(True for _ in steps) and steps.whole


DOCUMENTS = Source("docs", documents.VERSION, documents.is_document, _read_documents)
DEPENDENCIES = Source("deps", dependencies.VERSION, dependencies.is_manifest, _read_dependencies)
