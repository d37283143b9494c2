"""Where memories were recorded, and what proves that a checkout has it: kept as text beside the index, read on the quick path.

A place is a commit and a branch, written ``commit:branch``. Its *proofs* are commits, each of which says, where HEAD reaches it, that
what was recorded there is part of what is checked out: the commit itself, or others that it came in with. They hold for every HEAD.
"""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

# The proof of a place that cannot be looked for here: told elsewhere, or beyond the edge of a shallow clone.
ALWAYS = "*"


class Known(Value):
    """What the last look found. ``event`` and ``mark``: the journal's last entry then, and the beginning of its hash; ``change``: the
    store's key of the newest change then; ``heads``: the commits whose reach was compared then, that of HEAD first; ``looked``: for a
    commit that came in nowhere, what HEAD was when it was looked for; ``tips``: where branches stood that memories were recorded on,
    newest last."""

    event: int = 0
    mark: str = ""
    change: int = 0
    heads: tuple[str, ...] = ()
    proofs: Mapping[str, tuple[str, ...]] = {}
    looked: Mapping[str, str] = {}
    tips: Mapping[str, tuple[str, ...]] = {}


NOTHING = Known()


def place(commit: str, branch: str) -> str:
    """A place by one name, as a filter has it."""
    return f"{commit}:{branch}"


def write(known: Known) -> str:
    """As lines of words between tabs."""
    rows = [("event", str(known.event), known.mark, str(known.change)), ("heads", *known.heads)]
    rows += [("place", one, *proofs) for one, proofs in sorted(known.proofs.items())]
    rows += [("looked", commit, head) for commit, head in sorted(known.looked.items())]
    rows += [("tips", branch, *tips) for branch, tips in sorted(known.tips.items())]
    return "\n".join("\t".join(row) for row in rows)


def read(text: str) -> Known:
    """The other way; NOTHING for what is no such text."""
    event, mark, change = 0, "", 0
    heads: tuple[str, ...] = ()
    tables: dict[str, dict[str, tuple[str, ...]]] = {"place": {}, "looked": {}, "tips": {}}
    for line in text.split("\n"):
        kind, *words = line.split("\t")
        if kind == "event" and len(words) == 3 and words[0].isdigit() and words[2].isdigit():
            event, mark, change = int(words[0]), words[1], int(words[2])
        elif kind == "heads":
            heads = tuple(words)
        elif kind in tables and words:
            tables[kind][words[0]] = tuple(words[1:])
    looked = {commit: head[0] for commit, head in tables["looked"].items() if head}
    return Known(event, mark, change, heads, tables["place"], looked, tables["tips"])


def renewed(told: tuple[str, ...], before: Sequence[str], commit: str) -> tuple[str, ...]:
    """The proofs of a place at a commit: those that are told now, and those that were known before."""
    known = [proof for proof in before if proof != ALWAYS]
    found = dict.fromkeys((*told, *known))
    # Where it is or was known that the branch began here, the commit itself proves nothing.
    if known and not (commit in told and commit in known):
        found.pop(commit, None)
    return tuple(found)


def proven(proofs: Sequence[str], unreached: Collection[str]) -> bool:
    """Whether one of the proofs holds, where HEAD does not reach ``unreached``."""
    return any(proof == ALWAYS or proof not in unreached for proof in proofs)


def hidden(proofs: Mapping[str, Sequence[str]], unreached: Collection[str], branch: str) -> tuple[str, ...]:
    """The places that cannot be seen where HEAD does not reach ``unreached``; those of the branch that is checked out can ("" for
    none). Sorted."""
    return tuple(
        sorted(
            one
            for one, several in proofs.items()
            if not (branch and one.partition(":")[2] == branch) and not proven(several, unreached)
        )
    )
