"""Markdown notes: ours, each with its front matter, and those of others (basic-memory, Obsidian, plain), by heading and observation."""

from __future__ import annotations

import json
import os
import re
import stat
from hashlib import blake2b

from hardwon.capture import ours
from hardwon.errors import InvalidInput
from hardwon.importers import headings, kinds
from hardwon.importers.fields import Fields, moment, to_millis
from hardwon.importers.passages import headline, word
from hardwon.importers.source import Incoming, offered, open_file, unusable
from hardwon.types import KINDS, OUTCOMES, STATUSES, TRUSTS, VISIBILITIES, Anchor, Memory, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from hardwon.importers.source import Source
    from hardwon.types import ExportedMemory, Kind

CLIENT = "markdown"
MOST_BYTES = 64 << 20  # of an export of ours
_NOTE_BYTES = 1 << 20  # of somebody's note in a folder
_MOST_NOTES = 10_000
_PASSAGE, _CODE = 4_000, 12_000
_SUFFIXES = (".md", ".markdown", ".mdx", ".mdc")  # mdc: rules of Cursor
_MARK = "hardwon: 1"
_OURS = re.compile(r"^---\nhardwon: 1\n", re.MULTILINE)
# A line of ours that would begin another note is written with a backslash before it, and one that has such already with one more.
_RULE = re.compile(r"^(\\*)---", re.MULTILINE)
_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OBSERVATION = re.compile(r"^\s{0,8}[-*+] \[([^\[\]\n]{2,64})\] (\S.*)$")
_RELATION = re.compile(r"^\s{0,8}[-*+] (\w[\w -]{0,60}?) \[\[([^\[\]\n]{1,200})\]\]")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]{0,62})")


# --- writing


def write(items: Iterable[ExportedMemory]) -> Iterator[str]:
    """A note for each memory, as it stands now; a text of several lines, the notes parted by an empty line."""
    for item in items:
        if item.versions:
            yield "\n".join(_note(item.memory)) + "\n"


def _note(memory: Memory) -> list[str]:
    origin = memory.origin
    front: dict[str, Any] = {
        "id": memory.id, "kind": memory.kind, "outcome": memory.outcome, "status": memory.status, "trust": memory.trust,
        "visibility": memory.visibility, "created_at": moment(memory.created_at), "expires_at": moment(memory.expires_at),
        "tags": list(memory.tags), "files": [[anchor.path, anchor.symbol, anchor.commit] for anchor in memory.anchors],
        "because": memory.because, "rejected": list(memory.rejected), "who": origin.who, "client": origin.client,
        "session": origin.session, "metadata": json.loads(memory.metadata) if memory.metadata else {},
    }  # fmt: skip
    code = memory.code.split("\n") if memory.code else []
    lines = ["---", _MARK, *(f"{name}: {_json(value)}" for name, value in front.items() if value not in (None, "", [], {}))]
    lines += [f"code: {len(code)}"] * bool(code) + ["---", "", f"# {memory.text}", ""]
    if memory.detail:
        lines += [_RULE.sub(r"\\\1---", memory.detail), ""]
    if code:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", memory.code)), default=0))
        lines += ["## Code", "", fence, *(_RULE.sub(r"\\\1---", line) for line in code), fence, ""]
    return lines[:-1]


def _json(value: Any) -> str:
    # Half a pair can stand in metadata only; it has no UTF-8.
    return json.dumps(value, ensure_ascii=isinstance(value, dict))


# --- reading


def read(source: Source) -> Iterator[Incoming]:
    """What a file of notes offers: ours, or one note of somebody's."""
    text = source.text(MOST_BYTES)
    if _OURS.search(text):
        yield from _read_ours(text)
    else:
        yield from _read_note(os.path.basename(source.name), text)


