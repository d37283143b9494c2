"""Large repositories, made quickly by ``git fast-import``, the same for the same seed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from random import Random
from typing import IO

from tests.gitmaker import START, environment

_WORDS = """
    account address agent alert archive array asset audit auth batch binary block branch bridge broker bucket buffer build
    bundle cache call cart catalog channel chart check chunk client clock cluster codec column command config consumer context
    cookie copy core count cursor data date debug delta device diff digest disk domain draft driver edge editor email engine
    entry error event export fetch field file filter flag folder font form frame gateway graph grid group guard handle hash
    header heap hint history hook host image import index input invoice item job journal kernel key label layer layout lease
    ledger limit line link list loader lock log mail map mask match memory menu message meter metric mode module mount name
    network node note number object offset order output owner packet page parser part path payload peer permission pipe plan
    point policy pool port prefix price profile proxy query queue quota range rate reader record region registry relay render
    report request resource result retry ring role route row rule sample scan schema scope screen script search secret sector
    segment sender server service session shape share shell signal site size slot socket source span split stack stage state
    status step stock store stream string style sync table tag target task template tenant thread ticket tile timer token tool
    topic trace track tree trigger tunnel type unit update upload user value vector vendor version view volume walker watch
    widget window worker writer zone
"""
_ROOTS = tuple(_WORDS.split())
_VERBS = (
    "add",
    "allow",
    "avoid",
    "bound",
    "cache",
    "check",
    "drop",
    "fix",
    "guard",
    "keep",
    "log",
    "move",
    "rename",
    "retry",
    "split",
    "use",
)
_REASONS = (
    "It was slow when many {0}s arrive at once, because each {1} took the lock.",
    "Users saw an empty {0} after the {1} had been restarted.",
    "The {0} may be gone by the time that the {1} is read.",
    "Without this the {0} leaks a {1} on every error.",
    "So that the {0} can be tested without a {1}.",
)


class _Growth:
    """A history as a stream for ``git fast-import``; files and what may be referred to are kept, nothing else."""

    def __init__(self, pipe: IO[bytes], answers: IO[bytes], seed: int) -> None:
        self._pipe, self._answers = pipe, answers
        self._random = Random(seed)
        self._files: dict[str, list[str]] = {}
        self._names: list[str] = []  # of the files
        self._mark = 0
        self._request = 0
        self._recent: list[tuple[int, str, str, list[str]]] = []  # mark, subject, file, its lines before

    def grow(self, commits: int) -> None:
        """The main branch; merges are added on top of the number."""
        made = 0
        while made < commits:
            if made and made + 3 < commits and self._random.random() < 0.01:
                self._side_branch()
                made += 3
            else:
                self._main_commit()
                made += 1

    def _main_commit(self) -> None:
        chance = self._random.random()
        if self._recent and chance < 0.01:
            mark, subject, file, before = self._recent.pop()
            message = f'Revert "{subject}"\n\nThis reverts commit {self._sha(mark)}.\n\n{self._reason()}\n'
            self._commit("main", message, {file: before}, self._mark)
            return
        file, before, after = self._edit()
        subject = self._subject(file)
        message = f"{subject}\n"
        if self._random.random() < 0.6:
            message += f"\n{self._reason()}\n{self._reason()}\n"
        if self._recent and chance < 0.04:
            mark, other, _, _ = self._random.choice(self._recent)
            message += f'\nFixes: {self._sha(mark)[:12]} ("{other}")\n'
        self._commit("main", message, {file: after}, self._mark)
        self._recent = [*self._recent[-40:], (self._mark, subject, file, before)]

    def _side_branch(self) -> None:
        base = self._mark
        file = f"{self._random.choice(_ROOTS)}/{self._name()}_{base}.py"
        title = self._subject(file)
        self._files[file] = []
        for parent in (base, base + 1, base + 2):
            self._commit("side", f"{self._subject(file)}\n", {file: [*self._files[file], *self._function()]}, parent)
        self._request += 1
        message = f"Merge pull request #{self._request} from dev/{self._name()}\n\n{title}\n"
        self._commit("main", message, {file: self._files[file]}, base, merged=self._mark)

    def _edit(self) -> tuple[str, list[str], list[str]]:
        new = len(self._files) < 40 or (len(self._files) < 3000 and self._random.random() < 0.03)
        file = f"{self._random.choice(_ROOTS)}/{self._name()}.py" if new else self._hot()
        before = self._files.get(file, [])
        after = list(before)
        if len(after) < 12 or (len(after) < 150 and self._random.random() < 0.4):
            at = self._random.randrange(len(after) + 1)
            after[at:at] = self._function()
        else:
            for _ in range(self._random.randint(1, 4)):
                after[self._random.randrange(len(after))] = self._line()
            if len(after) > 140:
                del after[20:60]
        self._files[file] = after
        return file, before, after

    def _hot(self) -> str:
        """A few files change often, as they do."""
        if len(self._names) != len(self._files):
            self._names = list(self._files)
        return self._names[int(len(self._names) * self._random.random() ** 3)]

    def _function(self) -> list[str]:
        lines = [self._line() for _ in range(self._random.randint(2, 8))]
        return [f"def {self._name()}({self._random.choice(_ROOTS)}):", *lines, f"    return {self._name()}", "", ""]

    def _line(self) -> str:
        return f"    {self._name()} = {self._name()}({self._random.choice(_ROOTS)}, {self._random.randrange(1000)})"

    def _name(self) -> str:
        return "_".join(self._random.choices(_ROOTS, k=2))

    def _subject(self, file: str) -> str:
        words = self._random.choices(_ROOTS, k=2)
        return f"{file.partition('/')[0]}: {self._random.choice(_VERBS)} the {words[0]} {words[1]}"

    def _reason(self) -> str:
        return self._random.choice(_REASONS).format(*self._random.choices(_ROOTS, k=2))

    def _commit(self, branch: str, message: str, files: Mapping[str, list[str]], parent: int, merged: int = 0) -> None:
        self._mark += 1
        text = message.encode()
        person = f"Dev {self._mark % 37} <dev{self._mark % 37}@example.org> {START + 600 * self._mark} +0000"
        head = f"commit refs/heads/{branch}\nmark :{self._mark}\nauthor {person}\ncommitter {person}\ndata {len(text)}\n"
        parents = (f"from :{parent}\n" if parent else "") + (f"merge :{merged}\n" if merged else "")
        self._pipe.write(head.encode() + text + parents.encode())
        for name, lines in files.items():
            content = ("\n".join(lines) + "\n").encode()
            self._pipe.write(f"M 100644 inline {name}\ndata {len(content)}\n".encode() + content)
            self._files[name] = list(lines)

    def _sha(self, mark: int) -> str:
        self._pipe.write(f"get-mark :{mark}\n".encode())
        self._pipe.flush()
        return self._answers.readline().decode("ascii").strip()


def make_large(path: str | os.PathLike[str], commits: int, seed: int = 1) -> str:
    """A bare repository with so many commits (and some merges) on ``main``, the same for the same seed: some 3,000 a second.

    Small edits of up to 3,000 files, messages with reasons, reverts, ``Fixes:`` lines and merged side branches. Its path.
    """
    folder = os.fspath(path)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], env=environment({}), check=True)
    command = ["git", "-C", folder, "fast-import", "--quiet", "--date-format=raw"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment({})) as process:
        assert process.stdin and process.stdout
        _Growth(process.stdin, process.stdout, seed).grow(commits)
        process.stdin.close()
    assert process.returncode == 0
    subprocess.run(["git", "-C", folder, "update-ref", "-d", "refs/heads/side"], env=environment({}), check=True)
    return folder
