"""Our block in a script of git's: put in and taken out again, byte for byte. Pure.

It stands right behind the line that names the interpreter, not at the end: many hooks end in ``exit`` or ``exec``, behind which nothing
runs. It is a subshell that reads nothing, prints nothing and cannot fail, so that what follows runs as it did before.
"""

from __future__ import annotations

from hardwon.errors import InvalidInput

HOOKS = ("post-commit", "post-merge", "post-rewrite", "post-checkout")
# The folder in git's common one by which a hook knows that this repository has a memory, and the file in it that it appends to.
FOLDER, EVENTS = "hardwon", "events"

_BEGIN, _END = b"# >>> hardwon >>>", b"# <<< hardwon <<<"
_MADE = b" made this file"
_ABOUT = b" tells the memory of this repository that its history moved; `hardwon uninstall git` takes it out"
_HEAD = b"#!/bin/sh\n"
_SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh", "mksh")

# Every line of it is for a plain POSIX shell, with -e and -u as without. Where git's folder is the usual one git is not asked: that
# would be a third of the cost. A line that waits already has a process on its way, or the next call of Hardwon sees to it.
_BLOCK = """\
(
  {condition}d=${{GIT_DIR:-.git}}
  [ -d "$d/objects" ] || d=$(git rev-parse --git-common-dir) || exit 0
  d=$d/{folder}
  [ -d "$d" ] || exit 0
  waits=; [ ! -s "$d/{events}" ] || waits=yes
  echo "{hook} $*" >>"$d/{events}"
  case "$waits${{HARDWON_BACKGROUND:-${{CI:+off}}}}" in "" | on) ;; *) exit 0 ;; esac
  {program}
  unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
  "$p" refresh --background &
) </dev/null >/dev/null 2>&1 || :
"""
_ANYWHERE = "p=$(command -v hardwon) || exit 0"
# Of a checkout of single files nothing moves.
_CONDITIONS = {"post-checkout": '[ "${3:-1}" = 1 ] || exit 0\n  '}


def block(hook: str, program: str = "") -> bytes:
    """The lines between the marks for a hook. ``program``: the absolute path of our command; "" for a file that others get with the
    repository, which then looks for it."""
    where = f'p={_quoted(program)}; [ -x "$p" ] || {_ANYWHERE}' if program else _ANYWHERE
    text = _BLOCK.format(
        hook=hook, condition=_CONDITIONS.get(hook, ""), folder=FOLDER, events=EVENTS, program=where
    )  # fmt: skip
    return text.encode("utf-8", "surrogateescape")


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


def has_block(content: bytes) -> bool:
    """Whether a script holds our marks."""
    return any(line.startswith(_BEGIN) for line in content.split(b"\n"))


def with_block(content: bytes | None, lines: bytes) -> bytes:
    """The script with our block, in place of an earlier one; None is a file that is not there. InvalidInput for one that no shell reads,
    or whose block lacks its end."""
    if content is None:
        return _HEAD + _marked(lines, _MADE)
    if has_block(content):
        made = _was_made(content)
        content = without_block(content)
        if content is None:
            return _HEAD + _marked(lines, _MADE)
        return _put(content, lines, _MADE if made else b"")
    refuse_other_languages(content)
    return _put(content, lines, b"")


def _put(content: bytes, lines: bytes, made: bytes) -> bytes:
    if not content.startswith(b"#!"):
        return _marked(lines, made) + content
    head, newline, rest = content.partition(b"\n")
    if newline:
        return head + newline + _marked(lines, made) + rest
    return head + b"\n" + _marked(lines, made)[:-1]  # nothing ends the last line, as before: by that it is known again


def _marked(lines: bytes, made: bytes) -> bytes:
    return _BEGIN + made + _ABOUT + b"\n" + lines + _END + b"\n"


def _was_made(content: bytes) -> bool:
    return any(line.startswith(_BEGIN + _MADE) for line in content.split(b"\n"))


def without_block(content: bytes) -> bytes | None:
    """The script as it was before; None for a file that was made for the block and holds nothing else. InvalidInput where the end of a
    block is missing."""
    made = _was_made(content)
    while has_block(content):
        start = 0 if content.startswith(_BEGIN) else content.index(b"\n" + _BEGIN) + 1
        end = content.find(b"\n" + _END, start)
        if end < 0:
            raise InvalidInput(
                "the block of Hardwon in it has lost its last line",
                field="hook",
                remedy=f"take out what follows {_BEGIN.decode()!r}",
            )
        after = content.find(b"\n", end + 1)
        content = content[: max(0, start - 1)] if after < 0 else content[:start] + content[after + 1 :]
    return None if made and content in (_HEAD, b"") else content


def refuse_other_languages(content: bytes) -> None:
    """InvalidInput for a script that is not for a shell, or no script at all."""
    first = content.partition(b"\n")[0].strip()
    if b"\0" in content[:8192]:
        raise InvalidInput("it is a program, not a script", field="hook", remedy=_BY_HAND)
    if not first.startswith(b"#!"):
        return  # git has such a one read by sh
    name = _interpreter(first[2:].decode("utf-8", "replace"))
    if name not in _SHELLS:
        raise InvalidInput(f"it is written for {name[:40] or 'nothing'}, not for a shell", field="hook", remedy=_BY_HAND)


def _interpreter(line: str) -> str:
    """The name of who reads a script; the path to it may hold blanks, as on Windows."""
    command = line.replace("\\", "/").strip()
    name = command.partition(" -")[0].rpartition("/")[2]
    words = (name if not name.startswith("env") else command.rpartition("/env")[2]).split()
    return next((word.removesuffix(".exe") for word in words if not word.startswith("-") and "=" not in word), "")


_BY_HAND = "have it start `hardwon refresh --background`; without a hook sessions see to it when they start"
