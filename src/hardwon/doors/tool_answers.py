"""What each tool of the MCP door does and says: the verb's own handler, or the engine, and an answer that an agent can afford.

A client shows a model either the text of an answer or its structured form, hardly ever both, so that each of them says everything; the two
together stay within ``MOST`` tokens.
"""

from __future__ import annotations

from hardwon.doors import handle
from hardwon.doors.handle import Call
from hardwon.errors import InvalidInput
from hardwon.types import Block, Filter, Query, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hardwon.types import Draft, Hit, Memory, Receipt

# Tokens of an answer, its text and its structured form together; and of the block or page that both of them hold.
MOST = 1_500
_BLOCK = 660
_NO_BUDGET = 1_000_000
_MOST_HITS, _HITS = 20, 10
# Characters of a memory's fields in a list; `show` tells the rest.
_TEXT, _REST = 320, 200
_MOST_FINDINGS = 8
_LOG = 2_000_000


class Said(Value):
    """An answer: for who reads, and for programs. ``failed``: nothing was done, and ``text`` says why."""

    text: str
    data: Any
    failed: bool = False


class ToolCall(Call):
    """A call of a tool. What it records is looked at by both layers of secret rules: the process lives long, so that the second one is
    loaded once, at the first record (half a second)."""

    def record(self, draft: Draft) -> Receipt:
        """Keep a memory, without what either layer takes for a secret, and without what we said ourselves."""
        from hardwon.capture.ours import of_draft
        from hardwon.engine.record import left_out

        kept = of_draft(draft, meant=True)
        clean, count = self.engine.bulk.redact_draft(kept)
        receipt = super().record(clean)
        told: Receipt = receipt.replace(redacted=receipt.redacted + count)
        return told if kept == draft else left_out(told)

    @property
    def degraded(self) -> list[str]:
        """What did not take part in looking for secrets."""
        return [self.engine.bulk.degraded] if self.engine.bulk.degraded else []


