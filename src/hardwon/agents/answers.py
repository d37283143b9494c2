"""What a hook says, and the form in which a client is told."""

from __future__ import annotations

from hardwon.types import Value


class Say(Value):
    """``context`` for the agent, "" for silence; ``refusal``: why the call that is about to run is stopped, "" to let it run."""

    context: str = ""
    refusal: str = ""


class Answer(Value):
    """What the process prints on its two streams, and its exit code: 0, but for a client whose only way to stop a call is another."""

    stdout: str = ""
    stderr: str = ""
    exit: int = 0


SILENCE = Answer()


def written(value: dict[str, object]) -> Answer:
    """An object as the one line on standard output."""
    from hardwon.quick_json import dumps

    return Answer(dumps(value))
