"""``torture``: the proofs of durability on this very machine, on stores of their own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from hardwon.doors import render
from hardwon.doors import torture_words as words
from hardwon.doors.condition import Bar
from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput
from hardwon.proof import report
from hardwon.proof.report import KINDS, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hardwon.doors.handle import Call
    from hardwon.proof.report import Outcome

_SECONDS = 60
_LONG = 7 * 86_400  # the budget where images are counted instead
_FOLDER = "hardwon-torture-"


def torture(call: Call) -> Answer:
    """Run the kinds that were asked for, all without a flag, with equal shares of the seconds."""
    request = call.request
    if request.text("project"):
        raise InvalidInput(
            "torture works on stores of its own, not on a project's",
            field="project",
            remedy="leave -p out; `hardwon verify` checks a store",
        )
    kinds = [kind for kind in KINDS if request.flag(kind)] or list(KINDS)
    images = request.number("images", 0)
    if images and kinds != ["power-loss"]:
        raise InvalidInput(
            "--images counts those of --power-loss", field="images", remedy="hardwon torture --power-loss --images N"
        )
    place = _report_place(call)
    seed = request.number("seed", 0) or int.from_bytes(os.urandom(4), "big") + 1
    print(f"hardwon: seed {seed}", file=sys.stderr)  # first, for it is what a run that never ends leaves
    seconds = request.number("seconds", _LONG if images else _SECONDS)
    outcomes, folder = run(kinds, Plan(seed, seconds / len(kinds), "", images, min(2, os.cpu_count() or 1)))
    data = shape(outcomes, seed)
    text = page(outcomes, seed, call.paint)
    if folder:
        text += f"\nwhat went wrong is kept in {folder}"
    if place:
        _write(place, outcomes, _command(request.flag, seed, images, seconds))
        text += f"\nwrote {place}"
    return Answer(text, data, 0 if data["ok"] else 1)


def run(kinds: Sequence[str], plan: Plan) -> tuple[list[Outcome], str]:
    """One kind after the other, each in a folder of its own; and the folder with what went wrong, "" where all went well."""
    folder = tempfile.mkdtemp(prefix=_FOLDER)
    kept = False
    try:
        outcomes = []
        for kind in kinds:
            own = os.path.join(folder, kind)
            os.mkdir(own)
            with Bar(kind) as bar:
                outcomes.append(report.run(kind, plan.replace(folder=own), bar.step))
        kept = any(violation.kept for outcome in outcomes for violation in outcome.violations)
        return outcomes, folder if kept else ""
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


# Words


def page(outcomes: Sequence[Outcome], seed: int, paint: render.Paint) -> str:
    """The outcomes for a person."""
    blocks = []
    for outcome in outcomes:
        verdict = paint("green", "held") if outcome.ok else paint("red", "BROKEN")
        rows = [(words.label(outcome.kind, name), f"{value:,}") for name, value in outcome.figures.items()]
        rows += [(f"broken on purpose: {control.name}", words.noticed(control)) for control in outcome.controls]
        lines = [f"{paint('bold', outcome.kind)}: {verdict} in {outcome.seconds:,.0f} s", render.table(rows, paint)]
        lines += [f"  skipped: {why}" for why in outcome.skipped]
        blocks.append("\n".join(lines))
    blocks.append(words.verdict(outcomes))
    found = findings(outcomes)
    if found:
        blocks.append(
            "\n".join(f"{item['level']}: {item['where']}: {item['what']}\n  {item['remedy']}".rstrip() for item in found)
        )
    return "\n\n".join([*blocks, f"seed {seed}"])


def findings(outcomes: Sequence[Outcome]) -> list[dict[str, str]]:
    """What is wrong, as findings: a promise that was broken, and a control that showed nothing."""
    found = []
    for outcome in outcomes:
        for one in outcome.violations:
            where = ", ".join(filter(None, (outcome.kind, one.operation, f"case {one.case}" if one.case >= 0 else "")))
            remedy = ". ".join(filter(None, (one.again and f"again: {one.again}", one.kept and f"kept: {one.kept}")))
            found.append({"level": "error", "what": one.what, "where": where, "remedy": remedy})
        found += [
            {"level": "error", "what": f"nothing was noticed with {name}, so that the proof has no power", "where": outcome.kind,
             "remedy": "run it for longer: --seconds"}
            for name in outcome.powerless
        ]  # fmt: skip
    return found


def shape(outcomes: Sequence[Outcome], seed: int) -> dict[str, Any]:
    """The outcomes as JSON."""
    kinds = [
        {
            "kind": outcome.kind, "ok": outcome.ok, "seconds": round(outcome.seconds, 1), "figures": dict(outcome.figures),
            "controls": [dict(vars(control)) for control in outcome.controls], "skipped": list(outcome.skipped),
        }
        for outcome in outcomes
    ]  # fmt: skip
    ok = all(outcome.ok for outcome in outcomes)
    return {"ok": ok, "findings": findings(outcomes), "seed": seed, "machine": report.machine(), "kinds": kinds}


# The report


def _report_place(call: Call) -> str:
    """Where the report goes; InvalidInput, before minutes of work, for a place that cannot be written or holds something else."""
    named = call.request.text("report")
    if not named:
        return ""
    path = os.path.join(call.cwd, os.path.expanduser(named))
    if os.path.lexists(path) and not _is_ours(path):
        raise InvalidInput(f"{named[:200]!r} is not a report of ours", field="report", remedy="name another file")
    if not path.endswith(".html") or not os.path.isdir(os.path.dirname(path)) or not os.access(os.path.dirname(path), os.W_OK):
        raise InvalidInput(
            f"{named[:200]!r} is no place for a report",
            field="report",
            remedy="name a file that ends in .html, in a folder that exists",
        )
    return path


def _is_ours(path: str) -> bool:
    from hardwon.doors.torture_page import HEAD

    if os.path.islink(path) or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(HEAD)) == HEAD.encode()
    except OSError:
        return False


def _write(path: str, outcomes: Sequence[Outcome], command: str) -> None:
    from hardwon.doors.torture_page import html
    from hardwon.store import files

    files.write_whole(path, [html(outcomes, findings(outcomes), command).encode()], durable=False)


def _command(flag: Any, seed: int, images: int, seconds: int) -> str:
    """The command that does the same again."""
    words = ["hardwon torture", *(f"--{kind}" for kind in KINDS if flag(kind)), f"--seed {seed}"]
    return " ".join([*words, f"--images {images}" if images else f"--seconds {seconds}"])
