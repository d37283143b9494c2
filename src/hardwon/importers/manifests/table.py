"""Which reader a file has, and what it read: one row a kind of file."""

from __future__ import annotations

import re

from hardwon.importers.headings import decode
from hardwon.importers.manifests import golang, java, javascript, python, rust, tomllock
from hardwon.importers.snapshot import is_foreign
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hardwon.importers.manifests.requirement import Requirement

# Bytes; a manifest is written by hand, a lock file by a program.
MANIFEST_LIMIT, LOCK_LIMIT = 1_000_000, 8_000_000

# Package and group to the version that is wanted; several that are wanted at once are joined.
Requirements = dict[tuple[str, str], str]


class Kind(Value):
    """A kind of file: its ecosystem, its reader, and whether it is a lock file, which also names what nobody asked for."""

    ecosystem: str
    read: Callable[[str], Iterator[Requirement | None]]
    lock: bool = False


_KINDS: Mapping[str, Kind] = {
    "pyproject.toml": Kind("python", python.pyproject),
    "setup.cfg": Kind("python", python.setup_cfg),
    "Pipfile": Kind("python", python.pipfile),
    "poetry.lock": Kind("python", tomllock.python_packages, lock=True),
    "uv.lock": Kind("python", tomllock.python_packages, lock=True),
    "Pipfile.lock": Kind("python", python.pipfile_lock, lock=True),
    "package.json": Kind("javascript", javascript.package_json),
    "package-lock.json": Kind("javascript", javascript.package_lock, lock=True),
    "npm-shrinkwrap.json": Kind("javascript", javascript.package_lock, lock=True),
    "yarn.lock": Kind("javascript", javascript.yarn_lock, lock=True),
    "pnpm-lock.yaml": Kind("javascript", javascript.pnpm_lock, lock=True),
    "go.mod": Kind("go", golang.go_mod),
    "Cargo.toml": Kind("rust", rust.cargo_toml),
    "Cargo.lock": Kind("rust", tomllock.packages, lock=True),
    "pom.xml": Kind("java", java.pom_xml),
    "build.gradle": Kind("java", java.build_gradle),
    "build.gradle.kts": Kind("java", java.build_gradle),
    "libs.versions.toml": Kind("java", java.version_catalog),
    "gradle.lockfile": Kind("java", java.gradle_lockfile, lock=True),
}
_REQUIREMENTS = Kind("python", python.requirements)
_REQUIREMENTS_FILE = re.compile(
    r"(?:.*/)?(?:requirements[\w.-]*\.(?:txt|in)|[\w.-]+[-_.]requirements\.txt|requirements/[\w.-]+\.(?:txt|in))"
)
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)


def kind_of(path: str) -> Kind | None:
    """The kind of a manifest or lock file of this repository; None for any other file."""
    kind = _KINDS.get(path.rpartition("/")[2])
    if kind is None and path.endswith((".txt", ".in")) and _REQUIREMENTS_FILE.fullmatch(path):
        kind = _REQUIREMENTS
    return None if kind is None or is_foreign(path) else kind


def parse(kind: Kind, data: bytes) -> Requirements | None:
    """What a file requires; None where it is broken: a conflict that was committed, or what its format does not allow."""
    text = decode(data)
    if text is None or _CONFLICT.search(text):
        return None
    found: dict[tuple[str, str], list[str]] = {}
    try:
        for item in kind.read(text):
            if item:
                found.setdefault((item.name, "" if kind.lock else item.group), []).append(item.wanted)
    except (ValueError, RecursionError):  # what json, tomllib and our own readers raise for broken input
        return None
    joined = ", " if kind.lock else " or "
    return {key: joined.join(dict.fromkeys(filter(None, wanted))) for key, wanted in found.items()}
