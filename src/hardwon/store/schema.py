"""The tables, as numbered steps. Each step runs in one transaction with its record; a released step is never edited.

What is truth: events, versions, occurrences, memories (the current rows), anchors, links, aliases, changes.
What is derived, and rebuilt from them (or from git) by one command: terms, documents, corpus, search, vectors.
"""

from __future__ import annotations

_JOURNAL = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Append-only. seq is the order of arrival here; (replica, replica_seq) the order where it happened; clock a hybrid
-- logical clock (milliseconds << 16 | counter). digest is keyed with the version's salt; hash covers the row and previous.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    replica TEXT NOT NULL,
    replica_seq INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    at INTEGER NOT NULL,
    who TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL, tool TEXT NOT NULL,
    action TEXT NOT NULL,
    memory BLOB NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT NOT NULL,
    digest BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (replica, replica_seq)
) STRICT;
CREATE INDEX events_memory ON events (memory);

-- What was said, state by state. valid_*: when it holds in the world; recorded_at, superseded_at: when the store believed it.
-- Erasure empties a row and destroys its salt; the chain stays whole.
CREATE TABLE versions (
    memory BLOB NOT NULL,
    version INTEGER NOT NULL,
    event INTEGER NOT NULL REFERENCES events (seq),
    salt BLOB,
    kind TEXT NOT NULL, outcome TEXT, visibility TEXT NOT NULL,
    valid_from INTEGER, valid_until INTEGER, expires_at INTEGER,
    recorded_at INTEGER NOT NULL, superseded_at INTEGER,
    text TEXT NOT NULL, detail TEXT NOT NULL, code TEXT NOT NULL, because TEXT NOT NULL,
    rejected TEXT NOT NULL, tags TEXT NOT NULL, anchors TEXT NOT NULL,
    PRIMARY KEY (memory, version)
) STRICT, WITHOUT ROWID;
"""

_CURRENT = """
-- The current row of each memory; small columns first, so that filters do not walk overflow pages.
CREATE TABLE memories (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    number INTEGER UNIQUE,
    status TEXT NOT NULL, kind TEXT NOT NULL, outcome TEXT, trust TEXT NOT NULL, visibility TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    valid_from INTEGER, valid_until INTEGER, expires_at INTEGER,
    seen INTEGER NOT NULL, version INTEGER NOT NULL,
    who TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL, tool TEXT NOT NULL,
    author TEXT NOT NULL, branch TEXT NOT NULL, commit_sha TEXT NOT NULL,
    replaced_by BLOB, twin BLOB, row_hash BLOB NOT NULL,
    tags TEXT NOT NULL, rejected TEXT NOT NULL,
    text TEXT NOT NULL, because TEXT NOT NULL, detail TEXT NOT NULL, code TEXT NOT NULL
) STRICT;
CREATE INDEX memories_kind ON memories (kind, created_at);
CREATE INDEX memories_twin ON memories (twin) WHERE twin IS NOT NULL;
CREATE INDEX memories_failed ON memories (created_at) WHERE kind = 'change' AND outcome = 'failed';
CREATE INDEX memories_session ON memories (session) WHERE session <> '';

CREATE TABLE anchors (
    memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL, symbol TEXT NOT NULL, name TEXT NOT NULL,  -- name: the last part of symbol
    commit_sha TEXT NOT NULL, blob TEXT NOT NULL, fingerprint TEXT NOT NULL,
    PRIMARY KEY (memory, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX anchors_path ON anchors (path) WHERE path <> '';
CREATE INDEX anchors_symbol ON anchors (symbol) WHERE symbol <> '';
CREATE INDEX anchors_name ON anchors (name) WHERE name <> '';

-- Each time a memory happened. Risk counts these.
CREATE TABLE occurrences (
    id INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    event INTEGER NOT NULL REFERENCES events (seq),
    at INTEGER NOT NULL,
    outcome TEXT, status TEXT NOT NULL,
    who TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL, tool TEXT NOT NULL,
    branch TEXT NOT NULL, commit_sha TEXT NOT NULL
) STRICT;
CREATE INDEX occurrences_memory ON occurrences (memory);

-- Relations. A change names earlier ones by hash or number; target is NULL until that one is known.
CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    reference TEXT NOT NULL,
    target INTEGER REFERENCES memories (key) ON DELETE SET NULL,
    PRIMARY KEY (source, kind, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_target ON links (target) WHERE target IS NOT NULL;
CREATE INDEX links_open ON links (reference) WHERE target IS NULL;

-- What git says of a change; derived from git, outside the journal.
CREATE TABLE changes (
    memory INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    sha TEXT NOT NULL UNIQUE,
    pull_request INTEGER,
    lines_added INTEGER NOT NULL, lines_removed INTEGER NOT NULL,
    files TEXT NOT NULL, functions TEXT NOT NULL
) STRICT;
CREATE INDEX changes_pull_request ON changes (pull_request) WHERE pull_request IS NOT NULL;
"""

_DERIVED = """
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL) STRICT;

-- One compact value a memory: lengths is six numbers, postings n term ids and then n packed counts (unsigned 32 bit, little-endian).
CREATE TABLE documents (
    memory INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    at INTEGER NOT NULL, size INTEGER NOT NULL,
    lengths BLOB NOT NULL, postings BLOB NOT NULL
) STRICT;

CREATE TABLE corpus (name TEXT PRIMARY KEY, total INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Term ids as text; contentless, because documents has them already; secure-delete, so that a removal leaves nothing behind.
CREATE VIRTUAL TABLE search USING fts5 (terms, content='', detail=none, columnsize=0, tokenize="ascii");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
"""

_CURATION = """
-- The caller's own data (a JSON object as text), and what those who read a memory said of it.
ALTER TABLE memories ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN useful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN useless INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
CREATE INDEX memories_rejected ON memories (key) WHERE status = 'rejected';
CREATE INDEX memories_feedback ON memories (key) WHERE useful > 0 OR useless > 0;

-- Other names of a memory: the ids of imports and of programs.
CREATE TABLE aliases (
    alias TEXT PRIMARY KEY,
    memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_memory ON aliases (memory);

-- One vector a memory and model (float32, little-endian, of length one); digest tells which text it was made of.
CREATE TABLE vectors (
    memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    model TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_memory ON vectors (model, memory);
CREATE INDEX vectors_of ON vectors (memory);
"""

_TRUSTED = """
-- A checksum of each row that no other hash covers (store/checksums.py says of which columns).
ALTER TABLE settings ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE occurrences ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE links ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE aliases ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE terms ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vectors ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schema_steps ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;

-- What was erased and shall not come back: a digest of the text, keyed with a secret that lies outside the store and its backups.
CREATE TABLE erased (
    digest BLOB PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES events (seq),
    crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

# (number, name, script). The number is what PRAGMA user_version holds afterwards.
STEPS: tuple[tuple[int, str, str], ...] = (
    (1, "initial", _JOURNAL + _CURRENT + _DERIVED),
    (2, "curation, aliases, vectors", _CURATION),
    (3, "checksums, erasure", _TRUSTED),
)

RECORD = """
CREATE TABLE IF NOT EXISTS schema_steps (
    step INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL, made_by TEXT NOT NULL
) STRICT
"""
