"""The report of ``torture`` as one HTML file: no script, nothing from elsewhere, readable by everybody."""

from __future__ import annotations

from html import escape
from time import gmtime, strftime

from hardwon.doors import torture_words as words
from hardwon.proof.report import machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardwon.proof.report import Outcome

# Tells a report of ours from any other file that a new one may not replace.
HEAD = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="generator" content="hardwon torture">\n'
_STYLE = """<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
caption { text-align: left; font-weight: bold; padding: .3rem 0; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
td.figure { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; }
</style>
"""


def html(outcomes: Sequence[Outcome], findings: Sequence[dict[str, str]], command: str) -> str:
    """The whole page."""
    title = f"Hardwon: {words.verdict(outcomes)}"
    parts = [HEAD, f"<title>{title}</title>\n", _STYLE, f"<main>\n<h1>{title}</h1>\n"]
    parts.append(f"<p>{strftime('%Y-%m-%d %H:%M', gmtime())} UTC. Again: <code>{escape(command)}</code></p>\n")
    if findings:
        parts.append(_table("What is wrong", ("where", "what", "how to see it again"),
                            ((item["where"], item["what"], item["remedy"]) for item in findings)))  # fmt: skip
    parts += map(_section, outcomes)
    parts.append(_table("Machine", ("", ""), machine().items()))
    return "".join([*parts, "</main>\n</html>\n"])


def _section(outcome: Outcome) -> str:
    verdict = "held" if outcome.ok else "broken"
    parts = [f"<h2>{escape(outcome.kind)}: {verdict}</h2>\n<p>{escape(words.ABOUT[outcome.kind])}</p>\n"]
    figures = {"seed": outcome.seed, "seconds": round(outcome.seconds, 1), **outcome.figures}
    parts.append(
        _table("Figures", ("what", "how many"), ((words.label(outcome.kind, name), value) for name, value in figures.items()))
    )
    if outcome.controls:
        parts.append(
            "<p>Controls break the promise on purpose. Each must be noticed at least once, or the proof could notice nothing; not every "
            "case of one can show it.</p>\n"
        )
        parts.append(_table("Controls", ("what was broken", "tried", "noticed"),
                            ((control.name, control.tried, control.found) for control in outcome.controls)))  # fmt: skip
    parts += [f"<p>Not tried here: {escape(why)}</p>\n" for why in outcome.skipped]
    return "".join(parts)


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    columns = f"<thead><tr>{heads}</tr></thead>\n" if any(head) else ""
    return f"<table>\n<caption>{escape(caption)}</caption>\n{columns}<tbody>\n{lines}</tbody>\n</table>\n"


def _cell(value: object) -> str:
    if isinstance(value, (int, float)):
        return f'<td class="figure">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
