"""Regular expressions that are compiled when they are first used: of the many forms that a report can have, a process meets one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any


class Pattern:
    """As what ``re.compile`` makes of ``source``; not even ``re`` is imported sooner."""

    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    findall: Callable[..., list[Any]]
    sub: Callable[..., str]
    split: Callable[..., list[Any]]

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        """A method that was not asked for yet; from then on it is found without coming here."""
        from re import compile

        method = getattr(compile(self._source), name)
        setattr(self, name, method)
        return method
