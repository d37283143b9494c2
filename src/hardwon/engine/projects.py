"""Which memory each project of another tool goes to, and how that is opened: a registered one, or one made for it by name."""

from __future__ import annotations

import os

from hardwon.engine.core import Engine, wall_clock
from hardwon.engine.opening import open_engine, prepare
from hardwon.errors import InvalidInput
from hardwon.settings import VERSION
from hardwon.store.identity import LONGEST_NAME, check_name, is_name
from hardwon.store.registry import Registry
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hardwon.settings import KeySource

# The project of who named none: it belongs to the folder at hand.
DEFAULT = "default"
_NOBODY = "00000000-0000-7000-8000-000000000000"


class Target(Value):
    """Where a project goes: the name of a memory, and whether that is yet to be made."""

    project: str
    name: str
    fresh: bool


def targets(home: str, here: str, projects: Iterable[str], mapped: Mapping[str, str]) -> list[Target]:
    """A target for each project: as ``mapped``, else the registered one of its name; ``default`` goes to ``here`` (the name of the
    folder's own memory, "" for none); for any other one a memory of its name. InvalidInput where two would meet in a new one."""
    registered = {entry.name for entry in Registry(home).entries()}
    found: list[Target] = []
    for project in projects:
        name = (
            mapped.get(project) or (here if project == DEFAULT else "") or (project if project in registered else plain(project))
        )
        check_name(name)
        met = next((other.project for other in found if other.name == name and name not in registered), None)
        if met is not None:
            raise InvalidInput(
                f"the projects {met[:60]!r} and {project[:60]!r} would both become {name!r}", field="project-map",
                remedy="say where each goes: --project-map OLD=NAME",
            )  # fmt: skip
        found.append(Target(project, name, name not in registered))
    return found


def plain(project: str) -> str:
    """A project's name as a name of ours."""
    if is_name(project):
        return project
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in project.lower())
    return kept.strip("-._")[:LONGEST_NAME].rstrip("-._") or "project"


def open_target(
    target: Target,
    cwd: str,
    home: str,
    wait: float = 30.0,
    clock: Callable[[], int] = wall_clock,
    entropy: Callable[[int], bytes] = os.urandom,
    cache: str = "",
    *,
    dry: bool = False,
    keys: KeySource | None = None,
) -> Engine:
    """The memory of a target, made if it is new; of a ``dry`` run an empty one that leaves nothing behind."""
    from hardwon.store.ids import uuid7

    if not target.fresh:
        return open_engine(cwd, home, target.name, clock, entropy, wait, cache, keys=keys)
    if dry:
        from hardwon.store.memory import MemoryStore

        return Engine(MemoryStore(), _NOBODY, None, clock, entropy, wait, cache)
    from hardwon.store.sqlite import SqliteStore

    registry = Registry(home, wait)
    now = clock()
    entry = registry.add(target.name, id=uuid7(now, entropy(10)), now=now)
    store = SqliteStore(registry.store_path(entry), f"hardwon {VERSION}", clock)
    prepare(store, entry.id, now, entropy, wait)
    store.close()
    return open_engine(cwd, home, target.name, clock, entropy, wait, cache, keys=keys)
