"""Verbs that look after the store: checks, secrets that were stored before a rule knew them, vectors, space."""

from __future__ import annotations

from hardwon.doors import render, shapes
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.handle import Call
    from hardwon.engine.secrets import Held


def verify(call: Call) -> Answer:
    """A check of the store, or of what it should not hold."""
    if call.request.flag("secrets"):
        return _secrets(call)
    if call.request.flag("redact"):
        raise InvalidInput("--redact needs --secrets", field="redact", remedy="hardwon verify --secrets --redact")
    found = call.engine.verify()
    good = not any(item.level in ("error", "warning") for item in found)
    figures = call.engine.figures() if good else {}
    data = {"ok": good, "findings": [dict(vars(item)) for item in found], **figures}
    if not good:
        return Answer(render.findings(found, call.paint), data, 1)
    memories = render.plural(figures["memories"], "memory", "memories")
    well = f"all is well: {memories}, {render.plural(figures['events'], 'journal entry', 'journal entries')}"
    return Answer("\n".join([render.findings(found, call.paint), f"beside that {well}"]) if found else well, data)


def _secrets(call: Call) -> Answer:
    """Where secrets are stored; taken out for good after a yes."""
    engine, request = call.engine, call.request
    if request.flag("redact") and not (request.flag("yes") or call.can_ask()):
        raise InvalidInput(
            "there is nobody to ask", field="yes", remedy="repeat it with --yes, or look first without --redact"
        )  # before what takes minutes, not after
    with Bar("looking for secrets") as bar:
        held = engine.find_secrets(bar.step)
    degraded = [engine.bulk.degraded] if engine.bulk.degraded else []
    data = {"ok": not held, "secrets": [shapes.held(item) for item in held], "redacted": 0, "degraded": degraded}
    if not held:
        return Answer("\n".join(["no secret was found in what is stored", *degraded]), data)
    text = "\n".join([*map(_line, held[:50]), *(["  …"] if len(held) > 50 else []), *degraded])
    what = render.plural(len(held), "memory holds", "memories hold") + " what looks like a secret"
    if not request.flag("redact"):
        return Answer(f"{what}\n{text}\ntake them out for good: hardwon verify --secrets --redact", data, 1)
    question = f"{what}\n{text}\nThis rewrites them and erases their earlier versions; it cannot be undone. Go on?"
    if not call.confirmed(question, "without --redact"):
        return Answer("nothing was changed", data, 1)
    count = engine.take_out_secrets(call.scope)
    return Answer(f"took secrets out of {render.plural(count, 'memory', 'memories')}", {**data, "ok": True, "redacted": count})


def _line(item: Held) -> str:
    name = f"#{item.number}" if item.number is not None else item.commit[:10] or item.memory[:13]
    places = ", ".join(
        f"{one.field}{f' (version {one.version})' if one.version else ''}: {one.count} {one.kind}" for one in item.found[:6]
    )
    return f"  {name}  {places}"


def reembed(call: Call) -> Answer:
    """The vectors that are missing."""
    request = call.request
    limit = request.number("limit", 0) or None
    with Bar("embedding") as bar:
        report = call.engine.reembed(history=request.flag("history"), limit=limit, progress=bar.step)
    done = render.plural(report.embedded, "memory", "memories")
    lines = [f"embedded {done} with {report.model}"]
    if report.waiting:
        lines.append(f"{render.plural(report.waiting, 'note waits', 'notes wait')}: run it again")
    if report.waiting_history:
        what = render.plural(report.waiting_history, "commit or passage has", "commits and passages have")
        lines.append(f"{what} no vector: `hardwon reembed --history`")
    return Answer("\n".join(lines), dict(vars(report)))


def compact(call: Call) -> Answer:
    """The space of what is gone, given back."""
    with Bar("compacting") as bar:
        before, after = call.engine.compact(bar.step, full=call.request.flag("full"))
    return Answer(f"{before / 1e6:.1f} MB, now {after / 1e6:.1f} MB", {"before": before, "after": after})
