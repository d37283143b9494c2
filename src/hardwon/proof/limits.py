"""The system's own limits, met for real: a file size limit, a small disk, files and folders that may not be written, too little memory.

Each is a process of its own (``python -m hardwon.proof.limits NAME FOLDER``), for a limit is the whole process's. It prints a line for
each promise that was broken, and last ``done N`` with the number of acknowledged calls, or ``skipped WHY``.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import apsw

from hardwon.engine import opening
from hardwon.engine.core import Engine
from hardwon.errors import DiskFull, HardwonError, ReadOnly, StoreError
from hardwon.proof.operations import SCOPE, draft
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Filter, Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_SIZE = 6 << 20  # bytes of the small disk, and of the largest file
_SOON = 1.0  # seconds within which a full disk is told
_PATIENCE = 120  # seconds for one limit, which takes a few
_NOBODY = 65534
_MOST = 20_000  # records that surely do not fit
_SPOOLED = 25  # records that the spool is to take
_STEPS, _STEP = 200, 2048  # of memory, in bytes each


class Skip(Exception):
    """Why something cannot be tried here."""


def size_limit(folder: str) -> Iterator[str]:
    """RLIMIT_FSIZE: the system says EFBIG, and SQLite that a write failed."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (_SIZE, hard))

    def widen() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    yield from _until_full(folder, widen)


