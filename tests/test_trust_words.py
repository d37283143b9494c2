"""What the verbs about damage, backups, keys and proofs tell a person: nothing twice, nothing that is not so, and what to do next."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon.doors import render, torture_words
from hardwon.proof.kills import Tally
from hardwon.proof.powerloss import _figures
from hardwon.proof.report import KINDS, Control, Outcome, Violation
from hardwon.types import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Command = Callable[..., Result]

PLAIN = render.Paint(on=False)
REPAIR = "`hardwon repair` keeps"


def store_of(call: Command) -> Path:
    return Path(call("status", "--json").data["store"])


def put_back(store: Path, copy: Path) -> None:
    """An earlier file in the store's place."""
    for end in ("-wal", "-shm"):
        store.with_name(store.name + end).unlink(missing_ok=True)
    shutil.copy(copy, store)


def zero_a_page(store: Path, word: bytes) -> None:
    """Lose the page that holds a word first."""
    content = bytearray(store.read_bytes())
    page = content.index(word) // 4096
    content[page * 4096 : (page + 1) * 4096] = bytes(4096)
    store.write_bytes(content)


# Findings


def test_a_remedy_that_several_findings_share_is_told_once() -> None:
    several = [Finding("error", f"row {number} is bad", "versions", "repair it") for number in range(3)]
    shown = render.findings([*several, Finding("note", "it is old", "", "read it"), several[0].replace(what="another")], PLAIN)
    assert shown.splitlines()[3:5] == ["  repair it", "note: it is old"]
    assert shown.count("repair it") == 2
    assert shown.endswith("  repair it")


def test_a_finding_is_told_once_and_a_path_once_in_it() -> None:
    damaged = Finding("error", "/home/a.db is not an intact store", "/home/a.db", "")
    assert render.findings([damaged, damaged], PLAIN) == "error: /home/a.db is not an intact store"
    elsewhere = damaged.replace(where="/home/b.db")
    assert render.findings([elsewhere], PLAIN).endswith("(/home/b.db)")
    part = Finding("error", "an earlier file took its place", "file", "")  # a word is no path
    assert render.findings([part], PLAIN).endswith("(file)")


# Repair


@pytest.mark.slow
def test_a_repair_does_not_advise_what_it_does(project: Path, call: Command) -> None:
    for number in range(40):
        call("record", f"particular {number} of the old pool")
    call("compact", "--full")
    store = store_of(call)
    zero_a_page(store, b"particular 7 of")
    assert call("verify").out.count(REPAIR) == 1
    would = call("repair", "--dry-run")
    assert REPAIR not in would.out
    assert "would keep" in would.out
    done = call("repair")
    assert REPAIR not in done.out
    assert "repaired: another process opened it" in done.out


def test_a_repair_that_finds_an_earlier_file_says_so_and_leaves_it(project: Path, call: Command, tmp_path: Path) -> None:
    call("record", "an old fact")
    call("compact", "--full")
    store = store_of(call)
    shutil.copy(store, tmp_path / "earlier")
    call("record", "a newer fact")
    call("compact", "--full")
    put_back(store, tmp_path / "earlier")
    done = call("repair", "--json")
    assert (done.code, done.data["damaged"]) == (1, False)
    assert "not in the store" in done.data["findings"][0]["what"]
    assert store.read_bytes() == (tmp_path / "earlier").read_bytes()
    assert "nothing was done\nerror: 1 change" in call("repair").out


def test_a_note_does_not_hide_that_all_is_well(project: Path, call: Command) -> None:
    call("record", "a fact")
    assert call("verify").out.startswith("all is well: ")
    head = next((store_of(call).parents[1] / "heads").iterdir())
    head.write_bytes(b"?")
    told = call("verify")
    assert (told.code, told.out.splitlines()[0][:5]) == (0, "note:")
    assert "all is well: " in told.out.splitlines()[-1]


# Backups


def test_a_backup_says_what_is_not_in_it(project: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "its journal is empty" in call("backup").out
    monkeypatch.setenv("HARDWON_WAIT", "0")
    with open(f"{store_of(call)}.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert call("record", "use WAL").out.startswith("spooled")
    assert "not in it: 1 record that waits in the spool" in call("backup").out
    monkeypatch.delenv("HARDWON_WAIT")
    call("record", "another fact")
    made = call("backup").out
    assert "not in it" not in made
    assert "its journal ends at 2, head " in made


@pytest.mark.slow
def test_what_becomes_of_newer_memories_is_told_before_the_yes(project: Path, call: Command) -> None:
    call("record", "a fact")
    name = Path(call("backup", "--json").data["file"]).name
    assert "it has all that the store has" in call("restore", name, "--dry-run").out
    call("record", "a newer fact")
    assert "--keep-newer takes them over" in call("restore", name, "--dry-run").out
    kept = call("restore", name, "--dry-run", "--keep-newer").out
    assert "they will be taken over" in kept
    assert "--keep-newer" not in kept
    call("restore", name, "--yes")
    newest = Path(call("backup", "--json").data["file"]).name
    call("restore", newest, "--yes")  # makes an entry, and no memory
    assert "it has every memory that the store has" in call("restore", newest, "--dry-run").out


# Keys


def test_a_key_of_your_own_that_is_replaced_is_told_to_stay(project: Path, call: Command, tmp_path: Path) -> None:
    pytest.importorskip("pyrage")
    call("init", "--encrypt", "--yes", "--key-file", str(tmp_path / "one"))
    told = call("rekey", "--key-file", str(tmp_path / "two"))
    assert f"the old key stays where it was: file {tmp_path / 'one'}; earlier backups need it" in told.out


# Proofs


@pytest.mark.parametrize(("kind", "figures"), [("power-loss", _figures([], 0.0)), ("kills", Tally().figures())])
def test_every_figure_of_a_proof_is_in_words(kind: str, figures: dict[str, float]) -> None:
    labels = {name: torture_words.label(kind, name) for name in figures}
    assert all(label != name.replace("_", " ") for name, label in labels.items()), labels
    assert torture_words.label(kind, "something_new") == "something new"


def test_every_kind_of_proof_is_explained() -> None:
    assert torture_words.ABOUT.keys() == KINDS.keys()


def test_a_proof_without_power_is_neither_held_nor_broken() -> None:
    held, powerless = (Outcome("kills", 1, 1.0, controls=(Control("lies", 5, found),)) for found in (5, 0))
    broken = powerless.replace(violations=(Violation("one is gone"),))
    assert torture_words.verdict([held]) == "every promise held"
    assert torture_words.verdict([held, powerless]).startswith("nothing was proved")
    assert torture_words.verdict([broken, powerless]) == "a promise was broken"
    assert torture_words.noticed(powerless.controls[0]) == "NOT noticed in 5 cases"
    assert torture_words.noticed(Control("lies", 1, 1)) == "noticed, in 1 of 1 case"
