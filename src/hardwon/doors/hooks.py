"""``hardwon hook CLIENT``: what an agent's client runs at each moment of a session.

Whatever happens, the process ends in time with exit code 0 and an answer that the client takes, be it an empty one; the only other exit
code is a deliberate refusal, for a client that knows no other way. So this is the one place that catches everything: what is
caught goes to the log of hooks (hook_log.py), which ``status`` and ``doctor`` show.
"""

from __future__ import annotations

import os

from hardwon.agents import payload as payloads
from hardwon.agents.answers import SILENCE, Answer
from hardwon.agents.table import row
from hardwon.doors import hook_log
from hardwon.doors.deadline import Deadline
from hardwon.errors import HardwonError, InvalidInput, NoStore, StoreError, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardwon.agents.answers import Say
    from hardwon.capture.event import Event
    from hardwon.doors.handle import Answer as Done
    from hardwon.doors.handle import Call
    from hardwon.engine.core import Engine
    from hardwon.settings import Settings

_FOR_PEOPLE = (
    "hardwon: clients run this and write JSON to it; `hardwon install CLIENT` wires it in, `hardwon doctor` looks if it works"
)
LIMIT = 8_000_000  # bytes of a payload
_CHUNK = 1 << 20
# Seconds by moment; HARDWON_HOOK_MS sets another time for all.
_TOOL, _OTHER = 0.3, 1.0
_TELLING = 5.0  # of an error, which takes little
# When nobody waits for what a refresh in the background brings; it is started where the memory is behind.
_BETWEEN = ("start", "stop")
# Of the time that is left, what a writer may wait for the lock: then it spools, and the rest of the time is for that.
_WAIT = 0.4
# Calls that change nothing and teach nothing. Most clients are not asked to tell of them; some tell of every call.
_OF_NO_USE = ("read", "search", "other")


class _Standing:
    """How far a hook has come, for the log and for an answer when the time is over."""

    def __init__(self) -> None:
        self.home = ""
        self.client = ""
        self.moment = "start-up"
        self.nothing = SILENCE

    def late(self) -> None:
        """The time is over."""
        _write(self.nothing)
        if self.home:
            hook_log.note(self.home, self.client, self.moment, "late", "no answer in time")


