"""Values as JSON, in the stable shapes that other programs rely on (docs/json.md). More keys may follow, none may go."""

from __future__ import annotations

from time import gmtime, strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.engine.code_index import IndexState
    from hardwon.engine.secrets import Held
    from hardwon.types import (
        Anchor,
        Block,
        Event,
        Hit,
        Impact,
        Link,
        Memory,
        Mode,
        Occurrence,
        Receipt,
        Risk,
        SymbolReport,
        Version,
    )


_MOST_FILES = 50


def moment(at: int | None) -> str | None:
    """RFC 3339 in UTC, to the millisecond."""
    if at is None:
        return None
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(at // 1000))}.{at % 1000:03d}Z"


def receipt(value: Receipt) -> dict[str, Any]:
    """What a write did."""
    return {
        "id": value.id, "number": value.number, "action": value.action, "redacted": value.redacted, "seq": value.seq, "why": value.why,
        "missing": [{"path": path, "symbol": symbol} for path, symbol in value.missing],
    }  # fmt: skip


def anchor(value: Anchor) -> dict[str, Any]:
    """The code that a memory speaks of, and what became of it: ``now`` where it moved, ``changed`` by what and when."""
    found: dict[str, Any] = {"path": value.path, "symbol": value.symbol, "commit": value.commit, "state": value.state}
    if value.now_path or value.now_symbol:
        found["now"] = {"path": value.now_path, "symbol": value.now_symbol}
    if value.changed_by or value.changed_at:
        found["changed"] = {"commit": value.changed_by, "at": moment(value.changed_at)}
    return found


def memory(value: Memory) -> dict[str, Any]:
    """A memory."""
    origin = value.origin
    return {
        "id": value.id,
        "number": value.number,
        "kind": value.kind,
        "outcome": value.outcome,
        "text": value.text,
        "detail": value.detail,
        "code": value.code,
        "because": value.because,
        "rejected": list(value.rejected),
        "anchors": [anchor(one) for one in value.anchors],
        "tags": list(value.tags),
        "status": value.status,
        "erased": value.erased,
        "trust": value.trust,
        "visibility": value.visibility,
        "origin": {"who": origin.who, "client": origin.client, "session": origin.session, "tool": origin.tool},
        "author": value.author,
        "branch": value.branch,
        "commit": value.commit,
        "seen": value.seen,
        "version": value.version,
        "created_at": moment(value.created_at),
        "updated_at": moment(value.updated_at),
        "valid_from": moment(value.valid_from),
        "valid_until": moment(value.valid_until),
        "expires_at": moment(value.expires_at),
        "replaced_by": value.replaced_by,
        "metadata": metadata(value.metadata),
        "useful": value.useful,
        "useless": value.useless,
    }


def metadata(text: str) -> Any:
    """The caller's own data as the object that it is; {} where there is none."""
    if not text:
        return {}
    import json

    return json.loads(text)


def block(value: Block) -> dict[str, Any]:
    """Hits and the block made of them."""
    return {
        "hits": [hit(one) for one in value.hits],
        "block": value.block,
        "tokens": value.tokens,
        "left_out": value.left_out,
        "mode": mode(value.mode),
    }


def hit(value: Hit) -> dict[str, Any]:
    """A memory in an answer."""
    return {
        "memory": memory(value.memory),
        "score": round(value.score, 4),
        "contradicted_by": list(value.contradicted),
        "why": [{"signal": signal.signal, "points": round(signal.points, 3)} for signal in value.why],
    }


def link(value: Link, other: Memory | None) -> dict[str, Any]:
    """A relation, and what its other end says."""
    return {
        "kind": value.kind, "from": value.source, "to": value.target, "reference": value.reference,
        "text": other.text if other else None,
    }  # fmt: skip


def mode(value: Mode) -> dict[str, Any]:
    """What took part, and what could not."""
    return {"lexical": value.lexical, "vectors": value.vectors, "degraded": list(value.degraded)}


def code_index(value: IndexState | None) -> dict[str, Any]:
    """How far the code is indexed; {} outside any working tree."""
    if value is None:
        return {}
    return {
        "files": value.files, "commit": value.commit, "indexed_at": moment(value.at), "bytes": value.bytes, "behind": value.behind,
    }  # fmt: skip


def risk(value: Risk) -> dict[str, Any]:
    """A symbol's risk."""
    return {
        "symbol": value.symbol,
        "file": value.file,
        "risk_score": value.score,
        "level": value.level,
        "fail_count": value.fails,
        "success_count": value.successes,
        "last_fail": moment(value.last_fail),
        "last_success": moment(value.last_success),
        "impact": impact(value.impact),
    }


def impact(value: Impact | None) -> dict[str, Any]:
    """What depends on a symbol; empty where that is not known. Of its files the nearest are named."""
    if value is None:
        return {}
    return {
        "direct": value.direct,
        "dependents": value.dependents,
        "depth": value.depth,
        "file_count": len(value.files),
        "files": list(value.files[:_MOST_FILES]),
        "certain": value.certain,
        "possible": value.possible,
        "truncated": value.truncated,
    }


def symbol(report: SymbolReport) -> dict[str, Any]:
    """A symbol with its risk and lessons."""
    return risk(report.risk) | {
        "experiences": [
            {
                "id": item.id,
                "number": item.number,
                "type": "fail" if item.outcome == "failed" else "success",
                "lesson": item.text,
                "detail": item.detail,
                "status": item.status,
                "anchors": [anchor(one) for one in item.anchors],
                "seen": item.seen,
                "created_at": moment(item.created_at),
                "updated_at": moment(item.updated_at),
            }
            for item in report.memories
        ],
    }


def occurrence(value: Occurrence) -> dict[str, Any]:
    """One time that a memory happened."""
    return {
        "at": moment(value.at), "outcome": value.outcome, "status": value.status, "who": value.origin.who, "client": value.origin.client,
        "session": value.origin.session, "branch": value.branch, "commit": value.commit,
    }  # fmt: skip


def version(value: Version) -> dict[str, Any]:
    """One state of a memory's content."""
    content = value.content
    return {
        "version": value.version, "recorded_at": moment(value.recorded_at), "superseded_at": moment(value.superseded_at),
        "kind": content.kind, "outcome": content.outcome, "text": content.text, "detail": content.detail, "code": content.code,
        "because": content.because, "rejected": list(content.rejected), "tags": list(content.tags),
    }  # fmt: skip


def event(value: Event) -> dict[str, Any]:
    """One entry of the journal; of a step of trust the evidence beside the words."""
    moved = value.payload
    evidence: dict[str, Any] = {}
    if value.action == "trust":
        from hardwon.upkeep.evidence import split

        moved, evidence = split(value.payload)
    return {
        "seq": value.seq, "at": moment(value.at), "action": value.action, "version": value.version,
        "payload": moved, "evidence": evidence,
        "who": value.origin.who, "client": value.origin.client, "session": value.origin.session, "hash": value.hash.hex(),
    }  # fmt: skip


def held(value: Held) -> dict[str, Any]:
    """A memory that holds secrets, and where."""
    return {
        "id": value.memory, "number": value.number, "commit": value.commit,
        "found": [{"field": one.field, "kind": one.kind, "count": one.count, "version": one.version} for one in value.found],
    }  # fmt: skip
