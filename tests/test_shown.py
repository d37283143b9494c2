"""Nothing that comes from elsewhere drives the terminal of who reads it, whichever verb tells it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.doors.shown import in_one_line, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DRIVES = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
# A new title of the window, a cleared screen, colours by either kind of introducer, what is read from right to left.
PLANTED = "\x1b]0;taken\x07\x1b[2J\x9b31m\x9d0;taken\x9c\u202eknil\u2066\rover"


def drives(text: str) -> list[str]:
    return [char for char in text if char in DRIVES]


@given(st.text())
def test_what_is_shown_drives_nothing_and_the_rest_stays(text: str) -> None:
    assert not drives(shown(text).replace("\r\n", "\n"))
    assert not drives(in_one_line(text)) and "\n" not in in_one_line(text)
    if not drives(text):
        assert shown(text) == text


@pytest.mark.slow
@given(
    st.recursive(
        st.text() | st.sampled_from(DRIVES) | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_says_the_same_when_it_is_shown(value: Any) -> None:
    line = shown(json.dumps(value, ensure_ascii=False))
    assert json.loads(line) == value and not drives(line)


def test_other_writing_and_our_own_colours_stay() -> None:
    text = "a\tb\r\nc\u00a0d 家族 👩\u200d👩 \u2028 שלום"
    assert shown(text) == text
    assert shown("\033[31mred\033[0m", colours=True) == "\033[31mred\033[0m"
    assert drives(shown("\033[31mred\033[0m \033[2J \033[8m", colours=True)) == ["\033", "\033"]
    assert not drives(shown("\033[31mred\033[0m"))


def junit(folder: Path) -> tuple[str, ...]:
    planted = "".join(f"&#{ord(char)};" for char in PLANTED if char >= "\x7f")
    path = folder / "report.xml"
    path.write_text(
        f'<testsuite name="s" tests="1" failures="1"><testcase classname="a" name="t{planted}">'
        f'<failure message="E: {planted}">E: {planted}</failure></testcase></testsuite>'
    )
    return ("ingest", "junit", str(path))


def log(folder: Path) -> tuple[str, ...]:
    path = folder / "ci.log"
    stamp = "2026-11-01T10:00:00.1234567Z "
    name = PLANTED.replace("\r", "")
    path.write_text(f"job{name}\tstep{name}\t{stamp}##[group]Run x{name}\njob{name}\tstep{name}\t{stamp}##[error]exit 1 {name}\n")
    return ("ingest", "log", str(path))


def imported(folder: Path) -> tuple[str, ...]:
    path = folder / "memories.jsonl"
    path.write_text(
        json.dumps({"text": "x", "kind": PLANTED}) + "\n" + json.dumps({"text": "a", "links": [{"to": PLANTED}]}) + "\n"
    )
    return ("import", str(path))


def installed(folder: Path) -> tuple[str, ...]:
    _settings(folder)
    return ("install", "claude-code", "--scope", "project", "--dry-run")


def doctored(folder: Path) -> tuple[str, ...]:
    _settings(folder)
    return ("doctor",)


def _settings(folder: Path) -> None:
    command = f"/opt/{PLANTED}/hardwon hook claude-code"
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    (folder / ".claude").mkdir()
    # As somebody may write it who wants it seen raw: the file holds the signs themselves where JSON lets them.
    text = json.dumps({"hooks": hooks, "x": PLANTED}, ensure_ascii=False)
    (folder / ".claude" / "settings.json").write_text(text + "\n", encoding="utf-8")


def searched(folder: Path) -> tuple[str, ...]:
    return ("recall", "pool", "--tag", PLANTED)


def unknown(folder: Path) -> tuple[str, ...]:
    return ("show", f"nobody{PLANTED}")


def ran(folder: Path) -> tuple[str, ...]:
    return ("run", "--", f"nothing{PLANTED}")


def shared(folder: Path) -> tuple[str, ...]:
    (folder / ".hardwon" / "memories").mkdir(parents=True)
    (folder / ".hardwon" / "memories" / f"a{PLANTED.replace('/', '')}.json").write_text('{"text": "x"}')
    return ("ingest", "shared")


def diffed(folder: Path) -> tuple[str, ...]:
    return ("before", "--file", f"a{PLANTED}.py")


VERBS = [junit, log, imported, installed, doctored, searched, unknown, ran, shared, diffed]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_no_verb_sends_it_to_the_terminal(
    project: Path, call: Callable[..., Any], verb: Callable[[Path], tuple[str, ...]], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = verb(project)
    monkeypatch.chdir(project)
    options = ["--json"] if form == "json" else []
    done = call(words[0], *options, *words[1:])
    assert not drives(done.out) and not drives(done.err), done
    if form == "json" and (said := done.out or done.err):
        json.loads(said.splitlines()[-1])
    assert os.getcwd() == str(project)
