"""One function a verb: a request into the engine's words, its answer into text and JSON. Decides nothing."""

from __future__ import annotations

from hardwon.doors import render, shapes
from hardwon.errors import InvalidInput
from hardwon.types import Anchor, Draft, Filter, Query, Scope, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.parse import Request
    from hardwon.engine.core import Engine
    from hardwon.settings import Settings
    from hardwon.types import Block, Receipt, Status

NOTHING_FOUND = 3
_NO_BUDGET = 1_000_000


class Answer(Value):
    """``text`` for people (without a last newline; "" prints nothing), ``data`` for --json, ``exit`` the exit code.

    ``degraded``: what could not take part, for people on standard error, so that a block stays one; ``data`` has its own. ``quiet``: no
    text means that there is nothing to say, not that nothing was found.
    """

    text: str
    data: Any
    exit: int = 0
    degraded: tuple[str, ...] = ()
    quiet: bool = False


class Call:
    """What a handler gets: the request, who asks, and the engine, opened when first used."""

    def __init__(self, request: Request, settings: Settings, scope: Scope, paint: render.Paint, cwd: str) -> None:
        self.request = request
        self.settings = settings
        self.scope = scope
        self.paint = paint
        self.cwd = cwd
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The memory that the request is about; NoStore names ``init``."""
        if self._engine is None:
            from hardwon.engine.opening import open_engine
            from hardwon.settings import key_source

            settings, project = self.settings, self.request.text("project")
            self._engine = open_engine(
                self.cwd, settings.home, project, wait=settings.wait, cache=settings.cache, keys=key_source()
            )
        return self._engine

    def record(self, draft: Draft) -> Receipt:
        """Keep a memory on behalf of who asks."""
        return self.engine.record(draft, self.scope)

    def adopt(self, engine: Engine) -> None:
        """Work on with an engine that the verb made itself."""
        self._engine = engine

    def close(self) -> None:
        """Let go of the store."""
        if self._engine is not None:
            self._engine.close()

    def can_ask(self) -> bool:
        """Whether there is a person at a terminal."""
        import sys

        return self.scope.origin.who == "person" and sys.stdin.isatty()

    def confirmed(self, question: str, look: str = "with --dry-run") -> bool:
        """Whether a destructive call may go on: ``--yes``, or a person's yes at the terminal. ``look``: how to see it first."""
        if self.request.flag("yes"):
            return True
        if not self.can_ask():
            raise InvalidInput(
                f"not confirmed: {question}",
                field="yes",
                remedy=f"nothing was done; repeat it with --yes, or look first {look}",
            )
        return agreed(question)


