"""What may lift a claim, or cast doubt on what was believed: tests and time, as values, and the rules over them. Pure.

Only a claim rises, and only to ``proven``; only what was proven falls, and only to ``claimed``. What a person confirmed no machine
moves: it is flagged, and a person looks. What was imported or set aside waits for a person, whatever tests say. The same evidence
lifts a memory once: after a fall something new has to happen.
"""

from __future__ import annotations

from hardwon.types import TRUSTS, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any, Literal

    from hardwon.code.edits import WorkingTree
    from hardwon.types import Event, Memory, Trust

    # Who says how a test went: our own process that ran it; a file that somebody wrote; a caller.
    Witness = Literal["ran", "file", "told"]
    # Why a memory rose, fell, was flagged, or stays as it is.
    Reason = Literal[
        "test", "survived", "reverted", "red", "lost",
        "landed", "no test", "witness", "never red", "same tree", "flaky", "order", "test changed", "untouched", "restored", "unconnected",
        "no tree",
        "not claimed", "not active", "used", "gone", "undone", "faulted", "young", "elsewhere", "other evidence",
    ]  # fmt: skip

DAY_MS = 86_400_000
# How long a commit has to stand, seen with our own clock: its author's can say anything.
SURVIVAL_MS = 30 * DAY_MS
# What was claimed longer before a test failed, or longer after it passed again, was not learnt from that. Likewise a commit: an
# agent records, then commits.
NEAR_MS = DAY_MS
# What takes a proof back, and what a person should look at where they had confirmed the memory.
DOUBTS = ("reverted", "red", "lost")
# How the payload of a change ends that took another one back.
UNDO = " (undo)"


class TestRun(Value):
    """One test, once. ``test`` is its name as the runner tells it, "" for a command of which nothing else is known than how it ended;
    ``file`` the repository's file that holds the test, "" where that is not known; ``tree`` what lay there when it began; ``at`` in
    milliseconds."""

    __test__ = False  # for pytest, which would take the class for a test

    test: str
    passed: bool
    tree: WorkingTree
    at: int
    file: str = ""
    witness: Witness = "told"


class TestProof(Value):
    """A test that failed and then passed. ``touched``: whether what changed in between touches the code that the memory speaks of, None
    where it cannot be told; ``test_changed``: whether the test itself, or what sets it up, changed as well or is not known; ``flaky``:
    whether it has passed and failed on the same files; ``restored``: whether that code is only again what it was before the test
    failed: who breaks and mends has shown nothing."""

    __test__ = False

    red: TestRun | None
    green: TestRun
    touched: bool | None = None
    test_changed: bool = False
    flaky: bool = False
    restored: bool = False


class Survival(Value):
    """What became of a commit. ``landed_at``: when we first saw it on the default branch (our clock, milliseconds), None if never;
    ``on_default``: whether it is there now; ``taken_back``: whether a later one ever reverted it, though that was undone since;
    ``faulted``: a later one fixes it, or names it as where a fault began; ``undone``: its files are again what they were before it;
    ``touches``: whether it touches the code that the memory speaks of; ``gone``: whether that code is there no more."""

    commit: str
    landed_at: int | None
    now: int
    on_default: bool = True
    taken_back: bool = False
    faulted: bool = False
    undone: bool = False
    touches: bool = True
    gone: bool = False


class Verdict(Value):
    """How far a memory is believed from now on, and why. ``flagged``: it stays, but a person should look."""

    trust: Trust
    reason: Reason
    flagged: bool = False


# --- rules


def countable(run: TestRun) -> Reason | None:
    """Why a run tells nothing of any memory; None where it may."""
    if not run.test:
        return "no test"
    return None if run.witness == "ran" else "witness"


def after_test(memory: Memory, proof: TestProof, known_since: int, used: Collection[str] = ()) -> Verdict:
    """What a test that passes says of a claim. ``known_since``: when the memory got the words that it has; ``used``: evidence
    (``key``) that it was judged by before."""
    stays = _unmoved(memory) or _no_proof(proof, known_since)
    if stays is None and key(test_evidence(proof)) in used:
        stays = "used"
    return Verdict(memory.trust, stays) if stays else Verdict("proven", "test")


