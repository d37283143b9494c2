"""A small repository with known links, generated: a check of the bench itself, and of the whole path, without any data."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from typing import IO

from hardwon.types import Change
from stream import Links

COMMITS = 200
_FIRST_FIX = 60
_BEGIN = 1_600_000_000
_STEP = 7_200  # seconds between two commits

_PARTS = ("parse", "cache", "token", "socket", "index", "retry", "header", "buffer", "lock", "queue", "stream", "digest")
_ACTS = ("open", "close", "merge", "split", "flush", "scan", "pack", "reset", "check", "bind", "drain", "rotate")
_FAULTS = ("leaks memory", "returns too early", "is off by one", "loses the last entry", "hangs without input", "is called twice")


class _Piece:
    """What one commit brought: a function in a file."""

    def __init__(self, number: int, source: random.Random) -> None:
        self.part = source.choice(_PARTS)
        self.act = source.choice(_ACTS)
        self.name = f"{self.part}_{self.act}_{number}"
        self.path = f"src/{self.part}.c"
        self.sha = ""

    def subject(self) -> str:
        """What its commit says of it, without its name."""
        return f"{self.part}: add a way to {self.act}"

    def code(self) -> str:
        """What its commit adds."""
        return f"int {self.name}(struct {self.part} *{self.part})\n{{\n\treturn {self.act}_all({self.part}->{self.act});\n}}\n"


def generate(folder: str, seed: int) -> dict[str, str]:
    """Make the repository; the hash of each fix with that of the commit that it fixes."""
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    command = ["git", "-C", folder, "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        known = _write(process.stdin, process.stdout, random.Random(seed))
    if process.returncode:
        raise RuntimeError(f"git fast-import ended with {process.returncode}")
    subprocess.run(["git", "-C", folder, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    return known


def _write(out: IO[bytes], back: IO[bytes], source: random.Random) -> dict[str, str]:
    pieces: list[_Piece] = []
    known: dict[str, str] = {}
    files: dict[str, str] = {}
    for number in range(1, COMMITS + 1):
        fixed = pieces.pop(source.randrange(len(pieces))) if number > _FIRST_FIX and number % 2 else None
        piece = fixed or _Piece(number, source)
        message = _fix(fixed, source) if fixed else f"{piece.subject()}\n\nNeeded by the next change.\n"
        files[piece.path] = files.get(piece.path, "") + (f"/* checked {number} */\n" if fixed else piece.code())
        sha = _commit(out, back, number, message, piece.path, files[piece.path])
        if fixed:
            known[sha] = fixed.sha
        else:
            piece.sha = sha
            pieces.append(piece)
    return known


def _fix(piece: _Piece, source: random.Random) -> str:
    body = f"When a {piece.part} is used twice, {piece.name} {source.choice(_FAULTS)}."
    subject = f"{piece.part}: {piece.act} no longer fails on the second {piece.part}"
    return f'{subject}\n\n{body}\n\nFixes: {piece.sha[:12]} ("{piece.subject()}")\n'


def _commit(out: IO[bytes], back: IO[bytes], number: int, message: str, path: str, text: str) -> str:
    words, content = message.encode(), text.encode()
    head = f"commit refs/heads/main\nmark :{number}\ncommitter A <a@example.org> {_BEGIN + number * _STEP} +0000\n"
    out.write(head.encode() + b"data %d\n%s\n" % (len(words), words))
    out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
    out.write(b"\nget-mark :%d\n" % number)
    out.flush()
    return back.readline().decode().strip()


def check(changes: Sequence[Change], links: Links, known: dict[str, str]) -> None:
    """Raise unless the stream is whole and exactly the known links were found."""
    found = {changes[source].sha: changes[target].sha for source, targets in links.of.items() for target in targets}
    if len(changes) != COMMITS or found != known:
        raise RuntimeError(f"expected {COMMITS} commits and {len(known)} links, found {len(changes)} and {len(found)}")
