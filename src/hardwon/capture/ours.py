"""What comes from ourselves in a session: blocks that we put into it, commands and tools of ours. None of it is ever captured.

Clients hand on what they are given in many forms: escaped for HTML or JSON, quoted, indented, wrapped at a column, cut at a length.
A block is found in all of them by its tag. Where only one of its tags is left, all goes that may belong to it: better to lose a
sentence than to remember ourselves.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from typing import Any

    from hardwon.capture.event import Edit, Event
    from hardwon.capture.shell import SimpleCommand
    from hardwon.types import Draft

TAG = "hardwon-memory"  # as search/pack.py frames a block; refusals are framed the same way
NAME = "hardwon"
# Programs that run what is named somewhere among their words.
_CARRIERS = frozenset(
    ("xargs", "find", "parallel", "watch", "entr", "script", "strace", "perf", "hyperfine", "ssh", "docker", "podman")
)
_KIND_WORDS = ("change", "attempt", "lesson", "summary", "decision", "rule", "fact", "doc", "howto")
_WRAPPERS = ("system-reminder", "hook_context", "hook_prompt", "hook-context", "user-prompt-submit-hook", "session-start-hook")
_DEEPEST = 8  # escapes inside one another
_BETWEEN = ("\\n", "\\r", "\\t", "\\", "amp;", "&gt;", "u003e", "%3e", ">", "|", "*", "#")
_QUOTES = ("`", "'", '"', "“", "”", "‘", "’")
_BEGINS = ("<", "&", "\\u00", "%3", "\\U00")  # how the first sign of a tag is written, escaped or not
_made: dict[str, re.Pattern[str]] = {}


def strip(text: str, *, whole: bool = False, meant: bool = False) -> str:
    """The text without blocks of ours, and without what a client wraps around them. The same text where there is none. ``whole``: of what
    a person wrote, who may speak of our tags, only blocks with both of their ends. ``meant``: of what an agent hands over on purpose, any
    part of a block, but no tag that is only spoken of."""
    if not mentions(text):
        return text
    tags = _tags(text)
    kept = _outside_whole(text, tags) if whole else _outside(text, _of_blocks(text, tags) if meant else tags)
    wrapper = _pattern("wrapper")
    kept = _pattern("line").sub("", _pattern("entry").sub("", kept))
    if "<!--" in kept:
        kept = _pattern("passage").sub("", kept)
    if "memory, Hardwon:" in kept:
        kept = _pattern("rule").sub("", kept)
    for _ in range(4):
        fewer = wrapper.sub("", kept)
        if fewer == kept:
            break
        kept = fewer
    return kept


def holds(text: str) -> bool:
    """Whether a text has a block of ours, or a part of one."""
    return strip(text) != text


def of_draft(draft: Draft, *, whole: bool = False, meant: bool = False) -> Draft:
    """What is to be remembered without blocks of ours in any of its words; the same draft where there is none. ``whole`` and ``meant`` as
    above."""
    changed: dict[str, Any] = {}
    for name in ("text", "detail", "because", "code"):
        if (kept := strip(said := getattr(draft, name), whole=whole, meant=meant)) != said:
            changed[name] = kept.strip()
    rejected = tuple(strip(one, whole=whole, meant=meant) for one in draft.rejected)
    if rejected != draft.rejected:
        changed["rejected"] = tuple(one for one in rejected if one.strip())
    if mentions(draft.metadata) and holds(draft.metadata):
        changed["metadata"] = _of_json(draft.metadata)
    return draft.replace(**changed) if changed else draft


def _of_json(metadata: str) -> str:
    """Data as JSON, each of its texts without blocks of ours; "" for what is none."""
    import json

    def of_value(value: Any) -> Any:
        if isinstance(value, str):
            return strip(value)
        if isinstance(value, list):
            return [of_value(item) for item in value]
        return {strip(name): of_value(item) for name, item in value.items()} if isinstance(value, dict) else value

    try:
        return json.dumps(of_value(json.loads(metadata)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def is_tool(name: str) -> bool:
    """Whether a tool's name, as its client spells it, is that of one of our MCP tools (``mcp__hardwon__recall``)."""
    folded = name.lower()
    if NAME not in folded:
        return False
    return NAME in "".join(char if char.isalnum() else " " for char in folded).split()


