"""What HEAD reaches, asked of git on the quick path: one or two processes, a third of a second at most, nothing imported for it."""

from __future__ import annotations

import os
import select
import time

from hardwon.code.git_settings import command, environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 0.3  # seconds
_MOST = 16_777_216  # bytes of an answer; 400,000 commits
_MOST_NAMED = 20_000  # commits that a command line is given


def differences(root: str, head: str, base: str, others: Sequence[str]) -> tuple[set[str], set[str]] | None:
    """(Commits that ``base`` or one of ``others`` reaches and ``head`` does not, commits that ``head`` reaches and ``base`` does not);
    ``base`` may be "", and then the second is empty. Commits that git lacks are passed over. None where git does not answer in time.
    """
    if len(others) > _MOST_NAMED:
        return None
    listing = ["rev-list", "--ignore-missing"]
    questions = [[*listing, *filter(None, (base,)), *others, f"^{head}", "--"]] if base or others else []
    if base:
        questions.append([*listing, head, f"^{base}", "--"])
    answers = _ask(root, questions)
    if answers is None:
        return None
    sets = [set(answer.decode("ascii", "replace").split()) for answer in answers]
    beyond = sets.pop(0) if sets else set()
    return beyond, sets[0] if sets else set()


def _ask(root: str, questions: Sequence[Sequence[str]]) -> list[bytes] | None:
    """Git's answers, all questions asked at once; None where one fails or does not come in time."""
    deadline = time.monotonic() + PATIENCE
    running: list[tuple[int, int]] = []
    answers: list[bytes] = []
    try:
        for question in questions:
            running.append(_start(command(root, question)))  # noqa: PERF401 - each is known, and ended, if the next cannot start
        for _, pipe in running:
            answer = _read(pipe, deadline)
            if answer is None:
                return None
            answers.append(answer)
    except OSError:
        return None
    finally:
        codes = [_end(process, pipe, len(answers) == len(questions)) for process, pipe in running]
    return answers if not any(codes) else None


def _start(words: list[str]) -> tuple[int, int]:
    # posix_spawn: the module that starts processes otherwise costs as much as three of these do.
    ours, theirs = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, theirs, 1), (os.POSIX_SPAWN_DUP2, nothing, 2)]
        process = os.posix_spawnp("git", words, environment(), file_actions=actions)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
        os.close(nothing)
    return process, ours


def _read(pipe: int, deadline: float) -> bytes | None:
    """All that comes from a pipe until it is closed."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    parts: list[bytes] = []
    size = 0
    while size <= _MOST:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return None


def _end(process: int, pipe: int, finished: bool) -> int:
    """Git's exit code; one that has not answered is ended."""
    os.close(pipe)
    if not finished:
        os.kill(process, 9)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
