"""What ``install`` and ``uninstall`` do to a client's files; and the plugin, the marketplace and the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.test_turns import NEW, OLD
from tests.clients.world import files, some

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.world import World

# Where a client keeps what it writes of its own accord, sessions above all: our name stands there because we were there.
OWN = (".local/", ".cache/", ".codex/sessions", ".codex/log", ".claude/projects", ".gemini/tmp", ".claude.json.backup", "sqlite")


def settings(world: World) -> dict[str, bytes]:
    """The files of the home, without Hardwon's own folder, and those of the repository."""
    home = {name: data for name, data in files(world.place.home).items() if not name.startswith(".local/share/hardwon")}
    repo = {f"repo/{name}": data for name, data in files(world.place.repo).items()}
    return home | repo


def test_uninstall_gives_back_every_file(world: World) -> None:
    world.hardwon("init")
    before = settings(world)
    world.hardwon("install", world.client.name, "--yes")
    assert settings(world) != before
    world.hardwon("uninstall", world.client.name, "--yes")
    assert settings(world) == before


def test_after_a_session_uninstall_leaves_nothing_of_ours(wired: World) -> None:
    wired.play("Make the total of a cart whole cents.", [[wired.client.shell("ls")]])
    wired.hardwon("uninstall", wired.client.name, "--yes")
    after = {
        name: data.replace(b'"mcp__hardwon"', b"")
        for name, data in settings(wired).items()
        if not any(own in name for own in OWN)
    }
    assert [name for name, data in after.items() if b"hardwon" in data.lower()] == []
    _, requests = wired.play("And once more.", [[wired.client.shell("ls")]])
    told = requests[0].text.replace(str(wired.place.bin.parents[1]), "")  # where the client lies is no word of ours
    assert "hardwon" not in told.lower()


@pytest.fixture
def folder(world: World) -> Path:
    """The plugin's folder, as it is written for a marketplace."""
    world.hardwon("init")
    target = world.place.home / "plugin"
    world.hardwon("install", "--write-plugin", str(target), "--yes")
    return target


@some("claude-code")
def test_claude_code_takes_the_plugin(world: World, folder: Path) -> None:
    for plugin in (folder, *(path.parent.parent for path in folder.glob("**/.claude-plugin/plugin.json"))):
        checked = world.command("plugin", "validate", str(plugin))
        assert checked.code == 0, checked
    assert (added := world.command("plugin", "marketplace", "add", str(folder))).code == 0, added
    assert (put := world.command("plugin", "install", "hardwon@hardwon")).code == 0, put
    stopped_by_the_plugin(world)


@some("codex", "codex-scripts")
def test_codex_takes_the_plugin(world: World, folder: Path) -> None:
    assert (added := world.command("plugin", "marketplace", "add", str(folder))).code == 0, added
    assert (put := world.command("plugin", "add", "hardwon@hardwon")).code == 0, put
    stopped_by_the_plugin(world)


@some("gemini")
def test_gemini_takes_the_extension(world: World, folder: Path) -> None:
    extension = next(folder.glob("**/gemini-extension.json")).parent
    checked = world.command("extensions", "validate", str(extension))
    assert checked.code == 0, checked
    linked = world.command("extensions", "link", str(extension), "--consent")
    assert linked.code == 0, linked
    stopped_by_the_plugin(world)


def stopped_by_the_plugin(world: World) -> None:
    """The hooks of the plugin are asked, and answer."""
    from tests.clients.test_turns import make_risky, stops

    make_risky(world)
    shop = world.path("shop.py")
    edit = world.client.edit(shop, OLD, NEW)
    turn, requests = world.play("Make the total of a cart whole cents.", [[world.client.read(shop)], [edit], [edit]])
    assert stops(requests[2]) == 1, turn
    assert NEW in world.text("shop.py"), turn
