"""What shell commands are: test runs and which tests they name, builds, lints, installs, searches. Pure and light.

A command line may do several things. ``works`` tells them one by one, each with whether the exit code of the whole line is its own.
"""

from __future__ import annotations

from posixpath import normpath

from hardwon.capture.command_table import (
    BY_WORD,
    INTERPRETERS,
    LISTING,
    NARROWING,
    SAME_AS,
    SETS,
    STOPPING,
    TESTERS,
    UPDATING,
    VALUES,
)
from hardwon.capture.package_managers import by_script, of_package_manager
from hardwon.capture.programs import container, is_python, program, proper
from hardwon.capture.shell import flat, handed_on, split, spoken
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from hardwon.capture.shell import SimpleCommand

    # look: reads files or asks the system and changes nothing; run: a program of the project; other: we do not know.
    WorkKind = Literal[
        "test", "build", "types", "lint", "format", "install", "git", "search", "look", "network", "run", "own", "other"
    ]
else:
    WorkKind = str

_LONGEST = 300  # characters of a command as it is shown
_MOST = 30  # works of one line

# Kinds that say by red or green whether the code is right.
CHECKS = frozenset(("test", "build", "types", "lint", "run"))
# Kinds that leave the files and the machine as they are.
_HARMLESS = frozenset(("test", "build", "types", "lint", "search", "look", "own"))


class Work(Value):
    """One thing that a command line does. ``runner``: the program or test runner; ``targets``: the files, folders or tests that it is told
    to look at, relative to ``folder``'s parent as far as that is known; ``narrow``: a pattern that picks among them (``-k``, ``-run``).
    ``key`` is equal for two commands that check the same in the same container. ``stops``: it stops at its first failure, so that the
    rest is not told.
    ``certain``: an exit code of the line is this one's (no pipe, ``||`` or ``;`` behind it). ``inline``: a program that is written on
    the line itself, or fed to an interpreter, so that no two of them are the same check. ``folder``: where it runs; ``chained``: what
    stands behind it on the line runs only where this passed."""

    kind: WorkKind
    runner: str
    key: str
    shown: str
    targets: tuple[str, ...] = ()
    narrow: str = ""
    stops: bool = False
    certain: bool = True
    harmless: bool = False
    inline: bool = False
    folder: str = ""
    chained: bool = False


# Options behind which an interpreter is given a program, and those of interpreters that take another value.
_GIVEN = {"php": ("-r",), "": ("-e", "-p", "-pe", "--eval", "--print")}
_WITH_VALUE = frozenset(("-W", "-X", "-r", "--require", "--import", "--loader", "--env-file", "-I"))
_BY_PROGRAM: dict[str, str] = {}
_MANAGERS = frozenset(("npm", "yarn", "pnpm", "bun"))
_ASKED = _MANAGERS | {"corepack"}
_PACKAGE = frozenset(("--filter", "-F", "--workspace"))
_FOLDER = frozenset(("-C", "--dir", "--prefix", "--cwd"))


def works(command: str, folder: str = "", deepest: int = 3) -> tuple[Work, ...]:
    """What a command line does, in order. ``folder``: where it runs, relative to the project, "" for its top;
    ``deepest``: how many shells inside shells are looked into."""
    return _works(spoken(command), folder, deepest)


def _works(listed: list[SimpleCommand], folder: str, deepest: int, inside: str = "") -> tuple[Work, ...]:
    found: list[Work] = []
    for at, simple in enumerate(listed):
        if simple.words[:1] == ("cd",) and len(simple.words) > 1:
            folder = _moved(folder, simple.words[1])
            continue
        certain, chained = _decides(listed, at), [one.joined for one in listed[at + 1 : at + 2]] == ["&&"]
        text = handed_on(simple)
        if text and not text.isspace() and deepest:
            within = _works(split(text), folder, deepest - 1, container(simple.words) or inside)
            found += [work.replace(certain=certain and work.certain) for work in within]
            continue
        for inner in flat((simple,)):
            work = _work(inner, folder, inside)
            if work is not None:
                found.append(work.replace(certain=certain and work.certain, chained=chained and inner is simple))
        if len(found) >= _MOST:
            break
    return tuple(found)


def _moved(folder: str, to: str) -> str:
    if to.startswith(("/", "~", "$")) or to[1:2] == ":":
        return to.rstrip("/")
    return normpath(f"{folder}/{to}" if folder else to).removeprefix("./")


def _decides(listed: list[SimpleCommand], at: int) -> bool:
    """Whether the exit code of the whole line tells how this one of its commands ended: nothing behind it that has another say."""
    if any(word == "pipefail" for one in listed[:at] for word in one.words):
        return all(one.joined in ("&&", "|", "|&") for one in listed[at + 1 :])
    return all(one.joined == "&&" for one in listed[at + 1 :])


