"""A store's file looked at in a process of its own: everything that ``verify`` checks, then real questions.

What was just written may be right in the caches of the process that wrote it and wrong on the disk; and what loads there may not load
anywhere else. So a backup, a restore and a repair count as done only after this. ``python -m`` runs it; the key comes on standard
input, for others can read the arguments of a process.
"""

from __future__ import annotations

import json
import subprocess
import sys

from hardwon.engine.core import Engine
from hardwon.errors import Busy, DiskFull, HardwonError, StoreError
from hardwon.store.checks.remedies import REFUSED
from hardwon.store.connection import PLAIN, Access
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Filter, Finding, Query, Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.types import Memory

PROBES = 20


class Examination(Value):
    """``findings`` of all checks (errors and warnings mean that it is not well), ``figures`` counts of what is kept, ``probes`` how
    many memories were asked for and found; the repository's id, and where the journal ends: its sequence here, and the hash."""

    findings: tuple[Finding, ...]
    figures: dict[str, int]
    probes: int
    repository: str
    seq: int
    head: str

    @property
    def ok(self) -> bool:
        """Whether the store is what was written and answers."""
        return not any(finding.level in ("error", "warning") for finding in self.findings)


def examine(path: str, access: Access = PLAIN, *, whole: bool = True) -> Examination:
    """Look at a file in a fresh process; ``whole``: every row, else only that it opens and answers. StoreError (DiskFull) when that
    cannot run, or the disk cannot be read: which says nothing of the file."""
    if access.vfs:  # of the proof of durability, and known in this process only
        return look(path, access, whole=whole)
    asked = json.dumps({"path": path, "key": access.key.hex(), "whole": whole})
    # -P: the folder that we are in may be anybody's repository, and nothing of it shall be imported.
    command = [sys.executable, "-P", "-c", "from hardwon.engine.examination import main; main()"]
    done = subprocess.run(command, input=asked.encode(), capture_output=True, check=False)
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        raise StoreError(f"{path} could not be examined: {last[0][:300]}", remedy="try again") from error
    if "failed" in told:
        kind = DiskFull if told["kind"] == DiskFull.kind else StoreError
        raise kind(told["failed"], remedy=told["remedy"])
    findings = tuple(Finding(**finding) for finding in told.pop("findings"))
    return Examination(findings=findings, **told)


def main() -> None:
    """Answer one question on standard input, as JSON."""
    asked = json.loads(sys.stdin.read())
    try:
        found = look(asked["path"], Access(key=bytes.fromhex(asked["key"])), whole=asked["whole"])
        told = {**vars(found), "findings": [dict(vars(finding)) for finding in found.findings]}
    except StoreError as error:
        told = {"failed": error.message, "kind": error.kind, "remedy": error.remedy}
    print(json.dumps(told))


def look(path: str, access: Access, *, whole: bool) -> Examination:
    """The examination itself, in this process. StoreError, Busy, DiskFull where the disk cannot be read."""
    with SqliteStore(path, make=False, access=access) as store:
        findings: list[Finding] = []
        try:
            findings += store.check() if whole else []
            with store.read() as reader:
                repository, figures = reader.setting("repository"), reader.figures()
                last = next(iter(reader.latest_events(1)), None)
            lost, probes = _probe(Engine(store, repository))
            findings += lost
            _refuse_unread(path, findings)
        except HardwonError as error:
            if type(error) in (StoreError, Busy, DiskFull):
                raise
            findings.append(Finding("error", error.message, path, error.remedy))
            return Examination(tuple(findings), {}, 0, "", 0, "")
    return Examination(tuple(findings), figures, probes, repository, last.seq if last else 0, last.hash.hex() if last else "")


def _refuse_unread(path: str, findings: list[Finding]) -> None:
    refused = next((finding for finding in findings if finding.what.startswith(REFUSED)), None)
    if refused is not None:
        raise StoreError(f"{path}: {refused.what}", remedy=refused.remedy)


def _probe(engine: Engine) -> tuple[list[Finding], int]:
    """Some memories, spread over all: each is shown, asked for in its own words, and found by the rarest of them."""
    with engine.store.read() as reader:
        every = [*reader.ids(Filter(), derived=False), *(memory.id for memory in reader.find(Filter(derived=True), PROBES * 50))]
        chosen = reader.get(every[:: max(1, len(every) // PROBES)][:PROBES])
    found: list[Finding] = []
    for memory in chosen:
        shown = engine.show(memory.id, Scope())[0]
        engine.recall(Query(text=memory.text), Scope())
        if shown.text != memory.text or not _is_indexed(engine, memory):
            found.append(Finding("error", "it is not found by its words", f"memory {memory.id}", "run `hardwon init --rebuild`"))
    return found, len(chosen)


def _is_indexed(engine: Engine, memory: Memory) -> bool:
    """Whether the full text leads to it by its rarest word; one without any word is led to by none."""
    from hardwon.search import terms

    with engine.store.read() as reader:
        (key,) = reader.keys([memory.id])
        words = list(terms.of_memory(memory).counts)
        held = [word for document in reader.documents([key], words) for word in document.counts]
        if not held:
            return not words
        often = reader.frequencies(held)
        rarest = min(held, key=lambda word: (often.get(word, 0), word))
        return key in reader.with_term(rarest, Filter(ids=(memory.id,)), 1)
