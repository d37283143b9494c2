"""A real repository for cases about branches: short to write, quick to run, with what was recorded where.

``Story`` is what a case tells: commits, merges, recordings, and what has to be visible from here. Each check is made twice, by what the
last look at all branches left and git's own files, and after a new look.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hardwon.engine import history, opening
from hardwon.engine.visibility import sight
from hardwon.types import Draft, Filter, Origin, Scope
from tests.gitmaker import SETTINGS, START, STEP, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardwon.engine.core import Engine

SCOPE = Scope(Origin("agent", "tester"))
CASES: dict[str, Callable[[Story], None]] = {}
RARE: set[str] = set()


def case(tell: Callable[[Story], None]) -> Callable[[Story], None]:
    """A case, by the name of its function."""
    CASES[tell.__name__] = tell
    return tell


def rare(tell: Callable[[Story], None]) -> Callable[[Story], None]:
    """A case that the quick tests leave out."""
    RARE.add(tell.__name__)
    return case(tell)


class Story:
    """A repository and its memory. ``wrong`` gathers (check, leaked, lost); words name memories, commits are made one an hour."""

    def __init__(self, home: Path, folder: Path, clone_of: str = "", *options: str) -> None:
        self.home, self.path = home, folder
        self.at = 0
        self.checks = 0
        self.wrong: list[tuple[str, list[str], list[str]]] = []
        self.words: dict[str, str] = {}
        self._editor = "true"
        if clone_of:
            self._run("git", "clone", "-q", *options, clone_of, str(folder), cwd=folder.parent)
        else:
            folder.mkdir(parents=True)
            self.git("init", "-q", "-b", "main")
        with (folder / ".git" / "config").open("a") as config:
            config.write(SETTINGS)

    def git(self, *words: str, cwd: Path | None = None, may_fail: bool = False) -> str:
        """Git, with a clock of its own."""
        return self._run("git", *words, cwd=cwd or self.path, may_fail=may_fail)

    def _run(self, *words: str, cwd: Path, may_fail: bool = False) -> str:
        self.at += 1
        stamp = f"@{START + STEP * self.at} +0000"
        dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "GIT_SEQUENCE_EDITOR": self._editor}
        done = subprocess.run(words, cwd=cwd, env=environment(dates), capture_output=True, check=False)
        assert may_fail or done.returncode == 0, f"{words}: {done.stderr.decode()}{done.stdout.decode()}"
        return done.stdout.decode().strip()

    def write(self, name: str, text: str, cwd: Path | None = None) -> None:
        """A file of the working tree."""
        path = (cwd or self.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, name: str, text: str = "", message: str = "", cwd: Path | None = None, *options: str) -> str:
        """One more commit: a file that says ``text``, or three lines of its own."""
        self.write(name, text or "".join(f"{name} line number {i}\n" for i in range(3)), cwd)
        self.git("add", "-A", cwd=cwd)
        self.git("commit", "-q", "-m", message or f"Change {name}", *options, cwd=cwd)
        return self.head(cwd)

    def head(self, cwd: Path | None = None) -> str:
        """The full hash of HEAD."""
        return self.git("rev-parse", "HEAD", cwd=cwd)

    def on(self, branch: str, *options: str, cwd: Path | None = None) -> None:
        """Go to a branch; ``-b`` before its name makes it."""
        self.git("checkout", "-q", *options, branch, cwd=cwd)

    def rebase(self, onto: str, todo: str) -> None:
        """An interactive rebase; ``todo`` is a script of sed over the list of commits."""
        self._editor = f"sed -i '{todo}'"
        self.git("rebase", "-q", "-i", onto)
        self._editor = "true"

    def open(self, cwd: Path | None = None) -> Engine:
        """The memory, as a command started there opens it."""
        return opening.open_engine(str(cwd or self.path), str(self.home), clock=lambda: (START + STEP * self.at) * 1000)

    def init(self) -> None:
        """Make the memory and look at everything."""
        opening.create(str(self.path), str(self.home)).close()
        self.look()

    def look(self, cwd: Path | None = None) -> None:
        """Look at all branches, as ``ingest git`` does."""
        engine = self.open(cwd)
        history.ingest(engine, 1_000, None)  # with the quick rules for secrets: the scanner would load for half a second
        engine.refresh_branches()
        engine.close()

    def note(self, *words: str, cwd: Path | None = None) -> None:
        """Record a memory of each word, here and now."""
        engine = self.open(cwd)
        for word in words:
            receipt = engine.record(Draft(f"The word is {word}", kind="decision"), SCOPE)
            self.words[word] = receipt.id
        engine.close()

    def seen(self, cwd: Path | None = None) -> set[str]:
        """The words that can be seen from here."""
        engine = self.open(cwd)
        with engine.store.read() as reader:
            view = sight(engine, reader)
            found = {memory.id for memory in reader.find(view.narrowed(Filter(derived=False)), -1)}
        assert not view.degraded, view.degraded
        engine.close()
        return {word for word, one in self.words.items() if one in found}

    def changes(self, cwd: Path | None = None) -> set[str]:
        """The subjects of the commits that can be seen from here."""
        engine = self.open(cwd)
        with engine.store.read() as reader:
            found = {one.text for one in reader.find(sight(engine, reader).narrowed(Filter(kinds=("change",))), -1)}
        engine.close()
        return found

    def check(self, what: str, expected: str, *, at_once: str | None = None, cwd: Path | None = None) -> None:
        """What has to be visible from here, as words; ``at_once``: where it can only be known after a new look, what is visible before
        it (which may lack something, but shows nothing that is not to be seen)."""
        for when, words in (("at once", expected if at_once is None else at_once), ("after a look", expected)):
            if when == "after a look":
                self.look(cwd)
            wanted, seen = set(words.split()), self.seen(cwd)
            self.checks += 1
            if seen != wanted:
                self.wrong.append((f"{what}, {when}", sorted(seen - wanted), sorted(wanted - seen)))


def lines(*names: str) -> str:
    """Lines of code that say something each."""
    return "".join(f"{name} = compute_{name}(request, response)\n" for name in names)


def begin(s: Story) -> None:
    """A main branch of two commits, with one memory."""
    s.commit("app.py", lines("first", "second", "third"))
    s.commit("lib.py", lines("lib_one", "lib_two"))
    s.init()
    s.note("main")


def feature(s: Story, *words: str, name: str = "feature") -> None:
    """A branch with a commit and a memory a word."""
    s.on(name, "-b")
    for word in words:
        s.commit(f"{word}.py", lines(f"{word}_one", f"{word}_two", f"{word}_three"))
        s.note(word)
