"""Go: go.mod. go.sum holds digests of everything that was ever resolved, and tells nothing that go.mod does not."""

from __future__ import annotations

import re

from hardwon.importers.manifests.requirement import Requirement, requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r'\s*(?:"([^"\s]+)"|([^\s"()]+))\s+(v[^\s]+)\s*(//.*)?$')
_REPLACED = re.compile(r"\s*(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)(?:\s+(v\S+))?\s*(?://.*)?$")


def go_mod(text: str) -> Iterator[Requirement | None]:
    """The direct requirements (not those marked indirect), what replaces them, and the version of Go."""
    if not re.search(r"^[ \t]*+module\s", text, re.MULTILINE):
        raise ValueError("a go.mod names its module")
    found: dict[str, Requirement] = {}
    block = ""
    for line in text.split("\n"):
        words = line.split("//", 1)[0].split()
        if not words:
            continue
        if words[0] == ")":
            block = ""
            continue
        if words[-1] == "(":
            block = words[0]
            continue
        directive = block or words[0]
        rest = line if block else line.strip()[len(words[0]) :]
        item = _entry(directive, rest, found)
        if item:
            found[item.name] = item
    yield from found.values()


def _entry(directive: str, rest: str, found: dict[str, Requirement]) -> Requirement | None:
    if directive == "go":
        return requirement("go", rest.partition("//")[0].strip())
    if directive == "toolchain":
        return requirement("go toolchain", rest.strip())
    if directive == "require" and (match := _LINE.match(rest[:1_000])):
        return None if "indirect" in (match[4] or "") else requirement(match[1] or match[2], match[3])
    if directive == "replace" and (match := _REPLACED.match(rest[:1_000])) and match[1] in found:
        known = found[match[1]].wanted
        return requirement(match[1], f"{known} (replaced by {match[2]}{' ' + match[3] if match[3] else ''})")
    return None
