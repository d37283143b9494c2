"""Time as a witness: claims whose commit stands on the default branch rise, what rests on a commit that was taken back falls."""

from __future__ import annotations

import json
from contextlib import closing

from hardwon.code import git, repo
from hardwon.code.default_branch import contained, default_branch
from hardwon.code.ground import LARGEST
from hardwon.code.names import same_symbol
from hardwon.code.touched import differing, fingerprints, touches
from hardwon.code.workers import Workers
from hardwon.engine.anchors import judged as judged_anchors
from hardwon.engine.belief import Judged, Step, doubted_before, take
from hardwon.engine.changes import identifier
from hardwon.types import Filter, Origin, Value
from hardwon.upkeep import evidence
from hardwon.upkeep.evidence import NEAR_MS, Survival, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from hardwon.code.default_branch import Branch
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Memory

# A claim is looked at for half a year: what has not come to the default branch by then has become of nothing.
LOOKED_AT_MS = 180 * evidence.DAY_MS
# A setting of the store: the state of branch and journal at the last judging, and when time alone changes something next.
_JUDGED = "judged"
_BY_TIME = Origin("history", "git")


class _Claim(Value):
    """A claim that a commit may speak for: commits that were seen on the default branch for it (with when), those that may be its own,
    and evidence that is used up."""

    memory: Memory
    landed: tuple[tuple[str, int], ...]
    candidates: tuple[str, ...]
    used: frozenset[str]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(anchor.path for anchor in self.memory.anchors if anchor.path)


def judge(engine: Engine, *, note: bool = True) -> Judged:
    """Judge what time can tell; nothing where there is no git or no default branch, or nothing happened since the last time. ``note``:
    keep when that was, so that the next time is quick."""
    if engine.place is None or not engine.place.checkout.git_dir:
        return Judged()
    root = engine.place.checkout.root
    branch = default_branch(repo.at(root) or engine.place.checkout)
    now = engine.clock()
    with engine.store.read() as reader:
        if branch is None or _nothing_new(reader, branch, now):
            return Judged()
        state = _state(reader, branch)
        claims = list(_claims(engine, reader, now))
        falls = _falls(engine, reader)
    steps = falls
    if any(claim.landed or claim.candidates for claim in claims):
        with closing(_Judge(engine, root, branch, now)) as judging:
            steps = [*falls, *judging.steps(claims)]
    if steps:
        return take(engine, steps, _BY_TIME)
    if note and claims:
        waiting = [at + evidence.SURVIVAL_MS for claim in claims for _, at in claim.landed]
        due = min((at for at in waiting if at > now), default=now + evidence.SURVIVAL_MS)
        with engine.write() as writer:
            writer.set_setting(_JUDGED, json.dumps([state, due]))
    return Judged()


def _state(reader: Reader, branch: Branch) -> str:
    last = next(iter(reader.latest_events(1)), None)
    counts = (reader.count(Filter(kinds=("change",))), reader.count(Filter(kinds=("change",), outcomes=("failed",))))
    return f"{branch.tip} {last.seq if last else 0} {counts[0]} {counts[1]}"


def _nothing_new(reader: Reader, branch: Branch, now: int) -> bool:
    known = reader.setting(_JUDGED)
    if not known:
        return False
    state, due = json.loads(known)
    return bool(state == _state(reader, branch)) and now < due


# What is known


def _claims(engine: Engine, reader: Reader, now: int) -> Iterable[_Claim]:
    """Claims of the last half year that speak of a file, and were recorded on a commit."""
    where = Filter(derived=False, trusts=("claimed",), statuses=("active",), since=now - LOOKED_AT_MS)
    for memory in reader.find(where, -1):
        paths = [anchor.path for anchor in memory.anchors if anchor.path]
        if not memory.commit or not paths:
            continue
        events = reader.events(memory.id)
        seen = evidence.landed(events, memory.version)
        landed = tuple((commit, at) for commit, at in seen if _is_there(engine, reader, commit))
        before = {commit for commit, _ in seen}
        candidates = () if landed else (one for one in _candidates(engine, reader, memory, paths) if one not in before)
        yield _Claim(memory, landed, tuple(candidates), frozenset(evidence.used(events)))


def _is_there(engine: Engine, reader: Reader, commit: str) -> bool:
    return any(row.status == "active" for row in reader.get([identifier(engine, commit)]))


