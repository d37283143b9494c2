"""Java and Kotlin: pom.xml, build.gradle(.kts), gradle.lockfile, libs.versions.toml.

XML is read by expat with document types forbidden, so that no entity is ever expanded or fetched. Gradle's files are programs;
only what they say plainly is read.
"""

from __future__ import annotations

import re

from hardwon.importers.manifests.requirement import Requirement, requirement, table_of, toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DEEPEST = 100  # XML elements inside each other
_MOST_ELEMENTS = 100_000


class _Pom:
    """Collects the dependencies, the parent and the properties of a pom.xml while expat reads it."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.text: list[str] = []
        self.elements = 0
        self.properties: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self.parent: dict[str, str] = {}
        self.dependencies: list[dict[str, str]] = []

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self.elements += 1
        if len(self.path) >= _DEEPEST or self.elements > _MOST_ELEMENTS:
            raise ValueError("nested too deeply, or too long")
        self.path.append(name.rpartition(":")[2])
        self.text = []
        if self.path[-1] == "dependency":
            self.fields = {}

    def data(self, text: str) -> None:
        self.text.append(text)

    def end(self, _name: str) -> None:
        value = "".join(self.text).strip()[:300]
        name = self.path.pop()
        above = self.path[-1] if self.path else ""
        if above == "dependency":
            self.fields[name] = value
        elif name == "dependency" and above == "dependencies" and "plugin" not in self.path:
            self.dependencies.append(self.fields)
        elif self.path == ["project", "parent"]:
            self.parent[name] = value
        elif self.path == ["project", "properties"]:
            self.properties[name] = value
        self.text = []

    def resolved(self, value: str) -> str:
        """The value with properties in it replaced, as far as this file knows them."""
        for _ in range(3):  # a property may name another
            value = re.sub(r"\$\{([^${}]{1,100})\}", lambda match: self.properties.get(match[1], match[0]), value)[:300]
        return value


def pom_xml(text: str) -> Iterator[Requirement | None]:
    """Maven. ValueError for broken XML, and for any that declares a document type."""
    from xml.parsers import expat

    pom = _Pom()

    def refuse(*_: Any) -> None:
        raise ValueError("a document type is declared")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = pom.start
    parser.EndElementHandler = pom.end
    parser.CharacterDataHandler = pom.data
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    for fields in (pom.parent, *pom.dependencies):
        if "artifactId" in fields:
            name = ":".join(filter(None, (fields.get("groupId", ""), fields["artifactId"])))
            scope = fields.get("scope", "")
            yield requirement(
                pom.resolved(name), pom.resolved(fields.get("version", "")), scope if scope in ("test", "provided") else ""
            )


_COORDINATES = re.compile(r"""['"]([\w.-]{1,100}:[\w.-]{1,100}):([^'":@]{1,80})(?:[:@][^'"]{0,40})?['"]""")
_CALL = re.compile(
    r"^\s*(\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|compile|runtime|kapt|ksp|annotationProcessor|classpath|platform))\b"
)
_MAP = re.compile(
    r"""group\s*[:=]\s*['"]([\w.-]{1,100})['"]\s*,\s*name\s*[:=]\s*['"]([\w.-]{1,100})['"]\s*,\s*version\s*[:=]\s*['"]([^'"]{1,80})['"]"""
)
_PLUGIN = re.compile(r"""\bid\s*\(?\s*['"]([\w.-]{1,100})['"]\s*\)?\s*version\s*\(?\s*['"]([^'"]{1,80})['"]""")


def build_gradle(text: str) -> Iterator[Requirement | None]:
    """Gradle scripts, in Groovy or Kotlin: dependencies and plugins that are written out with their version."""
    for line in (whole[:1_000] for whole in text.split("\n")):
        if line.lstrip().startswith(("//", "*", "/*")):
            continue
        if plugin := _PLUGIN.search(line):
            yield requirement(plugin[1], plugin[2], "plugin")
        call = _CALL.match(line)
        if not call:
            continue
        group = "test" if call[1].lower().startswith(("test", "androidtest")) else ""
        if match := _MAP.search(line):
            yield requirement(f"{match[1]}:{match[2]}", match[3], group)
        elif match := _COORDINATES.search(line):
            yield requirement(match[1], match[2], group)


def version_catalog(text: str) -> Iterator[Requirement | None]:
    """libs.versions.toml: libraries and plugins, with the versions that they refer to."""
    data = toml(text)
    versions = {name: _rich(value) for name, value in table_of(data.get("versions")).items()}
    for kind, group in (("libraries", ""), ("plugins", "plugin")):
        for value in table_of(data.get(kind)).values():
            name, wanted = _catalog_entry(value, versions)
            yield requirement(name, wanted, group)


def _catalog_entry(value: Any, versions: dict[str, str]) -> tuple[str, str]:
    if isinstance(value, str):
        name, _, wanted = value.rpartition(":")
        return name, wanted
    entry = table_of(value)
    name = entry.get("module") or entry.get("id") or ":".join(str(entry.get(part, "")) for part in ("group", "name"))
    reference = table_of(entry.get("version")).get("ref")
    return str(name).strip(":"), versions.get(reference, "") if isinstance(reference, str) else _rich(entry.get("version"))


def _rich(value: Any) -> str:
    """A version, or the one that a table of constraints prefers."""
    entry = table_of(value)
    found = next((entry[key] for key in ("strictly", "require", "prefer") if key in entry), "") if entry else value
    return found if isinstance(found, str) else ""


def gradle_lockfile(text: str) -> Iterator[Requirement | None]:
    """gradle.lockfile: a ``group:name:version=configurations`` a line."""
    for line in text.split("\n"):
        name, _, wanted = line[:500].partition("=")[0].rpartition(":")
        if name.count(":") == 1 and not line.startswith("#"):
            yield requirement(name, wanted)
