"""An agent's session, told moment by moment: what it hears, what is refused, and what the memory keeps of it."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil

import hypothesis
import pytest
from hypothesis import strategies as st

from hardwon.capture.changed_lines import differing
from hardwon.capture.command_name import names
from hardwon.capture.event import Edit, Event
from hardwon.engine import capturing
from hardwon.engine.session_file import heartbeats
from hardwon.search.pack import OPENING, TAG
from hardwon.store.lock import FileLock
from hardwon.store.sessions.reads import Waiting
from hardwon.types import Anchor, Draft, Origin, Scope
from tests.sessionground import CODE, DAY, GREEN, RED, VALIDATE, SessionGround

PERSON = Scope(Origin("person"))
AT_VALIDATE = {"tool": "edit", "tool_name": "Edit", "edits": (VALIDATE,)}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the repository and its memory, and what was in it at the beginning."""
    folder = tmp_path_factory.mktemp("ground")
    made = SessionGround(folder / "at")
    made.close()
    shutil.copytree(folder / "at", folder / "before", symlinks=True)
    return folder


@pytest.fixture
def ground(place):
    """The same at each test: it is known by its path, so it is put back and not copied to another."""
    shutil.rmtree(place / "at")
    shutil.copytree(place / "before", place / "at", symlinks=True)
    made = SessionGround(place / "at", make=False)
    yield made
    made.close()


def said(advice) -> str:
    return advice.block.block if advice.block else ""


# --- start


def test_a_start_tells_the_brief_and_a_silent_memory_tells_nothing(ground):
    assert said(ground.happens("start", source="startup")) == ""
    ground.engine.record(Draft("Money is kept in cents", "rule"), PERSON)
    told = said(ground.happens("start", source="startup", session="other"))
    assert "Money is kept in cents" in told
    assert len(told) <= 6_000


def test_a_start_stays_within_its_room(ground):
    for number in range(30):
        ground.engine.record(Draft(f"Rule {number}: " + "ein langer Satz über Preise " * 20, "rule"), PERSON)
    told = ground.happens("start", source="startup")
    assert 3_000 < len(said(told)) <= 6_000
    small = ground.happens("start", source="startup", agent="helper")
    assert len(said(small)) <= 2_000


def test_after_compaction_everything_may_be_said_again(ground):
    ground.fail("AuthService.validate")
    assert said(ground.happens("before", **AT_VALIDATE))
    assert not said(ground.happens("before", **AT_VALIDATE))
    ground.happens("start", source="compact")
    assert said(ground.happens("before", **AT_VALIDATE))


def test_a_session_that_is_resumed_is_not_told_again_what_it_has(ground):
    ground.engine.record(Draft("Money is kept in cents", "rule"), PERSON)
    assert said(ground.happens("start", source="startup"))
    assert not said(ground.happens("start", source="resume"))
    assert said(ground.happens("start", source="clear"))


# --- prompt


def test_a_prompt_brings_what_fits_once_and_else_nothing(ground):
    for number in range(40):
        ground.engine.record(Draft(f"Shelf {number} holds garden tools of size {number}"), PERSON)
    ground.engine.record(Draft("Naive datetimes break the token validation of AuthService", "lesson", "failed"), PERSON)
    asked = "please mend the token validation that breaks on naive datetimes"
    told = ground.happens("prompt", text=asked)
    assert "Naive datetimes" in said(told)
    assert len(said(told)) <= 2_000
    assert not said(ground.happens("prompt", text=asked))
    assert not said(ground.happens("prompt", text="what is the weather like in Lisbon on sundays?"))
    assert not said(ground.happens("prompt", text="ok"))
    assert not said(ground.happens("prompt", text="/clear token validation naive datetimes"))


def test_what_others_claim_and_what_was_imported_does_not_come_with_a_prompt(ground):
    words = "Frobnicator caches expire after the zebra handshake"
    ground.engine.record(Draft(words), Scope(Origin("import")))
    ground.engine.record(Draft(words + " twice"), Scope(Origin("agent", "another-client")))
    assert not said(ground.happens("prompt", text="why do frobnicator caches expire after the zebra handshake"))
    ground.engine.record(Draft(words + " thrice"), Scope(Origin("agent", "claude-code")))
    assert "thrice" in said(ground.happens("prompt", text="why do frobnicator caches expire after the zebra handshake"))


# --- before a tool: what is said


