"""Both layers of redaction together: what the scanner adds, and that nothing of it can get in the way."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.intake.bulk import Redactor
from hardwon.intake.redact import redact
from hardwon.intake.scanner import Scanner
from hardwon.types import Anchor, Draft

# Of an issuer that the quick rules have no row for, in hexadecimal.
ONLY_SCANNED = "CCIPAT_" + "uZjxprZcGyoqOiufaLQWD7" + "_" + "85f114f344ad0800cc07b1fa62990b9a66bc6176"
QUICK = "ghp_" + "a1B2" * 9
MARK = "[redacted:circleci-personal-token]"


@pytest.fixture(scope="session")
def rules(cache: Path) -> str:
    """Where the compiled rules of the scanner stay."""
    return str(cache / "hardwon")


@pytest.fixture(scope="session")
def redactor(rules: str) -> Redactor:
    return Redactor(rules)


def test_it_finds_what_the_quick_rules_do_not(redactor: Redactor):
    assert redact(f"x {ONLY_SCANNED} y") == (f"x {ONLY_SCANNED} y", 0)
    assert redactor.redact(f"x {ONLY_SCANNED} y") == (f"x {MARK} y", 1)
    assert redactor.degraded == ""


def test_the_quick_rules_name_what_both_find(redactor: Redactor):
    assert redactor.redact(f"{QUICK} <private>x</private> the password is hunter2") == (
        "[redacted:github-token] [redacted:private] the password is [redacted:password]", 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "before", ["é", "\ufeff", "\0", "a\0b\0", "\ud800", "\U0001f510 密", "\ufffe", "\xff\xfe", "\r\n", "x" * 100_000]
)
def test_positions_are_those_of_the_text(redactor: Redactor, before: str):
    assert redactor.redact(f"{before} {ONLY_SCANNED} {before}") == (f"{before} {MARK} {before}", 1)


def test_comments_cannot_switch_it_off(redactor: Redactor):
    for comment in ("# kingfisher:ignore", "// gitleaks:allow", "<!-- nosec -->"):
        assert redactor.redact(f"{ONLY_SCANNED} {comment}") == (f"{MARK} {comment}", 1)


def test_a_draft_is_cleaned_in_every_field(redactor: Redactor):
    draft = Draft(
        ONLY_SCANNED, detail=ONLY_SCANNED, code=ONLY_SCANNED, because=ONLY_SCANNED, rejected=(ONLY_SCANNED, "fine"),
        anchors=(Anchor(ONLY_SCANNED, "f"),), session=ONLY_SCANNED, metadata=f'{{"a": "{ONLY_SCANNED}"}}',
    )  # fmt: skip
    clean, count = redactor.redact_draft(draft)
    assert ONLY_SCANNED not in repr(clean)
    assert count == 8
    assert clean.rejected == (MARK, "fine")


def test_many_texts_are_each_cleaned(redactor: Redactor):
    texts = ["fine", ONLY_SCANNED, "", f"{QUICK} x", "the password is hunter2", "<private>x"]
    assert list(map(redactor.choose(texts), texts)) == [redactor.redact(text) for text in texts]


PIECES = st.one_of(
    st.text(st.characters(), max_size=20),
    st.sampled_from([ONLY_SCANNED, QUICK, MARK, "api_key = ", "\n", "'", '"', "=", "<private>"]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, max_size=8))
def test_redacting_twice_is_redacting_once(redactor: Redactor, pieces: list[str]):
    clean, _ = redactor.redact(" ".join(pieces))
    assert redactor.redact(clean) == (clean, 0)
    assert ONLY_SCANNED not in clean


def test_threads_share_it_from_the_first_text_on(rules: str):
    shared = Redactor(rules)
    found: list[tuple[str, int]] = []
    threads = [threading.Thread(target=lambda: found.extend(shared.redact(ONLY_SCANNED) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(MARK, 1)] * 200


def _degraded(code: str, *path: str) -> list[str]:
    """What a fresh process prints, with other folders first on its path."""
    script = f"import sys; sys.path[:0] = {list(path)!r}\n{code}"
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.splitlines()


TELL = f"""
from hardwon.intake.bulk import Redactor
redactor = Redactor(sys.argv[0] or "/nowhere")
print(redactor.redact("the password is hunter2, {ONLY_SCANNED}"))
print(redactor.degraded)
"""
BY_QUICK = repr((f"the password is [redacted:password], {ONLY_SCANNED}", 1))


def test_without_the_library_the_quick_rules_hold():
    out = _degraded("sys.modules['kingfisher_sdk'] = None" + TELL)
    assert out == [
        BY_QUICK,
        "secret scanner: kingfisher-secret-scanner is not installed; only the quick rules looked for secrets",
    ]


@pytest.mark.parametrize(
    "body",
    ["raise OSError('wrong ELF class')", "class Rules:\n    def __init__(self, **k): raise BaseException('panic')", "x = 1",
     "class Rules:\n    cache_status = 'loaded'\n    def __init__(self, **k): pass\n"
     "class Scanner:\n    def __init__(self, r): pass\n    def scan(self, raw): raise RuntimeError('no')"],
    ids=["import", "panic", "another module", "scan"],
)  # fmt: skip
def test_when_the_library_is_broken_the_quick_rules_hold(tmp_path: Path, body: str):
    (tmp_path / "kingfisher_sdk.py").write_text(body)
    out = _degraded(TELL, str(tmp_path))
    assert out[0] == BY_QUICK
    assert out[1].startswith("secret scanner: ")
    assert out[1].endswith("; only the quick rules looked for secrets")


def test_an_interrupt_goes_through(tmp_path: Path):
    (tmp_path / "kingfisher_sdk.py").write_text("raise KeyboardInterrupt")
    code = "from hardwon.intake.bulk import Redactor\ntry:\n    Redactor('x').redact('y')\nexcept KeyboardInterrupt:\n    print('through')"
    assert _degraded(code, str(tmp_path)) == ["through"]


def test_without_a_folder_there_is_no_scanner():
    alone = Redactor("")
    assert alone.redact(ONLY_SCANNED) == (ONLY_SCANNED, 0)
    assert alone.degraded.startswith("secret scanner: there is no folder for its rules")


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_is_told_and_the_scanner_works(tmp_path: Path):
    (tmp_path / "rules").write_text("")
    scanner = Scanner(str(tmp_path / "rules"))
    assert "cannot be kept" in scanner.load()
    assert scanner.spans(ONLY_SCANNED)


def test_the_quick_rules_load_no_library():
    code = (
        f"from hardwon.intake.redact import redact\nredact('password: hunter2 {QUICK} é')\nprint('kingfisher_sdk' in sys.modules)"
    )
    assert _degraded(code) == ["False"]
