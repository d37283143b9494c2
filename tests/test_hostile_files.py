"""Every kind of file that we read, damaged in many ways: an error with a remedy or a right answer, never a traceback or a hang."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardwon import settings
from hardwon.errors import HardwonError, InvalidInput, Unavailable
from hardwon.importers import source
from hardwon.importers.source import open_file
from hardwon.intake.bulk import Redactor
from hardwon.types import Draft
from tests import test_dependencies, test_documents, test_history_hard, test_identity, test_importers
from tests.conftest import Result, git
from tests.hostile import BAD_BYTES, ESCAPE, Kept, all_of, contents, kept, make_kept, only_file, told_as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., Result]

__all__ = ["kept"]  # the fixture

LEAST = 25


def flipped(raw: bytes, seed: int) -> bytes:
    """A few bits the other way."""
    chance, found = random.Random(seed), bytearray(raw)
    for _ in range(1 + seed % 4):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


# Other bytes in the place of a file's own.
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "one byte": lambda raw: raw[:1],
    "sixteen bytes": lambda raw: raw[:16],
    "a quarter": lambda raw: raw[: len(raw) // 4],
    "half": lambda raw: raw[: len(raw) // 2],
    "all but a byte": lambda raw: raw[:-1],
    "a byte more": lambda raw: raw + b"\n",
    "twice": lambda raw: raw * 2,
    "backwards": lambda raw: raw[::-1],
    "without its beginning": lambda raw: raw[16:],
    "zeros": lambda raw: bytes(len(raw)),
    "zeros at the end": lambda raw: raw[: len(raw) // 2] + bytes(len(raw) - len(raw) // 2),
    "zeros at the beginning": lambda raw: bytes(len(raw) // 2) + raw[len(raw) // 2 :],
    "ones": lambda raw: b"\xff" * len(raw),
    "noise": lambda raw: random.Random(1).randbytes(len(raw)),
    "noise in the middle": lambda raw: raw[: len(raw) // 3] + random.Random(2).randbytes(len(raw) // 3) + raw[2 * (len(raw) // 3) :],
    "noise at the end": lambda raw: raw + random.Random(3).randbytes(5_000),
    "prose": lambda raw: b"this is something else\n" * 500,
    "a mark of byte order": lambda raw: b"\xef\xbb\xbf" + raw,
    "UTF-16": lambda raw: raw.decode("latin-1").encode("utf-16"),
    "ends of another system": lambda raw: raw.replace(b"\n", b"\r\n") + b"\r\n",
    "packed": gzip.compress,
    "escapes": lambda raw: ESCAPE.encode() * 100,
    **{f"bits of seed {seed}": lambda raw, seed=seed: flipped(raw, seed) for seed in range(8)},  # type: ignore[misc]
}  # fmt: skip
# Something in the place of the file that is none.
PLACES: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "a loop": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a device without an end": lambda path: path.symlink_to("/dev/zero"),
    "a device without a byte": lambda path: path.symlink_to("/dev/null"),
    "four gigabytes of nothing": lambda path: path.touch() or os.truncate(path, 1 << 32),  # type: ignore[func-returns-value]
}
DAMAGES = (*BYTES, *PLACES)


def damage(path: Path, how: str) -> None:
    """The file at ``path``, damaged."""
    raw = path.read_bytes()
    path.chmod(0o600)
    if how in BYTES:
        path.write_bytes(BYTES[how](raw))
    else:
        path.unlink()
        PLACES[how](path)


def remove(path: Path) -> None:
    """Whatever is there."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def test_every_kind_of_file_meets_many() -> None:
    """What is counted lies in the tests of each reader and here; a kind of file that is read and has no row is forgotten."""
    rows: dict[str, int] = {
        "registry": len(DAMAGES),
        "store": len(DAMAGES),
        "git's files": len(DAMAGES) * len(GIT_FILES) + len(test_identity.CONFIGURATIONS) + len(test_history_hard.NAMES),
        "settings": len(SETTINGS),
        "exports": len(test_importers.BAD_LINES) + len(test_importers.CONTENTS) + len(test_importers.PLACES),
        "notes": len(test_importers.BAD_NOTES),
        "databases of cm.py": len(test_importers.BAD_DATABASES),
        "memory servers' files": len(test_importers.BAD_GRAPH),
        "manifests": len(test_dependencies.BROKEN) + len(test_dependencies.ODD),
        "documents": len(test_documents.HOSTILE),
        "sign bits beside the store": len(DAMAGES),
        "the scanner's rules": len(DAMAGES),
        "model weights": len(DAMAGES),
        "snippets": len(DAMAGES),
    }
    assert {name: count for name, count in rows.items() if count < LEAST} == {}


def calm(result: Result) -> Result:
    """An answer, or an error as it should be."""
    assert "Traceback" not in result.err
    if result.code:
        assert result.code in (1, 2), result
        if not result.out:
            told_as_json(result)
    return result


