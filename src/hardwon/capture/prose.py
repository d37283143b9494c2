"""The sentences that somebody wrote in a text: no code, quotation, markup of clients, log or trace."""

from __future__ import annotations

from hardwon.code.pattern import Pattern

_LINES = 60  # of a long text, at either end
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_LONGEST_WRAPPED = 20_000  # characters between two tags of a client's
# What editors of Codex put before a request.
_EDITORS_CONTEXT = "# Context from my IDE setup:"
_REQUEST = "## My request for Codex"
# What clients put around or into a prompt.
_TAG = Pattern(
    r"(?i)<(?:(system-reminder|hook_context|hook_prompt|environment_details|environment_context|user_instructions"
    r"|command-[a-z]{1,12}|local-command-[a-z]{1,12}"
    r"|task|file_content|context|ide_[a-z_]{1,20}|attached_files?|permissions instructions|INSTRUCTIONS|skill|tool_result"
    r"|[a-z]{3,20}_delegation"
    r"|bash-[a-z]{1,10})\b[^<>]{0,300}|[^<>\n]{1,200})>"
)
_LOG = Pattern(
    r"(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:Traceback|File \"|at \S+ \(|E {2,}|FAILED |ERROR |FAIL |PASS |WARN|INFO|DEBUG"
    r"|\$ |> |npm |error\[|error:|warning:"
    r"|[+-]{3} |@@ |diff --git|import |from \S+ import|def |class |function |const |let |var |return |if \(|for \(|#include"
    r"|[⚠✓✔✗✘]|[{}\[\]();]+$|.{0,60}[⎿┃│╭╰])"
    r"|[\w./\\-]+:\d+:|[\w./-]+\(\d+,\d+\):|[+-]\s*(?:def|class|function|const|return|import)\b)"
)
ITEM = Pattern(r"(?:[-*•]|\d{1,2}[.)])\s+")
# A full stop after a word of three letters ends a sentence even where the next begins small, as people type.
_END = Pattern(
    r"\.{2,}\s*|(?<=[.!?])\s+(?=[A-Z\"'`(\dÄÖÜ\u3131-\uD79D\u4e00-\u9fff])|(?<=[a-z]{3}[.!?])(?<!etc[.])(?<!min[.])(?<!max[.])(?<!incl[.])(?<!excl[.])(?<!approx[.])(?<!resp[.])(?<!misc[.])\s+(?=[a-z])|(?<=[。！？])|;\s+"
)


def requested(text: str) -> str:
    """What a person asked for in an editor, which puts what is open and selected there before it, under headings of its own."""
    if not text.startswith("# "):
        return text
    context, mark, request = text.partition(_REQUEST)
    if mark and context.endswith("\n"):
        return request.lstrip(": \r\n")
    return "" if text.startswith(_EDITORS_CONTEXT) else text


def unwrapped(text: str) -> str:
    """A text without what clients put around or into it."""
    if "<" not in text:
        return text
    folded = text.translate(_LOWER)
    kept: list[str] = []
    open_ended: set[str] = set()  # tags that nothing closes from here on, so that it is asked once
    start = at = 0
    while found := _TAG.search(text, at):
        first, at = found.span()
        closing = f"</{found[1].lower()}>" if found[1] else ""
        if closing and closing not in open_ended:
            end = folded.find(closing, at, at + _LONGEST_WRAPPED + len(closing))
            if end >= 0:
                at = end + len(closing)
            elif folded.find(closing, at) < 0:
                open_ended.add(closing)
        if at == found.end() and not (at - first <= 202 and "\n" not in found[0]):  # nor is it a tag of any other kind
            continue
        kept.append(text[start:first])
        start = at
    return "\n".join([*kept, text[start:]])


def prose(text: str) -> list[str]:
    """The lines that somebody wrote here: no code, quotation, markup of clients, log or trace."""
    cut = unwrapped(text)
    lines: list[str] = []
    fenced = False
    for line in cut.split("\n"):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
            lines.append("")
            continue
        if fenced or bare.startswith((">", "|")) or line.startswith(("    ", "\t")) or _LOG.match(bare):
            lines.append("")
            continue
        lines.append(bare)
    if len(lines) > 2 * _LINES:
        lines = [*lines[:_LINES], "", *lines[-_LINES:]]
    return lines


def sentences(lines: list[str]) -> list[str]:
    """Sentences, with what ends them. A line break ends one where a list item or an empty line follows."""
    paragraphs: list[str] = []
    current = ""
    for line in lines:
        item = ITEM.match(line)
        if not line or item or line.startswith("#"):
            paragraphs.append(current)
            current = line[item.end() :] if item else ("" if line.startswith("#") else line)
        else:
            current = f"{current} {line}" if current else line
    paragraphs.append(current)
    found: list[str] = []
    for paragraph in paragraphs:
        found += [one.strip() for one in _END.split(paragraph) if one and one.strip()]
    return found
