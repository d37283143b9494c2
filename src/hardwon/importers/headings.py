"""Documents cut at their headings: Markdown, reStructuredText, AsciiDoc and plain text. Pure.

Markdown goes through markdown-it (it comes with rich), whose block tokens know their lines; its inline pass is left out, for only
headings need it. reStructuredText and AsciiDoc have a small reader of their own, which knows headings, literal blocks and nothing
else: docutils runs directives (``include``, ``raw``, ``csv-table`` open files and URLs), weighs 5 MB and takes seventy times as long
(pytest's 258 files: 3.7 s of CPU for 0.05; docs/ingest.md).
"""

from __future__ import annotations

import re
from functools import cache

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from markdown_it import MarkdownIt

FORMATS: Mapping[str, str] = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".mdc": "markdown",
    ".rst": "rst", ".rest": "rst", ".adoc": "asciidoc", ".asciidoc": "asciidoc", ".txt": "text", "": "text",
}  # fmt: skip
HEADING_LIMIT = 160  # characters of one heading
_LEVELS = 6


class Block(Value):
    """A paragraph, list, table or literal block. ``whole`` ones (code) are kept in one piece as long as possible."""

    text: str
    whole: bool = False


class Section(Value):
    """What stands under one heading, up to the next. ``path``: the headings from the outermost to its own; empty before the first."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


class Document(Value):
    """A document in sections, in their order; ``title`` and ``status`` as the front matter states them."""

    sections: tuple[Section, ...]
    title: str = ""
    status: str = ""


def decode(data: bytes) -> str | None:
    """The text of a file with plain line ends; None where it is no text. What is no UTF-8 is read as Latin-1, which never fails."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        return None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(text: str, form: str) -> Document:
    """A document's sections. ``form`` is a value of FORMATS; anything can be read as anything, at worst as one section."""
    front, body = _front_matter(text)
    title, status = front.get("title", ""), front.get("status", "")
    return Document(tuple(_nested(_READERS[form](body))), title, status)


def pieces(blocks: Iterable[Block], limit: int, whole_limit: int) -> list[str]:
    """The blocks in texts of at most ``limit`` characters, cut between blocks; a longer paragraph is cut between its lines, code
    only beyond ``whole_limit``."""
    out: list[str] = []
    open_text = ""
    for block in blocks:
        for part in _parts(block, limit, whole_limit):
            if open_text and len(open_text) + len(part) + 2 > limit:
                out.append(open_text)
                open_text = ""
            open_text = f"{open_text}\n\n{part}" if open_text else part
    return [*out, open_text] if open_text else out


def _parts(block: Block, limit: int, whole_limit: int) -> Iterator[str]:
    most = whole_limit if block.whole else limit
    if len(block.text) <= most:
        yield block.text
        return
    part = ""
    for line in block.text.split("\n"):
        if part and len(part) + len(line) + 1 > limit:
            yield part
            part = ""
        part = f"{part}\n{line}" if part else line
        while len(part) > limit:
            yield part[:limit]
            part = part[limit:]
    if part:
        yield part


# What a reader gives: (level, heading, blocks under it), the level 0 for what stands before the first heading.
_Flat = tuple[int, str, list[Block]]


def _nested(flat: Iterable[_Flat]) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    for level, heading, blocks in flat:
        if level:
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, _short(heading)))
        yield Section(tuple(name for _, name in path), tuple(block for block in blocks if block.text.strip()))