@pytest.fixture
def spoilt(kept: Kept, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """``spoilt(which)``: a copy of the home that is used from now on; its registry, or its store in one file."""

    def make(which: str) -> Path:
        home = tmp_path / "home"
        shutil.rmtree(home, ignore_errors=True)
        store = only_file(kept, home)
        monkeypatch.setenv("HARDWON_HOME", str(home))
        return home / "registry" if which == "registry" else store

    return make


@pytest.mark.slow
def test_a_damaged_registry_is_told_and_kept(kept: Kept, call: Command, spoilt: Callable[[str], Path]) -> None:
    def case(how: str) -> None:
        path = spoilt("registry")
        damage(path, how)
        before = None if how in PLACES else path.read_bytes()
        for words in (("status",), ("record", "words"), ("init",)):
            found = calm(call(*words, "--json", cwd=kept.project))
            if found.code and before is not None:
                assert path.read_bytes() == before
        assert found.code == 0 or found.error["remedy"]

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]


@pytest.mark.slow
def test_a_damaged_store_is_told_and_kept(kept: Kept, call: Command, spoilt: Callable[[str], Path]) -> None:
    def case(how: str) -> None:
        path = spoilt("store")
        damage(path, how)
        before = None if how in PLACES else path.read_bytes()
        found = {
            words[0]: calm(call(*words, "--json", cwd=kept.project))
            for words in (("verify",), ("status",), ("recall", "tokens"), ("export", "out"), ("record", "words"), ("init",))
        }
        (kept.project / "out").unlink(missing_ok=True)
        if found["record"].code and found["init"].code and before is not None:
            assert path.read_bytes() == before
        assert path.is_symlink() or path.exists()

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]


# Which of git's files we look at ourselves; all others are read by git, which is asked.
GIT_FILES = ("HEAD", "config", "refs/heads/main", "index", "packed-refs", "shallow", "commondir", "objects/info/alternates")
# Files that git is asked about as well; of those that it would wait on for ever itself, it is not.
ASKED = ("HEAD",)
ENDLESS = ("a pipe", "a device without an end", "four gigabytes of nothing")


@pytest.mark.slow
@pytest.mark.parametrize("name", GIT_FILES)
def test_a_damaged_repository_is_told_and_the_memory_stays(
    kept: Kept, call: Command, spoilt: Callable[[str], Path], template: Path, tmp_path: Path, name: str
) -> None:
    store = spoilt("store")
    project = Path(shutil.copytree(template, tmp_path / "project"))
    call("init", "--name", "other", cwd=project)
    path = project / ".git" / name
    path.parent.mkdir(exist_ok=True)
    whole = path.read_bytes() if path.exists() else b"0123456789abcdef0123456789abcdef01234567 refs/heads/main\n"

    def case(how: str) -> None:
        remove(path)
        path.write_bytes(whole)
        damage(path, how)
        calm(call("recall", "tokens", "--json", "-p", "shop", cwd=project))
        calm(call("recall", "tokens", "--json", cwd=project))
        if name in ASKED and how not in ENDLESS:
            calm(call("status", "--json", cwd=project))

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]
    assert store.exists()
    assert call("verify", "-p", "shop", cwd=kept.project).code == 0


NUMBERS = ("abc", "-1", "nan", "inf", "9" * 400, ESCAPE, "1,5", "0x10", BAD_BYTES, "1e9", "٣٣٣٣٣", " ", "1 2")
SETTINGS: list[tuple[str, str]] = [
    *(("HARDWON_WAIT", value) for value in NUMBERS if value not in ("٣٣٣٣٣",)),
    *(("HARDWON_BUDGET", value) for value in (*NUMBERS, "0", "49", "16001")),
    *(("HARDWON_VECTORS", value) for value in ("nonsense", "FLAT", "flat,signs", ESCAPE, BAD_BYTES, "srvdb:", "x" * 100_000)),
    *(("HARDWON_HOME", value) for value in ("relative", "./here", "/etc/passwd", "a\nb", BAD_BYTES, "/dev/null")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SETTINGS, ids=ascii)
def test_a_setting_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        settings.load({name: value})
    assert caught.value.field == name
    assert caught.value.remedy
    assert len(caught.value.message) < 1_000


# What lies beside the store and in the cache can be made again, and is


def test_a_damaged_file_of_sign_bits_is_made_anew(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    from hardwon.store.sidecar import SignIndex
    from hardwon.store.sqlite import SqliteStore
    from tests.test_vectors import SIZE, SPACE, fill, random_rows

    store = SqliteStore(str(tmp_path / "a.db"))
    fill(store, random_rows(40))
    index = SignIndex(SPACE, store.path, exact_limit=0)

    def case(how: str) -> None:
        path = Path(index.path)
        with store.read() as reader:
            right = index.signs(reader, SIZE)
            damage(path, how)
            try:
                found = index.signs(reader, SIZE)
            except HardwonError as error:
                assert how == "a folder" and error.remedy
                path.rmdir()
                return
            assert (found.keys == right.keys).all() and (found.bits == right.bits).all()

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]
    store.close()


@pytest.fixture
def rules(cache: Path, tmp_path: Path) -> Path:
    """A copy of the scanner's compiled rules."""
    Redactor(str(cache / "hardwon")).redact("x")
    return Path(shutil.copytree(cache / "hardwon", tmp_path / "rules"))


def the_quick_rules_hold(folder: Path) -> None:
    clean, count = Redactor(str(folder)).redact_draft(Draft("the key is ghp_" + "a1B2" * 9))
    assert count == 1 and "ghp_" not in clean.text


@pytest.mark.slow  # to compile the rules again takes seconds
@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_rules_of_the_scanner_leave_the_quick_rules(rules: Path, how: str) -> None:
    files = [file for file in rules.rglob("*") if file.is_file()]
    assert files
    for file in files:
        damage(file, how)
    the_quick_rules_hold(rules)


def test_damaged_model_weights_are_told(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from hardwon.search.minilm import local

    def case(how: str) -> None:
        path = tmp_path / f"{len(how)}{abs(hash(how))}.onnx"
        path.write_bytes(b"\x08\x07\x12\x07pytorch" + random.Random(4).randbytes(3_000))
        damage(path, how)
        if how == "four gigabytes of nothing":
            os.truncate(path, 1 << 26)
        with pytest.raises(Unavailable) as caught:
            local(str(path))
        assert caught.value.remedy

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]


def test_a_snippet_is_a_text_file_or_told(kept: Kept, call: Command, spoilt: Callable[[str], Path]) -> None:
    spoilt("store")

    def case(how: str) -> None:
        path = kept.project / "snippet"
        path.write_text("def f():\n    return 1\n" * 20)
        damage(path, how)
        try:
            found = calm(call("record", f"words {how}", "--code", "snippet", "--json", cwd=kept.project))
            assert how in BYTES or found.code == 2, found
        finally:
            remove(path)

    all_of({how: lambda how=how: case(how) for how in DAMAGES})  # type: ignore[misc]
    assert call("verify", cwd=kept.project).code == 0


# Files that change, and places for an export


def test_a_file_that_shrinks_while_it_is_read_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "some words"}\n' * 20_000)
    opened = open_file(str(path))
    lines = opened.lines()
    next(lines)
    path.write_text('{"text": "some')
    rest = list(lines)
    opened.close()
    assert 0 < len(rest) < 20_000


