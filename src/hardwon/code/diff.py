"""A unified diff as values: which files it changes, and which lines of them on either side. Light and linear: for the quick path.

Read are the outputs of git (``diff``, ``show``, ``log -p``, ``format-patch``, combined diffs of merges) and of ``diff -u``. Written
without regular expressions, which the quick path would have to import.
"""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 10_000_000  # characters
_HEX = frozenset("0123456789abcdef")
# Git's prefixes of the old and the new side: of two commits, and with diff.mnemonicPrefix of commit, index, working tree, object.
_PREFIXES = ("a/", "b/", "c/", "i/", "w/", "o/")
_NAMED = ("rename from ", "copy from ", "rename to ", "copy to ")
_REMEDY = "give what `git diff`, `git show` or `diff -u` prints"


class FileChange(Value):
    """What a diff does to one file. ``old_path`` is "" for a new file, ``new_path`` for a deleted one; both without ``a/`` and ``b/``.

    ``old_lines`` and ``new_lines`` are the lines that are removed and added, as (first, count), without those around them; count is 0
    where the other side has the lines: then ``first`` is the line after which they stand there (0 at the top); of a binary file there
    are none. ``old_blob`` and ``new_blob`` are git's hashes, mostly abbreviated, "" where the diff has none or the side does not exist.
    Of a merge's combined diff the old side is the first parent.
    """

    old_path: str
    new_path: str
    old_blob: str = ""
    new_blob: str = ""
    old_lines: tuple[tuple[int, int], ...] = ()
    new_lines: tuple[tuple[int, int], ...] = ()

    @property
    def path(self) -> str:
        """What the file is called after the change; before it, where it was deleted."""
        return self.new_path or self.old_path


def parse(text: str) -> tuple[FileChange, ...]:
    """The files of a diff in its order, once for each commit; () for an empty text and for commits without a patch.

    InvalidInput for what is no diff, and for more than 10 million characters.
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"the diff has more than {LONGEST:,} characters", field="diff", remedy="give a part of it")
    reader = _Reader(text.split("\n"))
    found = reader.read()
    if not found and not reader.commits and text.strip():
        raise InvalidInput("that is no unified diff", field="diff", remedy=_REMEDY)
    return found


class _Draft:
    """A file of the diff while it is read."""

    def __init__(self, old: str, new: str, *, git: bool) -> None:
        self.old, self.new, self.git = old, new, git
        self.old_blob = self.new_blob = ""
        self.old_lines: list[tuple[int, int]] = []
        self.new_lines: list[tuple[int, int]] = []
        self.created = self.deleted = False
        self.has_hunks = False
        self.sure = False  # git named the paths without a prefix

    def finish(self) -> FileChange:
        return FileChange(
            "" if self.created else self.old,
            "" if self.deleted else self.new,
            "" if self.created else self.old_blob,
            "" if self.deleted else self.new_blob,
            tuple(self.old_lines),
            tuple(self.new_lines),
        )


class _Reader:
    """The state of reading: the lines, where we are, and the file at hand."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0
        self.file: _Draft | None = None
        self.done: list[FileChange] = []
        self.commits = False

    def read(self) -> tuple[FileChange, ...]:
        while self.at < len(self.lines):
            line = self.lines[self.at].removesuffix("\r")
            self.at += 1
            if line.startswith("diff --"):
                self._begin(line)
            elif line.startswith("--- ") and self._peek().startswith("+++ "):
                self._names(line, self._peek())
            elif line.startswith("@@") and self.file is not None:
                self._hunk(line)
            elif self.file is not None and self.file.git:
                self._header(self.file, line)
            if line.startswith(("commit ", "From ")) and _is_commit(line):
                self._end()
                self.commits = True
        self._end()
        return tuple(self.done)

    def _peek(self) -> str:
        return self.lines[self.at].removesuffix("\r") if self.at < len(self.lines) else ""

    def _end(self) -> None:
        change = self.file.finish() if self.file is not None else None
        if change is not None and change.path:  # a header that names no file, as in a text about diffs, is none
            self.done.append(change)
        self.file = None

    def _begin(self, line: str) -> None:
        self._end()
        kind, _, rest = line.removeprefix("diff --").partition(" ")
        if kind == "git":
            old, new = _both(rest)
            self.file = _Draft(old, new, git=True)
        elif kind in ("cc", "combined"):
            path = unquoted(rest)
            self.file = _Draft(path, path, git=True)
            self.file.sure = True

    def _header(self, file: _Draft, line: str) -> None:
        """A line between ``diff --git`` and the first hunk."""
        if line.startswith("index "):
            old, _, new = line[6:].partition(" ")[0].partition("..")
            file.old_blob, file.new_blob = _blob(old.partition(",")[0]), _blob(new)
        elif line.startswith("new file mode"):
            file.created = True
        elif line.startswith("deleted file mode"):
            file.deleted = True
        elif line.startswith(_NAMED):
            path = unquoted(line.partition(" from " if " from " in line[:12] else " to ")[2])
            if " from " in line[:12]:
                file.old = path
            else:
                file.new = path
            file.sure = True

    def _names(self, first: str, second: str) -> None:
        """The lines ``---`` and ``+++``; without git's header before them, a file of its own."""
        self.at += 1
        old, new = _named(first[4:]), _named(second[4:])
        file = self.file
        if file is None or not file.git or file.has_hunks:
            # A file of another program's diff; its hunks come next, or it was an ordinary text.
            if not self._peek().startswith("@@"):
                return
            self._end()
            self.file = _Draft(*_together(old, new), git=False)
            self.file.created, self.file.deleted = not old, not new
        elif not file.sure:
            if not (file.old and file.new):
                file.old, file.new = _bare(old, new)
            file.created, file.deleted = file.created or not old, file.deleted or not new

    def _hunk(self, line: str) -> None:
        marks = len(line) - len(line.lstrip("@"))
        ranges = line[marks:].partition("@" * marks)[0]
        sides = [_range(word) for word in ranges.split()]
        if marks < 2 or len(sides) != marks or None in sides or self.file is None:
            return
        self.file.has_hunks = True
        body = _Body(self.file, [side for side in sides if side is not None])
        self.at = body.read(self.lines, self.at)