def agreed(question: str) -> bool:
    """A person's yes at the terminal; anything else, and the end of the input, is a no."""
    from hardwon.doors.shown import shown

    try:
        return input(f"{shown(question)} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


# Writing


def record(call: Call) -> Answer:
    """Keep a memory."""
    code = snippet(call.request, "text")
    return written(call.record(drafted(call, words(call.request.text("text"), "text"), code)))


def drafted(call: Call, text: str, code: str) -> Draft:
    """The memory of that text and snippet that the options of ``record`` describe."""
    request = call.request
    ages = request.number("expires", 0)
    return Draft(
        text=text,
        kind=request.text("kind") or "fact",  # type: ignore[arg-type]  # the table's choices
        outcome=request.given.get("outcome"),  # type: ignore[arg-type]
        detail=request.text("detail"),
        code=code,
        because=request.text("because"),
        rejected=request.texts("rejected"),
        anchors=anchors(request),
        tags=request.texts("tag"),
        visibility="private" if request.flag("private") else "shared",
        expires_at=call.engine.clock() + ages * 1000 if ages else None,
        session=request.text("session"),
    )


def fail(call: Call) -> Answer:
    """A lesson from a failure."""
    return _lesson(call, "failed")


def ok(call: Call) -> Answer:
    """A lesson from a success."""
    return _lesson(call, "worked")


def _lesson(call: Call, outcome: Any) -> Answer:
    from hardwon.intake.shape import LIMITS, clean_text

    request = call.request
    symbol = clean_text(request.text("symbol"), "symbol", LIMITS["symbol"])
    if not symbol:
        raise InvalidInput("SYMBOL holds nothing that can be seen", field="symbol", remedy="name a function, method or class")
    draft = Draft(
        text=request.text("lesson") or "worked", kind="lesson", outcome=outcome, detail=request.text("detail"),
        anchors=(Anchor(request.text("file"), symbol),), session=request.text("session"),
    )  # fmt: skip
    receipt = call.record(draft)
    if receipt.action == "refused":
        return written(receipt)
    if receipt.action == "spooled":
        answer = written(receipt)
        spooled: Answer = answer.replace(data=answer.data | {"risk_score": None, "level": None})
        return spooled
    kept = call.engine.risk_of(receipt.id)
    text = render.lesson_receipt(receipt, kept.risk.symbol, kept.memories[0].text, kept.risk, outcome == "failed")
    return Answer(text, shapes.receipt(receipt) | {"risk_score": kept.risk.score, "level": kept.risk.level})


def anchors(request: Request) -> tuple[Anchor, ...]:
    """The place that --file and --symbol name."""
    path, symbol = request.text("file"), request.text("symbol")
    return (Anchor(path, symbol),) if path or symbol else ()


def resolve(call: Call) -> Answer:
    """A lesson that no longer applies."""
    return _status(call, "resolved")


def deactivate(call: Call) -> Answer:
    """A lesson that should not count."""
    return _status(call, "inactive")


def _status(call: Call, status: Status) -> Answer:
    reference = call.request.text("id")
    return written(call.engine.set_status(reference, status, call.scope), reference)


def undo(call: Call) -> Answer:
    """The last change, taken back."""
    receipts = call.engine.undo(call.request.text("id"), call.scope)
    if call.request.text("id"):
        return written(receipts[0], call.request.text("id"))
    data = {"undone": [shapes.receipt(receipt) for receipt in receipts]}
    return Answer("\n".join(map(render.write_receipt, receipts)), data)


def forget(call: Call) -> Answer:
    """Forget what matches, after a yes."""
    request, engine = call.request, call.engine
    older = request.number("older-than", 0)
    where = Filter(
        ids=tuple(engine.identify(reference) for reference in request.texts("id")),
        session=request.text("session"),
        client=request.text("source"),
        tags=request.texts("tag"),
        before=engine.clock() - older * 1000 if older else None,
    )
    if request.flag("erase") or "reason" in request.given:
        from hardwon.doors.erasure import erase

        return erase(call, where)
    found = engine.forget(where, call.scope, dry_run=True)
    count = len(found.ids)
    data = {"matched": count, "forgotten": 0, "ids": list(found.ids)}
    what = render.plural(count, "memory", "memories")
    named = render.named([engine.show(identifier, call.scope)[0] for identifier in found.ids[:10]], count)
    if request.flag("dry-run") or not count:
        return Answer(f"{what} would be forgotten\n{named}" if count else "nothing matches", data)
    if not call.confirmed(f"this forgets {what}\n{named}\nforget?"):
        return Answer("nothing was forgotten", data, 1)
    # What was shown, as far as it still matches: others may have come meanwhile that nobody has said yes to.
    done = engine.forget(where.replace(ids=found.ids), call.scope, dry_run=False)
    data = {"matched": count, "forgotten": len(done.ids), "ids": list(done.ids)}
    back = (
        "`hardwon undo` brings it back"
        if len(done.ids) == 1
        else "`hardwon undo` brings them back, `hardwon undo ID` one of them"
    )
    return Answer(f"forgot {render.plural(len(done.ids), 'memory', 'memories')}; {back}", data)


def written(receipt: Receipt, named: str = "") -> Answer:
    """What a write did, to a memory that the asker called ``named``; a refusal is a failure."""
    told = (f"not in the memory yet: {receipt.why}",) if receipt.action == "spooled" else ()
    text = render.write_receipt(receipt.replace(why="") if told else receipt, named)
    return Answer(text, shapes.receipt(receipt), 1 if receipt.action == "refused" else 0, told)


# Reading


def recall(call: Call) -> Answer:
    """Ranked memories."""
    request = call.request
    query = Query(
        text=words(request.text("task"), "task"),
        file=request.text("file"),
        symbol=request.text("symbol"),
        where=narrowed(call),
        vectors=request.flag("vectors"),
        all_branches=request.flag("all-branches"),
        k=min(request.number("k", 10), 100),
        # A list for a person is bounded by -k; the budget is for blocks.
        budget=request.number("budget", call.settings.budget if request.flag("block") or request.flag("json") else _NO_BUDGET),
    )
    log = request.text("error")
    if not (log or query.text.strip() or query.file or query.symbol or query.where != Filter()):
        raise InvalidInput(
            "`recall` needs a task, --file, --symbol, --error or a filter",
            field="task",
            remedy='hardwon recall "why do we retry?"',
        )
    if request.flag("unasked"):
        if log or not query.text.strip():
            raise InvalidInput(
                "--unasked needs a task, and takes no --error", field="unasked", remedy="give the words of the prompt"
            )
        answer = call.engine.recall_unasked(query, call.scope)
    elif log:
        from hardwon.doors import places

        answer = call.engine.recall_failure(query, places.log(request), call.scope)
    else:
        answer = call.engine.recall(query, call.scope)
    if request.flag("block"):
        return as_block(call, answer)
    return _found(call, render.hits(answer, call.paint, explain=request.flag("explain")), shapes.block, answer)


def narrowed(call: Call) -> Filter:
    """The filter that the options of a request make."""
    request = call.request
    return Filter(
        kinds=request.texts("kind"),  # type: ignore[arg-type]  # the table's choices, and so below
        outcomes=request.texts("outcome"),  # type: ignore[arg-type]
        statuses=request.texts("status"),  # type: ignore[arg-type]
        trusts=request.texts("trust"),  # type: ignore[arg-type]
        tags=tuple(map(str.lower, request.texts("tag"))),
        branches=request.texts("branch"),
        extensions=request.texts("ext"),
        paths=request.texts("path"),
        authors=request.texts("author"),
        since=_moment(call, "since"),
        before=_moment(call, "until"),
    )


def _moment(call: Call, name: str) -> int | None:
    """A time in milliseconds: a date as it is, an age (negative seconds) counted back from now."""
    seconds = call.request.number(name, 0)
    if not seconds:
        return None
    return call.engine.clock() + seconds * 1000 if seconds < 0 else seconds * 1000


def brief(call: Call) -> Answer:
    """The start of a session."""
    return as_block(call, call.engine.brief(call.scope, min(call.request.number("budget", 1500), 1500)))


def as_block(call: Call, answer: Block) -> Answer:
    """An answer of which the block is all that people get."""
    return _found(call, answer.block, shapes.block, answer)


def _found(call: Call, text: str, shape: Any, answer: Block) -> Answer:
    code = NOTHING_FOUND if call.request.flag("exit-code") and not answer.hits else 0
    return Answer(text, shape(answer) if call.request.flag("json") else None, code, answer.mode.degraded)


def show(call: Call) -> Answer:
    """One memory in full."""
    from hardwon.doors import evidence

    memory, occurrences, links = call.engine.show(call.request.text("id"), call.scope)
    data = shapes.memory(memory) | {
        "occurrences": [shapes.occurrence(item) for item in occurrences],
        "links": [shapes.link(*one) for one in links],
    }
    why = evidence.reasons(memory, call.engine.history(memory.id, call.scope)[2])
    return Answer(render.memory_page(memory, occurrences, links, call.paint, why), data)


def history(call: Call) -> Answer:
    """How a memory came to be what it is."""
    memory, versions, events = call.engine.history(call.request.text("id"), call.scope)
    data = {
        "id": memory.id, "number": memory.number,
        "versions": [shapes.version(item) for item in versions], "events": [shapes.event(item) for item in events],
    }  # fmt: skip
    return Answer(render.history_page(memory, versions, events, call.paint), data)


def status(call: Call) -> Answer:
    """Which memory, why, how large."""
    from hardwon.doors.condition import status as condition

    return condition(call)


def init(call: Call) -> Answer:
    """Make the memory and read history."""
    from hardwon.doors.condition import init as first

    return first(call)


def snippet(request: Request, beside: str) -> str:
    """The code that --code names; "" without one."""
    if not request.text("code"):
        return ""
    from hardwon.doors import inputs

    return inputs.snippet(request, beside)


def words(text: str, field: str) -> str:
    """A text, or what standard input holds for ``-``."""
    if text != "-":
        return text
    from hardwon.doors import inputs

    return inputs.read("-", field)
