"""How some files changed along the main line: each commit that HEAD's first parents lead to, with the blobs before and after.

A merge counts as one change, made when it was merged. Along all branches the versions of a file do not form one sequence: two
branches that each raise another package would look like each other's undoing.
"""

from __future__ import annotations

from contextlib import closing

from hardwon.code import git
from hardwon.importers.message import relations, split_message
from hardwon.importers.snapshot import log_tokens, milliseconds
from hardwon.types import Change, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Edit(Value):
    """A file in a commit: git's names of its content before and after, "" where there was none."""

    path: str
    before: str
    after: str


class Step(Value):
    """A commit of the main line, and its edits of the files that were asked for."""

    commit: Change
    edits: tuple[Edit, ...]


class Mainline:
    """Steps newest first; ``whole`` is False after reading where git could not go on to the beginning (a partial clone)."""

    def __init__(self, root: str, revisions: str, wanted: Callable[[str], bool]) -> None:
        self.root = root
        self.revisions = revisions
        self.wanted = wanted
        self.whole = True

    def __iter__(self) -> Iterator[Step]:
        arguments = ["--first-parent", "-m", "--format=%H%x00%an%x00%at%x00%B%x00", self.revisions, "--"]
        try:
            with closing(log_tokens(self.root, arguments)) as tokens:
                yield from self._steps(tokens)
        except git.Died:
            self.whole = False

    def _steps(self, tokens: Iterator[bytes]) -> Iterator[Step]:
        head: tuple[bytes, ...] = ()
        edits: list[Edit] = []
        for token in tokens:
            plain = token.lstrip(b"\n")
            if plain.startswith(b":"):
                path = next(tokens, b"").decode("utf-8", "surrogateescape")
                edit = _edit(plain, path) if self.wanted(path) else None
                if edit:
                    edits.append(edit)
            elif plain:
                if edits:
                    yield Step(_commit(*head), tuple(edits))
                head, edits = (plain, next(tokens, b""), next(tokens, b""), next(tokens, b"")), []
        if edits:
            yield Step(_commit(*head), tuple(edits))


def _edit(raw: bytes, path: str) -> Edit | None:
    """``:mode mode blob blob status`` of a path; None for what is no regular file on either side."""
    fields = raw[1:].split(b" ")
    if len(fields) < 5:
        return None
    before, after = (
        blob.decode("ascii", "replace") if mode.startswith(b"100") else ""
        for mode, blob in ((fields[0], fields[2]), (fields[1], fields[3]))
    )
    return Edit(path, before, after) if before or after else None


def _commit(sha: bytes, author: bytes, seconds: bytes, message: bytes) -> Change:
    name, text = sha.decode("ascii", "replace"), message.decode("utf-8", "replace")
    subject, body = split_message(text)
    return Change(
        sha=name,
        at=milliseconds(seconds),
        subject=subject,
        body=body,
        author=author.decode("utf-8", "replace"),
        relations=relations(name, text),
    )


def leads_to(root: str, older: str, newer: str) -> bool:
    """Whether one commit is an ancestor of another; False where either is not there."""
    return git.run(root, ["merge-base", "--is-ancestor", older, newer]).returncode == 0