def test_an_edit_brings_the_lessons_of_its_symbol_only(ground):
    ground.fail("AuthService.validate", text="naive datetimes break it")
    ground.fail("AuthService.renew", text="renewing twice loses the session")
    told = said(ground.happens("before", **AT_VALIDATE))
    assert "naive datetimes" in told
    assert "renewing" not in told
    assert len(told) <= 800


def test_a_whole_file_is_compared_with_what_lies_there(ground):
    ground.fail("AuthService.validate", text="naive datetimes break it")
    ground.fail("AuthService.renew", text="renewing twice loses the session")
    whole = Edit("auth/service.py", "", CODE.replace('token + "1"', 'token + "2"'), "whole")
    told = said(ground.happens("before", tool="write", edits=(whole,)))
    assert "renewing" in told
    assert "naive datetimes" not in told


def test_a_file_that_is_written_as_it_is_touches_nothing(ground):
    ground.fail("AuthService.validate", times=5)
    told = ground.happens("before", tool="write", edits=(Edit("auth/service.py", "", CODE, "whole"),))
    assert (told.refuse, said(told)) == (False, "")
    other = ground.happens("before", tool="write", edits=(Edit("auth/service.py", "", "x = 1\n", "whole"),))
    assert other.refuse


@hypothesis.given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_lines_that_differ_are_told_and_no_others(old, new):
    found = differing(old, new)
    assert (found == []) == (old == new)
    lines = [number for first, last in found for number in range(first, last + 1)]
    assert lines == sorted(set(lines))
    assert all(1 <= number <= max(1, len(old)) for number in lines)
    gone = [line for line in old if line not in new]
    assert len(gone) <= len(lines)
    assert all(number in lines for number, line in enumerate(old, 1) if line not in new)


def test_a_language_without_a_grammar_is_known_by_its_declarations(ground):
    ground.fail("Cart#total", "lib/cart.rb", text="the sum of nothing is nil")
    ground.fail("Cart#clear", "lib/cart.rb", text="clearing twice fails")
    told = said(ground.happens("before", tool="edit", edits=(Edit("lib/cart.rb", "    items.sum", "    items.sum(0)"),)))
    assert "nothing is nil" in told
    assert "clearing" not in told


@pytest.mark.parametrize("path", ["/etc/passwd", "../elsewhere.py", "C:\\other\\x.py", "", "a\0b", "x" * 5000, "missing/file.py"])
def test_files_that_are_not_ours_are_passed_over(ground, path):
    ground.fail("AuthService.validate")
    told = ground.happens("before", tool="edit", edits=(Edit(path, "a", "b"),))
    assert not said(told)
    assert not told.refuse


def test_windows_paths_are_understood(ground):
    ground.fail("AuthService.validate", text="naive datetimes break it")
    edit = VALIDATE.replace(path="auth\\service.py")
    assert "naive datetimes" in said(ground.happens("before", tool="edit", edits=(edit,)))


def test_a_command_has_lessons_by_its_name(ground):
    ground.fail("$ npm run build", "", text="the build needs node 20")
    for command in ("cd web && NODE_ENV=production npm run build ../out", "bash -lc 'npm run build'"):
        session = f"s{len(command)}"
        assert "node 20" in said(ground.happens("before", tool="shell", command=command, session=session))
    assert not said(ground.happens("before", tool="shell", command="npm run lint"))
    assert not said(ground.happens("before", tool="shell", command="echo npm run build"))


def test_subagents_have_contexts_of_their_own(ground):
    ground.fail("AuthService.validate")
    assert said(ground.happens("before", **AT_VALIDATE))
    assert said(ground.happens("before", agent="helper", **AT_VALIDATE))
    assert not said(ground.happens("before", agent="helper", **AT_VALIDATE))


# --- before a tool: what is refused


def test_a_risky_symbol_stops_a_call_once_and_the_retry_passes(ground):
    ground.fail("AuthService.validate", times=4, text="naive datetimes break it")
    ground.fail("AuthService.validate", text="None is a token as well")
    first = ground.happens("before", **AT_VALIDATE)
    assert first.refuse
    (report,) = first.reports
    assert report.risk.symbol == "AuthService.validate"
    assert {memory.text for memory in report.memories} == {"naive datetimes break it", "None is a token as well"}
    again = ground.happens("before", **AT_VALIDATE)
    assert (again.refuse, again.reports, said(again)) == (False, (), "")


RULE = Draft("Tokens are compared in constant time", "rule", anchors=(Anchor("auth/service.py", "AuthService.validate"),))
FACT = Draft("The service runs in two zones", "fact", anchors=(Anchor("auth/service.py"),))


