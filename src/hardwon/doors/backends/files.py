"""Files and folders below ``/memories`` in a repository's memory, for Anthropic's memory tool. Each change of a file is a version.

A folder is there as long as a file is in it. The answers are texts for a model.
"""

from __future__ import annotations

from urllib.parse import unquote

from hardwon.doors.backends.collection import Collection, Entry, Put
from hardwon.errors import InvalidInput, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.doors.api import Repository

ROOT = "/memories"
_LONGEST, _DEEPEST = 200, 20  # characters of a name, names of a path
_AROUND = 2  # lines shown before and after a change
_LEVELS = 2  # of folders that are listed


class Files:
    """The six commands. InvalidInput and NotFound say what cannot be done."""

    def __init__(self, repository: Repository) -> None:
        self._collection = Collection(repository, "memory-tool")

    def view(self, path: str, lines: Sequence[int] | None = None) -> str:
        """A file with its lines numbered (all, or from the first to the last of ``lines``; -1 is its end), or what a folder holds."""
        parts = _parts(path)
        file = self._file(parts)
        if file is None:
            return self._folder(path, parts)
        text = str(file.value["text"]).split("\n")
        first, last = _range(lines, len(text))
        return f"{path}:\n" + _numbered(text, first, last)

    def create(self, path: str, text: str) -> str:
        """A new file."""
        parts = _named(path)
        if self._file(parts) or self._below(parts):
            raise InvalidInput(
                f"{path} is there already", field="path", remedy="change it with str_replace or insert, or delete it first"
            )
        self._check_above(parts, "path")
        self._put(parts, text)
        return f"{path} was created"

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Replace a passage that stands in a file exactly once."""
        parts, text = self._text(path)
        count = text.count(old) if old else 0
        if count != 1:
            found = [str(text[:at].count("\n") + 1) for at in _places(text, old)][:20] if old else []
            what = f"stands in {path} {count} times, in lines {', '.join(found)}" if count else f"does not stand in {path}"
            raise InvalidInput(
                f"the passage {what}; nothing was changed", field="old_str", remedy="give it exactly, with enough around it"
            )
        at = text[: text.index(old)].count("\n") + 1
        changed = text.replace(old, new)
        self._put(parts, changed)
        lines = changed.split("\n")
        return f"{path} was changed:\n" + _numbered(lines, max(1, at - _AROUND), min(len(lines), at + new.count("\n") + _AROUND))

    def insert(self, path: str, line: int, text: str) -> str:
        """Put text after a line of a file; 0 is its beginning."""
        parts, whole = self._text(path)
        lines = whole.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= line <= len(lines):
            raise InvalidInput(f"{path} has no line {line}", field="insert_line", remedy=f"give 0 to {len(lines)}")
        lines[line:line] = text.removesuffix("\n").split("\n")
        self._put(parts, "\n".join(lines) + "\n")
        return f"{path} was changed"

    def delete(self, path: str) -> str:
        """Take a file away, or a folder with everything in it."""
        parts = _named(path)
        found = self._at(path, parts)
        self._collection.remove(found)
        return f"{path} was deleted"

    def rename(self, old: str, new: str) -> str:
        """Give a file or folder another path."""
        before, after = _named(old), _named(new)
        found = self._at(old, before)
        if after[: len(before)] == before or self._file(after) or self._below(after):
            raise InvalidInput(f"{new} is there already, or below {old}", field="new_path", remedy="give another path")
        self._check_above(after, "new_path")
        moved = [(after + (*one.namespace, one.key)[len(before) :], str(one.value["text"])) for one in found]
        self._collection.put(_as_put(parts, text) for parts, text in moved)
        self._collection.remove(found)
        return f"{old} is {new} now"

    def clear(self) -> str:
        """Take everything away."""
        count = self._collection.remove(self._collection.listed())
        return f"{count} files were deleted"

    def _file(self, parts: tuple[str, ...]) -> Entry | None:
        return self._collection.get(parts[:-1], parts[-1]) if parts else None

    def _check_above(self, parts: tuple[str, ...], field: str) -> None:
        """InvalidInput where a file stands in the way of a folder that a path needs."""
        for depth in range(1, len(parts)):
            if self._file(parts[:depth]):
                raise InvalidInput(f"{_path(parts[:depth])} is a file", field=field, remedy="a file cannot hold others")

    def _below(self, parts: tuple[str, ...]) -> list[Entry]:
        return self._collection.listed(parts)

    def _at(self, path: str, parts: tuple[str, ...]) -> list[Entry]:
        """The file of a path, or every file below it."""
        file = self._file(parts)
        found = [file] if file else self._below(parts)
        if not found:
            raise _absent(path)
        return found

    def _text(self, path: str) -> tuple[tuple[str, ...], str]:
        parts = _named(path)
        file = self._file(parts)
        if file is None:
            raise (
                InvalidInput(f"{path} is a folder", field="path", remedy="name a file in it")
                if self._below(parts)
                else _absent(path)
            )
        return parts, str(file.value["text"])

    def _put(self, parts: tuple[str, ...], text: str) -> None:
        self._collection.put([_as_put(parts, text)])

    def _folder(self, path: str, parts: tuple[str, ...]) -> str:
        """What lies in a folder, and in those within: bytes and path of each, a folder's with a slash behind."""
        found = self._below(parts)
        if parts and not found:
            raise _absent(path)
        sizes: dict[tuple[str, ...], int] = {}
        for one in found:
            below = (*one.namespace, one.key)[len(parts) :]
            for depth in range(1, min(len(below), _LEVELS) + 1):
                name = below[:depth] if depth == len(below) else (*below[:depth], "")
                sizes[name] = sizes.get(name, 0) + len(str(one.value["text"]).encode())
        lines = [f"{size}\t{_path((*parts, *name))}" for name, size in sorted(sizes.items())]
        return "\n".join([f"{path} holds (bytes, path; two levels):", *lines]) if lines else f"{path} is empty"


