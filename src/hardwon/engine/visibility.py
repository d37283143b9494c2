"""What may be seen from the commit that is checked out: memories follow git's history, and their own branch.

What the last look found (engine/branches.py) is read from beside the index of the code. What is newer, a HEAD that moved or something
recorded since, is asked of git's logs, and of git itself only where these do not tell. Nothing is written.
"""

from __future__ import annotations

from hardwon.code import places, repo
from hardwon.types import Filter, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.code.places import Known
    from hardwon.code.reflog import Logs
    from hardwon.code.repo import Checkout
    from hardwon.engine.core import Engine
    from hardwon.store.base import Reader
    from hardwon.types import Memory

_ELSEWHERE = "branches: commits of other branches are not told apart here yet: run `hardwon ingest git`"
_SILENT = "branches: git did not answer in time, so what was recorded elsewhere since the last `hardwon ingest git` is left out"


class Sight(Value):
    """What cannot be seen: ``commits`` of changes, ``records`` (``commit:branch``) of memories; ``degraded``: what could not be told."""

    commits: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def narrowed(self, where: Filter) -> Filter:
        """A filter that leaves out what cannot be seen; whoever names a branch sees what is of it."""
        if where.branches:
            return where
        narrow: Filter = where.replace(hidden_commits=self.commits, hidden_records=self.records)
        return narrow


EVERYTHING = Sight()


def setting(checkout: Checkout, head: str = "") -> str:
    """The setting of the index that keeps what was found in a clone, or what a head does not reach of it. Each clone has its own: what
    one has fetched another has not."""
    return f"unreached:{head}:{checkout.common_dir}" if head else f"places:{checkout.common_dir}"


def sight(engine: Engine, reader: Reader) -> Sight:
    """What cannot be seen from here, by the reader's view of the store. Outside git, before the first commit, and where HEAD cannot be
    read, everything can."""
    checkout = engine.place.checkout if engine.place else None
    if checkout is None or not checkout.git_dir:
        return EVERYTHING
    branch, head = repo.standing(checkout)
    if not head:
        return EVERYTHING
    known, base, unreached, made = _remembered(engine, checkout, head)
    fresh = _fresh(reader, checkout, known, branch)
    proofs = {**known.proofs, **{one: several for one, (several, _) in fresh.items()}}
    # Where nothing that was compared is here, another clone has looked: then all is asked.
    new = fresh if base or not known.heads else proofs
    asked = {proof for one in new for proof in proofs[one]}.union(sha for _, sha in reader.commits_since(known.change) if base)
    asked -= unreached.union(made, (places.ALWAYS,))
    if base in made and not asked:
        return _seen(proofs, unreached, branch)
    if _absent(checkout, {head}):  # a damaged HEAD must not silence the memory of a repository
        return EVERYTHING
    compared = _compared(checkout, head, "" if base in made else base, asked, unreached)
    if compared is None:
        return _seen(proofs, unreached | asked, branch, _SILENT)
    absent = _absent(checkout, asked - compared)
    proofs.update({one: (*several, places.ALWAYS) for one, (several, came) in fresh.items() if came and absent & {*several}})
    return _seen(proofs, compared | absent, branch, *((_ELSEWHERE,) if known.heads and not base else ()))


def as_seen(reader: Reader, view: Sight, memory: Memory) -> Memory:
    """A change without what became of it only where nobody sees it from here: taken back or mended on another branch, it stands."""
    if not view.commits or not (memory.outcome or memory.because):
        return memory
    sources = [link.source for link in reader.links(memory.id) if link.target == memory.id]
    later = {one.commit for one in reader.get(sources) if one.kind == "change"}
    if later and later <= set(view.commits):
        alone: Memory = memory.replace(outcome=None, because="")
        return alone
    return memory


def silent(engine: Engine) -> int:
    """How many active memories cannot be seen from here."""
    active = Filter(statuses=("active",))
    with engine.store.read() as reader:
        return reader.count(active) - reader.count(sight(engine, reader).narrowed(active))


def _seen(proofs: Mapping[str, tuple[str, ...]], unreached: set[str], branch: str, *degraded: str) -> Sight:
    return Sight(tuple(unreached), places.hidden(proofs, unreached, branch), degraded)


def _remembered(engine: Engine, checkout: Checkout, head: str) -> tuple[Known, str, set[str], set[str]]:
    """What was found; a head that was compared and is here ("" for none), if possible the one that HEAD stands on; what that does not
    reach; HEAD, and the commits down to that head if it was made on it by these alone."""
    if engine.code is None:
        return places.NOTHING, "", set(), {head}
    with engine.code.read() as index:
        known = places.read(index.setting(setting(checkout)))
        made = _made_since(checkout, head, known)
        base = made[-1] if made else next((one for one in known.heads if not _absent(checkout, {one})), "")
        unreached = set(index.setting(setting(checkout, base)).split()) if base else set()
    return known, base, unreached.difference(made), {head, *made}


def _made_since(checkout: Checkout, head: str, known: Known) -> list[str]:
    if head in known.heads:
        return [head]
    if not known.heads:
        return []
    from hardwon.code.reflog import Logs, made_since

    return made_since(Logs(checkout).of_head(), head, known.heads)


def _fresh(reader: Reader, checkout: Checkout, known: Known, branch: str) -> Mapping[str, tuple[tuple[str, ...], bool]]:
    """Places that were recorded at since the last look, but for those of the branch at hand: their proofs as far as logs tell, and
    whether what was recorded there came from elsewhere."""
    entry = reader.events(after=known.event - 1, limit=1) if known.event else []
    # Another journal may have taken the place of the one that was looked at.
    same = bool(entry) and entry[0].seq == known.event and entry[0].hash.hex().startswith(known.mark)
    recorded = [
        (places.place(commit, at), commit, at, came)
        for commit, at, came in reader.recordings(known.event if same else 0)
        if not (branch and at == branch)
    ]
    new = [one for one in recorded if one[0] not in known.proofs]
    if not new:
        return {}
    from hardwon.code.reflog import Logs

    logs = Logs(checkout)
    return {one: (by_log(logs, commit, at), came) for one, commit, at, came in new}


def by_log(logs: Logs, commit: str, branch: str) -> tuple[str, ...]:
    """The proofs of a place, as far as git's logs tell: where the branch began at the commit, the first ones made on it since, for what
    was recorded before those belongs to them; else the commit. And what it became by being amended."""
    found = (logs.grown(branch, commit) if branch else None) or [commit]
    amended = logs.amended()
    for one in found:
        if one in amended and amended[one] not in found:
            found.append(amended[one])
    return tuple(dict.fromkeys(found))


def _compared(checkout: Checkout, head: str, base: str, asked: set[str], unreached: set[str]) -> set[str] | None:
    """What HEAD does not reach of all that was and is asked about; None where git does not answer in time."""
    from hardwon.code.ancestry import differences

    found = differences(checkout.root, head, base, sorted(asked))
    if found is None:
        return None
    beyond, newly = found
    return (unreached - newly) | beyond


def _absent(checkout: Checkout, asked: set[str]) -> set[str]:
    """Those of the commits that the repository has not: deleted and collected. In a shallow clone they may lie beyond its edge."""
    if checkout.shallow or not asked:
        return set()
    import os

    from hardwon.code.objects import has_object

    folder = os.path.join(checkout.common_dir, "objects")
    return {sha for sha in asked if has_object(folder, sha) is False}
