"""What a session has taught, as values, and in which words: the same lesson told twice shall be the same text.

So no text has times, folders of this machine, addresses, counts or process numbers in it.
"""

from __future__ import annotations

from hardwon.capture.helping import is_of_tests
from hardwon.capture.passages import difference
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from hardwon.capture.state import Change, Red
    from hardwon.types import Kind, Outcome

_TEXT = 220  # characters of a failure's message in a text
_CODE = 1_500
_PASSAGE = 300
_made: list[tuple[str, re.Pattern[str]]] = []


class Place(Value):
    """Code that a lesson speaks of. ``lines``: its first and last line where the client told them; ``passage`` its text after the edit,
    to find it by. Either of path and symbol may be empty."""

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None
    passage: str = ""


class Lesson(Value):
    """One thing that a session has taught. ``kind`` and ``outcome`` as of a memory: ``failed`` counts for the risk of its places.

    ``text`` is one stable sentence; ``detail`` what showed it and what helped; ``code`` the difference that helped (or, of an attempt that
    was taken back, that did harm); ``command`` and ``tests``: what was red at ``red_at`` and green at ``green_at`` (milliseconds, 0 where
    it never was); ``passage``: the words of the session that are the evidence; ``because`` a reason that was given, ``rejected`` what was
    decided against; ``replaces``: the text of what was said before in this session and no longer holds; ``at`` when it was learnt.
    """

    kind: Kind
    text: str
    detail: str = ""
    outcome: Outcome | None = None
    places: tuple[Place, ...] = ()
    code: str = ""
    command: str = ""
    tests: tuple[str, ...] = ()
    red_at: int = 0
    green_at: int = 0
    tags: tuple[str, ...] = ()
    passage: str = ""
    because: str = ""
    rejected: tuple[str, ...] = ()
    replaces: str = ""
    at: int = 0


def fixed(reds: Sequence[Red], fixes: Sequence[Change], places: Sequence[Place], broke: Sequence[Change], at: int) -> Lesson:
    """A failure that edits made go away. ``reds``: one failure, as one or more tests showed it; ``broke``: the edits since it had
    passed."""
    red = reds[0]
    tests = _tests(reds)
    parts = [_shown_by(red, tests)]
    if broke:
        parts.append(f"It had passed before {_edits(broke)}.")
    if red.tries:
        parts.append("It came back after a first fix that did not help.")
    parts.append(f"Green after {_edits(fixes)}.")
    tags = ["fix", *(["regression"] if broke else []), *(["repeated"] if red.tries else [])]
    return Lesson(
        "lesson", _text(red, places, tests), " ".join(parts), "failed", tuple(places), _code(fixes, places), red.shown, tests,
        red.at, at,
        tuple(tags), red.passage, at=at,
    )  # fmt: skip


def came_back(red: Red, tried: Sequence[Change], places: Sequence[Place], at: int) -> Lesson:
    """The same failure after different fixes."""
    tests = _tests((red,))
    detail = f"{_shown_by(red, tests)} The same failure came back after {_edits(tried)}: look for another cause."
    return Lesson(
        "lesson",
        _text(red, places, tests),
        detail,
        "failed",
        tuple(places),
        "",
        red.shown,
        tests,
        red.at,
        0,
        ("repeated",),
        red.passage,
        at=at,
    )


def taken_back(red: Red, undone: Sequence[Change], places: Sequence[Place], at: int) -> Lesson:
    """An edit that broke something, and was taken back."""
    tests = _tests((red,))
    text = f"{_head(places)}: a change here was taken back because {_broke(red, tests)}"
    return Lesson(
        "attempt", text, f"{_shown_by(red, tests)} Green again after the change was taken back.", "failed", tuple(places),
        _code(undone, places),
        red.shown, tests, red.at, at, ("taken-back",), red.passage, at=at,
    )  # fmt: skip


def flaky(red: Red, at: int) -> Lesson:
    """A test that failed and passed on the same files."""
    name = red.test or red.shown
    detail = (
        f"{_shown_by(red, _tests((red,)))} The same command passed without any edit in between. {stable(_error(red))}".rstrip()
    )
    place = Place(red.file or file_of(red.test), _function(red.test))
    places = (place,) if place.path or place.symbol else ()
    return Lesson(
        "fact", f"`{plain_test(name)}` is flaky: it fails and passes on the same code", detail, None, places, "", red.shown,
        _tests((red,)),
        red.at, at, ("flaky",), red.passage, at=at,
    )  # fmt: skip


def joined(best: Lesson, others: Sequence[Lesson]) -> Lesson:
    """One lesson for several of one cause: the tests of all, and those that it does not name."""
    if not others:
        return best
    more = sorted({test for one in others for test in one.tests} - set(best.tests))
    tests = tuple(sorted({*best.tests, *more}))[:12]
    detail = f"{best.detail} {_shown_by_others(more)}" if more else best.detail
    told: Lesson = best.replace(tests=tests, detail=detail)
    return told


def called_wrong(words: str, passage: str, places: Sequence[Place], code: Sequence[Change], at: int) -> Lesson:
    """An approach that the person calls wrong."""
    text = f"{_head(places)}: the person called this approach wrong: {words}"
    return Lesson(
        "attempt", text, "", "failed", tuple(places), _code(code, places), tags=("correction",), passage=passage[:_PASSAGE], at=at
    )


