"""What became of declarations in a history, found without the product: git's renames commit by commit, and exact parsers.

The first parents from a commit on are walked. A declaration is where it was as long as its file (under the name that git's ``-M50%
-C`` gives it) declares it. In the commit where it does not any more, it is looked for among what that commit newly declares: by the
same meaning, else by similar words; first where it stood, between the neighbours that it had. Whether it is the same is always
asked of two contents, the one at the beginning and the one now, so that what was changed and taken back is the same.
"""

from __future__ import annotations

import difflib
import os
import pickle
import subprocess
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from declarations import Declaration, Declared, Parser

SIMILAR = 0.6
SIMILAR_OTHER_NAME = 0.75
ENOUGH = 30  # words from which an equal meaning elsewhere is no chance
_LONGEST = 1_500  # words that are compared for likeness: it takes time by the square
_FEWEST = (
    5  # words from which likeness says something of what has the same name; of what stands where the other stood; else ENOUGH
)
_FEWEST_IN_PLACE = 12
_FAMILY = {"function": 1, "method": 1, "class": 2, "interface": 3, "type": 3, "module": 4, "constant": 5}


class Touch(NamedTuple):
    """What a commit did to one file: git's letter, its name and blob before and after ("" for none)."""

    letter: str
    old: str
    new: str
    before: str
    after: str


class Truth(NamedTuple):
    """``state`` is same, moved, changed or gone, or "" where the parser does not take the file. ``by`` tells how it was followed, ``doubt``
    why somebody could see it otherwise; ``since`` are commits of which each may be called the first that changed or removed it."""

    state: str
    path: str = ""
    qualified: str = ""
    by: str = ""
    doubt: str = ""
    since: tuple[str, ...] = ()


class Step(NamedTuple):
    """From that commit on (its number) a declaration is there; "" for nowhere."""

    number: int
    path: str
    qualified: str
    by: str
    same: bool


