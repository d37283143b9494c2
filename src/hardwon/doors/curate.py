"""Verbs by which memories are looked after: other words, relations, verdicts, feedback."""

from __future__ import annotations

import sys

from hardwon.doors import render, shapes
from hardwon.doors.handle import NOTHING_FOUND, Answer, anchors, snippet, words, written
from hardwon.errors import InvalidInput
from hardwon.types import LINKS, Revision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from hardwon.doors.handle import Call
    from hardwon.types import Memory, Receipt


def revise(call: Call) -> Answer:
    """Other words for a memory."""
    request = call.request
    given = request.given
    ages = request.number("expires", 0)
    revision = Revision(
        text=words(request.text("words"), "words") if request.text("words") else None,
        detail=request.text("detail") if "detail" in given else None,
        because=request.text("because") if "because" in given else None,
        rejected=request.texts("rejected") if "rejected" in given else None,
        tags=request.texts("tag") if "tag" in given else None,
        code=snippet(request, "words") if "code" in given else None,
        anchors=anchors(request) if "file" in given or "symbol" in given else None,
        expires_at=call.engine.clock() + ages * 1000 if ages else None,
    )
    return written(call.engine.revise(request.text("id"), revision, call.scope))


def diff(call: Call) -> Answer:
    """Two versions beside each other."""
    request = call.request
    older, newer = (request.number(name, 0) or None for name in ("from", "to"))
    found = call.engine.diff(request.text("id"), older, newer, call.scope)
    data = {
        "id": found.memory.id, "number": found.memory.number, "from": found.older, "to": found.newer,
        "fields": [dict(vars(item)) for item in found.changes],
    }  # fmt: skip
    return Answer(render.differences(found, call.paint), data)


def link(call: Call) -> Answer:
    """How one memory stands to another."""
    request = call.request
    kinds = [kind for kind in LINKS if request.flag(kind)]
    if len(kinds) != 1:
        how = "one of " + ", ".join(f"--{kind}" for kind in LINKS)
        raise InvalidInput(f"`link` needs {how}", field="kind", remedy="hardwon link 14 12 --replaces")
    return written(call.engine.link(request.text("id"), request.text("other"), kinds[0], call.scope), request.text("id"))


def approve(call: Call) -> Answer:
    """A person's yes, asked for at the terminal for each."""
    return _verdicts(call, "approve", call.engine.approve, asked=True)


def reject(call: Call) -> Answer:
    """A person's no."""
    return _verdicts(call, "reject", call.engine.reject, asked=not call.request.flag("yes"))


def _verdicts(call: Call, verb: str, give: Callable[..., Receipt], *, asked: bool) -> Answer:
    if call.scope.origin.who != "person" or (asked and not sys.stdin.isatty()):
        raise InvalidInput(
            f"only a person at a terminal can {verb}",
            field="who",
            remedy=f"ask them to run `hardwon {verb} …` in a terminal of their own",
        )
    memories = [call.engine.show(reference, call.scope)[0] for reference in call.request.texts("id")]
    done = [(give(memory.id, call.scope), memory) for memory in memories if not asked or _yes(call, verb, memory)]
    receipts = [receipt for receipt, _ in done]
    left = len(memories) - len(receipts)
    lines = [render.write_receipt(receipt, memory.called) for receipt, memory in done]
    text = "\n".join(lines) or f"nothing was {verb.removesuffix('e')}ed"
    data: dict[str, Any] = {"done": [shapes.receipt(receipt) for receipt in receipts], "left": left}
    return Answer(text, data, 0 if receipts else 1)


def _yes(call: Call, verb: str, memory: Memory) -> bool:
    """The memory in full, and a yes: nobody shall confirm what they have not seen."""
    from hardwon.doors.shown import shown

    print(shown(render.memory_page(memory, [], [], call.paint), call.paint.on), file=sys.stderr)
    print(f"{verb}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def review(call: Call) -> Answer:
    """What waits for a person."""
    found = call.engine.review(call.scope, min(call.request.number("limit", 20), 200))
    data = {
        "waiting": [
            {
                "memory": shapes.memory(item.memory),
                "doubt": dict(item.doubt),
                "similar": [
                    {"id": other.id, "number": other.number, "text": other.text, "share": share} for other, share in item.similar
                ],
            }
            for item in found
        ]
    }
    code = NOTHING_FOUND if call.request.flag("exit-code") and not found else 0
    return Answer(render.proposals(found, call.paint) if found else "nothing waits for you", data, code)


def useful(call: Call) -> Answer:
    """It helped."""
    return _feedback(call, "useful")


def useless(call: Call) -> Answer:
    """It did not."""
    return _feedback(call, "useless")


def _feedback(call: Call, word: Literal["useful", "useless"]) -> Answer:
    reference = call.request.text("id")
    return written(call.engine.feedback(reference, word, call.scope), reference)