def read_folder(path: str) -> Iterator[Incoming]:
    """Every note below a folder, in order; hidden folders and links are passed over."""
    count = 0
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            full = os.path.join(folder, name)
            if not name.lower().endswith(_SUFFIXES) or not stat.S_ISREG(os.lstat(full).st_mode):
                continue
            count += 1
            if count > _MOST_NOTES:
                yield Incoming(
                    os.path.relpath(full, path), wrong=f"there are more than {_MOST_NOTES:,} notes: import them in parts"
                )
                return
            yield from _read_file(full, os.path.relpath(full, path))
    if not count:
        raise unusable(path, "holds no Markdown notes")


def _read_file(full: str, name: str) -> Iterator[Incoming]:
    try:
        source = open_file(full)
        try:
            text = source.text(_NOTE_BYTES)
        finally:
            source.close()
        found = _read_ours(text) if _OURS.search(text) else _read_note(name, text)
        for one in found:
            yield one.replace(where=f"{name}, {one.where}" if one.where != name else name)
    except InvalidInput as error:
        yield Incoming(name, wrong=error.message)


def _read_ours(text: str) -> Iterator[Incoming]:
    starts = [found.start() for found in _OURS.finditer(text)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1):
        where = f"note {number}"
        try:
            yield offered(where, _of_ours(text[start:end]))
        except InvalidInput as error:
            yield Incoming(where, wrong=error.message)


def _of_ours(note: str) -> Memory:
    front, body = front_matter(note)
    fields = Fields(front)
    text, detail, code = _parts(body, front.get("code"))
    created = fields.moment("created_at") or 0
    kind = fields.word("kind", KINDS, "fact")
    if kind == "change":
        raise InvalidInput("a commit comes from git, not from a note", field="kind", remedy="leave the note out")
    return Memory(
        fields.identifier("id"), None, kind, fields.word("outcome", OUTCOMES, None), text, detail=detail, code=code,
        because=fields.text("because"), rejected=fields.texts("rejected"), tags=fields.texts("tags"), anchors=_anchors(front),
        status=fields.word("status", STATUSES, "active"), trust=fields.word("trust", TRUSTS, "claimed"),
        visibility=fields.word("visibility", VISIBILITIES, "shared"), metadata=fields.metadata(), created_at=created,
        expires_at=fields.moment("expires_at"), origin=_origin(fields), valid_from=created or None,
    )  # fmt: skip


def _origin(fields: Fields) -> Origin:
    from hardwon.types import WHO

    return Origin(fields.word("who", WHO, "import"), fields.text("client"), fields.text("session"), "import")


def _anchors(front: dict[str, Any]) -> tuple[Anchor, ...]:
    found = []
    for one in front.get("files") or ():
        if not isinstance(one, list) or len(one) != 3 or not all(isinstance(part, str) for part in one):
            raise InvalidInput("files must list [path, symbol, commit]", field="files", remedy="correct the front matter")
        found.append(Anchor(*one))
    return tuple(found)


def _parts(body: str, code: Any) -> tuple[str, str, str]:
    """Text, detail and code of a note of ours: the code is counted in lines from the end, so that nothing in it can end it."""
    lines = body.strip("\n").split("\n")
    kept: list[str] = []
    if isinstance(code, int) and 0 < code <= len(lines) - 5:
        kept = lines[-code - 1 : -1]
        lines = lines[: -code - 4]
    first = lines[0].removeprefix("# ")
    detail = "\n".join(lines[1:]).strip("\n")
    return first, _unescaped(detail), _unescaped("\n".join(kept))


def _unescaped(text: str) -> str:
    return re.sub(r"^\\(\\*---)", r"\1", text, flags=re.MULTILINE)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter, as far as it is plain (``name: value``, flow and block lists), and the text behind it."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    front: dict[str, Any] = {}
    last = ""
    for line in found[1].split("\n"):
        item = re.match(r"\s+- +(.*)$|- +(.*)$", line)
        name, mark, value = line.partition(":")
        if item and last:
            listed = front.setdefault(last, [])
            if isinstance(listed, list):
                listed.append(_scalar(item[1] or item[2] or ""))
        elif mark and name.strip() and not line[0].isspace():
            last = name.strip().lower() if not value.strip() else ""
            if value.strip():
                front[name.strip().lower()] = _value(value.strip())
    return front, text[found.end() :]


