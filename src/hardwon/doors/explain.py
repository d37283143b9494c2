"""The verb ``explain``: the decisions behind a place, as a page and as JSON."""

from __future__ import annotations

from hardwon.doors import places, render, shapes
from hardwon.doors.handle import NOTHING_FOUND, Answer
from hardwon.search.pack import day, head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.engine.explain import Explained, Explanation

_BODY_LINES = 6
_ROLE = {"lines": "made", "earlier": "before that", "symbol": "around it"}


def explain(call: Call) -> Answer:
    """The decisions behind a place."""
    request = call.request
    found = places.explained(call.engine, request.text("place"), call.scope, request.number("budget", 1500))
    code = NOTHING_FOUND if request.flag("exit-code") and not (found.changes or found.memories) else 0
    return Answer(page(found, call.paint), shape(found) if request.flag("json") else None, code, found.told.mode.degraded)


def page(found: Explanation, paint: render.Paint) -> str:
    """What people read."""
    where = found.path if not found.first else f"{found.path}:{_range(found)}"
    lines = [paint("bold", where) + (f"  {found.symbol}" if found.symbol else "")]
    if found.uncommitted:
        lines.append(paint("yellow", f"  {render.plural(found.uncommitted, 'line is', 'lines are')} not committed yet"))
    for one in found.changes:
        lines += ["", *_change(one, found.path, paint)]
    if found.left_out:
        lines += ["", paint("dim", f"  and {render.plural(found.left_out, 'commit', 'commits')} with fewer lines")]
    if found.memories:
        lines += ["", f"  {paint('dim', 'recorded about it:')}"]
    for hit in found.memories:
        memory = hit.memory
        lines.append(f"    {paint('bold', memory.called)}  {memory.text}")
        lines.append(paint("dim", f"      {head(memory)}"))
        lines += [f"      because: {memory.because}"] if memory.because else []
        lines += [f"      rejected: {'; '.join(memory.rejected)}"] if memory.rejected else []
    return "\n".join(lines)


def _range(found: Explanation) -> str:
    return f"{found.first}" if found.first == found.last else f"{found.first}-{found.last}"


def _change(one: Explained, here: str, paint: render.Paint) -> list[str]:
    commit, memory = one.commit, one.memory
    count = f", {render.plural(one.count, 'line', 'lines')}" if one.count else ""
    request = f" (#{one.pull_request})" if one.pull_request and f"#{one.pull_request}" not in commit.subject else ""
    subject = commit.subject or ("" if memory is None else "(forgotten)" if memory.status == "forgotten" else render.ERASED)
    lines = [f"  {paint('bold', commit.sha[:10])}  {subject}{request}"]
    facts = [_ROLE[one.role] + count, day(commit.at), commit.author, f"as {one.path}" if one.path not in ("", here) else ""]
    facts += ["a shallow clone ends here: it may be older"] if one.boundary else []
    facts += ["not in the memory, read from git"] if memory is None else []
    lines.append(paint("dim", "      " + " · ".join(filter(None, facts))))
    body = memory.detail if memory is not None else commit.body
    told = [line for line in body.splitlines() if line.strip()]
    lines += [f"      {line}" for line in told[:_BODY_LINES]] + ["      …"] * (len(told) > _BODY_LINES)
    if memory is not None and memory.outcome == "failed":
        lines.append("      " + paint("red", f"taken back: {memory.because}" if memory.because else "taken back"))
    if memory is not None:
        lines += [f"      {render.relation(link, other, memory.id, paint)}" for link, other in one.links]
    return lines


def shape(found: Explanation) -> dict[str, Any]:
    """What programs read."""
    return {
        "place": {
            "path": found.path, "first": found.first, "last": found.last, "symbol": found.symbol, "uncommitted": found.uncommitted,
        },
        "changes": [_shape(one) for one in found.changes],
        "left_out": found.left_out,
        "memories": [shapes.hit(one) for one in found.memories],
        "block": found.told.block,
        "tokens": found.told.tokens,
        "mode": shapes.mode(found.told.mode),
    }  # fmt: skip


def _shape(one: Explained) -> dict[str, Any]:
    commit = one.commit
    return {
        "commit": commit.sha,
        "subject": commit.subject,
        "body": commit.body if one.memory is None else one.memory.detail,
        "author": commit.author,
        "created_at": shapes.moment(commit.at),
        "role": one.role,
        "lines": one.count,
        "path": one.path,
        "pull_request": one.pull_request,
        "boundary": one.boundary,
        "memory": shapes.memory(one.memory) if one.memory is not None else None,
        "links": [shapes.link(*linked) for linked in one.links],
    }
