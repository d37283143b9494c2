"""Excerpts of sessions with what they should teach, set by hand: read, run through the fold, and compared.

One case a line: ``name``, ``events`` (fields of capture.event.Event; client, session and folder are the same for all), ``expect``:
lessons as ``kind``, ``contains`` (words of the text), and where they matter ``symbol`` and ``path`` of one of its places and ``outcome``.
A case that expects nothing must teach nothing. The outputs are real, but for the folder's name and the runners that were not at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwon.capture.episode import State, step
from hardwon.capture.event import Edit, Event

if TYPE_CHECKING:
    from hardwon.capture.lesson import Lesson

FOLDER = Path(__file__).parent
ROOT = "/home/dev/shop"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def events(case: dict[str, Any]) -> list[Event]:
    return [event(row) for row in case["events"]]


def event(row: dict[str, Any]) -> Event:
    row = dict(row)
    row["edits"] = tuple(
        Edit(**{**edit, **({"lines": tuple(edit["lines"])} if edit.get("lines") else {})}) for edit in row.get("edits", ())
    )
    row["paths"] = tuple(row.get("paths", ()))
    return Event(client="claude-code", session="s", cwd=ROOT, **row)


def learnt(case: dict[str, Any]) -> list[Lesson]:
    state, found = State(), []
    for one in events(case):
        state, lessons = step(state, one)
        state = State.from_json(state.to_json())
        found += lessons
    return found


def fits(lesson: Lesson, wanted: dict[str, Any]) -> bool:
    if lesson.kind != wanted["kind"] or wanted.get("contains", "").casefold() not in lesson.text.casefold():
        return False
    if wanted.get("outcome") and lesson.outcome != wanted["outcome"]:
        return False
    symbol = wanted.get("symbol")
    if symbol and not any(place.symbol.endswith(symbol) for place in lesson.places):
        return False
    return not wanted.get("path") or any(place.path == wanted["path"] for place in lesson.places)


class Count:
    """Lessons that were right, wrong, and missed; cases that should teach nothing and did."""

    def __init__(self) -> None:
        self.right = self.wrong = self.missed = 0
        self.noise: list[str] = []
        self.told: list[str] = []

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    def add(self, case: dict[str, Any]) -> None:
        open_ = list(case["expect"])
        lessons = learnt(case)
        for lesson in lessons:
            match = next((one for one in open_ if fits(lesson, one)), None)
            if match is None:
                self.wrong += 1
                self.told.append(
                    f"{case['name']}: wrong: {lesson.kind} {lesson.text!r} {[(p.path, p.symbol) for p in lesson.places]}"
                )
            else:
                self.right += 1
                open_.remove(match)
        self.missed += len(open_)
        self.told += [f"{case['name']}: missed: {one}" for one in open_]
        if lessons and not case["expect"]:
            self.noise.append(case["name"])


def count(name: str) -> Count:
    total = Count()
    for case in cases(name):
        total.add(case)
    return total


if __name__ == "__main__":
    import sys

    for name in sys.argv[1:] or ("dev",):
        found = count(name)
        counts = f"{found.right} right, {found.wrong} wrong, {found.missed} missed"
        print(f"{name}: precision {found.precision:.3f}, recall {found.recall:.3f}, {counts}")
        print("\n".join(found.told))