def small_disk(folder: str) -> Iterator[str]:
    """A tmpfs of six megabytes, a third of which is taken by something else that goes away later: the system says ENOSPC."""
    disk = os.path.join(folder, "disk")
    os.makedirs(disk)
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "hardwon-torture", disk]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        raise Skip("a small disk: only root may mount one")
    ballast = os.path.join(disk, "ballast")
    try:
        with open(ballast, "wb") as file:
            file.write(bytes(_SIZE // 3))
        yield from _until_full(disk, lambda: os.unlink(ballast))
    finally:
        subprocess.run(["umount", "-l", disk], capture_output=True, check=False)


def _until_full(folder: str, free: Callable[[], None]) -> Iterator[str]:
    """Write until the store takes no more and for a while to the spool, read, make room, and write again with the same engine."""
    engine = opening.open_store(os.path.join(folder, "proof.db"))
    told, slowest, error = _fill(engine)
    if error is not None and not isinstance(error, DiskFull):
        yield f"a full disk was told as {type(error).__name__}: {error}"
    if slowest > _SOON:
        yield f"it took {slowest:.1f} s to tell that the disk is full"
    engine.recall(Query("pool retry token", floor=0.0), SCOPE)
    if engine.figures()["memories"] == 0:
        yield "nothing could be read while the disk was full"
    free()
    told.append(engine.record(draft(random.Random(1), _MOST + 1), SCOPE).id)
    yield from _missing(engine, told)
    engine.close()
    yield f"done {len(told)}"


def _fill(engine: Engine) -> tuple[list[str], float, HardwonError | None]:
    """The ids that were acknowledged (kept, or spooled), the longest seconds that a call took which did not keep it, the first error."""
    told: list[str] = []
    spooled, slowest = 0, 0.0
    source = random.Random(1)
    for number in range(_MOST):
        begun = time.perf_counter()
        try:
            receipt = engine.record(draft(source, number).replace(code="x = 1\n" * 500), SCOPE)
        except HardwonError as error:
            return told, max(slowest, time.perf_counter() - begun), error
        told.append(receipt.id)
        if receipt.action == "spooled":
            spooled += 1
            slowest = max(slowest, time.perf_counter() - begun)
            if "no room" not in receipt.why:
                return told, slowest, StoreError(receipt.why)
        if spooled == _SPOOLED:
            return told, slowest, None
    return told, slowest, StoreError("the disk was never full")


def _missing(engine: Engine, told: list[str]) -> Iterator[str]:
    """What was acknowledged and is not there, and what ``verify`` finds."""
    with engine.store.read() as reader:
        known = {memory.id for memory in reader.get(told)} | {name for name in told if reader.aliased(name)}
    if len(known) != len(set(told)):
        yield f"{len(set(told)) - len(known)} of {len(set(told))} acknowledged memories are not there"
    yield from (f"verify: {finding.what} ({finding.where})" for finding in engine.verify())


def read_only_file(folder: str) -> Iterator[str]:
    """A store whose file may only be read, for a user who is not root."""
    yield from _refused(folder, lambda path: os.chmod(path, 0o444))


def read_only_folder(folder: str) -> Iterator[str]:
    """A store that lies alone in a folder in which nothing may be made, for a user who is not root."""

    def forbid(path: str) -> None:
        for name in os.listdir(folder):
            if name != os.path.basename(path):
                os.unlink(os.path.join(folder, name))
        os.chmod(folder, 0o555)  # noqa: S103 - that is the point

    yield from _refused(folder, forbid)


def _refused(folder: str, forbid: Callable[[str], None]) -> Iterator[str]:
    """Reads go on, and every write is told as ReadOnly."""
    path = os.path.join(folder, "proof.db")
    engine = opening.open_store(path)
    told = [engine.record(draft(random.Random(1), number), SCOPE).id for number in range(10)]
    # Everything is loaded before the rights go: the interpreter's own files may be out of another user's reach.
    engine.recall(Query("pool", floor=0.0), SCOPE)
    engine.set_status("10", "inactive", SCOPE)
    engine.forget(Filter(ids=(told[-1],)), SCOPE, dry_run=False)
    engine.compact()
    engine.verify()
    import hardwon.engine.spooling
    import hardwon.store.checks.doubt  # noqa: F401 - loaded, not used

    engine.persist()
    engine.close()
    if os.geteuid() == 0:
        for top, _, names in os.walk(folder):
            os.chown(top, _NOBODY, _NOBODY)
            for name in names:
                os.chown(os.path.join(top, name), _NOBODY, _NOBODY)
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise Skip("a store that may only be read: another user cannot reach the folder")
    forbid(path)
    engine = Engine(SqliteStore(path, make=False), engine.repository)
    try:
        if len(engine.recall(Query("pool retry token", floor=0.0), SCOPE).hits) == 0 or engine.verify():
            yield "what is there could not be read"
        yield from _not_written(engine)
        with engine.store.read() as reader:
            yield from () if len(reader.get(told)) == len(told) else ("what was acknowledged is not there",)
    finally:
        os.chmod(folder, 0o700)
        os.chmod(path, 0o600)
    yield f"done {len(told)}"


def _not_written(engine: Engine) -> Iterator[str]:
    calls: tuple[Callable[[], object], ...] = (
        lambda: engine.record(draft(random.Random(1), 99), SCOPE),
        lambda: engine.set_status("1", "resolved", SCOPE),
        lambda: engine.forget(Filter(tags=("proof",)), SCOPE, dry_run=False),
        engine.compact,
    )
    for call in calls:
        try:
            call()
        except ReadOnly:
            continue
        except HardwonError as error:
            yield f"what may not be written was told as {type(error).__name__}: {error}"
        else:
            yield "what may not be written was acknowledged"


def little_memory(folder: str) -> Iterator[str]:
    """SQLite's own heap limit, raised in small steps around one transaction each: what fails leaves nothing, what is acknowledged stays."""
    engine = opening.open_store(os.path.join(folder, "proof.db"))
    told, failed = [engine.record(draft(random.Random(1), 0), SCOPE).id], 0
    engine.store.close()
    for step in range(1, _STEPS + 1):
        apsw.hard_heap_limit(apsw.memory_used() + step * _STEP)
        try:
            receipt = engine.record(draft(random.Random(step), step), SCOPE)
            told.append(receipt.id)
            failed += receipt.action == "spooled"
        except StoreError:
            failed += 1
        finally:
            apsw.hard_heap_limit(0)
        engine.store.close()  # each begins with an empty cache
    if not failed:
        yield "no call ever had too little memory: the steps prove nothing"
    told.append(engine.record(draft(random.Random(1), _MOST + 1), SCOPE).id)
    yield from _missing(engine, told)
    yield f"done {len(told)}"


LIMITS: dict[str, Callable[[str], Iterator[str]]] = {
    "size limit": size_limit,
    "small disk": small_disk,
    "read-only file": read_only_file,
    "read-only folder": read_only_folder,
    "little memory": little_memory,
}


def meet(name: str, folder: str) -> tuple[list[str], int, str]:
    """One limit, in a process and a folder of its own: what was broken, how many calls were acknowledged, why it was skipped."""
    # Run by root it becomes another user, who cannot get into a folder of root's: then the system's own folder is used.
    place = tempfile.mkdtemp(prefix="hardwon-limit-", dir=folder if os.geteuid() else None)
    os.chmod(place, 0o755)  # noqa: S103 - another user has to get there
    command = [sys.executable, "-m", "hardwon.proof.limits", name, place]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return [f"{name}: did not end within {_PATIENCE} s"], 0, ""
    *broken, last = done.stdout.splitlines() or [""]
    if not last.startswith(("done ", "skipped ")):
        lines = done.stderr.strip().splitlines() or [""]
        return [*broken, last, f"{name}: ended with {done.returncode}: {lines[-1]}"], 0, ""
    shutil.rmtree(place, ignore_errors=True)
    word, _, rest = last.partition(" ")
    return broken, int(rest) if word == "done" else 0, rest if word == "skipped" else ""


def main(name: str, folder: str) -> None:
    """Meet one limit, and say what was broken."""
    try:
        for line in LIMITS[name](folder):
            print(line, flush=True)
    except Skip as why:
        print(f"skipped {why}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
