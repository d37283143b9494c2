"""What is kept of a session: by hooks while it runs, from its transcript afterwards; and never twice."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.clients.model import Reply
    from tests.clients.world import World

RUN = f"{sys.executable} -m pytest -q -p no:cacheprovider test_prices.py"
OLD, NEW = "    return item * (1 + tax)", "    return round(item * (1 + tax))"


def red_then_green(world: World) -> list[Reply]:
    """A test that fails, the edit that cures it, and the test again."""
    client, prices = world.client, world.path("prices.py")
    return [[client.shell(RUN)], [client.read(prices)], [client.edit(prices, OLD, NEW)], [client.shell(RUN)]]


def lessons(world: World) -> list[dict[str, Any]]:
    """The lessons on ``price``, as the memory tells them."""
    found = world.data("query", "price", "--all")["symbols"]
    return [experience for symbol in found for experience in symbol["experiences"]]


def kept(world: World) -> list[str]:
    """Every memory that is not derived from the repository, as text."""
    return sorted(line for line in world.hardwon("export", "-").splitlines() if line)


def test_a_failure_and_its_cure_become_one_lesson_which_the_transcript_does_not_double(wired: World) -> None:
    turn, _ = wired.play("The price is not in whole cents, please repair it.", red_then_green(wired))
    assert NEW in wired.text("prices.py"), turn
    found = lessons(wired)
    assert [lesson["type"] for lesson in found] == ["fail"], (turn, found)
    before = kept(wired)
    wired.hardwon("ingest", "transcripts")
    assert lessons(wired) == found
    after = kept(wired)
    wired.hardwon("ingest", "transcripts")
    assert kept(wired) == after
    assert len(after) - len(before) <= 1, "what the hooks had kept was kept again"


def test_a_session_without_hooks_is_learnt_from_its_transcript_once(world: World) -> None:
    world.hardwon("init")
    world.play("The price is not in whole cents, please repair it.", red_then_green(world))
    assert lessons(world) == []
    world.hardwon("ingest", "transcripts")
    found = lessons(world)
    assert [lesson["type"] for lesson in found] == ["fail"], found
    world.hardwon("ingest", "transcripts")
    assert lessons(world) == found


def test_a_routine_failure_is_no_lesson(wired: World) -> None:
    commands = ("grep -rn nothing_of_that_name .", "gti status", "ls /no/such/folder", "python3 -c 'print(1'")
    wired.play("Look around a little.", [[wired.client.shell(command)] for command in commands])
    assert not [line for line in kept(wired) if json.loads(line).get("kind") == "lesson"]