@pytest.mark.parametrize("client", ["claude-code", "codex", "cline", "vscode", "opencode", "openhands"])
def test_what_else_is_known_comes_beside_the_refusal_or_with_the_retry(ground, client):
    ground.fail("AuthService.validate", times=4, text="naive datetimes break it", client=client)
    for draft in (RULE, FACT):
        ground.engine.record(draft, PERSON)
    first = ground.happens("before", client=client, **AT_VALIDATE)
    assert first.refuse
    again = ground.happens("before", client=client, **AT_VALIDATE)
    assert not again.refuse
    beside = client in ("claude-code", "codex", "cline")
    telling, silent = (first, again) if beside else (again, first)
    assert said(silent) == ""
    for draft in (RULE, FACT):
        assert draft.text in said(telling)
    assert "naive datetimes break it" in first.refusal and "naive datetimes" not in said(telling)
    assert said(ground.happens("before", client=client, **AT_VALIDATE)) == ""


@pytest.mark.parametrize("client", ["claude-code", "vscode"])
@pytest.mark.parametrize("detail", ["", "It was tried with care and broke all the same. " * 4])
def test_a_lesson_for_which_a_refusal_has_no_room_is_said_later(ground, client, detail):
    lessons = [
        f"Lesson {word} of the tokens" for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    ]
    anchors = (Anchor("auth/service.py", "AuthService.validate"),)
    for text in lessons:
        ground.now += 1
        ground.engine.record(Draft(text, "lesson", "failed", detail=detail, anchors=anchors), PERSON)
    first = ground.happens("before", client=client, **AT_VALIDATE)
    assert first.refuse
    heard = [first.refusal, said(first)]
    assert len(first.refusal) <= 2_000
    assert sum(text in first.refusal for text in lessons) == sum(len(report.memories) for report in first.reports) < len(lessons)
    heard += [said(ground.happens("before", client=client, **AT_VALIDATE)) for _ in lessons]
    assert [sum(text in one for one in heard) for text in lessons] == [1] * len(lessons)


def test_subagents_are_not_stopped_again(ground):
    ground.fail("AuthService.validate", times=5)
    assert ground.happens("before", **AT_VALIDATE).refuse
    assert not ground.happens("before", agent="helper", **AT_VALIDATE).refuse


def test_below_the_limit_nothing_is_refused(ground):
    ground.fail("AuthService.validate", times=3)
    told = ground.happens("before", **AT_VALIDATE)
    assert not told.refuse
    assert said(told)


def test_another_symbol_of_the_file_is_not_refused(ground):
    ground.fail("AuthService.validate", times=5)
    other = Edit("auth/service.py", '        return token + "1"', '        return token + "2"')
    assert not ground.happens("before", tool="edit", edits=(other,)).refuse


def test_another_session_is_stopped_again_after_a_new_failure_or_a_week(ground):
    ground.fail("AuthService.validate", times=6)
    assert ground.happens("before", session="s1", **AT_VALIDATE).refuse
    told = ground.happens("before", session="s2", **AT_VALIDATE)
    assert not told.refuse
    assert said(told)
    ground.now += DAY
    ground.fail("AuthService.validate")
    assert ground.happens("before", session="s3", **AT_VALIDATE).refuse
    assert not ground.happens("before", session="s4", **AT_VALIDATE).refuse
    ground.now += 7 * DAY + 1
    assert ground.happens("before", session="s5", **AT_VALIDATE).refuse


def test_nothing_is_refused_where_that_is_off(ground):
    ground.fail("AuthService.validate", times=5)
    told = ground.happens("before", deny="off", **AT_VALIDATE)
    assert not told.refuse
    assert said(told)


def test_repeat_refuses_only_what_failed_in_this_very_way(ground):
    ground.fail("AuthService.validate", times=5)
    assert not ground.happens("before", deny="repeat", **AT_VALIDATE).refuse
    ground.fail(
        "AuthService.validate", text="that broke it", code="-        return bool(token)\n+        return token  is not None\n"
    )
    assert ground.happens("before", deny="repeat", session="s2", **AT_VALIDATE).refuse
    other = VALIDATE.replace(new="        return len(token) > 3")
    assert not ground.happens("before", deny="repeat", session="s3", tool="edit", edits=(other,)).refuse


def test_repeat_refuses_a_command_until_it_has_worked(ground):
    ground.fail("$ npm run build", "", text="the build needs node 20")
    run = {"tool": "shell", "command": "npm run build"}
    assert ground.happens("before", deny="repeat", session="s1", **run).refuse
    assert not ground.happens("before", deny="repeat", session="s1", **run).refuse
    assert not ground.happens("before", deny="risk", session="s2", **run).refuse
    ground.now += 1
    ground.engine.record(Draft("it builds with node 20", "lesson", "worked", anchors=(Anchor("", "$ npm run build"),)), PERSON)
    assert not ground.happens("before", deny="repeat", session="s3", **run).refuse