def _no_proof(proof: TestProof, known_since: int) -> Reason | None:
    red, green = proof.red, proof.green
    told = countable(green) or (countable(red) if red is not None else "never red")
    if told or red is None:
        return told
    for failed, reason in (
        (red.passed, "never red"),
        (not green.passed, "red"),
        (red.test != green.test, "never red"),
        (red.tree.name == green.tree.name, "same tree"),
        (proof.flaky, "flaky"),
        (red.at > green.at, "order"),
        (proof.test_changed, "test changed"),
        (not proof.touched, "untouched"),
        (proof.restored, "restored"),
        (not red.at - NEAR_MS <= known_since <= green.at + NEAR_MS, "unconnected"),
    ):
        if failed:
            return reason  # type: ignore[return-value]  # words of the set
    return None


def after_survival(memory: Memory, survival: Survival, used: Collection[str] = ()) -> Verdict:
    """What the time that a commit has stood says of a claim that it belongs to."""
    stays = _unmoved(memory) or _not_survived(survival)
    if stays is None and key({"by": "survived", "commit": survival.commit}) in used:
        stays = "used"
    return Verdict(memory.trust, stays) if stays else Verdict("proven", "survived")


def _not_survived(survival: Survival) -> Reason | None:
    landed = survival.landed_at
    for failed, reason in (
        (not survival.touches, "untouched"),
        (landed is None or not survival.on_default, "elsewhere"),
        (survival.taken_back, "reverted"),
        (survival.faulted, "faulted"),
        (survival.undone, "undone"),
        (survival.gone, "gone"),
        (survival.now - (landed or 0) < SURVIVAL_MS, "young"),
    ):
        if failed:
            return reason  # type: ignore[return-value]
    return None


def _unmoved(memory: Memory) -> Reason | None:
    """Why no event can lift the memory, or it needs none."""
    if memory.trust != "claimed" or memory.number is None:
        return "not claimed"
    return None if memory.status == "active" else "not active"


def after_doubt(memory: Memory, evidence: Mapping[str, Any], doubt: Mapping[str, Any]) -> Verdict:
    """What becomes of a memory when what spoke for it does so no more.

    ``evidence`` is what lifted it, or, of a confirmed one, the commit that belongs to it; ``doubt`` what happened: a ``commit`` that
    was ``reverted``, or ``lost`` (nothing reaches it); a ``test`` that is ``red`` again (see ``contains``: on files with the fix).
    """
    same = doubt["test"] == evidence.get("test") if doubt["by"] == "red" else doubt["commit"] == commit_of(evidence)
    if not same:
        return Verdict(memory.trust, "other evidence")
    if memory.trust == "proven":
        return Verdict("claimed", doubt["by"])
    return Verdict(memory.trust, doubt["by"], flagged=memory.trust == "confirmed")


def against(evidence: Mapping[str, Any], change: Memory | None) -> dict[str, Any]:
    """The doubt that what became of its commit casts on evidence, {} where there is none. ``change``: the commit as it is remembered, None
    where it is not."""
    commit = commit_of(evidence)
    if change is not None and change.outcome == "failed":
        return {"by": "reverted", "commit": commit}
    # A commit on which a test passed need not have been read, and may have been rebased since.
    if evidence["by"] == "survived" and (change is None or change.status == "expired"):
        return {"by": "lost", "commit": commit}
    return {}


def contains(then: Collection[str], now: Iterable[str]) -> bool:
    """Whether code holds the fix that a test once proved: every digest of then is among those of now."""
    return bool(then) and set(then) <= set(now)


# --- evidence as the journal keeps it


def test_evidence(proof: TestProof, code: Iterable[str] = ()) -> dict[str, Any]:
    """A proof by a test: its name, both trees, digests of the code as it was when it passed (of symbols, or whole files). No path but
    the test's own name: what is said of a memory may be erased, and the journal keeps everything."""
    red = proof.red.tree.name if proof.red else ""
    return {"by": "test", "test": proof.green.test, "red": red, "green": proof.green.tree.name, "code": sorted(set(code))}


