"""What ``torture`` counts, in words: for the answer at the terminal and for the report."""

from __future__ import annotations

from hardwon.doors.render import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.proof.report import Control, Outcome

ABOUT = {
    "power-loss": (
        "The real engine works while everything that is written, synced and renamed is recorded. At each of these moments disks are "
        "built as a power loss may leave them; each is opened and compared with what was acknowledged until then."
    ),
    "faults": (
        "Each operation is done again while one of its system calls fails: a full disk, an I/O error, no memory. It has to be refused "
        "or whole, and the same process has to go on afterwards."
    ),
    "kills": "Several processes write and are killed at random moments. What each had acknowledged until then has to be there.",
    "clock": "The clock jumps back and ahead, and stands still, between the calls. Order, ages and risk have to be right all the same.",
}

# Figures by kind; those that are not named here say it themselves.
_LABELS = {
    "power-loss": {
        "sequences": "sequences of operations",
        "events": "writes, syncs and renames recorded",
        "acknowledged": "operations acknowledged",
        "images": "disks built",
        "distinct": "of these, different ones: each opened and judged",
        "written_to": "of these, written to again as well",
        "violations": "broken promises",
        "lost": "of these, something acknowledged was gone",
        "images_per_second": "judged per second",
        "images_none": "unsynced writes all lost",
        "images_all": "unsynced writes all there",
        "images_prefix": "only the first of them there",
        "images_subset": "any of them there",
        "images_reordered": "in another order",
        "images_torn": "the last one torn",
        "images_garbage": "the last one garbage",
        "images_entries": "names there, contents not",
        "images_missing": "contents there, names not",
    },
    "faults": {
        "points": "failing calls tried",
        "of": "there are, in all operations",
        "refused": "of those tried, the operation was refused",
        "acknowledged": "of those tried, it was done all the same",
    },
    "kills": {
        "kills": "processes killed",
        "rounds": "rounds, each followed by a whole check",
        "acknowledged": "records acknowledged, all found again",
        "calls": "killed or failed at a chosen system call",
        "refused": "of these, records refused",
        "slowest_reopen_ms": "slowest opening after a kill, ms",
    },
    "clock": {"sequences": "sequences of calls and jumps", "calls": "calls"},
}


def label(kind: str, name: str) -> str:
    """A figure's name for a person."""
    return _LABELS.get(kind, {}).get(name) or name.replace("_", " ")


def noticed(control: Control) -> str:
    """Whether a promise that was broken on purpose was noticed; not every case can show it."""
    if not control.found:
        return f"NOT noticed in {plural(control.tried, 'case', 'cases')}"
    return f"noticed, in {control.found:,} of {plural(control.tried, 'case', 'cases')}"


def verdict(outcomes: Sequence[Outcome]) -> str:
    """All of it in a sentence; a proof without power is none, and no broken promise either."""
    if any(outcome.violations for outcome in outcomes):
        return "a promise was broken"
    if not all(outcome.ok for outcome in outcomes):
        return "nothing was proved, for a promise that was broken on purpose was not noticed"
    return "every promise held"
