"""Code is parsed in processes of our own, for a parser is C and a file may be written to break it.

A few hundred bytes can make a parser take a gigabyte, or crash, within one step that cannot be stopped. A child that dies so takes only
its file along; another one goes on with the rest. Not ``multiprocessing``: its ``spawn`` runs the caller's main module again, and its
``fork`` copies a process that has stores open and threads running. Off the quick path.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import struct
import subprocess
import sys
from collections import deque
from time import monotonic

from hardwon.code.outline import Call, Import, Outline, Symbol
from hardwon.code.pipes import widen
from hardwon.code.source import language_of, skipped_content, skipped_path
from hardwon.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Request = tuple[str, bytes]

__all__ = ["Workers"]

# Of a child. Address space in bytes: with an ordinary file of a megabyte it has .1 GB, with the densest one .3 GB (measured).
MEMORY = 1 << 30
# Seconds of the processor for one file. More than ``symbols.TIME``, which most texts keep to: only steps of the parser that cannot be
# stopped come to it. Not by the clock: on a machine with much else to do, ordinary files would be over it.
PROCESSOR = 10
WALL = 60.0  # seconds by the clock, for a child that does nothing at all
MOST = 4  # children, and no more than there are processors
# Bytes that are handed out before one more child is worth its start: with half of it, .7 to .9 MB of code took a third more of the
# processor than one child takes, and hardly less time.
_ANOTHER = 1 << 20
_AHEAD = 256 << 10  # bytes that a child may have before it, so that it goes on while this process writes
_TRIES = 2  # a file is given up with the second child that dies of it: the first may have been killed for another reason
_CHUNK = 1 << 20
_LENGTH = struct.Struct("<I")
# -P and -S: neither the folder that we happen to be in, which may be anybody's repository, nor site's hooks; the path is ours.
_SWITCHES = ("-P", "-s", "-S", "-c")
_SCRIPT = (
    "import sys; limits, sys.path[:] = sys.argv[1:3], sys.argv[3:]; from hardwon.code.worker import serve; "
    "serve(int(limits[0]), int(limits[1]))"
)


class Workers:
    """Parsers in children, which are started when there is something to parse. To be closed: ``with Workers() as workers``.

    Not to be shared between threads. ``most`` children, each with so much ``memory`` and so many seconds of the ``processor`` for a file.
    Unavailable from every question where children cannot be started.
    """

    def __init__(self, most: int = 0, memory: int = MEMORY, processor: int = PROCESSOR) -> None:
        self._most = most or min(MOST, _processors())
        self._limits = (memory, processor)
        self._children: list[_Child] = []
        self._handed = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the children, whatever they are doing."""
        for child in self._children:
            child.end()
        self._children.clear()

    def outline(self, path: str, content: bytes) -> Outline:
        """What one text declares and uses, as ``symbols.outline`` tells it."""
        return next(found for _, found in self.outlines([(path, content)]))

    def outlines(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Outline]]:
        """The outlines of texts (path and content), as they are done, each with what was asked. The next texts are taken only when
        there is a child for them, so that few are held at a time."""
        try:
            waiting = iter(requests)
            request = next(waiting, None)
            while request or any(child.asked for child in self._children):
                while request:
                    path, content = request
                    if skipped := skipped_path(path, len(content)) or skipped_content(content):
                        yield request, Outline(language_of(path), skipped)
                    elif child := self._free():
                        self._handed += len(content)
                        child.ask(request)
                    else:
                        break
                    request = next(waiting, None)
                yield from self._answers()
        finally:
            if any(child.asked for child in self._children):  # whoever asked has gone: nobody is to get these answers
                self.close()

    def _free(self) -> _Child | None:
        """A child that has room before it, the one with the least; None while all of them have enough."""
        busy = all(child.asked for child in self._children)
        if busy and len(self._children) < self._most and self._handed >= len(self._children) * _ANOTHER:
            self._children.append(_Child(self._limits))
        least = min(self._children, key=lambda child: child.ahead)
        return least if least.ahead < _AHEAD else None

    def _answers(self) -> Iterator[tuple[Request, Outline]]:
        """What is answered by now; waits until there is something to do."""
        busy = {child.answers: child for child in self._children if child.asked}
        poll = select.poll()
        for child in busy.values():
            poll.register(child.answers, select.POLLIN)
            if child.unsent:
                poll.register(child.questions, select.POLLOUT)
        if not busy:
            return
        ready = {descriptor for descriptor, _ in poll.poll(1000)}
        for child in busy.values():
            if child.questions in ready:
                child.send()
            if child.answers in ready:
                yield from child.received()
            elif monotonic() - child.since > WALL:
                child.kill()  # its end is met above


