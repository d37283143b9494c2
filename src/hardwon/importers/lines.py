"""JSON Lines, the lossless form: one memory a line, its versions, occurrences, links and other names inside (docs/exchange.md)."""

from __future__ import annotations

import json
import re

from hardwon.errors import InvalidInput
from hardwon.importers.fields import Fields, bad, is_identifier, moment, parsed
from hardwon.importers.source import Incoming
from hardwon.types import (
    KINDS,
    LINKS,
    OUTCOMES,
    STATUSES,
    TRUSTS,
    VISIBILITIES,
    WHO,
    Anchor,
    ExportedMemory,
    Link,
    Memory,
    Occurrence,
    Origin,
    Version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

FORMAT = 1
HEADER = json.dumps({"hardwon": FORMAT})
# What a version says. The last version says what the memory says, and is not written twice.
_CONTENT = (
    "kind", "outcome", "visibility", "text", "detail", "code", "because", "rejected", "anchors", "tags", "metadata",
    "valid_from", "valid_until", "expires_at",
)  # fmt: skip
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


# --- writing


def to_line(item: ExportedMemory) -> str:
    """The memory as one line, without its end."""
    data = _memory(item) if item.versions else _verdict(item)
    text = json.dumps(data, ensure_ascii=False)
    # Half a pair can stand in metadata only; it has no UTF-8.
    return text if text.isascii() or _encodes(text) else json.dumps(data)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _memory(item: ExportedMemory) -> dict[str, Any]:
    memory = item.memory
    content = _content(memory)
    whole = {"id": memory.id, "status": memory.status, "trust": memory.trust, "origin": dict(vars(memory.origin))}
    later = {
        "author": memory.author, "branch": memory.branch, "commit": memory.commit, "seen": len(item.occurrences),
        "created_at": moment(memory.created_at), "updated_at": moment(memory.updated_at), "replaced_by": memory.replaced_by,
        "useful": memory.useful, "useless": memory.useless,
        "versions": [_version(version, content) for version in item.versions],
        "occurrences": [_occurrence(one) for one in item.occurrences],
    }  # fmt: skip
    return {"id": whole.pop("id"), **content, **whole, **later, **_ties(item)}


def _content(memory: Memory) -> dict[str, Any]:
    found = {name: getattr(memory, name) for name in _CONTENT}
    found["rejected"], found["tags"] = list(memory.rejected), list(memory.tags)
    found["anchors"] = [{name: getattr(anchor, name) for name in _ANCHOR} for anchor in memory.anchors]
    found["metadata"] = _metadata(memory.metadata)
    for name in ("valid_from", "valid_until", "expires_at"):
        found[name] = moment(found[name])
    return found


_ANCHOR = ("path", "symbol", "commit", "blob", "fingerprint")


def _metadata(text: str) -> Any:
    """The caller's object; as text where JSON proper has no word for what is in it (NaN)."""
    if not text:
        return {}
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value


def _version(version: Version, current: dict[str, Any]) -> dict[str, Any]:
    head = {"version": version.version, "recorded_at": moment(version.recorded_at)}
    if not version.content.text:  # every memory has a text: this one's words were erased
        return head | {"erased": True}
    content = _content(version.content)
    return head if content == current else head | content


def _occurrence(one: Occurrence) -> dict[str, Any]:
    origin = one.origin
    return {
        "at": moment(one.at), "status": one.status, "who": origin.who, "client": origin.client, "session": origin.session,
        "tool": origin.tool, "branch": one.branch, "commit": one.commit,
    }  # fmt: skip


def _ties(item: ExportedMemory) -> dict[str, Any]:
    return {"links": [{"kind": link.kind, "to": link.reference} for link in item.links], "aliases": list(item.aliases)}


def _verdict(item: ExportedMemory) -> dict[str, Any]:
    """What was done to something that comes from the repository itself: a commit is named by its hash, which every clone shares."""
    memory = item.memory
    name = {"commit": memory.commit} if memory.kind == "change" else {"id": memory.id}
    said = {
        "kind": memory.kind,
        "status": memory.status,
        "trust": memory.trust,
        "useful": memory.useful,
        "useless": memory.useless,
    }
    return {"derived": True, **name, **said, **_ties(item)}


# --- reading


def read(lines: Iterable[tuple[int, bytes | None]]) -> Iterator[Incoming]:
    """What each line offers; InvalidInput only for a file of a later format."""
    for number, raw in lines:
        if raw is not None and not raw.strip():
            continue
        where = f"line {number}"
        try:
            data = parsed(raw)
            if "hardwon" in data:
                _check_format(data["hardwon"])
                continue
            yield Incoming(where, from_object(data))
        except InvalidInput as error:
            if error.field == "hardwon":
                raise
            yield Incoming(where, wrong=error.message)


def _check_format(found: Any) -> None:
    if isinstance(found, int) and found > FORMAT:
        raise InvalidInput(
            f"the file was made by a later Hardwon (format {found})",
            field="hardwon",
            remedy="upgrade Hardwon; nothing of it was read",
        )


def from_object(data: dict[str, Any]) -> ExportedMemory:
    """A memory with all that belongs to it. Only ``text`` is needed; InvalidInput names what cannot be used."""
    fields = Fields(data)
    if fields.flag("derived"):
        return _derived(fields)
    content = _said(fields, Memory("", None, "fact", None, ""))
    created = fields.moment("created_at")
    memory = content.replace(
        id=fields.identifier("id"), status=fields.word("status", STATUSES, "active"), trust=fields.word("trust", TRUSTS, "claimed"),
        origin=_origin(fields.inner("origin")), author=fields.text("author"), branch=fields.text("branch"),
        commit=fields.text("commit"), created_at=created or 0, updated_at=fields.moment("updated_at") or created or 0,
        replaced_by=fields.identifier("replaced_by") or None, useful=fields.count("useful"), useless=fields.count("useless"),
    )  # fmt: skip
    versions = tuple(_read_version(inner, memory) for inner in fields.inners("versions"))
    if [version.version for version in versions] != list(range(1, len(versions) + 1)):
        raise bad("versions are not numbered 1, 2, 3 …")
    occurrences = tuple(_read_occurrence(inner, memory) for inner in fields.inners("occurrences"))
    whole = memory.replace(version=len(versions) or 1, seen=len(occurrences) or 1)
    return ExportedMemory(whole, versions or (Version(whole.id, 1, whole, created or 0, None),), occurrences, *_read_ties(fields))


def _derived(fields: Fields) -> ExportedMemory:
    kind = fields.word("kind", KINDS, "change")
    commit, identifier = fields.text("commit"), fields.identifier("id")
    if not (_COMMIT.fullmatch(commit) if kind == "change" else identifier):
        raise bad("it names no commit" if kind == "change" else "it has no id")
    memory = Memory(
        identifier, None, kind, None, "", commit=commit, status=fields.word("status", STATUSES, "active"),
        trust=fields.word("trust", TRUSTS, "history"), useful=fields.count("useful"), useless=fields.count("useless"),
    )  # fmt: skip
    return ExportedMemory(memory, (), (), *_read_ties(fields))


def _said(fields: Fields, base: Memory) -> Memory:
    """The content that an object tells; what it leaves out is as in ``base``."""
    kind = fields.word("kind", KINDS, base.kind)
    if kind == "change":
        raise bad("a commit comes from git, not from a file")
    said: Memory = base.replace(
        kind=kind, outcome=fields.word("outcome", OUTCOMES, None), visibility=fields.word("visibility", VISIBILITIES, "shared"),
        text=fields.text("text"), detail=fields.text("detail"), code=fields.text("code"), because=fields.text("because"),
        rejected=fields.texts("rejected"), tags=fields.texts("tags"), metadata=fields.metadata(),
        anchors=tuple(map(_read_anchor, fields.inners("anchors"))),
        valid_from=fields.moment("valid_from"), valid_until=fields.moment("valid_until"), expires_at=fields.moment("expires_at"),
    )  # fmt: skip
    if not said.text.strip():
        raise bad("text is missing or empty")
    return said


def _read_anchor(fields: Fields) -> Anchor:
    path, symbol, commit, blob, fingerprint = map(fields.text, _ANCHOR)
    return Anchor(path, symbol, commit, blob, fingerprint)


def _read_version(fields: Fields, memory: Memory) -> Version:
    number, at = fields.count("version"), fields.moment("recorded_at")
    if at is None:
        raise bad("a version has no recorded_at")
    content = memory
    if fields.flag("erased"):
        content = Memory(memory.id, None, memory.kind, memory.outcome, "", visibility=memory.visibility)
    elif fields.has("text"):
        content = _said(fields, memory)
    return Version(memory.id, number, content.replace(version=number), at, None)


def _read_occurrence(fields: Fields, memory: Memory) -> Occurrence:
    at = fields.moment("at")
    if at is None:
        raise bad("an occurrence has no time")
    status = fields.word("status", STATUSES, "active")
    return Occurrence(memory.id, at, memory.outcome, status, _origin(fields), fields.text("branch"), fields.text("commit"))


def _origin(fields: Fields) -> Origin:
    who = fields.word("who", WHO, "import")
    return Origin(who, fields.text("client"), fields.text("session"), fields.text("tool"))


def _read_ties(fields: Fields) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    links = []
    for inner in fields.inners("links"):
        kind, to = inner.word("kind", LINKS, None), inner.text("to")
        if not (is_identifier(to) or _COMMIT.fullmatch(to)):
            raise bad(f"a link leads to {to[:60]!r}, which is neither an id nor a commit")
        if kind is None:
            raise bad("a link has no kind")
        links.append(Link("", kind, to, None))
    return tuple(links), fields.texts("aliases")
