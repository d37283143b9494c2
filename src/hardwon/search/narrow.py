"""Filters that name something: a value that does not occur is an error that lists what does, not an empty answer."""

from __future__ import annotations

from hardwon.errors import InvalidInput
from hardwon.types import KINDS, OUTCOMES, STATUSES, TRUSTS, Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.store.base import Reader

# Filter fields whose values come from what is kept, and what one of them is called on the command line.
_OPEN = {"tags": "tag", "branches": "branch", "extensions": "ext", "paths": "path", "authors": "author"}
_CLOSED = {
    "kinds": ("kind", KINDS), "outcomes": ("outcome", OUTCOMES), "statuses": ("status", STATUSES), "trusts": ("trust", TRUSTS),
}  # fmt: skip
_SHOWN = 15


def check(reader: Reader, where: Filter) -> None:
    """InvalidInput for a value that is no word of its kind, or that nothing here has. A word of a closed set (a kind, say) may
    well have no memories: that is an empty answer."""
    for field, (name, words) in _CLOSED.items():
        for value in getattr(where, field):
            if value not in words:
                raise InvalidInput(f"there is no {name} {value[:60]!r}", field=name, remedy="one of: " + ", ".join(words))
    for field, name in _OPEN.items():
        for value in getattr(where, field):
            if not value.strip("./ ") or not reader.find(Filter().replace(**{field: (value,)}), 1):
                known = [one for one, _ in reader.values(field, _SHOWN + 1)]
                listed = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
                what = f"nothing here has the {name} {value[:60]!r}"
                raise InvalidInput(what, field=name, remedy=f"what there is: {listed}" if known else f"no memory has any {name}")
