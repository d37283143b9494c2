"""Encryption at rest: no byte in the clear, a key that is found, missing or wrong, a change of key that survives a kill."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hardwon
from hardwon.engine import encryption
from hardwon.engine.encryption import KeyWish
from hardwon.engine.opening import open_engine
from hardwon.errors import Damaged, InvalidInput, WrongKey
from hardwon.settings import KeySource
from hardwon.store.connection import Access, open_connection, prepare_writer
from hardwon.store.identity import Entry, KeyNote
from hardwon.store.keys import secret as keys
from hardwon.store.keys.keyplace import KeyFile
from hardwon.store.keys.sealing import new_identity, recipient_of, seal, unseal
from hardwon.store.registry import Registry, _parsed, _written
from hardwon.store.sqlite import SqliteStore
from hardwon.store.upgrade import upgrade
from tests.dying import LinklessDisk, used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.conftest import Result

pytest.importorskip("pyrage")
ROOT = Path(__file__).parent.parent
# Words that are nowhere in the program: of a memory's fields, and of the repository's history.
WORDS = ("Quokkas", "wombatlike", "platypus", "echidna", "numbat", "storage gateway", "Cache sessions")
NOTE = (
    "Quokkas sleep in the cellar",
    "--detail",
    "wombatlike habits",
    "--because",
    "platypus",
    "--tag",
    "echidna",
    "--code",
    "-",
)


@pytest.fixture
def encrypted(bare: Path, call: Callable[..., Result]) -> Path:
    """The small repository with an encrypted memory, which has not read its history."""
    made = call("init", "--encrypt", "--no-history", cwd=bare)
    assert made.code == 0, made
    return bare


def in_the_clear(folder: Path, words: Iterable[str] = WORDS) -> list[tuple[str, str]]:
    """Which words lie in which file as UTF-8 or UTF-16, whatever their case."""
    found: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes().lower() if path.is_file() else b""
        forms = {word: [word.lower().encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be")] for word in words}
        found += [(word, path.name) for word, spelt in forms.items() if any(one in content for one in spelt)]
    return found


def remember(call: Callable[..., Result], cwd: Path) -> None:
    """A memory with words in every field, asked for, revised, forgotten and taken back."""
    assert call("record", *NOTE, stdin="numbat = 1", cwd=cwd).code == 0
    for words in (
        ("recall", "where do Quokkas sleep?"),
        ("revise", "1", "Quokkas sleep in the attic"),
        ("forget", "1", "--yes"),
        ("undo", "1"),
        ("fail", "Numbat.run", "echidna, of all animals", "--file", "src/db.py"),
        ("before", "--file", "src/db.py"),
    ):
        assert call(*words, cwd=cwd).code == 0, words


def key_of(home: Path) -> Path:
    (path,) = (home / "keys").glob("*.key")
    return path


def store_of(home: Path) -> Path:
    (path,) = (home / "stores").glob("*.db")
    return path


def entry_of(home: Path) -> Entry:
    (entry,) = Registry(str(home)).entries()
    return entry


def identity() -> str:
    return new_identity()


# The secret


def test_a_key_is_shown_by_nothing() -> None:
    secret = keys.Secret(identity())
    shown = f"{secret} {secret!r} {[secret]} {Access(key=secret.raw())!r} {KeySource(secret.reveal())!r}"
    for part in (secret.reveal(), secret.reveal()[16:], secret.raw().hex(), repr(secret.raw())):
        assert part not in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)


@given(st.text(max_size=40), st.sampled_from(["", "wUx-7391", "AGE-SECRET-KEY-1WUX7391"]), st.text(max_size=40))
def test_what_is_no_key_is_refused_and_not_repeated(before: str, mark: str, after: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        keys.Secret(before + mark + after)
    said = f"{caught.value.message} {caught.value.remedy} {caught.value.field}"
    # Of what was drawn, a word that is ours may stand there; the mark is nobody's word.
    assert "7391" not in said


def test_a_mistyped_key_is_told_by_its_checksum() -> None:
    text = identity()
    wrong = text[:30] + ("Q" if text[30] != "Q" else "P") + text[31:]
    with pytest.raises(InvalidInput, match="checksum") as caught:
        recipient_of(keys.Secret(wrong))
    assert wrong not in str(caught.value) and caught.value.__cause__ is None


def test_the_key_of_the_pages_and_its_check_follow_from_the_identity_alone() -> None:
    one = keys.Secret("AGE-SECRET-KEY-1" + "Q" * 58)
    assert keys.Secret(f"  {one.reveal().lower()}\n").raw() == one.raw()
    assert (len(one.raw()), len(one.check())) == (32, 32)
    # Stores of released versions have to open: these never change.
    assert one.check() == "1547d4f3dfec3f6f32c6e735c22bcf3e"
    assert one.raw().hex() == "1a5931e99d20e33735d3ef486e09c8602013e296628856be61ac211c0ff189a1"


@given(st.binary(max_size=2000))
@example(b"age-encr")
def test_what_is_sealed_opens_with_its_key_only(plain: bytes) -> None:
    one, other = keys.Secret(identity()), keys.Secret(identity())
    sealed = seal(recipient_of(one), plain)
    assert unseal(one, sealed) == plain == unseal([other, one], sealed)
    header = sealed.index(b"\n---")  # words of the format, which anything may be made of
    assert len(plain) < 8 or plain not in sealed[header:]
    with pytest.raises(WrongKey):
        unseal(other, sealed)
    with pytest.raises(Damaged):
        unseal(one, sealed[:-1] + bytes([sealed[-1] ^ 1]))


# The registry


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=2))
def test_the_registry_keeps_how_a_key_is_found(paths: list[str]) -> None:
    notes = tuple(KeyNote(f"file /{path}", "age1x", "ab" * 16) for path in paths)
    entry = Entry("00000000-0000-7000-8000-000000000000", "shop", created_at=1, keys=(KeyNote("none"), *notes)[-2:])
    assert _parsed(_written((entry,)), "registry") == (entry,)


def test_a_registry_without_keys_is_as_before_and_one_with_keys_is_refused_by_an_older_hardwon() -> None:
    entry = Entry("00000000-0000-7000-8000-000000000000", "shop", created_at=1)
    assert _written((entry,)).startswith(b"hardwon registry 2\n")
    assert _written((entry.replace(keys=(KeyNote("environment", "age1x", "00"),)),)).startswith(b"hardwon registry 3\n")


# Nothing in the clear


def test_no_byte_in_the_clear_in_any_file(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, encrypted)
    assert call("init", "--rebuild", cwd=encrypted).code == 0  # with the history
    assert in_the_clear(home) == []
    assert call("compact", cwd=encrypted).code == 0
    assert in_the_clear(home) == []
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=encrypted).out
    assert call("verify", cwd=encrypted).code == 0


def test_the_search_for_bytes_finds_them_in_a_plain_store(project: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, project)
    assert {word for word, _ in in_the_clear(home)} == set(WORDS)


def test_no_byte_in_the_clear_after_a_kill(encrypted: Path, home: Path) -> None:
    script = (
        "import hardwon, sys\n"
        "with hardwon.open('.') as memory:\n"
        "    for n in range(10_000):\n"
        "        memory.record(f'Quokkas {n} wombatlike', detail='platypus ' * 20)\n"
        "        print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=encrypted, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    while process.stdout.readline().strip() != "30":
        assert process.poll() is None
    process.kill()
    process.wait()
    assert Path(f"{store_of(home)}-wal").stat().st_size > 0
    assert in_the_clear(home) == []
    with hardwon.open(str(encrypted)) as memory:
        assert memory.show(31).memory.text == "Quokkas 30 wombatlike"


def test_what_waits_in_the_spool_is_sealed(
    encrypted: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_WAIT", "0.1")
    with open(f"{store_of(home)}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = call("record", "Quokkas wait for nobody", "--json", cwd=encrypted)
    assert said.data["action"] == "spooled"
    assert in_the_clear(home) == []
    assert call("record", "another", cwd=encrypted).code == 0
    assert "Quokkas" in call("show", said.data["id"], cwd=encrypted).out


def test_the_log_is_encrypted_over_another_vfs_too(tmp_path: Path) -> None:
    vfs = apsw.VFS("under-test", "unix")
    path = str(tmp_path / "a.db")
    connection = open_connection(path, readonly=False, access=Access("under-test", b"k" * 32))
    prepare_writer(connection)
    connection.execute("CREATE TABLE a (x); INSERT INTO a VALUES ('Quokkas')")
    assert Path(path + "-wal").stat().st_size > 0
    assert in_the_clear(tmp_path) == []
    connection.close()
    del vfs


def test_the_copy_from_before_an_upgrade_is_encrypted(tmp_path: Path) -> None:
    path, access = str(tmp_path / "a.db"), Access(key=b"k" * 32)
    with SqliteStore(path, access=access) as store:
        with store.write() as writer:
            writer.set_setting("animal", "Quokkas")
        from hardwon.store.schema import STEPS

        later = (*STEPS, (STEPS[-1][0] + 1, "a later one", "CREATE TABLE later (x)"))
        upgrade(store.connection(readonly=False), path, "test", 0, later, access)
    assert Path(f"{path}.before-step-{STEPS[-1][0] + 1}").exists()
    assert in_the_clear(tmp_path) == []
    with SqliteStore(f"{path}.before-step-{STEPS[-1][0] + 1}", access=access) as store, store.read() as reader:
        assert reader.setting("animal") == "Quokkas"


def test_beside_an_encrypted_store_no_index_of_vectors_is_made(encrypted: Path, home: Path) -> None:
    from hardwon.engine import vectors

    engine = open_engine(str(encrypted), str(home))
    index, told = vectors._index_or_flat(engine, "model", 1_000_000, "signs")
    assert (index.name, told) == ("flat", [])
    engine.close()


# Damage is told from a wrong key


@pytest.mark.slow
def test_a_flipped_bit_in_any_page_is_found(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, encrypted)
    engine = open_engine(str(encrypted), str(home))
    engine.persist()
    engine.close()
    path = store_of(home)
    whole = path.read_bytes()
    pages = len(whole) // 4096
    for page in range(0, pages, max(1, pages // 8)):
        at = page * 4096 + (page * 997) % 4096
        if page == 0 and 16 <= at < 24:
            at = 100
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << page % 8]) + whole[at + 1 :])
        found = call("verify", "--json", cwd=encrypted)
        assert found.code == 1, f"page {page}, byte {at}"
        assert "key" not in (json.loads(found.err)["error"]["kind"] if found.err else "")
    path.write_bytes(whole)
    assert call("verify", cwd=encrypted).code == 0


def test_without_its_key_a_store_says_so(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    key = key_of(home)
    key.rename(key.with_suffix(".away"))
    for words in (("recall", "uploads"), ("revise", "1", "x"), ("status",), ("verify",), ("init",), ("rekey",)):
        told = call(*words, "--json", cwd=encrypted)
        assert (told.code, told.error["kind"], told.error["field"]) == (1, "key_missing", "key"), words
        assert str(key) in told.error["message"] and "HARDWON_KEY" in told.error["remedy"]
    # What is recorded meanwhile is sealed, for which the public half is enough.
    said = call("record", "Quokkas without a key", "--json", cwd=encrypted)
    assert said.data["action"] == "spooled" and in_the_clear(home) == []
    key.with_suffix(".away").rename(key)
    assert call("record", "another", cwd=encrypted).code == 0
    assert "Quokkas without a key" in call("show", said.data["id"], cwd=encrypted).out


def test_another_key_in_its_place_is_told(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    before = store_of(home).read_bytes()
    key_of(home).write_text(identity())
    told = call("recall", "uploads", "--json", cwd=encrypted)
    assert (told.code, told.error["kind"]) == (1, "wrong_key")
    assert entry_of(home).keys[0].recipient in told.error["message"]
    assert store_of(home).read_bytes() == before


# Where the key is


def test_the_key_in_the_environment(bare: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_KEY", identity())
    assert "HARDWON_KEY" in call("init", "--encrypt", "--no-history", cwd=bare).out
    assert not (home / "keys").exists()
    remember(call, bare)
    assert in_the_clear(home) == []
    monkeypatch.delenv("HARDWON_KEY")
    assert call("recall", "Quokkas", "--json", cwd=bare).error["kind"] == "key_missing"


def test_one_environment_serves_stores_with_keys_of_their_own(
    encrypted: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_KEY", identity())
    assert call("recall", "uploads", cwd=encrypted).code == 0


@pytest.mark.parametrize("bad", ["x", "AGE-SECRET-KEY-1", "age1qqqq", " "])
def test_what_is_no_key_in_the_environment_is_named(
    bad: str, encrypted: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_KEY", bad)
    told = call("recall", "uploads", "--json", cwd=encrypted)
    assert (told.code, told.error["kind"], told.error["field"]) == (2, "invalid_input", "HARDWON_KEY")


def test_a_key_file_of_ones_own(
    bare: Path, call: Callable[..., Result], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.key"
    mine.write_text(f"# made by age-keygen\n{identity()}\n")
    mine.chmod(0o640)
    assert call("init", "--encrypt", "--no-history", "--key-file", str(mine), cwd=bare).code == 0
    assert entry_of(home).keys[0].place == f"file {mine}"
    assert "others may read the key" in call("status", cwd=bare).out
    mine.chmod(0o600)
    assert "others may read the key" not in call("status", cwd=bare).out
    mine.rename(tmp_path / "moved.key")
    assert call("recall", "uploads", cwd=bare).code == 1
    monkeypatch.setenv("HARDWON_KEY_FILE", str(tmp_path / "moved.key"))
    assert call("recall", "uploads", cwd=bare).code == 0
    monkeypatch.setenv("HARDWON_KEY_FILE", "moved.key")
    assert call("recall", "uploads", "--json", cwd=bare).error["field"] == "HARDWON_KEY_FILE"


def _link(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil",
    [
        _link,
        _pipe,
        _folder,
        lambda path: path.write_text(""),
        lambda path: path.write_text("# only a comment\n"),
        lambda path: path.write_bytes(os.urandom(200)),
        lambda path: path.write_text("hunter2\n"),
        lambda path: path.write_text(path.read_text() + "and more\n"),
        lambda path: path.write_text("\n" * 100_000 + path.read_text()),
    ],
)
def test_what_is_no_key_file_is_refused_without_waiting_and_without_showing_it(
    spoil: Callable[[Path], Any], encrypted: Path, call: Callable[..., Result], home: Path
) -> None:
    spoil(key_of(home))
    told = call("recall", "uploads", "--json", cwd=encrypted)
    assert (told.code, told.error["kind"], told.error["field"]) == (2, "invalid_input", "key")
    assert "hunter2" not in told.err and "AGE-SECRET-KEY-1Q" not in told.err


@pytest.mark.slow
def test_the_key_in_the_keyring(bare: Path, run: Callable[..., Result], home: Path, tmp_path: Path) -> None:
    env = {
        "PYTHON_KEYRING_BACKEND": "tests.keyringfile.FileKeyring",
        "PYTHONPATH": str(ROOT),
        "TEST_KEYRING": str(tmp_path / "keyring"),
    }
    assert "system's keyring" in run("init", "--encrypt", "--keyring", "--no-history", env=env).out
    first = json.loads((tmp_path / "keyring").read_text())
    assert list(first) == [f"hardwon {entry_of(home).id}"]
    assert run("recall", "uploads", env=env).code == 0
    assert run("rekey", env=env).code == 0
    held = json.loads((tmp_path / "keyring").read_text())
    assert sorted(held) == [f"hardwon {entry_of(home).id}", f"hardwon {entry_of(home).id}.old"]
    assert keys.parse(held[f"hardwon {entry_of(home).id}.old"])[0].check() == keys.parse(next(iter(first.values())))[0].check()
    told = run("recall", "uploads", "--json", env=env | {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"})
    assert told.error["kind"] == "key_missing"


def test_two_that_make_a_key_at_once_get_the_same(tmp_path: Path) -> None:
    at = KeyFile(str(tmp_path / "keys" / "one.key"))
    first, second = identity(), identity()
    at.begin(first)
    at.begin(second)
    assert [secret.reveal() for secret in at.read()] == [first]
    assert list((tmp_path / "keys").iterdir()) == [tmp_path / "keys" / "one.key"]
    assert Path(at.path).stat().st_mode & 0o777 == 0o600


def test_no_key_is_printed(bare: Path, call: Callable[..., Result], home: Path) -> None:
    said = []
    for words in (
        ("init", "--encrypt"), ("init", "--encrypt"), ("status",), ("status", "--json"), ("verify", "--json"), ("rekey",),
        ("rekey", "--json"), ("rekey", "--key-file", "elsewhere.key", "--json"), ("rekey", "--decrypt", "--yes"),
        ("init", "--encrypt", "--yes", "--json"),
    ):  # fmt: skip
        done = call(*words, cwd=bare)
        said.append(done.out + done.err)
    assert "age1" in said[0]
    assert not [text for text in said if "AGE-SECRET-KEY" in text]


LOADED = "import sys; from hardwon.doors import cli; cli.main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


@pytest.mark.parametrize(
    ("options", "absent"),
    [
        ((), {"hardwon.store.keys.secret", "hardwon.engine.unlocking"}),
        (("--encrypt",), {"hardwon.engine.encryption", "typing", "re"}),
    ],
)
def test_the_quick_path_loads_no_more_than_it_needs(
    options: tuple[str, ...], absent: set[str], bare: Path, call: Callable[..., Result]
) -> None:
    assert call("init", "--no-history", *options, cwd=bare).code == 0
    command = [sys.executable, "-S", "-c", LOADED, "before", "--file", "src/db.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(apsw.__file__).parent.parent)])}
    done = subprocess.run(command, cwd=bare, env=environment, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "hardwon.store.sqlite" in loaded
    assert not loaded & (absent | {"pyrage", "keyring", "hardwon.store.keys.sealing", "hardwon.store.keys.recrypt"})


# A store that was plain


def test_encrypting_a_store_leaves_none_of_it_in_the_clear(project: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, project)
    path = store_of(home)
    for end in (".before-step-2", ".0123456789ab.signs", ".rekey", ".before-rekey"):
        Path(f"{path}{end}").write_bytes(b"Quokkas, a copy")
    before = call("show", "1", "--json", cwd=project).data
    assert call("init", "--encrypt", "--json", cwd=project).error["field"] == "yes"
    assert in_the_clear(home)
    done = call("init", "--encrypt", "--yes", cwd=project)
    assert done.code == 0 and "free blocks" in done.out and f"removed {path}.before-step-2" in done.out
    assert in_the_clear(home) == []
    assert call("show", "1", "--json", cwd=project).data == before
    assert call("verify", cwd=project).code == 0
    assert call("init", "--encrypt", "--yes", cwd=project).code == 0


def test_who_has_a_plain_store_open_goes_on_with_the_encrypted_one(project: Path, run: Callable[..., Result], home: Path) -> None:
    with hardwon.open(str(project)) as memory:
        memory.record("before")
        assert run("init", "--encrypt", "--yes").code == 0
        assert memory.show(1).memory.text == "before"
        assert memory.record("Quokkas after").number == 2
    assert "Quokkas after" in run("show", "2").out
    assert in_the_clear(home) == []


def test_records_that_were_set_aside_in_the_clear_are_dealt_with_first(
    project: Path, call: Callable[..., Result], home: Path
) -> None:
    aside = Path(f"{store_of(home)}.spool.rejected")
    aside.write_text('{"why": "", "record": "Quokkas"}\n')
    told = call("init", "--encrypt", "--yes", "--json", cwd=project)
    assert (told.code, told.error["kind"]) == (2, "invalid_input") and str(aside) in told.error["message"]
    assert entry_of(home).keys == () and call("recall", "uploads", cwd=project).code == 0
    aside.unlink()
    assert call("init", "--encrypt", "--yes", cwd=project).code == 0


# Another key


def test_another_key_opens_the_store_and_the_old_one_does_not(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, encrypted)
    (old,) = KeyFile(str(key_of(home))).read()
    before = call("show", "1", "--json", cwd=encrypted).data
    done = call("rekey", "--json", cwd=encrypted)
    assert (done.code, done.data["done"], done.data["recipient"]) == (0, "rekeyed", entry_of(home).keys[0].recipient)
    (new,) = KeyFile(str(key_of(home))).read()
    assert new.check() != old.check() and len(entry_of(home).keys) == 1
    assert call("show", "1", "--json", cwd=encrypted).data == before
    assert in_the_clear(home) == []
    with (
        pytest.raises(Damaged),
        SqliteStore(str(store_of(home)), make=False, access=Access(key=old.raw())) as store,
        store.read(),
    ):
        pass
    # Every key of before is kept, each once.
    assert call("rekey", cwd=encrypted).code == 0
    assert [secret.check() for secret in KeyFile(f"{key_of(home)}.old").read()] == [old.check(), new.check()]


def test_what_was_sealed_to_the_old_key_can_still_be_opened(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    sealed = seal(entry_of(home).keys[0].recipient, b"Quokkas")
    assert call("rekey", cwd=encrypted).code == 0
    engine = open_engine(str(encrypted), str(home))
    assert unseal(engine.store.secrets(), sealed) == b"Quokkas"
    engine.close()


def test_who_has_the_store_open_goes_on_with_the_new_key(encrypted: Path, run: Callable[..., Result]) -> None:
    with hardwon.open(str(encrypted)) as memory:
        memory.record("before")
        for _ in range(2):
            assert run("rekey").code == 0
            assert memory.show(1).memory.text == "before"
            assert memory.record("after").action in ("created", "repeated")
    assert run("verify").code == 0


def test_back_to_a_plain_store(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    remember(call, encrypted)
    assert call("rekey", "--decrypt", "--json", cwd=encrypted).error["field"] == "yes"
    assert call("rekey", "--decrypt", "--yes", cwd=encrypted).code == 0
    assert entry_of(home).keys == () and store_of(home).read_bytes()[:6] == b"SQLite"
    assert "Quokkas" in call("recall", "Quokkas", cwd=encrypted).out
    assert call("rekey", "--json", cwd=encrypted).error["field"] == "project"


def test_a_persons_own_key_file_is_not_moved(bare: Path, call: Callable[..., Result], home: Path, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.key", tmp_path / "other.key"
    mine.write_text(identity())
    held = mine.read_text()
    assert call("init", "--encrypt", "--no-history", "--key-file", str(mine), cwd=bare).code == 0
    for words in ((), ("--key-file", str(mine))):
        assert call("rekey", *words, "--json", cwd=bare).error["field"] == "key-file"
    assert call("rekey", "--key-file", str(other), cwd=bare).code == 0
    assert (mine.read_text(), entry_of(home).keys[0].place) == (held, f"file {other}")
    assert call("recall", "uploads", cwd=bare).code == 0


def test_another_key_for_one_in_the_environment(
    bare: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = identity(), identity()
    monkeypatch.setenv("HARDWON_KEY", old)
    assert call("init", "--encrypt", "--no-history", cwd=bare).code == 0
    assert call("rekey", "--json", cwd=bare).error["field"] == "key-file"
    monkeypatch.setenv("HARDWON_NEW_KEY", new)
    assert call("rekey", cwd=bare).code == 0
    assert call("recall", "uploads", "--json", cwd=bare).error["kind"] == "wrong_key"
    monkeypatch.setenv("HARDWON_KEY", new)
    assert call("recall", "uploads", cwd=bare).code == 0


def test_a_copy_that_differs_in_one_row_is_not_used(
    encrypted: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = entry_of(home)
    from hardwon.store.keys import recrypt

    compare = recrypt._compare

    def another(connection: apsw.Connection, part: str, into: Access) -> None:
        made = open_connection(part, readonly=False, access=into)
        made.execute("UPDATE settings SET value = 'another' WHERE name = 'created_at'")
        made.close()
        compare(connection, part, into)

    monkeypatch.setattr(recrypt, "_compare", another)
    told = call("rekey", "--json", cwd=encrypted)
    assert (told.code, told.error["kind"]) == (1, "damaged") and "settings" in told.error["message"]
    assert entry_of(home) == before
    kept = key_of(home).name  # and the new key goes to the old ones, for somebody may have sealed something to it
    assert sorted(path.name for path in (home / "keys").iterdir()) == [kept, f"{kept}.old"]
    assert not list((home / "stores").glob("*.rekey")) and call("recall", "uploads", cwd=encrypted).code == 0


# Killed at any point

# Kills its own process at the n-th call to the disk; prints how many there were if it came to the end.
KILLED = """
import os, signal, sys
from hardwon.doors import cli
from hardwon.store import files

