"""The tables of the file of sessions. There are no steps from one version to the next: a file of another version is made anew."""

from __future__ import annotations

# A session's ``state`` is what the rules of capture/ remember of it, as JSON; ``changed``: it tells something that no summary says yet;
# ``substance``: a digest of what the last summary told of. ``calls``: what was heard already, for two hooks may tell of one call.
# ``told``: memories that an agent's context has. ``waiting``: what was learnt and is not in the store yet, under the id that it will have
# there, and the text that it takes the place of. ``heartbeats``: when which hook last ran.
TABLES = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, client TEXT NOT NULL, session TEXT NOT NULL, started INTEGER NOT NULL, seen INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL DEFAULT '',
    substance TEXT NOT NULL DEFAULT '', UNIQUE (client, session)
) STRICT;
CREATE INDEX sessions_changed ON sessions (seen) WHERE changed;

CREATE TABLE refusals (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, path TEXT NOT NULL, symbol TEXT NOT NULL,
    at INTEGER NOT NULL, last_fail INTEGER NOT NULL, PRIMARY KEY (session, path, symbol)
) STRICT, WITHOUT ROWID;
CREATE INDEX refusals_place ON refusals (symbol, path);
CREATE TABLE told (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, agent TEXT NOT NULL, memory TEXT NOT NULL,
    PRIMARY KEY (session, agent, memory)
) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, call TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (session, call)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiting (id TEXT PRIMARY KEY, said BLOB NOT NULL, replaces TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE heartbeats (
    client TEXT NOT NULL, moment TEXT NOT NULL, at INTEGER NOT NULL, program TEXT NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (client, moment)
) STRICT, WITHOUT ROWID;
"""
