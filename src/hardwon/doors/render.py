"""Answers as text for a terminal or a prompt."""

from __future__ import annotations

from time import gmtime, strftime

from hardwon.search.pack import day, fate, folded, head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.types import (
        Block,
        Difference,
        Event,
        Finding,
        Impact,
        Link,
        Memory,
        Proposal,
        Receipt,
        Risk,
        SymbolReport,
        Version,
    )

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_ADVICE = {
    "low": "nothing needs saying.",
    "normal": "read the lessons before you edit.",
    "caution": "inject the lessons before you edit (--inject).",
    "high": "treat as high risk: inject the lessons and verify with care.",
}


class Paint:
    """Colours, on a terminal only."""

    def __init__(self, on: bool, width: int = 0) -> None:
        """``width``: columns of the terminal, 0 where there is none."""
        self.on = on
        self._width = width

    def __call__(self, style: str, text: str) -> str:
        """The text in that style."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self.on else text

    def wrapped(self, text: str, indent: int) -> list[str]:
        """The text in lines that fit beside an indent; one line where nobody looks, so that scripts find what was stored."""
        if self._width <= 2 * indent or len(text) <= self._width - indent:
            return [text]
        from textwrap import wrap

        return wrap(text, self._width - indent, break_on_hyphens=False) or [text]


def plural(count: int, one: str, many: str) -> str:
    """``1 memory``, ``1,200 memories``."""
    return f"{count:,} {one if count == 1 else many}"


def when(at: int) -> str:
    """A moment for a person, to the minute."""
    return strftime("%Y-%m-%d %H:%M UTC", gmtime(at / 1000))


def named(memories: Sequence[Memory], of: int) -> str:
    """Memories by number and text, one a line."""
    lines = [f"  {memory.called} {memory.text[:100]}" for memory in memories]
    return "\n".join(lines + ([f"  and {of - len(memories):,} more"] if of > len(memories) else []))


def lesson_receipt(receipt: Receipt, symbol: str, text: str, risk: Risk | None, failed: bool) -> str:
    """What ``fail`` and ``ok`` say."""
    mark = "x" if failed else "ok"
    count = f" ({plural(risk.fails, 'failure', 'failures')}, risk {risk.score:.2f} {risk.level})" if risk else ""
    return f'{mark} recorded: {symbol} - "{text}"{count} #{receipt.number}' + _more(receipt)


def write_receipt(receipt: Receipt, named: str = "") -> str:
    """What another write says; ``named`` is how the asker called a memory that has no number, such as a commit."""
    why = f" ({receipt.why})" if receipt.why else ""
    name = f"#{receipt.number}" if receipt.number is not None else named or receipt.id
    return f"{receipt.action} {name}{why}" + _more(receipt)


def _more(receipt: Receipt) -> str:
    """Secrets that were taken out, and places that are not there, a line each."""
    what = plural(receipt.redacted, "secret was", "secrets were")
    lines = [f"\n{what} taken out before anything was stored"] if receipt.redacted else []
    for path, symbol in receipt.missing:
        told = f"{path} declares no {symbol}" if symbol else f"there is no file {path}"
        lines.append(f"\nnote: {told}, so that this memory cannot follow it")
    return "".join(lines)


def symbols(reports: Sequence[SymbolReport], paint: Paint) -> str:
    """What ``query SYMBOL`` says, in the form that users of cm.py know."""
    return "\n\n".join(_symbol(report, paint) for report in reports)


def _symbol(report: SymbolReport, paint: Paint) -> str:
    risk = report.risk
    place = f"  {paint('dim', risk.file)}" if risk.file else ""
    lines = [
        f"  {paint('bold', risk.symbol)}{place}",
        f"  failures: {risk.fails}  successes: {risk.successes}  risk: {risk.score:.2f} ({risk.level})",
        f"  {risk.level} - {_ADVICE[risk.level]}",
        *([f"  impact: {impact(risk.impact)}"] if risk.impact is not None else ()),
        "",
        f"  experiences ({len(report.memories)}):",
    ]
    for memory in report.memories:
        mark = paint("red", "x") if memory.outcome == "failed" else paint("green", "ok")
        times = f" ({memory.seen} times)" if memory.seen > 1 else ""
        status = "" if memory.status == "active" else f" [{memory.status}]"
        told = "; ".join(dict.fromkeys(filter(None, map(fate, memory.anchors))))
        became = paint("yellow", f" ({told})") if told else ""
        lines.append(f"    {mark} [{day(memory.updated_at)}] #{memory.number} {memory.text}{times}{status}{became}")
        lines += [f"      - {line}" for line in memory.detail.splitlines()]
    return "\n".join(lines)


def risky(risks: Sequence[Risk], paint: Paint) -> str:
    """Symbols with their risk, one a line."""
    lines = []
    for risk in risks:
        colour = {"high": "red", "caution": "yellow"}.get(risk.level, "dim")
        place = f"  {paint('dim', risk.file)}" if risk.file else ""
        figure = paint(colour, f"{risk.score:6.2f} {risk.level:8}")
        reach = f", {dependents(risk.impact)}" if risk.impact is not None else ""
        lines.append(f"  {figure} {risk.symbol}{place}  {risk.fails} failed, {risk.successes} worked{reach}")
    return "\n".join(lines)


def impact(value: Impact) -> str:
    """What depends on a symbol, in one line."""
    if not value.direct:
        maybe = f" (perhaps {plural(value.possible, 'caller', 'callers')}, by name only)" if value.possible else ""
        return f"no known callers{maybe}"
    direct = plural(value.direct, "direct caller", "direct callers")
    maybe = f", perhaps {value.possible:,} more" if value.possible else ""
    where = plural(len(value.files), "file", "files")
    steps = f", up to {value.depth} calls away" if value.depth > 1 else ""
    return f"{direct}{maybe}; {dependents(value)} in {where}{steps}"


def dependents(value: Impact) -> str:
    """``12 dependents``, ``2,000+ dependents`` where the count was cut short."""
    return f"{value.dependents:,}+ dependents" if value.truncated else plural(value.dependents, "dependent", "dependents")


def injection(report: SymbolReport) -> str:
    """The seed's block: header, one lesson a line, a closing line that tells the agent to apply them."""
    risk = report.risk
    lessons = dict.fromkeys(memory.text for memory in report.memories if memory.status == "active" and memory.outcome == "failed")
    lines = [f"[PAST EXPERIENCE — {risk.symbol} (risk: {risk.score:.2f}, {risk.level})]"]
    lines += [f"- {lesson}" for lesson in lessons]
    return "\n".join([*lines, "", "Apply these lessons. Do not repeat these mistakes."])


