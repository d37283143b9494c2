"""``query`` and ``stats``: what failed and what worked, symbol by symbol."""

from __future__ import annotations

from hardwon.doors import render, shapes
from hardwon.doors.handle import NOTHING_FOUND, Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call


def query(call: Call) -> Answer:
    """Lessons and risk."""
    request = call.request
    symbol = request.text("symbol")
    top = None if symbol else min(request.number("top", 10), 1000)
    reports = call.engine.query(symbol, request.text("file"), call.scope, everything=request.flag("all"), top=top)
    if request.flag("inject"):
        from hardwon.upkeep.risk import INJECT_AT

        reports = [report for report in reports if report.risk.score >= INJECT_AT]
    data: dict[str, Any] = {"symbols": [shapes.symbol(report) for report in reports]}
    code = NOTHING_FOUND if request.flag("exit-code") and not reports else 0
    shaky = call.engine.flaky_through(symbol) if symbol and not request.flag("inject") else []
    if shaky:
        data["flaky"] = shaky
    if request.flag("inject"):
        text = "\n\n".join(map(render.injection, reports))
        return Answer(text, data | {"block": text}, code)
    told = "\nflaky tests that failed in it: " + ", ".join(shaky) if shaky else ""
    if not reports:
        return Answer("nothing is recorded" + (f" for {symbol}" if symbol else " yet") + told, data, code)
    text = render.symbols(reports, call.paint) if symbol else render.risky([report.risk for report in reports], call.paint)
    return Answer(text + told, data, code)


def stats(call: Call) -> Answer:
    """A summary."""
    request = call.request
    symbol = request.text("symbol")
    if request.flag("flaky"):
        from hardwon.doors.outcomes import flaky

        return flaky(call)
    if symbol:
        return query(call)
    risks = call.engine.risks(request.text("file"), call.scope)
    figures = call.engine.figures()
    fails, successes = sum(risk.fails for risk in risks), sum(risk.successes for risk in risks)
    top = risks[: min(request.number("top", 10), 1000)]
    data = {
        "symbols": len(risks), "fail_count": fails, "success_count": successes, "memories": figures,
        "riskiest": [shapes.risk(risk) for risk in top],
    }  # fmt: skip
    rows = [("symbols with lessons", len(risks)), ("failures", fails), ("successes", successes), *figures.items()]
    text = render.table(rows, call.paint)
    return Answer(f"{text}\n\n  riskiest:\n{render.risky(top, call.paint)}" if top else text, data)
