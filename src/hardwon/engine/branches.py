"""The look at all branches, off the quick path: where each memory was recorded, and by which commits a checkout has it.

Merges are told by git's ancestry; rebases, squashes, cherry-picks and amended commits are followed (code/landing.py). What is found is
kept beside the index of the code, and read from there at each question (engine/visibility.py).
"""

from __future__ import annotations

from hardwon.code import places, repo
from hardwon.code.reflog import Logs
from hardwon.engine.visibility import by_log, setting
from hardwon.errors import GitFailed
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardwon.code.places import Known
    from hardwon.code.repo import Checkout
    from hardwon.engine.core import Engine

_HEADS = 20  # other branches that are compared beforehand, those with the newest commits
_TIPS = 8  # positions of a branch that are remembered
_MARK = 16  # digits of a hash


class BranchReport(Value):
    """What a look found: ``places`` that memories were recorded at, ``hidden`` ones of these as seen from HEAD, those that ``landed``
    by another commit; ``cut``: there was more to compare than is compared; ``broken``: git's words where it could not walk through
    the history, so that what was found before stays."""

    places: int = 0
    hidden: int = 0
    landed: int = 0
    cut: bool = False
    broken: str = ""


def refresh(engine: Engine) -> BranchReport:
    """Look at all branches; Busy and StoreError where the finding cannot be kept."""
    checkout = engine.place.checkout if engine.place else None
    if checkout is None or not checkout.git_dir or engine.code is None:
        return BranchReport()
    branch, head = repo.standing(checkout)
    if not head:
        return BranchReport()
    with engine.store.read() as reader:
        recorded = {places.place(commit, at): (commit, at, came) for commit, at, came in reader.recordings()}
        changes = reader.commits_since(-1)
        last = reader.latest_events(1)
    with engine.code.read() as index:
        before = places.read(index.setting(setting(checkout)))
    try:
        known, unreached, cut = _Look(checkout, head, before).done(recorded, {sha for _, sha in changes})
    except GitFailed as error:
        return BranchReport(broken=error.message)
    if last:
        known = known.replace(event=last[0].seq, mark=last[0].hash.hex()[:_MARK])
    if changes:
        known = known.replace(change=changes[-1][0])
    _keep(engine, checkout, before, known, unreached)
    hidden = places.hidden(known.proofs, unreached[head], branch)
    elsewhere = {one: several for one, several in known.proofs.items() if one.partition(":")[0] in unreached[head]}
    landed = sum(places.proven(several, unreached[head]) for several in elsewhere.values())
    return BranchReport(len(known.proofs), len(hidden), landed, cut)


def _keep(engine: Engine, checkout: Checkout, before: Known, known: Known, unreached: Mapping[str, Iterable[str]]) -> None:
    assert engine.code is not None  # noqa: S101 - for mypy: refresh has looked
    found = {setting(checkout, head): "" for head in set(before.heads).difference(unreached)}
    found |= {setting(checkout, head): " ".join(sorted(commits)) for head, commits in unreached.items()}
    found[setting(checkout)] = places.write(known)
    with engine.code.read() as index:
        if all(index.setting(name) == value for name, value in found.items()):
            return  # a look that found nothing new writes nothing
    with engine.code.write(engine.wait) as index:
        for name, value in found.items():
            index.set_setting(name, value)