def key(evidence: Mapping[str, Any]) -> str:
    """What makes two pieces of evidence the same one."""
    if evidence.get("by") == "test":
        return f"{evidence['test']}\0{evidence['red']}\0{evidence['green']}"
    return str(evidence.get("commit", ""))


def commit_of(evidence: Mapping[str, Any]) -> str:
    """The commit that evidence rests on: of a test, the one on which it passed, "" if it passed on edited files."""
    name = str(evidence.get("commit") or evidence.get("green") or "")
    return "" if "+" in name else name


def payload(old: Trust, new: Trust, evidence: Mapping[str, Any]) -> str:
    """A step as the journal keeps it: ``claimed>proven {…}``; with the same word twice it is a note, and moves nothing."""
    import json

    written = json.dumps(evidence, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return f"{old}>{new} {written.replace('>', chr(92) + 'u003e')}"  # so that the first ">" is the only one


def step(text: str) -> tuple[str, str, dict[str, Any]]:
    """The old trust, the new one, and the evidence ({} where a person or an import did it) of a payload."""
    moved, _, rest = text.removesuffix(UNDO).partition(" ")
    old, _, new = moved.partition(">")
    if not rest.startswith("{"):
        return old, new, {}
    import json

    try:
        found = json.loads(rest)
    except ValueError:  # of a later version, perhaps; the words before it still hold
        return old, new, {}
    return old, new, found if isinstance(found, dict) else {}


def split(text: str) -> tuple[str, dict[str, Any]]:
    """A payload without its evidence (``claimed>proven``, of what was taken back with ``(undo)``), and the evidence."""
    old, new, found = step(text)
    return f"{old}>{new}{UNDO if text.endswith(UNDO) else ''}", found


def is_note(event: Event) -> bool:
    """Whether a journal entry on trust moved nothing: a commit that was seen, a doubt about what a person confirmed. There is nothing
    to take back."""
    if event.action != "trust" or event.payload.endswith(UNDO):
        return False
    old, new, _ = step(event.payload)
    return old == new


def steps(events: Iterable[Event]) -> list[tuple[Event, str, str, dict[str, Any]]]:
    """The entries on trust, oldest first, with what each says; those that were taken back as well, for evidence stays used."""
    return [(event, *step(event.payload)) for event in events if event.action == "trust"]


def used(events: Iterable[Event]) -> set[str]:
    """Every piece of evidence that ever lifted the memory."""
    return {key(found) for _, old, new, found in steps(events) if found and _rose(old, new)}


def lifted_by(events: Iterable[Event]) -> dict[str, Any]:
    """What lifted the memory last, {} where nothing did."""
    return next((found for _, old, new, found in reversed(steps(events)) if found and _rose(old, new)), {})


def _rose(old: str, new: str) -> bool:
    return old in TRUSTS and new in TRUSTS and TRUSTS.index(new) < TRUSTS.index(old)


def landed(events: Iterable[Event], version: int) -> list[tuple[str, int]]:
    """The commits that were seen on the default branch for the words that a memory has (in that version): (commit, when first)."""
    found: dict[str, int] = {}
    for event, _, _, said in steps(events):
        if said.get("by") == "landed" and event.version == version:
            found.setdefault(str(said.get("commit", "")), event.at)
    return list(found.items())


def doubt(events: Iterable[Event]) -> dict[str, Any]:
    """Why a person should look at what they confirmed: the last doubt since; {} where there is none."""
    found: dict[str, Any] = {}
    for event, _, new, said in steps(events):
        if new == "confirmed":
            found = said if said.get("by") in DOUBTS and not event.payload.endswith(UNDO) else {}
    return found


def known_since(memory: Memory, events: Iterable[Event]) -> int:
    """When the memory got the words that it has: the clock of whoever keeps the journal, not of who wrote."""
    told = ("created", "repeated", "revised", "imported")
    return next((e.at for e in events if e.version == memory.version and e.action in told), memory.updated_at)