def _candidates(engine: Engine, reader: Reader, memory: Memory, paths: Sequence[str]) -> list[str]:
    """The commit that a memory was recorded on, if that touches its files and was a day old at most: an older one was there before
    there was anything to learn. Then those that touch them within a day, the first one first. The author's time decides only which
    commit it is, never for how long that has stood."""
    own = reader.change(identifier(engine, memory.commit))
    fresh = own is not None and own.at > memory.created_at - NEAR_MS and not set(paths).isdisjoint(own.files)
    found = [memory.commit] if fresh else []
    since = memory.created_at // 1000 * 1000  # git has whole seconds
    near = Filter(kinds=("change",), statuses=("active",), paths=tuple(paths), since=since, before=memory.created_at + NEAR_MS)
    later = (change.commit for change in reversed(reader.find(near, -1)))
    return [*found, *(commit for commit in later if commit not in found)]


def _falls(engine: Engine, reader: Reader) -> list[Step]:
    """What rests on a commit that was taken back, or that nothing reaches any more."""
    steps = []
    for memory in reader.find(Filter(derived=False, trusts=("proven", "confirmed")), -1):
        events = reader.events(memory.id)
        lifted = evidence.lifted_by(events)
        for known in [lifted] if lifted.get("by") in ("test", "survived") else _own(engine, reader, memory, events):
            doubt = _doubt_of(engine, reader, known)
            if doubt and not (memory.trust == "confirmed" and doubted_before(reader, memory, doubt)):
                verdict = evidence.after_doubt(memory, known, doubt)
                if verdict.flagged or verdict.trust != memory.trust:
                    steps.append(Step(memory, verdict, doubt))
                    break
    return steps


def _own(engine: Engine, reader: Reader, memory: Memory, events: Sequence[Any]) -> list[dict[str, Any]]:
    """The commits that belong to a memory which no event lifted: those that were seen for it, and the one that it was recorded on."""
    found = [commit for commit, _ in evidence.landed(events, memory.version)]
    own = reader.change(identifier(engine, memory.commit)) if memory.commit else None
    if own is not None and any(anchor.path in own.files for anchor in memory.anchors if anchor.path):
        found.append(memory.commit)
    return [{"by": "survived", "commit": commit} for commit in dict.fromkeys(found)]


def _doubt_of(engine: Engine, reader: Reader, known: dict[str, Any]) -> dict[str, Any]:
    """What speaks against a commit, {} where nothing does."""
    commit = evidence.commit_of(known)
    return evidence.against(known, next(iter(reader.get([identifier(engine, commit)])), None)) if commit else {}


# What git tells


