"""What git prints of commits, parsed as it comes: hash, author, time, message, names of files, patch without context.

A record begins with a NUL at the start of a line, which neither a message nor a patch can contain: the lines of a patch begin
with one of ``d i - + @ \\`` and so on. Memory is bounded: of a commit's diff the first 200 kB are held, of the rest only the
heads of hunks are looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from hardwon.code.diff import unquoted
from hardwon.importers.message import SCAN_LIMIT, pull_request, relations, split_message
from hardwon.types import Change

__all__ = ["FORMAT", "parse"]

# Git writes the message between NULs. The space keeps its last line break away from a NUL, where it would look like a record.
FORMAT = "--format=%x00%H%x00%an%x00%at%x00%B%x20%x00"

FILES_LIMIT = 40
NAME_LENGTH = 4_096  # characters; no system opens a path that is longer
FUNCTIONS_LIMIT = 40
FUNCTION_LENGTH = 120  # characters
IDENTIFIERS_LIMIT = 400
LINE_LENGTH = 400  # characters; longer lines are generated, and hold no names that somebody chose
AUTHOR_LENGTH = 200  # characters
MESSAGE_LIMIT = 4 * SCAN_LIMIT  # bytes; enough for so many characters
DIFF_LIMIT = 200_000  # bytes of a commit's diff that are read for identifiers
LATEST = 253_402_300_799_000  # milliseconds; the end of the year 9999

_FIELDS = 4  # hash, author, seconds, message; the diff follows
_MODES = 14  # bytes of ``:100644 160000``
_SUBMODULE = b"Subproject commit "
_NO_LINE_BREAK = b"\\ No newline at end of file"
_HEAD_LENGTH = 4_096  # bytes
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@(.*)")
_LATER_HUNK = re.compile(rb"\n@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@([^\n]*)(?=\n)")
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")


def parse(read: Callable[[], bytes], branch: str) -> Iterator[Change]:
    """Each commit of the output as a change on ``branch``; ``read`` gives the next bytes, of any number, and none at the end.

    The last one may lack a part of its patch where the output was cut; one that was cut within its message is left out.
    """
    for record in _records(read):
        if change := record.change(branch):
            yield change


def _records(read: Callable[[], bytes]) -> Iterator[_Record]:
    record = None
    tail = b"\n"
    while chunk := read():
        pieces = (tail + chunk).split(b"\n\0")
        tail = b""
        if pieces[-1].endswith(b"\n"):  # perhaps the first half of a boundary
            pieces[-1] = pieces[-1][:-1]
            tail = b"\n"
        if record:
            record.feed(pieces[0])
        for piece in pieces[1:]:
            if record:
                yield record
            record = _Record()
            record.feed(piece)
    if record:
        yield record


class _Record:
    """What git printed of one commit; of its message and its diff the beginnings are held, of the rest only hunks are counted."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.limit = DIFF_LIMIT
        self.diff = _Diff()
        self.carry: bytes | None = None
        self.in_message = False  # beyond what is held of it

    def feed(self, piece: bytes) -> None:
        """Takes the next part, of any size."""
        if self.in_message:
            end = piece.find(b"\0")
            if end < 0:
                return
            self.in_message = False
            piece = piece[end:]
        if self.carry is not None:
            self.carry = self.diff.skim(self.carry + piece)
            return
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > self.limit:
            self._settle()

    def _settle(self) -> None:
        text = b"".join(self.pieces)
        *fields, diff = text.split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:  # the message itself is that long
            self.pieces = [text[:MESSAGE_LIMIT]]
            self.size = len(self.pieces[0])
            self.in_message, self.limit = len(text) > MESSAGE_LIMIT, MESSAGE_LIMIT + DIFF_LIMIT
        elif len(diff) <= DIFF_LIMIT:
            self.pieces, self.limit = [text], self.size - len(diff) + DIFF_LIMIT
        else:
            cut = diff.rfind(b"\n", 0, DIFF_LIMIT)
            self.pieces = [*(field + b"\0" for field in fields)]
            self.diff.read(diff[:cut])
            self.carry = self.diff.skim(diff[cut:])

    def change(self, branch: str) -> Change | None:
        """The commit as a change; None if git died within its message."""
        *fields, rest = b"".join(self.pieces).split(b"\0", _FIELDS)
        if len(fields) < _FIELDS:
            return None
        diff = self.diff
        diff.read(rest)
        sha, author, seconds, message = (field.decode("utf-8", "replace") for field in fields)
        subject, body = split_message(message)
        capped = self.carry is not None or diff.files_left_out or len(message) > SCAN_LIMIT
        return Change(
            sha=sha,
            at=_milliseconds(seconds),
            subject=subject,
            body=body,
            author=author[:AUTHOR_LENGTH],
            branch=branch,
            files=tuple(diff.files),
            functions=tuple(diff.functions),
            added=_identifiers(diff.added, diff.submodules),
            removed=_identifiers(diff.removed, diff.submodules),
            lines_added=diff.lines_added,
            lines_removed=diff.lines_removed,
            pull_request=pull_request(subject, body),
            relations=relations(sha, message),
            extent="capped" if capped else "whole",
        )


