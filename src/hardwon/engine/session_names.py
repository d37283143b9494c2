"""What sessions, their agents and their calls are known again by, as it may be kept: most of their ids look like secrets. Quick to load."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.event import Event

_LONGEST = 300  # characters of a summary's name
_LONGEST_SESSION = 200


def named(event: Event) -> Event:
    """The event with names of its session, its agent and its call that may be kept: whatever is noted of it is noted under these."""
    told = {
        "session": identifier(event.session),
        "agent": event.agent and key(event.agent),
        "call": event.call and key(event.call),
    }
    changed = {name: value for name, value in told.items() if value != getattr(event, name)}
    renamed: Event = event.replace(**changed) if changed else event
    return renamed


def identifier(name: str) -> str:
    """The name of a session, which people are told: its digest where it looks like a secret, for two that are different have to stay so."""
    if _is_of_digits(name):
        return name
    from hardwon.intake.redact import redact  # not loaded for the names that most clients give

    plain = len(name) <= _LONGEST_SESSION and name.isprintable() and not redact(name)[1]
    return name if plain else key(name)


def key(name: str) -> str:
    """What an agent, a turn or a call is known again by, which nobody is told: not looked at for secrets, which takes longer. The same for
    a key."""
    if _is_of_digits(name):
        return name
    from hardwon.digest import blake2b

    return blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _is_of_digits(name: str) -> bool:
    return len(name) <= 64 and not name.strip("0123456789abcdef-")


def summary_name(client: str, session: str) -> str:
    """What the summary of a session is known again by, whether hooks told of the session or its transcript does."""
    name = f"session:{client}/{session}"
    return "".join(char if char.isprintable() else "?" for char in name)[:_LONGEST]