def _parts(path: str) -> tuple[str, ...]:
    """The names of a path below ``/memories``; InvalidInput for any other, however it is spelt."""
    names = path.rstrip("/").split("/")
    good = path.startswith("/") and names[:2] == ["", ROOT[1:]] and len(names) <= _DEEPEST and unquote(path) == path
    for name in names[2:]:
        good = good and 0 < len(name) <= _LONGEST and name not in (".", "..") and "\\" not in name and name.isprintable()
    if not good:
        raise InvalidInput(
            f"{path[:200]!a} is no path of a memory", field="path", remedy=f"such as {ROOT}/notes.md, without .. and escapes"
        )
    return tuple(names[2:])


def _named(path: str) -> tuple[str, ...]:
    parts = _parts(path)
    if not parts:
        raise InvalidInput(f"{ROOT} itself stays", field="path", remedy=f"name a file below it, such as {ROOT}/notes.md")
    return parts


def _absent(path: str) -> NotFound:
    return NotFound(f"there is nothing at {path}", field="path", remedy=f"view {ROOT} to see what there is")


def _path(parts: Sequence[str]) -> str:
    return "/".join((ROOT, *parts))


def _as_put(parts: tuple[str, ...], text: str) -> Put:
    return Put(parts[:-1], parts[-1], {"text": text}, f"{_path(parts)}\n{text}")


def _range(lines: Sequence[int] | None, count: int) -> tuple[int, int]:
    if not lines:
        return 1, count
    if len(lines) != 2 or not (1 <= lines[0] <= count and (lines[1] == -1 or lines[0] <= lines[1])):
        raise InvalidInput(
            f"there are no lines {list(lines)}",
            field="view_range",
            remedy=f"give two numbers from 1 to {count}, or -1 as the end",
        )
    return lines[0], count if lines[1] == -1 else min(lines[1], count)


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))


def _places(text: str, passage: str) -> list[int]:
    found, at = [], text.find(passage)
    while at >= 0:
        found.append(at)
        at = text.find(passage, at + 1)
    return found