def test_what_is_only_imported_does_not_refuse(ground):
    ground.fail("AuthService.validate", times=6, who="import", client="")
    assert not ground.happens("before", **AT_VALIDATE).refuse


def test_deleting_a_file_counts_for_everything_in_it(ground):
    ground.fail("AuthService.validate", times=5)
    gone = Edit("auth/service.py", kind="delete")
    assert ground.happens("before", tool="shell", command="rm auth/service.py", edits=(gone,)).refuse


def test_code_of_another_branch_does_not_refuse(ground):
    ground.repo.git("checkout", "-q", "-b", "side")
    ground.repo.commit("on the side", {"side.txt": "x"})
    ground.close()
    ground.fail("AuthService.validate", times=6)
    ground.repo.git("checkout", "-q", "main")
    ground.engine.refresh_branches()
    told = ground.happens("before", **AT_VALIDATE)
    assert (told.refuse, said(told)) == (False, "")


def test_code_that_is_gone_does_not_refuse(ground):
    ground.fail("AuthService.validate", times=6)
    ground.repo.commit("gone", {"auth/service.py": "class AuthService:\n    pass\n"})
    ground.engine.refresh_code()
    written = Edit("auth/service.py", "    pass", "    def validate(self, token):\n        return 1")
    assert not ground.happens("before", tool="edit", edits=(written,)).refuse


def _stop(folder, path, results):
    """One hook process: the same edit at the same time as others."""
    from hardwon.engine import opening

    engine = opening.open_engine(folder, path, wait=5.0)
    event = Event("before", "claude-code", "parallel", 1, cwd=folder, tool="edit", edits=(VALIDATE,), call=str(os.getpid()))
    results.put(engine.on_event(event, Scope(Origin("agent", "claude-code", "parallel", "hook"))).refuse)
    engine.close()


def test_calls_at_the_same_time_are_stopped_once(ground):
    ground.fail("AuthService.validate", times=5)
    ground.close()
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    crowd = [context.Process(target=_stop, args=(ground.root, ground.home, results)) for _ in range(6)]
    for process in crowd:
        process.start()
    refused = [results.get(timeout=60) for _ in crowd]
    for process in crowd:
        process.join(60)
    assert sum(refused) == 1


def test_where_no_mark_can_be_written_the_call_is_warned_of(ground):
    ground.fail("AuthService.validate", times=5)
    lock = FileLock(ground.store + ".work.lock")
    lock.acquire(1)
    try:
        told = ground.happens("before", **AT_VALIDATE)
        assert not told.refuse
        assert "AuthService.validate broke" in said(told)
        assert any("file of sessions" in line for line in told.degraded)
    finally:
        lock.release()
    assert ground.happens("before", **AT_VALIDATE).refuse


# --- after a tool: what is learnt


def test_a_failure_a_fix_and_a_green_run_become_a_lesson_on_the_symbol(ground):
    ground.episode()
    (lesson,) = ground.memories(kinds=("lesson",))
    assert lesson.outcome == "failed"
    assert "can't compare offset-naive" in lesson.text
    (anchor,) = lesson.anchors
    assert (anchor.path, anchor.symbol) == ("auth/service.py", "AuthService.validate")
    assert anchor.blob  # what it was is parsed by the next refresh
    assert (lesson.trust, lesson.origin.who, lesson.origin.client, lesson.origin.tool) == (
        "claimed",
        "agent",
        "claude-code",
        "hook",
    )
    assert lesson.origin.session.startswith("0d9d3a52")
    assert "Evidence:" in lesson.detail
    assert "return token is not None" in lesson.code


def test_a_session_that_began_in_a_subfolder_names_files_from_the_top(ground):
    below = os.path.join(ground.root, "auth")
    edit = VALIDATE.replace(path="service.py")
    ground.tell(ground.runs(RED.replace("auth/service.py", "service.py"), 1, cwd=below))
    ground.write("auth/service.py", CODE.replace(VALIDATE.old, VALIDATE.new))
    ground.happens("after", tool="edit", edits=(edit,), ended="ok", cwd=below)
    ground.tell(ground.runs(GREEN, 0, cwd=below))
    (lesson,) = ground.memories(kinds=("lesson",))
    assert [(one.path, one.symbol) for one in lesson.anchors] == [("auth/service.py", "AuthService.validate")]


