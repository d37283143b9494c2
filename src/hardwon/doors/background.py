"""One process in the background that brings a memory up to date with its repository, and ends by itself. Quick to load: hooks ask for it.

It is started where something is behind and nobody is at it, stands in no session and on no terminal, holds none of its parent's files,
gives way to everything else on the machine, and is gone after ten minutes at the latest.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.engine.core import Engine
    from hardwon.settings import Settings

# Seconds. What was parsed and read until then stays; the next process goes on from there.
LONGEST, GRACE = 600, 15
# Seconds after one began in which no other is started from here: one that fails must not be started by every call.
PAUSE = 60
_NICE = 10
_MOST_FILES = 4096  # descriptors that are closed where the system does not tell how many there may be
# Processes that this one started and that have to be waited for when they have ended, lest they stay as zombies.
_started: list[int] = []


def refresh_soon(engine: Engine, settings: Settings) -> bool:
    """Start that process if something is behind and none has begun lately; whether it was. Never waits, and raises nothing of the
    system's: what is not done now is done by the next call."""
    _reap()
    if not settings.background or engine.place is None or _began_lately(engine):
        return False
    from hardwon.engine.freshness import is_behind

    return is_behind(engine) and start(engine.place.checkout.root)


def start(folder: str) -> bool:
    """Start it for a folder; False where the system refuses."""
    # -P: a module of the folder that we stand in, which may be anybody's, must not be taken for one of Python's.
    words = [sys.executable, "-P", "-m", "hardwon", "refresh", "--background", "--folder", folder]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        _started.append(os.posix_spawn(sys.executable, words, os.environ, file_actions=nothing))
    except OSError:
        return False
    return True


def _reap() -> None:
    for process in list(_started):
        try:
            done, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            done = process
        if done:
            _started.remove(process)


def _began_lately(engine: Engine) -> bool:
    from time import time

    from hardwon.engine.freshness import began

    return abs(time() - began(engine)) < PAUSE


def detach() -> bool:
    """Leave the caller: True in the process that goes on in the background, False in the one that was called, which is to end."""
    import signal

    if os.fork():
        return False
    os.setsid()
    os.chdir("/")  # else the folder could not be removed, or its disk not be taken out, meanwhile
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    _close_others()
    os.nice(_NICE)
    for name in (signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(LONGEST)
    return True


def _close_others() -> None:
    """Whoever waits for the end of a pipe of theirs must not wait for us: pipes that a script opened are inherited."""
    try:
        most = os.sysconf("SC_OPEN_MAX")
    except (OSError, ValueError):
        most = _MOST_FILES
    os.closerange(3, most if 0 < most <= 1 << 20 else _MOST_FILES)


def _late(number: int, frame: Any) -> None:
    """Stop as Ctrl-C would; if that leads to nothing, with everything that was started from here."""
    import signal

    def end(number: int, frame: Any) -> None:
        os.killpg(0, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(GRACE)
    raise KeyboardInterrupt
