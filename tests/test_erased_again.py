"""What was erased stays erased: whatever backup is restored, whatever a repair finds on the pages of a damaged file."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

import hardwon
from hardwon.engine import backup, opening, repair, restore
from hardwon.engine.core import Engine
from hardwon.store.mending.salvage import salvage
from hardwon.store.sqlite import SqliteStore
from hardwon.types import Anchor, Draft, Origin, Revision, Scope
from tests.test_cli import at_a_terminal
from tests.test_erase import erase, get, left, some, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result

PERSON = Scope(Origin("person"))
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
WORDS = "rotate the dofigamezulo staging credential"


@pytest.fixture
def engine(project: Path, home: Path) -> Iterator[Engine]:
    opened = opening.open_engine(str(project), str(home))
    yield opened
    opened.close()


def back(engine: Engine, home: Path, file: str, **how: Any) -> restore.Restoration:
    with restore.candidate(engine, str(home), file) as found:
        return found.use(PERSON, **how)


def damaging(engine: Engine) -> list[Any]:
    return [item for item in engine.verify() if item.level != "note"]


def words_in(home: Path, *but: str) -> list[str]:
    """Files below a folder that hold the word, less those that are named."""
    found = [Path(top, name) for top, _, names in os.walk(home) for name in names]
    return sorted(str(file) for file in found if str(file) not in but and b"dofigamezulo" in file.read_bytes().lower())


# --- restore


def test_a_restore_brings_no_erased_words_back(engine: Engine, home: Path) -> None:
    engine.record(Draft(WORDS), AGENT)
    engine.record(Draft("something that stays"), AGENT)
    made = backup.backup(engine, str(home))
    erase(engine, "1", reason="request")
    would = restore.candidate(engine, str(home), made.file)
    with would:
        assert would.report().newer.erased == 1
    done = back(engine, home, made.file)
    assert (done.erased, done.files, done.untold) == ((engine.identify("1"),), (made.file,), "")
    assert (get(engine, "1").erased, get(engine, "2").text) == (True, "something that stays")
    assert engine.history("1", PERSON)[2][-1].payload == "request"
    assert words_in(home) == [made.file]
    assert engine.record(Draft(WORDS), AGENT).action == "refused"
    assert damaging(engine) == []
    again = back(engine, home, done.kept)
    assert again.erased == ()
    assert words_in(home) == [made.file]


def test_words_that_the_backup_never_had_stay_out_after_it_as_well(engine: Engine, home: Path) -> None:
    made = backup.backup(engine, str(home))
    lesson = Draft(WORDS, "lesson", "failed", anchors=(Anchor("src/db.py", "Pool.get"),))
    number = engine.record(lesson, AGENT).number
    engine.record(lesson, PERSON)
    erase(engine, str(number), reason="personal")
    done = back(engine, home, made.file, keep_newer=True)
    assert (done.erased, done.newer.memories, done.carried) == ((), 0, None)
    receipt = engine.record(Draft(WORDS), AGENT)
    assert (receipt.action, receipt.why) == ("refused", f"#{number} says the same and was erased")
    memory, versions, events = engine.history(str(number), PERSON)
    assert memory.erased
    assert [(event.action, event.payload) for event in events] == [("imported", "forgotten"), ("erased", "personal")]
    assert {version.content.text for version in versions} == {""}
    assert engine.recall(hardwon.Query(WORDS), AGENT).hits == ()
    assert engine.before("src/db.py", "Pool.get", AGENT).hits == ()
    assert damaging(engine) == []
    second = backup.backup(engine, str(home))
    assert back(engine, home, second.file).erased == ()
    assert engine.record(Draft(WORDS), AGENT).action == "refused"


def test_what_says_it_under_another_number_goes_too(engine: Engine, home: Path) -> None:
    """One memory says it in the backup and something else later; another, which the backup lacks, says it later and is erased."""
    engine.record(Draft(WORDS, "rule"), PERSON)
    engine.record(Draft("first this", "rule"), PERSON)
    engine.revise("2", Revision(text=WORDS + " twice"), PERSON)
    engine.revise("2", Revision(text="then that"), PERSON)
    made = backup.backup(engine, str(home))
    engine.revise("1", Revision(text="quite another rule"), PERSON)
    for text in (WORDS, WORDS + " twice"):
        number = engine.record(Draft(text, "fact"), PERSON).number
        erase(engine, str(number))
    done = back(engine, home, made.file)
    assert done.erased == (engine.identify("1"),)
    assert get(engine, "2").text == "then that"
    assert [one.content.text for one in engine.history("2", PERSON)[1]] == ["", "", "then that"]
    assert words_in(home) == [made.file]
    assert damaging(engine) == []


@pytest.mark.slow
def test_erased_commits_and_passages_stay_away(project: Path, home: Path, call: Callable[..., Result]) -> None:
    from tests.conftest import git

    assert call("init").code == 0
    early = call("backup", "--json").data["file"]
    (project / "README.md").write_text("# Usage\n\nCall dofigamezulo first, then wait.\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Say dofigamezulo in the README", at=1_700_100_000)
    assert call("init").code == call("ingest", "docs").code == 0
    late = call("backup", "--json").data["file"]
    with hardwon.open(str(project), origin=Origin("person")) as memory:
        passage = next(hit.memory for hit in memory.recall("usage dofigamezulo", kinds=("doc",)).hits)
        head = git(project, "rev-parse", "HEAD")
        assert len(memory.erase(passage.id, head).ids) == 2
    for file, gone in ((early, 0), (late, 2), (early, 0)):
        done = call("restore", file, "--yes", "--json")
        assert (done.code, len(done.data["erased"])) == (0, gone)
        for step in (("init",), ("ingest", "docs"), ("init", "--rebuild"), ("verify",)):
            assert call(*step).code == 0, step
        assert words_in(home) == [late]
        assert call("show", head, "--json").data["erased"] is True


def test_the_commands_say_what_was_erased_again(project: Path, home: Path, call: Callable[..., Result]) -> None:
    call("record", WORDS)
    call("record", "something that stays")
    made = call("backup", "--json").data["file"]
    assert at_a_terminal(project, "forget", "1", "--erase", typed="y\n")[0] == 0
    would = call("restore", made, "--dry-run")
    assert "1 memory that it has was erased since it was made, and will be again" in would.out
    assert call("restore", made, "--dry-run", "--json").data["newer"]["erased"] == 1
    done = call("restore", made, "--yes")
    assert "1 memory that it has was erased since it was made, and again now" in done.out
    assert f"still in {made}: delete that copy" in done.out
    assert "dofigamezulo" not in call("recall", WORDS).out
    assert call("show", "1", "--json").data["erased"] is True
    assert words_in(home) == [made]
    assert call("verify").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", ["a page", "garbage", "gone"])
def test_a_store_that_cannot_be_read_is_told_and_what_is_left_of_it_is_heeded(
    project: Path, home: Path, call: Callable[..., Result], how: str
) -> None:
    for number in range(40):
        call("record", f"something that stays {number} " + "and on " * 60)
    call("record", WORDS)
    made = call("backup", "--json").data["file"]
    assert at_a_terminal(project, "forget", "41", "--erase", typed="y\n")[0] == 0
    (store,) = (home / "stores").glob("*.db")
    for end in ("-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    raw = bytearray(store.read_bytes())
    if how == "a page":
        raw[0:4096] = bytes(4096)
    store.write_bytes(b"garbage" * 9000 if how == "garbage" else raw)
    if how == "gone":
        store.unlink()
    done = call("restore", made, "--yes")
    assert done.code == 0, done
    assert "cannot be told" in done.out
    assert "hardwon forget --erase" in done.out
    erased = call("show", "41", "--json").data["erased"]
    assert erased is (how == "a page")
    if how == "a page":
        assert call("record", WORDS, "--json").data["action"] == "refused"
        assert words_in(home) == [made]
    assert call("verify").code == 0


def test_without_any_erasure_nothing_is_said_of_it(project: Path, home: Path, call: Callable[..., Result]) -> None:
    call("record", WORDS)
    made = call("backup", "--json").data["file"]
    (store,) = (home / "stores").glob("*.db")
    store.write_bytes(b"garbage" * 9000)
    done = call("restore", made, "--yes")
    assert (done.code, "erased" in done.out) == (0, False)


# --- repair


def stored(folder: Path, seed: int, count: int = 24) -> tuple[Engine, list[str], list[str]]:
    """A store of which a third was erased: the ids of that, and its words."""
    chance = random.Random(seed)
    engine = hardwon.open_store(str(folder / "a.db"), "11111111-1111-5111-8111-111111111111")
    said: dict[str, list[str]] = {}
    for _ in range(count):
        draft, words = spoken(chance, chance.choice((3, 20, 60)))
        said[engine.record(draft, AGENT).id] = words
    for one in chance.sample(sorted(said), count // 4):
        text, detail = some(chance, 5), some(chance, 300)
        engine.revise(one, Revision(text=text, detail=detail), PERSON)
        said[one] += [*text.split(), *detail.split()]
    gone = chance.sample(sorted(said), count // 3)
    erase(engine, *gone)
    return engine, gone, [word for one in gone for word in said[one]]


def mended(engine: Engine) -> repair.RepairReport:
    """The store repaired; where the damaged file lies it is moved away, so that only the new one is searched."""
    done = repair.repair(engine, PERSON)
    if done.file:
        for end in ("", "-wal"):
            Path(done.file + end).unlink(missing_ok=True)
    return done


def stays_erased(engine: Engine, gone: list[str], words: list[str], digests: int) -> None:
    assert left(engine, words) == []
    assert damaging(engine) == []
    with engine.store.read() as reader:
        assert len(reader.digests()) == digests
        known = reader.get(gone)
    assert all(memory.erased and memory.status == "forgotten" for memory in known)


def damage(path: str, chance: random.Random, share: float) -> None:
    with open(path, "r+b") as file:
        pages = os.path.getsize(path) // 4096
        for number in chance.sample(range(1, pages), max(2, round(pages * share))):
            file.seek(number * 4096)
            file.write(chance.choice((bytes(4096), chance.randbytes(4096))))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 25))])
def test_a_repair_keeps_what_was_erased_erased(tmp_path: Path, seed: int) -> None:
    engine, gone, words = stored(tmp_path / "store", seed)
    engine.close()
    connection = apsw.Connection(engine.store.path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    damage(engine.store.path, random.Random(seed), 0.1)
    intact = {bytes(row["digest"]) for row in salvage(engine.store.path).tables["erased"]}
    engine.store = SqliteStore(engine.store.path, make=False)
    done = mended(engine)
    assert done.damaged
    assert left(engine, words) == []
    assert damaging(engine) == []
    with engine.store.read() as reader:
        assert all(memory.erased and memory.status == "forgotten" for memory in reader.get(gone))
        digests = [digest for digest, _ in reader.digests()]
    assert intact == set(digests)
    engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("table", ["memories", "versions", "events of erasures", "all three"])
def test_rows_of_erased_memories_that_are_lost_are_told_as_erased(tmp_path: Path, table: str) -> None:
    """Cut out of the file as damage would: rows are altered without their hashes."""
    engine, gone, words = stored(tmp_path / "store", 5)
    with engine.store.read() as reader:
        digests = len(reader.digests())
    engine.close()
    connection = apsw.Connection(engine.store.path)
    connection.pragma("foreign_keys", 0)
    raws = [bytes.fromhex(one.replace("-", "")) for one in gone]
    for raw in raws:
        if table in ("memories", "all three"):
            connection.execute("UPDATE memories SET row_hash = zeroblob(16) WHERE id = ?", (raw,))
        if table in ("versions", "all three"):
            connection.execute("UPDATE versions SET crc = crc + 1 WHERE memory = ?", (raw,))
        if table in ("events of erasures", "all three"):
            connection.execute("UPDATE events SET payload = 'x' WHERE memory = ? AND action = 'erased'", (raw,))
    connection.close()
    engine.store = SqliteStore(engine.store.path, make=False)
    done = mended(engine)
    if table == "all three":  # nothing tells that they were erased, nor any word of them
        assert {item.id for item in done.lost} == set(gone)
    else:
        assert done.lost == ()
        with engine.store.read() as reader:
            assert len(reader.get(gone)) == len(gone)
    stays_erased(engine, gone, words, digests)
    assert [item.what for item in engine.verify() if "key" in item.what] == []
    engine.close()


@pytest.mark.parametrize("what", ["row", "event"])
def test_its_words_are_refused_after_a_repair_as_before(tmp_path: Path, what: str) -> None:
    engine = hardwon.open_store(str(tmp_path / "store" / "a.db"), "11111111-1111-5111-8111-111111111111")
    engine.record(Draft(WORDS), AGENT)
    engine.record(Draft("something that stays"), AGENT)
    gone = engine.identify("1")
    erase(engine, "1")
    engine.close()
    connection = apsw.Connection(engine.store.path)
    statement = {
        "row": "UPDATE memories SET row_hash = zeroblob(16) WHERE number = 1",
        "event": "UPDATE events SET payload = 'x' WHERE action = 'erased'",
    }[what]
    connection.execute(statement)
    connection.close()
    engine.store = SqliteStore(engine.store.path, make=False)
    assert mended(engine).damaged
    receipt = engine.record(Draft(WORDS), AGENT)
    assert receipt.action == "refused"
    assert receipt.why == ("#1 says the same and was erased" if what == "row" else "the same was erased")
    assert get(engine, gone).erased
    # And a restore of an earlier backup heeds it as well, whosever the words were.
    from hardwon.engine.erased_since import again, known

    other = hardwon.open_store(str(tmp_path / "other" / "a.db"), "11111111-1111-5111-8111-111111111111")
    other.erasure_key = engine.erasure_key
    other.record(Draft(WORDS, "rule"), PERSON)
    with engine.store.read() as reader:
        later = known(reader)
    assert len(again(other, later, PERSON).ids) == 1
    assert other.record(Draft(WORDS), AGENT).action == "refused"
    assert damaging(other) == []
    other.close()
    engine.close()


def test_old_pages_of_before_an_erasure_bring_nothing_back(tmp_path: Path) -> None:
    """An erasure whose file was not written anew yet: copies of its rows lie on pages that the damaged file takes for live ones."""
    engine = hardwon.open_store(str(tmp_path / "store" / "a.db"), "11111111-1111-5111-8111-111111111111")
    draft, words = spoken(random.Random(8), 6)
    engine.record(draft, AGENT)
    engine.revise("1", Revision(text=WORDS), PERSON)
    engine.record(Draft("something that stays"), AGENT)
    gone = engine.identify("1")
    engine.persist()
    before = Path(engine.store.path).read_bytes()
    erase(engine, "1")
    engine.record(Draft("something that comes later"), AGENT)
    engine.persist()
    engine.close()
    path = Path(engine.store.path)
    with path.open("ab") as file:  # every page of before, behind those of now
        file.write(before)
    raw = bytearray(path.read_bytes())
    raw[28:32] = (len(raw) // 4096).to_bytes(4, "big")
    path.write_bytes(raw)
    assert len(left(engine, [*words, "dofigamezulo"])) > len(words) // 2
    connection = apsw.Connection(str(path))  # and those of now are damaged
    connection.execute("UPDATE memories SET row_hash = zeroblob(16) WHERE number = 1")
    connection.execute("UPDATE versions SET crc = crc + 1 WHERE salt IS NULL")
    connection.close()
    engine.store = SqliteStore(engine.store.path, make=False)
    assert mended(engine).damaged
    assert left(engine, [*words, "dofigamezulo"]) == []
    assert get(engine, gone).erased
    assert {version.content.text for version in engine.history(gone, PERSON)[1]} == {""}
    assert engine.recall(hardwon.Query("something that comes later"), AGENT).hits
    assert damaging(engine) == []
    engine.close()


@pytest.mark.slow
def test_a_commit_that_was_erased_is_not_read_again_after_a_repair(
    project: Path, home: Path, call: Callable[..., Result]
) -> None:
    from tests.conftest import git

    (project / "x.py").write_text("def dofigamezulo():\n    return 1\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Say dofigamezulo in a commit", at=1_700_100_000)
    assert call("init").code == 0
    head = git(project, "rev-parse", "HEAD")
    assert at_a_terminal(project, "forget", head, "--erase", typed="y\n")[0] == 0
    (store,) = (home / "stores").glob("*.db")
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE memories SET row_hash = zeroblob(16) WHERE commit_sha = ?", (head,))
    connection.close()
    done = call("repair", "--json")
    assert done.data["damaged"]
    for step in (("init",), ("init", "--rebuild"), ("verify",)):
        assert call(*step).code == 0, step
    assert call("show", head, "--json").data["erased"] is True
    assert words_in(home) == []


# --- between a question and its answer


def test_only_what_was_shown_is_forgotten(project: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process records what matches as well, while a person reads the question."""
    from hardwon.doors import handle

    call("record", "the first of them", "--tag", "old")
    other = opening.open_engine(str(project), os.environ["HARDWON_HOME"])

    def says_yes(_call: Any, question: str) -> bool:
        assert "the first of them" in question
        other.record(Draft("the second, which nobody was shown", tags=("old",)), PERSON)
        return True

    monkeypatch.setattr(handle.Call, "confirmed", says_yes)
    done = call("forget", "--tag", "old", "--json")
    assert (done.data["matched"], done.data["forgotten"]) == (1, 1)
    assert (get(other, "1").status, get(other, "2").status) == ("forgotten", "active")
    other.close()


def test_what_does_not_match_any_more_is_not_forgotten_either(
    project: Path, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hardwon.doors import handle

    call("record", "the first of them", "--tag", "old")
    other = opening.open_engine(str(project), os.environ["HARDWON_HOME"])

    def says_yes(_call: Any, question: str) -> bool:
        other.revise("1", Revision(tags=("kept",)), PERSON)
        return True

    monkeypatch.setattr(handle.Call, "confirmed", says_yes)
    assert call("forget", "--tag", "old", "--json").data["forgotten"] == 0
    assert get(other, "1").status == "active"
    other.close()