class History:
    """The commits of a clone by first parents, oldest first, with what each did."""

    def __init__(self, clone: str, parser: Parser, tip: str = "HEAD") -> None:
        self.clone, self.parser = clone, parser
        words = self._git("rev-list", "--first-parent", "--reverse", tip).decode().split()
        self.commits: list[str] = words
        self.number = {sha: number for number, sha in enumerate(words)}
        self.touches: dict[int, list[Touch]] = {}
        self._of_path: dict[str, list[int]] = defaultdict(list)
        self._files: dict[int, dict[str, str]] = {}
        self._declared: dict[str, Declared | None] = {}
        self._reader = subprocess.Popen(
            ["git", "-C", clone, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self, keep: str = "") -> None:
        """End git; keep what was parsed in a file, for the next time."""
        self._reader.communicate()
        if keep:
            with open(keep, "wb") as file:
                pickle.dump(self._declared, file)

    def recover(self, kept: str) -> None:
        """Take what an earlier run kept, where it did."""
        if kept and os.path.exists(kept):
            with open(kept, "rb") as file:
                self._declared = pickle.load(file)

    def read(self, first: int) -> None:
        """Learn what the commits after that one did."""
        known = self.commits[first]
        which = ("log", "--first-parent", "-m", "--reverse", "--format=%x01%H")
        how = ("--raw", "--abbrev=40", "-M50%", "-C", "-l0", "-z")
        told = self._git(*which, *how, f"{known}..{self.commits[-1]}").decode("utf-8", "surrogateescape")
        for part in told.split("\x01")[1:]:
            sha, _, rest = part.partition("\0")
            number = self.number.get(sha.strip())
            if number is not None:
                self.touches[number] = list(_touches(rest))
        for number in sorted(self.touches):
            for path in {touch.old for touch in self.touches[number] if touch.old}:
                self._of_path[path].append(number)

    def files(self, number: int) -> dict[str, str]:
        """The files of the language at a commit, with their blobs."""
        if number not in self._files:
            told = self._git("ls-tree", "-r", "-z", self.commits[number]).decode("utf-8", "surrogateescape")
            rows = (row.split("\t", 1) for row in told.split("\0") if row)
            blobs = ((path, facts.split()) for facts, path in rows)
            self._files[number] = {
                path: facts[2]
                for path, facts in blobs
                if facts[1] == "blob" and facts[0] != "120000" and path.endswith(self.parser.suffixes)
            }
        return self._files[number]

    def declared(self, path: str, blob: str) -> Declared | None:
        """What a file declares; None where the parser does not take it, or it is of another language."""
        if not blob.strip("0") or not path.endswith(self.parser.suffixes):
            return None
        if blob not in self._declared:
            self._declared[blob] = self.parser.declared(path, self._content(blob))
        return self._declared[blob]

    def next_touch(self, path: str, after: int) -> int | None:
        """The first commit after that one which did something to a file."""
        numbers = self._of_path.get(path, [])
        place = bisect_right(numbers, after)
        return numbers[place] if place < len(numbers) else None

    def _content(self, blob: str) -> bytes:
        out, back = self._reader.stdin, self._reader.stdout
        assert out is not None and back is not None
        out.write(blob.encode() + b"\n")
        out.flush()
        size = int(back.readline().split()[2])
        content = back.read(size)
        back.read(1)
        return content

    def _git(self, *words: str) -> bytes:
        return subprocess.run(["git", "-C", self.clone, *words], check=True, capture_output=True).stdout


def _touches(told: str) -> Iterator[Touch]:
    words = iter(told.lstrip("\n\0").split("\0"))
    for head in words:
        facts = head.strip().removeprefix(":").split()
        if len(facts) < 5:
            continue
        letter, old = facts[4][0], next(words)
        new = next(words) if letter in "RC" else old
        before, after = facts[2], facts[3]
        yield Touch(letter, "" if letter == "A" else old, "" if letter == "D" else new, before, after)


class Followed:
    """One declaration, pinned at a commit, and where it went."""

    def __init__(self, history: History, number: int, path: str, declaration: Declaration) -> None:
        self.history, self.number, self.path, self.pinned = history, number, path, declaration
        self.steps = [Step(number, path, declaration.qualified, "place", same=True)]
        self._walk()

    def truth(self, number: int) -> Truth:
        """What is true at a later commit."""
        step = [step for step in self.steps if step.number <= number][-1]
        home = self._at(number, self.path, self.pinned.qualified)
        since = self._since(number)
        if home is not None and home.meaning == self.pinned.meaning:
            return Truth("same", self.path, self.pinned.qualified, "place")
        there = self._at(number, step.path, step.qualified) if step.path else None
        if there is not None:
            elsewhere = (step.path, step.qualified) != (self.path, self.pinned.qualified)
            same = there.meaning == self.pinned.meaning
            state = "moved" if same and elsewhere else "changed"
            doubt = self._doubt(number, step) if not same or step.by.startswith("equal") else ""
            return Truth(state, step.path, step.qualified, step.by, doubt, () if same else since)
        if home is not None:
            return Truth("changed", self.path, self.pinned.qualified, "place again", self._doubt(number, step), since)
        if self._unreadable(number, self.path) or self._unreadable(number, step.path):
            return Truth("", by="not parsed")
        return self._lost(number, since)

    def _lost(self, number: int, since: tuple[str, ...]) -> Truth:
        places = self._equal(number)
        if places and len(self.pinned.words) >= ENOUGH:
            return Truth("moved", *places[0], "equal elsewhere", "" if len(places) == 1 else f"{len(places)} places")
        doubt = f"short, equal in {len(places)} places" if places else ""
        return Truth("gone", by="nowhere", doubt=doubt, since=since)

    def _since(self, number: int) -> tuple[str, ...]:
        """The first commit that changed or removed it, and the first after which it was never again the same: mostly one."""
        different = [step for step in self.steps if step.number <= number and not step.same]
        last_same = max(step.number for step in self.steps if step.number <= number and step.same)
        lasting = [step for step in different if step.number > last_same]
        return tuple(dict.fromkeys(self.history.commits[steps[0].number] for steps in (different, lasting) if steps))

    def _at(self, number: int, path: str, qualified: str) -> Declaration | None:
        found = self.history.declared(path, self.history.files(number).get(path, ""))
        return found.get(qualified) if found else None

    def _unreadable(self, number: int, path: str) -> bool:
        blob = self.history.files(number).get(path, "")
        return bool(blob) and self.history.declared(path, blob) is None

    def _doubt(self, number: int, step: Step) -> str:
        """Why somebody could see it otherwise, of what is not simply at its place or in its renamed file."""
        if step.by == "equal in the commit" and len(self.pinned.words) < ENOUGH and step.path != self.path:
            return "short, in another file"
        if step.by.startswith("similar"):
            return "only similar"
        here = self._at(number, step.path, step.qualified)
        if here is not None and here.meaning != self.pinned.meaning and len(self.pinned.words) >= ENOUGH and self._equal(number):
            return "equal code stands elsewhere too"
        return ""

    def _equal(self, number: int) -> list[tuple[str, str]]:
        """Where the pinned code stands at a commit; the same name and a near folder first."""
        found = [
            (one.name != self.pinned.name, -_shared(path, self.path), path, one.qualified)
            for path, blob in self.history.files(number).items()
            for one in (self.history.declared(path, blob) or {}).values()
            if one.meaning == self.pinned.meaning
        ]
        return [place[2:] for place in sorted(found)]

    def _walk(self) -> None:
        number, path, qualified = self.number, self.path, self.pinned.qualified
        before = self.pinned
        while (found := self.history.next_touch(path, number)) is not None:
            number = found
            step, now = self._after(number, path, qualified, before)
            self.steps.append(step)
            if now is None and not step.path:
                return
            path, qualified, before = step.path, step.qualified, now or before

    def _after(self, number: int, path: str, qualified: str, before: Declaration) -> tuple[Step, Declaration | None]:
        touches = self.history.touches[number]
        mine = [touch for touch in touches if touch.old == path and touch.letter != "C"]
        if not mine:  # only copied: it stays where it was
            return Step(number, path, qualified, "place", same=before.meaning == self.pinned.meaning), before
        touch = mine[0]
        found = self.history.declared(touch.new, touch.after) if touch.new else {}
        if found is None:  # not parsed here; perhaps again later
            return Step(number, touch.new or path, qualified, "not parsed", same=False), None
        if qualified in found:
            last = next(step.by for step in reversed(self.steps) if step.by != "not parsed")
            by = "file" if touch.new != path and last == "place" else last
            return Step(number, touch.new, qualified, by, same=found[qualified].meaning == self.pinned.meaning), found[qualified]
        known = self.history.declared(touch.old, touch.before) or {}
        gap = [(touch.new, one) for one in _gap(known, found, qualified)]
        return self._sought(number, touches, before, gap)

    def _sought(
        self, number: int, touches: Sequence[Touch], before: Declaration, gap: list[tuple[str, Declaration]]
    ) -> tuple[Step, Declaration | None]:
        """Where a commit that took it away put it; ``gap``: what it put into the place that became empty."""
        fresh = list(self._fresh(touches))
        in_place = [(path, one) for path, one in gap if one.meaning == before.meaning]
        if len(in_place) == 1:
            path, one = in_place[0]
            return Step(number, path, one.qualified, "equal in its place", same=one.meaning == self.pinned.meaning), one
        equal = [(path, one) for path, one in fresh if one.meaning == before.meaning]
        certain = [(path, one) for path, one in equal if one.name == before.name or len(one.words) >= ENOUGH]
        if not certain and len(equal) == 1 and len(before.words) >= ENOUGH // 2:
            certain = equal
        if certain:
            path, one = min(certain, key=lambda pair: _nearness(before, self.path, *pair))
            return Step(number, path, one.qualified, "equal in the commit", same=one.meaning == self.pinned.meaning), one
        rated = [
            *((_likeness(before, one, SIMILAR, _FEWEST_IN_PLACE), path, one) for path, one in gap),
            *((_likeness(before, one, SIMILAR_OTHER_NAME, ENOUGH), path, one) for path, one in fresh),
        ]
        likely = max(rated, default=None, key=lambda each: (round(each[0], 2), _alike(each[2].name, before.name)))
        if likely and likely[0]:
            share, path, one = likely
            return Step(number, path, one.qualified, f"similar {share:.2f}", same=one.meaning == self.pinned.meaning), one
        return self._put_before(number, before) or (Step(number, "", "", "nowhere", same=False), None)

    def _put_before(self, number: int, before: Declaration) -> tuple[Step, Declaration] | None:
        """Where it stands at the end of that commit, as an earlier one had put it there already."""
        if len(before.words) < ENOUGH:
            return None
        for path, blob in sorted(self.history.files(number).items()):
            for one in (self.history.declared(path, blob) or {}).values():
                if one.meaning == before.meaning and one.name == before.name:
                    return Step(number, path, one.qualified, "equal elsewhere", same=one.meaning == self.pinned.meaning), one
        return None

    def _fresh(self, touches: Sequence[Touch]) -> Iterator[tuple[str, Declaration]]:
        """What a commit newly declares."""
        for touch in touches:
            now = self.history.declared(touch.new, touch.after) if touch.new else None
            # At a new path all is new: where two files are equal, git says of one only that it was renamed.
            known = self.history.declared(touch.old, touch.before) if touch.letter not in "RC" and touch.old else None
            for qualified, one in (now or {}).items():
                if qualified not in (known or {}):
                    yield touch.new, one


def _nearness(before: Declaration, from_path: str, path: str, one: Declaration) -> tuple[bool, bool, int, str]:
    """An order of places: first the same qualified name, then the same last part, then a near folder."""
    return one.qualified != before.qualified, one.name != before.name, -_shared(path, from_path), path


def _alike(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio()


def _shared(one: str, other: str) -> int:
    """How many folders and parts of names two paths have in common."""
    return len(set(one.split("/")) & set(other.split("/")))


def _gap(known: Declared, found: Declared, qualified: str) -> list[Declaration]:
    """What is declared newly between the two neighbours that a declaration had and that are still there."""
    old, new = (sorted(each.values(), key=lambda one: (one.first, -one.last)) for each in (known, found))
    names = [one.qualified for one in old]
    if qualified not in names:
        return []
    place = names.index(qualified)
    left = next((name for name in reversed(names[:place]) if name in found), "")
    right = next((name for name in names[place + 1 :] if name in found), "")
    order = [one.qualified for one in new]
    first = order.index(left) + 1 if left else 0
    last = order.index(right) if right else len(order)
    return [one for one in new[first:last] if one.qualified not in known]


def _likeness(before: Declaration, after: Declaration, other_name: float, fewest: int) -> float:
    """0 to 1, by words in order; 0 where they are not like enough. ``other_name`` and ``fewest`` hold for another name."""
    least, fewest = (SIMILAR, _FEWEST) if before.name == after.name else (other_name, fewest)
    one, other = before.words[:_LONGEST], after.words[:_LONGEST]
    shorter, longer = sorted((len(one), len(other)))
    if shorter < fewest or 2 * shorter < least * (shorter + longer) or _FAMILY[before.kind] != _FAMILY[after.kind]:
        return 0.0
    shared = sum((Counter(one) & Counter(other)).values())
    if 2 * shared < least * (shorter + longer):
        return 0.0
    share = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
    return share if share >= least else 0.0
