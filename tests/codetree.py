"""A tree of code in an index of its own, from texts: what the tests of calls and of the graph ask."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hardwon.code.symbols import outline
from hardwon.store.code.codefile import CodeIndex
from hardwon.store.connection import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from hardwon.code.index import CodeReader


@contextmanager
def reading(folder: Path, files: Mapping[str, str], together: Iterable[tuple[str, str, int]] = ()) -> Iterator[CodeReader]:
    """A view of an index of these files (path to text) and of how often two of them changed in one commit."""
    index = CodeIndex(str(folder / "tree.code"), lambda: PLAIN)
    blobs = {path: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for path, text in files.items()}
    with index.write("tree") as writer:
        for path, text in files.items():
            writer.add(blobs[path], outline(path, text.encode()))
        writer.set_files(blobs, "", 1)
        writer.set_cochanges(together)
    try:
        with index.read("tree") as reader:
            yield reader
    finally:
        index.close()
