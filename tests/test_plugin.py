"""What is handed out: the plugin, the extension, the registry's entry, the bundle, the feature."""

from __future__ import annotations

import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from hardwon.agents import bundles, hook_events
from hardwon.settings import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Call = Callable[..., Result]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def written(tmp_path: Path, home: Path, call: Call) -> Path:
    done = call("install", "--write-plugin", "out")
    assert done.code == 0, done
    return tmp_path / "out"


def test_it_is_written_once_or_again_but_not_among_other_files(tmp_path: Path, home: Path, call: Call) -> None:
    for _ in range(2):
        assert call("install", "--write-plugin", "out").code == 0
    first = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    (tmp_path / "out" / "mine.txt").write_text("x")
    refused = call("install", "--write-plugin", "out")
    assert refused.code == 2 and "mine.txt" in refused.err
    assert {path: path.read_bytes() for path in first} == first
    dry = call("install", "--write-plugin", "other", "--dry-run")
    assert dry.code == 0 and dry.out.endswith("nothing was written\n")
    assert f"would be written {tmp_path}/other/server.json" in dry.out.splitlines()
    assert not (tmp_path / "other").exists()


def test_every_json_file_is_json_and_names_this_version(written: Path) -> None:
    for path in written.rglob("*.json"):
        data = json.loads(path.read_text())
        if "version" in data:
            assert data["version"] == VERSION, path


def test_the_plugin_has_what_its_directory_asks_for(written: Path) -> None:
    plugin = written / "plugin"
    market = json.loads((written / ".claude-plugin" / "marketplace.json").read_text())
    assert (written / market["plugins"][0]["source"]).samefile(plugin)
    assert len((plugin / "README.md").read_text().split()) >= 40
    assert (plugin / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks.keys() == hook_events.claude("").keys()
    for groups in hooks.values():
        for handler in groups[0]["hooks"]:
            assert handler["command"] == '"${CLAUDE_PLUGIN_ROOT}"/scripts/run.sh hook'
            assert "args" not in handler  # Codex passes over that form


def test_the_skill_has_its_head_within_the_limits_of_clients(written: Path) -> None:
    for path in written.rglob("SKILL.md"):
        head = yaml.safe_load(path.read_text().split("---")[1])
        assert head["name"] == path.parent.name == "hardwon"
        assert len(head["description"]) < 1024


def test_commands_of_the_skill_and_of_the_instructions_exist(written: Path) -> None:
    import re
    import shlex

    from hardwon.agents.site import static
    from hardwon.doors.parse import parse

    text = (written / "plugin" / "skills" / "hardwon" / "SKILL.md").read_text()
    text += static("instructions.md") + static("aider.md")
    lines = [line.replace("\\|", "|").rpartition("| ")[2] for line in re.findall(r"`([^`\n]*hardwon [^`\n]+)`", text)]
    assert len(lines) > 8
    for line in lines:
        parse(shlex.split(line)[1:])


@pytest.mark.parametrize(
    ("words", "variables", "expected"),
    [
        (["hook"], {}, "hook claude-code"),
        (["hook"], {"PLUGIN_ROOT": "/p"}, "hook codex"),
        (["hook", "gemini"], {"PLUGIN_ROOT": "/p"}, "hook gemini"),
        (["mcp"], {}, "mcp"),
    ],
)
def test_the_script_starts_the_program_for_the_client_that_calls(
    written: Path, tmp_path: Path, words: list[str], variables: dict[str, str], expected: str
) -> None:
    program = tmp_path / "home" / ".local" / "bin" / "hardwon"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\nexit 2\n')
    program.chmod(0o755)
    script = written / "plugin" / "scripts" / "run.sh"
    environment = {"PATH": "/nowhere", "HOME": str(tmp_path / "home"), **variables}
    done = subprocess.run([str(script), *words], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (2, expected)


def test_the_script_is_silent_for_a_hook_where_nothing_is_installed(written: Path, tmp_path: Path) -> None:
    script = written / "plugin" / "scripts" / "run.sh"
    environment = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    if any(Path(place).exists() for place in ("/usr/local/bin/hardwon", "/opt/homebrew/bin/hardwon")):
        pytest.skip("hardwon is installed on this machine")
    hook = subprocess.run([str(script), "hook"], env=environment, capture_output=True, text=True, check=False)
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")
    server = subprocess.run([str(script), "mcp"], env=environment, capture_output=True, text=True, check=False)
    assert server.returncode == 1 and "pipx install hardwon" in server.stderr


def test_the_bundle_holds_its_manifest_and_is_the_same_each_time(written: Path, tmp_path: Path, home: Path, call: Call) -> None:
    content = (written / "hardwon.mcpb").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert set(archive.namelist()) == set(bundles.bundle(VERSION))
        manifest = json.loads(archive.read("manifest.json"))
    assert {"name", "version", "description", "author", "server"} <= manifest.keys()
    call("install", "--write-plugin", "again")
    assert (tmp_path / "again" / "hardwon.mcpb").read_bytes() == content


def test_the_entry_of_the_registry_is_within_its_limits(written: Path) -> None:
    entry = json.loads((written / "server.json").read_text())
    assert len(entry["description"]) <= 100 and entry["description"].endswith(".") and entry["name"].count("/") == 1
    assert [package["identifier"] for package in entry["packages"]] == ["hardwon"]


def test_the_name_in_the_registry_is_the_one_that_the_package_owns() -> None:
    """The registry looks for it in the README of the package, as its proof."""
    import re

    assert re.findall(r"mcp-name: *(\S+)", (ROOT / "README.md").read_text()) == [bundles.SERVER_NAME]


def test_the_scripts_are_plain_shell(written: Path) -> None:
    for path in written.rglob("*.sh"):
        assert path.stat().st_mode & 0o111
        assert subprocess.run(["/bin/sh", "-n", str(path)], check=False).returncode == 0
