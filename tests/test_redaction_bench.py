"""The bench of redaction in small: the gates hold on a fifth of the planted secrets, and on text without any."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hardwon.intake.redact import redact

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import benign
import redaction
from planted import SHAPES, leaks, plant


@pytest.mark.parametrize("seed", [1, 2])
def test_nearly_all_planted_secrets_are_found(seed: int):
    found = redaction.found(redact, seed, 40)
    assert set(found) == {*SHAPES, "all"}
    assert found["all"] >= 0.95, found


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["lock files", "hashes", "CI logs"])
def test_hashes_logs_and_lock_files_hold_none(corpus: str):
    texts = list(benign.GENERATED[corpus](3))[:12]
    assert redaction.marks(redact, texts)["marks"] <= 10


def test_one_seed_plants_the_same():
    assert plant(5, 3) == plant(5, 3)
    assert [item.shape for item in plant(5, 2)] == [shape for shape in SHAPES for _ in range(2)]


def test_a_secret_that_is_only_cut_leaks():
    item = plant(5, 1)[0]
    assert leaks(item, item.text)
    assert leaks(item, item.text.replace(item.secret, item.secret[:-2]))
    assert not leaks(item, item.text.replace(item.secret, "[redacted:x]"))


def test_missed_gates_are_told(capsys: pytest.CaptureFixture[str]):
    results = {"quick": {"found": {"all": 0.9}, "benign": {"hashes": {"marks": 11.0}}}}
    assert redaction.missed(results, [("found", 0.95), ("marks", 10)]) == [
        "quick: all found 0.900",
        "quick: 11.0 marks a MB in hashes",
    ]
    assert redaction.missed(results, [("found", 0.9), ("marks", 11)]) == []
    with pytest.raises(SystemExit):
        redaction.parse(["--gate", "speed=3"])
    assert "speed=3" in capsys.readouterr().err
