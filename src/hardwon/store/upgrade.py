"""Bringing a store to this version's schema: a backup before, each step with its record in one transaction."""

from __future__ import annotations

import os

import apsw

from hardwon.errors import SchemaNewer
from hardwon.store.connection import APPLICATION_ID
from hardwon.store.files import sync
from hardwon.store.schema import RECORD, STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def upgrade(
    connection: apsw.Connection, path: str, made_by: str, now: int, steps: Sequence[tuple[int, str, str]] = STEPS
) -> None:
    """Apply the steps that are missing. The caller holds the writers' lock, so nobody else upgrades or writes meanwhile.

    SchemaNewer, untouched, when the store knows more steps than we do.
    """
    schema = connection.pragma("user_version")
    newest = steps[-1][0]
    if schema > newest:
        raise SchemaNewer(
            f"{path} was made by a later Hardwon (schema {schema}, this one knows {newest}); it is left untouched",
            remedy="upgrade Hardwon",
        )
    if schema:
        _backup(connection, f"{path}.before-step-{schema + 1}")
    for number, name, script in steps:
        if number > schema:
            _apply(connection, number, script, (number, name, now, made_by))


def _apply(connection: apsw.Connection, number: int, script: str, record: tuple[int, str, int, str]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(RECORD)
        connection.execute(script)
        connection.execute(
            "INSERT INTO schema_steps (step, name, applied_at, made_by) VALUES (?, ?, ?, ?)",
            record,
        )
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", number)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _backup(connection: apsw.Connection, target: str) -> None:
    """A whole copy beside the store, under a temporary name until it is complete and synced."""
    temporary = target + ".part"
    if os.path.exists(temporary):
        os.remove(temporary)
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    copy = apsw.Connection(temporary)
    with copy.backup("main", connection, "main") as backup:
        while not backup.done:
            backup.step(1000)
    copy.close()
    sync(temporary)
    os.replace(temporary, target)
    sync(os.path.dirname(target))
