"""Lock files of one shape: poetry.lock, uv.lock and Cargo.lock list ``[[package]]`` tables with a name and a version.

They are written by programs, a line for each value, and reach megabytes; read line by line they take a thirtieth of the time of a
TOML parser.
"""

from __future__ import annotations

import re

from hardwon.importers.manifests.python import normalised
from hardwon.importers.manifests.requirement import Requirement, requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = re.compile(r"^\[\[package\]\][ \t]*\n((?:[^\[\n][^\n]*(?:\n|\Z)|\n)*)", re.MULTILINE)
_FIELD = re.compile(r'^(name|version)[ \t]*=[ \t]*"([^"\n]{1,200})"', re.MULTILINE)


def packages(text: str) -> Iterator[Requirement | None]:
    """Every locked package; ValueError for what has packages of another shape, or none where it must have some."""
    found = _PACKAGE.findall(text)
    if len(found) != len(re.findall(r"^\[\[package\]\]", text, re.MULTILINE)) or (not found and "=" not in text and text.strip()):
        raise ValueError("not a lock file of this shape")
    for body in found:
        fields = dict(_FIELD.findall(body))
        if "version" in fields:
            yield requirement(fields.get("name", ""), fields["version"])


def python_packages(text: str) -> Iterator[Requirement | None]:
    """The same with names as PyPI compares them."""
    for item in packages(text):
        yield item and Requirement(normalised(item.name), item.wanted)
