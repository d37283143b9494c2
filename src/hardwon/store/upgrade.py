"""Bringing a store to this version's schema: a backup before, then every missing step with its record in one transaction."""

from __future__ import annotations

import apsw

from hardwon.errors import SchemaNewer
from hardwon.store import copying
from hardwon.store.checksums import COVERED, register, sealed
from hardwon.store.connection import APPLICATION_ID, INCREMENTAL, PLAIN, Access
from hardwon.store.schema import RECORD, STEPS

# The step that gave the rows their checksums, which SQL alone cannot compute.
CHECKSUMS_SINCE = 3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def upgrade(
    connection: apsw.Connection,
    path: str,
    made_by: str,
    now: int,
    steps: Sequence[tuple[int, str, str]] = STEPS,
    access: Access = PLAIN,
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
        _backup(path, f"{path}.before-step-{schema + 1}", access)
    _apply(connection, [step for step in steps if step[0] > schema], made_by, now)
    if schema and connection.pragma("auto_vacuum") != INCREMENTAL:
        connection.pragma("auto_vacuum", INCREMENTAL)
        connection.execute("VACUUM")


def _apply(connection: apsw.Connection, steps: Sequence[tuple[int, str, str]], made_by: str, now: int) -> None:
    """All in one transaction: a reader beside it sees the schema before or after, never one between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, name, script in steps:
            _step(connection, number, script, (number, name, now, made_by))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has the engine roll back by itself
            connection.execute("ROLLBACK")
        raise


def _step(connection: apsw.Connection, number: int, script: str, record: tuple[int, str, int, str]) -> None:
    connection.execute(RECORD)
    connection.execute(script)
    connection.execute(
        "INSERT INTO schema_steps (step, name, applied_at, made_by) VALUES (?, ?, ?, ?)",
        record,
    )
    if number >= CHECKSUMS_SINCE:
        register(connection)
        for table in COVERED if number == CHECKSUMS_SINCE else ():
            connection.execute(sealed(table, "true"))
        connection.execute(sealed("schema_steps", "step = ?"), (number,))
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", number)


def _backup(path: str, target: str, access: Access) -> None:
    """A whole copy beside the store, under a temporary name until it is complete and synced."""
    part = target + ".part"
    copying.discard(part)
    copying.copy(path, access, part, access)
    copying.take_place(part, target)
