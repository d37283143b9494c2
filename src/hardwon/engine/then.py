"""Where a repository stood at a time that has passed: the commit of a branch, and the code that was spoken of then."""

from __future__ import annotations

import subprocess
from bisect import bisect_left

from hardwon.code import git, repo
from hardwon.engine import anchors as _anchors
from hardwon.errors import GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.engine.core import Engine
    from hardwon.types import Anchor

_PATIENCE = 20.0  # seconds for one question; what is not answered then is not known
_NEAR_MS = 600_000  # two moments so near to each other stood at the same commit, as far as anybody can tell


class Then:
    """The past of one repository; each question is asked once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._root = engine.place.checkout.root if engine.place and engine.place.checkout.git_dir else ""
        self._commits: dict[tuple[str, int], str] = {}
        self._touched: dict[str, tuple[list[int], list[str]]] = {}
        self._blobs: dict[tuple[str, str], str] = {}

    def commit(self, branch: str, at: int) -> str:
        """The commit that a branch stood at; "" where that is not known: outside git, of a branch that is gone."""
        if not self._root or not branch or not repo.reference(self._engine.home.checkout, f"refs/heads/{branch}"):
            return ""
        key = (branch, at // _NEAR_MS)
        if key not in self._commits:
            found = self._ask("rev-list", "-1", f"--before={at // 1000}", f"refs/heads/{branch}", "--")
            self._commits[key] = found[0] if found and repo.is_hash(found[0]) else ""
        return self._commits[key]

    def pinned(self, named: Sequence[Anchor], at: int) -> tuple[Anchor, ...]:
        """Anchors with the content that was spoken of: that of the first commit since then which touched the file, for what a session
        did is committed after it; the content as it lies there where none did."""
        found = []
        for anchor in named:
            commit, blob = self._content(anchor.path, at) if anchor.path and self._root else ("", "")
            found.append(anchor.replace(commit=commit, blob=blob) if blob else self._now(anchor))
        return tuple(found)

    def _now(self, anchor: Anchor) -> Anchor:
        head = self._engine.standing[1]
        return _anchors.pinned(self._engine, [anchor.replace(commit=head)])[0]

    def _content(self, path: str, at: int) -> tuple[str, str]:
        if path not in self._touched:
            words = self._ask("log", "--format=%ct %H", "HEAD", "--", f":(literal){path}")
            commits = sorted(zip(map(int, words[::2]), words[1::2], strict=True))
            self._touched[path] = ([one[0] for one in commits], [one[1] for one in commits])
        times, shas = self._touched[path]
        place = bisect_left(times, at // 1000)
        commit = shas[place] if place < len(shas) else ""
        if commit and (path, commit) not in self._blobs:
            blobs = self._ask("rev-parse", "--verify", "--quiet", f"{commit}:{path}")
            self._blobs[path, commit] = blobs[0] if blobs and repo.is_hash(blobs[0]) else ""
        blob = self._blobs.get((path, commit), "")
        return (commit, blob) if blob else ("", "")

    def _ask(self, *words: str) -> list[str]:
        try:
            done = git.run(self._root, words, patience=_PATIENCE)
        except (GitFailed, subprocess.TimeoutExpired):
            return []
        return done.stdout.decode("ascii", "replace").split() if not done.returncode else []