def is_command(command: str) -> bool:
    """Whether a shell command runs us anywhere in it."""
    if NAME not in command.lower():
        return False
    from hardwon.capture.shell import flat, split

    texts = (command, command.replace("\\", "/")) if f"\\{NAME}" in command.lower() else (command,)  # a path of Windows
    return any(_is_any_of_ours(tuple(flat(split(text)))) for text in texts)


def _is_any_of_ours(commands: Sequence[SimpleCommand]) -> bool:
    """Whether one of the commands of a text runs us, by our name or by a variable that was given it there (``H=hardwon; $H recall``)."""
    from hardwon.capture.programs import program

    names = {name for one in commands for name, value in one.assignments if _is_us(program(value))}
    return any(is_command_of_ours(one) or (one.words and one.words[0].strip("${}") in names) for one in commands)


def clean(event: Event) -> Event | None:
    """The event without anything of ours; None where all of it is. Of a command that runs us only the edits stay."""
    if event.tool and is_tool(event.tool_name):
        return None
    ours = bool(event.command) and is_command(event.command)
    if ours and not event.edits:
        return None
    changed: dict[str, object] = {"command": "", "output": "", "exit_code": None} if ours else {}
    for field in ("text", "command", "output"):
        said = getattr(event, field)
        if field not in changed and mentions(said):
            changed[field] = strip(said)
    if any(mentions(edit.old) or mentions(edit.new) for edit in event.edits):
        changed["edits"] = tuple(_clean_edit(edit) for edit in event.edits)
    return event.replace(**changed) if changed else event


def _clean_edit(edit: Edit) -> Edit:
    cleaned: Edit = edit.replace(old=strip(edit.old), new=strip(edit.new))
    return cleaned


def is_command_of_ours(command: SimpleCommand) -> bool:
    """Whether one simple command runs us."""
    from hardwon.capture.programs import is_python, program, proper

    words = proper(command.words)
    if not words:
        return False
    # ``$(command -v hardwon) recall``: what a substitution prints is run.
    if _is_us(words[0]) or any(
        _is_us(program(part.strip("`()\"'"))) for part in words[0].split() if words[0][0] in "$`" or ")" in part
    ):
        return True
    if is_python(words[0]):
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        return _is_us(program(script)) or ("-c" in words and "hardwon" in " ".join(words))
    if words[0] in ("uv", "uvx", "pipx"):  # options of theirs that we do not know: "uvx --new-option value hardwon"
        return any(_is_us(program(word)) for word in words[1:]) and "install" not in words
    return words[0] in _CARRIERS and any(_is_us(program(word)) or _is_line(word) for word in words[1:])


def _is_line(word: str) -> bool:
    """Whether a word of a command is itself a command of ours (``ssh host 'hardwon status'``)."""
    from hardwon.capture.programs import program

    return " " in word and any(_is_us(program(part)) for part in word.split()[:3])


def _is_us(word: str) -> bool:
    """Whether a word names our program or package: ``hardwon``, ``hardwon@latest``, ``hardwon[vectors]``, ``hardwon.__main__``."""
    name = word.lower()
    for sign in ("@", "[", "=", "<", ">", "~", "!"):
        name = name.partition(sign)[0]
    return name == NAME or (name.startswith(f"{NAME}.") and not name.endswith((".toml", ".log", ".json", ".md", ".db")))