def test_a_file_that_grows_while_it_is_read_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_BYTES", 1 << 20)
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "some words"}\n')
    opened = open_file(str(path))
    with pytest.raises(InvalidInput, match="longer than"), path.open("a") as file:
        for _ in opened.lines():
            file.write('{"text": "some words"}\n' * 50)
            file.flush()
    opened.close()


TARGETS: dict[str, Callable[[Kept], str]] = {
    "a folder": lambda kept: "src",
    "the root": lambda kept: "/",
    "a pipe": lambda kept: os.mkfifo(kept.project / "pipe") or "pipe",  # type: ignore[func-returns-value]
    "a full device": lambda kept: "/dev/full",
    "no device": lambda kept: "/dev/null",
    "a file of somebody": lambda kept: "src/db.py",
    "a link to a file": lambda kept: (kept.project / "link").symlink_to("src/db.py") or "link",  # type: ignore[func-returns-value]
    "a link to nothing": lambda kept: (kept.project / "dead").symlink_to("nothing") or "dead",  # type: ignore[func-returns-value]
    "a loop of links": lambda kept: (kept.project / "loop").symlink_to("loop") or "loop",  # type: ignore[func-returns-value]
    "the registry": lambda kept: str(kept.home / "registry"),
    "the store": lambda kept: str(kept.store),
    "a new file in the home": lambda kept: str(kept.home / "out.jsonl"),
    "a new file among the stores": lambda kept: str(kept.home / "stores" / "new.db"),
    "the home by a link": lambda kept: (kept.project / "home").symlink_to(kept.home) or "home/out.jsonl",  # type: ignore[func-returns-value]
    "no folder": lambda kept: "no/such/folder/out.jsonl",
    "below a file": lambda kept: "src/db.py/out.jsonl",
    "below a loop": lambda kept: "loop/out.jsonl",
    "a system's folder": lambda kept: "/proc/out.jsonl",
    "a long name": lambda kept: "x" * 300,
    "a longer name": lambda kept: "x/" * 3_000 + "x",
}  # fmt: skip


def test_an_export_goes_only_where_it_may(template: Path, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_kept(template, tmp_path)
    monkeypatch.setenv("HARDWON_HOME", str(made.home))
    before = contents(made.home)

    def case(target: str) -> None:
        found = call("export", TARGETS[target](made), "--json", cwd=made.project)
        told_as_json(found)
        assert found.code == (1 if target == "a system's folder" else 2) or found.error["kind"] == "invalid_input", found
        assert found.error["field"] == "file"
        assert "standard input" not in found.error["remedy"]
        assert contents(made.home) == before

    all_of({target: lambda target=target: case(target) for target in TARGETS})  # type: ignore[misc]
    assert git(made.project, "diff", "--stat") == ""
    assert not list(made.project.rglob(".hardwon-*"))


@pytest.fixture(autouse=True)
def no_leftover(kept: Kept) -> Iterator[None]:
    """The shared memory is as it was."""
    before = contents(kept.home)
    yield
    assert contents(kept.home) == before
