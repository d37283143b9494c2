"""Judging what was said of memories against what is true: shares with their intervals, the table of states, the disagreements."""

from __future__ import annotations

import math
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from anchored import Shown
from common import table
from followed import Followed, History, Truth

STATES = ("same", "moved", "changed", "gone", "unknown")
_BLAMED = 100  # changes whose commit is held against git log -L
_COLUMNS = (
    *("true", "said", "stale", "by", "doubt", "words", "at", "path", "symbol", "stop"),
    *("true place", "said place", "since", "said since"),
)


class Judgement(NamedTuple):
    """One memory at one stop: what is true and what was said."""

    followed: Followed
    stop: int
    truth: Truth
    shown: Shown

    @property
    def right(self) -> bool:
        """The state is the true one."""
        return self.shown.state == self.truth.state

    @property
    def stale(self) -> bool:
        """It is served as true and is not."""
        return self.shown.state in {"same", "moved"} and self.truth.state in {"changed", "gone"}

    @property
    def placed(self) -> bool:
        """It is said to be where it is; of what did not move nothing need be said."""
        found = self.followed
        said = (self.shown.path or found.path, self.shown.symbol or found.pinned.qualified)
        return self.truth.state in {"gone", ""} or said == (self.truth.path, self.truth.qualified)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if not count:
        return 0.0, 1.0
    share, z = hits / count, 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def figures(judged: Sequence[Judgement]) -> dict[str, dict[str, Any]]:
    """The measured shares with their counts."""
    known = [one for one in judged if one.truth.state]
    by_file = [one for one in known if one.truth.by == "file"]
    by_symbol = [one for one in known if one.truth.by.startswith(("equal", "similar"))]
    touched = [one for one in known if one.truth.state in {"changed", "gone"} and one.right]
    return {
        "right": share(known, lambda one: one.right),
        "right, of what is beyond doubt": share([one for one in known if not one.truth.doubt], lambda one: one.right),
        "stale": share(known, lambda one: one.stale),
        "unknown": share(known, lambda one: one.shown.state == "unknown"),
        "files followed": share(by_file, lambda one: one.placed and one.shown.state not in {"gone", "unknown"}),
        "files followed, state right too": share(by_file, lambda one: one.placed and one.right),
        "symbols followed": share(by_symbol, lambda one: one.placed and one.shown.state not in {"gone", "unknown"}),
        "symbols followed, state right too": share(by_symbol, lambda one: one.placed and one.right),
        "changed by a commit that is named": share(touched, lambda one: bool(one.shown.changed_by)),
    }


def share(judged: Sequence[Judgement], holds: Callable[[Judgement], bool]) -> dict[str, Any]:
    """How many of them, with the interval."""
    hits = sum(map(holds, judged))
    low, high = wilson(hits, len(judged))
    value = round(hits / len(judged), 4) if judged else None
    return {"count": len(judged), "hits": hits, "share": value, "interval": [round(low, 4), round(high, 4)]}


def blamed(history: History, judged: Sequence[Judgement], seed: int) -> tuple[dict[str, Any], list[Judgement]]:
    """Whether the commits that are named as the first change are: against the walk, and against ``git log -L`` where it can be asked.
    And those that neither of them names."""
    named = [one for one in judged if one.truth.state in {"changed", "gone"} and one.right and one.shown.changed_by]
    sample = random.Random(seed).sample(named, min(_BLAMED, len(named)))
    walked = {id(one): any(_within(history, one.shown.changed_by, sha) for sha in one.truth.since) for one in sample}
    lines = {id(one): _log_of_lines(history, one) for one in sample if one.truth.state == "changed"}
    asked = [one for one in sample if lines.get(id(one))]

    def in_lines(one: Judgement) -> bool:
        # git names the merge, or what came with it, as it happens.
        said = one.shown.changed_by
        return bool(lines[id(one)] & _brought(history, said)) or any(_within(history, said, sha) for sha in lines[id(one)])

    shares = {
        "changed by, as walked": share(sample, lambda one: walked[id(one)]),
        "changed by, in git log -L": share(asked, in_lines),
    }
    return shares, [one for one in sample if not walked[id(one)]]


def _within(history: History, said: str, sha: str) -> bool:
    """Whether a commit is that one, or came in with it as a merge."""
    return any(one.startswith(said) for one in _brought(history, sha))


def _brought(history: History, sha: str) -> set[str]:
    """A commit, and those that came in with it as a merge."""
    command = ["git", "-C", history.clone, "rev-list", f"{sha}^1..{sha}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def _log_of_lines(history: History, one: Judgement) -> set[str]:
    """The commits that git names for the lines of a declaration, since it was pinned."""
    number, path = one.stop, one.truth.path
    found = (history.declared(path, history.files(number).get(path, "")) or {}).get(one.truth.qualified)
    if found is None:
        return set()
    span = f"{history.commits[one.followed.number]}..{history.commits[number]}"
    command = [
        "git",
        "-C",
        history.clone,
        "log",
        "-s",
        "--first-parent",
        "--format=%H",
        f"-L{found.first},{found.last}:{path}",
        span,
    ]
    return set(subprocess.run(command, check=False, capture_output=True, text=True).stdout.split())


def confusion(judged: Iterable[Judgement]) -> str:
    """A table of what is true against what was said."""
    cells = Counter((one.truth.state or "not parsed", one.shown.state) for one in judged)
    truths = [state for state in (*STATES[:4], "not parsed") if any(cells[state, said] for said in STATES)]
    return table(("true \\ said", *STATES), [(state, *(cells[state, said] for said in STATES)) for state in truths])


def write_report(path: str | None, history: History, judged: Sequence[Judgement], blame: Sequence[Judgement]) -> None:
    """The disagreements, one a line, for reading; ``blame``: those whose commit is not the one that was found."""
    if not path:
        return
    with open(path, "w", encoding="utf-8") as file:
        print(*_COLUMNS, sep="\t", file=file)
        for one in judged:
            if not (one.right and one.placed):
                print(*_row(history, one), sep="\t", file=file)
        for one in blame:
            print(*_row(history, one), sep="\t", file=file)


def _row(history: History, one: Judgement) -> list[object]:
    truth, shown, followed = one.truth, one.shown, one.followed
    pinned = followed.pinned
    doubt = truth.doubt or (f"{pinned.count} declarations" if pinned.count > 1 else "")
    at, stop = history.commits[followed.number][:10], history.commits[one.stop][:10]
    where = [at, followed.path, pinned.qualified, stop]
    places = [f"{truth.path}:{truth.qualified}", f"{shown.path}:{shown.symbol}"]
    since = [" ".join(sha[:10] for sha in truth.since), shown.changed_by[:10]]
    stale = "STALE" if one.stale else ""
    return [truth.state, shown.state, stale, truth.by, doubt, len(pinned.words), *where, *places, *since]


def printed(results: dict[str, dict[str, Any]]) -> str:
    """The figures as Markdown."""
    rows = []
    for name, found in results.items():
        low, high = found["interval"]
        if found["count"]:
            rows.append((name, f"{found['hits']} of {found['count']}", f"{found['share']:.2%}", f"{low:.2%} to {high:.2%}"))
    return table(("figure", "count", "share", "95 %"), rows)
