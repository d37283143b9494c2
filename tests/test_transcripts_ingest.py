"""Transcripts taken in: what a session taught is kept as of then, once, and nothing that was taken out since comes back."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon.capture.event import Edit, Event
from hardwon.doors import background, handle
from hardwon.doors import transcripts as doors
from hardwon.engine import past_session, refreshing, transcripts
from hardwon.engine.freshness import is_behind, lock_of
from hardwon.errors import DiskFull
from hardwon.importers.transcripts import calls, finding, generic
from hardwon.importers.transcripts.finding import Found, Ground, Roots
from hardwon.importers.transcripts.finding import find as find_files
from hardwon.importers.transcripts.records import Tally
from hardwon.search.pack import CLOSING, OPENING
from hardwon.types import Filter, Origin, Scope
from tests import transcriptmaker as made
from tests.conftest import git
from tests.transcriptmaker import FORMS, START, Maker, client_of, edit, prompt, said, shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardwon.engine.core import Engine
    from tests.conftest import Result

REAL = Path(__file__).parent / "transcripts"
SCOPE = Scope(Origin("person"))
SESSION = "11111111-1111-4111-8111-111111111111"
MAIN = ("claude-code", "codex", "gemini", "opencode")
LESSON = "`total`: `test_shop.py::test_total` fails: assert 3 == 4"
AT = int(START.timestamp())


class Shop:
    """A repository whose total is wrong, its memory, and a home of the clients beside it."""

    def __init__(self, folder: Path, open_at: Callable[[str], Engine]) -> None:
        self.root = folder / "shop"
        self.root.mkdir()
        git(self.root, "init", "-q")
        (self.root / "shop.py").write_text("def total(cart):\n    return sum(cart)\n")
        self.commit("Start", AT - 3600)
        self.home = folder / "ann"
        self.engine = open_at(str(self.root))
        self.maker = Maker(self.home, self.root)

    def commit(self, subject: str, at: int) -> str:
        git(self.root, "add", ".")
        git(self.root, "commit", "-qm", subject, at=at)
        return git(self.root, "rev-parse", "HEAD")

    @property
    def roots(self) -> Roots:
        home = self.home
        return Roots(
            (str(home / ".claude"),), str(home / ".codex"), str(home / ".gemini"), str(home / ".local" / "share" / "opencode")
        )

    def ingest(self, *, dry: bool = False) -> transcripts.TranscriptReport:
        return self.engine.ingest_transcripts(self.engine.find_transcripts(self.roots, made.FORMS), dry_run=dry)

    def memories(self, **where: Any) -> list[Any]:
        with self.engine.store.read() as reader:
            return sorted(reader.find(Filter(derived=False, **where), 1000), key=lambda one: one.number or 0)

    def events(self) -> int:
        return self.engine.figures()["events"]


@pytest.fixture
def shop(tmp_path: Path, open_at: Callable[[str], Engine]) -> Shop:
    return Shop(tmp_path, open_at)


def only(report: transcripts.TranscriptReport) -> transcripts.ClientReport:
    (client,) = report.clients
    return client


# --- what is kept


@pytest.mark.parametrize("form", [one for one in FORMS if one != "transcript"])
def test_a_session_becomes_a_lesson_and_a_summary_as_of_then(form: str, shop: Shop) -> None:
    shop.maker.write(form, made.fix(shop.root), SESSION)
    report = only(shop.ingest())
    lesson, summary = shop.memories()
    assert (report.created, report.sessions, report.known) == ({"lesson": 1, "summary": 1}, 1, 0)
    assert (lesson.kind, lesson.outcome, lesson.text) == ("lesson", "failed", LESSON)
    assert (summary.kind, summary.tags) == ("summary", ("session",))
    assert "Asked: Make the test of the total pass, please." in summary.text
    assert "FAILED test_shop.py::test_total" in lesson.detail
    for one in (lesson, summary):
        assert one.origin == Origin("agent", client_of(form), SESSION, "transcript")
        assert one.trust == "claimed"
        if form != "codex-first":
            assert AT * 1000 < one.created_at < (AT + 120) * 1000
    assert [(anchor.path, anchor.symbol) for anchor in lesson.anchors] == [("shop.py", "total")]
    with shop.engine.store.read() as reader:
        (occurrence,) = reader.occurrences(lesson.id)
    assert occurrence.at == lesson.created_at
    assert shop.engine.verify() == []


def test_a_lesson_stands_on_the_commit_of_its_branch_and_the_code_that_came_of_it(shop: Shop) -> None:
    first = git(shop.root, "rev-parse", "HEAD")
    (shop.root / "shop.py").write_text("def total(cart):\n    return sum(cart) + 1\n")
    second = shop.commit("Mend the total", AT + 600)
    (shop.root / "shop.py").write_text("def total(cart):\n    return sum(cart) + 2\n")
    shop.commit("Mend it again", AT + 7200)
    shop.engine.refresh_code()
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    shop.ingest()
    lesson, _ = shop.memories()
    assert (lesson.branch, lesson.commit) == ("main", first)
    assert [(anchor.commit, anchor.blob) for anchor in lesson.anchors] == [
        (second, git(shop.root, "rev-parse", f"{second}:shop.py"))
    ]


def test_what_was_decided_anew_replaces_what_was_decided_before(shop: Shop) -> None:
    steps = [
        prompt("Let's use Redis for the sessions because it is fast."), said("Done."),
        prompt("Actually, let's use SQLite for the sessions instead of Redis because the server has no Redis."),
        edit(str(shop.root / "shop.py"), "    return sum(cart)", "    return sum(cart) + 1"),
    ]  # fmt: skip
    shop.maker.write("claude-code", steps, SESSION)
    shop.ingest()
    found = shop.memories(kinds=("decision",))
    decisions = {one.text: one.status for one in found}
    assert {one.trust for one in found} == {"claimed"}
    assert len(decisions) == 2
    assert [status for text, status in decisions.items() if "SQLite" in text] == ["active"]
    assert [status for text, status in decisions.items() if "SQLite" not in text] == ["replaced"]


def test_edits_outside_the_repository_teach_nothing_here(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix("/somewhere/else"), SESSION)
    shop.ingest()
    assert [one.kind for one in shop.memories()] == []
    assert not [anchor for one in shop.memories() for anchor in one.anchors]


def test_a_session_in_a_worktree_is_about_the_files_of_the_repository(shop: Shop) -> None:
    tree = shop.root.parent / "tree"
    git(shop.root, "worktree", "add", "-q", str(tree), "-b", "fix")
    Maker(shop.home, tree, "fix").write("claude-code", made.fix(tree), SESSION)
    shop.ingest()
    lesson = shop.memories(kinds=("lesson",))[0]
    assert ([(anchor.path, anchor.symbol) for anchor in lesson.anchors], lesson.branch) == ([("shop.py", "total")], "fix")


@pytest.mark.parametrize(
    "command",
    [
        "git worktree add ../gone -b fix origin/main",
        "git fetch -q && git worktree add -b fix {gone}",
        "bash -lc 'cd .. && git -C shop worktree add --detach ../gone HEAD && cd gone && npm ci'",
    ],
)
def test_a_session_in_a_worktree_that_it_made_and_that_is_gone_is_about_the_files_of_the_repository(
    command: str, shop: Shop
) -> None:
    gone = shop.root.parent / "gone"
    steps = [made.shell(command.format(gone=gone)), *made.fix(gone)]
    shop.maker.write("claude-code", steps, SESSION)
    shop.ingest()
    lesson = shop.memories(kinds=("lesson",))[0]
    assert [(anchor.path, anchor.symbol) for anchor in lesson.anchors] == [("shop.py", "total")]


@pytest.mark.parametrize(
    "command",
    ["cd {other} && git worktree add {gone} -b fix", "git -C {other} worktree add {gone}", "git worktree add --help", "git worktree list",
     "git worktree add $TREE", "cd $SOMEWHERE && git worktree add {gone}", "echo git worktree add {gone}"],
)  # fmt: skip
def test_a_worktree_of_another_repository_is_none_of_this_one(command: str, shop: Shop) -> None:
    other, gone = shop.root.parent / "other", shop.root.parent / "gone"
    shop.maker.write("claude-code", [made.shell(command.format(other=other, gone=gone)), *made.fix(gone)], SESSION)
    shop.ingest()
    assert shop.memories(kinds=("lesson",)) == []


def test_a_worktree_that_a_person_refused_is_none(shop: Shop) -> None:
    gone = shop.root.parent / "gone"
    refused = made.Step("denied", "git worktree add ../gone")
    shop.maker.write("claude-code", [refused, *made.fix(gone)], SESSION)
    shop.ingest()
    assert shop.memories(kinds=("lesson",)) == []


def test_a_command_is_placed_in_the_folder_that_its_call_names(tmp_path: Path) -> None:
    call = calls.begun("exec_command", {"cmd": "make test", "workdir": "/srv/shop/api"}, "c1")
    assert (call["tool"], call["cwd"]) == ("shell", "/srv/shop/api")
    assert "cwd" not in calls.begun("exec_command", {"cmd": "make test", "workdir": "api"}, "c1")
    record = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": {"command": "x", "cwd": "/b"}}}],
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "go", "cwd": "/a"}) + "\n" + json.dumps(record) + "\n")
    assert [event.cwd for event in generic.read(str(path), Tally(), 1)] == ["/a", "/a", "/b"]


def test_subagents_and_parallel_files_of_a_session_are_one_fold(shop: Shop) -> None:
    steps = made.fix(shop.root)
    shop.maker.write("claude-code", [*steps[:3]], SESSION)
    shop.maker.write("claude-code", steps[3:5], SESSION, agent="a1", start=START.replace(minute=30))
    report = only(shop.ingest())
    assert report.created == {"lesson": 1, "summary": 1}


def test_the_same_mistake_in_sessions_of_the_real_clients_is_one_lesson(shop: Shop, tmp_path: Path) -> None:
    gemini = tmp_path / "gemini"
    gemini.mkdir()
    (gemini / "tmp").symlink_to(REAL / "gemini-0.61.0" / "tmp")
    (gemini / "projects.json").write_text(json.dumps({"projects": {"/home/ann/shop": "shop"}}))
    codex = tmp_path / "codex"
    shutil.copytree(REAL / "codex-0.171.0", codex)
    shutil.copytree(REAL / "codex-0.171.0-scripts", codex, dirs_exist_ok=True)
    here = Roots((str(REAL / "claude-code-2.1.332"),), str(codex), str(gemini), str(REAL / "opencode-1.18.33"))
    (shop.root / "shop.py").write_text("def total(cart):\n    return sum(cart) + 1\n")
    shop.engine.refresh_code()
    found = find_files(Ground(("/home/ann/shop",)), here)
    report = shop.engine.ingest_transcripts(found)
    assert [(one.client, one.sessions, one.unknown, one.broken) for one in report.clients] == [
        ("claude-code", 1, {}, 0), ("codex", 2, {}, 0), ("gemini", 1, {}, 0), ("opencode", 1, {}, 0),
    ]  # fmt: skip
    (lesson,) = shop.memories(kinds=("lesson",))
    assert (lesson.text, lesson.seen) == (LESSON, 5)
    assert [(anchor.path, anchor.symbol) for anchor in lesson.anchors] == [("shop.py", "total")]
    assert len(shop.memories(kinds=("summary",))) == 5


# --- once


@pytest.mark.parametrize("form", MAIN)
def test_the_same_file_again_adds_nothing_and_a_grown_one_goes_on(form: str, shop: Shop) -> None:
    steps = made.fix(shop.root)
    shop.maker.write(form, steps[:3], SESSION)
    first = only(shop.ingest())
    assert "lesson" not in first.created
    shop.maker.write(form, steps, SESSION)
    second = only(shop.ingest())
    assert second.created.get("lesson") == 1
    before, events = shop.memories(), shop.events()
    third = only(shop.ingest())
    assert (third.sessions, third.unchanged) == (0, 1)
    assert (shop.memories(), shop.events()) == (before, events)
    assert len([one for one in before if one.kind == "summary"]) == 1


def touched(shop: Shop, number: int) -> None:
    for folder, _, names in os.walk(shop.home):
        for name in names:
            os.utime(os.path.join(folder, name), (AT + number, AT + number))


@pytest.mark.parametrize("times", [8, pytest.param(1000, marks=pytest.mark.slow)])
def test_r55_any_number_of_imports_of_one_transcript_is_one(times: int, shop: Shop) -> None:
    shop.maker.write("claude-code", [*made.fix(shop.root), *made.fix(shop.root)[1:]], SESSION)
    shop.ingest()
    before, events, path = shop.memories(), shop.events(), shop.engine.store.path
    shop.engine.store.checkpoint(30.0)
    size = os.path.getsize(path)
    for number in range(times):
        touched(shop, number)  # else it would not be read again
        report = only(shop.ingest())
        assert (report.sessions, report.created, report.repeated) == (1, {}, 0)
    assert (shop.memories(), shop.events()) == (before, events)
    assert os.path.getsize(path) == size
    assert shop.engine.verify() == []


def test_a_transcript_without_times_is_taken_in_once_too(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    words = (
        "We decided to use SQLite for the cache because it needs no server.", "Fine.",
        "We decided to use tabs in the Makefile because make wants them.", "Fine.",
        "We decided to drop Python 3.9 because nobody uses it.",
    )  # fmt: skip
    roles = ("user", "assistant") * 3

    def ingest(upto: int) -> transcripts.ClientReport:
        lines = [{"role": role, "content": text} for role, text in zip(roles, words[:upto], strict=False)]
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        os.utime(path, (AT, AT))
        found = tuple(finding.named(str(path), Ground((str(shop.root),))))
        return only(shop.engine.ingest_transcripts(Found(found)))

    assert ingest(3).created["decision"] == 2
    assert ingest(5).created["decision"] == 1
    os.utime(path, (AT + 5, AT + 5))
    assert only(shop.engine.ingest_transcripts(Found(tuple(finding.named(str(path), Ground((str(shop.root),))))))).created == {}
    assert [one.seen for one in shop.memories(kinds=("decision",))] == [1, 1, 1]


def test_a_session_that_went_on_in_another_file_is_not_told_twice(shop: Shop) -> None:
    records = shop.maker.claude_records(made.fix(shop.root), SESSION)
    folder = shop.home / ".claude" / "projects" / "".join(c if c.isascii() and c.isalnum() else "-" for c in str(shop.root))
    folder.mkdir(parents=True)
    for session in (SESSION, SESSION.replace("1111-", "2222-", 1)):
        copied = [one | {"sessionId": session} for one in records]
        (folder / f"{session}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in copied))
    shop.ingest()
    (lesson,) = shop.memories(kinds=("lesson",))
    assert lesson.seen == 1


def test_two_sessions_that_failed_alike_are_two_occurrences_in_their_order(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION, start=START.replace(day=9))
    shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", "2"), start=START.replace(day=6))
    shop.ingest()
    (lesson,) = shop.memories(kinds=("lesson",))
    with shop.engine.store.read() as reader:
        clients = [one.origin.client for one in reader.occurrences(lesson.id)]
    assert (lesson.seen, sorted(clients)) == (2, ["claude-code", "codex"])
    assert lesson.updated_at == max(lesson.created_at, lesson.updated_at)
    assert shop.engine.verify() == []


def test_a_run_that_was_stopped_keeps_what_it_read_and_the_next_one_goes_on(shop: Shop) -> None:
    for number in range(4):
        shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", str(number)), start=START.replace(day=number + 1))

    def stop(done: int, of: int) -> None:
        if done >= of // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shop.engine.ingest_transcripts(shop.engine.find_transcripts(shop.roots, ("codex",)), stop)
    assert 0 < len(shop.memories(kinds=("summary",))) < 4
    report = only(shop.ingest())
    assert (report.unchanged > 0, len(shop.memories(kinds=("summary",)))) == (True, 4)
    assert shop.memories(kinds=("lesson",))[0].seen == 4


# --- beside hooks


def live(shop: Shop, *, upto: int | None = None, change: Callable[[Event], Event] = lambda event: event) -> None:
    """The same session, told by hooks as it went on; ``change``: as they tell an event."""
    shop.engine.clock = lambda: now[0]
    now = [AT * 1000]
    found = find_files(Ground((str(shop.root),)), shop.roots).transcripts
    from hardwon.importers.transcripts import reading
    from hardwon.importers.transcripts.records import Tally

    for event in list(reading.read(found[0], Tally()))[:upto]:
        now[0] = event.at + 400
        shop.engine.on_event(change(event), Scope(Origin("agent", event.client, event.session, "hook")))


@pytest.mark.parametrize(
    ("form", "session"),
    [("claude-code", SESSION), ("codex", SESSION), ("gemini", SESSION), ("opencode", "ses_dd36cddfcffezy1LlguD1RPu2Q")],
)
def test_what_hooks_recorded_is_not_doubled(form: str, session: str, shop: Shop) -> None:
    shop.maker.write(form, made.fix(shop.root), session)
    live(shop)
    shop.engine.on_event(Event("end", form, session, AT * 1000 + 60_000), SCOPE)
    before = shop.memories()
    assert [one.kind for one in before] == ["lesson", "summary"]
    report = only(shop.ingest())
    after = shop.memories()
    assert report.created == {}
    assert [(one.text, one.seen) for one in after] == [(one.text, one.seen) for one in before]


def test_what_hooks_knew_by_another_name_is_not_doubled_either(shop: Shop) -> None:
    steps = made.fix(shop.root)
    steps[3] = edit(str(shop.root / "shop.py"), "    return sum(cart)", "    return sum(cart) + 1")  # names no symbol itself
    shop.maker.write("claude-code", steps, SESSION)
    (shop.root / "shop.py").write_text("def whole(cart):\n    return sum(cart) + 1\n")
    shop.engine.refresh_code()
    live(shop)
    (shop.root / "shop.py").write_text("def total(cart):\n    return sum(cart) + 1\n")
    shop.engine.refresh_code()
    before = [(one.text, one.seen) for one in shop.memories(kinds=("lesson",))]
    shop.ingest()
    assert [(one.text, one.seen) for one in shop.memories(kinds=("lesson",))] == before


def test_what_hooks_missed_is_added(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    live(shop, upto=5)
    assert shop.memories(kinds=("lesson",)) == []
    assert only(shop.ingest()).created["lesson"] == 1


# --- at a refresh


MINUTES = 60_000
BUILD = [
    prompt("Make it build, please."),
    shell("make build", "shop.py:3:7: error: 'value' undeclared\nmake: *** [build] Error 1", 2),
    edit("shop.py", "def total(cart):\n    return sum(cart)", "def total(cart):\n    return sum(cart) + 1"),
    shell("make build", "done"),
]


def without_codes(event: Event) -> Event:
    """The event as Codex tells it to hooks: no exit code."""
    told: Event = event.replace(ended="unknown", exit_code=None) if event.command else event
    return told


def test_a_refresh_adds_what_only_the_file_of_a_session_tells(shop: Shop) -> None:
    shop.maker.write("codex", BUILD, SESSION)
    live(shop, change=without_codes)
    assert shop.memories(kinds=("lesson",)) == []
    later(shop, 11 * MINUTES)
    assert is_behind(shop.engine)
    report = shop.engine.refresh(roots=shop.roots).transcripts
    assert only(report).created["lesson"] == 1
    assert "undeclared" in shop.memories(kinds=("lesson",))[0].text
    assert only(shop.engine.refresh(roots=shop.roots).transcripts).unchanged == 1


def test_a_refresh_reads_no_session_that_hooks_have_not_heard(shop: Shop) -> None:
    shop.maker.write("codex", made.fix(shop.root), SESSION)
    live(shop)
    shop.maker.write("codex", BUILD, "22222222-2222-4222-8222-222222222222")
    shop.maker.write("claude-code", BUILD, "33333333-3333-4333-8333-333333333333")
    later(shop, 11 * MINUTES)
    assert only(shop.engine.refresh(roots=shop.roots).transcripts).sessions == 1
    assert len(shop.memories(kinds=("summary",))) == 1


def test_a_refresh_leaves_a_session_alone_that_goes_on_or_is_long_over(shop: Shop) -> None:
    shop.maker.write("codex", BUILD, SESSION)
    live(shop, change=without_codes)
    for after in (MINUTES, 8 * 24 * 60 * MINUTES):
        later(shop, after)
        assert shop.engine.refresh(roots=shop.roots).transcripts.clients == ()
    later(shop, 11 * MINUTES)
    assert shop.engine.refresh().transcripts.clients == ()  # whoever names no folders has none read


def later(shop: Shop, milliseconds: int) -> None:
    now = AT * 1000 + 60_000 + milliseconds
    shop.engine.clock = lambda: now
    os.utime(lock_of(shop.engine), (0, 0)) if os.path.exists(lock_of(shop.engine)) else None


@pytest.mark.parametrize("verb", ["forget", "reject", "erase"])
def test_what_was_taken_out_stays_out(verb: str, shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    shop.ingest()
    (lesson,) = shop.memories(kinds=("lesson",))
    if verb == "reject":
        shop.engine.reject(lesson.id, SCOPE)
    elif verb == "forget":
        shop.engine.forget(Filter(ids=(lesson.id,)), SCOPE, dry_run=False)
    else:
        shop.engine.erase(Filter(ids=(lesson.id,)), "wrong", SCOPE, dry_run=False)
    # Read again, copied to another session, and told by another client.
    touched(shop, 1)
    shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", "2"), start=START.replace(day=6))
    shop.ingest()
    assert shop.memories(kinds=("lesson",), statuses=("active",)) == []


def test_what_is_resolved_stays_so_when_something_older_is_told(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    shop.ingest()
    (lesson,) = shop.memories(kinds=("lesson",))
    shop.engine.set_status(lesson.id, "resolved", SCOPE)
    shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", "2"), start=START.replace(day=1))
    shop.ingest()
    (after,) = shop.memories(kinds=("lesson",))
    assert (after.status, after.seen, after.detail) == ("resolved", 2, lesson.detail)


def test_a_persons_words_are_not_changed_by_a_transcript(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    shop.ingest()
    (lesson,) = shop.memories(kinds=("lesson",))
    shop.engine.approve(lesson.id, SCOPE)
    shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", "2"), start=START.replace(year=2027))
    shop.ingest()
    (after,) = shop.memories(kinds=("lesson",))
    assert (after.trust, after.detail, after.seen) == ("confirmed", lesson.detail, 2)


def test_what_a_session_taught_is_forgotten_by_its_session(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    shop.ingest()
    assert len(shop.engine.forget(Filter(session=SESSION), SCOPE, dry_run=False).ids) == 2
    touched(shop, 1)
    report = only(shop.ingest())
    assert report.created == {}
    assert shop.memories(statuses=("active",)) == []


# --- nothing of ours


OURS = "never add one to the total by hand"
BLOCK = f"{OPENING}\n[#12 · lesson failed · claimed] `total`: {OURS}\n{CLOSING}"


@pytest.mark.parametrize("form", MAIN)
def test_nothing_that_we_put_into_a_session_or_ran_in_it_is_kept(form: str, shop: Shop) -> None:
    first, run, red, mend, green, last = made.fix(shop.root)
    steps = [
        prompt(f"{BLOCK}\n{first.text} {BLOCK}"), made.hook(BLOCK), said(f"{run.text}\n{BLOCK}"),
        made.tool("mcp__hardwon__before", OURS, f"We decided: {OURS}. {BLOCK}"),
        shell(f"hardwon fail total '{OURS}'", f"x recorded: total - {OURS}", 1),
        shell(red.text, f"{BLOCK}\n{red.output}\n{BLOCK}", 1), edit(mend.path, f"{mend.old}\n# {BLOCK}", f"{mend.text}\n# {BLOCK}"),
        shell(f"hardwon ok total '{OURS}'", OURS), shell(green.text, f"{green.output}{BLOCK}"), said(f"{last.text} {BLOCK}"),
        prompt(f"No, that's wrong. {BLOCK}"),
    ]  # fmt: skip
    shop.maker.write(form, steps, SESSION)
    assert only(shop.ingest()).created.get("lesson") == 1
    for one in shop.memories():
        said_of_it = " ".join((one.text, one.detail, one.code, one.because, *one.rejected, *one.tags))
        assert OURS not in said_of_it
        assert "hardwon" not in said_of_it


# --- secrets


PLANTED = (
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "AKIA" + "IOSFODNN7EXAMPL2",
    "xoxb-" + "123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    "s3cr3t-Pa55w0rd-9f8e7d",
)


def planted(shop: Shop, padding: int) -> list[made.Step]:
    github, aws, slack, password = PLANTED
    first, run, red, mend, green, last = made.fix(shop.root)
    noise = "".join(f"line {number} of a log that goes on\n" for number in range(padding))
    return [
        prompt(f"{first.text} Never use the token {github}, always use the one of the vault."),
        said(f"{run.text} We decided to use password = {password} because the other was lost."),
        shell(f"curl -H 'Authorization: Bearer {github}' https://api.example.org", f"{noise}aws_access_key_id = {aws}\n", 1),
        shell(f"SLACK_TOKEN={slack} {red.text}", f"{noise}{red.output}E       token {slack}\npassword = {password}\n", 1),
        edit(mend.path, mend.old, f"{mend.text}  # {aws}"), shell(f"SLACK_TOKEN={slack} {green.text}", green.output),
        prompt(f"No, that's wrong: don't hard-code {aws} here."), said(f"{last.text} The key {github} is gone."),
    ]  # fmt: skip


@pytest.mark.parametrize("padding", [200, pytest.param(60_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", ["claude-code", "codex"])
def test_r59_no_planted_secret_is_durable_anywhere(form: str, padding: int, shop: Shop, home: Path) -> None:
    path = shop.maker.write(form, planted(shop, padding), SESSION)
    if padding > 200:
        assert path.stat().st_size > 4 << 20
    report = only(shop.ingest())
    assert report.created.get("lesson") == 1
    assert shop.memories(kinds=("rule", "decision", "attempt"))
    shop.engine.close()
    for folder, _, names in os.walk(home):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                raw = file.read()
            assert not [secret for secret in PLANTED if secret.encode() in raw], name


# --- dry, and in words


def test_a_dry_run_counts_the_same_and_writes_nothing(shop: Shop) -> None:
    for number, form in enumerate(("claude-code", "codex", "gemini", "opencode")):
        shop.maker.write(form, made.fix(shop.root), SESSION.replace("1", str(number)))
    before = shop.events()
    dry = shop.ingest(dry=True)
    assert (shop.memories(), shop.events()) == ([], before)
    wet = shop.ingest()
    assert [one.replace() for one in dry.clients] == list(wet.clients)
    assert shop.memories(kinds=("lesson",))[0].seen == 4


def test_an_unreadable_file_is_told_and_the_others_are_read(shop: Shop) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    found = shop.engine.find_transcripts(shop.roots, ("claude-code",))
    gone = found.transcripts[0].replace(paths=(str(shop.home / "gone.jsonl"),), session="s2")
    report = shop.engine.ingest_transcripts(Found((gone, *found.transcripts)))
    assert [name for name, _ in report.unreadable] == [str(shop.home / "gone.jsonl")]
    assert only(report).created == {"lesson": 1, "summary": 1}


def test_a_session_that_nobody_foresaw_costs_itself_alone_and_is_tried_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    odd = SESSION.replace("1", "2")
    shop.maker.write("claude-code", [prompt("Odd. secret-words"), *made.fix(shop.root)], odd)
    shop.maker.write("codex", made.fix(shop.root), SESSION.replace("1", "3"))
    told = past_session.step

    def step(state: Any, event: Event, naming: Any) -> Any:
        if event.moment == "prompt" and event.text.startswith("Odd."):
            raise IndexError(event.text)
        return told(state, event, naming)

    with monkeypatch.context() as patched:
        patched.setattr(past_session, "step", step)
        report = shop.ingest()
    first, second = report.clients
    assert (first.sessions, first.failed, second.sessions, second.failed, report.failed) == (1, 1, 1, 0, 1)
    (path, why) = report.unreadable[0]
    assert odd in path and "IndexError in hardwon.engine.past_session:" in why and "secret-words" not in why
    again = shop.ingest()
    assert [(one.sessions, one.unchanged, one.failed) for one in again.clients] == [(1, 1, 0), (0, 1, 0)]


def test_a_session_that_fails_while_it_is_kept_leaves_nothing_of_itself(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)
    with monkeypatch.context() as patched:
        patched.setattr(transcripts, "summary_name", lambda *_: {}["odd"])
        report = only(shop.ingest())
    assert (report.failed, report.sessions, report.created, shop.memories()) == (1, 0, {}, [])
    assert only(shop.ingest()).created == {"lesson": 1, "summary": 1}


def test_an_error_of_the_store_ends_the_run(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.maker.write("claude-code", made.fix(shop.root), SESSION)

    def full(*_: object) -> str:
        raise DiskFull("no room")

    monkeypatch.setattr(transcripts, "summary_name", full)
    with pytest.raises(DiskFull):
        shop.ingest()


def test_a_declaration_that_is_replaced_by_blank_lines_is_an_edit_like_another(shop: Shop) -> None:
    steps = made.fix(shop.root)
    blank = edit(str(shop.root / "shop.py"), "def old():\n    pass\n\ndef older():\n    pass\n", "\n")
    shop.maker.write("claude-code", [*steps[:3], blank, *steps[3:]], SESSION)
    assert only(shop.ingest()).created["lesson"] == 1


@pytest.fixture
def clients(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    """A home of the clients beside a project."""
    home = tmp_path / "ann"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    (project / "shop.py").write_text("def total(cart):\n    return sum(cart) + 1\n")
    return Maker(home, project)


def test_the_verb_tells_what_came_of_it(project: Path, call: Callable[..., Result], clients: Maker) -> None:
    clients.write("claude-code", made.fix(project), SESSION)
    clients.write("opencode", made.fix(project), "ses_dd36cddfcffezy1LlguD1RPu2Q")
    dry = call("ingest", "transcripts", "--dry-run")
    assert dry.out.splitlines() == [
        "claude-code: 1 session, 10 events: would teach 1 summary, 1 that happened again",
        "opencode: 1 session, 10 events: would teach 1 lesson, 1 summary", "nothing was written",
    ]  # fmt: skip
    only_one = call("ingest", "transcripts", "--client", "claude-code", "--json").data
    assert [one["client"] for one in only_one["clients"]] == ["claude-code"]
    assert only_one["clients"][0]["created"] == {"lesson": 1, "summary": 1}
    assert call("ingest", "transcripts").out.splitlines()[0] == "claude-code: 0 sessions, 0 events; 1 read before"
    assert "total" in call("query", "total").out


def test_what_claude_code_noted_itself_comes_in_as_an_import_and_no_other_repositorys(
    project: Path, call: Callable[..., Result], clients: Maker
) -> None:
    assert call("ingest", "notes").out == "no client keeps notes of this repository here\n"
    session = clients.write("claude-code", made.fix(project), SESSION)
    memory = session.parent / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text("# Memory\n\n- [decision] Totals are in cents\n")
    done = call("ingest", "notes", "--json").data
    assert (done["folders"], done["new"]) == ([str(memory)], 1)
    assert call("recall", "are totals in cents", "--json").data["hits"][0]["memory"]["trust"] == "imported"
    assert call("ingest", "notes", "--json").data["new"] == 0
    # The same name of a folder, and another repository: /a/shop-x and /a/shop/x are one to Claude Code.
    session.write_text(session.read_text().replace(str(project), "/elsewhere"))
    assert call("ingest", "notes", "--json").data["folders"] == []


def test_a_named_file_is_taken_in_whatever_it_is_called(project: Path, call: Callable[..., Result], clients: Maker) -> None:
    path = clients.write("transcript", made.fix(project), "mine")
    done = call("ingest", "transcripts", str(path))
    assert done.out == "transcript: 1 session, 10 events: taught 1 lesson, 1 summary\n"
    refused = call("ingest", "transcripts", str(project / "shop.py"))
    assert (refused.code, "is no transcript" in refused.err) == (2, True)


def test_a_named_file_that_is_no_transcript_is_passed_over_and_told(
    project: Path, call: Callable[..., Result], clients: Maker
) -> None:
    path = clients.write("transcript", made.fix(project), "mine")
    done = call("ingest", "transcripts", str(project / "shop.py"), str(path), str(project / "gone.jsonl"))
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[0] == "transcript: 1 session, 10 events: taught 1 lesson, 1 summary"
    wrong = done.out.splitlines()[1:]
    assert ["is no transcript" in wrong[0], "gone.jsonl" in wrong[1]] == [True, True] and len(wrong) == 2
    assert call("ingest", "transcripts", str(path)).code == 0
    both = call("ingest", "transcripts", str(project / "shop.py"), str(project / "gone.jsonl"))
    assert (both.code, "is no transcript" in both.err) == (2, True)


def test_an_error_of_ours_makes_the_verb_and_a_refresh_fail_and_status_tell(
    project: Path, call: Callable[..., Result], clients: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients.write("claude-code", made.fix(project), SESSION)
    monkeypatch.setattr(past_session, "step", lambda *_: {}["odd"])
    done = call("ingest", "transcripts")
    assert (done.code, "KeyError in " in done.out) == (1, True)
    assert done.out.splitlines()[0].startswith("claude-code: 0 sessions")
    monkeypatch.setattr(refreshing, "heard", transcripts.find)
    monkeypatch.setattr(background, "detach", lambda: True)
    refreshed = call("refresh")
    assert (refreshed.code, "KeyError in " in refreshed.out) == (1, True)
    unseen = call("refresh", "--background")
    assert (unseen.code, unseen.out) == (1, "")
    assert "KeyError in " in call("status").out


def test_init_says_what_it_found_and_reads_nothing_unasked(
    bare: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    Maker(tmp_path / "ann", bare).write("claude-code", made.fix(bare), SESSION)
    done = call("init", cwd=bare)
    assert "1 session of agents in this repository (1 of claude-code) can be read: hardwon ingest transcripts" in done.out
    assert call("init", "--json", cwd=bare).data["transcripts"] == 1
    assert call("ingest", "transcripts", "--dry-run", cwd=bare).out.startswith("claude-code: 1 session, 10 events: would teach")


@pytest.mark.parametrize(("answer", "read"), [("y", True), ("", False), ("n", False)])
def test_a_person_at_a_terminal_is_asked_by_init(
    answer: str, read: bool, bare: Path, call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(handle.Call, "can_ask", lambda self: True)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or answer)
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    Maker(tmp_path / "ann", bare).write("claude-code", made.fix(bare), SESSION)
    done = call("init", cwd=bare)
    assert [question for question in asked if "1 session of agents in this repository (1 of claude-code)" in question]
    assert ("claude-code: 1 session, 10 events: taught 1 lesson, 1 summary" in done.out) == read
    assert ("hardwon ingest transcripts" in done.out) != read


def test_python_has_it_too(project: Path, call: Callable[..., Result], clients: Maker) -> None:
    import hardwon

    path = clients.write("codex", made.fix(project), SESSION)
    with hardwon.open(str(project)) as memory:
        dry = memory.ingest_transcripts(clients=["codex"], dry_run=True)
        assert [(one.client, dict(one.created)) for one in dry.clients] == [("codex", {"lesson": 1, "summary": 1})]
        assert memory.ingest_transcripts(clients=["gemini"]).clients == ()
        assert memory.ingest_transcripts(str(path)).clients[0].sessions == 1
        with pytest.raises(hardwon.errors.InvalidInput, match="of one client"):
            memory.ingest_transcripts(str(path), clients=["codex", "gemini"])


def test_no_sessions_is_said(project: Path, call: Callable[..., Result], clients: Maker) -> None:
    shutil.rmtree(clients.home)
    assert call("ingest", "transcripts").out == "no sessions of agents were found for this repository\n"


def test_an_edit_is_moved_with_its_target(shop: Shop) -> None:
    places = past_session.Places(Ground((str(shop.root), "/wt/fix")), "/wt/fix")
    event = Event(
        "after",
        "codex",
        "s",
        1,
        cwd="/wt/fix/api",
        edits=(Edit("a.py", kind="move", target="../b.py"), Edit("/etc/passwd")),
        tool="edit",
    )
    moved = places.moved(event)
    assert (moved.cwd, [(one.path, one.target) for one in moved.edits]) == (
        f"{shop.root}/api", [(f"{shop.root}/api/a.py", f"{shop.root}/b.py"), ("/etc/passwd", "")],
    )  # fmt: skip


def test_counts_are_told_in_the_number_that_they_have() -> None:
    one = transcripts.ClientReport(
        "codex", 1, events=1, redacted=1, unknown={"odd": 1}, broken=1, too_long=1, cut=1, rewound=1, created={"summary": 1}
    )
    (line,) = doors.lines(transcripts.TranscriptReport((one,)))
    assert line == (
        "codex: 1 session, 1 event: taught 1 summary (1 secret taken out; 1 record taken back by a person; 1 broken line; 1 line too long; "
        "1 file not finished; 1 record of an unknown kind (odd))"
    )
    two = transcripts.ClientReport(
        "codex", 2, events=2, redacted=2, unknown={"odd": 1, "more": 1}, broken=2, too_long=2, cut=2, rewound=2
    )
    (line,) = doors.lines(transcripts.TranscriptReport((two,)))
    assert line == (
        "codex: 2 sessions, 2 events: taught nothing new (2 secrets taken out; 2 records taken back by a person; 2 broken lines; "
        "2 lines too long; 2 files not finished; 2 records of unknown kinds (odd, more))"
    )


def test_a_subagent_between_red_and_green_is_heard_of(shop: Shop) -> None:
    red = "FAILED test_shop.py::test_total - ValueError: bad day\n1 failed, 2 passed in 0.12s\n"
    steps = [shell("pytest -q", red, 1), shell("ls", ""), shell("pytest -q", "3 passed in 0.12s\n")]
    path = shop.maker.write("claude-code", steps, SESSION)
    assert only(shop.ingest(dry=True)).created == {"fact": 1}
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records[2]["message"]["content"][0] |= {"name": "Task", "input": {"prompt": "Mend it"}}
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert only(shop.ingest()).created == {}
    assert shop.memories() == []


def test_what_a_subagent_beside_its_session_taught_is_taken_in_once(shop: Shop) -> None:
    steps = made.fix(shop.root)
    own = shop.maker.write("claude-code", [prompt("Let an agent mend it"), said("It does.")], SESSION)
    aside = own.rename(shop.home / "own.jsonl")
    agent = shop.maker.write("claude-code", steps, SESSION, agent="a1")
    agent = agent.rename(own.parent / agent.name)
    first = only(shop.ingest())  # its session's file is gone
    assert (first.sessions, first.created["lesson"]) == (1, 1)
    aside.rename(own)
    second = only(shop.ingest())
    assert (second.sessions, second.unchanged, second.created.get("lesson", 0)) == (1, 0, 0)
    third = only(shop.ingest())
    assert (third.sessions, third.unchanged) == (0, 1)
    with agent.open("a") as file:
        file.write(json.dumps(shop.maker.claude_records([said("Done.")], SESSION, "a1")[0]) + "\n")
    assert only(shop.ingest()).created == {}
    assert [one.text for one in shop.memories(kinds=("lesson",))] == [LESSON]
    assert {one.origin.session for one in shop.memories()} == {SESSION}
