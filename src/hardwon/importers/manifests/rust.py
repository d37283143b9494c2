"""Rust: Cargo.toml (Cargo.lock has the shape of ``tomllock``)."""

from __future__ import annotations

from hardwon.importers.manifests.requirement import Requirement, requirement, table_of, toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_TABLES = (("dependencies", ""), ("dev-dependencies", "dev"), ("build-dependencies", "build"))


def cargo_toml(text: str) -> Iterator[Requirement | None]:
    """A crate's or workspace's dependencies, those of single targets included, and the version of Rust."""
    data = toml(text)
    package, workspace = table_of(data.get("package")), table_of(data.get("workspace"))
    rust = package.get("rust-version") or table_of(workspace.get("package")).get("rust-version")
    if isinstance(rust, str):
        yield requirement("rust", rust)
    yield from _tables(data)
    yield from _entries(workspace.get("dependencies"), "")
    for target in table_of(data.get("target")).values():
        yield from _tables(table_of(target))


def _tables(data: dict[str, Any]) -> Iterator[Requirement | None]:
    for table, group in _TABLES:
        yield from _entries(data.get(table), group)


def _entries(table: Any, group: str) -> Iterator[Requirement | None]:
    for name, value in table_of(table).items():
        entry = table_of(value)
        if not entry:
            yield requirement(name, value, group)
            continue
        wanted = entry.get("version") or entry.get("git")
        if wanted:  # without either it lies beside us, or the workspace says it
            yield requirement(entry.get("package") or name, wanted, group)
