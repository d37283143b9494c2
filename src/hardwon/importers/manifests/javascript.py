"""JavaScript: package.json, package-lock.json, yarn.lock (both formats) and pnpm-lock.yaml."""

from __future__ import annotations

import json
import re

from hardwon.importers.manifests.requirement import Requirement, requirement, table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUPS = (("dependencies", ""), ("devDependencies", "dev"), ("peerDependencies", "peer"), ("optionalDependencies", "optional"))
_ENGINES = ("node", "npm", "yarn", "pnpm")


def package_json(text: str) -> Iterator[Requirement | None]:
    """package.json, with the engines it asks for. ValueError where it is no object."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("not an object")
    for field, group in _GROUPS:
        for name, wanted in table_of(data.get(field)).items():
            yield requirement(name, wanted, group)
    for name in _ENGINES:
        if wanted := table_of(data.get("engines")).get(name):
            yield requirement(name, wanted)


def package_lock(text: str) -> Iterator[Requirement | None]:
    """package-lock.json: what is installed at the top (version 2 and 3: ``packages``, version 1: ``dependencies``)."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("not an object")
    tops = {name[13:]: entry for name, entry in table_of(data.get("packages")).items() if name.startswith("node_modules/")}
    for name, entry in (tops or table_of(data.get("dependencies"))).items():
        if "node_modules/" not in name and (version := table_of(entry).get("version")):
            yield requirement(name, version)


_YARN_KEY = re.compile(r'"?((?:@[^@/"\s]{1,100}/)?[^@"\s,]{1,100})@')
_YARN_VERSION = re.compile(r'\s{2}version:? "?([^"\s]{1,100})"?$')


def yarn_lock(text: str) -> Iterator[Requirement | None]:
    """yarn.lock, classic and berry: a line with one or more ``name@range``, and two spaces deeper its version."""
    name = ""
    for line in text.split("\n"):
        if line[:1] not in (" ", "#", ""):
            key = _YARN_KEY.match(line)
            name = key[1] if key else ""
        elif name and (version := _YARN_VERSION.match(line)):
            if version[1] != "0.0.0-use.local":
                yield requirement(name, version[1])
            name = ""


_PNPM_LINE = re.compile(r"( {0,12})(?:'([^']{1,200})'|\"([^\"]{1,200})\"|([^\s'\":][^\s:]{0,200})):(?: (.{0,300}))?$")
_PNPM_SECTIONS = frozenset(("dependencies", "devDependencies", "optionalDependencies"))


def pnpm_lock(text: str) -> Iterator[Requirement | None]:
    """pnpm-lock.yaml: what the importers (or, in old files, the root) depend on directly. Only that part is read, by its indents."""
    path: list[tuple[int, str]] = []
    for line in text.split("\n"):
        match = _PNPM_LINE.match(line)
        if not match or (not path and match[1]):
            continue
        depth, name = len(match[1]), match[2] or match[3] or match[4]
        if depth == 0 and name != "importers" and name not in _PNPM_SECTIONS:
            path = []
            continue
        while path and path[-1][0] >= depth:
            path.pop()
        value = (match[5] or "").strip().strip("'\"")
        version = _pnpm_version([part for _, part in path], name, value)
        if version:
            yield version
        if not value:
            path.append((depth, name))


def _pnpm_version(path: list[str], name: str, value: str) -> Requirement | None:
    if not value or value.startswith(("link:", "file:", "workspace:")):
        return None
    plain = re.split(r"[(_]", value, maxsplit=1)[0]  # without the peers that it was resolved with
    if len(path) >= 2 and path[-2] in _PNPM_SECTIONS and name == "version":
        return requirement(path[-1], plain)
    if path and path[-1] in _PNPM_SECTIONS and value[0].isdigit():
        return requirement(name, plain)
    return None
