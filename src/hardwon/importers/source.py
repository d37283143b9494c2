"""Files of others, opened with care: regular files only, never through a link, read in bounded pieces, known by what they hold."""

from __future__ import annotations

import errno
import io
import os
import stat

from hardwon.errors import InvalidInput
from hardwon.types import ExportedMemory, Value, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from hardwon.types import Memory

# Formats by what we call them (`--format`).
JSONL, MARKDOWN, SERVER_MEMORY, CODE_MEMORY = "jsonl", "markdown", "server-memory", "cm"
CLAUDE_MEM, MEM0, BEADS, MIF = "claude-mem", "mem0", "beads", "mif"
FORMATS = (JSONL, MARKDOWN, SERVER_MEMORY, CODE_MEMORY, CLAUDE_MEM, MEM0, BEADS, MIF)
DATABASES = (CODE_MEMORY, CLAUDE_MEM)
AGENTS_MD = "agents-md"  # written only

LONGEST_LINE = 16 << 20  # bytes; a memory of ours with a hundred long versions has less
MOST_BYTES = 4 << 30  # of a stream: what never ends shall end
_HEAD = 1 << 16
_LOOKED_AT = 20  # lines of the head
_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "a zip archive", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_TEXTS = (".md", ".markdown", ".mdx", ".mdc", ".txt")
_BOM = b"\xef\xbb\xbf"
_MIF_OF_OURS = b'{"mif_version": "2.0", "generator": {"name": "hardwon"}'


class Incoming(Value):
    """One thing that a source offers: ``where`` it stands (``line 3``), and the memory, or what is ``wrong`` with it.

    A memory without an id (``""``) gets one from who takes it in. One without versions is a verdict about something derived.
    """

    where: str
    item: ExportedMemory | None = None
    wrong: str = ""


def offered(where: str, memory: Memory, *names: str) -> Incoming:
    """A memory of which nothing is told but what it says now, and by which names its source calls it."""
    return Incoming(where, ExportedMemory(memory, (Version("", 1, memory, memory.created_at, None),), (), (), names))


class Source:
    """An open source with its name; ``size`` is 0 where it is not known, ``position`` the bytes that were read so far."""

    def __init__(self, file: BinaryIO, name: str, size: int = 0) -> None:
        self._file = file
        self.name = name
        self.size = size
        self.head = _read(file, _HEAD, name)
        self.position = 0
        self._rest = io.BufferedReader(_Replayed(self.head, file, name), 1 << 16)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Each line with its number (from 1), without its end; None for one that is longer than LONGEST_LINE.

        InvalidInput when a stream does not end.
        """
        number = 0
        while raw := self._rest.readline(LONGEST_LINE + 1):
            number += 1
            self.position += len(raw)
            whole = len(raw) <= LONGEST_LINE or raw.endswith(b"\n")
            while not whole and (more := self._rest.readline(1 << 20)):
                self.position += len(more)
                whole = more.endswith(b"\n")
                self._bound()
            self._bound()
            line = raw if len(raw) <= LONGEST_LINE else None
            if line is not None and number == 1:
                line = line.removeprefix(_BOM)
            yield number, line if line is None else line.rstrip(b"\r\n")

    def _bound(self) -> None:
        if self.position > MOST_BYTES:
            raise InvalidInput(
                f"{self.name} is longer than {MOST_BYTES >> 30} GB",
                field="file",
                remedy="import it in parts; what was read is kept",
            )

    def text(self, most: int) -> str:
        """All of it as text; InvalidInput for more than ``most`` bytes, NUL bytes, and what is no UTF-8."""
        raw = self._rest.read(most + 1)
        self.position += len(raw)
        if len(raw) > most:
            raise InvalidInput(f"{self.name} is longer than {most:,} bytes", field="file", remedy="split it")
        try:
            text = raw.removeprefix(_BOM).decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self.name} is not UTF-8: {error}", field="file", remedy="convert it") from error
        if "\0" in text:
            raise InvalidInput(f"{self.name} holds NUL bytes", field="file", remedy="give a text file")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class _Replayed(io.RawIOBase):
    """The head that was read already, then the rest of the file."""

    def __init__(self, head: bytes, file: BinaryIO, name: str) -> None:
        self._head = memoryview(head)
        self._file = file
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # any writable buffer
        piece: bytes | memoryview = self._head[: len(target)]
        self._head = self._head[len(piece) :]
        if not piece:
            piece = _read(self._file, len(target), self._name)
        target[: len(piece)] = piece
        return len(piece)


def _read(file: BinaryIO, most: int, name: str) -> bytes:
    """At most that many bytes; InvalidInput, with the name, when the system refuses: a broken disk, a file that only looks like one."""
    try:
        return file.read(most)
    except OSError as error:
        raise unusable(name, f"cannot be read: {error.strerror or error}") from error


def open_file(path: str) -> Source:
    """A regular file, opened without following a link at its end; InvalidInput says what it is else."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        what = "is a link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror or error}"
        raise unusable(path, what) from error
    except ValueError as error:
        raise unusable(path, "cannot be the name of a file") from error
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        os.close(descriptor)
        raise unusable(path, "is a folder" if stat.S_ISDIR(state.st_mode) else "is no regular file")
    file = open(descriptor, "rb")  # noqa: SIM115 - the source closes it
    try:
        return Source(file, path, state.st_size)
    except InvalidInput:
        file.close()
        raise


