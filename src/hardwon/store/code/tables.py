"""The tables of the code index. There are no steps from one version to the next: a file of another version is made anew."""

from __future__ import annotations

# What a blob declares is kept as one packed value each of symbols, imports and calls (store/code/packing.py); ``uses`` tells the blobs that
# declare, call, import or hold something of a name. Measured against a row for each symbol and call with names in a table of their own:
# a third of the bytes, less than half of the time to fill, and what is asked for takes as long (docs/decisions/0015).
# A blob whose language is NULL is in a tree, but nobody read it.
TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, last TEXT NOT NULL) STRICT;
CREATE INDEX paths_last ON paths (last);

CREATE TABLE blobs (
    id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, language TEXT, skipped TEXT NOT NULL, broken INTEGER NOT NULL, lines INTEGER NOT NULL,
    symbols INTEGER NOT NULL, calls INTEGER NOT NULL  -- how many
) STRICT;
CREATE TABLE outlines (blob INTEGER PRIMARY KEY, symbols BLOB NOT NULL, imports BLOB NOT NULL, calls BLOB NOT NULL) STRICT;
CREATE TABLE uses (key INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (key, blob)) STRICT, WITHOUT ROWID;

CREATE TABLE trees (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, commit_sha TEXT NOT NULL, indexed_at INTEGER NOT NULL, seen_at INTEGER NOT NULL
) STRICT;
CREATE TABLE files (
    tree INTEGER NOT NULL, path INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (tree, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_blob ON files (blob, tree);

-- Each pair twice, once from either side: the most frequent companions of a file are the first rows of its own.
CREATE TABLE cochanges (
    path INTEGER NOT NULL, times INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (path, times DESC, other)
) STRICT, WITHOUT ROWID;

-- By texts of their own, not by keys of paths: an erasure empties the table, and shall leave none of them elsewhere.
CREATE TABLE trails (
    tree INTEGER NOT NULL, path TEXT NOT NULL, symbol TEXT NOT NULL, blob TEXT NOT NULL, commit_sha TEXT NOT NULL,
    now_path TEXT NOT NULL, now_symbol TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at INTEGER, evidence TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (tree, path, symbol, blob, commit_sha)
) STRICT, WITHOUT ROWID;
CREATE TABLE held (blob TEXT NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (blob, path)) STRICT;
"""
