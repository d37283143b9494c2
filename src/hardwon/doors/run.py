"""``run -- CMD``: a command as if we were not there, and its outcome recorded.

It gets our standard input, our terminal and our signals; what it prints is passed on as it comes, and its end is kept. Where it would print
to a terminal it does, so that colours and progress stay. Its exit code is ours.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
import time

from hardwon.doors.handle import Answer
from hardwon.doors.shown import shown
from hardwon.errors import HardwonError, InvalidInput, NoStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any

    from hardwon.code.edits import WorkingTree
    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.engine.outcomes import OutcomeReport

_HEAD, _TAIL = 200_000, 2_000_000  # bytes of what it prints that are kept
_PIECE = 1 << 16
# Seconds that are waited for more to read once the command has ended: a process that it left behind may hold its output open for ever.
_LINGER = 0.2
_ON_THE_WAY = 2 << 20  # bytes that two pipes hold at the most
_NOT_FOUND, _NOT_STARTED = 127, 126
# What is passed on to the command when somebody sends it to us alone. Those of the terminal reach it by themselves.
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


def run(call: Call) -> Answer:
    """Run it, record what it tells of tests, say what is known of what failed."""
    words = call.request.texts("command")
    if not words:
        raise InvalidInput("no command is named", field="command", remedy="hardwon run -- pytest -q")
    engine, missing = _memory(call)
    tree = _tree(engine)
    began = time.time_ns() // 1_000_000
    as_json = call.request.flag("json")
    code, output = Child(words, call.cwd, everything_to=2 if as_json else None).ended()
    report, trouble = None, missing
    if engine is not None and tree is not None and code not in (_NOT_FOUND, _NOT_STARTED):
        report, trouble = _recorded(call, engine, tree, began, code, output)
    data = _data(code, report, trouble)
    if not as_json:
        for line in (*_told(report), *trouble):
            print(f"hardwon: {shown(line)}", file=sys.stderr)
    return Answer("", data, code, quiet=True)


def _memory(call: Call) -> tuple[Engine | None, list[str]]:
    """The memory, or why there is none: the command runs all the same."""
    try:
        return call.engine, []
    except (HardwonError, OSError) as error:
        if call.request.text("project"):  # somebody said which
            raise
        if not isinstance(error, NoStore):
            return None, [f"nothing is recorded: {error}"]
        return None, [f"nothing is recorded: {error.message}; {error.remedy}"]


def _tree(engine: Engine | None) -> WorkingTree | None:
    """What lies there before the command begins."""
    return engine.working_tree() if engine is not None else None


def _recorded(
    call: Call, engine: Engine, tree: WorkingTree, began: int, code: int, output: str
) -> tuple[OutcomeReport | None, list[str]]:
    """What the run came to; None where it tells nothing of tests."""
    from hardwon.doors import observed

    try:
        found = observed.of_command(call, engine, tree, began, code, output)
        return (engine.take_outcomes(found, call.scope), []) if found is not None else (None, [])
    except (HardwonError, OSError) as error:  # the command has ended as it has: that is not ours to change
        return None, [f"nothing is recorded: {error}"]


def _told(report: OutcomeReport | None) -> list[str]:
    from hardwon.doors import outcomes

    return outcomes.worth_a_line(report) if report else []


def _data(code: int, report: OutcomeReport | None, trouble: Sequence[str]) -> dict[str, Any]:
    from hardwon.doors import outcomes

    return {"exit": code, "recorded": report is not None, "trouble": list(trouble), **(outcomes.data(report) if report else {})}


class Child:
    """The command while it runs. ``everything_to``: the descriptor that all of its output goes to, instead of each to its own."""

    def __init__(self, words: Sequence[str], folder: str, everything_to: int | None = None) -> None:
        self._words, self._folder = list(words), folder
        self._targets = {1: everything_to or 1, 2: everything_to or 2}
        self._head, self._tail = bytearray(), bytearray()
        self._sources: dict[int, int] = {}  # where we read, and where that is passed on to
        self._terminals: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def ended(self) -> tuple[int, str]:
        """Its exit code, as a shell tells it (128 and more for a signal), and what it printed."""
        ends = self._open()
        before = {number: signal.signal(number, self._pass_on) for number in _PASSED_ON}
        before |= {number: signal.signal(number, self._leave) for number in _FROM_TERMINAL}
        try:
            self._process = subprocess.Popen(
                self._words, cwd=self._folder, stdin=None, stdout=ends[1], stderr=ends[2], restore_signals=True
            )
        except OSError as error:
            print(f"hardwon: {shown(self._words[0])} cannot be started: {error.strerror}", file=sys.stderr)
            return (_NOT_FOUND if error.errno == errno.ENOENT else _NOT_STARTED), ""
        finally:
            for end in set(ends.values()):
                os.close(end)
            if self._process is None:
                self._restore(before)
        try:
            self._pump(self._process)
            status = self._process.wait()
        finally:
            self._restore(before)
        return (status if status >= 0 else 128 - status), self._said()

    def _restore(self, handlers: dict[Any, Any]) -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C reaches the command too, which decides what to do; we end when it does."""

    def _open(self) -> dict[int, int]:
        """The ends that the command gets as its standard output and error: a terminal where ours is one, else a pipe; the same for both
        where ours are one."""
        ends: dict[int, int] = {}
        for number, target in self._targets.items():
            other = 3 - number
            if other in ends and _are_one(target, self._targets[other]):
                ends[number] = os.dup(ends[other])
                continue
            ends[number], source = self._terminal(target) if os.isatty(target) else _pipe()
            self._sources[source] = target
        return ends

    def _terminal(self, target: int) -> tuple[int, int]:
        """A terminal of our own for what it prints; keys still come from the real one, which also keeps the session."""
        import termios

        ours, its = os.openpty()
        settings = termios.tcgetattr(its)
        settings[1] &= ~termios.OPOST  # the real terminal does that
        termios.tcsetattr(its, termios.TCSANOW, settings)
        self._terminals.append(ours)
        self._resize(target, ours)
        signal.signal(signal.SIGWINCH, lambda number, frame: self._resized(target))
        return its, ours

    def _resize(self, target: int, terminal: int) -> None:
        import fcntl
        import termios

        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, bytes(8)))
        except OSError:
            return  # a terminal without a size

    def _resized(self, target: int) -> None:
        for terminal in self._terminals:
            self._resize(target, terminal)
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGWINCH)  # it stands in another terminal's foreground than the one that changed

    def _pump(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on what it prints until it has ended and there is no more. Of what comes after its end, no more than can have been on the
        way: a process that it left behind may print for ever."""
        over = 0.0
        room = _ON_THE_WAY
        while self._sources and room > 0:
            if process.poll() is not None and not over:
                over = time.monotonic() + _LINGER
            late = bool(over) and time.monotonic() > over
            ready, _, _ = select.select(list(self._sources), [], [], 0 if late else 0.05)
            if late and not ready:
                break
            for source in ready:
                taken = self._take(source)
                room -= taken if over else 0
        for source in list(self._sources):
            self._forget(source)

    def _take(self, source: int) -> int:
        """Pass on a piece; how many bytes it had."""
        try:
            piece = os.read(source, _PIECE)
        except OSError:  # how a terminal says that its other end is closed
            piece = b""
        if not piece:
            self._forget(source)
            return 0
        self._keep(piece)
        try:
            _write(self._sources[source], piece)
        except OSError:
            # Who read our output is gone: so is the command's reader, which its next write will tell it.
            self._forget(source)
        return len(piece)

    def _forget(self, source: int) -> None:
        del self._sources[source]
        os.close(source)

    def _keep(self, piece: bytes) -> None:
        room = _HEAD - len(self._head)
        self._head += piece[:room] if room > 0 else b""
        self._tail += piece[max(0, room) :]
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]

    def _said(self) -> str:
        return (bytes(self._head) + bytes(self._tail[-_TAIL:])).decode("utf-8", "replace").replace("\0", "")


def _are_one(target: int, other: int) -> bool:
    """Whether two outputs go to one place, where the order of what is printed shows (``> log 2>&1``)."""
    if os.isatty(target) and os.isatty(other):
        return True
    try:
        return os.path.sameopenfile(target, other)
    except OSError:
        return False  # one of them was closed


def _pipe() -> tuple[int, int]:
    ours, its = os.pipe()
    return its, ours


def _write(target: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            select.select([], [target], [], 1)
