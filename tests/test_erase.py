"""Erasure: nothing of the words is left in any byte, nothing that says them comes back, and the journal stays whole."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardwon
from hardwon.engine import changes, opening
from hardwon.engine.core import Engine
from hardwon.engine.erase import Erasure
from hardwon.engine.erased_since import again, known
from hardwon.engine.exchange import export, import_memories
from hardwon.errors import InvalidInput, StoreError
from hardwon.importers.source import Incoming
from hardwon.store.keys import erasure_key
from hardwon.store.memory import MemoryStore
from hardwon.store.sqlite import SqliteStore
from hardwon.types import REASONS, Anchor, Change, Draft, Filter, Origin, Query, Relation, Revision, Scope
from tests.conftest import git
from tests.test_cli import at_a_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hardwon.types import ExportedMemory, Memory, Receipt

PERSON = Scope(Origin("person", "", "", "cli"))
AGENT = Scope(Origin("agent", "codex", "s1", "cli"))
REPOSITORY = "11111111-1111-5111-8111-111111111111"
# A word that stands nowhere else, for each field.
FIELDS = ("text", "detail", "code", "because", "rejected", "tag", "path", "symbol", "metadata")


def word(chance: random.Random) -> str:
    """Twelve letters that nothing else says."""
    return "".join(chance.choice("bcdfghjklmnpqrstvwxz") + chance.choice("aeiou") for _ in range(6))


def some(chance: random.Random, count: int) -> str:
    return " ".join(word(chance) for _ in range(count))


def spoken(chance: random.Random, size: int = 5) -> tuple[Draft, list[str]]:
    """A draft that says new words in every field, and these."""
    words = {name: some(chance, size) for name in FIELDS}
    first = {name: text.split()[0] for name, text in words.items()}
    draft = Draft(
        words["text"], "lesson", "failed", detail=words["detail"], code=words["code"], because=words["because"],
        rejected=(words["rejected"],), tags=(first["tag"],), anchors=(Anchor(f"src/{first['path']}.py", first["symbol"]),),
        metadata=json.dumps({"note": first["metadata"]}),
    )  # fmt: skip
    said = [w for name in ("text", "detail", "code", "because", "rejected") for w in words[name].split()]
    return draft, said + [first[name] for name in ("tag", "path", "symbol", "metadata")]


def bytes_beside(engine: Engine) -> bytes:
    """The bytes of all files of the store's folder."""
    folder = os.path.dirname(engine.store.path)
    return b"\0".join(Path(top, name).read_bytes() for top, _, names in os.walk(folder) for name in names)


def left(engine: Engine, words: list[str]) -> list[str]:
    """Those of the words that stand in a file, as UTF-8 or UTF-16, in any case."""
    data = bytes_beside(engine).lower()
    whole = set(re.findall(rb"[a-z]{12}", data))
    for aligned in (data.replace(b"\0", b""),):  # UTF-16 of ASCII
        whole |= set(re.findall(rb"[a-z]{12}", aligned))
    return [w for w in words if w.encode() in whole]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = hardwon.open_store(str(tmp_path / "store" / "a.db"), REPOSITORY)
    yield made
    assert [item for item in made.verify() if item.level != "note"] == []
    made.close()


