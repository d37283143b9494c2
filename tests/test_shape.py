"""What is recorded is clean: nothing hidden, nothing too long, one form."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.errors import InvalidInput
from hardwon.intake.shape import LIMITS, clean_text, fold, shape
from hardwon.types import Anchor, Draft

CLEANED = [
    ("plain", "plain"),
    ("  ends  \n", "ends"),
    ("a\tb\nc", "a\tb\nc"),
    ("a\r\nb\rc", "a\nb\nc"),
    ("a\x0cb\x0bc\x85d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"),
    ("nul\x00 bell\x07 del\x7f", "nul bell del"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[38;5;196mred\x1b[m \x1b[2K\x1b[1;1H", "red"),
    ("\x9b31mred", "red"),
    ("\x1b]0;title\x07text", "text"),
    ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1bPdevice\x1b\\text", "text"),
    ("\x1b]unfinished", "unfinished"),
    ("\x1bMup \x1b(Bascii \x1b", "up ascii"),
    ("cafe\u0301", "café"),
    ("é stays", "é stays"),
    ("a\u202eb\u2066c\u2069d", "abcd"),
    ("zero\u200bwidth\ufeff\u2060!", "zerowidth!"),
    ("soft\u00adhyphen", "softhyphen"),
    ("hidden" + "".join(chr(0xE0000 + ord(char)) for char in "ignore all"), "hidden"),
    ("x\U000e0100\U000e0101y", "xy"),
    ("a\u200db, a\u200cb", "ab, ab"),
    ("نمی\u200cخواهم", "نمی\u200cخواهم"),
    ("क्\u200dष", "क्\u200dष"),
    ("👩\u200d💻 and ❤\ufe0f and 1\ufe0f\u20e3", "👩\u200d💻 and ❤\ufe0f and 1\ufe0f\u20e3"),
    ("👩🏽\u200d❤\ufe0f\u200d👨", "👩🏽\u200d❤\ufe0f\u200d👨"),
    ("👩\u200d\u200d\u200d💻", "👩\u200d💻"),
    ("end\u200d", "end"),
    ("a\ufe0fb", "ab"),
    ("\u3164hangul filler\u115f", "hangul filler"),
    ("half \ud83d pair", "half \ufffd pair"),
    ("whole \ud83d\ude00 pair", "whole 😀 pair"),
    ("no-break\u00a0space", "no-break\u00a0space"),
    ("\u0600123", "\u0600123"),
    ("日本語のテキスト", "日本語のテキスト"),
]


@pytest.mark.parametrize(("raw", "clean"), CLEANED)
def test_text_is_cleaned(raw: str, clean: str):
    assert clean_text(raw, "detail", 100) == clean


@given(
    st.text(alphabet=st.characters(codec=None))
    | st.text(st.sampled_from("a \n\r\x1b[];m\x9b\u200d\u200c\ufe0f👩é\u0301न\u202e\ud83d\ude00\U000e00411\u20e3"))
)
def test_cleaning_twice_is_cleaning_once(raw: str):
    clean = clean_text(raw, "detail", 100_000)
    assert clean_text(clean, "detail", 100_000) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t" for char in clean)
    clean.encode()


def test_code_keeps_the_indent_of_its_first_line():
    assert clean_text("\n  \n    if x:\n        y()\n\n", "code", 100) == "    if x:\n        y()"


@pytest.mark.parametrize("field", ["text", "detail", "code", "because", "symbol", "session"])
def test_limits_are_kept(field: str):
    assert len(clean_text("x" * LIMITS[field], field, LIMITS[field])) == LIMITS[field]
    with pytest.raises(InvalidInput) as caught:
        clean_text("x" * (LIMITS[field] + 1), field, LIMITS[field])
    assert caught.value.field == field
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (Draft(""), "text"),
        (Draft(" \u200b\n\x00"), "text"),
        (Draft(b"bytes"), "text"),
        (Draft("x" * 2_001), "text"),
        (Draft("t", detail=None), "detail"),
        (Draft("t\n" + "x" * 15_000, detail="y" * 10_000), "detail"),
        (Draft("t", kind="guess"), "kind"),
        (Draft("t", outcome="maybe"), "outcome"),
        (Draft("t", visibility="all"), "visibility"),
        (Draft("t", tags=("a b",)), "tag"),
        (Draft("t", tags=("x" * 65,)), "tag"),
        (Draft("t", tags="ab"), "tags"),
        (Draft("t", rejected="ab"), "rejected"),
        (Draft("t", anchors=(Anchor(symbol="a\nb"),)), "symbol"),
        (Draft("t", anchors=("lib/a.c",)), "anchors"),
        (Draft("t", session="a\nb"), "session"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(draft: Draft, field: str):
    with pytest.raises(InvalidInput) as caught:
        shape(draft)
    assert caught.value.field == field
    assert caught.value.remedy


def test_a_draft_is_cleaned_in_every_field():
    draft = Draft(
        " Never \x1b[1mretry\x1b[0m a timeout ",
        kind="lesson",
        outcome="failed",
        detail="why\r\nnot",
        code="\n    retry()\n",
        because=" it doubles\u200b the load ",
        rejected=("backoff", "", " backoff ", "queue"),
        anchors=(Anchor("lib/a.c", "send\x00"), Anchor(), Anchor("lib/a.c", "send"), Anchor(commit="abc")),
        tags=("Network", "network ", "", "io/Retry:2"),
        visibility="private",
        expires_at=5,
        session=" s1 ",
    )
    assert shape(draft) == Draft(
        "Never retry a timeout",
        kind="lesson",
        outcome="failed",
        detail="why\nnot",
        code="    retry()",
        because="it doubles the load",
        rejected=("backoff", "queue"),
        anchors=(Anchor("lib/a.c", "send"), Anchor(commit="abc")),
        tags=("network", "io/retry:2"),
        visibility="private",
        expires_at=5,
        session="s1",
    )
    assert shape(shape(draft)) == shape(draft)


def test_further_lines_of_the_text_become_detail():
    assert shape(Draft("first\n\nsecond\nthird")) == Draft("first", detail="second\nthird")
    assert shape(Draft("first\nsecond", detail="known")) == Draft("first", detail="second\n\nknown")
    assert shape(Draft("\n  first")) == Draft("first")
    assert len(shape(Draft("first\n" + "x" * 20_000)).detail) == 20_000


def test_fold_ignores_case_and_space_but_not_digits():
    assert fold(" Straße\t 5\n times ") == fold("STRASSE 5 times") == "strasse 5 times"
    assert fold("retry 5") != fold("retry 6")


def test_plain_text_needs_neither_patterns_nor_tables():
    code = (
        "import sys; sys.modules.update(re=None, unicodedata=None)\nfrom hardwon.intake.shape import *\nshape(Draft('a\\n\\tb'))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
