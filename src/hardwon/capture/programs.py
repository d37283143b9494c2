"""Which program does the work of a command: behind ``sudo``, ``env``, ``uv run``, ``python -m`` and the like. Pure and light."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Words = tuple[str, ...]

# Programs that run the program named after them, with their options that take a value.
_WRAPPERS: dict[str, str] = {
    "sudo": "ugCpDhrRtT", "doas": "uC", "env": "uCS", "nohup": "", "nice": "n", "ionice": "cnp", "time": "fo", "timeout": "ks",
    "command": "", "exec": "a",
    "builtin": "",
    "gtimeout": "ks",
    "cross-env": "", "steam-run": "", "chronic": "", "stdbuf": "ioe", "setsid": "", "unbuffer": "", "xvfb-run": "ans", "caffeinate": "tw",
}  # fmt: skip
_DEEPEST = 6
# Programs that run the one named behind these words of theirs; their options that take a value.
_RUNNERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "uv": (("run",), ("tool", "run")), "uvx": ((),), "pipx": (("run",),), "poetry": (("run",),), "pdm": (("run",),), "hatch": (("run",),),
    "rye": (("run",),), "pixi": (("run",),), "pipenv": (("run",),), "conda": (("run",),), "mamba": (("run",),), "micromamba": (("run",),),
    "npx": ((),), "bunx": ((),), "pnpx": ((),), "pnpm": (("exec",), ("dlx",)), "yarn": (("exec",), ("dlx",), ("run", "-T")),
    "npm": (("exec",), ("x",)), "bundle": (("exec",),), "bun": (("x",),), "mise": (("exec",), ("x",)), "asdf": (("exec",),),
    "rbenv": (("exec",),), "pyenv": (("exec",),), "volta": (("run",),), "coverage": (("run",),), "winpty": ((),), "firejail": ((),),
    "rtk": ((),), "dotenv": ((),),
}  # fmt: skip
_WITH_VALUE = frozenset(
    (
        "--from", "--with", "--with-editable", "--with-requirements", "--python", "-p", "--project", "--directory", "--env-file", "-e",
        "--extra", "--group", "--only-group", "--index", "--index-url", "--spec", "-n", "--name", "--prefix", "--package", "--env", "-C",
        "--cwd", "--filter", "-w", "--workspace", "--rcfile", "--source", "--include", "--omit", "--data-file", "--context", "--node",
        "--npm", "--yarn", "--pnpm", "-f", "--manifest-path",
    )
)  # fmt: skip
# Programs that run what stands behind one of these words, wherever it stands: what is before it says only in which surroundings.
_BEHIND: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nix": (("develop", "shell"), ("-c", "--command")), "mise": (("exec", "x"), ("--",)), "devenv": (("shell",), ("--",)),
    "devbox": (("run",), ("--",)), "flox": (("activate",), ("--",)), "guix": (("shell",), ("--",)), "doppler": (("run",), ("--",)),
    "op": (("run",), ("--",)), "infisical": (("run",), ("--",)), "dotenvx": (("run",), ("--",)), "aws-vault": (("exec",), ("--",)),
}  # fmt: skip
# Docker's options before and behind its verb that take a value. ``docker run`` is not looked through: an image has its own program.
_DOCKERS = frozenset(("docker", "podman", "docker-compose", "podman-compose"))
_OF_DOCKER = frozenset(
    (
        "-f", "--file", "-p", "--project-name", "--project-directory", "--profile", "--env-file", "--context", "-c", "-H", "--host",
        "--ansi", "--progress", "--parallel",
    )
)  # fmt: skip
_OF_EXEC = frozenset(
    (
        "-e", "--env", "--env-file", "-u", "--user", "-w", "--workdir", "--index", "--detach-keys", "-l", "--label", "--name", "-p",
        "--publish", "-v", "--volume", "--cap-add", "--cap-drop", "--pull",
    )
)  # fmt: skip
# Behind ``run`` these are scripts that the project has named, and no programs.
_SCRIPTS = frozenset(
    ("test", "tests", "lint", "typecheck", "types", "format", "fmt", "build", "check", "ci", "cov", "typing", "style")
)
# Signs by which a name is computed, and names by which Windows knows devices in any folder.
_EXPANDED = frozenset("$`*?{}%")
_DEVICES = frozenset(("nul", "con"))


def program(word: str) -> str:
    """The name of a program without its folder, and without ``.exe`` or ``.cmd``, as Windows has ``npm.cmd``."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    return name[:-4] if name[-4:].lower() in (".exe", ".cmd") else name