class Deadly(files.Disk):
    left = int(sys.argv[1])
    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if not callable(found) or name.startswith("_"):
            return found
        def call(*words):
            Deadly.left -= 1
            if not Deadly.left:
                os.kill(os.getpid(), signal.SIGKILL)
            return found(*words)
        return call

files.use(Deadly())
code = cli.main(sys.argv[2:])
print("calls", int(sys.argv[1]) - Deadly.left)
sys.exit(code)
"""


def killed(at: int, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, str(at), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600, start_new_session=True)


CHANGES = {
    "rekey": (("init", "--encrypt", "--no-history"), ("rekey",)),
    "encrypt": (("init", "--no-history"), ("init", "--encrypt", "--yes", "--no-history")),
    "decrypt": (("init", "--encrypt", "--no-history"), ("rekey", "--decrypt", "--yes")),
    "to another file": (("init", "--encrypt", "--no-history"), ("rekey", "--key-file", "another.key")),
}


def check_kill(at: int, before: Path, words: tuple[str, ...], call: Callable[..., Result], home: Path, spare: Path) -> bool:
    """Restore the home, kill a change at its n-th call to the disk, and see that nothing is lost; whether it came to the end."""
    shutil.rmtree(home)
    shutil.copytree(spare, home)
    (before / "another.key").unlink(missing_ok=True)
    done = killed(at, before, *words)
    assert done.returncode in (0, -signal.SIGKILL), done
    shown = call("show", "1", cwd=before)
    assert shown.code == 0 and "Quokkas" in shown.out, (at, shown)
    assert call("record", f"written after the kill at {at}", cwd=before).code == 0
    # Done again, it is finished or begun anew, and nothing is left of it.
    again = call(*words, cwd=before)
    assert again.code == 0 or "not encrypted" in again.err or "is the old one" in again.err, (at, again)
    entry = entry_of(home)
    assert len(entry.keys) == (0 if "--decrypt" in words else 1), at
    assert not [path for path in (home / "stores").iterdir() if ".rekey" in path.name.removesuffix(".rekey.lock")], at
    assert not list((home / "stores").glob("*.swap")), at
    assert not list((home / "keys").glob("*.new")), at
    if entry.keys:
        assert in_the_clear(home) == [], at
    assert "Quokkas" in call("show", "1", cwd=before).out
    assert call("verify", cwd=before).code == 0, at
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_key_survives_a_kill(
    change: str, bare: Path, call: Callable[..., Result], home: Path, tmp_path: Path
) -> None:
    """Some points of each; all of them below."""
    first, words = CHANGES[change]
    assert call(*first, cwd=bare).code == 0
    assert call("record", *NOTE, stdin="numbat = 1", cwd=bare).code == 0
    shutil.copytree(home, tmp_path / "spare")
    for at in (12, 25):
        check_kill(at, bare, words, call, home, tmp_path / "spare")


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_key_survives_a_kill_at_every_call(
    change: str, bare: Path, call: Callable[..., Result], home: Path, tmp_path: Path
) -> None:
    first, words = CHANGES[change]
    assert call(*first, cwd=bare).code == 0
    assert call("record", *NOTE, stdin="numbat = 1", cwd=bare).code == 0
    shutil.copytree(home, tmp_path / "spare")
    at = 1
    while not check_kill(at, bare, words, call, home, tmp_path / "spare"):
        at += 1
    assert at > 20


def test_status_tells_of_a_change_that_was_interrupted(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    registry, entry = Registry(str(home)), entry_of(home)
    secret = keys.Secret(identity())
    KeyFile(f"{key_of(home)}.new").write(secret.reveal())
    note = KeyNote(f"file {key_of(home)}.new", recipient_of(secret), secret.check())
    registry.set_keys(entry, (*entry.keys, note))
    assert "was interrupted" in call("status", cwd=encrypted).out
    assert call("recall", "uploads", cwd=encrypted).code == 0
    assert call("rekey", cwd=encrypted).code == 0
    assert len(entry_of(home).keys) == 1 and "was interrupted" not in call("status", cwd=encrypted).out


def test_the_new_key_in_force_and_lost_is_missing_and_not_damage(
    encrypted: Path, call: Callable[..., Result], home: Path
) -> None:
    registry, entry = Registry(str(home)), entry_of(home)
    old = key_of(home).read_text()
    assert call("rekey", cwd=encrypted).code == 0
    (now,) = entry_of(home).keys
    key_of(home).write_text(old)
    registry.set_keys(entry_of(home), (*entry.keys, now))
    told = call("recall", "uploads", "--json", cwd=encrypted)
    assert told.error["kind"] in ("key_missing", "wrong_key")


def test_the_library_changes_keys_too(encrypted: Path, home: Path, tmp_path: Path) -> None:
    with hardwon.open(str(encrypted)) as memory:
        memory.record("kept")
        report = memory.rekey(key_file=str(tmp_path / "mine.key"))
        assert (report.done, report.place) == ("rekeyed", f"file {tmp_path / 'mine.key'}")
        assert memory.show(1).memory.text == "kept" and memory.status().recipient == report.recipient
        assert memory.rekey(decrypt=True).done == "decrypted"
        with pytest.raises(InvalidInput):
            memory.rekey(decrypt=True, keyring=True)


def test_a_store_in_memory_has_no_key(home: Path) -> None:
    from hardwon.engine.core import Engine
    from hardwon.store.memory import MemoryStore

    with pytest.raises(InvalidInput):
        encryption.rekey(Engine(MemoryStore(), "x"), Registry(str(home)), KeyWish(), KeySource())


# What others do meanwhile


def put_off(call: Callable[..., Result], cwd: Path, home: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Record something while another process holds the store."""
    monkeypatch.setenv("HARDWON_WAIT", "0")
    with open(f"{store_of(home)}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = call("record", *words, "--json", cwd=cwd)
    monkeypatch.delenv("HARDWON_WAIT")
    assert said.data["action"] == "spooled", said


def test_the_line_for_a_change_of_key_outlives_the_change(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    # It was removed with the file in the making once: two at a time then took each other's new key away.
    lock = Path(f"{store_of(home)}.key.lock")
    assert call("rekey", cwd=encrypted).code == 0
    first = lock.stat().st_ino
    assert call("rekey", cwd=encrypted).code == 0
    assert lock.stat().st_ino == first


def test_what_was_sealed_is_taken_in_though_the_store_was_decrypted_meanwhile(
    encrypted: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Path(f"{store_of(home)}.spool")
    empty = spool.read_bytes()
    put_off(call, encrypted, home, monkeypatch, *NOTE[:1])
    waiting = spool.read_bytes()
    spool.write_bytes(empty)
    assert call("rekey", "--decrypt", "--yes", cwd=encrypted).code == 0
    spool.write_bytes(waiting)  # as who put it off at the last moment leaves it
    assert call("record", "the next one", cwd=encrypted).code == 0
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=encrypted).out


def test_the_key_of_a_change_that_came_to_nothing_is_kept(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    registry, entry = Registry(str(home)), entry_of(home)
    secret = keys.Secret(identity())
    new = KeyFile(f"{key_of(home)}.new")
    new.write(keys.written(secret, recipient_of(secret)))
    registry.set_keys(entry, (*entry.keys, KeyNote(new.text, recipient_of(secret), secret.check())))
    assert call("rekey", cwd=encrypted).code == 0
    assert secret.reveal() in Path(f"{key_of(home)}.old").read_text()


def test_a_key_that_nobody_noted_is_kept_by_the_next_change(encrypted: Path, call: Callable[..., Result], home: Path) -> None:
    secret = keys.Secret(identity())
    KeyFile(f"{key_of(home)}.new").write(keys.written(secret, recipient_of(secret)))
    assert call("rekey", cwd=encrypted).code == 0
    assert secret.reveal() in Path(f"{key_of(home)}.old").read_text()


def test_a_process_that_was_there_before_the_encryption_seals_what_it_puts_off(
    project: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_WAIT", "0")
    with hardwon.open(str(project)) as memory:
        memory.record("said in the clear")
        assert call("init", "--encrypt", "--yes", cwd=project).code == 0
        with open(f"{store_of(home)}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert memory.record(NOTE[0]).action == "spooled"
        assert in_the_clear(home / "stores") == []
        assert memory.record("the next one").action == "created"
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=project).out


def test_what_was_put_off_while_the_store_was_being_encrypted_does_not_stay_in_the_clear(
    project: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def and_somebody_speaks(*words: Any) -> None:
        recrypt(*words)
        put_off(call, project, home, monkeypatch, *NOTE[:1])

    recrypt = encryption.recrypt
    monkeypatch.setattr(encryption, "recrypt", and_somebody_speaks)
    assert call("init", "--encrypt", "--yes", cwd=project).code == 0
    assert in_the_clear(home / "stores") == []
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=project).out


def test_a_home_that_was_moved_has_its_key_with_it(
    encrypted: Path, call: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("record", NOTE[0], cwd=encrypted).code == 0
    moved = home.rename(home.with_name("moved"))
    monkeypatch.setenv("HARDWON_HOME", str(moved))
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=encrypted).out
    assert call("rekey", "--key-file", str(moved / "mine.key"), cwd=encrypted).code == 0
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=encrypted).out


def test_a_key_is_kept_where_the_file_system_knows_no_second_names(bare: Path, call: Callable[..., Result], home: Path) -> None:
    with used(LinklessDisk()):
        assert call("init", "--encrypt", "--no-history", cwd=bare).code == 0
        assert call("record", NOTE[0], cwd=bare).code == 0
        assert call("rekey", cwd=bare).code == 0
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=bare).out
    assert sorted(path.suffix for path in (home / "keys").iterdir()) == [".key", ".old"]


def test_a_store_that_is_reached_by_a_link_leaves_nothing_in_the_clear(
    project: Path, call: Callable[..., Result], home: Path, tmp_path: Path
) -> None:
    assert call("record", *NOTE, stdin="numbat = 1", cwd=project).code == 0
    store, real = store_of(home), tmp_path / "disk" / "real.db"
    real.parent.mkdir()
    for end in ("", "-wal"):
        Path(f"{store}{end}").rename(f"{real}{end}")
    store.symlink_to(real)
    assert call("init", "--encrypt", "--yes", cwd=project).code == 0
    assert call("rekey", cwd=project).code == 0
    assert store.is_symlink() and in_the_clear(real.parent) == in_the_clear(home / "stores") == []
    assert "Quokkas" in call("recall", "where do Quokkas sleep?", cwd=project).out
    assert call("verify", cwd=project).code == 0
