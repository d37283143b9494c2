"""What a wired client tells the model, and when it is stopped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from tests.clients.model import strings
from tests.clients.wire import Say
from tests.clients.world import approved, some

if TYPE_CHECKING:
    from tests.clients.model import Reply, Request
    from tests.clients.wire import Block
    from tests.clients.world import World

RULE = "Amounts are whole cents everywhere; a float never crosses a function's border"
REASON = "Rounding the net price first lost a cent on every third order"
LESSON = "The sum has to be of cents: a float slips in when a discount is applied here"
OLD, NEW = "    return sum(item.price for item in cart)", "    return sum(round(item.price) for item in cart)"
DOC, NEW_DOC = '    """The price of what is in a cart, in cents."""', '    """The price of a cart in whole cents."""'
STOPPED = "Hardwon stopped this call once"
FRAME = "<hardwon-memory"
FULL = 400_000  # tokens: longer than any of the clients lets a session become


def make_risky(world: World) -> None:
    """A symbol that has failed often enough for a call to be stopped."""
    for cause in ("a discount", "a voucher", "a refund", "a gift card"):
        world.hardwon("fail", "total", LESSON.replace("a discount", cause), "--file", "shop.py")


def stops(*requests: Request) -> int:
    """How many calls were stopped, as these requests tell: the texts that say so, each counted once a request."""
    return sum(STOPPED in text for request in requests for text in set(strings(request.body)))


def test_a_rule_is_told_at_the_start_and_the_reason_at_the_prompt_that_asks_for_it(wired: World) -> None:
    approved(wired, RULE)
    _, requests = wired.play("Why do we round prices after the tax and not before it?", [])
    assert FRAME in html.unescape(requests[0].text)  # Gemini CLI escapes what a hook says
    assert RULE in requests[0].text
    assert REASON in requests[0].text


def test_nothing_is_said_where_nothing_fits(wired: World) -> None:
    _, requests = wired.play("Which month comes after November in the calendar?", [[wired.client.shell("date")]])
    assert FRAME not in html.unescape(requests[-1].text)


def test_a_call_that_has_failed_before_is_stopped_once_and_the_retry_passes(wired: World) -> None:
    make_risky(wired)
    edit = wired.client.edit(wired.path("shop.py"), OLD, NEW)
    read = wired.client.read(wired.path("shop.py"))
    turn, requests = wired.play("Make the total of a cart whole cents.", [[read], [edit], [edit]])
    assert stops(requests[1]) == 0
    assert stops(requests[2]) == 1 and LESSON in requests[2].text, turn
    assert stops(requests[-1]) == 1, "the retry was stopped as well"
    assert NEW in wired.text("shop.py"), turn


def test_what_else_is_known_of_the_place_comes_with_the_refusal_or_with_the_retry(wired: World) -> None:
    make_risky(wired)
    known = "Discounts go off before the tax"
    wired.hardwon("record", known, "--kind", "rule", "--file", "shop.py", "--symbol", "total")
    edit = wired.client.edit(wired.path("shop.py"), OLD, NEW)
    turn, requests = wired.play(
        "Make the total of a cart whole cents.", [[wired.client.read(wired.path("shop.py"))], [edit], [edit]]
    )
    assert known not in requests[1].text and stops(requests[2]) == 1
    assert (known in requests[2].text) == (wired.client.name in ("claude-code", "codex")), turn
    assert known in requests[-1].text, turn


def test_two_calls_at_once_and_two_subagents_are_stopped_once_in_all(wired: World) -> None:
    make_risky(wired)
    client, shop = wired.client, wired.path("shop.py")
    tasks = client.tasks(["[[first]] Look at the total.", "[[second]] Look at the total."])
    both: list[Block] = [client.edit(shop, OLD, NEW), client.edit(shop, DOC, NEW_DOC)]
    head = "def total(cart):"
    steps: dict[str, list[Reply]] = {
        name: [[client.read(shop)], [client.edit(shop, head, f"{head}\n    # {name}")], [Say("Done.")]]
        for name in ("first", "second")
    }
    turn, requests = wired.play("Make the total of a cart whole cents.", [[client.read(shop)], both, *tasks], steps)
    assert stops(requests[2]) == 1, turn
    parts = [wired.model.of(name) for name in ("first", "second")]
    assert all(len(part) >= 3 for part in parts), (turn, [len(part) for part in parts])
    assert stops(*(part[-1] for part in parts)) == 0, "a subagent was stopped for what its session had been told"
    text = wired.text("shop.py")
    assert (NEW in text) != (NEW_DOC in text), f"one of the two calls passes\n{text}"
    assert "# first" in text or "# second" in text, turn


def test_the_tools_are_there_in_the_first_turn(wired: World) -> None:
    approved(wired, RULE)
    call = wired.client.mcp("hardwon", "recall", {"task": "whole cents or a float across a function's border"})
    turn, requests = wired.play("Ask the memory first.", [[call]])
    assert "hardwon" in requests[0].text
    # Claude Code and Codex tell of most tools in the server's own words only.
    for name in ("recall", "before", "outcome", "remember"):
        assert f"`{name}`" in requests[0].text or any(name in tool for tool in requests[0].tools), name
    first, second = (sum(RULE in text for text in strings(request.body)) for request in requests[:2])
    assert second == first + 1, turn


@some("claude-code", "codex", "codex-scripts", "opencode")  # Gemini CLI says that it will shorten a session, not that it has
def test_a_shortened_session_is_told_the_rules_again(wired: World) -> None:
    approved(wired, RULE)
    look = wired.client.shell("ls")
    if wired.client.program == "claude":
        wired.play("Look around.", [[look]])
        wired.command(*wired.client.command("/compact", True))
    else:
        wired.model.tokens = FULL
        wired.play("Look around.", [[look]])
    _, requests = wired.play("Look again.", [[look]], goes_on=True)
    assert RULE in requests[-1].text


def test_the_files_of_a_project_wire_it_as_well(world: World) -> None:
    world.hardwon("init")
    world.hardwon("install", world.client.name, "--scope", "project", "--yes")
    make_risky(world)
    edit = world.client.edit(world.path("shop.py"), OLD, NEW)
    turn, requests = world.play(
        "Make the total of a cart whole cents.", [[world.client.read(world.path("shop.py"))], [edit], [edit]]
    )
    assert stops(requests[2]) == 1, turn
    assert NEW in world.text("shop.py"), turn
