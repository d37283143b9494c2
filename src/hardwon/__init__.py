"""Hardwon: long-term, crash-safe memory for coding agents.

``hardwon.open(".")`` gives the :class:`Engine` of a folder's repository. Names are loaded when first used, so that the quick
path of the command pays for none of them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.engine.core import Engine
    from hardwon.engine.opening import VERSION as __version__  # noqa: N811
    from hardwon.engine.opening import open_folder as open
    from hardwon.engine.opening import open_store
    from hardwon.errors import HardwonError
    from hardwon.types import Anchor, Block, Change, Draft, Filter, Memory, Origin, Query, Receipt, Scope

__all__ = [
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
    "Scope",
    "__version__",
    "open",
    "open_store",
]

_HOMES = {
    "Engine": ("hardwon.engine.core", "Engine"),
    "HardwonError": ("hardwon.errors", "HardwonError"),
    "__version__": ("hardwon.engine.opening", "VERSION"),
    "open": ("hardwon.engine.opening", "open_folder"),
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
