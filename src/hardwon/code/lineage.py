"""What tells whether two checkouts are of one repository, beyond their folders: history, and whom a clone was made from.

Each question is answered when it is asked and only then. All but ``roots`` are answered from files; ``roots`` starts git.
"""

from __future__ import annotations

import os

from hardwon.code import repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.code.repo import Checkout

_LOCAL = "file:"
_STEPS = 5  # clones of clones that are followed


class Lineage:
    """The descent of one checkout. With ``git=False`` root commits are not looked for."""

    def __init__(self, checkout: Checkout, *, git: bool = True) -> None:
        self._checkout = checkout
        self._git = git
        self._roots: tuple[str, ...] | None = None
        self._sources: tuple[Checkout, ...] | None = None

    def roots(self) -> tuple[str, ...]:
        """The root commits, by git; () where they cannot be known."""
        if self._roots is None:
            self._roots = repo.root_commits(self._checkout) if self._git else ()
        return self._roots

    def holds(self, commits: tuple[str, ...]) -> bool | None:
        """Whether the repository has one of the commits; None where that cannot be told, or there are none to look for."""
        checkout = self._checkout
        if not commits or not checkout.common_dir:
            return None
        from hardwon.code.objects import has_object

        answers = {has_object(os.path.join(checkout.common_dir, "objects"), sha) for sha in commits if repo.is_hash(sha)}
        if True in answers:
            return True
        return None if checkout.shallow or None in answers or not answers else False

    def continues(self, folder: str, roots: tuple[str, ...]) -> bool | None:
        """Whether the history here and the one in ``folder`` go on from one another; None where ``folder`` does not hold the
        repository with those roots any more.

        A copy that fell behind or went ahead still does; two that both went on do not.
        """
        other = repo.at(folder)
        if other is None or not other.common_dir:
            return None
        theirs = Lineage(other)
        if theirs.holds(roots) is False:
            return None
        here, there = self._checkout.head, other.head
        if not here or not there:
            return True
        return self.holds((there,)) is not False or theirs.holds((here,)) is not False

    def sources(self) -> tuple[Checkout, ...]:
        """The repositories on this machine that this one was cloned from, nearest first.

        One that is gone comes as the folder in which it was, without further facts.
        """
        if self._sources is None:
            self._sources = tuple(_sources(self._checkout))
        return self._sources

    def is_cut_off(self) -> bool:
        """Whether the remote was a folder or a bundle on this machine that is no repository now."""
        sources = self.sources()
        return bool(sources) and not sources[0].git_dir


def _sources(checkout: Checkout) -> list[Checkout]:
    found: list[Checkout] = []
    origin = checkout.origin
    while origin.startswith(_LOCAL) and len(found) < _STEPS:
        path = origin.removeprefix(_LOCAL)
        source = repo.at(path)
        if source is None or not source.git_dir:
            # Perhaps it was moved: a registry may still know whose place this was.
            return [*found, repo.Checkout(root=path, common_dir=os.path.join(path, ".git"))]
        if source.common_dir in {known.common_dir for known in (checkout, *found)}:
            break
        found.append(source)
        origin = source.origin
    return found