def hits(answer: Block, paint: Paint, *, explain: bool) -> str:
    """A list of hits, best first; on a terminal its lines end where the terminal does."""
    lines: list[str] = []
    for hit in answer.hits:
        memory = hit.memory
        listed = any(signal.signal == "listed" for signal in hit.why)  # by a filter alone: there is no score to tell
        first, *more = paint.wrapped(head(memory), 6)
        lines.append(("" if listed else f"{paint('green', f'{hit.score:.2f}')}  ") + paint("dim", first))
        lines += ["      " + paint("dim", line) for line in more]
        lines += ["      " + paint("bold", line) for line in paint.wrapped(memory.text, 6)]
        lines += ["      " + line for text in _excerpt(memory) for line in paint.wrapped(text, 6)]
        if hit.contradicted:
            lines.append(paint("yellow", f"      contradicted by {', '.join(hit.contradicted)}"))
        if explain:
            parts = (f"{signal.signal} {signal.points:+.2f}" for signal in hit.why)
            lines.append(paint("dim", f"      = {', '.join(parts)}"))
    if answer.left_out:
        lines.append(paint("dim", f"{answer.left_out} more did not fit into the budget"))
    return "\n".join(lines)


def _excerpt(memory: Memory) -> list[str]:
    """The parts of a memory that a list shows: what became of it, then the beginning of its detail."""
    lines = []
    if memory.because:
        lines.append(("afterwards: " if memory.kind == "change" else "because: ") + memory.because)
    lines += [f"rejected: {text}" for text in memory.rejected]
    flat = folded(memory.detail)
    if flat:
        lines.append(flat if len(flat) <= 200 else flat[:199] + "…")
    return lines


ERASED = "(erased)"


