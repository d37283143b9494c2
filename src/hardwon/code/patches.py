"""What a commit changes, told from the text of its diff, so that the same change is known again in another commit. Pure."""

from __future__ import annotations

from hardwon.digest import blake2b
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Lines that say something: a brace or ``else:`` is in every other commit.
_SUBSTANTIAL = 6  # characters without blanks
# So many of them make a change known without the lines around it, which others may have changed meanwhile.
_ENOUGH = 3
# Of a squash that was edited by hand, so much of a commit has to be left for it to count as merged, where there is so much to tell by.
_SHARE, _OF = 0.9, 10


class Patch(Value):
    """The changes of one commit. ``whole`` tells its files, lines and the lines around them; ``bare`` its files and lines alone, ""
    where these are too few to tell it by; ``added`` its added lines that say something, ``removed`` the same, by file."""

    whole: str = ""
    bare: str = ""
    added: Mapping[bytes, frozenset[bytes]] = {}
    removed: Mapping[bytes, frozenset[bytes]] = {}

    @property
    def files(self) -> frozenset[bytes]:
        """The files that it changes."""
        return frozenset(self.added)


def parse(diff: Iterable[bytes]) -> Patch:
    """The patch that lines of ``git diff-tree -p`` (without renames) describe; an empty one for no lines."""
    whole, bare = blake2b(digest_size=10), blake2b(digest_size=10)
    added: dict[bytes, set[bytes]] = {}
    removed: dict[bytes, set[bytes]] = {}
    path, blobs, substantial, in_hunk = b"", b"", 0, False
    for line in diff:
        if line.startswith(b"diff --git "):
            path, in_hunk = line[11:], False
            added[path], removed[path] = set(), set()
            _both(whole, bare, b"\0" + path)
        elif line.startswith(b"@@ "):
            in_hunk = True
        elif in_hunk:
            sign, text = line[:1], b"".join(line[1:].split())
            whole.update(sign + text + b"\n")
            if sign in b"+-":
                bare.update(sign + text + b"\n")
                if len(text) >= _SUBSTANTIAL:
                    substantial += 1
                    (added if sign == b"+" else removed)[path].add(text)
        elif line.startswith(b"index "):
            blobs = line
        elif line.startswith(b"Binary files "):
            _both(whole, bare, blobs)
        elif line.startswith((b"old mode", b"new mode", b"new file", b"deleted file")):
            _both(whole, bare, line)
    if not added:
        return Patch()
    return Patch(
        whole.hexdigest(),
        bare.hexdigest() if substantial >= _ENOUGH else "",
        {one: frozenset(lines) for one, lines in added.items()},
        {one: frozenset(lines) for one, lines in removed.items()},
    )


def _both(one: blake2b, other: blake2b, words: bytes) -> None:
    one.update(words)
    other.update(words)


def equal(one: Patch, other: Patch) -> bool:
    """Whether two commits change the same: alike with the lines around, or enough lines alike without these."""
    return bool(one.whole) and (one.whole == other.whole or (bool(one.bare) and one.bare == other.bare))


def shares(one: Patch, other: Patch) -> bool:
    """Whether two commits change a line alike."""
    for mine, theirs in ((one.added, other.added), (one.removed, other.removed)):
        if any(lines & theirs.get(path, frozenset()) for path, lines in mine.items()):
            return True
    return False


def holds(large: Patch, small: Patch, *, all_of_it: bool = False) -> bool:
    """Whether what a small commit adds is in a large one, file by file: nearly all of it, of lines enough to tell by; ``all_of_it``:
    every line, however few."""
    # Lines that were only moved or had their blanks changed say nothing.
    new = {path: lines - small.removed[path] for path, lines in small.added.items()}
    wanted = sum(len(lines) for lines in new.values())
    found = sum(len(lines & large.added.get(path, frozenset())) for path, lines in new.items())
    if all_of_it or wanted < _OF:
        return 0 < wanted == found and (all_of_it or wanted >= _ENOUGH)
    return found >= wanted * _SHARE
