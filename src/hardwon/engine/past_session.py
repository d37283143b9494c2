"""What a session that is over teaches: its events folded by the rules that hooks use too, as if all of it had happened in the working tree
at hand."""

from __future__ import annotations

import os
from functools import partial

from hardwon.capture import summary
from hardwon.capture.commands import CHECKS, works
from hardwon.capture.drafts import draft_of
from hardwon.capture.episode import State, step
from hardwon.capture.worktrees import added
from hardwon.code import repo
from hardwon.code.siblings import real
from hardwon.engine.redacting import clean
from hardwon.engine.retelling import name_of
from hardwon.engine.session_names import named
from hardwon.engine.touching import symbols_of
from hardwon.errors import InvalidInput
from hardwon.importers.transcripts import reading
from hardwon.types import Draft, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Edit, Event
    from hardwon.capture.lesson import Lesson
    from hardwon.engine.core import Engine
    from hardwon.importers.transcripts.finding import Ground, Transcript
    from hardwon.importers.transcripts.records import Tally

TOOL = "transcript"
_MOST_TREES = 200


class Session:
    """One session while it is read. ``told``: what it teaches, in its order, at the end its summary; ``events``: how many it has.
    InvalidInput for files that cannot be opened."""

    def __init__(self, engine: Engine, ground: Ground, transcript: Transcript, tally: Tally) -> None:
        self._engine = engine
        self._places = Places(ground, transcript.cwd)
        self._states: dict[tuple[str, str], State] = {}
        self._last: dict[tuple[str, str], Event] = {}
        self._at = 0
        self._at_once: dict[str, int] = {}  # events of that time so far, by their moment: a transcript may tell no times
        self.told: list[Told] = []
        self.events = 0
        for event in reading.read(transcript, tally):
            self.events += 1
            self._places.learn(event)
            if _matters(event):
                self._hear(event)
        self._sum_up()

    def _hear(self, event: Event) -> None:
        heard = clean(named(_needed(self._places.moved(event))))
        key = (heard.client, heard.session)
        state = self._states.get(key) or State(root=self._places.top)
        self._states[key], lessons = step(state, heard, partial(symbols_of, self._engine, heard))
        self._last[key] = heard
        if heard.at != self._at:
            self._at = heard.at
            self._at_once.clear()
        # A task teaches nothing by itself, and was not counted when it was not heard: what comes with it keeps its name.
        self._at_once[heard.moment] = nth = self._at_once.get(heard.moment, 0) + (heard.tool != "task")
        inside = [(place, _inside(lesson)) for place, lesson in enumerate(lessons)]
        self.told += [Told(heard, lesson, nth, place) for place, lesson in inside if lesson is not None]

    def _sum_up(self) -> None:
        for key, state in self._states.items():
            own = state.replace(files=tuple(one for one in state.files if not _is_outside(one[0])))
            if words := summary.of(own):
                self.told.append(Told(self._last[key], words))


class Told:
    """One thing that a session teaches: the ``place``-th lesson of an event, or the words of its summary. ``nth``: of the events of that
    moment and time."""

    def __init__(self, event: Event, what: Lesson | str, nth: int = 0, place: int = 0) -> None:
        self.event = event
        self.what = what
        self.nth = nth
        self.place = place

    @property
    def at(self) -> int:
        """When it was learnt; of a summary when the session was last heard of."""
        return self.event.at

    @property
    def origin(self) -> Origin:
        """Who learnt it."""
        return Origin("agent", self.event.client, self.event.session, TOOL)

    @property
    def replaces(self) -> str:
        """The text that it takes the place of, "" for none."""
        return "" if isinstance(self.what, str) else self.what.replaces

    @property
    def name(self) -> str:
        """By what it is known again, in whichever file the event stands: a session that went on elsewhere is copied there. Made of no
        words, which a digest of them would outlive when they are erased."""
        event = self.event
        return name_of(event.client, event.moment, str(event.at), event.call or str(self.nth), str(self.place))

    def draft(self) -> Draft:
        """As it is to be kept, before it is cleaned."""
        if isinstance(self.what, str):
            return Draft(self.what, "summary", tags=("session",), session=self.event.session)
        return draft_of(self.what)


def _matters(event: Event) -> bool:
    """Whether the rules look at an event: of tools at commands, edits and the end of subagents only."""
    if event.tool == "task" and event.moment == "after":
        return True
    return event.moment not in ("before", "after") or bool(event.command or event.edits)


def _needed(event: Event) -> Event:
    """The event without an output that no rule reads: that of a command which checks nothing. Looking for secrets in it is what costs."""
    if not event.output or any(work.kind in CHECKS for work in works(event.command)):
        return event
    bare: Event = event.replace(output="")
    return bare


def _inside(lesson: Lesson) -> Lesson | None:
    """The lesson on its places of this repository; None where it is about other files alone."""
    places = tuple(place for place in lesson.places if not _is_outside(place.path))
    if len(places) == len(lesson.places):
        return lesson
    kept: Lesson | None = lesson.replace(places=places) if places else None
    return kept


def _is_outside(path: str) -> bool:
    return path.startswith(("/", "../")) or path[1:2] == ":"


class Places:
    """The folders of one session, told from the top of the working tree at hand, whichever tree it went on in."""

    def __init__(self, ground: Ground, cwd: str) -> None:
        self.top = ground.tops[0]
        self._tops = list(ground.tops)
        if cwd and not ground.holds(cwd):  # another clone, which is gone or never was registered
            try:
                self._tops.append(repo.locate(cwd).root)
            except InvalidInput:
                self._tops.append(cwd)
        self._tops.sort(key=len, reverse=True)

    def learn(self, event: Event) -> None:
        """Know the working trees that the session itself adds to the repository: they may be gone by now."""
        if event.moment != "after" or event.tool != "shell" or event.ended in ("denied", "interrupted"):
            return
        for folder, path in added(event.command, event.cwd):
            if path not in self._tops and self._moved(folder):
                self._tops = sorted((*self._tops, path), key=len, reverse=True)[:_MOST_TREES]

    def moved(self, event: Event) -> Event:
        """The event as if it had happened in the working tree at hand; files outside keep their paths."""
        cwd = self._moved(event.cwd) or event.cwd
        if not event.edits:
            plain: Event = event if cwd == event.cwd else event.replace(cwd=cwd)
            return plain
        kept: Event = event.replace(cwd=cwd, edits=tuple(self._edit(one, event.cwd) for one in event.edits))
        return kept

    def _edit(self, edit: Edit, cwd: str) -> Edit:
        path, target = (_whole(one, cwd) if one else "" for one in (edit.path, edit.target))
        moved: Edit = edit.replace(path=self._moved(path) or path, target=self._moved(target) or target)
        return moved

    def _moved(self, path: str) -> str:
        """An absolute path below one of the tops, as below that at hand; "" for one outside."""
        for spelt in dict.fromkeys((path, real(path) if path.startswith("/") else path)):
            for top in self._tops:
                if spelt == top or spelt.startswith(top + "/"):
                    return self.top + spelt[len(top) :]
        return ""


def _whole(path: str, cwd: str) -> str:
    path = path.replace("\\", "/")
    if path.startswith("/") or path[1:2] == ":" or not cwd:
        return os.path.normpath(path)
    return os.path.normpath(f"{cwd}/{path}")
