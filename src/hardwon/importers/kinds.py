"""What other tools call their memories, as kinds of ours."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.types import Kind, Outcome

_KINDS: dict[str, Kind] = {
    "decision": "decision", "decided": "decision", "adr": "decision",
    "rule": "rule", "convention": "rule", "constraint": "rule", "requirement": "rule", "preference": "rule", "preferences": "rule",
    "principle": "rule", "pattern": "rule", "policy": "rule",
    "howto": "howto", "how-to": "howto", "procedure": "howto", "procedural": "howto", "technique": "howto", "method": "howto",
    "lesson": "lesson", "gotcha": "lesson", "error": "lesson", "mistake": "lesson", "bugfix": "lesson",
    "attempt": "attempt", "task": "attempt", "todo": "attempt", "bug": "attempt", "feature": "attempt", "refactor": "attempt",
    "summary": "summary", "conversation": "summary", "episodic": "summary",
}  # fmt: skip
_OUTCOMES: dict[str, Outcome] = {
    "error": "failed", "mistake": "failed", "gotcha": "failed", "bugfix": "worked", "feature": "worked", "refactor": "worked",
}  # fmt: skip


def kind(word: object, default: Kind = "fact") -> Kind:
    """The kind that a word of another tool means; ``default`` for one that nobody knows, or that is no word."""
    return _KINDS.get(word.strip().lower(), default) if isinstance(word, str) else default


def outcome(word: object) -> Outcome | None:
    """How something of that name ended, as far as the name says so."""
    return _OUTCOMES.get(word.strip().lower()) if isinstance(word, str) else None
