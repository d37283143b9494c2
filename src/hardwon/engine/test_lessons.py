"""What runs of tests teach, as drafts: the words of a failure that is new and of what made it pass, and the places that they speak of."""

from __future__ import annotations

import os

from hardwon.capture.outcome import readable
from hardwon.code.test_names import is_test
from hardwon.engine import failure as failures
from hardwon.types import Anchor, Draft
from hardwon.upkeep.cures import is_test_changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.outcome import TestOutcome
    from hardwon.code.edits import WorkingTree
    from hardwon.engine.core import Engine
    from hardwon.engine.test_history import KnownTest
    from hardwon.upkeep.cures import Changed

_PLACES = 6  # of a fix
_DETAIL = 1_500  # characters of a trace that are kept


def failure(engine: Engine, first: TestOutcome, others: int, signature: str) -> Draft:
    """The lesson of a failure that is new, seen in ``first``, a test or a step, and in so many others."""
    also = f"; {others} {'other' if others == 1 else 'others'} as well" if others else ""
    what, log = signature or "it failed", _end(readable(_without_root(engine, first.log)))
    said = "" if {first.said, f"Error: {first.said}"} & set(log.split("\n")) else first.said
    seen = f"seen in the {'step' if first.step else 'test'} {first.test}{also}"
    return Draft(
        f"`{first.test}`: {what}", "lesson", "failed", detail="\n".join(filter(None, (seen, said, log))),
        anchors=_at_fault(engine, first), tags=(first.step or "test",),
    )  # fmt: skip


def _without_root(engine: Engine, log: str) -> str:
    """A trace with the files of the repository named from its top, as everything else here names them."""
    return log.replace(engine.home.checkout.root.rstrip(os.sep) + os.sep, "")


def _end(log: str) -> str:
    """The last lines of a trace, whole ones."""
    if len(log) <= _DETAIL:
        return log
    return log[-_DETAIL:].partition("\n")[2]


def _at_fault(engine: Engine, outcome: TestOutcome) -> tuple[Anchor, ...]:
    """The innermost place of ours that the failure went through and that is no test; else the file of the test."""
    for near in failures.places_of(engine, outcome.log):
        if near.path != outcome.file and not is_test(near.path):
            return (Anchor(near.path, near.symbol),)
    return anchors(outcome.file)


def anchors(file: str) -> tuple[Anchor, ...]:
    """The place of a file as a whole; none for no file."""
    return (Anchor(file, ""),) if file else ()


def fix(outcome: TestOutcome, known: KnownTest, changed: Changed, tree: WorkingTree) -> Draft:
    """The lesson of what made a test pass: what changed since it failed."""
    code = {path: one for path, one in changed.items() if path != known.file and not is_test(path)} or changed
    places = [Anchor(path, symbol) for path, (_, symbols) in code.items() for symbol in (sorted(symbols) if symbols else ("",))]
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    named = ", ".join(f"{one.path} ({one.symbol})" if one.symbol else one.path for one in places[:_PLACES])
    own = "; the test, or what sets it up, changed as well" if known.file and is_test_changed(known.file, changed) else ""
    at = tree.commit[:10] + (" and edits over it" if tree.edits else "")
    detail = f"{known.signature}\nchanged between the failure and the pass: {named}{more}{own}\nit passes at {at}"
    return Draft(
        f"`{outcome.test}` passes again, fixed: {known.signature}", "lesson", "worked", detail=detail,
        anchors=tuple(places[:_PLACES]), tags=("test", "fix"),
    )  # fmt: skip