class _Diff:
    """What counts of a commit's raw lines (``:mode mode blob blob status<TAB>names``) and of its patch without context."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.functions: dict[str, None] = {}
        self.added: list[bytes] = []
        self.removed: list[bytes] = []
        self.lines_added = 0
        self.lines_removed = 0
        self.files_left_out = False
        self.submodules = False

    def read(self, text: bytes) -> None:
        """Takes all of ``text``. Only heads of files and hunks are looked at singly: a hunk tells how many lines follow."""
        lines = text.split(b"\n")
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.startswith(b"@@"):
                removed, added = self._hunk(_HUNK.match(line))
                self.removed += lines[at : at + removed]
                at += removed
                if added and lines[at : at + 1] == [_NO_LINE_BREAK]:
                    at += 1
                self.added += lines[at : at + added]
                at += added
            elif line.startswith(b":"):
                self._file(line)

    def _file(self, line: bytes) -> None:
        if len(self.files) >= FILES_LIMIT:
            self.files_left_out = True
            return
        self.files.append(unquoted(line.rpartition(b"\t")[2].decode("utf-8", "replace"))[:NAME_LENGTH])
        self.submodules = self.submodules or b"160000" in line[:_MODES]

    def skim(self, text: bytes) -> bytes:
        """Takes the hunks' heads only, from whole lines after the first line break; returns what to put before the next text."""
        for head in _LATER_HUNK.finditer(text):
            self._hunk(head)
        # Of an unfinished line the start is enough: no hunk's head is longer.
        end = max(text.rfind(b"\n"), 0)
        return text[end : end + _HEAD_LENGTH]

    def _hunk(self, head: re.Match[bytes] | None) -> tuple[int, int]:
        if not head:
            return 0, 0
        removed, added = (1 if count is None else int(count) for count in head.group(1, 2))
        self.lines_removed += removed
        self.lines_added += added
        if len(self.functions) < FUNCTIONS_LIMIT and head[3]:
            text = head[3].decode("utf-8", "replace").strip()[:FUNCTION_LENGTH]
            if text:
                self.functions[text] = None
        return removed, added


def _identifiers(lines: list[bytes], submodules: bool) -> tuple[str, ...]:
    """The identifiers of lines (with their + or - before them), most frequent first, then by first appearance."""
    if submodules:  # what git prints for one is no line of code
        lines = [line for line in lines if not line.startswith(_SUBMODULE, 1)]
    if not lines:
        return ()
    if max(map(len, lines)) > LINE_LENGTH:
        lines = [line for line in lines if len(line) <= LINE_LENGTH or len(line.decode("utf-8", "replace")) <= LINE_LENGTH]
    counts = Counter(_IDENTIFIER.findall(b"\n".join(lines)))
    return tuple(word.decode("ascii") for word, _ in counts.most_common(IDENTIFIERS_LIMIT))


def _milliseconds(seconds: str) -> int:
    """The time of a commit, kept between 1970 and 9999; 0 if git could not read it."""
    digits = seconds.strip().removeprefix("-")
    if not digits.isdecimal() or seconds.startswith("-"):
        return 0
    return min(int(digits) * 1000, LATEST)
