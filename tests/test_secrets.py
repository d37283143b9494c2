"""Secrets that got into a store, past the rules of their day: found by today's, and taken out of every file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hardwon
from hardwon.engine import changes, opening, record, secrets
from hardwon.engine.changes import Tally
from hardwon.importers import history, refs
from hardwon.intake import merge
from hardwon.intake.bulk import Redactor
from hardwon.intake.redact import redact as quick_rules
from hardwon.search import terms
from hardwon.types import Anchor, Draft, Filter, Memory, Occurrence, Origin, Query, Scope
from tests.conftest import git

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from planted import Planted, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.engine.core import Engine

PERSON = Scope(Origin("person", "", "", "cli"))
TOKEN = "ghp_" + "aK9xQ2mZ7vR4tY1wL8pN" + "3sD6fG5hJ0bCuEiO"
OTHER = "sk_live_" + "tY1wL8pN3sD6fG5hJ0bCuE"
KEPT = 30  # commits with a secret, and as many memories


def unchecked(text: str) -> tuple[str, int]:
    """A day on which no rule was known."""
    return text, 0


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = hardwon.open_store(str(tmp_path / "store" / "a.db"), "11111111-1111-5111-8111-111111111111")
    yield made
    assert made.verify() == []
    made.close()


def keep(engine: Engine, draft: Draft) -> str:
    """Keep a draft as it is, past the rules."""
    origin = PERSON.origin
    with engine.write() as writer:
        memory = record.new_memory(record.submitted(engine, draft, PERSON), writer.next_number())
        event = record.keep(engine, writer, "created", memory, origin, merge.twin_key(memory), fresh=True)
        writer.occur(Occurrence(memory.id, memory.created_at, memory.outcome, "active", origin), event.seq)
    return memory.id


def say_anew(engine: Engine, identifier: str, **words: object) -> None:
    """Another version, past the rules."""
    with engine.write() as writer:
        memory: Memory = writer.get([identifier])[0]
        revised = memory.replace(**words, version=memory.version + 1)
        record.keep(engine, writer, "revised", revised, PERSON.origin, merge.twin_key(revised), fresh=True)


def everything(folder: str) -> bytes:
    """The bytes of all files below a folder."""
    return b"".join(Path(top, name).read_bytes() for top, _, names in os.walk(folder) for name in names)


def places(held: list[secrets.Held]) -> set[tuple[str, str, int, int]]:
    return {(found.field, found.kind, found.count, found.version) for one in held for found in one.found}


def test_a_clean_store_holds_none_and_is_left_alone(engine: Engine) -> None:
    engine.record(Draft(f"the token is {TOKEN}"), PERSON)
    assert secrets.find(engine) == []
    assert secrets.take_out(engine, PERSON) == 0
    with engine.store.read() as reader:
        assert [event.action for event in reader.events()] == ["created"]


def test_each_field_is_told_by_kind_and_count_and_never_shown(engine: Engine) -> None:
    draft = Draft(
        f"see {TOKEN}",
        detail=f"{TOKEN} and {OTHER} and {OTHER[:-1]}x",
        code="password = 'hunter2x'",
        because="<private>the boss</private> said so",
        rejected=("keep it", f"write {OTHER} down"),
        anchors=(Anchor(f"conf/{TOKEN}.ini", "main"),),
        tags=(OTHER.lower(), "fine"),
        metadata='{"api_key": "zzz999aaa"}',
    )
    identifier = keep(engine, draft)
    held = secrets.find(engine)
    assert [(one.memory, one.number, one.commit) for one in held] == [(identifier, 1, "")]
    expected = {
        ("text", "github-token", 1, 0), ("detail", "github-token", 1, 0), ("detail", "stripe-key", 2, 0), ("code", "password", 1, 0),
        ("because", "private", 1, 0), ("rejected", "stripe-key", 1, 0), ("anchors", "github-token", 1, 0), ("tags", "secret", 1, 0),
        ("metadata", "api-key", 1, 0),
    }  # fmt: skip
    assert places(held) == expected
    assert TOKEN not in repr(held)
    assert OTHER not in repr(held)


def test_it_is_taken_out_as_a_version_and_older_ones_are_emptied(engine: Engine) -> None:
    identifier = keep(engine, Draft(f"deploy with {TOKEN}", "lesson", "failed"))
    say_anew(engine, identifier, detail=f"or with {OTHER}")
    assert places(secrets.find(engine)) == {
        ("text", "github-token", 1, 0), ("detail", "stripe-key", 1, 0), ("text", "github-token", 1, 1),
    }  # fmt: skip
    assert secrets.take_out(engine, PERSON) == 1
    with engine.store.read() as reader:
        [memory] = reader.get([identifier])
        versions = reader.versions(identifier)
        last = reader.events(identifier)[-1]
    assert (memory.text, memory.detail) == ("deploy with [redacted:github-token]", "or with [redacted:stripe-key]")
    assert [version.content.text for version in versions] == ["", "", memory.text]
    assert (last.action, last.payload, last.version) == ("revised", "redacted", 3)
    assert secrets.find(engine) == []
    assert engine.recall(Query(TOKEN), PERSON).hits == ()


def test_a_secret_that_only_an_older_version_holds_goes_too(engine: Engine) -> None:
    identifier = keep(engine, Draft(f"deploy with {TOKEN}"))
    say_anew(engine, identifier, text="deploy with the vault")
    assert places(secrets.find(engine)) == {("text", "github-token", 1, 1)}
    assert secrets.take_out(engine, PERSON) == 1
    with engine.store.read() as reader:
        assert reader.get([identifier])[0].text == "deploy with the vault"
    assert TOKEN.encode() not in everything(os.path.dirname(engine.store.path))


def test_forgotten_memories_count(engine: Engine) -> None:
    identifier = keep(engine, Draft(f"deploy with {TOKEN}"))
    engine.forget(Filter(ids=(identifier,)), PERSON, dry_run=False)
    assert secrets.take_out(engine, PERSON) == 1
    assert secrets.find(engine) == []


@pytest.fixture(scope="session")
def rules(cache: Path) -> Path:
    """Where the compiled rules of the scanner stay."""
    return cache / "hardwon"


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    """60 secrets in their texts, of all six shapes."""
    found = [item for item in plant(20, 40) if len(item.secret) > 7 and quick_rules(item.text)[1]]
    return found[:: len(found) // (2 * KEPT)][: 2 * KEPT]


@pytest.mark.slow
def test_sixty_planted_ones_are_in_no_file_afterwards(tmp_path: Path, home: Path, rules: Path, planted: list[Planted]) -> None:
    where = tmp_path / "shop"
    where.mkdir()
    git(where, "init", "-q")
    for number, item in enumerate(planted[:KEPT]):
        (where / "a.py").write_text(f"def call_{number}():\n    return use_{TOKEN[4:-4]}_{number}\n")
        git(where, "add", ".")
        git(where, "commit", "-q", "--cleanup=verbatim", "-m", f"Change {number}\n\n{item.text}")
    made = opening.create(str(where), str(home))
    _ingest_unchecked(made)
    for item in planted[KEPT:]:
        say_anew(made, keep(made, Draft("a note", detail=item.text)), detail="replaced", because=item.text)
    made.store.checkpoint()
    stored = everything(str(home))
    assert sum(item.secret.encode() in stored for item in planted) > KEPT  # some are wrapped in lines, or escaped
    redactor = Redactor(str(rules))
    held = secrets.find(made, redactor.choose)
    assert len(held) == 2 * KEPT
    assert sum(any(found.field == "identifiers" for found in one.found) for one in held) == KEPT
    assert secrets.take_out(made, PERSON, redactor.choose) == 2 * KEPT
    assert secrets.find(made, redactor.choose) == []
    left = everything(str(home))
    assert [item for item in planted if any(line in left for line in _telling(item))] == []
    assert TOKEN[4:-4].lower().encode() not in left
    assert made.verify() == []
    made.close()


def _telling(item: Planted) -> list[bytes]:
    """What of a secret may be looked for in bytes: the whole, and its lines."""
    return [line.encode() for line in (item.secret, *item.secret.split("\n")) if len(line) > 7]


def _ingest_unchecked(engine: Engine) -> None:
    root = engine.home.checkout.root
    changes.add(engine, history.read_commits(root, refs.list_commits(root), "main"), Tally(), None, lambda _: unchecked)


def test_identifiers_of_commits_leave_the_index(bare: Path, home: Path) -> None:
    (bare / "b.py").write_text(f"use({TOKEN})\nkeep_the_rest_of_it()\n")
    git(bare, "add", ".")
    git(bare, "commit", "-qm", "Call the service")
    made = opening.create(str(bare), str(home))
    _ingest_unchecked(made)
    term = terms.word_terms(TOKEN)[-1]
    assert places(secrets.find(made)) == {("identifiers", "github-token", 1, 0)}
    with made.store.read() as reader:
        assert reader.frequencies([term]) == {term: 1}
    assert secrets.take_out(made, PERSON) == 1
    with made.store.read() as reader:
        assert reader.frequencies([term]) == {}
        [change] = reader.get(reader.lookup(git(bare, "rev-parse", "HEAD")))
        assert reader.versions(change.id) == []
    assert term.encode() not in everything(str(home))
    assert made.recall(Query("keep the rest of it"), PERSON).hits[0].memory.id == change.id
    assert made.verify() == []
    made.close()


def test_what_git_has_lost_is_rewritten_from_its_row(bare: Path, home: Path) -> None:
    git(bare, "commit", "-q", "--allow-empty", "-m", f"Rotate {TOKEN}")
    made = opening.create(str(bare), str(home))
    _ingest_unchecked(made)
    git(bare, "reset", "-q", "--hard", "HEAD~1")
    git(bare, "reflog", "expire", "--expire=now", "--all")
    git(bare, "gc", "-q", "--prune=now")
    assert places(secrets.find(made)) == {("text", "github-token", 1, 0)}
    assert secrets.take_out(made, PERSON) == 1
    assert TOKEN.encode() not in everything(str(home))
    assert made.verify() == []
    made.close()


def test_a_secret_in_hexadecimal_is_no_hash_of_a_commit(bare: Path, home: Path) -> None:
    """A message that names one is no relation to a commit of that name: the relation would keep it."""
    secret = "667d63028f2dc40d6eb7da453d1775db6e778686a26d2a46"
    first = git(bare, "rev-list", "--max-parents=0", "HEAD")
    git(bare, "commit", "-q", "--allow-empty", "-m", f"Rotate\n\nsecret_key: {secret}\nSee {first[:12]}.")
    made = opening.create(str(bare), str(home))
    _ingest_unchecked(made)
    assert {found.field for one in secrets.find(made) for found in one.found} == {"detail", "links"}
    assert secrets.take_out(made, PERSON) == 1
    assert secret.encode() not in everything(str(home))
    with made.store.read() as reader:
        [change] = reader.get(reader.lookup(git(bare, "rev-parse", "HEAD")))
        assert [link.reference for link in reader.links(change.id)] == [first[:12]]
    made.close()
    again = opening.create(str(bare), str(home / "other"))
    again.ingest_history()
    assert secrets.find(again) == []
    assert secret.encode() not in everything(str(home / "other"))
    again.close()