def _value(text: str) -> Any:
    if text[0] in '[{"' or text.lstrip("-").isdigit():
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    return _scalar(text)


def _scalar(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


# --- the notes of others


def _read_note(name: str, text: str) -> Iterator[Incoming]:
    """Observations (``- [decision] text #tag``) and relations as memories of their own, what else there is by heading."""
    front, body = front_matter(ours.strip(text, whole=True))  # what we wrote into a file of instructions is known already
    title = str(front.get("title") or "").strip() or os.path.splitext(os.path.basename(name))[0]
    note = _Note(name, title, front)
    for section in headings.read(body, "markdown").sections:
        path = [part for part in section.path if part != title]
        blocks = []
        for block in section.blocks:
            rest = block.text if block.whole else "\n".join(note.take(block.text.split("\n")))
            blocks.append(block.replace(text=rest))
        yield from note.found()
        for place, passage in enumerate(headings.pieces([b for b in blocks if b.text.strip()], _PASSAGE, _CODE), 1):
            yield note.passage(" › ".join((title, *path)) + (f" ({place})" if place > 1 else ""), passage)


class _Note:
    """One note of somebody's, and what was found in it."""

    def __init__(self, name: str, title: str, front: dict[str, Any]) -> None:
        self.name = name
        self.title = title
        tags = front.get("tags") or ()
        listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else ()
        self.tags = tuple(filter(None, (word(str(tag).lstrip("# ")) for tag in listed)))
        told = front.get("kind") or front.get("type")
        self.kind: Kind = told if told in KINDS and told != "change" else kinds.kind(told)
        self.created = _created(front)
        self._found: list[Incoming] = []
        self._names: dict[str, int] = {}

    def take(self, lines: list[str]) -> Iterator[str]:
        """The lines that are neither observations nor relations; those are kept for ``found``."""
        for line in lines:
            observation, relation = _OBSERVATION.match(line), _RELATION.match(line)
            if observation:
                self._observe(observation[1].strip(), observation[2].strip())
            elif relation:
                words = relation[1].replace("_", " ").strip()
                self._keep("fact", f"{self.title} {words} {relation[2].strip()}", "", ("relation",))
            else:
                yield line

    def found(self) -> Iterator[Incoming]:
        """What ``take`` kept since the last time."""
        kept, self._found = self._found, []
        yield from kept

    def passage(self, heading: str, text: str) -> Incoming:
        """A piece of text under a heading."""
        self._keep(self.kind, heading, text, tuple(map(word, _TAG.findall(text)))[:20])
        return self._found.pop()

    def _observe(self, category: str, text: str) -> None:
        tags = tuple(map(word, _TAG.findall(text)))
        plain = " ".join(_TAG.sub("", text).split()) or text
        self._keep(kinds.kind(category), plain, f"from {self.title}", (word(category), *tags))

    def _keep(self, kind: Kind, text: str, detail: str, tags: tuple[str, ...]) -> None:
        line, below = headline(text, detail)
        memory = Memory(
            "", None, kind, None, line, detail=below, tags=tuple(dict.fromkeys(tag for tag in (*tags, *self.tags) if tag)), trust="claimed",
            origin=Origin("import", CLIENT, "", "import"), created_at=self.created, valid_from=self.created or None,
        )  # fmt: skip
        count = self._names[line] = self._names.get(line, 0) + 1
        told = f"{self.name}\0{line}\0{count}".encode("utf-8", "replace")
        self._found.append(offered(self.name, memory, f"note:{blake2b(told, digest_size=12).hexdigest()}"))


def _created(front: dict[str, Any]) -> int:
    """When the note says that it was made, 0 where it does not."""
    for name in ("created_at", "created", "date"):
        told = str(front.get(name) or "")
        try:
            return to_millis(told + "T00:00:00Z" if len(told) == 10 else told, name)
        except InvalidInput:
            continue
    return 0