# --- wording


def _text(red: Red, places: Sequence[Place], tests: Sequence[str]) -> str:
    error = stable(_error(red))
    if tests and is_opaque(red.error, red.message):
        said = stable(red.message)
        return f"{_head(places)}: `{plain_test(tests[0])}` fails{f': {said}' if said else ''}"
    return f"{_head(places)}: {error or f'`{stable(red.shown)}` fails'}"


def is_opaque(error: str, said: str = "") -> bool:
    """Whether an error says nothing without the test that met it: a comparison that did not hold, a message that ends in a colon."""
    return not error or error.rpartition(".")[2].startswith("Assert") or said.rstrip().endswith(":")


def _broke(red: Red, tests: Sequence[str]) -> str:
    error = stable(_error(red))
    who = f"`{plain_test(tests[0])}` failed" if tests else f"`{stable(red.shown)}` failed"
    return f"{who}: {error}" if error else who


def _error(red: Red) -> str:
    return f"{red.error}: {red.message}" if red.error and red.message else red.error or red.message


def _shown_by(red: Red, tests: Sequence[str]) -> str:
    if tests:
        named = ", ".join(f"`{plain_test(test)}`" for test in tests[:3])
        return f"Shown by {named}{' and others' if len(tests) > 3 else ''} ({stable(red.shown)})."
    return f"Shown by `{stable(red.shown)}`."


def _shown_by_others(tests: Sequence[str]) -> str:
    named = ", ".join(f"`{plain_test(test)}`" for test in tests[:3])
    return f"Likewise {named}{' and others' if len(tests) > 3 else ''}."


def _head(places: Sequence[Place]) -> str:
    if not places:
        return "This project"
    return " and ".join(f"`{place.symbol or shown(place.path)}`" for place in places[:2])


def _edits(changes: Sequence[Change]) -> str:
    """The edits by their symbols and files, each once; those of tests last."""
    names: dict[str, None] = {}
    for change in sorted(changes, key=is_of_tests):
        for symbol in change.symbols or ("",):
            path = shown(change.path)
            names[f"`{symbol}` in {path}" if symbol else path] = None
    listed = list(names)
    return "an edit of " + ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")


def _code(changes: Sequence[Change], places: Sequence[Place]) -> str:
    """The difference of the edits at the places, short."""
    paths = {place.path for place in places}
    texts: list[str] = []
    room = _CODE
    for change in changes:
        if change.path not in paths:
            continue
        text = f"{shown(change.path)}\n{difference(change.old, change.new)}"
        if len(text) > room:
            break
        texts.append(text)
        room -= len(text)
    return "\n".join(texts)


def _tests(reds: Sequence[Red]) -> tuple[str, ...]:
    return tuple(sorted({red.test for red in reds if red.test}))[:12]


def plain_test(name: str) -> str:
    """A test's name without parameters, which may differ from run to run."""
    return name.partition("[")[0] if name.endswith("]") else name


def file_of(test: str) -> str:
    """The file that a test's name begins with; "" where it has none."""
    path = test.partition("::")[0]
    return path if "::" in test and "." in path else ""


def _function(test: str) -> str:
    if "::" not in test:
        return test if test.isidentifier() else test.rpartition(".")[2] if test.replace(".", "").isidentifier() else ""
    return ".".join(plain_test(test).split("::")[1:])


def shown(path: str) -> str:
    """A path as it is told: of one outside of the project only the name, for its folders are those of one machine."""
    return path.rpartition("/")[2] if path.startswith("/") or path[1:2] == ":" else path


def stable(text: str) -> str:
    """A message in one line without what differs from run to run: times, ids, addresses, folders of this machine; short."""
    if not _made:
        import re

        for mark, pattern in (
            ("<id>", r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
            ("<time>", r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b"),
            (" object", r" object at 0x[0-9a-fA-F]{4,16}"),
            ("<address>", r"\b0x[0-9a-fA-F]{5,16}\b|\b(?:127\.0\.0\.1|localhost|0\.0\.0\.0):\d{2,5}\b"),
            ("", r"(?:file://)?(?:/tmp|/var/folders|/private/var|/home|/Users|/root|/workspace|/builds)(?:/[^\s\"'<>:;,()\[\]/]{1,100}){0,20}/(?=[^\s/])"),
            ("", r"\b[A-Za-z]:[\\/](?:[^\s\"'<>:;,()\[\]\\/]{1,100}[\\/]){1,20}(?=[^\s\\/])"),
            ("<hex>", r"\b(?=[0-9a-f]{0,40}?\d)(?=[0-9a-f]{0,40}?[a-f])[0-9a-f]{12,64}\b"),
            ("<duration>", r"\b\d{1,6}(?:\.\d{1,9})? ?(?:ms|µs|ns|seconds?|secs?|s)\b"),
            ("<n>", r"\b\d{7,}\b|\b\d{1,10}\.\d{5,20}\b"),
        ):  # fmt: skip
            _made.append((mark, re.compile(pattern)))
    text = " ".join(text[:2_000].split())
    for mark, made in _made:
        text = made.sub(mark, text)
    return text if len(text) <= _TEXT else text[: _TEXT - 1].rstrip() + "…"
