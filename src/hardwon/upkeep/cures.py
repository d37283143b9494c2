"""What changed between a test's failure and its pass, as values, and which memories that speaks for. Pure."""

from __future__ import annotations

from hardwon.code import touched
from hardwon.code.names import same_symbol
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardwon.types import Memory
    from hardwon.upkeep.evidence import TestRun

# What sets tests up, beside a test's own file: in its folder or above.
_SETTING_UP = frozenset(
    (
        "conftest.py",
        "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "package.json", "jest.config.js", "vitest.config.ts",
    )
)  # fmt: skip

# By path, the fingerprint of each symbol; None of a file whose symbols are not known.
Symbols = dict[str, dict[str, str] | None]
# By path, the blob that the file is now, and the symbols that are other now with their fingerprints ("" for what is gone); None where
# they are not known.
Changed = dict[str, tuple[str, dict[str, str] | None]]


class Cure(Value):
    """A test that failed and then passed, and what changed in between; ``restored``: it had passed on the very same files before."""

    red: TestRun
    green: TestRun
    changed: Changed
    test_changed: bool
    restored: bool = False


def is_test_changed(file: str, changed: Iterable[str]) -> bool:
    """Whether one of the changed files is the one that holds a test, or sets it up."""
    folder = file.rpartition("/")[0]
    for path in changed:
        place, _, name = path.rpartition("/")
        above = not place or folder == place or folder.startswith(place + "/")
        if path == file or (above and name in _SETTING_UP):
            return True
    return False


def touches(memory: Memory, cure: Cure) -> bool:
    """Whether the change touches one of a memory's anchors: its symbol in its file, or its symbol wherever that is."""
    for anchor in memory.anchors:
        if anchor.path in cure.changed and touched.touches(anchor.symbol, cure.changed[anchor.path][1]):
            return True
        named = (one for _, symbols in cure.changed.values() for one in symbols or ())
        if anchor.symbol and not anchor.path and any(same_symbol(one, anchor.symbol) for one in named):
            return True
    return False


def code_of(memory: Memory, cure: Cure) -> set[str]:
    """Digests of the code that changed and that a memory speaks of: of its symbols, of the whole file where those are not known."""
    found: set[str] = set()
    for path, (blob, symbols) in cure.changed.items():
        for anchor in memory.anchors:
            if anchor.path not in (path, ""):
                continue
            if symbols is None or not anchor.symbol:
                found.update([blob] if anchor.path else [])
            else:
                found.update(print_ for name, print_ in symbols.items() if same_symbol(name, anchor.symbol))
    return found - {""}