def unusable(path: str, what: str) -> InvalidInput:
    """The error for a file that cannot be imported."""
    return InvalidInput(f"{path[:200]!r} {what}", field="file", remedy="name the file itself")


def made_by_us(head: bytes) -> bool:
    """Whether a file that begins so is an export of ours, which another one may replace."""
    return head.startswith((b'{"hardwon":', b"---\nhardwon: ", _MIF_OF_OURS))


def recognise(source: Source) -> str:
    """The format of a source, by what it holds; InvalidInput when it is none that we know. Whose database one is, its tables tell
    (``importers/database.py``): here any is CODE_MEMORY."""
    head = source.head
    if not head.strip():
        raise unusable(source.name, "is empty")
    if head.startswith(b"SQLite format 3\0"):
        return CODE_MEMORY
    for magic, name in _PACKED.items():
        if head.startswith(magic):
            raise InvalidInput(f"{source.name} is packed ({name})", field="file", remedy="unpack it first")
    text = head.removeprefix(_BOM).lstrip()
    if b"\0" not in head:
        if text.startswith((b"{", b"[")):
            return _of_json(text)
        if text.startswith((b"---\n", b"---\r\n", b"# ")) or source.name.lower().endswith(_TEXTS):
            return MARKDOWN
        if any(line.startswith(b"{") for line in text.splitlines()[:_LOOKED_AT]):
            return _of_json(text)
    raise InvalidInput(
        f"{source.name} is nothing that can be imported", field="file", remedy="say what it is: --format " + "|".join(FORMATS)
    )


def _of_json(text: bytes) -> str:
    """Whose JSON it is: the first line that can be read tells; broken ones are reported later, one by one."""
    import json

    if b'"mif_version"' in text:
        return MIF
    for line in text.splitlines()[:_LOOKED_AT]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and not _is_listed_by_mem0(line):
            if found.get("_type") in ("issue", "memory") or ("issue_type" in found and "title" in found):
                return BEADS
            theirs = found.get("type") in ("entity", "relation") and "text" not in found
            return SERVER_MEMORY if theirs or ("entities" in found and "relations" in found) else JSONL
    if _is_listed_by_mem0(text):
        return MEM0
    return SERVER_MEMORY if b'"entities"' in text and b'"observations"' in text else JSONL


def _is_listed_by_mem0(text: bytes) -> bool:
    """Whether it begins as a list of mem0's memories, bare or under the name that it gives it."""
    begins = text[:1] == b"[" or text[:200].replace(b" ", b"").replace(b"\n", b"").startswith((b'{"results":[', b'{"memories":['))
    return begins and b'"memory"' in text
