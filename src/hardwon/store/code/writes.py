"""What is put into the code index, within one transaction that store/code/codefile.py opened."""

from __future__ import annotations

import os

from hardwon.code.module_names import last_part
from hardwon.store.code import packing
from hardwon.store.code.packing import tidy
from hardwon.store.code.reads import Queries, last_of
from hardwon.store.code.without_secrets import has_secret, without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from hardwon.code.index import Trail
    from hardwon.code.outline import Call, Import, Outline, Symbol
    from hardwon.store.handle import Handle

# Blobs that one call of prune removes at most, and pages that it gives back: some hundredths of a second. The rest goes with the next.
PRUNED = 1000
_PAGES = 1000
_FEW = 200  # blobs that are asked for one by one; of more, all that are known are read


class _Keys(dict[str, int]):
    """The keys of words, each made once: names repeat a lot."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __missing__(self, word: str) -> int:
        key = self[word] = packing.key_of(self._what, packing.word_of(word))
        return key


class Writes(Queries):
    """A view for writing. It sees what it wrote; what fails is raised, and nothing of the transaction stays."""

    def __init__(self, handle: Handle, tree: str, path: str, now: int) -> None:
        super().__init__(handle, tree, path)
        self._name = tidy(tree)
        self._now = now
        self._path_ids: dict[str, int] = {}
        self._keys = tuple(_Keys(what) for what in (packing.DECLARES, packing.PRINT, packing.CALLS, packing.IMPORTS))
        self._uses: list[tuple[int, int]] = []

    # Keys, made where they are missing

    def _path_key(self, path: str) -> int:
        kept = tidy(path)
        key = self._path_ids.get(kept) or self._path_id(kept)
        if key < 0:
            self._db.execute("INSERT INTO paths (path, last) VALUES (?, ?)", (kept, last_of(kept)))
            key = self._db.last_insert_rowid()
        self._path_ids[kept] = key
        return key

    def _blob_key(self, sha: str) -> int:
        for (key,) in self._rows("SELECT id FROM blobs WHERE sha = ?", (tidy(sha),)):
            return int(key)
        self._db.execute(
            "INSERT INTO blobs (sha, skipped, broken, lines, symbols, calls) VALUES (?, '', 0, 0, 0, 0)", (tidy(sha),)
        )
        return self._db.last_insert_rowid()

    # Blobs

    def known(self, blobs: Iterable[str]) -> set[str]:
        """Those of the blobs that are in the index."""
        wanted = {tidy(blob): blob for blob in blobs}
        if len(wanted) < _FEW:
            return {blob for blob in wanted.values() if self.knows(blob)}
        rows = self._rows("SELECT sha FROM blobs WHERE language IS NOT NULL")
        return {wanted[sha] for (sha,) in rows if sha in wanted}

    def add(self, blob: str, outline: Outline) -> None:
        """Put in what a blob declares, without secrets; nothing new where it is known."""
        if self._blob(blob) is not None:
            return
        outline = without_secrets(outline)
        key = self._blob_key(blob)
        self._db.execute(
            "UPDATE blobs SET language = ?, skipped = ?, broken = ?, lines = ?, symbols = ?, calls = ? WHERE id = ?",
            (
                tidy(outline.language), tidy(outline.skipped), outline.broken, outline.lines, len(outline.symbols), len(outline.calls), key,
            ),
        )  # fmt: skip
        imported = [(last_part(one.module, outline.language), one) for one in outline.imports]
        self._db.execute(
            "INSERT INTO outlines VALUES (?, ?, ?, ?)",
            (key, packing.pack_symbols(outline.symbols), packing.pack_imports(imported), packing.pack_calls(outline.calls)),
        )
        self._uses += [(one, key) for one in self._keys_of(outline.symbols, outline.calls, imported)]

    def _keys_of(self, symbols: Collection[Symbol], called: Iterable[Call], imported: Iterable[tuple[str, Import]]) -> set[int]:
        """Every key under which a blob is to be found."""
        declares, prints, calls, imports = self._keys
        found = {declares[one.name] for one in symbols}
        found.update([prints[one.fingerprint] for one in symbols])
        found.update([calls[one.name] for one in called])
        for word, one in imported:
            found.update((imports[word], imports[one.name]))
        return found - {known[""] for known in self._keys}

    def _found(self, *question: Any) -> list[Any]:
        self.flush()
        return super()._found(*question)

    def flush(self) -> None:
        """Write what was put off: in their order, keys fill the pages of the table one by one. To be called before the commit."""
        self._uses.sort()
        self._db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?)", self._uses)
        self._uses.clear()

    # The tree

    def _tree_key(self) -> int:
        if not self._tree:
            self._db.execute(
                "INSERT INTO trees (name, commit_sha, indexed_at, seen_at) VALUES (?, '', 0, ?)", (self._name, self._now)
            )
            self._tree = self._db.last_insert_rowid()
        return self._tree

    def set_files(self, files: Mapping[str, str], commit: str, at: int) -> None:
        """The files of this tree and their blobs, all of them, as of a commit and a time: only what differs is written."""
        tree = self._tree_key()
        rows = self._rows(
            "SELECT p.path, b.sha, p.id FROM files f JOIN paths p ON p.id = f.path JOIN blobs b ON b.id = f.blob WHERE f.tree = ?",
            (tree,),
        )
        wanted = {tidy(path): tidy(blob) for path, blob in files.items()}
        held = {path: sha for path, sha, _ in rows}
        self._path_ids.update((path, key) for path, _, key in rows)
        self._db.executemany(
            "DELETE FROM files WHERE tree = ? AND path = ?",
            [(tree, self._path_ids[path]) for path in held if path not in wanted],
        )
        self._db.executemany(
            "INSERT INTO files (tree, path, blob) VALUES (?, ?, ?) ON CONFLICT (tree, path) DO UPDATE SET blob = excluded.blob",
            [(tree, self._path_key(path), self._blob_key(sha)) for path, sha in wanted.items() if held.get(path) != sha],
        )
        self._db.execute(
            "UPDATE trees SET commit_sha = ?, indexed_at = ?, seen_at = ? WHERE id = ?", (tidy(commit), at, self._now, tree)
        )
        self.commit, self.indexed_at = tidy(commit), at

    def set_cochanges(self, pairs: Iterable[tuple[str, str, int]]) -> None:
        """How often two files changed in one commit: all pairs, each once, instead of those that were there."""
        wanted: dict[tuple[int, int], int] = {}
        for one, other, times in pairs:
            a, b = self._path_key(one), self._path_key(other)
            wanted[a, b] = wanted[b, a] = times
        held = {(a, b): times for a, times, b in self._rows("SELECT path, times, other FROM cochanges")}
        self._db.executemany(
            "DELETE FROM cochanges WHERE path = ? AND times = ? AND other = ?",
            [(a, times, b) for (a, b), times in held.items() if wanted.get((a, b)) != times],
        )
        self._db.executemany(
            "INSERT INTO cochanges (path, times, other) VALUES (?, ?, ?)",
            [(a, times, b) for (a, b), times in wanted.items() if held.get((a, b)) != times],
        )

    def set_trails(self, trails: Iterable[tuple[str, str, str, str, Trail | None]]) -> None:
        """What became of anchors by this tree's commit (path, symbol, blob, commit, trail), instead of what was there of the same
        anchors; None removes it."""
        tree = self._tree_key()
        for *anchor, trail in trails:
            key = (tree, *map(tidy, anchor))
            if trail is None:
                self._db.execute(
                    "DELETE FROM trails WHERE tree = ? AND path = ? AND symbol = ? AND blob = ? AND commit_sha = ?", key
                )
                continue
            where = (tidy(trail.path), tidy(trail.symbol), tidy(trail.changed_by), trail.changed_at)
            told = (tidy(trail.evidence), tidy(trail.fingerprint))
            self._db.execute(f"INSERT OR REPLACE INTO trails VALUES (?{', ?' * 10})", (*key, *where, *told))

    def set_setting(self, name: str, value: str) -> None:
        """Keep a value; "" removes it."""
        if value:
            self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (tidy(name), tidy(value)))
        else:
            self._db.execute("DELETE FROM settings WHERE name = ?", (tidy(name),))

    # Contents that no commit has

    def hold(self, blob: str, path: str, content: bytes) -> None:
        """Keep a content that no commit has, until it is parsed: an anchor was pinned to it. One with a secret is not kept: without it,
        it would be another text; so its code is known once it is committed."""
        from zlib import compress

        if has_secret(content):
            return
        self._db.execute("INSERT OR IGNORE INTO held VALUES (?, ?, ?)", (tidy(blob), tidy(path), compress(content)))

    def held(self) -> list[tuple[str, str, bytes]]:
        """What is kept so: blob, path, content, by blob and path."""
        from zlib import decompress

        rows = self._rows("SELECT blob, path, content FROM held ORDER BY blob, path")
        return [(blob, path, decompress(content)) for blob, path, content in rows]

    def release(self, blobs: Sequence[str]) -> None:
        """Let go of contents that were kept so."""
        self._db.executemany("DELETE FROM held WHERE blob = ?", [(tidy(blob),) for blob in blobs])

    # Upkeep

    def prune(self, keep: Iterable[str]) -> int:
        """Remove the blobs that no tree has a file of, but these: at most 1,000 at a time; how many went. Trees whose folder is gone
        count no more."""
        self._forget_trees()
        self.flush()
        kept = {tidy(blob) for blob in keep}
        rows = self._rows("SELECT b.id, b.sha FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.blob = b.id)")
        gone = [key for key, sha in rows if sha not in kept][:PRUNED]
        for key in gone:
            self._db.executemany("DELETE FROM uses WHERE key = ? AND blob = ?", [(one, key) for one in self._kept_keys(key)])
        for table, column in (("outlines", "blob"), ("blobs", "id")):
            self._db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(key,) for key in gone])
        if gone:
            self._db.execute(
                "DELETE FROM paths WHERE id NOT IN (SELECT path FROM files) AND id NOT IN (SELECT path FROM cochanges)"
            )
            self._path_ids.clear()
        self._rows(f"PRAGMA incremental_vacuum({_PAGES})")
        return len(gone)

    def _kept_keys(self, blob: int) -> set[int]:
        """The keys of a blob, told by what is kept of it: they have no index by blob, which would be as large as they."""
        symbols = self._unpacked(packing.symbols, "symbols", blob)
        calls = self._unpacked(packing.calls, "calls", blob)
        imports = self._unpacked(packing.imports, "imports", blob)
        return self._keys_of(symbols, calls, imports)

    def _forget_trees(self) -> None:
        """A working tree is named by its folder: where that is gone, so is the tree."""
        for key, name in self._rows("SELECT id, name FROM trees"):
            if key != self._tree and os.path.isabs(name) and not os.path.isdir(name):
                for table, column in (("files", "tree"), ("trails", "tree"), ("trees", "id")):
                    self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,))
