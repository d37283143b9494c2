"""What a session was about, without a model: asked, decided, changed, failed, left open. Pure."""

from __future__ import annotations

from hardwon.capture.learning import is_own, is_scratch
from hardwon.capture.lesson import plain_test, shown, stable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.state import Red, State

LONGEST = 1_800  # characters
_PROMPTS, _FILES, _FAILURES = 3, 8, 5


def of(state: State) -> str:
    """The summary of a session; "" where nothing happened that is worth keeping: no edit of code, no open failure of it, no
    decision."""
    failing = _failing(state)
    if not (state.files or failing or state.decided):
        return ""
    parts = [
        _line("Asked", [_short(text, 200) for text in _asked(state)], "; "),
        _line("Decided", [_short(said.text, 200) for said in state.decided[-4:]], "; "),
        # Nobody knows more than that; and ahead of what may be long, for what is cut off stands last.
        _line("Failing when last run", failing, "; "),
        _line("Changed", _changed(state), ", "),
        _line("Learnt", [_short(text, 160) for text in state.told[-4:]], "; "),
        _line("Last words", [_short(state.words, 300)] if state.words else [], ""),
    ]
    return "\n".join(part for part in parts if part)[:LONGEST].rstrip()


def _line(head: str, said: list[str], sign: str) -> str:
    return f"{head}: {sign.join(said)}" if said else ""


def _asked(state: State) -> list[str]:
    """The first prompt and the last ones."""
    return [*state.asked[:1], *state.asked[1:][-(_PROMPTS - 1) :]]


def _changed(state: State) -> list[str]:
    files = [(shown(path), symbols) for path, symbols in state.files[-_FILES:]]
    told = [f"{path} ({', '.join(symbols[:3])})" if symbols else path for path, symbols in files]
    more = len(state.files) - len(told)
    return [*told, f"and {more} more"] if more > 0 else told


def _failing(state: State) -> list[str]:
    found: dict[str, None] = {}
    for red in [one for one in state.open if _is_of_the_project(state, one)][-_FAILURES:]:
        error = stable(f"{red.error}: {red.message}" if red.error else red.message)
        name = plain_test(red.test) if red.test else stable(red.shown)
        found[f"{name}: {error}" if error else name] = None
    return list(found)


def _is_of_the_project(state: State, red: Red) -> bool:
    """Whether a failure is one that somebody has to mend: a test that has a name, or what went through code of the project."""
    if red.test:
        return True
    return any(is_own(path) for path, _, _ in red.frames) and not (red.kind == "run" and is_scratch(state, red))


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