@pytest.fixture(params=["sqlite", "memory"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    made = _made(request.param, tmp_path)
    yield made
    made.close()


def _made(kind: str, folder: Path) -> Engine:
    if kind == "sqlite":
        return hardwon.open_store(str(folder / "store" / "a.db"), REPOSITORY)
    store = MemoryStore()
    opening.prepare(store, REPOSITORY, 1, os.urandom)
    return Engine(store, REPOSITORY, erasure_key=str(folder / "erasure.key"))


def erase(engine: Engine, *references: str, reason: Any = "other", scope: Scope = PERSON) -> Erasure:
    return engine.erase(Filter(ids=tuple(map(engine.identify, references))), reason, scope, dry_run=False)


def get(engine: Engine, reference: str) -> Memory:
    return engine.show(reference, PERSON)[0]


# --- bytes


def history(engine: Engine, chance: random.Random, steps: int) -> dict[str, list[str]]:
    """Records, repeats, revisions, forgettings, vectors, long texts: what each memory has ever said."""
    said: dict[str, list[str]] = {}
    drafts: dict[str, Draft] = {}
    for _ in range(steps):
        act = chance.choice(("record", "record", "record", "revise", "revise", "repeat", "status", "vector", "long"))
        if act == "record" or not said:
            draft, words = spoken(chance, chance.choice((3, 6, 20)))
            receipt = engine.record(draft, AGENT)
            said[receipt.id], drafts[receipt.id] = words, draft
            continue
        one = chance.choice(list(said))
        if act in ("revise", "long"):
            text, detail = some(chance, 5), some(chance, 700 if act == "long" else chance.choice((1, 40)))
            engine.revise(one, Revision(text=text, detail=detail), PERSON)
            drafts[one] = drafts[one].replace(text=text, detail=detail)
            said[one] += [*text.split(), *detail.split()]
        elif act == "repeat":
            more = some(chance, 4)
            receipt = engine.record(drafts[one].replace(because=more), PERSON)
            said.setdefault(receipt.id, []).extend(more.split())
            if receipt.id != one:
                said[receipt.id] += said[one]
        elif act == "vector":
            with engine.write() as writer:
                writer.put_vectors("m", [(one, b"d" * 16, "".join(some(chance, 32).split()).encode()[:384])])
        elif get(engine, one).status in ("active", "resolved", "inactive"):
            engine.set_status(one, chance.choice(("resolved", "inactive", "active")), PERSON)
    return said


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_byte_of_what_was_said_is_left_after_any_history(engine: Engine, seed: int) -> None:
    chance = random.Random(seed)
    said = history(engine, chance, 60)
    gone = chance.sample(sorted(said), max(2, len(said) // 4))
    assert left(engine, said[gone[0]])
    with engine.store.read() as reader:
        vectors = [vector for one in gone for _, vector in reader.vectors_of("m", reader.keys([one]))]
        twins = [reader._db.execute("SELECT twin FROM memories WHERE key = ?", reader.keys([one])).get for one in gone]  # type: ignore[attr-defined]
    done = erase(engine, *gone)
    assert (done.done, done.log, done.failed, done.files) == (True, False, "", ())
    assert set(gone) <= set(done.ids)
    words = [w for one in done.ids for w in said[one]]
    assert left(engine, words) == []
    data = bytes_beside(engine)
    assert [vector for vector in vectors if vector[:16] in data or vector[-16:] in data] == []
    assert [twin for twin in twins if twin and twin in data] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_no_byte_is_left_after_long_histories(engine: Engine, seed: int) -> None:
    chance = random.Random(seed)
    said = history(engine, chance, 250)
    gone = chance.sample(sorted(said), max(2, len(said) // 5))
    done = erase(engine, *gone)
    assert left(engine, [w for one in done.ids for w in said[one]]) == []


def test_what_others_say_stays(engine: Engine) -> None:
    chance = random.Random(5)
    said = history(engine, chance, 40)
    gone, *kept = sorted(said)
    before = {one: get(engine, one) for one in kept}
    done = erase(engine, gone)
    assert {one: get(engine, one) for one in kept if one not in done.ids} == {
        one: memory for one, memory in before.items() if one not in done.ids
    }


@pytest.mark.slow
def test_older_copies_on_pages_are_why_the_file_is_written_anew(engine: Engine) -> None:
    """Without that step something is left: the search finds it, so that an empty answer means something."""
    chance = random.Random(1)
    said = history(engine, chance, 120)
    store = engine.store
    assert isinstance(store, SqliteStore)
    engine.store = Unscrubbed(store)  # type: ignore[assignment]
    done = erase(engine, *sorted(said)[: len(said) // 3])
    engine.store = store
    assert left(engine, [w for one in done.ids for w in said[one]])
    assert [(item.level, item.where) for item in engine.verify()] == [("warning", store.path)]
    engine.compact()
    assert left(engine, [w for one in done.ids for w in said[one]]) == []
    assert engine.verify() == []


class Unscrubbed:
    """A store whose process ends before the file is written anew."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def scrub(self, timeout: float = 30.0) -> bool:
        """The log is cut as at any other time."""
        self._store.checkpoint(timeout)
        return False


@pytest.mark.slow
def test_a_reader_holds_the_log_and_the_next_writer_cuts_it(engine: Engine, tmp_path: Path) -> None:
    draft, words = spoken(random.Random(2))
    engine.record(draft, AGENT)
    other = SqliteStore(engine.store.path, make=False)
    with other.read() as reader:
        reader.figures()
        done = erase(engine, "1")
        assert done.log
        assert left(engine, words)
        assert [item.where for item in engine.verify()] == [engine.store.path + "-wal"]
        engine.record(Draft("something else that is said meanwhile"), AGENT)
        assert left(engine, words)
    other.close()
    engine.record(Draft("something else that is said afterwards"), AGENT)
    assert left(engine, words) == []
    assert engine.verify() == []


def test_derived_vectors_and_leftovers_are_removed_and_copies_are_named(engine: Engine) -> None:
    draft, words = spoken(random.Random(3))
    receipt = engine.record(draft, AGENT)
    path = engine.store.path
    Path(path + ".0123456789ab.signs").write_bytes(b"bits")
    Path(path + ".0123456789ab.signs.part").write_bytes(b"bits")
    engine.store.checkpoint()
    engine.close()
    kept, torn = Path(path + ".before-step-3"), Path(path + ".kept-1")
    kept.write_bytes(Path(path).read_bytes())
    torn.write_bytes(b"no database")
    other = Path(path + ".kept-2")
    before = hardwon.open_store(str(other), REPOSITORY)  # of before it was said
    before.persist()
    before.close()
    done = erase(engine, receipt.id)
    assert done.files == (str(kept), str(torn))
    assert not list(Path(path).parent.glob("*signs*"))
    kept.unlink()
    torn.unlink()
    assert left(engine, words) == []


def test_a_full_disk_leaves_the_words_out_of_sight_and_says_what_is_missing(engine: Engine) -> None:
    draft, words = spoken(random.Random(4))
    engine.record(draft, AGENT)
    store = engine.store

    class Full(Unscrubbed):
        def scrub(self, timeout: float = 30.0) -> bool:
            raise StoreError("no room left")

    engine.store = Full(store)  # type: ignore[assignment, arg-type]
    done = erase(engine, "1")
    engine.store = store
    assert (done.done, done.failed) == (True, "no room left")
    assert get(engine, "1").erased
    engine.compact()
    assert left(engine, words) == []


# --- what stays


def test_the_journal_stays_whole_and_keeps_a_code_only(either: Engine) -> None:
    draft, _ = spoken(random.Random(6))
    either.record(draft, AGENT)
    either.revise("1", Revision(text="quite other words for it"), PERSON)
    either.record(Draft("a third thing", "rule"), PERSON)
    either.link("1", "2", "supports", PERSON)
    either.feedback("1", "useful", PERSON)
    erase(either, "1", reason="personal")
    memory, versions, events = either.history("1", PERSON)
    assert (memory.text, memory.status, memory.tags, memory.anchors, memory.metadata) == ("", "forgotten", (), (), "")
    assert {(one.content.text, one.content.detail, one.content.anchors) for one in versions} == {("", "", ())}
    assert (events[-1].action, events[-1].payload, events[-1].version) == ("erased", "personal", 2)
    assert either.show("1", PERSON)[2] == []
    assert [one.outcome for one in either.show("1", PERSON)[1]] == ["failed"]
    assert either.verify() == []


def test_it_is_shown_nowhere_and_counts_for_nothing(either: Engine) -> None:
    lesson = Draft("the pool runs dry at night", "lesson", "failed", anchors=(Anchor("src/db.py", "Pool.get"),))
    either.record(lesson, AGENT)
    erase(either, "1")
    assert either.query("Pool.get", "", AGENT, everything=True) == []
    assert either.recall(Query("the pool runs dry at night"), AGENT).hits == ()
    assert either.recall(Query(where=Filter(statuses=("forgotten",))), AGENT).hits == ()
    assert either.before("src/db.py", "Pool.get", AGENT).hits == ()
    assert either.review(AGENT) == []
    assert list(export(either, Filter(statuses=("forgotten", "active")), private=True)) == []


@pytest.mark.parametrize("status", ["forgotten", "rejected", "replaced", "resolved"])
def test_whatever_its_status_it_can_be_erased(either: Engine, status: str) -> None:
    either.record(Draft("a rule that was wrong from the start", "rule"), AGENT)
    either.record(Draft("a rule that holds now", "rule"), AGENT)
    if status == "forgotten":
        either.forget(Filter(ids=(either.identify("1"),)), PERSON, dry_run=False)
    elif status == "rejected":
        either.reject("1", PERSON)
    elif status == "replaced":
        either.link("2", "1", "replaces", PERSON)
    else:
        either.set_status("1", "resolved", PERSON)
    assert erase(either, "1").ids
    assert get(either, "1").erased
    assert erase(either, "1").ids == ()


def test_what_says_the_same_goes_with_it_also_where_it_was_said_before(either: Engine) -> None:
    either.record(Draft("Ann broke the login page"), AGENT)
    either.forget(Filter(ids=(either.identify("1"),)), PERSON, dry_run=False)
    either.record(Draft("ann  broke the LOGIN page", "rule"), AGENT)
    either.record(Draft("Ann broke the login page", "decision"), AGENT)
    either.revise("3", Revision(text="the login page broke"), PERSON)
    looked = either.erase(Filter(ids=(either.identify("2"),)), "personal", AGENT, dry_run=True)
    assert (len(looked.ids), looked.same, looked.done) == (2, 1, False)
    done = erase(either, "2")
    assert sorted(done.ids) == sorted((either.identify("1"), either.identify("2")))
    _, versions, _ = either.history("3", PERSON)
    assert [one.content.text for one in versions] == ["", "the login page broke"]
    with pytest.raises(InvalidInput, match="erased"):
        either.undo("3", PERSON)


def test_r61_r62_only_what_is_named_is_erased(either: Engine) -> None:
    other = Scope(Origin("agent", "codex", "s2", "cli"))
    for number, scope in enumerate((AGENT, other, AGENT, PERSON)):
        either.record(Draft(f"memory of number {number} says this", tags=("a",)), scope)
    for empty in (Filter(), Filter(tags=("A misspelt one",), session="nowhere")):
        try:
            assert either.erase(empty, "other", PERSON, dry_run=False).ids == ()
        except InvalidInput as error:
            assert error.field == "id"
    done = either.erase(Filter(session="s1"), "other", PERSON, dry_run=False)
    assert len(done.ids) == 2
    assert [get(either, number).erased for number in "1234"] == [True, False, True, False]


def test_few_words_are_another_thing_at_another_place(either: Engine) -> None:
    for symbol in ("A.run", "B.run"):
        either.record(Draft("worked", "lesson", "worked", anchors=(Anchor("a.py", symbol),)), AGENT)
    assert len(erase(either, "1").ids) == 1
    assert either.record(Draft("worked", "lesson", "worked", anchors=(Anchor("a.py", "A.run"),)), AGENT).action == "refused"
    assert either.record(Draft("worked", "lesson", "worked", anchors=(Anchor("a.py", "C.run"),)), AGENT).action == "created"


def test_it_cannot_be_undone_nor_changed(either: Engine) -> None:
    either.record(Draft("Ann broke the login page"), AGENT)
    erase(either, "1")
    for refused in (
        lambda: either.undo("1", PERSON),
        lambda: either.undo("", PERSON),
        lambda: either.revise("1", Revision(text="new words"), PERSON),
        lambda: either.set_status("1", "active", PERSON),
        lambda: either.approve("1", PERSON),
        lambda: either.reject("1", PERSON),
    ):
        with pytest.raises(InvalidInput, match="erased"):
            refused()


def test_names_that_are_text_go_and_ids_stay(either: Engine) -> None:
    either.upsert([("Ann's phone number", Draft("it is in the safe"))], AGENT)
    other = "01234567-89ab-7cde-8f01-23456789abcd"
    with either.write() as writer:
        writer.alias(other, either.identify("1"))
    erase(either, "1")
    with either.store.read() as reader:
        assert reader.aliases(either.identify("1")) == [other]
    assert [one.action for one in either.upsert([("Ann's phone number", Draft("it is in the safe"))], AGENT)] == ["refused"]
    assert [one.action for one in either.upsert([("Ann's phone number", Draft("ask the desk"))], AGENT)] == ["created"]


# --- against its return


WORDS = "The staging password is with Ann"
DOORS: dict[str, Callable[[Engine], Any]] = {
    "record": lambda engine: engine.record(Draft(f"  {WORDS.upper()} ", "rule"), AGENT),
    "person": lambda engine: engine.record(Draft(WORDS), PERSON),
    "lesson": lambda engine: engine.record(Draft(WORDS, "lesson", "failed", anchors=(Anchor("a.py", "A.b"),)), AGENT),
    "upsert": lambda engine: engine.upsert([("1", Draft(WORDS))], AGENT)[0],
}


@pytest.mark.parametrize("door", DOORS)
def test_no_door_lets_it_in_again(either: Engine, door: str) -> None:
    either.record(Draft(WORDS), AGENT)
    erase(either, "1")
    receipt: Receipt = DOORS[door](either)
    assert (receipt.action, receipt.why) == ("refused", "#1 says the same and was erased")
    either.record(Draft("something else"), AGENT)
    with pytest.raises(InvalidInput, match="was erased"):
        either.revise("2", Revision(text=WORDS), PERSON)


def test_neither_does_an_import_by_words_by_id_or_by_name(either: Engine, tmp_path: Path) -> None:
    either.record(Draft(WORDS), AGENT)
    either.record(Draft("something that stays"), AGENT)
    other = "01234567-89ab-7cde-8f01-23456789abcd"
    with either.write() as writer:
        writer.alias(other, either.identify("1"))
    lines: list[ExportedMemory] = sorted(export(either, private=True), key=lambda item: item.memory.number or 0)
    named = lines[0].memory.replace(id=other, text="other words of another")
    version = lines[0].versions[0].replace(memory=named.id, content=lines[0].versions[0].content.replace(text=named.text))
    by_name = lines[0].replace(memory=named, versions=(version,), aliases=())
    changed = lines[0].replace(
        memory=lines[0].memory.replace(text="newer words", version=2),
        versions=(*lines[0].versions, version.replace(version=2, memory=lines[0].memory.id)),
    )
    fresh = lines[0].replace(memory=lines[0].memory.replace(id=""), versions=lines[0].versions)
    erase(either, "1")
    for item in (lines[0], by_name, changed, fresh):
        for dry in (True, False):
            report = import_memories(either, [Incoming("line 1", item)], PERSON, dry_run=dry, keep_trust=True)
            assert (report.refused, report.new) == (1, 0), item
            assert "erased" in report.troubles[0].what
    assert import_memories(either, [Incoming("line 2", lines[1])], PERSON).known == 1


def test_nor_the_spool_nor_an_undo_of_a_forgetting(engine: Engine) -> None:
    engine.record(Draft("a thing that is said", "lesson", "failed", anchors=(Anchor("a.py", "A.b"),)), AGENT)
    from hardwon.engine.record import prepared, submitted
    from hardwon.engine.spooling import drain, spooled
    from hardwon.errors import Busy

    engine.record(Draft(WORDS), AGENT)
    erase(engine, "2")
    said = submitted(engine, prepared(engine, Draft(WORDS))[0], AGENT)
    assert spooled(engine, said, Busy("in use")).action == "spooled"
    drain(engine)
    assert get(engine, said.id).erased
    assert left(engine, ["staging"]) == []


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_both_stores_refuse_the_same(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = ["one", "two words", "three words here", "Three  WORDS here", "and a longer text of six"]
    folder = tmp_path_factory.mktemp("both")
    engines = [_made(kind, folder) for kind in ("sqlite", "memory")]
    try:
        for _ in range(data.draw(st.integers(1, 8))):
            act = data.draw(st.sampled_from(("record", "record", "erase", "upsert", "revise")))
            text, symbol = data.draw(st.sampled_from(texts)), data.draw(st.sampled_from(("", "A.b", "C.d")))
            draft = Draft(text, "lesson", "failed", anchors=(Anchor("a.py", symbol),) if symbol else ())
            number = data.draw(st.integers(1, 5))
            assert _outcome(engines[0], act, draft, number) == _outcome(engines[1], act, draft, number)
        assert engines[0].verify() == []
    finally:
        for one in engines:
            one.close()


def _outcome(engine: Engine, act: str, draft: Draft, number: int) -> Any:
    try:
        if act == "record":
            receipt = engine.record(draft, AGENT)
        elif act == "upsert":
            receipt = engine.upsert([(str(number), draft)], AGENT)[0]
        elif act == "revise":
            receipt = engine.revise(str(number), Revision(text=draft.text), PERSON)
        else:
            return len(erase(engine, str(number)).ids)
    except hardwon.errors.HardwonError as error:
        return error.message
    return receipt.action, receipt.number, receipt.why


def test_the_key_is_made_once_for_one_s_own_eyes_and_only_when_needed(engine: Engine) -> None:
    path = engine.erasure_key
    engine.record(Draft(WORDS), AGENT)
    assert engine.erase(Filter(tags=("nothing",)), "other", PERSON, dry_run=False).ids == ()
    assert not os.path.exists(path)
    erase(engine, "1")
    key = Path(path).read_bytes()
    assert (len(key), os.stat(path).st_mode & 0o777) == (32, 0o600)
    engine.record(Draft("another thing to be erased"), AGENT)
    erase(engine, "2")
    assert Path(path).read_bytes() == key
    assert key not in b"".join(file.read_bytes() for file in Path(path).parent.iterdir() if str(file) != path)
    assert key.hex() not in repr(engine.verify())


@pytest.mark.parametrize("how", ["missing", "short", "folder", "link", "another"])
def test_a_lost_key_is_told_and_does_not_hinder(engine: Engine, how: str) -> None:
    path = Path(engine.erasure_key)
    engine.record(Draft(WORDS), AGENT)
    erase(engine, "1")
    path.unlink()
    if how == "short":
        path.write_bytes(b"short")
    elif how == "folder":
        path.mkdir()
    elif how == "link":
        path.symlink_to("/dev/zero")
    elif how == "another":
        path.write_bytes(b"k" * 32)
    assert [(item.level, item.where) for item in engine.verify()] == [("note", str(path))]
    assert engine.record(Draft(WORDS), AGENT).action == "created"
    if how in ("missing", "another"):
        erase(engine, "2")
        assert engine.record(Draft(WORDS), AGENT).action == "refused"
    else:
        with pytest.raises(StoreError, match="is not the key"):
            erase(engine, "2")
        assert not get(engine, "2").erased


def test_many_processes_make_one_key(tmp_path: Path) -> None:
    code = (
        "import os, sys; from hardwon.store.keys.erasure_key import obtain; "
        "sys.stdout.write(obtain(sys.argv[1], os.urandom, 30).hex())"
    )
    path = str(tmp_path / "new" / "erasure.key")
    started = [subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) for _ in range(6)]
    assert len({one.communicate()[0] for one in started}) == 1


def test_the_digest_needs_the_key() -> None:
    assert erasure_key.digest(b"a" * 32, "x") != erasure_key.digest(b"b" * 32, "x")
    assert erasure_key.digest(b"a" * 32, "x") == erasure_key.digest(b"a" * 32, "x")


# --- what comes from the repository


def commit(sha: str, subject: str, *relations: Relation, body: str = "") -> Change:
    return Change(
        sha * 40, 1_000, subject, body, "Ann Author", "main", files=(f"src/{sha}.py",), functions=("def a():",),
        added=("someidentifier",), relations=relations,
    )  # fmt: skip


def test_a_commit_that_is_erased_stays_away_and_so_does_its_message(engine: Engine) -> None:
    secret = "dofigamezulo"
    engine.add_changes([commit("a", f"Drop the {secret} table", body="for Ann"), commit("b", "Add a table")])
    erase(engine, "aaaaaaa")
    again = [commit("a", f"Drop the {secret} table", body="for Ann"), commit("c", f"drop the  {secret} table", body="For Ann")]
    engine.add_changes([*again, commit("d", f"Drop the {secret} table", body="for Bob")])
    assert [hit.memory.commit[0] for hit in engine.recall(Query("table someidentifier"), AGENT).hits] == ["d", "b"]
    engine.rebuild()
    assert [get(engine, sha * 7).erased for sha in "abcd"] == [True, False, True, False]
    with engine.store.read() as reader:
        assert reader.change(engine.identify("ccccccc")).files == ()  # type: ignore[union-attr]


@pytest.mark.parametrize("redacted", [False, True])
def test_what_it_did_to_others_is_told_without_its_words(engine: Engine, redacted: bool) -> None:
    word = "dofigamezulo"
    engine.add_changes(
        [commit("a", "Cache sessions"), commit("b", f"Revert it, {word} said so", Relation("reverts", "a" * 40))],
    )
    engine.settle_history()
    if redacted:  # as a secret that was taken out of it would leave it
        with engine.write() as writer:
            told = get(engine, "aaaaaaa").replace(version=2)
            writer.put(told)
            for version in (1, 2):
                writer.log("revised", told.replace(version=version), PERSON.origin, 1, b"s" * 16, "redacted")
    assert word in get(engine, "aaaaaaa").because
    erase(engine, "bbbbbbb")
    assert (get(engine, "aaaaaaa").because, get(engine, "aaaaaaa").outcome) == ("", None)
    assert left(engine, [word]) == []


def test_erased_commits_and_passages_stay_erased_whatever_is_read_again(project: Path, call: Any) -> None:
    (project / "README.md").write_text("# Other part\n\nCall nobody.\n" + 9 * "\n" + "# Usage\n\nCall dofigamezulo first.\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Say dofigamezulo in the README", at=1_700_100_000)
    call("init")
    call("ingest", "docs")
    with hardwon.open(str(project), origin=Origin("person")) as memory:
        passage = next(hit.memory for hit in memory.recall("usage dofigamezulo", kinds=("doc",)).hits)
        head = git(project, "rev-parse", "HEAD")
        done = memory.erase(passage.id, head, reason="secret")
        assert (len(done.ids), done.derived) == (2, 2)
        for step in (("init",), ("ingest", "docs"), ("init", "--rebuild"), ("ingest", "git")):
            assert call(*step).code == 0
        assert left(memory.engine, ["dofigamezulo"]) == []
        usage = "# Usage\n\nCall dofigamezulo first.\n"
        (project / "README.md").write_text("# Other part\n\nCall somebody.\n" + 9 * "\n" + usage.replace("first", "last"))
        (project / "CONTRIBUTING.md").write_text(
            "# Other part\n\nCall nobody.\n" + 9 * "\n" + usage
        )  # the same words under another name, and other words under the same one
        git(project, "add", ".")
        git(project, "commit", "-qam", "Another README", at=1_700_200_000)
        call("init")
        assert call("ingest", "docs", "--json").data["refused"] == 2
        assert [hit.memory.kind for hit in memory.recall("dofigamezulo").hits] in ([], ["change"])  # the new commit's own words
        assert memory.show(head).memory.erased
        assert memory.verify() == ()


def test_edges_of_shallow_clones_are_not_read_anew(engine: Engine) -> None:
    engine.add_changes([commit("a", "Say dofigamezulo here")])
    erase(engine, "aaaaaaa")
    assert changes.refresh(engine, [commit("a", "Say dofigamezulo here")], changes.quick) == 0
    assert get(engine, "aaaaaaa").erased


def test_an_earlier_state_that_is_put_back_is_erased_anew(engine: Engine, tmp_path: Path) -> None:
    engine.record(Draft(WORDS), AGENT)
    engine.record(Draft("something that stays"), AGENT)
    engine.persist()
    copy = tmp_path / "back" / "a.db"
    copy.parent.mkdir()
    copy.write_bytes(Path(engine.store.path).read_bytes())
    erase(engine, "1", reason="request")
    back = Engine(SqliteStore(str(copy)), REPOSITORY, erasure_key=engine.erasure_key)
    assert get(back, "1").text == WORDS
    with engine.store.read() as later:
        gone = known(later)
    assert again(back, gone, AGENT).ids == (engine.identify("1"),)
    assert again(back, gone, AGENT).ids == ()
    assert left(back, ["staging"]) == []
    assert (get(back, "1").erased, get(back, "2").text) == (True, "something that stays")
    assert back.history("1", PERSON)[2][-1].payload == "request"
    assert back.record(Draft(WORDS), AGENT).action == "refused"
    assert back.verify() == []
    back.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it kills itself by a signal")
@pytest.mark.parametrize("at", ["before the file", "in the file", "before the log"])
def test_a_kill_delays_it_and_loses_nothing(engine: Engine, at: str) -> None:
    draft, words = spoken(random.Random(9), 40)
    engine.record(draft, AGENT)
    engine.record(Draft("something that stays"), AGENT)
    code = (
        "import os, signal, sys, apsw, hardwon\n"
        "from hardwon.store import erasure\n"
        "from hardwon.types import *\n"
        "path, at = sys.argv[1:]\n"
        "engine = hardwon.open_store(path, sys.argv[0])\n"
        "def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "connection = engine.store.current(readonly=False).connection\n"
        "if at == 'before the file': erasure.scrub = die\n"
        "if at == 'in the file':\n"
        "    erasure.truncate_log = lambda *_: connection.set_progress_handler(die, 300)\n"
        "if at == 'before the log': erasure.cut_log = die\n"
        "engine.erase(Filter(ids=(engine.identify('1'),)), 'other', Scope(Origin('person')), dry_run=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, engine.store.path, at], check=False)
    assert done.returncode == -9
    assert (get(engine, "1").erased, get(engine, "2").text) == (True, "something that stays")
    assert [item.level for item in engine.verify()] == ["warning"]
    engine.compact()
    assert left(engine, words) == []


# --- doors


def test_agents_are_refused_and_yes_makes_nobody_a_person(project: Path, call: Any) -> None:
    call("record", WORDS)
    refused = call("forget", "1", "--erase", "--yes", "--json")
    assert (refused.code, refused.error["field"]) == (2, "who")
    assert "hardwon forget --erase" in refused.error["remedy"]
    assert call("show", "1", "--json").data["erased"] is False
    looked = call("forget", "1", "--erase", "--dry-run", "--json").data
    assert (looked["matched"], looked["erased"]) == (1, 0)
    with hardwon.open(str(project)) as memory, pytest.raises(InvalidInput, match="only a person"):
        memory.erase(1)


def test_r89_a_reason_is_a_code_and_its_text_goes_nowhere(project: Path, call: Any, home: Path) -> None:
    call("record", WORDS)
    for words in (("--erase", "--reason", "hunter2dofiga"), ("--reason", "secret")):
        assert call("forget", "1", *words, "--yes", "--json").error["field"] == "reason"
    data = b"".join(Path(top, name).read_bytes() for top, _, names in os.walk(home) for name in names)
    assert b"hunter2dofiga" not in data


def test_a_person_is_asked_and_told(project: Path, call: Any) -> None:
    call("record", WORDS)
    code, text = at_a_terminal(project, "forget", "1", "--erase", "--reason", "personal", typed="n\n")
    assert (code, "nothing was erased" in text) == (1, True)
    code, text = at_a_terminal(project, "forget", "1", "--erase", "--reason", "personal", typed="y\n")
    assert code == 0
    assert "erased 1 memory" in text
    assert "(erased)" in call("show", "1").out
    assert "erased    personal" in call("history", "1").out
    again = call("record", WORDS, "--json")
    assert (again.code, again.data["action"]) == (1, "refused")
    assert "erased" in call("undo", "1").err
    assert call("verify").code == 0


def test_reasons_are_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "erasure.md").read_text()
    assert [reason for reason in REASONS if f"`{reason}`" not in text] == []


def test_what_others_put_off_in_the_same_words_meanwhile_is_gone_too(
    project: Path, home: Path, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def and_somebody_speaks(store: SqliteStore, timeout: float) -> bool:
        with monkeypatch.context() as patch, open(f"{store.path}.lock") as lock:
            patch.setenv("HARDWON_WAIT", "0")
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert call("record", "xylopolist bivouac", "--json", cwd=project).data["action"] == "spooled"
        return scrub(store, timeout)

    engine = opening.open_engine(str(project), str(home))
    receipt = engine.record(Draft("xylopolist bivouac", "fact"), PERSON)
    scrub = SqliteStore.scrub
    monkeypatch.setattr(SqliteStore, "scrub", and_somebody_speaks)
    assert engine.erase(Filter(ids=(receipt.id,)), "personal", PERSON, dry_run=False).done
    assert left(engine, ["xylopolist"]) == [] and b"xylopolist" not in bytes_beside(engine)
    engine.close()