def run(words: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """One hook, for the words behind ``hook``; the exit code."""
    environment = os.environ if environment is None else environment
    standing = _Standing()
    deadline = Deadline(_OTHER, standing.late)
    answer = SILENCE
    try:
        answer = _answered(words, environment, standing, deadline)
    except BaseException as error:  # noqa: BLE001 - nothing may disturb the agent; counted, and shown by status
        deadline.set(_TELLING)
        _tell(standing, error)
        answer = standing.nothing
    deadline.claim()
    _write(answer)
    return answer.exit


def hook(call: Call) -> Done:
    """The same, where the verb was not the first word. Nothing but the hook's own answer is printed."""
    request = call.request
    said = [(f"--{name}", request.text(name)) for name in ("folder", "project") if request.text(name)]
    raise SystemExit(run([request.text("client"), *(word for pair in said for word in pair)]))


def _answered(words: Sequence[str], environment: Mapping[str, str], standing: _Standing, deadline: Deadline) -> Answer:
    from hardwon import settings as options

    name, folder, project = _said(words)
    standing.client = name
    client = row(name)
    if client is not None:
        standing.nothing = payloads.nothing(client)
    home = options.default_home(environment)
    if os.path.isdir(home):
        standing.home = home  # before the other settings: of one that cannot be used the log has to tell
    settings = options.load(environment)
    if client is None or not client.dialect:
        raise InvalidInput(f"there are no hooks of {name[:40]!a}", field="client")
    deadline.set(_seconds(settings, _OTHER))
    if os.isatty(0):
        return Answer(stderr=_FOR_PEOPLE)
    payload = payloads.parse(_input())
    event = payloads.read(payload, client, environment, _now())
    if event is None or not standing.home or event.tool in _OF_NO_USE:
        return standing.nothing
    standing.moment = event.moment
    deadline.set(_seconds(settings, _TOOL if event.moment in ("before", "after") else _OTHER))
    say = _asked(event, settings, folder, project, standing, deadline)
    return payloads.answer(payload, client, event, say)


def _said(words: Sequence[str]) -> tuple[str, str, str]:
    """The client, ``-C PATH`` and ``-p NAME``; what else a line may hold is passed over, for it was written by an installer."""
    client = folder = project = ""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-C", "--folder") and rest:
            folder = rest.pop(0)
        elif word in ("-p", "--project") and rest:
            project = rest.pop(0)
        elif not word.startswith("-") and not client:
            client = word
    return client, folder, project


def _seconds(settings: Settings, usual: float) -> float:
    return settings.hook_ms / 1000 if settings.hook_ms else usual


def _now() -> int:
    from time import time_ns

    return time_ns() // 1_000_000


def _input() -> bytes:
    """What stands on standard input; ValueError where it is more than LIMIT. The rest is read too, so that the client can write it."""
    os.set_blocking(0, True)  # some runtimes hand on a pipe that is not
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(0, _CHUNK):
        size += len(chunk)
        if size <= LIMIT:
            chunks.append(chunk)
    if size > LIMIT:
        raise ValueError("the payload is too large")
    return b"".join(chunks)


def _asked(event: Event, settings: Settings, folder: str, project: str, standing: _Standing, deadline: Deadline) -> Say:
    """What the memory of the event's folder says to it; silence where it has none."""
    from hardwon.agents.answers import Say
    from hardwon.doors.advice import words
    from hardwon.engine.opening import open_engine
    from hardwon.settings import key_source
    from hardwon.types import Origin, Scope

    cwd = _folder(os.path.abspath(folder) if folder else event.cwd)
    if not cwd:
        return Say()
    scope = Scope(Origin("agent", event.client, event.session, "hook"))
    wait = min(settings.wait, max(0.0, deadline.left() * _WAIT))
    try:
        engine = open_engine(cwd, settings.home, project, wait=wait, cache=settings.cache, keys=key_source())
    except NoStore:
        return Say()
    try:
        advice = engine.on_event(event, scope, settings.deny)
        for line in advice.degraded:
            hook_log.note(standing.home, standing.client, standing.moment, _cause(line), _redacted(line))
        say = words(advice, event.moment)
        if event.moment in _BETWEEN:
            _refresh(engine, settings, standing)
        return say
    finally:
        engine.close()


def _refresh(engine: Engine, settings: Settings, standing: _Standing) -> None:
    """Bring the memory up to date in the background; what is to be said is said without it too."""
    from hardwon.doors.background import refresh_soon

    try:
        refresh_soon(engine, settings)
    except (HardwonError, OSError) as error:
        _tell(standing, error)


def _cause(degraded: str) -> str:
    """What is behind a part that was left out: an error of the store, by its kind, or nothing that is wrong."""
    kind = degraded.partition(": ")[0]
    errors: tuple[type[HardwonError], ...] = (NoStore, StoreError, *StoreError.__subclasses__())
    return kind if any(error.kind == kind for error in errors) else hook_log.DEGRADED


def _folder(named: str) -> str:
    """A folder that is there: the one that is named, else the one we stand in where none is; "" for one that is gone."""
    if named:
        return os.path.abspath(named) if os.path.isabs(named) and os.path.isdir(named) else ""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _tell(standing: _Standing, error: BaseException) -> None:
    """A line in the log. Of errors that may quote what they were given, only their kind is told, and where they came up."""
    if not standing.home:
        return
    kind, message = type(error).__name__, ""
    if isinstance(error, HardwonError):
        kind = error.kind
        message = _redacted(error.message) if not isinstance(error, InvalidInput) else error.field
    elif isinstance(error, OSError):
        message = os.strerror(error.errno) if error.errno else ""
    else:
        message = place_of(error)
    hook_log.note(standing.home, standing.client, standing.moment, kind, message)


def _redacted(text: str) -> str:
    from hardwon.intake.redact import redact

    try:
        return redact(text[:1_000])[0]
    except RecursionError:
        return ""


def _write(answer: Answer) -> None:
    """Both streams; whoever closed them does not want them."""
    for descriptor, text in ((1, answer.stdout), (2, answer.stderr)):
        rest = memoryview(text.encode("utf-8", "replace") + b"\n") if text else memoryview(b"")
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            continue
