"""Which branch is the repository's own, and which commits are on it. The name is read from files; only ``contained`` starts git."""

from __future__ import annotations

from hardwon.code import repo
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.code.repo import Checkout

_NAMES = ("main", "master", "trunk")


class Branch(Value):
    """A branch by its short name, and the commit at its tip."""

    name: str
    tip: str


def default_branch(checkout: Checkout) -> Branch | None:
    """The branch that the remote calls its own; else the only one of the usual names, at the remote or here; else, where there is neither
    a remote nor any of these names, the one that is checked out. None where that does not tell one: of two, somebody may have made
    the other to be believed."""
    if not checkout.common_dir:
        return None
    if checkout.has_remote:
        remote = "refs/remotes/origin/"
        told = repo.reference(checkout, f"{remote}HEAD")
        if told.startswith(f"ref: {remote}"):
            return _branch(checkout, remote, told.removeprefix(f"ref: {remote}"))
        usual = _usual(checkout, remote)
        if usual:
            return usual[0] if len(usual) == 1 else None
    usual = _usual(checkout, "refs/heads/")
    if not usual and not checkout.has_remote and checkout.branch and checkout.head:
        return Branch(checkout.branch, checkout.head)
    return usual[0] if len(usual) == 1 else None


def _usual(checkout: Checkout, place: str) -> list[Branch]:
    return [branch for name in _NAMES if (branch := _branch(checkout, place, name)) is not None]


def _branch(checkout: Checkout, place: str, name: str) -> Branch | None:
    tip = repo.reference(checkout, place + name)
    return Branch(name, tip) if repo.is_hash(tip) else None


def contained(root: str, tip: str, shas: Iterable[str]) -> set[str] | None:
    """Those of ``shas`` (full hashes) that a commit has in its past, itself included. Git has to have all that it is asked about;
    None where it cannot tell."""
    from hardwon.code import git

    asked = set(shas)
    if not asked:
        return set()
    with git.local(root) as place:
        present = git.present(place, asked)
        if present is None:
            return None
        done = git.run(place, ["rev-list", "--stdin"], "".join([*(f"{sha}\n" for sha in present), f"^{tip}\n"]))
    return None if done.returncode else present - set(done.stdout.decode("ascii").split())
