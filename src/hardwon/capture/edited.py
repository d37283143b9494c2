"""Edits of a session, as they become part of what is known of it: where they are, what they touch, which earlier ones they take back."""

from __future__ import annotations

from hardwon.capture.passages import is_prose, symbols, touched
from hardwon.capture.state import EDITS, PASSAGE, Change
from hardwon.code.names import last_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.capture.event import Edit, Event
    from hardwon.capture.state import State

    Naming = Callable[[Edit], tuple[str, ...]]

_FILES = 60


def edited(state: State, event: Event, named: Naming) -> State:
    """The state with what a call has changed; without what was refused, or did not find its place."""
    if event.ended in ("denied", "interrupted") or (event.ended == "failed" and event.tool != "shell"):
        return state
    for edit in event.edits:
        state = _one_edit(state, event, edit, named)
    return state


def _one_edit(state: State, event: Event, edit: Edit, named: Naming) -> State:
    path = placed(edit.path, event.cwd, state.root)
    elsewhere = event.tool == "shell" and (path.startswith("/") or path[1:2] == ":")  # a log, mostly
    if is_prose(path) or elsewhere or len(f"{path}.".splitlines()) > 1:
        # A test may read it, but it is no code; and no lesson can be on a file whose name has line breaks.
        outside: State = state.replace(world=state.world + 1)
        return outside
    if not path or (edit.kind == "change" and edit.old == edit.new and edit.old):
        return state
    number = state.edited + 1
    undoes = _undoes(state, path, edit)
    found = tuple(one[:200] for one in _narrowed(named(edit), edit)[:3])
    old, new = edit.old[:PASSAGE], edit.new[:PASSAGE]
    change = Change(
        number, event.at, path, found, edit.lines, old, new, event.agent, False, undoes, edit.kind == "whole", state.turn
    )
    changes = tuple(
        one.replace(undone=True) if undoes and one.path == path and one.number >= undoes else one for one in state.changes
    )
    after: State = state.replace(
        edited=number, changes=(*changes, change)[-EDITS:], files=_with_file(state.files, path, change.symbols)
    )
    return after


def _narrowed(names: tuple[str, ...], edit: Edit) -> tuple[str, ...]:
    """Of the symbols that a passage lies in, those in which it differs, where the passage itself shows which these are."""
    if len(names) < 2 or not edit.old or not edit.new:
        return names
    own = {last_part(one) for one in touched(edit.old, edit.new)}
    return tuple(one for one in names if last_part(one) in own) or names


def _undoes(state: State, path: str, edit: Edit) -> int:
    """The number of the first of the last edits of a file that this one takes back together; 0 where it takes none back, or a text was cut,
    of which two may begin alike."""
    old, new = edit.old, edit.new
    now = before = ""
    for change in reversed([one for one in state.changes if one.path == path]):
        cut = max(len(old), len(new), len(change.old), len(change.new)) >= PASSAGE
        if change.undone or change.undoes or not change.old.strip() or cut:
            break
        if not now and old and old in change.new:
            now = change.new.replace(old, new, 1)
        elif not now or change.new != before:
            break
        if now == change.old:
            return change.number
        before = change.old
    return 0


def _with_file(
    files: tuple[tuple[str, tuple[str, ...]], ...], path: str, found: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    known = next((one for name, one in files if name == path), ())
    both = tuple(dict.fromkeys((*known, *found)))[:8]
    return (*(one for one in files if one[0] != path), (path, both))[-_FILES:]


def by_passage(edit: Edit) -> tuple[str, ...]:
    """The symbols that an edit touches, by its own lines."""
    if edit.old and edit.new:
        return touched(edit.old, edit.new)
    found = symbols(edit.new or edit.old, 2)
    return found if edit.kind != "whole" or len(found) == 1 else ()  # of a whole file nobody knows which of them


def placed(path: str, cwd: str, root: str) -> str:
    """A path from the project's top where it lies below it, with slashes."""
    path, cwd, root = slashed(path), slashed(cwd), slashed(root)
    if path and not path.startswith("/") and path[1:2] != ":" and cwd:
        path = f"{cwd}/{path}"
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    path = ("/" if path.startswith("/") else "") + "/".join(parts)
    return (path[len(root) + 1 :] if root and path.startswith(f"{root}/") else path)[:500]


def slashed(path: str) -> str:
    """A path with slashes, and none at its end."""
    return path.replace("\\", "/").rstrip("/")