def _work(simple: SimpleCommand, folder: str, inside: str) -> Work | None:
    seen = simple.words if program(simple.words[0] if simple.words else "") in _ASKED else proper(simple.words)
    plain, folder, packages = _of_one_package(seen, folder)
    words = proper(plain)
    if not words:
        return None
    kind, runner = _named(words, simple)
    if kind in CHECKS and not LISTING.isdisjoint(words[1:]):
        kind = "look"
    rest = words[1:]
    targets: tuple[str, ...] = ()
    narrow, stops = "", False
    if kind in CHECKS:
        targets, narrow, stops = _told(runner, kind, rest)
        targets = tuple(sorted({*packages, *(_placed(folder, target) for target in targets)}))
    shown = " ".join((*(f"{name}={value}" for name, value in simple.assignments), *simple.words))[:_LONGEST]
    harmless = kind in _HARMLESS and not (kind == "test" and not UPDATING.isdisjoint(words[1:]))
    told = (runner, folder, *targets, narrow, tags_of(shown)) if kind == "test" else (folder, *words, *packages)
    key = " ".join(filter(None, told))
    place = _place_of(kind, container(simple.words) or inside)
    inline = kind == "run" and _is_inline(words, simple)
    return Work(kind, runner, f"{place}:{key}"[:_LONGEST], shown, targets, narrow, stops, True, harmless, inline, folder)


def _place_of(kind: str, name: str) -> str:
    """What a key begins with: the kind, and the container it is checked in."""
    return f"{kind}@{name.replace(':', ' ')[:60]}" if name else kind


def is_elsewhere(check: str, other: str) -> bool:
    """Whether of two checks, by their keys, one runs in a container and the other in none or in another one."""
    return check.partition(":")[0].partition("@")[2] != other.partition(":")[0].partition("@")[2]


def tags_of(shown: str) -> str:
    """The tags that Go is told to build with; "" for none."""
    words = shown.replace("=", " ").split()
    at = next((at for at, word in enumerate(words) if word in ("-tags", "--tags")), len(words))
    return "".join(words[at + 1 : at + 2])


def _is_inline(words: tuple[str, ...], simple: SimpleCommand) -> bool:
    """Whether what runs stands on the line itself: behind ``-c`` or ``-e``, in a heredoc, or piped into an interpreter."""
    if any(redirect.operator in ("<<", "<<-", "<<<") for redirect in simple.redirects):
        return True
    name = words[0]
    if not (is_python(name) or name == "node" or name in INTERPRETERS):
        return False
    given = () if is_python(name) else _GIVEN.get(name, _GIVEN[""])
    at = 1
    while at < len(words):
        word = words[at]
        if word == "-" or word in given or (is_python(name) and word.endswith("c") and word[0] == "-" and word[1:2] != "-"):
            return True
        if not word.startswith("-"):
            return False  # a file
        at += 2 if word in _WITH_VALUE else 1
    return simple.joined in ("|", "|&") or any(redirect.operator == "<" for redirect in simple.redirects)


