"""``bench``: measurements on the user's own store, in words and JSON."""

from __future__ import annotations

from hardwon.doors.handle import Answer
from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.doors.handle import Call
    from hardwon.engine.vectors import BenchReport, ModeReport

_MODES = ("flat", "signs")


def bench(call: Call) -> Answer:
    """Ways to search vectors, each compared with the exact one."""
    from hardwon.engine import vectors

    request = call.request
    what = request.text("what")
    if what != "vectors":
        raise InvalidInput(f"there is nothing called {what[:60]!r} to measure", field="what", remedy="hardwon bench vectors")
    modes = known(request.texts("mode") or _MODES)
    found = vectors.bench(
        call.engine, modes, request.number("k", 10), request.number("queries", 100), request.number("seed", 1), call.settings
    )
    data = dict(vars(found)) | {"modes": [dict(vars(mode)) for mode in found.modes]}
    return Answer(_page(found), data, 1 if any(mode.failed for mode in found.modes) else 0)


def known(modes: Sequence[str]) -> Sequence[str]:
    """The names of indexes as they are; InvalidInput for one that is none."""
    from hardwon.settings import VECTOR_INDEXES

    for mode in modes:
        if mode not in VECTOR_INDEXES:
            raise InvalidInput(f"{mode[:80]!r} is no index", field="mode", remedy=f"use {', '.join(VECTOR_INDEXES)}")
    return modes


def _page(found: BenchReport) -> str:
    about = f"{found.vectors:,} vectors of {found.model}, {found.queries} questions near them, seed {found.seed}"
    head = ("mode", f"recall@{found.k}", "ms p50", "ms p95", "build s", "disk MB")
    rows = [head, *map(_row, found.modes)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    lines = ["  " + "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(cells))
             for cells in (list(zip(row, widths, strict=True)) for row in rows)]  # fmt: skip
    failed = [f"{mode.mode}: {mode.failed}" for mode in found.modes if mode.failed]
    return "\n".join([about, *lines, *failed])


def _row(mode: ModeReport) -> tuple[str, ...]:
    if mode.failed:
        return (mode.mode, *["-"] * 5)
    return (mode.mode, f"{mode.recall:.3f}", f"{mode.p50:.1f}", f"{mode.p95:.1f}", f"{mode.build:.2f}", f"{mode.disk / 1e6:.1f}")