def tokens(text: str, data: Any) -> int:
    """The estimated size of both forms of an answer."""
    import json

    from hardwon.search.pack import tokens as estimate

    return estimate(text) + estimate(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


# Reading


def recall(call: ToolCall) -> Said:
    """Ranked memories, in short."""
    request = call.request
    query = Query(
        text=request.text("task"), file=request.text("file"), symbol=request.text("symbol"), where=handle.narrowed(call),
        k=min(request.number("k", _HITS), _MOST_HITS), budget=_NO_BUDGET,
    )  # fmt: skip
    log = request.text("error")
    if not (log or query.text.strip() or query.file or query.symbol or query.where != Filter()):
        raise InvalidInput(
            "`recall` needs a task", field="task", remedy="say what you are about to do, or name a file, symbol or kind"
        )
    engine = call.engine
    answer = engine.recall_failure(query, log[-_LOG:], call.scope) if log else engine.recall(query, call.scope)
    return listed(answer, "nothing is remembered that fits")


def before(call: ToolCall) -> Said:
    """The lessons of a place or a change, in short."""
    from hardwon.doors import places

    request = call.request
    answer = places.edited(
        call.engine,
        request.text("file"),
        request.text("symbol"),
        request.text("lines"),
        request.text("diff"),
        call.scope,
        _NO_BUDGET,
    )
    return listed(answer, "no lessons about this")


def listed(answer: Block, nothing: str) -> Said:
    """As many hits as fit, each in short; ``nothing`` is what an empty answer says."""
    from hardwon.search.pack import pack

    hits = answer.hits
    while True:
        block = pack(hits, _BLOCK, answer.mode, _in_short)
        left_out = len(answer.hits) - len(block.hits) + answer.left_out
        said = _listed(block, left_out, nothing)
        if tokens(said.text, said.data) <= MOST or not hits:
            return said
        hits = hits[: len(block.hits) - 1]


def _listed(block: Block, left_out: int, nothing: str) -> Said:
    degraded = [line[:200] for line in block.mode.degraded[:4]]
    more = f"{left_out} more had no room: ask more narrowly" if left_out else ""
    lines = [block.block or ("" if block.hits or left_out else nothing), more, *(f"note: {line}" for line in degraded)]
    data = {"block": block.block, "hits": [_row(hit) for hit in block.hits], "left_out": left_out, "degraded": degraded}
    return Said("\n".join(filter(None, lines)), data)


def _in_short(memory: Memory) -> str:
    from hardwon.search.pack import describe

    short: Memory = memory.replace(
        text=_cut(memory.text, _TEXT), because=_cut(memory.because, _REST), detail=_cut(memory.detail, _REST),
        rejected=(_cut("; ".join(memory.rejected), _REST),) if memory.rejected else (),
    )  # fmt: skip
    return describe(short)


def _cut(text: str, most: int) -> str:
    """The beginning of a text in one line, of at most so many bytes."""
    from hardwon.search.pack import folded

    flat = folded(text[: 2 * most])
    if len(text) <= most and len(flat.encode()) <= most:
        return flat
    return flat.encode()[: most - 3].decode("utf-8", "ignore").rstrip() + "…"


def _row(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    found: dict[str, Any] = {"id": memory.called, "kind": memory.kind, "score": round(hit.score, 2)}
    return found | ({"outcome": memory.outcome} if memory.outcome else {})


def show(call: ToolCall) -> Said:
    """One memory, a part of it where it is long."""
    from hardwon.doors.evidence import reasons
    from hardwon.doors.render import Paint, memory_page

    memory, occurrences, links = call.engine.show(call.request.text("id"), call.scope)
    why = reasons(memory, call.engine.history(memory.id, call.scope)[2])
    page = memory_page(memory, occurrences, links, Paint(False), why)
    begin = call.request.number("start", 0)
    if begin >= len(page):
        raise InvalidInput("it ends before that", field="start", remedy=f"give less than {len(page)}, or leave it out")
    size = 4 * _BLOCK
    while True:
        part, goes_on = _part(page, begin, size)
        shown = fenced(part)
        text = f"{shown}\ngoes on: call `show` with start={goes_on}" if goes_on else shown
        data = {"id": memory.called, "page": shown, "status": memory.status, "trust": memory.trust, "next": goes_on}
        if tokens(text, data) <= MOST:
            return Said(text, data)
        size = size * 4 // 5


def _part(page: str, begin: int, size: int) -> tuple[str, int | None]:
    """At most ``size`` bytes from there on, to the end of a line where one is near; and where the next part begins."""
    part = page[begin : begin + size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    if begin + len(part) >= len(page):
        return part, None
    line = part.rfind("\n")
    if line > len(part) // 2:
        part = part[: line + 1]
    return part, begin + len(part)


def fenced(text: str) -> str:
    """A text as data, which cannot close the fence."""
    from hardwon.search.pack import CLOSING, OPENING, TAG

    inside = text.replace(f"</{TAG}", f"‹/{TAG}").replace(f"<{TAG}", f"‹{TAG}").rstrip("\n")
    return f"{OPENING}\n{inside}\n{CLOSING}"


def status(call: ToolCall) -> Said:
    """Which memory this is, and whether it is well."""
    from hardwon.doors.condition import status as condition

    told = condition(call).data
    findings = [
        {name: str(item.get(name) or "")[:160] for name in ("level", "what", "remedy")}
        for item in told["findings"][:_MOST_FINDINGS]
    ]
    counts = {name: count for name, count in told["memories"].items() if count}
    data = {
        "ok": told["ok"], "name": told["name"], "root": told["root"], "branch": told["branch"], "memories": counts,
        "findings": findings, "degraded": [line[:160] for line in told["mode"]["degraded"]],
    }  # fmt: skip
    lines = [
        f"{told['name']} ({told['root']}, {told['branch'] or 'no branch'}): {'well' if told['ok'] else 'something is wrong'}",
        ", ".join(f"{name} {count:,}" for name, count in counts.items()),
        *(f"{item['level']}: {item['what']}; {item['remedy']}" for item in findings),
        *(f"not here: {line}" for line in data["degraded"]),
    ]
    return Said("\n".join(filter(None, lines)), data)


# Writing


def remember(call: ToolCall) -> Said:
    """Keep a memory."""
    return _written(call, handle.written(call.record(handle.drafted(call, call.request.text("text"), call.request.text("code")))))


def outcome(call: ToolCall) -> Said:
    """A lesson from how something ended."""
    failed = call.request.text("outcome") == "failed"
    if failed and not call.request.text("lesson").strip():
        raise InvalidInput("a failure needs a lesson", field="lesson", remedy="say in one line what went wrong")
    return _written(call, handle.fail(call) if failed else handle.ok(call))


def _written(call: ToolCall, answer: handle.Answer) -> Said:
    lines = [answer.text, *answer.degraded, *(f"note: {line}" for line in call.degraded)]
    return Said("\n".join(lines), answer.data, failed=bool(answer.exit))


def forget(call: ToolCall) -> Said:
    """Put one memory out of sight."""
    given = {"id": [call.request.text("id")], "yes": True}
    call.request = call.request.replace(given=given)
    answer = handle.forget(call)
    return Said(answer.text, answer.data, failed=not answer.data["forgotten"])


TELLS: dict[str, Callable[[ToolCall], Said]] = {
    "recall": recall, "before": before, "outcome": outcome, "remember": remember, "show": show, "forget": forget, "status": status,
}  # fmt: skip