class _Look:
    """One look from one HEAD."""

    def __init__(self, checkout: Checkout, head: str, before: Known) -> None:
        self._checkout, self._head, self._before = checkout, head, before
        self._logs = Logs(checkout)

    def done(self, recorded: Mapping[str, tuple[str, str, bool]], changes: set[str]) -> tuple[Known, dict[str, set[str]], bool]:
        """What is known now, what each head does not reach of it, and whether more should have been compared."""
        proofs = {one: self._proofs(one, commit, at) for one, (commit, at, _) in recorded.items()}
        named = {proof for several in proofs.values() for proof in several} | (changes if self._checkout.shallow else set())
        absent = named - _present(self._checkout.root, named)
        for one, (commit, _, came) in recorded.items():
            if commit in absent and (came or self._checkout.shallow):
                proofs[one] = (*proofs[one], places.ALWAYS)
        reach = set(_words(self._checkout.root, "rev-list", self._head, "--") if named or changes else ())
        everywhere = (changes | named) - (absent if self._checkout.shallow else set())
        tips = self._tips(at for _, at, _ in recorded.values())
        looked, cut = self._follow(proofs, recorded, everywhere - reach, absent, tips)
        everywhere |= {proof for several in proofs.values() for proof in several} - {places.ALWAYS} - absent
        unreached = {self._head: (everywhere | (absent if not self._checkout.shallow else set())) - reach}
        for other in self._others():
            unreached[other] = self._seen_from(other, unreached[self._head], everywhere & reach)
        return places.Known(heads=tuple(unreached), proofs=proofs, looked=looked, tips=tips), unreached, cut

    def _proofs(self, one: str, commit: str, branch: str) -> tuple[str, ...]:
        """By the logs, and what was known before: a branch that is gone has none any more."""
        return places.renewed(by_log(self._logs, commit, branch), self._before.proofs.get(one, ()), commit)

    def _tips(self, branches: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Where the branches that memories were recorded on stand and stood."""
        found = {}
        for branch in sorted(set(branches) - {""}):
            stood = [*self._before.tips.get(branch, ()), *self._logs.tips(branch)]
            stood += [repo.reference(self._checkout, f"refs/{kind}/{branch}") for kind in ("remotes/origin", "heads")]
            newest = list(dict.fromkeys(reversed([tip for tip in stood if repo.is_hash(tip)])))[:_TIPS]
            found[branch] = tuple(reversed(newest))
        return found

    def _follow(
        self,
        proofs: dict[str, tuple[str, ...]],
        recorded: Mapping[str, tuple[str, str, bool]],
        unreached: set[str],
        absent: set[str],
        tips: Mapping[str, tuple[str, ...]],
    ) -> tuple[dict[str, str], bool]:
        """Add to the proofs the commits by which what is not reached came in; what was looked for in vain, and whether that was all."""
        from hardwon.code import landing

        wanted: dict[str, Sequence[str]] = {}
        for one, several in proofs.items():
            if not places.proven(several, unreached | absent):
                wanted.update(dict.fromkeys((proof for proof in several if proof not in absent), tips.get(recorded[one][1], ())))
        present = _present(self._checkout.root, set(self._before.looked.values()))
        looked = {sha: head for sha, head in self._before.looked.items() if sha in wanted and head in present}
        result = landing.find(self._checkout.root, self._head, wanted, looked)
        for one, several in proofs.items():
            more = [result.found[proof] for proof in several if proof in result.found]
            proofs[one] = tuple(dict.fromkeys((*several, *more)))
        looked |= dict.fromkeys(result.asked, self._head)
        return {sha: head for sha, head in looked.items() if sha not in result.found}, result.cut

    def _others(self) -> list[str]:
        """The tips of the newest local branches, and the HEADs of other working trees."""
        listing = ("for-each-ref", "--sort=-committerdate", f"--count={_HEADS}", "--format=%(objectname)", "refs/heads")
        found = [*_words(self._checkout.root, *listing), *(log[-1].new for log in self._logs.of_heads() if log)]
        present = _present(self._checkout.root, set(found))
        return [sha for sha in dict.fromkeys(found) if sha != self._head and sha in present]

    def _seen_from(self, other: str, unreached: set[str], reached: set[str]) -> set[str]:
        """The same from another commit: what differs is mostly little."""
        here: set[str] = set()
        there: set[str] = set()
        for word in _words(self._checkout.root, "rev-list", "--left-right", f"{self._head}...{other}", "--"):
            (here if word.startswith("<") else there).add(word[1:])
        return (unreached - there) | (reached & here)


def _present(root: str, shas: set[str]) -> set[str]:
    """Those that git has as commits; GitFailed where it cannot tell, for then none would seem to be there."""
    from hardwon.code import git

    if not shas:
        return set()
    with git.local(root) as place:
        found = git.present(place, sorted(shas))
    if found is None:
        raise GitFailed(f"git cannot tell which commits are in {root}", remedy="run `git fsck` there")
    return found


def _words(root: str, *arguments: str) -> list[str]:
    from hardwon.code import git

    done = git.run(root, arguments)
    if done.returncode:
        raise git.failure(root, done.stderr)
    return done.stdout.decode("ascii", "replace").split()
