"""Hostile surroundings for every verb: spoilt homes, registries, stores and settings; closed streams; a store that another holds."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.conftest import COMMITS, Result
from tests.hostile import ESCAPE, SPOOLING, VALID, WRITING, Kept, all_of, contents, kept, make_kept, only_file, told, told_as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Result]

__all__ = ["kept"]  # the fixture


# What is spoilt. Each makes ``home`` and may give variables besides.


def home_is_a_file(kept: Kept, home: Path) -> None:
    home.write_text("a file, not a folder")


def home_is_a_pipe(kept: Kept, home: Path) -> None:
    os.mkfifo(home)


def home_is_a_loop_of_links(kept: Kept, home: Path) -> None:
    home.symlink_to(home)


def registry_is_noise(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    (home / "registry").write_bytes(random.Random(2).randbytes(4_000))


def registry_is_cut(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    content = (home / "registry").read_bytes()
    (home / "registry").write_bytes(content[:-5])


def registry_is_newer(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    _, _, rest = (home / "registry").read_bytes().partition(b"\n")
    (home / "registry").write_bytes(b"hardwon registry 999\n" + rest)


def registry_is_a_folder(kept: Kept, home: Path) -> None:
    (home / "registry").mkdir(parents=True)


def registry_is_a_pipe(kept: Kept, home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "registry")


def registry_has_no_end(kept: Kept, home: Path) -> None:
    home.mkdir()
    (home / "registry").symlink_to("/dev/zero")


def registry_is_huge(kept: Kept, home: Path) -> None:
    shutil.copytree(kept.home, home)
    os.truncate(home / "registry", 1 << 32)


def store_is_noise(kept: Kept, home: Path) -> None:
    only_file(kept, home).write_bytes(random.Random(1).randbytes(50_000))


def store_is_text(kept: Kept, home: Path) -> None:
    only_file(kept, home).write_text("this is not a database\n" * 1_000)


def store_is_cut(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    content = store.read_bytes()
    store.write_bytes(content[: len(content) // 2])


def store_is_a_stub(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.write_bytes(store.read_bytes()[:100])


def store_is_newer(kept: Kept, home: Path) -> None:
    connection = apsw.Connection(str(only_file(kept, home)))
    connection.pragma("user_version", 999)
    connection.close()


def store_is_somebody_elses(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    connection = apsw.Connection(str(store))
    connection.execute("CREATE TABLE somebody_elses (value)")
    connection.close()


def store_is_a_folder(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    store.mkdir()


def store_is_a_pipe(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    os.mkfifo(store)


def store_is_a_device(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    store.unlink()
    store.symlink_to("/dev/zero")


def stores_are_a_file(kept: Kept, home: Path) -> None:
    store = only_file(kept, home)
    shutil.rmtree(store.parent)
    store.parent.write_text("no folder")


def variable(name: str, value: str) -> Callable[[Kept, Path], dict[str, str]]:
    def spoil(kept: Kept, home: Path) -> dict[str, str]:
        shutil.copytree(kept.home, home)
        return {name: value}

    spoil.__name__ = f"{name}_{value[:6]!a}"
    return spoil


# What is spoilt, and the kinds of error that are right.
SURROUNDINGS: list[Any] = [
    (home_is_a_file, {"invalid_input"}),
    (home_is_a_pipe, {"invalid_input"}),
    (home_is_a_loop_of_links, {"invalid_input", "store_error"}),
    (registry_is_noise, {"damaged"}),
    (registry_is_cut, {"damaged"}),
    (registry_is_newer, {"schema_newer"}),
    (registry_is_a_folder, {"store_error"}),
    (registry_is_a_pipe, {"damaged"}),
    (registry_has_no_end, {"damaged"}),
    (registry_is_huge, {"damaged"}),
    (store_is_noise, {"damaged"}),
    (store_is_text, {"damaged"}),
    (store_is_cut, {"damaged"}),
    (store_is_a_stub, {"damaged"}),
    (store_is_newer, {"schema_newer"}),
    (store_is_somebody_elses, {"damaged", "no_store"}),
    (store_is_a_folder, {"damaged"}),
    (store_is_a_pipe, {"damaged"}),
    (store_is_a_device, {"damaged"}),
    (stores_are_a_file, {"store_error", "no_store"}),
    (variable("HARDWON_HOME", "relative/home"), {"invalid_input"}),
    (variable("HARDWON_HOME", "/etc/passwd/x"), {"invalid_input", "store_error", "no_store", "read_only"}),
    (variable("HARDWON_WAIT", "abc"), {"invalid_input"}),
    (variable("HARDWON_WAIT", "-1"), {"invalid_input"}),
    (variable("HARDWON_WAIT", "nan"), {"invalid_input"}),
    (variable("HARDWON_WAIT", "9" * 400), {"invalid_input"}),
    (variable("HARDWON_BUDGET", "0"), {"invalid_input"}),
    (variable("HARDWON_BUDGET", "inf"), {"invalid_input"}),
    (variable("HARDWON_BUDGET", ESCAPE), {"invalid_input"}),
    (variable("HARDWON_VECTORS", "nonsense"), {"invalid_input"}),
    (variable("HARDWON_VECTORS", ESCAPE), {"invalid_input"}),
    (variable("HARDWON_SESSION", ESCAPE), {"invalid_input"}),
    (variable("HARDWON_CLIENT", "a\nb"), {"invalid_input"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "kinds"), SURROUNDINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_hostile_surroundings_are_told_and_left_as_they_are(
    kept: Kept,
    tmp_path: Path,
    call: Command,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Kept, Path], Any],
    kinds: set[str],
) -> None:
    home = tmp_path / "spoilt"
    more = spoil(kept, home) or {}
    for name, value in {"HARDWON_HOME": str(home), **more}.items():
        monkeypatch.setenv(name, value)
    before = look(home)

    def refused(verb: str) -> None:
        data = call(verb, *VALID[verb], "--json", cwd=kept.project)
        if verb in SPOOLING and data.out:  # the store is spoilt, and the folder is not: it waits beside it
            assert (data.code, data.data["action"], kinds & {"damaged"}) == (0, "spooled", {"damaged"})
            return
        if verb == "status" and data.out:
            assert (data.code, data.data["ok"]) == (1, False)
            return
        if verb in ("restore", "repair") and data.out:  # they are for this; nothing is touched by a dry run
            assert look(home) == before
            return
        if verb == "run" and data.out:  # the command ran, and its exit code is what is told
            assert (data.code, data.data["recorded"], bool(data.data["trouble"])) == (0, False, True)
            return
        assert data.code != 0, data
        if verb == "verify" and data.out:
            assert data.data["ok"] is False
            return
        told_as_json(data)
        own = {"invalid_input"} if verb in ("approve", "reject", "rekey") else set()  # they need a person, an encrypted store
        assert data.error["kind"] in kinds | own, data
        if verb in ("recall", "revise"):
            told(call(verb, *VALID[verb], cwd=kept.project))
        assert look(home) == before

    all_of({verb: lambda verb=verb: refused(verb) for verb in VALID})  # type: ignore[misc]
    assert not (kept.project / "out.jsonl").exists()


def look(home: Path) -> Any:
    """What is there: of what cannot be read whole, its mode and size."""
    if not home.is_dir() or any(
        not item.is_file() or item.stat().st_size > 1 << 30 for item in home.rglob("*") if not item.is_dir()
    ):
        found = [home, *(sorted(home.rglob("*")) if home.is_dir() else [])]
        return [(str(item), item.lstat().st_mode, item.lstat().st_size) for item in found if not item.name.endswith(".lock")]
    return contents(home)


# init and restore are for this; approve and reject need a person, and rekey an encrypted store; run runs the command all the same.
@pytest.mark.parametrize("verb", sorted(VALID.keys() - {"init", "run", "restore", "approve", "reject", "rekey"}))
def test_a_store_that_is_gone_names_init(
    kept: Kept, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    home = tmp_path / "home"
    store = only_file(kept, home)
    store.unlink()
    monkeypatch.setenv("HARDWON_HOME", str(home))
    refused = call(verb, *VALID[verb], "--json", cwd=kept.project)
    assert refused.code == 2
    assert refused.error["kind"] == "no_store"
    assert "hardwon init" in refused.error["remedy"]
    assert not store.exists()


def test_init_makes_a_store_that_is_gone_anew_only_when_it_is_told_to(
    kept: Kept, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_file(kept, tmp_path / "home").unlink()
    monkeypatch.setenv("HARDWON_HOME", str(tmp_path / "home"))
    refused = call("init", "--json", cwd=kept.project)
    assert (refused.code, refused.error["kind"]) == (2, "no_store")
    assert "hardwon restore" in refused.error["remedy"]
    assert call("init", "--force", cwd=kept.project).code == 0
    assert call("status", "--json", cwd=kept.project).data["memories"]["memories"] == len(COMMITS) + 1


# A store that another process holds


@pytest.mark.parametrize("verb", [verb for verb in WRITING if verb not in SPOOLING])
def test_a_store_that_is_held_is_busy_and_stays_as_it_is(
    kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    monkeypatch.setenv("HARDWON_WAIT", "0.02")
    before = contents(kept.home)
    with Path(f"{kept.store}.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = call(verb, *VALID[verb], "--json", cwd=kept.project)
        assert (refused.code, refused.error["kind"]) == (4, "busy"), refused
        assert refused.error["remedy"]
    assert contents(kept.home) == before


def test_readers_do_not_mind_a_store_that_is_held(kept: Kept, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_HOME", str(kept.home))
    monkeypatch.setenv("HARDWON_WAIT", "0.02")
    with Path(f"{kept.store}.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for verb in ("query", "stats", "recall", "before", "brief", "show", "history", "diff", "review", "status", "verify"):
            assert call(verb, *VALID[verb], cwd=kept.project).code == 0, verb
        assert call("export", cwd=kept.project).code == 0
        assert call("import", "notes.jsonl", "--dry-run", cwd=kept.project).code == 0
        assert call("ingest", "docs", "--dry-run", cwd=kept.project).code == 0
        assert call("recall", "tokens", "--vectors", cwd=kept.project).code == 0


# Closed streams, in the real command


@pytest.mark.parametrize(
    "closed", ["<&-", *(pytest.param(which, marks=pytest.mark.slow) for which in (">&-", "2>&-", ">&- 2>&- <&-"))]
)
def test_closed_streams_never_end_in_a_traceback(template: Path, tmp_path: Path, closed: str) -> None:
    made = make_kept(template, tmp_path)
    reading = [
        ("record", "-"),
        ("recall", "-"),
        ("revise", "1", "-"),
        ("record", "x", "--code", "-"),
        ("import", "-"),
        ("forget", "1"),
    ]
    for words in [
        *reading,
        ("export",),
        ("export", "-"),
        ("import", "notes.jsonl"),
        ("approve", "1"),
        ("reject", "1"),
        ("review",),
    ]:
        script = f'"{sys.executable}" -m hardwon {" ".join(words)} {closed}'
        done = subprocess.run(
            ["bash", "-c", script], cwd=made.project, capture_output=True, text=True, check=False, timeout=600,
            env={**os.environ, "HARDWON_HOME": str(made.home)}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, (words, done.stderr)
        assert done.returncode in (0, 2), (words, done)
        if words in reading and closed == "<&-":
            assert done.returncode == (0 if "--code" in words else 2), (words, done)
