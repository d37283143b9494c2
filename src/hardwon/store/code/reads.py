"""Questions to the code index, within one snapshot that store/code/codefile.py opened (code/index.py says what each promises)."""

from __future__ import annotations

from zlib import error as ZlibError  # noqa: N812

import apsw

from hardwon.code.index import Declared, Site, Trail
from hardwon.store.code import packing
from hardwon.store.code.packing import tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from hardwon.code.outline import Call, Import, Symbol
    from hardwon.store.handle import Handle

    T = TypeVar("T")

# What reading a value that was changed raises, beside the engine's errors: zlib's, int's and the unpacking's.
_BROKEN = (apsw.Error, UnicodeDecodeError, ValueError, ZlibError)
# The blobs that may have something of a key, and the files of a tree that hold them.
_HOLDING = (
    "SELECT p.path, f.blob FROM uses u CROSS JOIN files f ON f.blob = u.blob AND f.tree = ? CROSS JOIN paths p ON p.id = f.path "
    "WHERE u.key = ?"
)
_ENDING = 50  # files that one suffix may mean


class Queries:
    """The questions; what fails is raised as the engine raises it."""

    trouble = ""

    def __init__(self, handle: Handle, tree: str, path: str) -> None:
        """``tree``: from where it is seen; ``path``: of the file, whose size is told."""
        self._handle = handle
        self._db = handle.connection
        self._path = path
        found = self._rows("SELECT id, commit_sha, indexed_at FROM trees WHERE name = ?", (tidy(tree),))
        told: tuple[int, str, int] = found[0] if found else (0, "", 0)
        self._tree, self.commit, self.indexed_at = told

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def _blob(self, sha: str) -> tuple[int, str] | None:
        """Key and reason for skipping of a blob that was read."""
        found = self._rows("SELECT id, skipped FROM blobs WHERE sha = ? AND language IS NOT NULL", (tidy(sha),))
        return found[0] if found else None

    def _path_id(self, path: str) -> int:
        found = self._rows("SELECT id FROM paths WHERE path = ?", (tidy(path),))
        return found[0][0] if found else -1

    # Blobs

    def symbols(self, blob: str) -> list[Symbol] | None:
        """What a blob declares, by line; None for one that is not in the index."""
        found = self._blob(blob)
        if found is None:
            return None
        return self._unpacked(packing.symbols, "symbols", found[0])

    def knows(self, blob: str) -> bool:
        """Whether a blob is in the index: read, or skipped."""
        return self._blob(blob) is not None

    def skipped(self, blob: str) -> str:
        """Why a blob was not read; "" where it was, or is not in the index."""
        found = self._blob(blob)
        return found[1] if found else ""

    def is_broken(self, blob: str) -> bool:
        """Whether a blob was read in part only."""
        return bool(self._rows("SELECT 1 FROM blobs WHERE sha = ? AND broken", (tidy(blob),)))

    # Files of the tree

    def files(self) -> dict[str, str]:
        """Every file of this tree with its blob."""
        rows = self._rows(
            "SELECT p.path, b.sha FROM files f JOIN paths p ON p.id = f.path JOIN blobs b ON b.id = f.blob WHERE f.tree = ?",
            (self._tree,),
        )
        return dict(rows)

    def blob_at(self, path: str) -> str:
        """The blob of a file of this tree; "" where there is none."""
        found = self._rows(
            "SELECT b.sha FROM paths p CROSS JOIN files f ON f.tree = ? AND f.path = p.id "
            "CROSS JOIN blobs b ON b.id = f.blob WHERE p.path = ?",
            (self._tree, tidy(path)),
        )
        return str(found[0][0]) if found else ""

    def _key_at(self, path: str) -> int:
        found = self._rows("SELECT blob FROM files WHERE tree = ? AND path = ?", (self._tree, self._path_id(path)))
        return found[0][0] if found else -1

    def paths(self) -> list[str]:
        """Every file of this tree, sorted."""
        rows = self._rows("SELECT p.path FROM files f JOIN paths p ON p.id = f.path WHERE f.tree = ?", (self._tree,))
        return sorted(path for (path,) in rows)

    def ending(self, suffix: str) -> list[str]:
        """The files of this tree whose path is ``suffix`` or ends with ``/`` and it, sorted, at most 50."""
        wanted = tidy(suffix)
        rows = self._rows(
            "SELECT p.path FROM paths p CROSS JOIN files f ON f.tree = ? AND f.path = p.id WHERE p.last = ?",
            (self._tree, last_of(wanted)),
        )
        return sorted(path for (path,) in rows if path == wanted or path.endswith("/" + wanted))[:_ENDING]

    # Declarations, calls and imports of this tree's files

    def named(self, name: str, limit: int = 200) -> list[Declared]:
        """What this tree's files declare under that last part of a name (case counts), by path and line."""
        wanted = packing.word_of(name)
        found = self._found(packing.DECLARES, wanted, "symbols", lambda raw: packing.symbols(raw, wanted), limit)
        return [Declared(path, one) for path, one in found]

    def like(self, fingerprint: str, limit: int = 50) -> list[Declared]:
        """What this tree's files declare with that fingerprint, by path and line."""
        wanted = packing.word_of(fingerprint)
        found = self._found(packing.PRINT, wanted, "symbols", lambda raw: packing.symbols(raw, fingerprint=wanted), limit)
        return [Declared(path, one) for path, one in found]

    def calls_to(self, name: str, limit: int = 2000) -> list[Site]:
        """The calls of that name in this tree's files, by path and line."""
        wanted = packing.word_of(name)
        found = self._found(packing.CALLS, wanted, "calls", lambda raw: packing.calls(raw, wanted), limit)
        return [Site(path, one) for path, one in found]

    def importers_of(self, word: str, limit: int = 500) -> list[tuple[str, Import]]:
        """The imports whose module's last part, or whose name, is that word, by path and line."""
        wanted = packing.word_of(word)
        found = self._found(packing.IMPORTS, wanted, "imports", lambda raw: packing.imports(raw, wanted), limit)
        return [(path, one) for path, (_, one) in found]

    def _found(self, what: str, word: str, column: str, unpack: Callable[[bytes], list[T]], limit: int) -> list[tuple[str, T]]:
        """What is unpacked of the files that may have a word, by path, and within a file in its order."""
        found: list[tuple[str, T]] = []
        holding = self._rows(_HOLDING, (self._tree, packing.key_of(what, word))) if word else []
        for path, blob in sorted(holding):
            if len(found) >= limit:
                break
            found += [(path, one) for one in self._unpacked(unpack, column, blob)]
        return found[: max(limit, 0)]

    def _unpacked(self, unpack: Callable[[bytes], list[T]], column: str, blob: int) -> list[T]:
        rows = self._rows(f"SELECT {column} FROM outlines WHERE blob = ?", (blob,))
        return unpack(rows[0][0]) if rows else []

    def calls_in(self, path: str) -> list[Call]:
        """The calls in a file of this tree, by line."""
        return self._unpacked(packing.calls, "calls", self._key_at(path))

    def imports_of(self, path: str) -> list[Import]:
        """What a file of this tree imports, by line."""
        return [one for _, one in self._unpacked(packing.imports, "imports", self._key_at(path))]

    def cochanged(self, path: str, limit: int = 20) -> list[tuple[str, int]]:
        """The files that changed in the same commits, with how often, most first."""
        rows = self._rows(
            "SELECT p.path, c.times FROM cochanges c JOIN paths p ON p.id = c.other WHERE c.path = ? "
            "ORDER BY c.times DESC, p.path LIMIT ?",
            (self._path_id(path), limit),
        )
        return [(other, times) for other, times in rows]

    # What is kept beside

    def trail(self, path: str, symbol: str, blob: str, commit: str) -> Trail | None:
        """What was found to have become of an anchor by ``self.commit``; None where nobody looked."""
        rows = self._rows(
            "SELECT now_path, now_symbol, changed_by, changed_at, evidence, fingerprint FROM trails "
            "WHERE tree = ? AND path = ? AND symbol = ? AND blob = ? AND commit_sha = ?",
            (self._tree, tidy(path), tidy(symbol), tidy(blob), tidy(commit)),
        )
        return Trail(*rows[0]) if rows else None

    def trails(self) -> dict[tuple[str, str, str, str], Trail]:
        """What became of every anchor of which anything was found."""
        rows = self._rows(
            "SELECT path, symbol, blob, commit_sha, now_path, now_symbol, changed_by, changed_at, evidence, fingerprint FROM trails "
            "WHERE tree = ?",
            (self._tree,),
        )
        return {tuple(row[:4]): Trail(*row[4:]) for row in rows}

    def lost(self) -> list[tuple[str, str]]:
        """The anchors of which nothing was found any more."""
        rows = self._rows(
            "SELECT DISTINCT path, symbol FROM trails WHERE tree = ? AND now_path = '' ORDER BY path, symbol", (self._tree,)
        )
        return [(path, symbol) for path, symbol in rows]

    def moves(self) -> list[tuple[str, str, str, str]]:
        """All anchors that were found in another file or under another name, with where that is."""
        rows = self._rows(
            "SELECT DISTINCT path, symbol, now_path, now_symbol FROM trails WHERE tree = ? AND now_path <> ''"
            " AND (path <> now_path OR symbol <> now_symbol) ORDER BY 1, 2, 3, 4",
            (self._tree,),
        )
        return [(path, symbol, now, name) for path, symbol, now, name in rows]

    def now_at(self, path: str, symbol: str) -> list[tuple[str, str]]:
        """Where what is spoken of by that name in that file was found to be now."""
        rows = self._rows(
            "SELECT DISTINCT now_path, now_symbol FROM trails WHERE tree = ? AND path = ? AND symbol = ? AND now_path <> '' ORDER BY 1, 2",
            (self._tree, tidy(path), tidy(symbol)),
        )
        return [(now, name) for now, name in rows]

    def setting(self, name: str) -> str:
        """A value that is kept beside the index; "" when absent."""
        rows = self._rows("SELECT value FROM settings WHERE name = ?", (tidy(name),))
        return str(rows[0][0]) if rows else ""

    def figures(self) -> dict[str, int]:
        """Counts: files of this tree, blobs, symbols, calls, skipped files of this tree, held contents, bytes of the file."""
        questions = {
            "files": ("SELECT count(*) FROM files WHERE tree = ?", (self._tree,)),
            "blobs": ("SELECT count(*) FROM blobs WHERE language IS NOT NULL", ()),
            "symbols": ("SELECT total(symbols) FROM blobs", ()),
            "calls": ("SELECT total(calls) FROM blobs", ()),
            "skipped": (
                "SELECT count(*) FROM files f JOIN blobs b ON b.id = f.blob WHERE f.tree = ? AND b.skipped <> ''",
                (self._tree,),
            ),
            "held": ("SELECT count(*) FROM held", ()),
            "bytes": ("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", ()),
        }
        return {name: int(sum(count for (count,) in self._rows(*question))) for name, question in questions.items()}


class Reads(Queries):
    """A view for reading. The index is derived, and no answer of it is worth a failure: what cannot be read is empty, and ``trouble``
    says so from then on."""

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if self.trouble:
            return []
        try:
            return super()._rows(sql, values)
        except _BROKEN as error:
            return self._unreadable(error)

    def _unpacked(self, unpack: Callable[[bytes], list[T]], column: str, blob: int) -> list[T]:
        try:
            return super()._unpacked(unpack, column, blob)
        except _BROKEN as error:
            return self._unreadable(error)

    def _unreadable(self, error: Exception) -> list[Any]:
        self._handle.suspect = True
        self.trouble = f"{self._path} cannot be read: {error}"
        return []


def last_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]