class _Child:
    """One child, and the texts that it has before it: the first of ``asked`` is under way."""

    def __init__(self, limits: tuple[int, int]) -> None:
        self._limits = limits
        self.asked: deque[tuple[Request, int]] = deque()  # and how many children died of it
        self.ahead = 0
        self._start()

    def _start(self) -> None:
        self._process = _started(self._limits)
        assert self._process.stdin and self._process.stdout  # noqa: S101 - for mypy: both are pipes
        self.questions, self.answers = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.is_alive = True
        for descriptor in (self.questions, self.answers):
            os.set_blocking(descriptor, False)
            widen(descriptor)
        self.unsent = bytearray()
        self._got = bytearray()
        self._ready = False
        self.since = monotonic()

    def ask(self, request: Request, deaths: int = 0) -> None:
        """Hand it one more text."""
        if not self.is_alive:
            self._start()
        if not self.asked:
            self.since = monotonic()
        self.asked.append((request, deaths))
        self.ahead += len(request[1])
        packed = marshal.dumps(request)
        self.unsent += _LENGTH.pack(len(packed))
        self.unsent += packed
        self.send()

    def send(self) -> None:
        """Send what the pipe takes now. That the child is gone is met where its answers are read."""
        try:
            while self.unsent:
                del self.unsent[: os.write(self.questions, self.unsent[:_CHUNK])]
                self.since = monotonic()
        except BlockingIOError:
            pass
        except OSError:
            self.unsent.clear()

    def received(self) -> Iterator[tuple[Request, Outline]]:
        """Every answer that has come; of a child that died, what becomes of the text that it died of."""
        ended = self._read()
        while self.asked and (told := self._next()) is not None:
            self.since = monotonic()
            (request, _), found = self.asked.popleft(), _outline(told)
            self.ahead -= len(request[1])
            yield request, found
        if ended:
            yield from self._died()

    def _read(self) -> bool:
        """Take what has come; whether the child has ended."""
        try:
            while chunk := os.read(self.answers, _CHUNK):
                self._got += chunk
        except BlockingIOError:
            return False
        return True

    def _next(self) -> Any:
        """The next answer, None where not all of it has come. Unavailable for one that says why nothing can be parsed."""
        if len(self._got) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._got)[0]
        if len(self._got) < end:
            return None
        told = marshal.loads(self._got[_LENGTH.size : end])  # noqa: S302 - from a child of ours, of the same interpreter
        del self._got[:end]
        if isinstance(told, str):
            if told:
                raise _no_parser(told)
            self._ready = True
            return self._next()
        return told

    def _died(self) -> Iterator[tuple[Request, Outline]]:
        """Bury it, and hand what it had before it to another one, in its place; the text that it died of too, if it was the first time."""
        status = self._process.wait()
        self.end()
        if not self._ready:
            raise _no_parser(f"a process for it ended at once, with {status}")
        asked, self.asked, self.ahead = self.asked, deque(), 0
        given_up = ""
        if asked:
            (request, deaths) = asked.popleft()
            given_up = "large" if status == -signal.SIGXCPU else "failed" if deaths + 1 >= _TRIES else ""
            if not given_up:
                asked.appendleft((request, deaths + 1))
        if asked:
            self._start()
        for other, before in asked:
            self.ask(other, before)
        if given_up:
            yield request, Outline(language_of(request[0]), given_up)

    def kill(self) -> None:
        """Let it die of what it has before it."""
        self._process.kill()

    def end(self) -> None:
        """End it at once: it holds nothing that matters."""
        self.is_alive = False
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _started(limits: tuple[int, int]) -> subprocess.Popen[bytes]:
    # Without our own variables: among them may be the key of a store.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HARDWON_")}
    command = [sys.executable, *_SWITCHES, _SCRIPT, *map(str, limits), *filter(None, sys.path)]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=variables)
    except OSError as error:
        raise _no_parser(str(error)) from None


def _no_parser(why: str) -> Unavailable:
    return Unavailable(f"code cannot be parsed: {why}", remedy="see that Hardwon is installed as a whole, its grammars with it")


def _outline(told: Any) -> Outline:
    language, skipped, broken, lines, symbols, calls, imports = told
    return Outline(
        language, skipped, broken, lines, tuple([Symbol(*one) for one in symbols]), tuple([Call(*one) for one in calls]),
        tuple([Import(*one) for one in imports]),
    )  # fmt: skip