def mentions(text: str) -> bool:
    """Whether a text may have something of ours; quick, and never wrong with no."""
    if len(text) < 5:
        return False
    if "ardwon" in text or " · " in text:
        return True
    if not any(sign in text for sign in _BEGINS):
        return False
    # Wrapped at a column, or in capitals: the word is looked for without what stands between its letters.
    letters = "".join(text.split()).lower()
    while "\\\\" in letters:
        letters = letters.replace("\\\\", "\\")
    for sign in _BETWEEN:
        letters = letters.replace(sign, "")
    return TAG in letters


def _outside(text: str, tags: list[tuple[int, int, bool]]) -> str:
    kept: list[str] = []
    start = depth = 0
    for first, last, closes in tags:
        if not closes:
            if not depth:
                kept.append(text[start:first])
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()  # its beginning was cut off, so that everything before belongs to it
        start = last if not depth else start
    kept.append(_end_of_wrapper(text[start:], kept) if depth else text[start:])
    return "".join(kept)


def _of_blocks(text: str, tags: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """The tags that belong to a block or to what is left of one, without those that are only spoken of. A block begins with a note, or
    has lines between its tags; a tag that closes one whose beginning is lost stands between no quotation marks."""
    found: list[tuple[int, int, bool]] = []
    depth = 0
    opened: tuple[int, int, bool] | None = None  # a tag that may be only spoken of
    for tag in tags:
        first, last, closes = tag
        if not closes:
            if _pattern("note").match(text, last):
                found.append(tag)
                depth += 1
            elif not depth:
                opened = tag
        elif depth:
            found.append(tag)
            depth -= 1
            opened = None
        elif opened:
            between = text[opened[1] : first]
            if "\n" in between or "\\n" in between or _pattern("entry").search(text, opened[1], first):
                found += [opened, tag]
            opened = None
        elif not (text[first - 1 : first] in _QUOTES and text[last : last + 1] in _QUOTES):
            found.append(tag)
    return found


def _outside_whole(text: str, tags: list[tuple[int, int, bool]]) -> str:
    """The text without what stands between a tag that opens and the next one, which closes. Blocks of ours hold no others."""
    kept: list[str] = []
    start, begun = 0, -1
    for first, last, closes in tags:
        if not closes:
            begun = first
        elif begun >= 0:
            kept.append(text[start:begun])
            start, begun = last, -1
    return "".join([*kept, text[start:]])


def _end_of_wrapper(rest: str, kept: list[str]) -> str:
    """What stands behind the wrapper in which a block was cut off; "" where nothing shows where it ended."""
    before = "".join(kept)
    for name in _WRAPPERS:
        if before.rfind(f"<{name}") > before.rfind(f"</{name}"):
            at = rest.find(f"</{name}>")
            return rest[at:] if at >= 0 else ""
    return ""


def _tags(text: str) -> list[tuple[int, int, bool]]:
    """Our tags in a text: where each begins and ends, and whether it closes.

    They are looked for in the text without what clients put into it: escapes are undone, blanks and signs of quotation left out, level by
    level, with a note of where each part had stood.
    """
    plain, steps = text, []
    for _ in range(_DEEPEST):
        fewer, moved = _plainer(plain)
        if fewer == plain:
            break
        plain = fewer
        steps.append(moved)
    found: list[tuple[int, int, bool]] = []
    for tag in _pattern("tag").finditer(plain):
        first, last = _back(tag.start(), steps), _back(tag.end() - 1, steps) + 1
        ending = _pattern("ending").match(text, last) if tag[1] else None
        found.append((first, ending.end() if ending else last, bool(tag[1])))
    return found


def _plainer(text: str) -> tuple[str, tuple[list[int], list[int]]]:
    """The text with one level of escapes undone, and for each of its parts where it begins, and where it began before."""
    parts: list[str] = []
    now: list[int] = []
    before: list[int] = []
    length = last = 0
    for token in _pattern("escape").finditer(text):
        for part, at in ((text[last : token.start()], last), (_meant(token), token.start())):
            if part:
                parts.append(part)
                now.append(length)
                before.append(at)
                length += len(part)
        last = token.end()
    parts.append(text[last:])
    now.append(length)
    before.append(last)
    return "".join(parts), (now, before)


def _meant(token: re.Match[str]) -> str:
    """The sign that an escape stands for; "" for blanks, signs of quotation, and what is no sign."""
    code = token["hex"] or token["url"] or token["entity_hex"]
    if code or token["entity_number"]:
        number = int(code, 16) if code else int(token["entity_number"])
        return chr(number) if 0x20 < number < 0x7F else ""
    return _ENTITIES.get((token["entity"] or "").lower(), "")


def _back(at: int, steps: list[tuple[list[int], list[int]]]) -> int:
    """Where a place of the plain text stands in the text as it was."""
    from bisect import bisect_right

    for now, before in reversed(steps):
        part = bisect_right(now, at) - 1
        at = before[part] + at - now[part]
    return at


_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "sol": "/", "quot": '"', "apos": "'"}
_SOURCES = {
    "tag": rf"<(/?){TAG}(?!-)",
    "escape": (
        r"[\s>|*#]+|(?<!\\)\\++(?:u00(?P<hex>[0-9a-f]{2})|[nrt]|(?=[/\"'<&]))|%(?P<url>[0-7][0-9a-f])"
        r"|&(?:(?P<entity>amp|lt|gt|sol|quot|apos)|#0{0,4}(?P<entity_number>\d{2,3})|#x0{0,4}(?P<entity_hex>[0-9a-f]{2}));"
    ),
    # Its letters too may be apart, where a line was broken.
    "note": r"(?:[\s\\>|*#]|&nbsp;|%20){0,40}[nrt]??" + r"(?:[\s>|*#]|\\{1,16}[nrt]){0,6}".join("note") + r"\b",
    "ending": r"\s{0,4}(?:>|&(?:amp;){0,8}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\{1,16}u003e|%3e)",
    # An entry whose block lost both tags, with the lines below that belong to it.
    "entry": (
        rf"\[(?:#\d{{1,9}}|[0-9a-f]{{6,40}}|[0-9a-f]{{8}}-[0-9a-f]{{4}}) · (?:{'|'.join(_KIND_WORDS)})(?: (?:failed|worked|open))?(?: ·|\])"
        r"[^\n]{0,20000}(?:\n[ \t>|]{0,12} {4,8}(?:afterwards|because|rejected|about a|contradicted)[^\n]{0,20000})*"
    ),
    # What `run` and the plugin of pytest say of a memory, below the name of a test. A line that only begins with the word is anybody's.
    "line": r"(?m:^[ \t>|E]{0,12}hardwon:[ \t]{2,8}\S[^\n]*\n?)",
    # What we write into files of instructions, between marks (agents/blocks.py).
    "passage": r"<!-- hardwon:(?:[\w-]{1,40}:)?begin -->.*?(?:<!-- hardwon:(?:[\w-]{1,40}:)?end -->|\Z)",
    # The same where it has a file of its own, such as a rule of Cursor, and no marks (agents/files).
    "rule": r"(?m:^#{1,6} Memory of this repository\s{1,8}This repository has a memory, Hardwon:.*?(?=^#{1,6} |\Z))",
    "wrapper": (
        rf"<(?P<name>{'|'.join(_WRAPPERS)})(?:\s[^<>]{{0,200}})?>\s{{0,100}}(?:[\w:. -]{{0,120}}:)?\s{{0,100}}</(?P=name)>\n?"
    ),
}  # fmt: skip


def _pattern(name: str) -> re.Pattern[str]:
    found = _made.get(name)
    if found is None:
        import re

        found = _made[name] = re.compile(_SOURCES[name], re.IGNORECASE | (re.DOTALL if name in ("passage", "rule") else 0))
    return found