class _Judge:
    """Asks git once for what many claims share: thousands may have been recorded on one commit."""

    def __init__(self, engine: Engine, root: str, branch: Branch, now: int) -> None:
        self._engine = engine
        self._root = root
        self._branch = branch
        self._now = now
        self._blobs = git.Blobs(root)
        self._workers = Workers()
        self._symbols: dict[tuple[str, str], dict[str, str] | None] = {}
        self._past: dict[tuple[str, str], bool] = {}
        self._taken: dict[tuple[str, tuple[str, ...]], bool] = {}

    def close(self) -> None:
        """End git, and what parses."""
        self._workers.close()
        self._blobs.close()

    def steps(self, claims: Sequence[_Claim]) -> list[Step]:
        """First sightings, and rises."""
        asked = {
            commit for claim in claims for commit in (claim.memory.commit, *claim.candidates, *(sha for sha, _ in claim.landed))
        }
        on_default = contained(self._root, self._branch.tip, asked)
        if on_default is None:
            return []
        self._look_back(claims)
        return [step for claim in claims for step in self._step(claim, on_default)]

    def _step(self, claim: _Claim, on_default: set[str]) -> list[Step]:
        memory = claim.memory
        for commit, at in claim.landed:
            verdict = evidence.after_survival(memory, self._survival(claim, commit, at, commit in on_default), claim.used)
            if verdict.trust == "proven":
                return [Step(memory, verdict, {"by": "survived", "commit": commit, "branch": self._branch.name, "since": at})]
        for commit in claim.candidates:
            if commit not in on_default or commit in claim.used:
                continue
            if self._follows(memory, commit, on_default) and self._touches(memory, commit):
                seen = {"by": "landed", "commit": commit, "branch": self._branch.name}
                return [Step(memory, Verdict(memory.trust, "landed"), seen)]
        return []

    def _follows(self, memory: Memory, commit: str, on_default: set[str]) -> bool:
        """Whether a commit was made on top of what the memory was recorded on; where that did not come to the default branch itself
        (it was rebased), whether the commit was not there before."""
        if commit == memory.commit:
            return True
        if self._past[memory.commit, commit]:
            return False
        return memory.commit not in on_default or self._goes_back(commit, memory.commit)

    def _goes_back(self, newer: str, older: str) -> bool:
        if (newer, older) not in self._past:
            self._past[newer, older] = older in (contained(self._root, newer, [older]) or ())
        return self._past[newer, older]

    def _look_back(self, claims: Sequence[_Claim]) -> None:
        """Which candidates were there before the memory was recorded, asked once for each commit that something was recorded on; all of
        them where git cannot tell."""
        wanted: dict[str, set[str]] = {}
        for claim in claims:
            wanted.setdefault(claim.memory.commit, set()).update(claim.candidates)
        for newer, candidates in wanted.items():
            found = contained(self._root, newer, candidates)
            self._past |= {(newer, one): found is None or one in found for one in candidates}

    def _survival(self, claim: _Claim, commit: str, at: int, on_default: bool) -> Survival:
        known = Survival(commit, at, self._now, on_default=on_default)
        if not on_default or self._now - at < evidence.SURVIVAL_MS:
            return known  # the rest is not worth asking
        with self._engine.store.read() as reader:
            change = identifier(self._engine, commit)
            later = {link.kind for link in reader.links(change) if link.target == change}
            there = [row for row in reader.get([change]) if row.status == "active"]
        seen: Survival = known.replace(
            on_default=bool(there), taken_back="reverts" in later, faulted=not later.isdisjoint(("fixes", "regression")),
            undone=self._undone(commit, claim.paths), touches=self._touches(claim.memory, commit), gone=self._gone(claim.memory),
        )  # fmt: skip
        return seen

    def _undone(self, commit: str, paths: Sequence[str]) -> bool:
        """Whether the files are again what they were before the commit, though no message says that it was taken back."""
        known = self._taken.get((commit, tuple(paths)))
        if known is None:
            words = ["--literal-pathspecs", "diff", "--quiet", "--no-ext-diff", f"{commit}^", self._branch.tip, "--", *paths]
            known = self._taken[commit, tuple(paths)] = git.run(self._root, words).returncode == 0
        return known

    def _gone(self, memory: Memory) -> bool:
        """Whether nothing that a memory speaks of is on the default branch any more. What moved is looked for where it is now."""
        (judged,) = judged_anchors(self._engine, [memory])
        places = {(path, one.now_symbol or one.symbol) for one in judged.anchors for path in (one.path, one.now_path) if path}
        return not any(self._holds(path, symbol) for path, symbol in places)

    def _holds(self, path: str, symbol: str) -> bool:
        known = self._symbols_at(self._branch.tip, path)
        if known == {}:  # no such file, one without symbols, or too large
            there = git.run(self._root, ["cat-file", "-e", f"{self._branch.tip}:{path}"]).returncode == 0
            return there and not symbol
        return not symbol or known is None or any(same_symbol(one, symbol) for one in known)

    def _symbols_at(self, commit: str, path: str) -> dict[str, str] | None:
        if (commit, path) not in self._symbols:
            content = self._blobs.content(f"{commit}:{path}", LARGEST)
            self._symbols[commit, path] = fingerprints(path, content, self._workers.outline)
        return self._symbols[commit, path]

    def _touches(self, memory: Memory, commit: str) -> bool:
        """Whether a commit touches one of the symbols that a memory speaks of; its files, where their symbols are not known."""
        with self._engine.store.read() as reader:
            change = reader.change(identifier(self._engine, commit))
        files = set(change.files) if change else set()
        return any(self._touched(commit, one.path, one.symbol) for one in memory.anchors if one.path in files)

    def _touched(self, commit: str, path: str, symbol: str) -> bool:
        if not symbol:
            return True
        return touches(symbol, differing(self._symbols_at(f"{commit}^", path), self._symbols_at(commit, path)))
