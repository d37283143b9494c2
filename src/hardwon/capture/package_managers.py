"""What package managers are asked for: a script of the project by its name, tests, an installation."""

from __future__ import annotations

from hardwon.capture.command_table import TESTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.commands import WorkKind

_MANAGERS = frozenset(
    ("npm", "yarn", "pnpm", "bun", "composer", "poetry", "uv", "pdm", "bundle", "hatch", "rye", "pixi", "pipenv")
)
_INSTALLING = frozenset((
    "install", "i", "ci", "add", "remove", "uninstall", "update", "upgrade", "sync", "lock", "pip", "require", "venv", "link", "audit",
))  # fmt: skip
_OF_CHECKS = frozenset(("typecheck", "types", "type", "tsc", "mypy", "lint", "eslint", "format", "fmt", "prettier", "build"))


def of_package_manager(words: tuple[str, ...]) -> tuple[WorkKind, str] | None:
    """What ``npm``, ``yarn``, ``pnpm``, ``bun``, ``composer``, ``poetry`` and ``uv`` are asked for; None for other programs."""
    name = words[0]
    if name not in _MANAGERS:
        return None
    rest = [word for word in words[1:] if not word.startswith("-")]
    verb = rest[0] if rest else "install"
    if verb in ("run", "run-script"):
        return by_script(rest[1] if len(rest) > 1 else "", name)
    if verb in TESTERS or verb in ("test", "t", "tst"):
        return "test", TESTERS.get(verb, name)
    if verb in _INSTALLING:
        return "install", name
    if verb in ("list", "ls", "why", "outdated", "view", "show", "info"):
        return "look", name
    return by_script(verb, name)


def by_script(script: str, runner: str) -> tuple[WorkKind, str]:
    """A script or target by its name: ``test:unit``, ``lint``, ``typecheck``, ``build``."""
    head, *others = script.replace("-", ":").replace("_", ":").split(":")
    # "check" says that something is checked, and the other part what: check-types, check:format.
    if head == "check" and (told := next((word for word in others if word in _OF_CHECKS), "")):
        head = told
    for kind, names in (
        ("test", ("test", "tests", "check", "spec", "unit", "e2e", "integration", "vitest", "jest", "pytest", "ci")),
        ("types", ("typecheck", "types", "type", "tsc", "mypy")),
        ("lint", ("lint", "eslint")),
        ("format", ("format", "fmt", "prettier")),
        ("build", ("build", "compile", "all", "dist", "bundle")),
        ("install", ("install", "setup", "deps", "bootstrap")),
    ):
        if head in names:
            plain = script in ("test", "tests", "t", "")
            return kind, runner if plain else f"{runner} {script}"  # type: ignore[return-value]
    return "run", runner
