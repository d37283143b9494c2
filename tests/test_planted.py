"""Secrets that are planted in everything that comes in: found, and in no byte of any file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hardwon
from tests.conftest import git

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from planted import Planted, plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

EACH = 100  # of six shapes
FOUND = 0.95


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    return [item for item in plant(7, EACH) if len(item.secret) > 7]  # shorter ones stand in any file by chance


def stored(home: Path, cache: Path) -> bytes:
    """Every byte of every file that Hardwon keeps."""
    return b"\0".join(path.read_bytes() for place in (home, cache) for path in sorted(place.rglob("*")) if path.is_file())


@pytest.mark.slow
def test_six_hundred_planted_through_every_way_in_leave_no_byte(
    bare: Path, home: Path, tmp_path: Path, call: Callable[..., Result], planted: list[Planted]
) -> None:
    ways: list[list[Planted]] = [planted[way::6] for way in range(6)]
    for number, item in enumerate(ways[0]):  # messages of commits
        git(bare, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", f"Change {number}\n\n{item.text}")
    (bare / "docs").mkdir()
    for number, item in enumerate(ways[1]):  # passages
        (bare / "docs" / f"page{number}.md").write_text(f"# Page {number}\n\n{item.text}\n")
    git(bare, "add", "docs")
    git(bare, "commit", "-qm", "Pages")
    assert call("init").code == 0
    assert call("ingest", "docs").code == 0
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, item in enumerate(ways[2]):  # notes from elsewhere
        (notes / f"note{number}.md").write_text(f"# Note {number}\n\n{item.text}\n")
    assert call("import", str(notes)).code == 0
    with hardwon.open(str(bare)) as memory:
        redacted = 0
        for number, item in enumerate(ways[3]):  # details and code
            redacted += memory.record(f"note {number}", detail=item.text, code=item.text).redacted
        for number, item in enumerate(ways[4]):  # lessons, and what a program keeps with them
            redacted += memory.fail("A.run", f"failed {number}", detail=item.text).redacted
            memory.ingest([(f"step-{number}", f"step {number}", {"said": item.text})])
        for number, item in enumerate(ways[5]):  # words that are changed later
            redacted += memory.revise(memory.record(f"first {number}").id, because=item.text, rejected=[item.text]).redacted
        assert redacted >= len(planted) / 2 * FOUND
        memory.persist()
        assert memory.verify() == ()
    left = stored(home, tmp_path / "none")
    leaked = [item for item in planted if item.secret.encode() in left]
    assert len(leaked) <= (1 - FOUND) * len(planted), [(item.shape, item.source) for item in leaked]
    found = [item for item in planted if item not in leaked]
    assert not [item for item in found for line in item.secret.split("\n") if len(line) > 15 and line.encode() in left]
