"""The four protocols that coding agents speak to a model: a request's own marks, and a reply as the client wants it.

A reply is a list of blocks: ``Say`` (text) and ``Call`` (of a tool, with the client's own name and arguments). Ids of calls are made by
the server, so that a recorded request shows which call a result belongs to. ``tokens`` is how long the request is said to have been:
clients shorten a conversation by that number.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Say:
    """Words of the model."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of a tool by the client's own name. ``free``: the arguments are one text rather than an object (Codex, ``apply_patch``);
    ``space``: the namespace that the client offered the tool in (Codex, tools of MCP servers)."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    free: str | None = None
    space: str = ""


Block = Say | Call


def event(data: dict[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def anthropic(blocks: list[Block], ids: list[str], model: str, tokens: int) -> Iterator[bytes]:
    """``POST /v1/messages`` with ``stream``."""
    usage = {"input_tokens": tokens, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": f"msg_{ids[0]}", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    yield event({"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}, "message_start")
    for index, (block, call) in enumerate(zip(blocks, ids, strict=True)):
        start: dict[str, Any]
        if isinstance(block, Say):
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block.text}
        else:
            start = {"type": "tool_use", "id": f"toolu_{call}", "name": block.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block.arguments)}
        yield event({"type": "content_block_start", "index": index, "content_block": start}, "content_block_start")
        yield event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    ended = "tool_use" if any(isinstance(block, Call) for block in blocks) else "end_turn"
    stop = {"stop_reason": ended, "stop_sequence": None}
    yield event({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def responses(blocks: list[Block], ids: list[str], model: str, tokens: int) -> Iterator[bytes]:
    """``POST /v1/responses`` with ``stream``."""
    answer = {"id": f"resp_{ids[0]}", "object": "response", "model": model, "status": "in_progress", "output": []}
    yield event({"type": "response.created", "response": answer}, "response.created")
    items: list[dict[str, Any]] = []
    for block, call in zip(blocks, ids, strict=True):
        if isinstance(block, Say):
            content = [{"type": "output_text", "text": block.text, "annotations": []}]
            items.append({"type": "message", "id": f"msg_{call}", "role": "assistant", "status": "completed", "content": content})
        elif block.free is not None:
            called = {"call_id": f"call_{call}", "name": block.name, "input": block.free, **_space(block)}
            items.append({"type": "custom_tool_call", "id": f"ctc_{call}", "status": "completed", **called})
        else:
            called = {"call_id": f"call_{call}", "name": block.name, "arguments": json.dumps(block.arguments), **_space(block)}
            items.append({"type": "function_call", "id": f"fc_{call}", "status": "completed", **called})
    for index, item in enumerate(items):
        yield event({"type": "response.output_item.done", "output_index": index, "item": item}, "response.output_item.done")
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10, **details}
    completed = {**answer, "status": "completed", "output": items, "usage": usage}
    yield event({"type": "response.completed", "response": completed}, "response.completed")


def _space(call: Call) -> dict[str, str]:
    return {"namespace": call.space} if call.space else {}


def gemini(blocks: list[Block], ids: list[str], model: str, tokens: int) -> Iterator[bytes]:
    """``POST /v1beta/models/M:streamGenerateContent?alt=sse``."""
    parts: list[dict[str, Any]] = []
    for block, call in zip(blocks, ids, strict=True):
        if isinstance(block, Say):
            parts.append({"text": block.text})
        else:
            parts.append({"functionCall": {"id": f"call_{call}", "name": block.name, "args": block.arguments}})
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    yield event({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": ids[0]})


def chat(blocks: list[Block], ids: list[str], model: str, tokens: int) -> Iterator[bytes]:
    """``POST /v1/chat/completions`` with ``stream``."""

    def chunk(delta: dict[str, Any], ended: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": ended}
        return event(
            {"id": f"chat_{ids[0]}", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [choice], **more}
        )

    said = "".join(block.text for block in blocks if isinstance(block, Say))
    yield chunk({"role": "assistant", "content": said})
    calls = [(block, call) for block, call in zip(blocks, ids, strict=True) if isinstance(block, Call)]
    for index, (block, call) in enumerate(calls):
        function = {"name": block.name, "arguments": json.dumps(block.arguments)}
        yield chunk({"tool_calls": [{"index": index, "id": f"call_{call}", "type": "function", "function": function}]})
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    yield chunk({}, "tool_calls" if calls else "stop", usage=usage)
    yield b"data: [DONE]\n\n"


# What the path of a request ends in -> how it is answered.
PROTOCOLS = (
    ("/v1/messages", anthropic),
    ("/v1/responses", responses),
    (":streamGenerateContent", gemini),
    ("/v1/chat/completions", chat),
)


def tools(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools that a request offers the model, in any of the protocols: objects with at least a name, namespaces opened."""
    offered = list(body.get("tools") or [])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            offered += item["tools"]
    found: list[dict[str, Any]] = []
    for tool in offered:
        if tool.get("type") == "namespace":
            found += [{**inner, "namespace": tool["name"]} for inner in tool["tools"]]
        else:
            found += tool.get("functionDeclarations") or [tool.get("function") or tool]
    return found


def whole(blocks: list[Block], model: str) -> dict[str, Any]:
    """A reply without a stream, in Gemini's form: the only one that is asked for without (its small side questions)."""
    text = "".join(block.text for block in blocks if isinstance(block, Say))
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def opening(body: dict[str, Any]) -> list[Any]:
    """What a conversation began with: its messages up to the first words of the model."""
    messages = body.get("messages") or body.get("contents") or body.get("input") or []
    first: list[Any] = []
    for message in messages:
        if message.get("role") in ("assistant", "model") or str(message.get("type", "")).endswith("_call"):
            break
        first.append(message)
    return first


def shortens(body: dict[str, Any]) -> bool:
    """Whether a request is for a summary that a session goes on with; Codex offers the model its tools there too."""
    last = (body.get("input") or [{}])[-1]
    return "CONTEXT CHECKPOINT COMPACTION" in json.dumps(last)