def memory_page(
    memory: Memory,
    occurrences: Sequence[Any],
    links: Sequence[tuple[Link, Memory | None]],
    paint: Paint,
    reasons: Sequence[str] = (),
) -> str:
    """What ``show`` says; ``reasons``: why it is believed as far as it is."""
    lines = [f"{paint('bold', memory.called)}  {memory.id}", f"  {head(memory)}", "", f"  {paint('bold', memory.text or ERASED)}"]
    for label, text in (
        ("because", memory.because if memory.kind != "change" else ""),
        ("afterwards", memory.because if memory.kind == "change" else ""),
        ("rejected", "; ".join(memory.rejected)),
        ("detail", memory.detail),
        ("code", memory.code),
        ("tags", ", ".join(memory.tags)),
        ("status", memory.status if memory.status != "active" else ""),
        ("branch", memory.branch),
        ("commit", memory.commit),
        ("author", memory.author),
    ):
        if text:
            lines.append(f"  {paint('dim', label + ':')} " + text.replace("\n", "\n    "))
    for anchor in memory.anchors:
        state = f"({fate(anchor) or anchor.state})" if anchor.state != "unknown" else ""
        lines.append(f"  {paint('dim', 'at:')} " + " ".join(filter(None, (anchor.path, anchor.symbol, state))))
    lines += [f"  {reason}" for reason in reasons]
    lines += [f"  {relation(link, other, memory.id, paint)}" for link, other in links]
    if occurrences:
        lines.append(f"  {paint('dim', 'happened:')} {plural(len(occurrences), 'time', 'times')}")
        lines += [
            f"    {day(item.at)} {item.outcome or ''} {item.status} {item.origin.who} {item.commit[:10]}" for item in occurrences
        ]
    return "\n".join(line.rstrip() for line in lines)


def relation(link: Link, other: Memory | None, of: str, paint: Paint) -> str:
    """A link of the memory with the id ``of``, and what is at its other end."""
    named = f"{other.called} {other.text or ERASED}" if other else link.reference
    arrow = f"{link.kind} ->" if link.source == of else f"<- {link.kind} by"
    return f"{paint('dim', arrow)} {named}"


def history_page(memory: Memory, versions: Sequence[Version], events: Sequence[Event], paint: Paint) -> str:
    """What ``history`` says."""
    from hardwon.doors.evidence import told

    lines = [f"{paint('bold', memory.called)}  {memory.text or ERASED}"]
    if not events:
        lines.append("  derived from git; nobody has touched it since")
    for event in events:
        who = " ".join(part for part in (event.origin.who, event.origin.client, event.origin.session) if part)
        lines.append(f"  {event.seq:>6}  {day(event.at)}  {event.action:9} {told(event):24} {who}".rstrip())
    for version in versions:
        lines.append(f"  version {version.version}: {version.content.text or ERASED}")
        lines += [f"    {line}" for line in version.content.detail.splitlines()[:3]]
    return "\n".join(lines)


def findings(items: Sequence[Finding], paint: Paint) -> str:
    """What a check says, nothing twice; a remedy that several in a row share stands behind the last of them."""
    lines = []
    told = [item for number, item in enumerate(items) if item not in items[:number]]
    for number, item in enumerate(told):
        colour = {"error": "red", "warning": "yellow"}.get(item.level, "dim")
        where = "" if item.where.startswith("/") and item.where in item.what else item.where
        lines.append(f"{paint(colour, item.level)}: {item.what}" + (f" ({where})" if where else ""))
        if item.remedy and [item.remedy] != [other.remedy for other in told[number + 1 : number + 2]]:
            lines.append(f"  {item.remedy}")
    return "\n".join(lines)


def table(rows: Sequence[tuple[str, object]], paint: Paint) -> str:
    """Names and values, one a line."""
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {paint('dim', name.ljust(width))}  {value}" for name, value in rows)


def differences(found: Difference, paint: Paint) -> str:
    """What ``diff`` says: each field that changed, as a unified diff."""
    from difflib import unified_diff

    lines = []
    for item in found.changes:
        lines.append(paint("bold", item.field))
        for line in list(unified_diff(item.before.splitlines(), item.after.splitlines(), lineterm=""))[2:]:
            colour = {"+": "green", "-": "red"}.get(line[0], "dim")
            lines.append("  " + paint(colour, line))
    return "\n".join(lines) or f"versions {found.older} and {found.newer} say the same"


def proposals(found: Sequence[Proposal], paint: Paint) -> str:
    """What ``review`` says."""
    from hardwon.doors.evidence import doubtful

    lines = []
    for item in found:
        lines.append(f"{paint('bold', item.memory.called)}  {item.memory.text}")
        lines.append(paint("dim", f"      {head(item.memory)}"))
        if item.doubt:
            lines.append(paint("yellow", f"      {doubtful(item.memory, item.doubt)}"))
        lines += [f"      {share:.0%} like {other.called}: {other.text}" for other, share in item.similar]
    return "\n".join(lines)
