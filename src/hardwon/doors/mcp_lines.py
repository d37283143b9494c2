"""The pipe to the client of the MCP door: lines in, lines out, and the end when the client is gone."""

from __future__ import annotations

import os
import select
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Bytes of a line; the longest argument (a diff) is below it. What is longer is passed over, and answered with an error.
LONGEST = 16_000_000
_SLICE = 1 << 16  # what a pipe holds
# Milliseconds after which an idle process looks whether its parent still lives. The end of the pipe tells that at once, unless another
# process has inherited its other end. The system could send a signal instead (PR_SET_PDEATHSIG), but does so when the *thread* ends that
# started us, and clients start us from threads that come and go.
_LOOK = 5_000


class Lines:
    """Both directions. Not for threads."""

    def __init__(self, source: int, sink: int) -> None:
        """Descriptors to read from and to write to."""
        self._source, self._sink = source, sink
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(source, select.POLLIN)
        self._held = bytearray()
        self._searched = 0
        self._passing = False  # over the rest of a line that is too long
        self._ended = False
        self._stopped = self._waits = False

    def obey_signals(self) -> None:
        """End on SIGTERM and SIGINT: at once while nothing is done, else when the answer is written."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True
        if self._waits:
            raise SystemExit(0)

    def wait(self) -> list[bytes | None]:
        """Whole lines, as soon as there is one, without their ends; None stands for one that was too long. Empty at the end: the client
        has closed the pipe or is gone."""
        self._waits = True
        try:
            while not self._stopped:
                lines = self._whole()
                if lines or self._ended:
                    return lines
                self._fill(_LOOK)
            return []
        finally:
            self._waits = False

    def more(self) -> list[bytes | None]:
        """The whole lines that are there by now."""
        while not self._ended and self._poll.poll(0):
            self._fill(0)
            if len(self._held) > LONGEST:
                break
        return self._whole()

    def write(self, line: bytes) -> None:
        """Send a line; BrokenPipeError where nobody is there to read it."""
        rest = memoryview(line)
        self._waits = True  # who does not read us may still end us
        try:
            while rest:
                rest = rest[os.write(self._sink, rest) :]
        finally:
            self._waits = False
        if self._stopped:
            raise SystemExit(0)

    def _fill(self, patience: int) -> None:
        if not self._poll.poll(patience):
            self._ended = os.getppid() != self._parent
            return
        piece = os.read(self._source, _SLICE)
        self._ended = not piece
        self._held += piece

    def _whole(self) -> list[bytes | None]:
        """Take the whole lines out of what was read; at the end also a last one that was not ended."""
        lines: list[bytes | None] = []
        while (end := self._held.find(b"\n", self._searched)) >= 0:
            lines.append(None if self._passing or end > LONGEST else bytes(self._held[:end]))
            del self._held[: end + 1]
            self._searched, self._passing = 0, False
        self._searched = len(self._held)
        if self._searched > LONGEST or (self._passing and self._held):
            self._passing, self._searched = True, 0
            self._held.clear()
        if self._ended and (self._held or self._passing):
            lines.append(None if self._passing else bytes(self._held))
            self._held.clear()
            self._passing = False
        return [line for line in lines if line is None or line.strip()]
