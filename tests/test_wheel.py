"""A wheel built from this tree, installed with nothing but its base: all works except vectors, and that is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import make_repository

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
MOST_MEGABYTES = 100


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bare environment that has the wheel."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(place), str(ROOT)], check=True)
    (wheel,) = place.glob("hardwon-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    bare = [str(place / "env" / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    before = _megabytes(place / "env")
    subprocess.run([*bare, "install", str(wheel)], check=True)
    assert _megabytes(place / "env") - before <= MOST_MEGABYTES
    return place / "env"


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def test_everything_but_vectors_works(installed: Path, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "shop")
    (repository / "notes.md").write_text("# Rules\n\nOnly UTC in the database.\n")
    environment = {**os.environ, "HARDWON_HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*words: str) -> dict[str, object]:
        command = [str(installed / "bin" / "hardwon"), *words, "--json"]
        done = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, (words, done.stderr)
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    run("init")
    for words in (
        ["ingest", "docs"], ["ingest", "deps"], ["ingest", "git", "--dry-run"], ["record", "Sessions live in Redis", "--kind", "decision"],
        ["fail", "Pool.get", "the pool runs dry", "--file", "src/db.py"], ["ok", "Pool.get"], ["query", "Pool.get"], ["stats"],
        ["before", "--file", "src/db.py"], ["brief"], ["show", "1"], ["revise", "1", "Sessions live in Valkey"],
        ["diff", "1"], ["history", "1"],
        ["link", "2", "1", "--supports"], ["review"], ["useful", "1"], ["undo"], ["resolve", "2"], ["export", "out.jsonl"],
        ["import", "out.jsonl"], ["import", "notes.md"], ["forget", "3", "--yes"], ["compact"], ["verify"], ["verify", "--secrets"],
        ["recall", "why do we retry uploads twice", "--path", "src", "--author", "ann"],
    ):  # fmt: skip
        assert not run(*words).get("degraded"), words
    told = run("recall", "why do we retry uploads twice", "--vectors")
    assert told["hits"]
    assert "vectors" in str(told["mode"])
    mode = run("status")["mode"]
    assert isinstance(mode, dict)
    assert mode["vectors"] is False
    assert any("hardwon[vectors]" in line for line in mode["degraded"])
