"""The value that every reader of a manifest gives."""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_NAME, _LONGEST_WANTED = 200, 200
_MOST_PARTS = 200  # of a dotted key


class Requirement(Value):
    """A package that a manifest names: ``wanted`` as it is written there (empty: any version), ``group`` where it is not for
    everybody (``dev``, an extra, a configuration)."""

    name: str
    wanted: str = ""
    group: str = ""


def requirement(name: Any, wanted: Any = "", group: str = "") -> Requirement | None:
    """A requirement from what was read, or None where it names nothing: manifests are written by hand, and may hold anything."""
    if not isinstance(name, str):
        return None
    name = " ".join(name.split())
    version = " ".join(wanted.split()) if isinstance(wanted, str) else ""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or len(version) > _LONGEST_WANTED:
        return None
    return Requirement(name, version if version.isprintable() and version != "*" else "", group)


def toml(text: str) -> dict[str, Any]:
    """A TOML file; ValueError where it is broken, or has keys of so many parts that the parser would not end (its time grows with
    their square)."""
    import tomllib

    if any(
        part.count(".") > _MOST_PARTS for line in text.split("\n") if line.count(".") > _MOST_PARTS for part in line.split("=")
    ):
        raise ValueError("a key has too many parts")
    return tomllib.loads(text)


def table_of(value: Any) -> dict[str, Any]:
    """A table of the file, or an empty one where there is something else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """A list of the file, or an empty one where there is something else."""
    return value if isinstance(value, list) else []