class _Body:
    """The lines of one hunk. ``sides`` are (first, count) of each parent and of the result."""

    def __init__(self, file: _Draft, sides: list[tuple[int, int]]) -> None:
        self.file = file
        self.left = [count for _, count in sides]
        # A side without lines is named by the line before them.
        self.old, self.new = (first if count else first + 1 for first, count in (sides[0], sides[-1]))
        self.parents = len(sides) - 1
        self.removed = self.added = 0

    def read(self, lines: Sequence[str], at: int) -> int:
        """Where the hunk ends. One that is cut off ends where its lines do."""
        while at < len(lines) and (any(self.left) or lines[at].startswith("\\")):
            line = lines[at]
            # An editor may have taken the blank of an empty line away.
            marks = line[: self.parents] if line.rstrip("\r") else ""
            if not line.startswith("\\") and not self._take(marks.ljust(self.parents)):
                break
            at += 1
        self._flush()
        return at

    def _take(self, marks: str) -> bool:
        """One line by its marks, one a parent; False where it cannot be one of this hunk."""
        gone = "-" in marks
        present = [mark == "-" if gone else mark != "+" for mark in marks] + [not gone]
        if marks.strip(" +-") or any(here and not left for here, left in zip(present, self.left, strict=True)):
            return False
        self.left = [left - here for here, left in zip(present, self.left, strict=True)]
        if present[0] and not gone:
            self._flush()
            self.old += 1
            self.new += 1
        elif gone:
            self.removed += present[0]
        else:
            self.added += 1
        return True

    def _flush(self) -> None:
        """Write down the lines removed and added in a row."""
        if self.removed or self.added:
            self.file.old_lines.append((self.old, self.removed) if self.removed else (self.old - 1, 0))
            self.file.new_lines.append((self.new, self.added) if self.added else (self.new - 1, 0))
        self.old += self.removed
        self.new += self.added
        self.removed = self.added = 0


# --- words of headers


def _is_commit(line: str) -> bool:
    word = line.split(" ", 2)[1]
    return len(word) >= 7 and _HEX.issuperset(word)


