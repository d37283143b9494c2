"""``export --format agents-md``: memories as a marked passage of a file of instructions, of which the rest stays as it is."""

from __future__ import annotations

import os

from hardwon.agents import blocks
from hardwon.doors import configuration, render
from hardwon.doors.handle import Answer, narrowed
from hardwon.errors import InvalidInput
from hardwon.importers import agents_md
from hardwon.store import files
from hardwon.types import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.handle import Call

NAME = "memories"  # of the block: another one holds the instructions


def export(call: Call) -> Answer:
    """The passage into a file, in the place of the last one; or to standard output."""
    request = call.request
    path = request.text("file")
    count, content = _content(call, _worth_saying(narrowed(call)))
    if path in ("", "-"):
        return Answer(content, {"format": "agents-md", "memories": count, "text": content} if request.flag("json") else None)
    full = os.path.join(call.cwd, os.path.expanduser(path))
    _check_folder(full, path)
    held = configuration.read(full)
    text = configuration.text(full, held or b"")
    new = blocks.put(text, content, NAME) if content else blocks.remove(text, NAME)
    if new != text:
        configuration.check_writable(full)
        files.rewrite(full, new.encode())
    what = render.plural(count, "memory", "memories") if count else "no memory, and took the passage out"
    data = {"file": path, "format": "agents-md", "memories": count, "bytes": len(new.encode()), "changed": new != text}
    unchanged = f"{path} is up to date" if content else _nothing(narrowed(call))
    return Answer(f"wrote {what} to {path}" if new != text else unchanged, data)


def _check_folder(full: str, path: str) -> None:
    """InvalidInput for a folder that is not there, as for every other export: it may be a slip."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(full))):
        raise InvalidInput(
            f"{path[:200]!r} cannot be written: its folder is not there", field="file", remedy="make it, or name another file"
        )


def _nothing(where: Filter) -> str:
    """Why there is nothing to write."""
    if where != Filter():
        wanted = "matches" if where.trusts else "that matches is confirmed or proven (`hardwon approve`)"
        return f"nothing to write: no memory {wanted}"
    return "nothing to write: no rule, decision, how-to or lesson is confirmed or proven (`hardwon approve`)"


def _worth_saying(where: Filter) -> Filter:
    """Without a filter for them, the kinds and the trust of what may be said at each start."""
    narrow: Filter = where.replace(
        kinds=where.kinds or agents_md.KINDS, trusts=where.trusts or agents_md.TRUSTS, statuses=where.statuses or ("active",)
    )
    return narrow


def _content(call: Call, where: Filter) -> tuple[int, str]:
    from hardwon.engine.exchange import export as stream

    items = list(stream(call.engine, where, private=call.request.flag("private")))
    return sum(bool(item.versions) for item in items), "\n".join(agents_md.write(items)).strip()
