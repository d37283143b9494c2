"""Python: pyproject.toml (PEP 621, dependency groups, Poetry, uv), requirements files, setup.cfg, Pipfile and their lock files."""

from __future__ import annotations

import re

from hardwon.importers.manifests.requirement import Requirement, list_of, requirement, table_of, toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_PEP508 = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:@\s*(\S+)|\(?([^;()]*)\)?)")


def pyproject(text: str) -> Iterator[Requirement | None]:
    """PEP 621 with extras, PEP 735 groups, Poetry's and uv's own tables, and what builds the project."""
    data = toml(text)
    project, tool = table_of(data.get("project")), table_of(data.get("tool"))
    yield from _python(project.get("requires-python"))
    yield from _specifiers(project.get("dependencies"))
    for group, listed in table_of(project.get("optional-dependencies")).items():
        yield from _specifiers(listed, group)
    for group, listed in table_of(data.get("dependency-groups")).items():
        yield from _specifiers(listed, group)
    yield from _specifiers(table_of(tool.get("uv")).get("dev-dependencies"), "dev")
    yield from _poetry(table_of(tool.get("poetry")))
    yield from _specifiers(table_of(data.get("build-system")).get("requires"), "build")


def _poetry(poetry: dict[str, Any]) -> Iterator[Requirement | None]:
    yield from _entries(poetry.get("dependencies"), "")
    yield from _entries(poetry.get("dev-dependencies"), "dev")
    for group, table in table_of(poetry.get("group")).items():
        yield from _entries(table_of(table).get("dependencies"), group)


def _entries(table: Any, group: str) -> Iterator[Requirement | None]:
    """Poetry's and Pipenv's ``name = "version"`` or ``name = {version = …}``, or a list of such for several platforms."""
    for name, value in table_of(table).items():
        versions = [_version(item) for item in (value if isinstance(value, list) else [value])]
        yield requirement(normalised(name), " or ".join(dict.fromkeys(filter(None, versions))), group)


def _version(value: Any) -> str:
    table = table_of(value)
    found = table.get("version") or table.get("git") if table else value
    return found if isinstance(found, str) and found != "*" else ""


def _python(wanted: Any, name: str = "python") -> Iterator[Requirement | None]:
    if isinstance(wanted, str):
        yield requirement(name, wanted)


def _specifiers(listed: Any, group: str = "") -> Iterator[Requirement | None]:
    return (specifier(item, group) for item in list_of(listed))


def specifier(text: Any, group: str = "") -> Requirement | None:
    """A PEP 508 requirement: its name and versions, without extras and markers."""
    match = _PEP508.match(text[:1_000]) if isinstance(text, str) else None
    if not match:
        return None
    return requirement(normalised(match[1]), (match[2] or match[3] or "").replace(" ", ""), group)


def normalised(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name[:300]).lower()


def requirements(text: str) -> Iterator[Requirement | None]:
    """requirements.txt: options, editable paths and URLs without a name are left out; hashes and comments are cut off."""
    for whole in text.replace("\\\n", " ").split("\n"):
        line = re.split(r"(?:^|\s)#|\s--hash", whole[:2_000], maxsplit=1)[0].strip()
        if line and not line.startswith(("-", ".", "/")) and not re.match(r"[a-z+]+://", line):
            yield specifier(line)


def setup_cfg(text: str) -> Iterator[Requirement | None]:
    """setup.cfg of setuptools. ValueError where it is broken."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    yield from _python(parser.get("options", "python_requires", fallback=None))
    yield from _lines(parser.get("options", "install_requires", fallback=""))
    yield from _lines(parser.get("options", "setup_requires", fallback=""), "build")
    if parser.has_section("options.extras_require"):
        for group, listed in parser.items("options.extras_require"):
            yield from _lines(listed, group)


def _lines(text: str, group: str = "") -> Iterable[Requirement | None]:
    separator = "\n" if "\n" in text else ";"
    return [specifier(line, group) for line in text.split(separator) if line.strip() and not line.strip().startswith("#")]


def pipfile(text: str) -> Iterator[Requirement | None]:
    """Pipfile."""
    data = toml(text)
    yield from _python(table_of(data.get("requires")).get("python_version"))
    yield from _entries(data.get("packages"), "")
    yield from _entries(data.get("dev-packages"), "dev")


def pipfile_lock(text: str) -> Iterator[Requirement | None]:
    """Pipfile.lock."""
    import json

    data = table_of(json.loads(text))
    for section in ("default", "develop"):
        for name, entry in table_of(data.get(section)).items():
            version = table_of(entry).get("version")
            if isinstance(version, str):
                yield requirement(normalised(name), version.lstrip("="))