def _blob(word: str) -> str:
    """A hash; "" for what is none, and for the one of nothing."""
    return word if word and _HEX.issuperset(word) and word.strip("0") else ""


def _range(word: str) -> tuple[int, int] | None:
    """``-12,3`` as (12, 3); None for what is no range."""
    first, comma, count = word[1:].partition(",")
    if word[:1] not in ("-", "+") or not _digits(first) or (comma and not _digits(count)):
        return None
    return int(first), int(count) if comma else 1


def _digits(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _named(text: str) -> str:
    """The name after ``---`` or ``+++``, with its prefix; "" for none: /dev/null, or a file that diff -N dates 1970."""
    name, _, stamp = text.partition("\t")
    if name.startswith('"'):
        name = unquoted(name)
    elif not stamp:
        name = name.rstrip()
    if stamp.startswith(("1970-01-01 ", "1969-12-31 ")):
        return ""
    return "" if name == "/dev/null" else name


def _both(rest: str) -> tuple[str, str]:
    """The two names after ``diff --git``, without prefixes; ("", "") where they cannot be told apart."""
    if rest.startswith('"') or rest.endswith('"'):
        return _bare(*_quoted_pair(rest))
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " " and rest[:middle].partition("/")[2] == rest[middle + 1 :].partition("/")[2]:
        return _bare(rest[:middle], rest[middle + 1 :])
    words = rest.split(" ")
    if len(words) == 2:
        return _bare(words[0], words[1])
    return "", ""  # renamed, with blanks in the names: lines of their own name both


def _quoted_pair(rest: str) -> tuple[str, str]:
    if not rest.startswith('"'):
        first, _, second = rest.partition(' "')
        return first, unquoted('"' + second)
    end = 1
    while end < len(rest) and rest[end] != '"':
        end += 2 if rest[end] == "\\" else 1
    return unquoted(rest[: end + 1]), unquoted(rest[end + 2 :])


def _bare(old: str, new: str) -> tuple[str, str]:
    """Both names without the prefixes that git put before them.

    Equal names have none (``--no-prefix``). Else git's own go, or the first folders (``--src-prefix``, two folders compared) where what
    follows is the same.
    """
    if old == new:
        return old, new
    if old[:2] in _PREFIXES and new[:2] in _PREFIXES:
        return old[2:], new[2:]
    if not (old and new):
        one = old or new
        one = one[2:] if one[:2] in _PREFIXES else one
        return (one, "") if old else ("", one)
    common = _common_end(old.split("/"), new.split("/"))
    return (common, common) if common else (old, new)


def _together(old: str, new: str) -> tuple[str, str]:
    """The names of a diff without git's header: one file, whatever was put before or behind its name."""
    old, new = _bare(old, new)
    for longer, shorter in ((old, new), (new, old)):
        if shorter and longer.startswith(shorter) and longer[len(shorter) :] in (".orig", ".old", ".bak", ".new", "~"):
            return shorter, shorter
    return old.removeprefix("./"), new.removeprefix("./")


def _common_end(old: list[str], new: list[str]) -> str:
    count = 0
    while count < min(len(old), len(new)) and old[-1 - count] == new[-1 - count]:
        count += 1
    return "/".join(old[len(old) - count :])


_ESCAPED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def unquoted(text: str) -> str:
    """A name as git quotes it (``"a/\\303\\244.py"``) as it is; any other as it stands."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    out = bytearray()
    at, end = 1, len(text) - 1
    while at < end:
        stop = text.find("\\", at, end)
        out += text[at : stop if stop >= 0 else end].encode("utf-8", "replace")
        if stop < 0:
            break
        digits, code = text[stop + 1 : stop + 4], text[stop + 1 : stop + 2]
        if len(digits) == 3 and digits.isascii() and not digits.strip("01234567"):
            out.append(int(digits, 8) & 255)
            at = stop + 4
        else:
            out += bytes((_ESCAPED[code],)) if code in _ESCAPED else ("\\" + code).encode("utf-8", "replace")
            at = stop + 2
    return out.decode("utf-8", "replace")