def test_the_same_call_told_twice_counts_once(ground):
    red, green = ground.runs(RED, 1), ground.runs(GREEN, 0)
    ground.tell(red)
    ground.tell(red)
    ground.edits()
    ground.tell(green)
    ground.tell(green)
    (lesson,) = ground.memories(kinds=("lesson",))
    assert lesson.seen == 1


def _tell(folder, path, event):
    from hardwon.engine import opening

    engine = opening.open_engine(folder, path, wait=10.0)
    told = engine.on_event(event, Scope(Origin("agent", event.client, event.session, "hook")))
    engine.close()
    os._exit(len(told.degraded))


def test_hooks_that_tell_of_one_call_at_the_same_time_count_once(ground):
    ground.tell(ground.runs(RED, 1))
    ground.edits()
    green = ground.runs(GREEN, 0)
    ground.close()
    context = multiprocessing.get_context("fork")
    crowd = [context.Process(target=_tell, args=(ground.root, ground.home, green)) for _ in range(5)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(60)
    assert [lesson.seen for lesson in ground.memories(kinds=("lesson",))] == [1]


def test_a_lesson_survives_a_hook_that_is_killed_and_is_taken_in_once(ground, monkeypatch):
    with monkeypatch.context() as killed:  # after the state is kept, before the store has the lesson
        killed.setattr(capturing, "take_in", lambda engine: ())
        ground.episode()
    assert not ground.memories(kinds=("lesson",))
    with ground.engine.work.read() as reader:
        waiting = reader.waiting(10)
    assert len(waiting) == 1
    ground.happens("start", source="startup", session="next")
    (lesson,) = ground.memories(kinds=("lesson",))
    assert lesson.id == waiting[0].id
    with ground.engine.work.write(1) as writer:  # and now after the store has it, before that is noted
        writer.put_out(waiting[0])
    ground.happens("start", source="startup", session="after next")
    assert [one.seen for one in ground.memories(kinds=("lesson",))] == [1]
    with ground.engine.work.read() as reader:
        assert reader.waiting(10) == []


def test_what_waits_and_cannot_be_read_is_dropped_and_told(ground):
    with ground.engine.work.write(1) as writer:
        writer.put_out(Waiting("1", b"{not json"))
    told = ground.happens("start", source="startup")
    assert any("lesson was lost" in line for line in told.degraded)
    with ground.engine.work.read() as reader:
        assert reader.waiting(10) == []


def test_a_decision_that_is_amended_in_the_session_takes_the_place_of_the_first(ground):
    ground.happens("prompt", text="Let's use Redis for the session cache instead of memcached because it survives restarts.")
    ground.now += 60_000
    ground.happens(
        "prompt", text="Actually, let's use Postgres for the session cache instead of Redis because we already run it."
    )
    states = {memory.text.split()[2]: memory.status for memory in ground.memories(kinds=("decision",))}
    assert states == {"Redis": "replaced", "Postgres": "active"}


def test_where_nothing_is_handed_on_before_a_call_it_is_said_after_it(ground):
    ground.fail("AuthService.validate", text="naive datetimes break it")
    told = ground.edits(client="gemini")
    assert "naive datetimes" in said(told)
    assert len(said(told)) <= 800
    assert not said(ground.edits(VALIDATE.replace(old=VALIDATE.new, new="        return 1"), client="gemini"))
    assert not said(ground.edits(VALIDATE.replace(old="        return 1", new="        return 2")))


def test_clients_that_do_not_hand_on_context_count_nothing_as_told(ground):
    ground.fail("AuthService.validate", client="cursor")
    assert not said(ground.happens("before", client="cursor", **AT_VALIDATE))
    assert not said(ground.happens("start", client="windsurf", source="startup"))
    ground.fail("AuthService.validate", times=5, client="cursor")
    assert ground.happens("before", client="cursor", **AT_VALIDATE).refuse


def test_the_same_lesson_in_another_session_is_another_occurrence(ground):
    ground.episode()
    ground.write("auth/service.py", CODE)
    ground.now += 1000
    ground.episode(session="0d9d3a52-5f0e-4c1e-9b0b-000000000002")
    (lesson,) = ground.memories(kinds=("lesson",))
    assert lesson.seen == 2


def test_calls_without_an_id_are_one_when_told_at_the_same_time(ground):
    ground.tell(ground.runs(RED, 1, call=""))
    ground.edits()
    green = ground.runs(GREEN, 0, call="")
    ground.tell(green)
    ground.tell(green)
    assert [lesson.seen for lesson in ground.memories(kinds=("lesson",))] == [1]


@pytest.mark.parametrize("call", ["long", "toolu_01Qr7XkLmN9pTz3VbYcW5sHd", "call_8fKx2PqLw7ZrT1mVnB4yJc6D"])
def test_an_edit_while_the_tests_run_was_not_seen_by_them(ground, call):
    ground.tell(ground.runs(RED, 1))
    ground.now += 10
    begun = ground.event("before", tool="shell", command="pytest -q tests/test_auth.py", call=call)
    ground.tell(begun)
    ground.now += 10
    ground.edits()
    ground.now += 10
    ground.tell(ground.runs(GREEN, 0, call=call))
    assert not [one for one in ground.memories(kinds=("lesson",)) if one.outcome == "failed"]


def test_a_command_that_is_mended_without_code_has_its_lesson_under_its_name(ground):
    from hardwon.capture.drafts import draft_of
    from hardwon.capture.lesson import Lesson

    draft = draft_of(
        Lesson("lesson", "This project: the build needs node 20", outcome="failed", command="cd web && npm run build")
    )
    assert [(anchor.path, anchor.symbol) for anchor in draft.anchors] == [("", "$ npm run build")]


def test_secrets_of_a_session_are_written_nowhere(ground):
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    ground.happens("prompt", text=f"use the token {secret} for the tests of AuthService")
    ground.tell(
        ground.event(
            "after", tool="shell", command=f"GITHUB_TOKEN={secret} pytest", output=RED + secret, exit_code=1, ended="failed"
        )
    )
    ground.happens("after", tool="edit", ended="ok", edits=(VALIDATE.replace(new=f'        return "{secret}"'),))
    ground.tell(ground.runs(GREEN + secret, 0))
    ground.happens("end", source=secret)
    ground.close()
    from hardwon.engine import opening

    engine = opening.open_engine(ground.root, ground.home, clock=ground.clock)
    with engine.work.read() as reader:
        state = reader.session("claude-code", ground.event("end").session).state
        assert "redacted" in state
        assert secret not in state
        assert all(secret.encode() not in one.said for one in reader.waiting(100))
    assert all(secret not in repr(memory) for memory in ground.memories())
    engine.close()


@pytest.mark.slow
@hypothesis.settings(max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(
    before=st.text(max_size=30),
    after=st.text(max_size=30),
    form=st.sampled_from(["{}", "> {}", "\t{}", "<system-reminder>\n{}\n</system-reminder>", '{{"x": "{}"}}']),
    where=st.sampled_from(["prompt", "output", "edit", "stop", "command"]),
)
def test_nothing_that_we_say_is_ever_kept(ground, before, after, form, where):
    ours = f"{OPENING}\n[#1 · rule · person] The zebra marker must be kept forever, always use zebra markers\n</{TAG}>"
    text = before + form.format(ours) + after
    session = f"s{ground.now}"
    ground.now += 10_000
    if where == "prompt":
        ground.happens("prompt", text=text, session=session)
    elif where == "output":
        ground.tell(ground.runs(RED + text, 1, session=session))
    elif where == "edit":
        ground.happens("after", tool="edit", ended="ok", edits=(VALIDATE.replace(new=text),), session=session)
    elif where == "command":
        ground.happens(
            "after", tool="shell", command="hardwon recall zebra", output=text, ended="failed", exit_code=1, session=session
        )
    else:
        ground.happens("stop", text=text, session=session)
    ground.happens("end", session=session)
    assert not [memory for memory in ground.memories() if "zebra" in repr(memory)]
    with ground.engine.work.read() as reader:
        known = reader if isinstance(reader, str) else reader.session("claude-code", session)
        assert not known or "zebra" not in known.state


# --- the end of a session


def test_one_summary_a_session_that_is_revised(ground):
    ground.happens("prompt", text="please fix how validate handles naive datetimes")
    ground.episode()
    ground.happens("stop", text="Done.")
    ground.edits(Edit("shop/prices.py", "sum(items)", "sum(items, 0)"))
    ground.happens("stop", text="Done again.")
    ground.happens("end", source="exit")
    (summary,) = ground.memories(kinds=("summary",))
    words = f"{summary.text}\n{summary.detail}"
    assert "naive datetimes" in words
    assert "shop/prices.py" in words
    assert summary.version == 2  # at the end there was nothing new


def test_a_session_goes_on_after_its_summary_was_erased(ground):
    from hardwon.types import Filter

    ground.episode()
    ground.happens("stop", text="Done.")
    (summary,) = ground.memories(kinds=("summary",))
    ground.engine.erase(Filter(ids=(summary.id,)), "other", PERSON, dry_run=False)
    ground.edits(Edit("shop/prices.py", "sum(items)", "sum(items, 0)"))
    told = ground.happens("stop", text="Done again.")
    assert not told.degraded
    kept = [one for one in ground.memories(kinds=("summary",)) if not one.erased]
    assert ["shop/prices.py" in one.text for one in kept] == [True]
    assert all("validate" not in repr(one) for one in kept)
    assert [finding for finding in ground.engine.verify() if finding.level == "error"] == []


def test_turns_that_did_nothing_write_nothing(ground):
    ground.episode()
    ground.happens("stop", text="Done.")
    before = ground.engine.figures()
    for _ in range(3):
        ground.happens("prompt", text="thank you very much for this")
        ground.happens("stop", text="You are welcome.")
    assert ground.engine.figures() == before


def test_a_session_in_which_nothing_happened_leaves_nothing(ground):
    ground.happens("start", source="startup")
    ground.happens("prompt", text="what does this project do?")
    ground.happens("stop", text="It is a shop.")
    ground.happens("end", source="exit")
    assert not ground.memories()


def test_a_session_that_died_is_summed_up_by_the_next_start(ground):
    ground.happens("prompt", text="please fix how validate handles naive datetimes")
    ground.tell(ground.runs(RED, 1))
    ground.edits()
    ground.close()
    assert not ground.memories(kinds=("summary",))
    ground.now += 120_000
    told = said(ground.happens("start", source="startup", session="0d9d3a52-5f0e-4c1e-9b0b-000000000009"))
    assert "Failing when last run" in told
    (summary,) = ground.memories(kinds=("summary",))
    assert summary.origin.session.endswith("0001")
    ground.happens("start", source="startup", session="0d9d3a52-5f0e-4c1e-9b0b-00000000000a")
    assert [one.version for one in ground.memories(kinds=("summary",))] == [1]


# --- when something is wrong


def test_with_a_locked_store_lessons_wait_in_the_spool(ground):
    ground.close()
    lock = FileLock(ground.store + ".lock")
    lock.acquire(1)
    try:
        ground.episode()
        told = ground.happens("before", **{**AT_VALIDATE, "edits": (VALIDATE.replace(old=VALIDATE.new, new="x"),)})
        assert not told.refuse
    finally:
        lock.release()
    ground.fail("AuthService.renew")
    assert [one.seen for one in ground.memories(kinds=("lesson",)) if "offset-naive" in one.text] == [1]


def test_without_its_store_a_turn_goes_on_and_nothing_is_made(ground):
    ground.close()
    folder = os.path.dirname(ground.store)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    for moment in ("start", "prompt", "before", "after", "stop", "end"):
        fields = (
            {"text": "please fix the validation"} if moment == "prompt" else AT_VALIDATE if moment in ("before", "after") else {}
        )
        told = ground.happens(moment, **fields)
        assert (told.block, told.refuse) == (None, False)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("what", ["store", "work"])
def test_with_a_damaged_file_a_turn_goes_on(ground, what):
    ground.fail("AuthService.validate", times=5)
    ground.happens("start", source="startup")
    ground.close()
    path = ground.store if what == "store" else ground.store + ".work"
    with open(path, "r+b") as file:
        file.write(b"\x5a" * 8192)
    for end in ("-wal", "-shm"):
        if os.path.exists(path + end):
            os.remove(path + end)
    ground.happens("start", source="startup")
    ground.happens("prompt", text="please fix the validation of tokens")
    told = ground.happens("before", **AT_VALIDATE)
    assert told.refuse is (what == "work")
    ground.episode()
    ground.happens("end", source="exit")
    assert os.path.getsize(ground.store) > 0


def test_a_work_file_of_another_program_is_made_anew(ground):
    ground.fail("AuthService.validate", times=5)
    ground.close()
    with open(ground.store + ".work", "w") as file:
        file.write("not a database at all\n" * 100)
    assert ground.happens("before", **AT_VALIDATE).refuse
    assert not ground.happens("before", **AT_VALIDATE).refuse


def test_a_folder_in_its_place_is_left_alone(ground):
    ground.fail("AuthService.validate", times=5)
    os.makedirs(ground.store + ".work/precious")
    told = ground.happens("before", **AT_VALIDATE)
    assert not told.refuse
    assert said(told)
    assert os.path.isdir(ground.store + ".work/precious")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the limit is the child's own")
def test_where_no_file_may_grow_a_turn_goes_on(ground):
    ground.fail("AuthService.validate", times=5)
    ground.close()
    child = os.fork()
    if not child:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (36_000, resource.RLIM_INFINITY))
            told = [ground.happens("start", source="startup"), ground.happens("before", **AT_VALIDATE)]
            ground.episode()
            told += [ground.happens(moment) for moment in ("stop", "end")]
            # What was known is said, nothing is refused without a mark, and each failure is told.
            warned = "AuthService.validate broke" in said(told[1]) and not told[1].refuse
            code = 0 if warned and all(one.degraded for one in told) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    ground.write("auth/service.py", CODE)
    assert ground.happens("before", **AT_VALIDATE).refuse
    assert [finding for finding in ground.engine.verify() if finding.level == "error"] == []


def test_with_an_encrypted_store_whose_key_is_gone_a_turn_goes_on(tmp_path):
    ground = SessionGround(tmp_path, encrypt=True)
    ground.fail("AuthService.validate", times=5)
    ground.happens("prompt", text="the zebra stands in the kitchen of the shop")
    assert ground.happens("before", session="s1", **AT_VALIDATE).refuse
    ground.close()
    for end in ("", "-wal"):
        with open(ground.store + ".work" + end, "rb") as file:
            assert b"zebra" not in file.read()
    keys = os.path.join(ground.home, "keys")
    os.rename(keys, keys + ".elsewhere")
    for moment in ("start", "prompt", "before", "after", "stop", "end"):
        fields = (
            {"text": "please fix the validation"} if moment == "prompt" else AT_VALIDATE if moment in ("before", "after") else {}
        )
        told = ground.happens(moment, **fields)
        assert (told.block, told.refuse) == (None, False)
        assert told.degraded
    ground.close()
    os.rename(keys + ".elsewhere", keys)
    assert ground.happens("before", session="s2", **AT_VALIDATE).block
    ground.close()


def test_a_new_key_leaves_no_session_under_the_old_one(tmp_path):
    from hardwon.engine import encryption
    from hardwon.settings import KeySource
    from hardwon.store.registry import Registry

    ground = SessionGround(tmp_path, encrypt=True)
    ground.happens("prompt", text="the zebra stands in the kitchen of the shop")
    assert os.path.exists(ground.store + ".work")
    encryption.rekey(ground.engine, Registry(ground.home), encryption.KeyWish(), KeySource())
    assert not os.path.exists(ground.store + ".work")
    ground.close()
    ground.happens("prompt", text="the zebra stands in the kitchen of the shop")
    with ground.engine.work.read() as reader:
        assert reader.session("claude-code", ground.event("stop").session).state
    ground.close()


# --- beside the store


def test_heartbeats_tell_when_a_hook_last_ran(ground):
    ground.happens("start", source="startup", version="2.1.0")
    ground.happens("before", tool="edit", edits=(Edit("README.md", "# Shop", "# Shops"),))
    beats = {(one.client, one.moment): one for one in heartbeats(ground.engine)}
    assert set(beats) == {("claude-code", "start"), ("claude-code", "before")}
    assert beats["claude-code", "start"].at == ground.now
    assert beats["claude-code", "start"].version == "2.1.0"


def test_an_erasure_leaves_nothing_of_sessions(ground):
    ground.happens("prompt", text="the zebra password is on the fridge")
    ground.episode()
    (lesson,) = ground.memories(kinds=("lesson",))
    from hardwon.types import Filter

    ground.engine.erase(Filter(ids=(lesson.id,)), "other", PERSON, dry_run=False)
    with ground.engine.work.read() as reader:
        assert reader.figures() == {"sessions": 0, "open": 0, "waiting": 0}
        assert reader.heartbeats()
    assert ground.engine.verify() == [] or all(one.level in ("ok", "note") for one in ground.engine.verify())


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("cd web && npm run build --mode=production", ("$ npm run build --mode",)),
        ("python -m pytest tests/x.py -k foo", ("$ pytest -k",)),
        ("python3.11 manage.py migrate app 0012", ("$ python manage.py migrate app",)),
        ("FOO=1 uv run alembic upgrade head", ("$ alembic upgrade head",)),
        ("bash -c 'make -j8 all; make check'", ("$ make all", "$ make check")),
        ("ls -la && cat x | grep y", ()),
        ("'a b' $HOME/x", ()),
        ("", ()),
    ],
)
def test_names_of_commands(command, found):
    assert names(command) == found
