"""``forget --erase``: what goes for good, after a person's yes, and what of it is left where Hardwon does not reach."""

from __future__ import annotations

from hardwon.doors import render
from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.erase import Erasure

_SHOWN = 10


def erase(call: Call, where: Filter) -> Answer:
    """Erase what matches, and what says the same: exactly what was shown."""
    request, engine = call.request, call.engine
    if not request.flag("erase"):
        raise InvalidInput("--reason is for --erase", field="reason", remedy="hardwon forget ID --erase --reason CODE")
    reason: Any = request.text("reason") or "other"
    found = engine.erase(where, reason, call.scope, dry_run=True)
    what = render.plural(len(found.ids), "memory", "memories")
    if not found.ids:
        return Answer("nothing matches", _data(found, 0))
    shown = [engine.show(identifier, call.scope)[0] for identifier in found.ids[:_SHOWN]]
    also = f", {found.same} of them because {'it says' if found.same == 1 else 'they say'} the same" if found.same else ""
    named = render.named(shown, len(found.ids))
    if request.flag("dry-run"):
        return Answer("\n".join([f"{what} would be erased{also}", named, *_left(found, later=True)]), _data(found, 0))
    _only_person(call)
    question = f"this erases {what}{also}, for good: it cannot be undone\n{named}\nerase?"
    if not call.confirmed(question):
        return Answer("nothing was erased", _data(found, 0), 1)
    done = engine.erase(Filter(ids=found.ids), reason, call.scope, dry_run=False)
    text = "\n".join([f"erased {render.plural(len(done.ids), 'memory', 'memories')}", *_left(done)])
    return Answer(text, _data(done, len(done.ids)), 1 if done.failed or done.log else 0)


def _only_person(call: Call) -> None:
    """``--yes`` is no person: who started the command decides, before anybody is asked."""
    from hardwon.upkeep.erasure import check

    check("other", call.scope.origin.who)


def _data(found: Erasure, count: int) -> dict[str, Any]:
    return {
        "matched": len(found.ids), "forgotten": count, "erased": count, "ids": list(found.ids), "same": found.same,
        "still_in": {"files": list(found.files), "log": found.log, "git": found.derived}, "failed": found.failed,
    }  # fmt: skip


def _left(found: Erasure, *, later: bool = False) -> list[str]:
    """What holds it after that, a line each."""
    verb = "would still be" if later else "still"
    lines = [f"{verb} in {name}: delete that copy if you do not need it" for name in found.files]
    if found.derived:
        what = render.plural(found.derived, "of them comes", "of them come")
        lines.append(f"{what} from the repository: git has the text, and this does not change it")
    if found.log:
        lines.append(
            "still in the store's log, which a reader holds: end it, and the next write, or `hardwon compact`, takes it out"
        )
    if found.failed:
        lines.append(
            f"no memory shows it any more, but the file could not be written anew ({found.failed}): run `hardwon compact`"
        )
    return lines
