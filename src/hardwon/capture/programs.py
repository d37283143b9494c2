"""Which program does the work of a command: behind ``sudo``, ``env``, ``uv run``, ``python -m`` and the like. Pure and light."""

from __future__ import annotations

from hardwon.capture.shell import program, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    Words = tuple[str, ...]

_DEEPEST = 6
# Programs that run the one named behind these words of theirs; their options that take a value.
_RUNNERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "uv": (("run",), ("tool", "run")), "uvx": ((),), "pipx": (("run",),), "poetry": (("run",),), "pdm": (("run",),), "hatch": (("run",),),
    "rye": (("run",),), "pixi": (("run",),), "pipenv": (("run",),), "conda": (("run",),), "mamba": (("run",),), "micromamba": (("run",),),
    "npx": ((),), "bunx": ((),), "pnpx": ((),), "pnpm": (("exec",), ("dlx",)), "yarn": (("exec",), ("dlx",), ("run", "-T")),
    "npm": (("exec",), ("x",)), "bundle": (("exec",),), "bun": (("x",),), "mise": (("exec",), ("x",)), "direnv": (("exec", "."),),
    "coverage": (("run",),), "winpty": ((),), "firejail": ((),), "rtk": ((),),
}  # fmt: skip
_WITH_VALUE = frozenset(
    (
        "--from", "--with", "--with-editable", "--with-requirements", "--python", "-p", "--project", "--directory", "--env-file", "-e",
        "--extra", "--group", "--only-group", "--index", "--index-url", "--spec", "-n", "--name", "--prefix", "--package", "--env", "-C",
        "--cwd", "--filter", "-w", "--workspace", "--rcfile", "--source", "--include", "--omit", "--data-file", "--context",
    )
)  # fmt: skip


def is_python(name: str) -> bool:
    """Whether a program's name is that of a Python interpreter (``python3.11``, ``pypy3``, ``py``)."""
    bare = name.rstrip("0123456789.")
    return bare in ("python", "pypy", "pythonw", "py") and not name.endswith(".py")


def proper(words: Words) -> Words:
    """The words from the program on that does the work; a module of ``python -m`` stands for its program. () where there is none."""
    for _ in range(_DEEPEST):
        words = unwrapped(words)
        if not words:
            return ()
        inner = _inner(program(words[0]), words)
        if not inner:
            return (program(words[0]), *words[1:])
        words = inner
    return words


def _inner(name: str, words: Words) -> Words:
    """The words of the program that a runner runs; () where this is no runner, or names none."""
    if is_python(name):
        return _module(words)
    if name == "coverage" and words[1:2] == ("run",) and "-m" in words:
        return words[words.index("-m") + 1 :]
    for lead in _RUNNERS.get(name, ()):
        if words[1 : 1 + len(lead)] == lead:
            rest = _behind_options(words[1 + len(lead) :])
            if rest and rest[0].startswith("-m") and name == "uv":
                return ("python", *rest)
            return rest
    return ()


def _behind_options(words: Words) -> Words:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("--", "-m"):
        at += 2 if words[at] in _WITH_VALUE else 1
    if at < len(words) and words[at] == "--":
        at += 1
    return words[at:]


def _module(words: Words) -> Words:
    """What ``python -m`` runs; () for a script, code of ``-c`` and an interactive interpreter."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        option = words[at]
        if option == "-m":
            return words[at + 1 :]
        if option.startswith("-m"):
            return (option[2:], *words[at + 1 :])
        if not option.startswith("--") and option.endswith("m") and "c" not in option:  # -Im
            return words[at + 1 :]
        if option == "-c" or not option.strip("-"):
            return ()
        at += 2 if option in ("-W", "-X") else 1
    return ()
