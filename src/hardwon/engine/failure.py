"""What is known about a failure: a log into a question of its message and of the places in our code that it went through."""

from __future__ import annotations

import os

from hardwon.engine import answer
from hardwon.engine.anchors import judge
from hardwon.errors import InvalidInput
from hardwon.types import Neighbour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.code.anchor import Judge
    from hardwon.code.index import CodeReader
    from hardwon.code.outline import Symbol
    from hardwon.code.stack.frames import Frame, Trace
    from hardwon.engine.core import Engine
    from hardwon.types import Block, Query, Scope

# Candidates that are looked at for the very failure; as many as come by their words and places at all.
_LOOKED_AT = 50
_NO_BUDGET = 1_000_000
_TRACES, _FRAMES = 3, 8
# Evidence of the innermost frame of ours against that of a place that was asked about; further out, and further from the root cause,
# it falls. Provisional.
_INNERMOST, _PER_FRAME, _PER_TRACE = 0.9, 0.7, 0.6
WHY = "stack frame"
_PLAIN_LINES = 8
_OUTSIDE = (
    "<", "node:", "/usr/lib/", "/usr/local/lib/", "/usr/local/go/", "/rustc/", "library/", "java/", "javax/", "jdk/", "sun/", "com/sun/",
    "kotlin/", "kotlinx/", "scala/",
)  # fmt: skip
# The standard library of Python, and the cache of Go's modules, wherever they lie.
_WITHIN = ("/lib/python", "/pkg/mod/")
_LIBRARIES = frozenset(
    (
        "site-packages",
        "dist-packages",
        "node_modules",
        "bower_components",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".cargo",
        ".rustup",
        "GOROOT",
    )
)


def recall(engine: Engine, query: Query, log: str, scope: Scope) -> Block:
    """Memories about the failures that a log tells of, those of the very failure first; ``query`` may narrow, and say more in words."""
    from hardwon.code.stack.signature import words
    from hardwon.code.traces import parse
    from hardwon.search.pack import pack
    from hardwon.search.same_failure import recognise

    if not log.strip():
        raise InvalidInput("the log is empty", field="error", remedy="give the output of what failed, with its stack trace")
    traces = parse(log)[:_TRACES]
    said = [words(trace.signature) for trace in traces] or _last_lines(log)
    frames = _places(engine, traces)
    inner = [f"{near.symbol} {near.path}" for near in frames[:1]]
    text = "\n".join((query.text, *said, *inner)).strip()
    wide = query.replace(text=text, around=(*query.around, *frames), k=max(query.k, _LOOKED_AT), budget=_NO_BUDGET, floor=0.0)
    found = answer.recall(engine, wide, scope)
    hits = recognise(found.hits, traces, query.k, query.floor)
    told = () if traces else ("no stack trace was recognised: asked by the log's last lines",)
    return pack(hits, query.budget, found.mode.replace(degraded=(*found.mode.degraded, *told)))


def _last_lines(log: str) -> list[str]:
    """What a log without a trace ends with."""
    return [line.strip()[:300] for line in log.rsplit("\n", 200) if line.strip()][-_PLAIN_LINES:]


def _places(engine: Engine, traces: Sequence[Trace]) -> tuple[Neighbour, ...]:
    """The places in our code that the failures went through, the likeliest first."""
    index = engine.code
    if index is None:
        return ()
    found: dict[tuple[str, str], float] = {}
    with index.read() as code:
        search = _Search(engine.home.checkout.root, code, judge(engine, code))
        for step, trace in enumerate(traces):
            weight = _INNERMOST * _PER_TRACE**step
            for place in search.ours(trace.frames):
                found[place] = max(found.get(place, 0.0), weight)
                weight *= _PER_FRAME
    order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Neighbour(path, symbol, weight, WHY) for (path, symbol), weight in order)


class _Search:
    """Finds the files and symbols of frames in a working tree."""

    def __init__(self, root: str, code: CodeReader, judging: Judge) -> None:
        self.root = root.replace(os.sep, "/")
        self.code = code
        self.judging = judging

    def ours(self, frames: Sequence[Frame]) -> list[tuple[str, str]]:
        """The path and symbol of the frames in this repository, innermost first, each once."""
        found: dict[tuple[str, str], None] = {}
        for frame in frames:
            path = self.path(frame)
            if path:
                found[(path, self.symbol(path, frame))] = None
            if len(found) == _FRAMES:
                break
        return list(found)

    def path(self, frame: Frame) -> str:
        """The file of this tree that a frame's path means; "" for none, for a library's, and where several may be meant."""
        written = frame.path.replace("\\", "/")
        if written.startswith(self.root + "/"):
            written = written[len(self.root) + 1 :]
        elif written.startswith(_OUTSIDE):
            return ""
        parts = [part for part in written.split("/") if part not in ("", ".", "..")]
        if not parts or not _LIBRARIES.isdisjoint(parts) or any(word in written for word in _WITHIN):
            return ""
        for start in range(len(parts)):
            suffix = "/".join(parts[start:])
            if "\0" not in suffix and os.path.isfile(os.path.join(self.root, suffix)):
                return suffix
            several = self.code.ending(suffix)
            if several:
                return self._chosen(several, frame, sure=start == 0 or start < len(parts) - 1)
        return ""

    def _chosen(self, several: Sequence[str], frame: Frame, *, sure: bool) -> str:
        """Of files that end alike the one that declares the function. A name alone is not enough (``sure``): many folders elsewhere
        have such a file."""
        if len(several) == 1 and sure:
            return several[0]
        declaring = [path for path in several if frame.function and self._named(path, frame)]
        return declaring[0] if len(declaring) == 1 else ""

    def symbol(self, path: str, frame: Frame) -> str:
        """The symbol of a frame: by its function where the file declares it, for lines move; else by its line."""
        from hardwon.code.anchor import within

        named = self._named(path, frame)
        if len(named) > 1:
            named = [symbol for symbol in named if symbol.first <= frame.line <= symbol.last] or named
        if not named and frame.line:
            named = within(self.declared(path), frame.line, frame.line)
        return named[-1].qualified if named else frame.function

    def _named(self, path: str, frame: Frame) -> list[Symbol]:
        from hardwon.code.names import same_symbol

        return [symbol for symbol in self.declared(path) if frame.function and same_symbol(symbol.qualified, frame.function)]

    def declared(self, path: str) -> list[Symbol]:
        """What a file declares, as it lies there if that is known, else as it was indexed."""
        try:
            found = self.judging.symbols_at(path)
        except OSError:
            found = []
        return found or self.code.symbols(self.code.blob_at(path)) or []