def _of_one_package(words: tuple[str, ...], folder: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """What a package manager is asked for, without the options that say of which package or in which folder; that folder, and the
    packages."""
    if words[:1] == ("corepack",) and words[1:2] and words[1] in _MANAGERS:
        words = words[1:]
    manager = words[0] if words else ""
    if manager not in _MANAGERS:
        return words, folder, ()
    kept, packages, at = [manager], [], 1
    while at < len(words) and words[at] != "--":
        name, equals, value = words[at].partition("=")
        picks = name in _PACKAGE or (manager, name) == ("npm", "-w") or (manager, name, len(kept)) == ("yarn", "workspace", 1)
        if not picks and name not in _FOLDER:
            kept.append(words[at])
            at += 1
            continue
        value = value if equals else "".join(words[at + 1 : at + 2])
        if picks:
            packages.append(value)
        else:
            folder = _moved(folder, value)
        at += 1 if equals else 2
    return (*kept, *words[at:]), folder, tuple(packages)


def _named(words: tuple[str, ...], simple: SimpleCommand) -> tuple[WorkKind, str]:
    """Kind and runner of a command by its program and first words."""
    from hardwon.capture.ours import is_command_of_ours

    name = words[0]
    if is_command_of_ours(simple):
        return "own", "hardwon"
    for reader in (_of_tester, of_package_manager, _by_word, _of_interpreter, _of_builder):
        told = reader(words)
        if told:
            return told
    kind = _by_program(name)
    if kind == "lint" and any(word in ("--fix", "-a", "-A", "--autocorrect") for word in words):
        kind = "format"
    if name == "tsc" and "--noEmit" in words:
        kind = "types"
    if kind:
        return kind, name  # type: ignore[return-value]  # words of the set
    script = simple.words and ("/" in simple.words[0] or name.endswith((".sh", ".py", ".js", ".ps1")))
    return ("run", name) if script or name in INTERPRETERS else ("other", name)


def _of_tester(words: tuple[str, ...]) -> tuple[WorkKind, str] | None:
    runner = TESTERS.get(words[0])
    if not runner:
        return None
    return ("test", runner) if "--version" not in words else ("look", words[0])


def _by_word(words: tuple[str, ...]) -> tuple[WorkKind, str] | None:
    """What a program does that does many things: the first word decides that is one of those."""
    table = BY_WORD.get(SAME_AS.get(words[0], words[0]), {})
    for word in words[1:]:
        found = table.get(word) or table.get(word.rpartition(":")[2])
        if found:
            return found  # type: ignore[return-value]  # words of the set
    return None


def _of_interpreter(words: tuple[str, ...]) -> tuple[WorkKind, str] | None:
    name = words[0]
    if is_python(name):
        return _of_python(words)
    if name == "node":
        if "--run" in words:
            return by_script("".join(words[words.index("--run") + 1 :][:1]), "node")
        return ("test", "node") if "--test" in words else ("run", "node")
    if name in ("sed", "perl"):
        return ("other", name) if any(word.startswith(("-i", "-pi")) for word in words[1:]) else ("look", name)
    return None


def _of_builder(words: tuple[str, ...]) -> tuple[WorkKind, str] | None:
    """Make and its like: by the name of the target."""
    if words[0] in ("mise", "turbo"):
        named = [word for word in words[1:] if not word.startswith("-")]
        asked = named[:1] in (["run"], ["r"])
        script = "".join(named[1:2] if asked else named[:1] if words[0] == "turbo" else ())
        return by_script(script, words[0]) if script else None
    if words[0] not in ("make", "gmake", "just", "task", "ninja", "invoke", "inv"):
        return None
    told = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    return by_script(told, words[0]) if told else ("build", words[0])


def _by_program(name: str) -> str:
    if not _BY_PROGRAM:
        for kind, names in SETS:
            for one in names.split():
                _BY_PROGRAM.setdefault(one, kind)
    return _BY_PROGRAM.get(name, "")


def _of_python(words: tuple[str, ...]) -> tuple[WorkKind, str]:
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    if script.endswith("manage.py") and "test" in words:
        return "test", "unittest"
    if script.endswith("setup.py") and ("install" in words or "develop" in words):
        return "install", "python"
    if script.endswith("runtests.py"):
        return "test", "unittest"
    if "--version" in words or "-V" in words:
        return "look", "python"
    return "run", "python"


def _told(runner: str, kind: str, words: tuple[str, ...]) -> tuple[tuple[str, ...], str, bool]:
    """Targets, narrowing pattern, and whether the first failure stops it."""
    narrowing = NARROWING.get(runner, ())
    targets: list[str] = []
    narrow: list[str] = []
    stops = False
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        stops = stops or (kind == "test" and word in STOPPING and not (runner == "go" and word == "-f"))
        if name in narrowing:
            picked = value if equals else words[at + 1] if at + 1 < len(words) else ""
            narrow.append(f"not {picked}" if name in ("--deselect", "--ignore", "--skip") else picked)
            at += 1 if equals else 2
        elif word == "--":
            at += 1
        elif word.startswith("-"):
            at += 2 if not equals and word in VALUES else 1
        else:
            if not (kind == "test" and _is_verb(runner, word, targets)):
                targets.append(word.rstrip("/") or word)
            at += 1
    if runner == "go":
        targets = [target for target in targets if target not in ("./...", "...", "all")]
    return (
        tuple(target for target in targets if target not in (".", "./", "tests", "test") or kind != "test"),
        " ".join(narrow),
        stops,
    )


def _is_verb(runner: str, word: str, before: list[str]) -> bool:
    """Whether a word is the runner's verb and no target (``go test``, ``npm run test``)."""
    if before:
        return False
    if word in TESTERS or word.endswith("manage.py"):
        return True
    if runner in ("maven", "gradle"):
        return True
    return word in (
        "test",
        "t",
        "run",
        "nextest",
        "run-script",
        "run-many",
        "affected",
        "precommit",
        "watch",
        "exec",
        "check",
        "verify",
        "ci",
        "discover",
        "unit",
    ) or word.startswith("test:")


def _placed(folder: str, target: str) -> str:
    """A target from the project's top: ``backend`` and ``tests/a.py::x`` are ``backend/tests/a.py::x``."""
    path, sign, test = target.partition("::")
    path = path.replace("\\", "/")
    if path.startswith("./"):
        path = path[2:]
    if folder and not path.startswith("/") and folder not in (".", ""):
        path = f"{folder}/{path}"
    return f"{path}{sign}{test}"
