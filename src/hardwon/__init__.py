"""Hardwon: long-term, crash-safe memory for coding agents.

``hardwon.open(".")`` gives the :class:`Repository` of a folder, with every verb as a method. Names are loaded when first used, so that
the quick path of the command pays for none of them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.agent import AgentMemoryEngine
    from hardwon.doors.api import Repository
    from hardwon.doors.api import open_repository as open
    from hardwon.engine.core import Engine
    from hardwon.engine.opening import open_store
    from hardwon.errors import HardwonError
    from hardwon.settings import VERSION as __version__  # noqa: N811
    from hardwon.types import Anchor, Block, Change, Draft, Filter, Memory, Origin, Query, Receipt, Revision, Scope

__all__ = [
    "AgentMemoryEngine",
    "Anchor",
    "Block",
    "Change",
    "Draft",
    "Engine",
    "Filter",
    "HardwonError",
    "Memory",
    "Origin",
    "Query",
    "Receipt",
    "Repository",
    "Revision",
    "Scope",
    "__version__",
    "open",
    "open_store",
]

_HOMES = {
    "AgentMemoryEngine": ("hardwon.doors.agent", "AgentMemoryEngine"),
    "Repository": ("hardwon.doors.api", "Repository"),
    "Engine": ("hardwon.engine.core", "Engine"),
    "HardwonError": ("hardwon.errors", "HardwonError"),
    "__version__": ("hardwon.settings", "VERSION"),
    "open": ("hardwon.doors.api", "open_repository"),
    "open_store": ("hardwon.engine.opening", "open_store"),
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    """The public names, on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'hardwon' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES.get(name, ("hardwon.types", name))
    return getattr(import_module(module), attribute)