def names_file(word: str) -> bool:
    """Whether a word names a file of which is known which one it is: nothing in it is expanded, by a shell, PowerShell or cmd, and it is
    no device."""
    return (
        bool(word)
        and word != "-"
        and not word.startswith("/dev/")
        and not _EXPANDED.intersection(word)
        and word.lower().removesuffix(":") not in _DEVICES
    )


def unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without ``sudo``, ``env A=1``, ``timeout 5`` and the like in front: the first one is the program that does the work."""
    for _ in range(8):
        if not words or program(words[0]) not in _WRAPPERS:
            return words
        name, at = program(words[0]), 1
        while at < len(words) and words[at].startswith("-") and words[at] != "--":
            at += 2 if len(words[at]) == 2 and words[at][1] in _WRAPPERS[name] else 1
        if at < len(words) and words[at] == "--":
            at += 1
        if name == "timeout":
            at += 1
        while name in ("env", "sudo", "cross-env") and at < len(words) and _is_assignment(words[at]):
            at += 1
        words = words[at:]
    return words


def is_python(name: str) -> bool:
    """Whether a program's name is that of a Python interpreter (``python3.11``, ``pypy3``, ``py``)."""
    bare = name.rstrip("0123456789.")
    return bare in ("python", "pypy", "pythonw", "py") and not name.endswith(".py")


def proper(words: Words) -> Words:
    """The words from the program on that does the work; a module of ``python -m`` stands for its program. () where there is none."""
    *_, last = _chain(words)
    return (program(last[0]), *last[1:]) if last else ()


def _chain(words: Words) -> Iterator[Words]:
    """The words from each program on that runs the next one, to the one that does the work; () at the end where that is not named."""
    for _ in range(_DEEPEST):
        words = unwrapped(words)
        yield words
        words = _inner(program(words[0]), words) if words else ()
        if not words:
            return


def _inner(name: str, words: Words) -> Words:  # noqa: PLR0911  # one for each kind of runner
    """The words of the program that a runner runs; () where this is no runner, or names none."""
    if is_python(name):
        return _module(words)
    if name == "coverage" and words[1:2] == ("run",) and "-m" in words:
        return words[words.index("-m") + 1 :]
    if name in _DOCKERS:
        return _in_container(name, words)[1:]
    if name == "direnv":
        return words[3:] if words[1:2] == ("exec",) else ()
    verbs, signs = _BEHIND.get(name, ((), ()))
    if words[1:2] and words[1] in verbs:
        at = next((at for at, word in enumerate(words) if word in signs), 0)
        if at or name not in _RUNNERS:
            return words[at + 1 :] if at else ()
        if "-c" in words or "--command" in words:
            return ()  # a text for a shell: ``shell.handed_on``
    for lead in _RUNNERS.get(name, ()):
        if words[1 : 1 + len(lead)] == lead:
            rest = _behind_options(words[1 + len(lead) :])
            if rest and rest[0].startswith("-m") and name == "uv":
                return ("python", *rest)
            if rest and lead == ("run",) and rest[0].rpartition(":")[2] in _SCRIPTS:
                return ()
            return (rest[0].rpartition(":")[2], *rest[1:]) if rest and name == "hatch" else rest  # ENVIRONMENT:PROGRAM
    return ()


def _in_container(name: str, words: Words) -> Words:
    """What ``docker exec NAME`` and ``docker compose exec SERVICE`` run in a container of the project, behind its name; () for what else
    Docker does."""
    at, composes = 1, name.endswith("-compose")
    while at < len(words):
        word = words[at]
        if word.startswith("-"):
            at += 2 if word in _OF_DOCKER else 1
        elif word in ("compose", "container") and not composes:
            composes = composes or word == "compose"
            at += 1
        else:
            break
    if words[at : at + 1] != ("exec",) and not (composes and words[at : at + 1] == ("run",)):
        return ()
    at += 1
    while at < len(words) and words[at].startswith("-"):
        if words[at].startswith("--entrypoint"):
            return ()  # the words behind are given to another program
        at += 2 if words[at] in _OF_EXEC else 1
    return words[at:]


def in_container(words: Words) -> bool:
    """Whether a command is Docker's or one like it, or runs one."""
    return any(step and program(step[0]) in _DOCKERS for step in _chain(words))


def container(words: Words) -> str:
    """The container or service that a command runs its program in; "" for none."""
    steps = (step for step in _chain(words) if step and program(step[0]) in _DOCKERS)
    return next(("".join(_in_container(program(step[0]), step)[:1]) for step in steps), "")


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


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier() and name.isascii()
