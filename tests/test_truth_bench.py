"""The bench of truth in small: its own ground truth agrees with a made history of which everything is known, and so does the product."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import truth
from declarations import Python
from judged import wilson
from made_code import Maker, State, seen, text_of

TEXT = b'''
class Pool:
    """Connections."""

    size = 3

    @property
    def free(self):
        "How many."  # for real
        return self.size - len(self.taken)

    @free.setter
    def free(self, value):
        self.size = value


def outer(value):
    def inner():
        return (outer('x'))
    return inner
'''
SAME = (
    TEXT.replace(b"'x'", b'"x"')
    .replace(b'        "How many."  # for real\n', b"")
    .replace(b"(self, value):", b"(self,\n  value):")
)


@pytest.mark.slow
def test_smoke_passes_its_gates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = tmp_path / "truth.json"
    words = ("--smoke", "--anchors", "40", "--json", str(told), "--report", str(tmp_path / "wrong.tsv"))
    assert truth.main([*words, "--gate", "stale=0.01", "--gate", "right=0.97"]) == 0, capsys.readouterr().out
    figures = json.loads(told.read_text())["results"]["last stop"]
    assert figures["right"]["count"] >= 35
    assert "true \\ said" in capsys.readouterr().out


def test_a_missed_gate_fails(capsys: pytest.CaptureFixture[str]) -> None:
    results = {"last stop": {"stale": {"share": 0.02}}, "all stops": {"stale": {"share": 0.0}}}
    results["last stop, index behind"] = {"stale": {"share": None}}
    assert truth.missed(results, [("stale", 0.01)]) == ["last stop: stale 0.0200, wanted 0.0100"]
    assert truth.missed(results, [("stale", 0.02)]) == []


def test_meaning_knows_no_layout_docstrings_and_own_names() -> None:
    parser = Python()
    before, after = parser.declared("a.py", TEXT), parser.declared("a.py", SAME)
    assert before is not None and after is not None
    assert list(before) == ["Pool", "Pool.free", "outer", "outer.inner"]
    assert before["Pool.free"].count == 2
    assert {name: one.meaning for name, one in before.items()} == {name: one.meaning for name, one in after.items()}
    renamed = parser.declared("a.py", TEXT.replace(b"outer", b"other"))
    assert renamed is not None and renamed["other"].meaning == before["outer"].meaning
    changed = parser.declared("a.py", TEXT.replace(b"- len", b"+ len"))
    assert changed is not None and changed["Pool.free"].meaning != before["Pool.free"].meaning
    assert parser.declared("a.py", b"print 'of old'") is None


@pytest.mark.parametrize("seed", range(2))
def test_the_model_is_written_as_it_is(seed: int) -> None:
    """Python's parser reads out of the made files what the model holds, and only what changes code changes it."""
    maker = Maker(seed)
    state = maker.first()
    meanings = meanings_of(state)
    for what in ("edit", "indent", "lay_out", "rename", "move", "rename_file", "delete", "add") * 3:
        before, known = state, meanings
        state = getattr(maker, what)(state) or state
        meanings = meanings_of(state)
        for path, held in before.items():
            for one in held if path.endswith(".py") else ():
                now = seen(one, path, state)
                equal = known[path, one.name] == meanings.get((now.path, now.name))
                assert equal == (now.state in {"same", "moved"}), (what, path, one, now)


def meanings_of(state: State) -> dict[tuple[str, str], str]:
    found = {}
    for path, held in state.items():
        if path.endswith(".py"):
            declared = Python().declared(path, text_of(path, held).encode())
            assert declared is not None and list(declared) == [one.name for one in held]
            found |= {(path, name): one.meaning for name, one in declared.items()}
    return found


def test_intervals_hold_the_share() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 1000)
    assert 0.002 < low < 0.005 < high < 0.012