def _short(heading: str) -> str:
    plain = " ".join(heading.split())
    return plain if len(plain) <= HEADING_LIMIT else plain[: HEADING_LIMIT - 1] + "…"


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The ``name: value`` lines of YAML or TOML front matter, and the text behind it."""
    fence = text[:3]
    if fence not in ("---", "+++") or text[3:4] != "\n":
        return {}, text
    end = re.compile(rf"^(?:{re.escape(fence)}|\.\.\.)[ \t]*$", re.MULTILINE).search(text, 4)
    if not end:
        return {}, text
    found = {}
    for line in text[4 : end.start()].split("\n"):
        name, mark, value = line.partition(":" if fence == "---" else "=")
        if mark and value.strip() and not name.startswith((" ", "\t", "#")):
            found[name.strip().lower()] = _short(value.strip().strip("\"'"))
    return found, text[end.end() :].lstrip("\n")


# --- Markdown


def _markdown(text: str) -> Iterator[_Flat]:
    lines = text.split("\n")
    level, heading, blocks = 0, "", list[Block]()
    # A reference definition is no paragraph to markdown-it, and finding them is what hostile text can make slow.
    tokens = _parser().parse(text)
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        if token.type == "heading_open":
            yield level, heading, blocks
            level, heading, blocks = int(token.tag[1]), _inline(tokens[place + 1].content), []
            continue
        body = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
        if token.type == "html_block":
            body = _without_comments(body)
            marked = _HTML_HEADING.match(body)
            if marked:
                yield level, heading, blocks
                level, heading, blocks = int(marked[1]), _TAG.sub(" ", marked[2]), []
                continue
        elif token.type not in ("fence", "code_block"):
            body = _without_comments(body)
        blocks.append(Block(body.rstrip(), token.type in ("fence", "code_block")))
    yield level, heading, blocks


_HTML_HEADING = re.compile(r"\s{0,8}<h([1-6])\b[^>]{0,200}>(.{1,2000}?)</h\1>\s*$", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,500}>")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _inline(heading: str) -> str:
    """A heading as it reads: without marks, links by their text."""
    heading = heading[: HEADING_LIMIT * 4]
    if not any(mark in heading for mark in "*_`[<\\&~"):
        return heading
    words = []
    for token in _inline_parser().parseInline(heading)[0].children or ():
        if token.type in ("text", "code_inline", "softbreak", "hardbreak"):
            words.append(token.content or " ")
        elif token.type == "image":
            words.append(token.content)
    return "".join(words) or heading


def _without_comments(text: str) -> str:
    """The text without HTML comments; one that is not closed reaches to the end."""
    if "<!--" not in text:
        return text
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("-->", start + 4)
        if end < 0:
            return "".join(parts)
        at = end + 3
    return "".join([*parts, text[at:]])


# --- reStructuredText and plain text

_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*$")
_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`]{1,300})`")
_REFERENCE = re.compile(r"`([^`<]{1,300})\s*<[^`>]{0,300}>`__?")
_SHORT_UNDERLINE = 4  # docutils takes a shorter one for text, unless it is as long as the title


def _rst(text: str) -> Iterator[_Flat]:
    lines = text.split("\n")
    styles: list[str] = []
    level, heading, start = 0, "", 0
    at = 0
    while at < len(lines):
        found = _titled(lines, at)
        if not found:
            at += 1
            continue
        title, style, after = found
        yield level, heading, _paragraphs(lines[start:at])
        if style not in styles:
            styles.append(style)
        level, heading = min(styles.index(style) + 1, _LEVELS), _rst_inline(title)
        at = start = after
    yield level, heading, _paragraphs(lines[start:])


def _titled(lines: list[str], at: int) -> tuple[str, str, int] | None:
    """(title, style, the line behind) of a heading that begins at a line: underlined, or between two equal lines."""
    if at and lines[at - 1].strip():
        return None
    line = lines[at]
    over = len(line) > 2 and _UNDERLINE.match(line)
    if over and at + 2 < len(lines):
        title, under = lines[at + 1], lines[at + 2]
        if title.strip() and under.rstrip() == line.rstrip() and not _UNDERLINE.match(title):
            return title.strip(), line[0] * 2, at + 3
    if not line.strip() or line[0] in " \t" or over or at + 1 >= len(lines):
        return None
    under = lines[at + 1]
    title = line.rstrip()
    if _UNDERLINE.match(under) and len(under.rstrip()) >= min(_SHORT_UNDERLINE, len(title)) and not title.startswith(".. "):
        return title, under[0], at + 2
    return None


def _rst_inline(title: str) -> str:
    title = title[: HEADING_LIMIT * 4]
    return _REFERENCE.sub(r"\1", _ROLE.sub(r"\1", title)).replace("`", "")


def _paragraphs(lines: Iterable[str]) -> list[Block]:
    """Lines cut at blank ones, but not before an indented line: that belongs to what introduces it (a literal block, a list)."""
    blocks: list[Block] = []
    part: list[str] = []
    blank = False
    for line in lines:
        if not line.strip():
            blank = True
            continue
        if blank and part:
            if line[0] in " \t":
                part.append("")
            else:
                blocks.append(_block(part))
                part = []
        blank = False
        part.append(line.rstrip())
    return [*blocks, _block(part)] if part else blocks


def _block(lines: list[str]) -> Block:
    return Block("\n".join(lines), any(line[:1] in (" ", "\t") for line in lines))


# --- AsciiDoc

_EQUALS = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,}|_{4,}|/{4,}|--|\|===|```\S*)[ \t]*$")


def _asciidoc(text: str) -> Iterator[_Flat]:
    lines = text.split("\n")
    level, heading, blocks = 0, "", list[Block]()
    part: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        titled = _EQUALS.match(line)
        if titled:
            yield level, heading, [*blocks, *_paragraphs(part)]
            level, heading, blocks, part = min(len(titled[1]), _LEVELS), titled[2], [], []
        elif _DELIMITER.match(line):
            end = _closing(lines, at)
            if not line.startswith("////"):  # a comment
                blocks += [*_paragraphs(part), Block("\n".join(lines[at : end + 1]), whole=True)]
                part = []
            at = end
        elif not line.startswith("//"):
            part.append(line)
        at += 1
    yield level, heading, [*blocks, *_paragraphs(part)]


def _closing(lines: list[str], at: int) -> int:
    """The line that closes the delimited block opened at a line, or that line itself where nothing closes it."""
    mark = lines[at].rstrip()
    mark = "```" if mark.startswith("```") else mark
    for place in range(at + 1, min(at + 2_000, len(lines))):
        if lines[place].rstrip() == mark:
            return place
    return at


_READERS: Mapping[str, Callable[[str], Iterator[_Flat]]] = {
    "markdown": _markdown,
    "rst": _rst,
    "asciidoc": _asciidoc,
    "text": _rst,
}
