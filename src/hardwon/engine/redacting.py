"""An event without secrets, and no longer than what can be made use of: before anything of it is written."""

from __future__ import annotations

from hardwon.engine.session_names import key
from hardwon.intake.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Edit, Event

_HEAD, _TAIL = 4_000, 20_000  # characters of an output: what failed is told at the end
_MOST = 20_000  # of anything else that was said or written


def clean(event: Event) -> Event:
    """The event as it may be kept. Cut before it is looked at for secrets, so that a long output costs no more than a short one; what a cut
    leaves of a secret is found by its beginning, or has none that opens anything."""
    edits = tuple(_edit(edit) for edit in event.edits[:200])
    words = {name: redact(_cut(getattr(event, name)))[0] for name in ("text", "command") if getattr(event, name)}
    if event.output:
        words["output"] = redact(_ends(event.output))[0]
    for name in ("turn", "call", "agent"):
        if value := getattr(event, name):
            words[name] = key(value)
    for name in ("cwd", "transcript", "branch", "source", "tool_name"):
        if (value := getattr(event, name)) and not _is_plain(value):
            words[name] = redact(value)[0]
    paths = tuple(path if _is_plain(path) else redact(path)[0] for path in event.paths[:200])
    cleaned: Event = event.replace(edits=edits, paths=paths, **words)
    return cleaned


def _edit(edit: Edit) -> Edit:
    path = edit.path if _is_plain(edit.path) else redact(edit.path)[0]
    cleaned: Edit = edit.replace(path=path, old=redact(_cut(edit.old))[0], new=redact(_cut(edit.new))[0])
    return cleaned


def _is_plain(word: str) -> bool:
    """Whether a short word cannot be a secret: an id of hexadecimal digits and dashes, or letters only."""
    return len(word) < 20 or (len(word) <= 40 and word.replace("-", "").isalnum() and word.count("-") == 4)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else _whole_lines(text[:_MOST])


def _ends(text: str) -> str:
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}\n…\n{text[-_TAIL:].partition(chr(10))[2]}"


def _whole_lines(text: str) -> str:
    return text.rpartition("\n")[0] or text
